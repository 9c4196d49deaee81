//! Checkpoints: runs may end at them, and the source may mark them.

use serde_json::{Value, json};

use super::results;
use crate::support::workshop::{Workshop, example};

#[test]
fn a_run_ends_where_an_observation_wants_it() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    workshop.succeeds(&[
        "run",
        &design,
        "-q",
        "--out",
        "whole",
        "--vcd",
        "wave.vcd",
        "--checkpoint",
        "main.next_row",
    ]);
    let rows = &results(&workshop, "whole")["checkpoints"][0]["cycles"];
    assert_eq!(*rows, json!([152, 304, 456, 608]));
    let stop = ["-q", "--stop-on", "main.next_row", "--watch", "main.c"];
    workshop.succeeds(&[&["run", &design, "--out", "part"], &stop[..]].concat());
    let part = results(&workshop, "part");
    assert_eq!(part["cycles"], json!(153));
    assert_eq!(part["stopped_by"], "main.next_row");
    let summary: Value = serde_json::from_str(&workshop.read("part/summary.json")).unwrap();
    assert_eq!(summary["stopped"], "ended by `--stop-on main.next_row`");
    // The memories are as they are after that cycle.
    let memories: Value = serde_json::from_str(&workshop.read("part/memories.json")).unwrap();
    let changes = part["watches"][0]["changes"].as_array().unwrap();
    let last: Vec<&Value> = changes.iter().map(|change| &change["new"]).collect();
    let first_row: Vec<&Value> = memories["c"]["data"][0]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(last, first_row);
    assert_eq!(memories["c"]["data"][1], json!([0, 0, 0, 0]));
    // What was active then has not ended.
    let latency = ["--latency", "main.while@L81", "--latency", "main.next_row"];
    workshop.succeeds(&[&["run", &design, "--out", "part"], &stop[..], &latency].concat());
    let latencies = &results(&workshop, "part")["latencies"];
    assert_eq!(
        (&latencies[0]["count"], &latencies[0]["unfinished"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(
        (&latencies[1]["count"], &latencies[1]["unfinished"]),
        (&json!(0), &json!(1))
    );
    // The waveform of the whole run ends there, too.
    let again = [
        "reconstruct",
        "whole/metadata.json",
        "wave.vcd",
        "--out",
        "again",
        "-q",
        "--stop-on",
        "main.next_row",
    ];
    workshop.succeeds(&again);
    assert_eq!(results(&workshop, "again")["cycles"], json!(153));
}

#[test]
fn the_source_may_mark_checkpoints() {
    let workshop = Workshop::empty();
    let marks = [
        (
            "          next_column;",
            "          @checkpoint(2) next_column;",
        ),
        ("      first_row;", "      @checkpoint(1) first_row;"),
    ];
    let text = std::fs::read_to_string(example("matmul.futil")).unwrap();
    let mut marked = text.clone();
    for (old, new) in marks {
        marked = marked.replace(old, new);
    }
    let count = marked.matches("@checkpoint").count();
    assert!(count > 0);
    workshop.write("plain.futil", &text);
    workshop.write("marked.futil", &marked);
    let data = std::fs::read_to_string(example("matmul.futil.data")).unwrap();
    workshop.write("plain.futil.data", &data);
    workshop.write("marked.futil.data", &data);
    workshop.succeeds(&["run", "marked.futil", "-q", "--out", "out"]);
    workshop.succeeds(&[
        "run",
        "plain.futil",
        "-q",
        "--out",
        "same",
        "--checkpoint",
        "main.first_row",
    ]);
    let results = results(&workshop, "out");
    let checkpoints = results["checkpoints"].as_array().unwrap();
    assert_eq!(checkpoints.len(), count);
    let first = checkpoints.iter().find(|of| of["name"] == "1").unwrap();
    assert_eq!(
        first["cycles"],
        self::results(&workshop, "same")["checkpoints"][0]["cycles"]
    );
    assert_eq!(
        results["cycles"],
        self::results(&workshop, "same")["cycles"]
    );
}

/// The compiler gives the arms of the `if` the same length, so that it is verified by simulation.
const ARMS: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 4, 2); i = std_reg(2); j = std_reg(8); a = std_add(2); b = std_add(8); lt = std_lt(8); eq = std_eq(8);
    t0 = std_reg(8); t1 = std_reg(8); t2 = std_reg(8); }
  wires {
    comb group more { lt.left = j.out; lt.right = 8'd12; }
    comb group odd { eq.left = j.out; eq.right = 8'd3; }
    group put { m.addr0 = i.out; m.write_data = j.out; m.write_en = 1'd1; put[done] = m.done; }
    group chain { t0.write_en = 1'd1; t1.write_en = t0.done; t2.write_en = t1.done; t0.in = 8'd1; t1.in = t0.out; t2.in = t1.out; chain[done] = t2.done; }
    group inc { a.left = i.out; a.right = 2'd1; i.in = a.out; i.write_en = 1'd1; b.left = j.out; b.right = 8'd1; j.in = b.out; j.write_en = 1'd1; inc[done] = j.done; }
  }
  control { while lt.out with more { seq { if eq.out with odd { chain; } else { put; } inc; } } }
}
"#;

#[test]
fn a_run_that_ends_early_is_held_against_the_plain_one_up_to_there() {
    let workshop = Workshop::empty();
    workshop.write("arms.futil", ARMS);
    let whens = [
        "main.m.write_en",
        "main.m.done",
        "main.j.out == 5",
        "main.j.out == 11 && main.m.write_en",
        "main.t1.write_en",
        "main.j.out == 12",
    ];
    for when in whens {
        workshop.succeeds(&["run", "arms.futil", "-q", "--stop-on", when, "--out", "out"]);
        let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
        assert_eq!(summary["verified"], "simulation", "{when}");
        assert_eq!(summary["stopped"], format!("ended by `--stop-on {when}`"));
    }
}
