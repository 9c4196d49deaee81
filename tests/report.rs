//! The report as a browser shows it. What is looked at there is in `check_report.py`.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{chromium, python, root};

const PETAL: &str = env!("CARGO_BIN_EXE_petal");

fn petal(args: &[&Path]) {
    let output = Command::new(PETAL).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "petal {args:?} said:\n{said}");
}

fn profile(design: &Path, out: &Path) {
    let [run, quiet, flag] = ["run", "--quiet", "--out"].map(Path::new);
    petal(&[run, quiet, design, flag, out]);
}

#[test]
fn a_report_shows_what_petal_knows() {
    let dir = tempfile::tempdir().unwrap();
    let names = [
        "switch-case-par",
        "matmul",
        "neural-layer",
        "invoke-ref",
        "static",
    ];
    for name in names {
        let design = root().join("calyx-examples").join(name);
        profile(&design.with_extension("futil"), &dir.path().join(name));
    }
    // A source that wants to be more than text.
    let source = fs::read_to_string(root().join("calyx-examples/switch-case-par.futil")).unwrap();
    let hostile = "seq { /* </script><img src=x onerror=alert(1)><!-- <script> {{data}} */";
    let design = dir.path().join("hostile.futil");
    fs::write(&design, source.replacen("seq {", hostile, 1)).unwrap();
    profile(&design, &dir.path().join("hostile"));
    let checked = Command::new(python())
        .arg(root().join("tests/check_report.py"))
        .arg(chromium())
        .arg(PETAL)
        .arg(dir.path())
        .args(names)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
}

#[test]
fn a_report_is_one_small_file_and_can_be_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    profile(&root().join("calyx-examples/packet-scheduler.futil"), &out);
    let report = fs::read(out.join("report.html")).unwrap();
    // The run has 1.27 million cycles.
    assert!(report.len() < 1 << 20, "{} bytes", report.len());
    fs::remove_file(out.join("report.html")).unwrap();
    petal(&[Path::new("report"), &out]);
    assert!(fs::read(out.join("report.html")).unwrap() == report);
}
