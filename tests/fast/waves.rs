//! `petal view --gtkwave` and `--surfer`: what viewers of waveforms are told.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::histories::of_fst;
use crate::support::workshop::{Workshop, example, said, tells};

/// The signals of the waveform, as viewers spell them.
fn signals(workshop: &Workshop) -> BTreeSet<String> {
    let all = of_fst(&workshop.path("wave.fst")).into_keys();
    all.map(|(path, width)| match width {
        1 => path,
        _ => format!("{path}[{}:0]", width - 1),
    })
    .collect()
}

fn profiled(design: &str, more: &[&str]) -> Workshop {
    let workshop = Workshop::empty();
    let design = example(design);
    let args = ["run", &design, "-q", "--out", "run", "--fst", "wave.fst"];
    workshop.succeeds(&[&args[..], more].concat());
    workshop
}

/// When the checkpoint happened.
fn stamps(workshop: &Workshop) -> Vec<u64> {
    let observed: Value = serde_json::from_str(&workshop.read("run/observations.json")).unwrap();
    let cycles = observed["checkpoints"][0]["cycles"].as_array().unwrap();
    cycles.iter().map(|cycle| cycle.as_u64().unwrap()).collect()
}

fn gtkwave(workshop: &Workshop, more: &[&str]) -> String {
    let args = ["view", "run", "--gtkwave", "wave.fst", "--out", "told.gtkw"];
    workshop.succeeds(&[&args[..], more].concat());
    workshop.read("told.gtkw")
}

/// The signals of a save file, by the names that they are shown under.
fn shown(save: &str) -> Vec<(&str, &str)> {
    let lines = save.lines().filter_map(|line| line.strip_prefix("+{"));
    lines.map(|line| line.split_once("} ").unwrap()).collect()
}

#[test]
fn gtkwave_is_told_the_names_of_the_source() {
    let checkpoint = ["--checkpoint", "mac=main.multiply"];
    let workshop = profiled("dot-product.futil", &checkpoint);
    let all = signals(&workshop);
    let save = gtkwave(&workshop, &["--cycles", "0..20"]);
    let shown = shown(&save);
    for (name, signal) in &shown {
        assert!(all.contains(*signal), "{name}: no {signal}");
    }
    let names: Vec<&str> = shown.iter().map(|(name, _)| *name).collect();
    assert_eq!(names[..3], ["more", "multiply", "accumulate"]);
    for port in ["mult left", "mult go", "sum in", "i out"] {
        assert!(names.contains(&port), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.ends_with(" clk")));
    // The result is written at the end of the run.
    assert!(!names.contains(&"write"));
    // A cycle begins at 25 ns, and takes 10.
    assert!(save.contains("\n[timestart] 25\n"), "{save}");
    let first = stamps(&workshop)[0];
    let marker = format!(" 25 {} ", 25 + 10 * first);
    assert!(save.lines().nth(2).unwrap().contains(&marker), "{save}");
    assert!(save.contains("\n[markername] Amac#1\n"), "{save}");
}

#[test]
fn one_group_or_cell_is_shown_alone() {
    let workshop = profiled("dot-product.futil", &[]);
    let save = gtkwave(&workshop, &["--signals", "main.multiply"]);
    let mut names = shown(&save);
    assert_eq!(names.remove(0).0, "multiply");
    // What it drives, but not what it only reads.
    assert!(names.iter().all(|(name, _)| name.starts_with("mult ")));
    let save = gtkwave(&workshop, &["--signals", "main.sum"]);
    let names = shown(&save).into_iter();
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    assert_eq!(names, ["sum done", "sum in", "sum out", "sum write_en"]);
    // Cells of components have scopes of their own.
    let workshop = profiled("nested-components.futil", &[]);
    let all = signals(&workshop);
    let save = gtkwave(&workshop, &["--signals", "main.n"]);
    assert!(!shown(&save).is_empty(), "{save}");
    for (name, signal) in shown(&save) {
        assert!(all.contains(signal), "{name}: no {signal}");
        assert!(signal.starts_with("toplevel.main.n."), "{signal}");
    }
}

#[test]
fn surfer_is_told_the_same() {
    let workshop = profiled("dot-product.futil", &["--checkpoint", "mac=main.multiply"]);
    let save = gtkwave(&workshop, &["--around", "main.multiply#2"]);
    let args = ["view", "run", "--surfer", "wave.fst", "--out", "told.sucl"];
    workshop.succeeds(&[&args[..], &["--around", "main.multiply#2"]].concat());
    let told = workshop.read("told.sucl");
    let added = told
        .lines()
        .filter_map(|line| line.strip_prefix("variable_add "));
    let signals = shown(&save).into_iter();
    let signals = signals.map(|(_, signal)| signal.split('[').next().unwrap());
    assert!(added.eq(signals), "{told}");
    assert!(told.contains("\nmarker_set mac#2 "), "{told}");
}

#[test]
fn what_can_not_be_shown_is_told() {
    let workshop = profiled("dot-product.futil", &[]);
    let fails = |code, more: &[&str], told: &[&str]| {
        let output = workshop.petal(&[&["view", "run"][..], more].concat());
        assert_eq!(output.status.code(), Some(code));
        tells(&said(&output), told);
    };
    fails(1, &["--gtkwave", "none.fst"], &["none.fst"]);
    fails(2, &["--signals", "main.sum"], &["--gtkwave"]);
    let unknown = ["--gtkwave", "wave.fst", "--signals", "main.summ"];
    fails(1, &unknown, &["`main.summ`", "petal stats run"]);
    let other = example("matmul.futil");
    workshop.succeeds(&["run", &other, "-q", "--out", "other", "--vcd", "other.vcd"]);
    fails(1, &["--gtkwave", "other.vcd"], &["other.vcd", "different"]);
    // Nothing is written over what is read.
    let over = ["--gtkwave", "wave.fst", "--out", "wave.fst"];
    fails(2, &over, &["wave.fst"]);
    let mut petal = workshop.run(env!("CARGO_BIN_EXE_petal"));
    petal.env("PATH", workshop.path("run"));
    let output = petal
        .args(["view", "run", "--gtkwave", "wave.fst"])
        .output()
        .unwrap();
    tells(&said(&output), &["`gtkwave` is not installed", "--out"]);
}
