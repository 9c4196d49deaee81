//! The GitHub Action: its YAML is what the runner takes, and its steps do in a real repository, with the real petal, what
//! docs/ci.md says. Only `gh`, which talks to GitHub, is replaced.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Output;

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::root;
use crate::support::workshop::{DESIGN, PETAL, Workshop, said, succeeds, tells};

/// Keeps comments as files: `gh api` as far as the action calls it.
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
[ "$GH_TOKEN" = secret ] && [ "$1" = api ]
if [ -e "$COMMENTS/../forbidden" ]; then
  echo "gh: Resource not accessible by integration (HTTP 403)" >&2
  exit 1
fi
while [ $# -gt 0 ]; do
  case "$1" in
    repos/*) path="$1" ;;
    --method) method="$2"; shift ;;
    --field) body="${2#body=@}"; shift ;;
    --jq) filter="$2"; shift ;;
  esac
  shift
done
cd "$COMMENTS"
case "${method:-GET} $path" in
  "GET repos/o/r/issues/7/comments")
    [ "$filter" = '.[] | select(.body | startswith(env.MARK)) | .id' ]
    for file in *; do if [ "$(head -n 1 "$file")" = "$MARK" ]; then echo "$file"; fi; done ;;
  "POST repos/o/r/issues/7/comments") [ "$(wc -m < "$body")" -le 65536 ] && cp "$body" "$(( $(ls | wc -l) + 1 ))" ;;
  "PATCH repos/o/r/issues/comments/"*) cp "$body" "${path##*/}" ;;
  *) exit 1 ;;
esac
"#;

fn action() -> Yaml {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let mut documents = YamlLoader::load_from_str(&text).unwrap();
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// A repository with the design, a commit and a change of it.
fn repository(times: u32) -> Workshop {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "while-comb.futil", &[]);
    let script = "git init -q repo && mv design.futil design.futil.data repo && cd repo && git add . && \
                  git -c user.name=t -c user.email=t@t commit -q -m before && git rev-parse HEAD > ../base";
    succeeds(&mut workshop.bash(script));
    change(&workshop, times);
    let gh = workshop.path("bin/gh");
    fs::write(&gh, GH).unwrap();
    fs::set_permissions(gh, fs::Permissions::from_mode(0o755)).unwrap();
    for folder in ["comments", "tmp"] {
        fs::create_dir(workshop.path(folder)).unwrap();
    }
    // Somebody else's.
    workshop.write("comments/1", "Looks good!\n");
    workshop
}

/// The same, with another design in the base.
fn repository_with_base(design: &str) -> Workshop {
    let workshop = repository(5);
    workshop.write("other", design);
    let script = "cd repo && cp design.futil good && mv ../other design.futil && git add design.futil && \
                  git -c user.name=t -c user.email=t@t commit -q -m other && git rev-parse HEAD > ../base && mv good design.futil";
    succeeds(&mut workshop.bash(script));
    workshop
}

fn change(workshop: &Workshop, times: u32) {
    let path = workshop.path("repo/design.futil");
    let design = fs::read_to_string(&path).unwrap();
    let (before, after) = design.split_once("lt.right = 3'd").unwrap();
    fs::write(
        path,
        format!("{before}lt.right = 3'd{times}{}", &after[1..]),
    )
    .unwrap();
}

