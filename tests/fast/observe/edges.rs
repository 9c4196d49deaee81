//! The first and the last cycle of a run, the cycle before a violation, and the timeline that every program opens.

use serde_json::{Value, json};

use super::results;
use crate::support::perfetto;
use crate::support::workshop::{Workshop, example, tells};

/// Writes 3 and then 9 to a register, and 7 to a word that begins as 5.
const DESIGN: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 2, 1); r = std_reg(8); }
  wires {
    group three { r.in = 8'd3; r.write_en = 1'd1; three[done] = r.done; }
    group nine { r.in = 8'd9; r.write_en = 1'd1; nine[done] = r.done; }
    group put { mem.addr0 = 1'd0; mem.write_data = 8'd7; mem.write_en = 1'd1; put[done] = mem.done; }
  }
  control { seq { three; nine; put; } }
}
"#;

const DATA: &str = r#"{"mem": {"data": [5, 0], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}}}"#;

fn workshop() -> Workshop {
    let workshop = Workshop::empty();
    workshop.write("design.futil", DESIGN);
    workshop.write("design.futil.data", DATA);
    workshop
}

#[test]
fn what_ends_with_the_run_has_a_stamp() {
    let workshop = workshop();
    let run = ["run", "design.futil", "-q", "--out", "out"];
    let asked = [
        "--checkpoint",
        "over=end(main)",
        "--latency",
        "main",
        "--events",
        "events",
    ];
    workshop.succeeds(&[&run[..], &asked].concat());
    let results = results(&workshop, "out");
    let cycles = results["cycles"].as_u64().unwrap();
    assert_eq!(results["checkpoints"][0]["cycles"], json!([cycles]));
    assert_eq!(results["latencies"][0]["total"], json!(cycles));
    let timeline = std::fs::read(workshop.path("out/timeline.pftrace")).unwrap();
    assert_eq!(perfetto::observed(&timeline)["over"], [(cycles, 3, None)]);
    // It is told, too, before the last line.
    let events = workshop.read("events");
    let lines: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [.., stamp, last] = &lines[..] else {
        panic!("{events}");
    };
    assert_eq!((&stamp["is"], &stamp["cycle"]), (&json!(1), &json!(cycles)));
    assert_eq!(last["cycles"], json!(cycles));
}

#[test]
fn nothing_changes_before_the_run() {
    let workshop = workshop();
    let run = ["run", "design.futil", "-q", "--out", "out"];
    let asked = [
        "--never",
        "changed(main.mem[0])",
        "--count",
        "toggles(main.mem[0])",
    ];
    workshop.succeeds(&[&run[..], &asked].concat());
    let results = results(&workshop, "out");
    let violations = results["rules"][0]["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert!(violations[0]["cycle"].as_u64().unwrap() > 0);
    assert_eq!(
        results["counters"][0]["total"],
        json!(1),
        "5 to 7 is one bit"
    );
}

#[test]
fn a_violation_names_the_write_that_breaks_the_rule() {
    let workshop = workshop();
    let run = [
        "run",
        "design.futil",
        "-q",
        "--passes",
        "no-opt",
        "--out",
        "out",
        "--fail-on-violation",
    ];
    let asked = [
        "--watch",
        "main.r.out",
        "--never",
        "nine=main.r.out == 9",
        "--never",
        "working=main.nine",
    ];
    let said = workshop.ends(1, &[&run[..], &asked].concat());
    let results = results(&workshop, "out");
    let write = &results["watches"][0]["changes"][1];
    let violation = &results["rules"][0]["violations"][0];
    assert_eq!(violation["written"]["cycle"], write["cycle"]);
    assert_eq!(violation["written"]["by"], write["by"]);
    assert_eq!(
        violation["cycle"].as_u64(),
        write["cycle"].as_u64().map(|cycle| cycle + 1)
    );
    let told = format!(
        "by what was written in cycle {}: main > seq",
        write["cycle"]
    );
    tells(&said, &[&told, "> nine"]);
    let table = workshop.read("out/observations/violations.csv");
    tells(&table, &["rule,cycle,cycles,written,by,active"]);
    // What is active is written by nobody.
    assert_eq!(results["rules"][1]["violations"][0]["written"], Value::Null);
}

#[test]
fn the_timeline_of_other_programs_has_the_observations_too() {
    let workshop = Workshop::empty();
    let run = ["run", &example("matmul.futil"), "-q", "--out", "out"];
    let asked = [
        "--checkpoint",
        "row=main.next_row",
        "--latency",
        "sum=main.clear..main.store",
        "--watch",
        "i=main.i.out",
        "--watch",
        "c=main.c",
        "--count",
        "busy=main.mult.go",
        "--sample",
        "300",
        "--never",
        "late=main.k.out > 3",
    ];
    workshop.succeeds(&[&run[..], &asked].concat());
    for section in [&[][..], &["--cycles", "100..400"]] {
        if !section.is_empty() {
            workshop.succeeds(&[&["timeline", "out"], section].concat());
        }
        let native = std::fs::read(workshop.path("out/timeline.pftrace")).unwrap();
        let native = perfetto::observed(&native);
        let other: Value = serde_json::from_str(&workshop.read("out/timeline.json")).unwrap();
        let events = other["traceEvents"].as_array().unwrap();
        assert_eq!(native.len(), 6);
        for (name, all) in native {
            let mut others = Vec::new();
            for event in events
                .iter()
                .filter(|event| event["cat"] == "observation" && event["name"] == *name)
            {
                let cycle = event["ts"].as_u64().unwrap();
                match event["ph"].as_str().unwrap() {
                    "i" => others.push((cycle, 3, None)),
                    "X" => others.extend([
                        (cycle, 1, None),
                        (cycle + event["dur"].as_u64().unwrap(), 2, None),
                    ]),
                    "C" => others.push((cycle, 4, event["args"]["value"].as_f64())),
                    other => panic!("{other}"),
                }
            }
            assert!(!others.is_empty(), "{name}");
            assert_eq!(all, others, "{name}");
        }
    }
}

#[test]
fn no_name_becomes_a_formula_in_a_spreadsheet() {
    let workshop = workshop();
    let run = ["run", "design.futil", "-q", "--out", "out"];
    workshop.write(
        "link.toml",
        "[[checkpoint]]\nname = '=HYPERLINK(\"http://x\")'\nwhen = \"main.three\"\n",
    );
    workshop.succeeds(&[&run[..], &["--observe", "link.toml"]].concat());
    let table = workshop.read("out/observations/checkpoints.csv");
    tells(&table, &["'=HYPERLINK("]);
    assert!(!table.contains(",=") && !table.contains(",\"="), "{table}");
}
