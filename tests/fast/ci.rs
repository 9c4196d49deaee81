//! The workflow in docs/ci.md does what the page says: its petal steps are run here, in order, as the
//! runner would.

use std::fs;

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::page::blocks_in;
use crate::support::root;
use crate::support::workshop::{Workshop, said, succeeds};

const PAGE: &str = "docs/ci.md";

/// The steps of the workflow: name and commands.
fn steps() -> Vec<(String, String)> {
    let workflow = YamlLoader::load_from_str(&blocks_in(PAGE, "yaml")[0]).unwrap();
    let steps = &workflow[0]["jobs"]["cycles"]["steps"];
    let text = |value: &Yaml| value.as_str().unwrap().to_owned();
    steps
        .as_vec()
        .unwrap()
        .iter()
        .filter(|step| !step["run"].is_badvalue())
        .map(|step| (text(&step["name"]), text(&step["run"])))
        .collect()
}

/// A repository with the design.
fn repository() -> Workshop {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "while-comb.futil", &[]);
    workshop
}

/// Runs the petal steps of the job up to one that fails, and returns its name and what it says.
fn job(workshop: &Workshop) -> Option<(String, String)> {
    let mut ran = 0;
    for (name, commands) in steps() {
        if !commands.starts_with("petal ") {
            continue;
        }
        ran += 1;
        let output = workshop.bash(&commands).output().unwrap();
        if !output.status.success() {
            assert_eq!(output.status.code(), Some(1), "{name}");
            return Some((name, said(&output)));
        }
    }
    assert_eq!(ran, 3, "the page has other steps now");
    None
}

#[test]
fn the_job_passes_a_design_that_is_no_slower_and_stops_one_that_is() {
    let runner = repository();
    succeeds(&mut runner.bash(&blocks_in(PAGE, "sh")[0]));
    assert_eq!(job(&runner), None);
    let summary = runner.read("summary.md");
    assert!(summary.starts_with("## design\n"), "{summary}");
    assert!(summary.contains("| cycles | 17 | 17 |"), "{summary}");
    let metrics: serde_json::Value = serde_json::from_str(&runner.read("metrics.json")).unwrap();
    assert_eq!(metrics[0]["name"], "design: cycles");
    assert_eq!(metrics[0]["value"], 17);

    // One iteration more.
    let design = runner.read("design.futil");
    let slower = design.replace("lt.right = 3'd3;", "lt.right = 3'd4;");
    assert_ne!(design, slower);
    fs::write(runner.path("design.futil"), slower).unwrap();
    fs::remove_file(runner.path("summary.md")).unwrap();
    fs::remove_file(runner.path("change.html")).unwrap();
    let (step, said) = job(&runner).expect("it is slower");
    assert_eq!(step, "Compare with the baseline");
    assert!(
        said.contains("above the limit of 2%; what grew most: main.cond"),
        "{said}"
    );
    // What explains the failure is there all the same.
    let summary = runner.read("summary.md");
    assert!(
        summary.contains("| cycles | 17 | 21 | +4 | +23.5 |"),
        "{summary}"
    );
    assert!(
        runner
            .read("change.html")
            .contains("\"own\":[{\"name\":\"main.while@")
    );
    assert!(runner.path("profile/flame.svg").exists());
}

#[test]
fn the_job_installs_petal_from_where_it_is_checked_out() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let (_, install) = steps()
        .into_iter()
        .find(|(name, _)| name == "Install petal")
        .expect("there is such a step");
    let folder = install.rsplit(' ').next().unwrap().trim();
    assert!(page.contains(&format!("path: {folder}\n")), "{install}");
}

#[test]
fn the_other_commands_of_the_page_work() {
    let runner = repository();
    succeeds(
        &mut runner.bash(
            "git init -q && git add . && git -c user.name=n -c user.email=e commit -qm design",
        ),
    );
    for commands in &blocks_in(PAGE, "sh") {
        succeeds(&mut runner.bash(commands));
    }
}
