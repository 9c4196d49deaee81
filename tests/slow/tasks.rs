//! What people open a profile for is found in a few clicks, or by one command. What that is, is in `check_tasks.py`.

use std::process::Command;

use crate::support::workshop::{PETAL, Workshop, example, succeeds};
use crate::support::{chromium, python, root};

#[test]
fn what_people_look_for_is_three_clicks_away() {
    let workshop = Workshop::empty();
    workshop.edited(
        "neural-layer-in-a-row.futil",
        "neural-layer.futil",
        &[("par {", "seq {")],
    );
    let profile = |design: &str, out: &str, options: &[&str]| {
        workshop.succeeds(&[&["run", "--quiet", design, "--out", out], options].concat());
    };
    for design in [
        "switch-case-par",
        "switch-case-if",
        "distances",
        "neural-layer",
        "adl/variance",
        "adl/variance_fast",
    ] {
        let out = design.trim_start_matches("adl/");
        profile(&example(&format!("{design}.futil")), out, &[]);
    }
    let unshared = ["-d", "cell-share"];
    profile(&example("distances.futil"), "distances-unshared", &unshared);
    profile("neural-layer-in-a-row.futil", "neural-layer-in-a-row", &[]);
    succeeds(
        Command::new(python())
            .arg(root().join("tests/slow/check_tasks.py"))
            .arg(chromium())
            .arg(PETAL)
            .arg(workshop.dir.path()),
    );
}
