//! The report as a browser shows it. What is looked at there is in `check_report.py`.

use std::process::Command;

use crate::support::workshop::{PETAL, Workshop, example, succeeds};
use crate::support::{chromium, python, root};

#[test]
fn a_report_shows_what_petal_knows() {
    let workshop = Workshop::empty();
    let profile = |design: &str, out: &str| {
        workshop.succeeds(&["run", "--quiet", design, "--out", out]);
    };
    let names = [
        "switch-case-par",
        "matmul",
        "neural-layer",
        "invoke-ref",
        "static",
    ];
    for name in names {
        profile(&example(&format!("{name}.futil")), name);
    }
    // A source that wants to be more than text.
    let hostile = "seq { /* </script><img src=x onerror=alert(1)><!-- <script> {{data}} */";
    let source = std::fs::read_to_string(example("switch-case-par.futil")).unwrap();
    workshop.write("hostile.futil", source.replacen("seq {", hostile, 1));
    profile("hostile.futil", "hostile");
    workshop.write("large.futil", many_statements(400));
    profile("large.futil", "large");
    profile(&example("adl/variance.futil"), "variance");
    // A long run.
    profile(&example("packet-scheduler.futil"), "long");
    let advised = example("neural-layer.futil");
    workshop.succeeds(&["advise", &advised, "--proved", "--out", "advised"]);
    let ask = ["whatif", &advised, "-q", "--out", "advised"];
    workshop.succeeds(&ask);
    let curve = ["--primitive", "std_fp_smult_pipe=1..6"];
    workshop.succeeds(&[&ask[..], &curve].concat());
    succeeds(
        Command::new(python())
            .arg(root().join("tests/slow/check_report.py"))
            .arg(chromium())
            .arg(PETAL)
            .arg(workshop.dir.path())
            .args(names),
    );
}

/// A design with so many enables in a `seq`.
fn many_statements(count: usize) -> String {
    let groups = (0..count).map(|at| {
        format!("    group g{at} {{ r.in = 8'd1; r.write_en = 1'd1; g{at}[done] = r.done; }}\n")
    });
    let enables = (0..count).map(|at| format!("    g{at};\n"));
    format!(
        "import \"primitives/core.futil\";\ncomponent main() -> () {{\n  cells {{ r = std_reg(8); }}\n  wires {{\n{}  }}\n  control {{ seq {{\n{}  }} }}\n}}\n",
        groups.collect::<String>(),
        enables.collect::<String>()
    )
}

#[test]
fn a_report_is_one_small_file_and_can_be_written_again() {
    let workshop = Workshop::empty();
    workshop.succeeds(&[
        "run",
        "-q",
        &example("packet-scheduler.futil"),
        "--out",
        "out",
    ]);
    let report = workshop.read("out/report.html");
    // The run has 1.27 million cycles.
    assert!(report.len() <= 300_000, "{} bytes", report.len());
    std::fs::remove_file(workshop.path("out/report.html")).unwrap();
    workshop.succeeds(&["report", "out"]);
    assert!(workshop.read("out/report.html") == report);
}
