//! The pages of comparisons and graphs as a browser shows them. What is looked at there is in `check_pages.py`.

use std::process::Command;

use crate::support::workshop::{PETAL, Workshop, example, succeeds};
use crate::support::{chromium, python, root};

#[test]
fn comparisons_and_graphs_work_in_a_browser() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let observed = ["--latency", "main.read", "--latency", "main.incr"];
    for (passes, out) in [("no-opt", "before"), ("all", "after")] {
        let run = ["run", "-q", &design, "--passes", passes, "--out", out];
        workshop.succeeds(&[&run[..], &observed].concat());
    }
    let page = ["compare", "before", "after", "--html", "change.html"];
    let json = workshop.succeeds(&[&page[..], &["--format", "json"]].concat());
    workshop.write("change.json", json);
    // Two versions of a source that wants to be more than text.
    let hostile = "seq { /* </script><img src=x onerror=alert(1)><!-- <script> {{data}} */";
    let source = std::fs::read_to_string(&design).unwrap();
    workshop.write("one.futil", source.replacen("seq {", hostile, 1));
    workshop.write(
        "two.futil",
        source.replacen("seq {", &hostile.replace('x', "y"), 1),
    );
    workshop.succeeds(&[
        "compare",
        "one.futil",
        "two.futil",
        "--html",
        "hostile.html",
    ]);
    workshop.succeeds(&["graph", "before", "--out", "graph.html"]);
    let large = example("packet-scheduler.futil");
    workshop.succeeds(&["run", "-q", &large, "--out", "large"]);
    workshop.succeeds(&["graph", "large", "--out", "critical.html"]);
    succeeds(
        Command::new(python())
            .arg(root().join("tests/slow/check_pages.py"))
            .arg(chromium())
            .arg(PETAL)
            .arg(workshop.dir.path()),
    );
}
