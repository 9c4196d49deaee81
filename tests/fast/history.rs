//! The history of a design, kept over the commits of a real repository.

use std::fs;

use crate::support::workshop::{Workshop, said, succeeds, tells};

/// A repository with the design, which waits so many iterations in each commit.
fn repository(iterations: &[u32]) -> (Workshop, Vec<String>) {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "while-comb.futil", &[]);
    let design = workshop.read("design.futil");
    let mut commits = Vec::new();
    succeeds(&mut workshop.bash("git init -q repo && cp design.futil.data repo"));
    for (at, count) in iterations.iter().enumerate() {
        let text = design.replace(
            "lt.right = 3'd3;",
            &format!("lt.right = 3'd{count}; // {at}"),
        );
        fs::write(workshop.path("repo/design.futil"), text).unwrap();
        let script = format!(
            "cd repo && git add . && git -c user.name=t -c user.email=t@t commit -q -m 'iterate {count} times' && \
             petal run design.futil -q --out ../profile && petal history ../profile --out ../history && git rev-parse HEAD"
        );
        let told = succeeds(&mut workshop.bash(&script));
        commits.push(told.lines().last().unwrap().to_owned());
    }
    (workshop, commits)
}

#[test]
fn the_first_commit_that_made_it_slower_is_named() {
    let (workshop, commits) = repository(&[4, 3, 3, 5, 6]);
    let told = workshop.succeeds(&["history", "--out", "history"]);
    let slower = format!(
        "slower since {} (iterate 5 times): 17 → ",
        &commits[3][..10]
    );
    tells(&told, &["design: ", &slower, "history/history.html"]);
    assert_eq!(workshop.files("history/entries").len(), 5);
    // The page has all, in order, although all are of the same second or so.
    let page = workshop.read("history/history.html");
    let data = page.split_once(r#"id="data">"#).unwrap().1;
    let data = data.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let entries = data[0]["entries"].as_array().unwrap();
    let shown: Vec<&str> = entries
        .iter()
        .map(|entry| entry["commit"].as_str().unwrap())
        .collect();
    assert_eq!(shown, commits);
    assert_eq!(data[0]["worse"], 3);
    let said = workshop.ends(
        1,
        &["history", "--out", "history", "--fail-above", "2%", "-q"],
    );
    tells(&said, &["error: design: ", "slower since"]);
    workshop.succeeds(&[
        "history",
        "--out",
        "history",
        "--fail-above",
        "100cycles",
        "-q",
    ]);
}

#[test]
fn a_commit_counts_once_and_a_design_that_got_shorter_is_not_slower() {
    let (workshop, _) = repository(&[4, 5, 3]);
    let add = [
        "history",
        "profile",
        "--out",
        "history",
        "--repository",
        "repo",
    ];
    let told = workshop.succeeds(&add);
    tells(&told, &["design: 17 cycles, as few as any of 3 commits"]);
    assert_eq!(workshop.files("history/entries").len(), 3);
    // The profile may be of another commit than that which is checked out.
    workshop.succeeds(&[&add[..], &["--commit", "HEAD~1"]].concat());
    assert_eq!(workshop.files("history/entries").len(), 3);
}

#[test]
fn what_is_no_commit_or_no_whole_run_is_refused() {
    let (workshop, _) = repository(&[3]);
    let before = workshop.files("history");
    for (args, parts) in [
        (
            &["profile", "--repository", "."][..],
            &["git does not find the commit HEAD in ."][..],
        ),
        (
            &["profile", "--repository", "repo", "--commit=--all"],
            &["git does not find the commit --all"],
        ),
        (
            &["profile", "--repository", "repo", "--commit", "no"],
            &["the commit no in repo"],
        ),
        (
            &["nothing", "--repository", "repo"],
            &["nothing holds no whole profile"],
        ),
    ] {
        let said = workshop.petal(&[&["history", "--out", "history"], args].concat());
        tells(&String::from_utf8_lossy(&said.stderr), parts);
        assert!(!said.status.success());
    }
    let said = workshop.petal(&[
        "run",
        "repo/design.futil",
        "-q",
        "--cycle-limit",
        "5",
        "--out",
        "short",
    ]);
    assert_eq!(said.status.code(), Some(1));
    let said = workshop.ends(
        1,
        &[
            "history",
            "short",
            "--out",
            "history",
            "--repository",
            "repo",
        ],
    );
    tells(&said, &["a run that ended early"]);
    assert!(before == workshop.files("history"));
    let said = workshop.ends(1, &["history", "--out", "none"]);
    tells(&said, &["there is no history in none"]);
}

#[test]
fn a_commit_is_no_option_of_git() {
    let (workshop, _) = repository(&[4]);
    let script = "cd repo && petal history ../profile --out ../history --commit=--output=written";
    let output = workshop.bash(script).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    tells(
        &said(&output),
        &["git does not find the commit --output=written"],
    );
    assert!(
        workshop
            .files("repo")
            .keys()
            .all(|name| !name.to_string_lossy().contains("written"))
    );
}

#[test]
fn a_shallow_clone_is_refused() {
    let (workshop, _) = repository(&[4, 3]);
    succeeds(&mut workshop.bash("git clone -q --depth 1 file://$PWD/repo shallow"));
    let script = "cd shallow && petal history ../profile --out ../history";
    let output = workshop.bash(script).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    tells(
        &said(&output),
        &[
            "is a shallow clone",
            "git fetch --unshallow",
            "fetch-depth: 0",
        ],
    );
}
