//! What `--version` and `petal doctor` say of a machine that has everything.

use std::fs;

use expect_test::expect;

use crate::support::root;
use crate::support::workshop::{Workshop, example, succeeds};

#[test]
fn versions_of_all_that_takes_part() {
    let workshop = Workshop::empty();
    let version = env!("CARGO_PKG_VERSION");
    let short = workshop.succeeds(&["-V"]);
    assert_eq!(short, format!("petal {version}\n"));
    let long = workshop.succeeds(&["--version"]);
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], format!("petal {version}"));
    assert_eq!(lines[1], format!("calyx {}", petal_program::CALYX_VERSION));
    let locked = fs::read_to_string(root().join("Cargo.lock"))
        .unwrap()
        .split("[[package]]\n")
        .find_map(|package| {
            let rest = package.strip_prefix("name = \"cranelift-jit\"\nversion = \"")?;
            Some(rest.split('"').next()?.to_owned())
        });
    let cranelift = format!("embedded simulator: cranelift {}", locked.unwrap());
    assert_eq!(lines[2], cranelift);
    let verilator = succeeds(workshop.run("verilator").arg("--version"));
    let told = lines[3].strip_prefix("verilator: ").unwrap();
    match verilator.strip_prefix("Verilator ") {
        Some(version) => assert_eq!(told, version.split(' ').next().unwrap()),
        // A wheel for Python says no version but in its runtime.
        None => assert!(told.starts_with("5."), "{told}"),
    }
    let without = succeeds(workshop.command(&["--version"]).env("PATH", ""));
    assert!(without.ends_with("verilator: not installed\n"), "{without}");
}

#[test]
fn the_doctor_tries_everything() {
    let workshop = Workshop::empty();
    let report = workshop.succeeds(&["doctor"]);
    let found: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("ok "))
        .filter_map(|line| line.get(9..28))
        .map(str::trim)
        .collect();
    for what in [
        "embedded simulator",
        "Verilator",
        "C++ compiler",
        "run in Verilator",
        "cache folder",
    ] {
        assert!(found.contains(&what), "{report}");
    }
    assert_eq!(report.matches("17 cycles").count(), 2, "{report}");
}

#[test]
fn a_summary_tells_what_made_it() {
    let workshop = Workshop::empty();
    let out = workshop.dir.path().to_string_lossy().into_owned();
    let keys = |simulator: &str| {
        let design = &example("while-comb.futil");
        let args = [
            "run",
            design,
            "--out",
            &out,
            "--json",
            "--simulator",
            simulator,
        ];
        let summary = workshop.succeeds(&args);
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["versions"]["calyx"], petal_program::CALYX_VERSION);
        let versions = summary["versions"].as_object().unwrap();
        versions.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    expect!["calyx cranelift petal"].assert_eq(&keys("embedded"));
    expect!["calyx petal verilator"].assert_eq(&keys("verilator"));
}
