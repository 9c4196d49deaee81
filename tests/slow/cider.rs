//! Monitored designs in Cider, Calyx's interpreter: what they record is what they record in petal's simulator.
//!
//! `CIDER` names a checkout of upstream Calyx in which `cargo build --release -p cider -p cider-data-converter` has run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use petal_visualize::outputs::MEMORIES;

use crate::support::workshop::{Workshop, example, succeeds};

/// Runs `m.futil` there. Returns the file with its memories.
fn run(checkout: &Path, workshop: &Workshop) -> String {
    let built = |name: &str| Command::new(checkout.join("target/release").join(name));
    let at = |name: &str| workshop.path(name);
    let mut before = built("cider-data-converter");
    succeeds(
        before
            .arg(at("m.futil.data"))
            .args(["--to", "cider", "-o"])
            .arg(at("before.dump")),
    );
    let mut cider = built("cider");
    cider
        .arg("-l")
        .arg(checkout)
        .arg(at("m.futil"))
        .arg("--data")
        .arg(at("before.dump"));
    let output = cider.arg("-q").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    std::fs::write(at("after.dump"), output.stdout).unwrap();
    let mut after = built("cider-data-converter");
    succeeds(
        after
            .arg(at("after.dump"))
            .args(["--to", "json", "-o"])
            .arg(at("after.json")),
    );
    "after.json".to_owned()
}

#[test]
fn monitors_record_the_same_in_cider() {
    let Some(checkout) = env::var_os("CIDER").map(PathBuf::from) else {
        eprintln!("not run: CIDER names no checkout of upstream Calyx with Cider built");
        return;
    };
    let workshop = Workshop::empty();
    let rooms: [&[&str]; 5] = [
        &["--depth", "3"],
        &["--depth", "1"],
        &["--depth", "4", "--cyclic"],
        &["--depth", "4", "--cyclic", "--trigger", "main.write"],
        &["--latency", "main.init..main.read", "--histogram"],
    ];
    // Its multipliers take a cycle more than the Verilog.
    for design in ["while-comb.futil", "while-reg.futil", "while-par.futil"] {
        for room in rooms {
            let monitor = ["monitor", &example(design), "-o", "m.futil"];
            let asked = [
                "--checkpoint",
                "main.read",
                "--watch",
                "main.i",
                "--checkpoint",
                "main.write",
            ];
            workshop.succeeds(&[&monitor[..], &asked, room].concat());
            workshop.succeeds(&["run", "m.futil", "-q", "--out", "out"]);
            let memories = [format!("out/{MEMORIES}"), run(&checkout, &workshop)];
            let [here, there] = memories.map(|memories| {
                workshop.succeeds(&["monitor", "read", &memories, "--metadata", "m.monitor.json"])
            });
            assert_eq!(here, there, "{design} {room:?}");
        }
    }
}
