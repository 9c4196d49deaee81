//! `--fst`: the same signals as in a VCD file, in a tenth of the bytes, and the same profile again; whatever is wrong
//! with such a file is told.

use std::fs;

use crate::support::histories::{of_fst, of_vcd};
use crate::support::root;
use crate::support::simulators::simulated;
use crate::support::workshop::{Workshop, example, said, tells};

const RECONSTRUCT: [&str; 6] = [
    "reconstruct",
    "kept/metadata.json",
    "wave.fst",
    "--out",
    "out",
    "-q",
];

/// Runs a design with each format, and with both at once, which writes the same.
fn both(workshop: &Workshop, design: &str) {
    for (option, file) in [("--vcd", "wave.vcd"), ("--fst", "wave.fst")] {
        workshop.succeeds(&["run", design, option, file, "--out", "kept", "-q"]);
    }
    let at_once = ["--vcd", "at-once.vcd", "--fst", "at-once.fst"];
    workshop.succeeds(&[&["run", design, "--out", "at-once", "-q"], &at_once[..]].concat());
    for (one, other) in [("wave.vcd", "at-once.vcd"), ("wave.fst", "at-once.fst")] {
        let [one, other] = [one, other].map(|file| fs::read(workshop.path(file)).unwrap());
        assert!(one == other, "{design}");
    }
}

#[test]
fn all_signals_are_those_of_the_vcd_file_and_so_is_the_profile() {
    let corpus = [
        "struct-wide",
        "struct-many-cells",
        "control-par-wide",
        "mixed",
    ];
    let corpus = corpus.map(|name| format!("{}/tests/corpus/{name}.futil", root().display()));
    let examples = ["switch-case-par", "static", "pipelined-mac", "matmul"];
    let examples = examples.map(|name| example(&format!("{name}.futil")));
    for design in corpus.iter().chain(&examples) {
        let workshop = Workshop::empty();
        both(&workshop, design);
        let vcd = of_vcd(&workshop.path("wave.vcd"));
        let changes: usize = vcd.values().map(Vec::len).sum();
        assert!(vcd.len() > 10 && changes > 100, "{design}: {changes}");
        assert_eq!(vcd, of_fst(&workshop.path("wave.fst")), "{design}");
        let by_fst = workshop.undisturbed(&RECONSTRUCT);
        let reconstruct = RECONSTRUCT.map(|arg| arg.replace("wave.fst", "wave.vcd"));
        let by_vcd = workshop.undisturbed(&reconstruct.each_ref().map(String::as_str));
        assert!(by_fst == by_vcd, "{design}");
    }
}

/// A loop of a quarter of a million cycles: more than is kept before it is written.
const LONG: &str = r#"import "primitives/core.futil";
component main() -> () {
  cells { a = std_reg(32); b = std_reg(16); i = std_reg(32); next = std_add(32); more = std_lt(32); }
  wires {
    next.left = i.out; next.right = 32'd1; more.left = i.out; more.right = 32'd50000;
    group put { a.in = next.out; a.write_en = 1'd1; put[done] = a.done; }
    group flag { b.in = 16'd7; b.write_en = 1'd1; flag[done] = b.done; }
    group step { i.in = next.out; i.write_en = 1'd1; step[done] = i.done; }
  }
  control { while more.out { seq { par { put; flag; } step; } } }
}
"#;

#[test]
fn a_long_run_takes_a_tenth_of_the_bytes() {
    let workshop = Workshop::empty();
    workshop.write("long.futil", LONG);
    both(&workshop, "long.futil");
    let size = |file| fs::metadata(workshop.path(file)).unwrap().len();
    let (vcd, fst) = (size("wave.vcd"), size("wave.fst"));
    assert!(10 * fst <= vcd, "{fst} of {vcd} bytes");
    let (vcd, fst) = (
        of_vcd(&workshop.path("wave.vcd")),
        of_fst(&workshop.path("wave.fst")),
    );
    assert!(vcd == fst);
}

#[test]
fn a_file_that_is_cut_damaged_or_foreign_is_told() {
    let (workshop, _, right) = simulated("embedded");
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--fst",
        "wave.fst",
        "--out",
        "kept",
        "-q",
    ]);
    let fst = fs::read(workshop.path("wave.fst")).unwrap();
    for length in (0..fst.len()).step_by(fst.len().div_ceil(40)) {
        workshop.write("wave.fst", &fst[..length]);
        tells(&workshop.fails(&RECONSTRUCT), &["wave.fst", "simulate"]);
    }
    let mut refused = 0;
    for at in (0..fst.len()).step_by(fst.len().div_ceil(90)) {
        for change in [0x01, 0xff] {
            let mut changed = fst.clone();
            changed[at] ^= change;
            workshop.write("wave.fst", &changed);
            let output = workshop.petal(&RECONSTRUCT);
            // There are no checksums: what is read may be another run, but petal ends in order.
            let said = said(&output);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "byte {at}: {said}"
            );
            assert!(!said.contains("panicked"), "byte {at}: {said}");
            refused += usize::from(!output.status.success());
            let _ = fs::remove_dir_all(workshop.path("out"));
        }
    }
    assert!(refused > 30, "{refused} are refused");
    let other = Workshop::empty();
    other.succeeds(&[
        "run",
        &example("static.futil"),
        "--fst",
        "wave.fst",
        "--out",
        "out",
        "-q",
    ]);
    workshop.write("wave.fst", fs::read(other.path("wave.fst")).unwrap());
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.fst", "different builds"],
    );
    workshop.write("wave.fst", &fst);
    assert!(workshop.undisturbed(&RECONSTRUCT) == right);
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    let workshop = Workshop::new();
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--fst",
        "wave.fst",
        "--out",
        "kept",
        "-q",
    ]);
    let mut piped =
        workshop.bash("petal reconstruct kept/metadata.json <(cat wave.fst) --out out -q");
    let output = piped.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["pipe", "write it to a file"]);
    let run = ["run", "design.futil", "--fst", "other.fst", "--out", "out"];
    for (more, way_out) in [
        (&["--simulator", "verilator"][..], "--vcd"),
        (&["--verilator", "/bin/true"], "--verilator"),
        (&["--vcd", "other.fst"], "the same file"),
    ] {
        tells(
            &workshop.ends(2, &[&run, more].concat()),
            &["--fst", way_out],
        );
        assert!(!workshop.path("out").exists() && !workshop.path("other.fst").exists());
    }
}

#[test]
fn a_length_that_the_file_cannot_have_takes_no_memory() {
    let workshop = Workshop::everything();
    let damaged = root().join("fuzz/corpus/fst/huge-length");
    fs::copy(damaged, workshop.path("wave.fst")).unwrap();
    // One signal's changes claim four gigabytes.
    let script = "ulimit -v 3000000 && petal reconstruct kept/metadata.json wave.fst --out out";
    let output = workshop.bash(script).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["wave.fst: ", "has impossible lengths"]);
}
