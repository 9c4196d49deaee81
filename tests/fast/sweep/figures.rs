//! The figures of runs, and which runs no other one beats.

use std::fs;

use serde_json::Value as Json;

use super::rows;
use crate::support::workshop::{Workshop, example, tells};

#[test]
fn what_no_run_beats_is_the_front() {
    let workshop = Workshop::empty();
    workshop.write(
        "s.toml",
        format!(
            "passes = [\"all\", \"no-opt\"]\npareto = [\"cycles\", \"useful_cycles\"]\n[[design]]\nfiles = {:?}\n",
            example("while-comb.futil")
        ),
    );
    let told = workshop.succeeds(&["sweep", "s.toml"]);
    let rows = rows(&workshop, "petal-out/s");
    let costs = |passes: &str| {
        let row = &rows[&format!("while-comb / {passes} / default")];
        (row.figures["cycles"], row.figures["useful_cycles"])
    };
    let (all, none) = (costs("all"), costs("no-opt"));
    assert!(all.0 < none.0, "{all:?} {none:?}");
    let has_front = told.contains("Pareto front");
    assert_eq!(has_front, none.1 < all.1, "{told}");
}

#[test]
fn a_period_makes_time_of_cycles() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let sweep = |head: &str| {
        let text = format!("{head}\n[[design]]\nfiles = {design:?}\n");
        workshop.write("s.toml", text);
    };
    sweep(
        "passes = [\"all\", \"no-opt\"]\nperiod = \"4ns\"\npareto = [\"time_ns\", \"register_bits\"]",
    );
    let told = workshop.succeeds(&["sweep", "s.toml"]);
    tells(&told, &["time_ns"]);
    for (name, row) in rows(&workshop, "petal-out/s") {
        assert_eq!(row.figures["period_ps"], 4000, "{name}");
        assert_eq!(row.figures["time_ns"], 4 * row.figures["cycles"], "{name}");
    }
    sweep("period = \"4ns\"\nsynth = \"ice40\"");
    let said = workshop.fails(&["sweep", "s.toml"]);
    tells(&said, &["s.toml:1", "leave out one of the two"]);
    sweep("period = \"4\"");
    let said = workshop.fails(&["sweep", "s.toml"]);
    tells(&said, &["s.toml:1: `period`: write a time from 1ps"]);
}

#[test]
fn cycles_are_weighed_against_hardware() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.write(
        "s.toml",
        format!("passes = [\"all\", \"no-opt\"]\npareto = [\"cycles\", \"register_bits\"]\n[[design]]\nfiles = {design:?}\n"),
    );
    let told = workshop.succeeds(&["sweep", "s.toml"]);
    tells(&told, &["register_bits"]);
    for (name, row) in rows(&workshop, "petal-out/s") {
        let folder = workshop
            .path("petal-out/s/profiles")
            .join(row.name.folder());
        let summary = fs::read_to_string(folder.join("summary.json")).unwrap();
        let summary: Json = serde_json::from_str(&summary).unwrap();
        for figure in ["registers", "register_bits", "cells"] {
            assert_eq!(summary["hardware"][figure], row.figures[figure], "{name}");
        }
        // The register of the loop and those of the state machine, each with a bit for `done`.
        assert!(
            row.figures["register_bits"] > row.figures["registers"],
            "{name}"
        );
    }
}
