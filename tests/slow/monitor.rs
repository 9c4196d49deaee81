//! Monitored designs, compiled by the Calyx compiler's own driver: what they record is what `petal run` observes.
//!
//! `CALYX_DRIVER` names a driver of the Calyx that petal has, such as that of `cargo install calyx --version 0.7.1`. It takes the library of petal, since
//! another Calyx may have primitives with other ports.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use petal_program::Library;
use petal_visualize::outputs::MEMORIES;

use crate::support::monitored::{json, records_what_is_observed};
use crate::support::random::texts;
use crate::support::workshop::{Workshop, succeeds};
use crate::support::{examples, programs, root};

/// A driver, and the library for it.
struct Driver {
    calyx: PathBuf,
    library: PathBuf,
    /// Removes the library in the end.
    _files: Library,
}

impl Driver {
    /// The one to test with, if there is one.
    fn find() -> Option<Self> {
        let Some(calyx) = env::var_os("CALYX_DRIVER").map(PathBuf::from) else {
            eprintln!("not run: CALYX_DRIVER names no driver of the Calyx compiler");
            return None;
        };
        let files = Library::new(&[]).unwrap();
        let library = files.complete().unwrap().to_owned();
        Some(Self {
            calyx,
            library,
            _files: files,
        })
    }

    /// Lowers `m.futil` to Calyx once more, and runs that in the embedded simulator.
    fn embedded(&self, workshop: &Workshop) -> (u64, String) {
        let lowered = succeeds(
            workshop
                .run(&self.calyx.display().to_string())
                .args(["m.futil", "-p", "none", "-b", "calyx", "-l"])
                .arg(&self.library),
        );
        workshop.write("l.futil", lowered);
        workshop.copy("m.futil.data", "l.futil.data");
        let library = self.library.display().to_string();
        let run = [
            "run",
            "l.futil",
            "-q",
            "--out",
            "monitored",
            "--library",
            &library,
        ];
        let embedded = ["--simulator", "embedded", "-d", "canonicalize"];
        workshop.succeeds(&[&run[..], &embedded].concat());
        let summary = json(&workshop.read("monitored/summary.json"));
        let cycles = summary["cycles"].as_u64().unwrap();
        (cycles, format!("monitored/{MEMORIES}"))
    }

    /// Compiles `m.futil` to Verilog, with its memories inside or outside, and runs that in Verilator.
    fn verilator(&self, workshop: &Workshop, outside: bool) -> (u64, String) {
        let [design, out] = ["m.futil", "after.json"].map(|name| workshop.path(name));
        succeeds(
            Command::new("python3")
                .arg(root().join("tests/slow/driver.py"))
                .args([&self.library, &self.calyx, &design, &out])
                .args(outside.then_some("--outside")),
        );
        let after = json(&workshop.read("after.json"));
        workshop.write("memories.json", after["memories"].to_string());
        let cycles = after["cycles"].as_u64().unwrap();
        (cycles, "memories.json".to_owned())
    }
}

/// Holds all examples and random programs.
fn all_record_what_is_observed(lowered: impl Fn(&Workshop) -> (u64, String), passes: &[&str]) {
    let workshop = Workshop::empty();
    let mut stamps = 0;
    let mut hold = |design: &str| {
        for passes in passes {
            let options = ["--passes", passes];
            stamps += records_what_is_observed(&workshop, design, &options, &lowered).0;
        }
    };
    for design in examples() {
        // A million cycles are too many to bring each back.
        if !design.ends_with("packet-scheduler.futil") {
            hold(&design.display().to_string());
        }
    }
    for (number, text) in texts(programs(6)).into_iter().enumerate() {
        let design = format!("r{number}.futil");
        workshop.write(&design, text);
        hold(&design);
    }
    assert!(stamps > 1_500, "only {stamps} stamps");
}

#[test]
fn monitors_record_what_is_observed_in_the_embedded_simulator() {
    if let Some(driver) = Driver::find() {
        let lowered = |workshop: &Workshop| driver.embedded(workshop);
        all_record_what_is_observed(lowered, &["all", "no-opt"]);
    }
}

#[test]
fn monitors_record_what_is_observed_in_verilator() {
    if let Some(driver) = Driver::find() {
        let lowered = |workshop: &Workshop| driver.verilator(workshop, false);
        all_record_what_is_observed(lowered, &["no-opt"]);
    }
}

#[test]
fn monitors_record_what_is_observed_with_their_memories_outside() {
    if let Some(driver) = Driver::find() {
        let lowered = |workshop: &Workshop| driver.verilator(workshop, true);
        all_record_what_is_observed(lowered, &["all"]);
    }
}