/// Runs the steps as the runner does: expressions are replaced, `if` is heeded, and a step that fails ends the action.
fn run(workshop: &Workshop, inputs: &[(&str, &str)]) -> Output {
    let action = action();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for (name, input) in action["inputs"].as_hash().unwrap() {
        let name = name.as_str().unwrap();
        let given = inputs.iter().find(|(given, _)| *given == name);
        let default = input["default"].as_str().map(str::to_owned);
        let value = given.map(|(_, value)| (*value).to_owned()).or(default);
        values.insert(
            format!("inputs.{name}"),
            value.expect("it is given or has a default"),
        );
    }
    let base = workshop.read("base").trim().to_owned();
    for (expression, value) in [
        (
            "github.event.pull_request.base.sha || github.event.before",
            base.as_str(),
        ),
        ("github.token", "secret"),
        ("github.event.pull_request.number", "7"),
    ] {
        values.insert(expression.to_owned(), value.to_owned());
    }
    let mut last = None;
    for step in action["runs"]["steps"].as_vec().unwrap() {
        let Some(script) = step["run"].as_str() else {
            continue;
        };
        assert_eq!(step["shell"].as_str(), Some("bash"));
        if step["if"]
            .as_str()
            .is_some_and(|condition| condition.starts_with("inputs.comment"))
            && values["inputs.comment"] != "true"
        {
            continue;
        }
        // What a step leaves for others.
        let outputs = fs::read_to_string(workshop.path("outputs")).unwrap_or_default();
        for line in outputs.lines() {
            let (name, value) = line.split_once('=').unwrap();
            values.insert(format!("steps.compare.outputs.{name}"), value.to_owned());
        }
        let mut command = workshop.bash(script);
        command
            .current_dir(workshop.path("repo"))
            .env("GITHUB_ACTION_PATH", root())
            .env("GITHUB_OUTPUT", workshop.path("outputs"))
            // As some workflows have it.
            .env("CLICOLOR_FORCE", "1")
            .env("GITHUB_JOB", "petal")
            .env("GITHUB_REPOSITORY", "o/r")
            .env("RUNNER_TEMP", workshop.path("tmp"))
            .env("COMMENTS", workshop.path("comments"));
        for (name, value) in step["env"].as_hash().into_iter().flatten() {
            let mut value = value.as_str().unwrap().to_owned();
            while let Some((before, rest)) = value.split_once("${{ ") {
                let (expression, after) = rest.split_once(" }}").unwrap();
                let known = &values[expression];
                value = format!("{before}{known}{after}");
            }
            command.env(name.as_str().unwrap(), value);
        }
        let output = command.output().unwrap();
        if !output.status.success() {
            return output;
        }
        last = Some(output);
    }
    last.unwrap()
}

/// The folders that become artifacts, whose names begin so.
fn folders(workshop: &Workshop, start: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(workshop.path("tmp")).unwrap();
    let all = all.map(|folder| folder.unwrap().path());
    let is_one = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(start)
    };
    all.filter(is_one).collect()
}

#[test]
fn the_action_is_what_a_runner_takes() {
    let action = action();
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    for step in action["runs"]["steps"].as_vec().unwrap() {
        // Nothing that somebody wrote into a pull request becomes a part of a script.
        if let Some(script) = step["run"].as_str() {
            assert!(!script.contains("${{"), "{script}");
        } else {
            assert!(step["uses"].as_str().unwrap().contains('@'));
        }
    }
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    for input in action["inputs"].as_hash().unwrap().keys() {
        let input = format!("`{}`", input.as_str().unwrap());
        assert!(page.contains(&input), "docs/ci.md does not name {input}");
    }
}

#[test]
fn a_pull_request_gets_one_comment_with_the_comparison() {
    let workshop = repository(5);
    let ran = run(&workshop, &[("design", "design.futil")]);
    assert!(ran.status.success(), "{}", said(&ran));
    let comment = workshop.read("comments/2");
    tells(
        &comment,
        &[
            "<!-- petal design.futil -->\n",
            "## design",
            "| cycles | 17 | 25 |",
        ],
    );
    assert_eq!(workshop.read("summary.md"), comment);
    let folders = folders(&workshop, "petal-design-petal-");
    let [out] = &folders[..] else {
        panic!("{folders:?}");
    };
    for file in ["profile/report.html", "change.html", "comparison.md"] {
        assert!(out.join(file).is_file(), "{file}");
    }
    // The repository is as it was, and the next push writes the comment again.
    let state =
        succeeds(&mut workshop.bash("cd repo && git status --short && git worktree list | wc -l"));
    assert_eq!(state.trim(), "M design.futil\n1");
    change(&workshop, 2);
    let ran = run(
        &workshop,
        &[("design", "design.futil"), ("fail-above", "0%")],
    );
    assert!(ran.status.success(), "{}", said(&ran));
    assert_eq!(workshop.files("comments").len(), 2);
    tells(&workshop.read("comments/2"), &["| cycles | 17 | 13 |"]);
    assert_eq!(workshop.read("comments/1"), "Looks good!\n");
}

#[test]
fn a_run_that_got_too_long_is_commented_on_before_the_job_fails() {
    let workshop = repository(5);
    let ran = run(
        &workshop,
        &[("design", "design.futil"), ("fail-above", "2%")],
    );
    assert_eq!(ran.status.code(), Some(1));
    tells(&workshop.read("comments/2"), &["| cycles | 17 | 25 |"]);
}

#[test]
fn a_limit_that_makes_no_sense_fails_the_job() {
    let workshop = repository(5);
    for (design, limit, why) in [
        ("design.futil", "2", "write a limit such as `2%`"),
        ("new.futil", "2", "write a limit such as `2%`"),
        ("design.futil", "p99(load)=5%", "load"),
    ] {
        succeeds(&mut workshop.bash("cd repo && cp design.futil new.futil"));
        let ran = run(&workshop, &[("design", design), ("fail-above", limit)]);
        assert_eq!(ran.status.code(), Some(2), "{limit}: {}", said(&ran));
        tells(&said(&ran), &[why]);
    }
}

