//! Every piece of advice for every example, applied and run.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect;
use serde_json::Value;

use crate::support;
use crate::support::advice::{advice, patched, ran};
use crate::support::workshop::Workshop;

/// Longer runs would take minutes for each change.
const MOST_CYCLES: u64 = 100_000;

/// Holds all that is advised for a design against runs of its own; returns the cycles: as it is, with what is proved, and with
/// all.
fn check(design: &Path) -> Option<[u64; 3]> {
    let workshop = Workshop::empty();
    workshop.write("design.futil", std::fs::read(design).unwrap());
    let data = std::fs::read(format!("{}.data", design.display())).unwrap();
    workshop.write("design.futil.data", &data);
    workshop.write("patched.futil.data", &data);
    let none = Value::Array(Vec::new());
    let before = ran(&workshop, "design.futil", &none);
    if before.0 > MOST_CYCLES {
        return None;
    }
    let advice = advice(&workshop, &["design.futil"]);
    assert_eq!(advice["cycles"], before.0);
    assert_eq!(advice["notes"], none, "{}", design.display());
    assert_eq!(advice["tried"]["not_tried"], 0, "{}", design.display());
    let mut left = before.0;
    for item in advice["advice"].as_array().unwrap() {
        let name = format!("{}: {item:#}", design.display());
        left -= item["on_top"].as_u64().unwrap();
        let Some(alone) = item["alone"].as_u64() else {
            continue;
        };
        match item["patch"].as_str() {
            Some(patch) => patched(&workshop, patch),
            None => workshop.write("patched.futil", workshop.read("design.futil")),
        }
        let after = ran(&workshop, "patched.futil", &item["arguments"]);
        assert_eq!(after.0 + alone, before.0, "{name}");
        assert_eq!(after.1, before.1, "{name}");
    }
    assert_eq!(advice["with_all"], left);
    let with_proved = advice["with_proved"].as_u64().unwrap();
    for (patch, arguments, cycles) in [
        ("proved.patch", &none, with_proved),
        ("all.patch", &advice["arguments"], left),
    ] {
        let file = format!("petal-out/design/advice/{patch}");
        if workshop.path(&file).exists() {
            patched(&workshop, patch);
            let after = ran(&workshop, "patched.futil", arguments);
            assert_eq!(
                after,
                (cycles, before.1.clone()),
                "{}: {patch}",
                design.display()
            );
        }
    }
    Some([before.0, with_proved, left])
}

#[test]
fn every_patch_saves_what_it_says() {
    let mut text = String::new();
    for design in support::designs("calyx-examples") {
        if let Some([before, proved, all]) = check(&design) {
            let name = design.file_stem().unwrap().to_string_lossy();
            let _ = writeln!(text, "{name}: {before}, proved {proved}, all {all}");
        }
    }
    expect![[r#"
        distances: 51, proved 32, all 32
        dot-product: 60, proved 43, all 25
        invoke-ref: 62, proved 42, all 21
        matmul: 612, proved 612, all 233
        nested-components: 16, proved 15, all 15
        neural-layer: 40, proved 29, all 19
        pipelined-mac: 21, proved 21, all 21
        shared-component: 18, proved 18, all 9
        static: 13, proved 13, all 13
        structural-enable: 8, proved 8, all 8
        switch-case-if: 6, proved 6, all 3
        switch-case-par: 9, proved 6, all 3
        while-comb: 17, proved 12, all 10
        while-par: 13, proved 13, all 11
        while-reg: 16, proved 13, all 11
    "#]]
    .assert_eq(&text);
}
