//! Who wrote a register or memory, and of which cells that is told.

use serde_json::json;

use super::results;
use crate::support::root;
use crate::support::workshop::{DATA, DESIGN, Workshop, example, tells};

/// Two registers' worth of writes, the last one in the last cycle of the run.
const WRITES: &str = r#"import "primitives/core.futil";
component main() -> (one: 8, other: 8) {
  cells { p = std_reg(8); q = std_reg(8); }
  wires {
    one = p.out; other = q.out;
    group wp { p.in = 8'd5; p.write_en = 1'd1; wp[done] = p.done; }
    group up { p.in = 8'd9; p.write_en = 1'd1; up[done] = p.done; }
    group p_out { q.in = 8'd1; q.write_en = 1'd1; p_out[done] = q.done; }
  }
  control { seq { p_out; wp; up; } }
}
"#;

#[test]
fn a_register_is_written_up_to_the_last_cycle() {
    let workshop = Workshop::empty();
    workshop.write("writes.futil", WRITES);
    for passes in ["all", "no-opt"] {
        let run = [
            "run",
            "writes.futil",
            "-q",
            "--out",
            "out",
            "--passes",
            passes,
            "--vcd",
            "wave.vcd",
        ];
        let watch = [
            "--watch",
            "main.p.out",
            "--watch",
            "main.p",
            "--checkpoint",
            "main.p.write_en",
            "--count",
            "main.p_out",
        ];
        workshop.succeeds(&[&run[..], &watch].concat());
        let direct = results(&workshop, "out");
        let watches = &direct["watches"];
        // By its name it is the same.
        assert_eq!(watches[0]["changes"], watches[1]["changes"]);
        let changes = watches[0]["changes"].as_array().unwrap();
        let told: Vec<_> = changes
            .iter()
            .map(|change| (&change["old"], &change["new"]))
            .collect();
        assert_eq!(
            told,
            [(&json!(0), &json!(5)), (&json!(5), &json!(9))],
            "{passes}"
        );
        let cycles: Vec<_> = changes.iter().map(|change| &change["cycle"]).collect();
        assert_eq!(
            json!(cycles),
            direct["checkpoints"][0]["cycles"],
            "{passes}"
        );
        let by = changes
            .iter()
            .map(|change| change["by"][0].as_str().unwrap());
        assert!(
            by.zip(["wp", "up"]).all(|(by, group)| by.ends_with(group)),
            "{passes}"
        );
        // The group of that name, and not the port of the cell.
        assert_eq!(direct["counters"][0]["total"], json!(1), "{passes}");
        let again = [
            "reconstruct",
            "out/metadata.json",
            "wave.vcd",
            "-q",
            "--out",
            "again",
        ];
        workshop.succeeds(&[&again[..], &watch].concat());
        assert_eq!(results(&workshop, "again"), direct, "{passes}");
    }
}

#[test]
fn a_waveform_tells_what_was_written_to_a_memory() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", DESIGN);
    workshop.write("design.futil.data", DATA);
    workshop.succeeds(&[
        "run",
        "design.futil",
        "-q",
        "--out",
        "out",
        "--vcd",
        "wave.vcd",
        "--watch",
        "main.mem",
    ]);
    let direct = results(&workshop, "out");
    let again = [
        "reconstruct",
        "out/metadata.json",
        "wave.vcd",
        "-q",
        "--out",
        "again",
    ];
    workshop.succeeds(&[&again[..], &["--watch", "main.mem"]].concat());
    let mut told = results(&workshop, "again");
    let change = &mut told["watches"][0]["changes"][0];
    assert!(change["old"].is_null());
    change["old"] = direct["watches"][0]["changes"][0]["old"].clone();
    assert_eq!(told, direct);
    let matmul = example("matmul.futil");
    workshop.succeeds(&["run", &matmul, "-q", "--out", "out", "--vcd", "wave.vcd"]);
    let said = workshop.ends(1, &[&again[..], &["--watch", "main.c"]].concat());
    tells(&said, &["a waveform does not tell the sizes of a memory"]);
}

#[test]
fn cells_that_share_hardware_are_told_apart() {
    let workshop = Workshop::empty();
    let text = std::fs::read_to_string(root().join("tests/corpus/struct-sharing.futil")).unwrap();
    let marked = text.replacen("control { go_up; }", "control { @checkpoint(7) go_up; }", 1);
    assert_ne!(marked, text);
    workshop.write("shared.futil", &marked);
    for passes in ["all", "no-opt"] {
        workshop.succeeds(&[
            "run",
            "shared.futil",
            "-q",
            "--out",
            "out",
            "--passes",
            passes,
            "--count",
            "*.active",
        ]);
        let results = results(&workshop, "out");
        let stamps = results["checkpoints"].as_array().unwrap().iter();
        let stamps: Vec<usize> = stamps
            .map(|of| of["cycles"].as_array().unwrap().len())
            .collect();
        assert_eq!(stamps, [1, 1, 1], "{passes}");
        let counters = results["counters"].as_array().unwrap();
        assert!(
            counters.len() >= 3 && counters.iter().all(|of| of["total"] != 0),
            "{passes}"
        );
    }
    // Whoever writes a register is told, by whichever of its names.
    let design = example("distances.futil");
    let text = std::fs::read_to_string(&design).unwrap();
    let registers = text
        .lines()
        .filter_map(|line| line.split_once(" = std_reg("))
        .map(|(name, _)| name.trim());
    let watches = registers.flat_map(|name| ["--watch".to_owned(), format!("main.{name}.out")]);
    let watches: Vec<String> = watches.collect();
    let watches: Vec<&str> = watches.iter().map(String::as_str).collect();
    assert!(!watches.is_empty());
    workshop.succeeds(&[&["run", &design, "-q", "--out", "out"], &watches[..]].concat());
    for watch in results(&workshop, "out")["watches"].as_array().unwrap() {
        let changes = watch["changes"].as_array().unwrap();
        assert!(
            !changes.is_empty() && changes.iter().all(|change| change["by"] != json!([])),
            "{watch}"
        );
    }
}
