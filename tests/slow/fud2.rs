//! What `integrations/fud2/petal.rhai` has Ninja do leaves a profile. `integrations/fud2/check` tells how far that goes
//! without fud2.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::root;
use crate::support::workshop::{Workshop, example, succeeds};

/// Runs what the script makes of a Calyx program, in fud2's folder; returns what fud2 would print.
fn fud2(workshop: &Workshop, input: &str, config: &[&str]) -> String {
    let folder = root().join("integrations/fud2");
    let ninja = succeeds(
        Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--locked", "--manifest-path"])
            .arg(folder.join("check/Cargo.toml"))
            .arg("--target-dir")
            .arg(root().join("target/fud2-script-check"))
            .arg("--")
            .arg(folder.join("petal.rhai"))
            .args([input, "summary.txt"])
            .args(config),
    );
    assert!(ninja.starts_with("# calyx to petal-profile\n"), "{ninja}");
    // What a front end does, with a file of another name.
    let front_end = "rule front-end\n  command = cp ../gcd.calyx $out\nbuild calyx_1.futil: front-end ../gcd.fuse\n";
    workshop.write(".fud2/build.ninja", format!("{front_end}{ninja}"));
    succeeds(&mut workshop.bash("ninja -C .fud2 --quiet"));
    workshop.read(".fud2/summary.txt")
}

#[test]
fn fud2_leaves_a_profile() {
    let workshop = Workshop::empty();
    fs::create_dir(workshop.path(".fud2")).unwrap();
    for file in ["gcd.fuse", "gcd.futil.data"] {
        workshop.copy(&example(&format!("adl/{file}")), file);
    }
    // Dahlia is called in fud2's folder, and so names its file from there.
    let design = fs::read_to_string(example("adl/gcd.futil")).unwrap();
    let design = design.replace("0: gcd.fuse", "0: ../gcd.fuse");
    workshop.write(".fud2/gcd.futil", design);
    fs::copy(workshop.path(".fud2/gcd.futil"), workshop.path("gcd.calyx")).unwrap();
    // The profile has the name of the front end's file.
    let summary = fud2(&workshop, "calyx_1.futil", &["sim.data=gcd.futil.data"]);
    assert!(summary.contains("gcd.fuse:6 for (let i"), "{summary}");
    assert!(summary.contains(" petal-out/gcd/report.html"), "{summary}");
    let memories = workshop.read("petal-out/gcd/memories.json");
    assert!(memories.contains("[4, 35, 1, 17]"), "{memories}");
    // A Calyx program is where its user has it, with its data beside it.
    workshop.copy(&example("adl/gcd.futil"), "gcd.futil");
    let config = [
        "petal-profile.out=profiles/of gcd",
        "petal-profile.args=-d static-promotion",
    ];
    fud2(&workshop, "../gcd.futil", &config);
    let memories = workshop.read("profiles/of gcd/memories.json");
    assert!(memories.contains("[4, 35, 1, 17]"), "{memories}");
    let summary: Value =
        serde_json::from_str(&workshop.read("profiles/of gcd/summary.json")).unwrap();
    assert_eq!(summary["design"], "gcd");
}