#[test]
fn a_new_design_is_only_profiled() {
    let workshop = repository(5);
    succeeds(
        &mut workshop
            .bash("cd repo && cp design.futil new.futil && cp design.futil.data other.json"),
    );
    let inputs = [
        ("design", "new.futil"),
        ("data", "other.json"),
        ("comment", "false"),
        ("passes", "no-opt"),
    ];
    let ran = run(&workshop, &inputs);
    assert!(ran.status.success(), "{}", said(&ran));
    assert_eq!(workshop.files("comments").len(), 1);
    tells(
        &workshop.read("summary.md"),
        &["`new.futil` is not in the base"],
    );
}

#[test]
fn a_fork_that_may_not_comment_is_judged_by_its_cycles() {
    let workshop = repository(5);
    workshop.write("forbidden", "");
    let ran = run(&workshop, &[("design", "design.futil")]);
    assert!(ran.status.success(), "{}", said(&ran));
    tells(&workshop.read("summary.md"), &["| cycles | 17 | 25 |"]);
    let ran = run(
        &workshop,
        &[("design", "design.futil"), ("fail-above", "2%")],
    );
    assert_eq!(ran.status.code(), Some(1));
    // Both uses have a folder of their own, and so an artifact.
    assert_eq!(folders(&workshop, "petal-design-petal-").len(), 2);
}

#[test]
fn a_base_that_is_of_no_use_is_told_and_the_design_judged_by_itself() {
    let broken = repository_with_base("component");
    // It has the same memory.
    let memory = [
        ("8, 2, 1", "32, 1, 1"),
        ("8'd5", "32'd5"),
        ("1'd1; mem", "1'd0; mem"),
    ];
    let replaced = |design: String, (from, to)| design.replace(from, to);
    let other = memory.into_iter().fold(DESIGN.to_owned(), replaced);
    let killed = repository(5);
    let petal = killed.path("bin/petal");
    fs::remove_file(&petal).unwrap();
    let script =
        format!("#!/bin/sh\ncase $PWD in */base) kill -9 $$ ;; esac\nexec {PETAL} \"$@\"\n");
    fs::write(&petal, script).unwrap();
    fs::set_permissions(petal, fs::Permissions::from_mode(0o755)).unwrap();
    let missing = repository(5);
    missing.write("base", "1234567890123456789012345678901234567890");
    for (workshop, why) in [
        (broken, "`design.futil` does not run in the base (`error: "),
        (
            killed,
            "`design.futil` does not run in the base (`it ended with exit code 137`)",
        ),
        (
            repository_with_base(&other),
            "both can't be compared (`error: design and design have nothing in common",
        ),
        (
            missing,
            "the base `1234567890123456789012345678901234567890` can't be fetched",
        ),
    ] {
        let inputs = [("design", "design.futil"), ("fail-above", "0%")];
        let ran = run(&workshop, &inputs);
        assert!(ran.status.success(), "{}", said(&ran));
        let told = [
            "<!-- petal design.futil -->\n",
            why,
            "This is the run by itself",
            "| while",
            "### What costs most now",
            "| main.while",
        ];
        tells(&workshop.read("comments/2"), &told);
    }
}

#[test]
fn what_is_too_long_for_a_comment_is_in_the_artifact() {
    let workshop = repository(5);
    let groups = (0..900).map(|at| {
        format!("group a_group_with_a_long_name_{at} {{ r.in = 8'd1; r.write_en = 1'd1; a_group_with_a_long_name_{at}[done] = r.done; }}\n")
    });
    let calls = (0..900).map(|at| format!("par {{ a_group_with_a_long_name_{at}; }}\n"));
    let design = format!(
        "import \"primitives/core.futil\";\ncomponent main() -> () {{ cells {{ r = std_reg(8); }} wires {{\n{}}} control {{ seq {{\n{}}} }} }}\n",
        groups.collect::<String>(),
        calls.collect::<String>()
    );
    workshop.write("repo/new.futil", design);
    let ran = run(&workshop, &[("design", "new.futil")]);
    assert!(ran.status.success(), "{}", said(&ran));
    let comment = workshop.read("comments/2");
    let folders = folders(&workshop, "petal-new-petal-");
    let name = folders[0].file_name().unwrap().to_str().unwrap();
    tells(&comment, &[&format!("in the artifact `{name}` has all")]);
    let whole = fs::read_to_string(folders[0].join("comparison.md")).unwrap();
    assert!(whole.len() > 65_536 && comment.len() < 65_536);
}
