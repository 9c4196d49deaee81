//! Observations of runs in Verilator.

use serde_json::Value;

use crate::support::workshop::{Workshop, example};

#[test]
fn verilator_observes_what_petal_does() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let observed = [
        "--watch",
        "main.c",
        "--watch",
        "main.c[1][2]",
        "--watch",
        "main.sum.out",
        "--latency",
        "main.mult",
        "--checkpoint",
        "main.next_row",
        "--count",
        "*.busy",
        "--count",
        "main.c.writes",
        "--never",
        "main.k.out > 3",
        "--sample",
        "100",
    ];
    let results = |out: &str, simulator: &str| -> Value {
        let run = ["run", &design, "-q", "--out", out, "--simulator", simulator];
        workshop.succeeds(&[&run[..], &observed].concat());
        serde_json::from_str(&workshop.read(&format!("{out}/observations.json"))).unwrap()
    };
    let direct = results("embedded", "embedded");
    // What was in a memory before is in no waveform, but petal knows it.
    assert_eq!(results("verilator", "verilator"), direct);
    for (watch, changes) in [(0, 16), (1, 1)] {
        let all = direct["watches"][watch]["changes"].as_array().unwrap();
        assert_eq!(all.len(), changes);
    }
}

#[test]
fn a_write_that_changes_nothing_is_no_change_in_either_simulator() {
    let workshop = Workshop::empty();
    workshop.write(
        "design.futil",
        r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 3, 2); own = comb_mem_d1(8, 2, 1); }
  wires {
    group same { mem.addr0 = 2'd1; mem.write_data = 8'd5; mem.write_en = 1'd1; same[done] = mem.done; }
    group zero { mem.addr0 = 2'd2; mem.write_data = 8'd0; mem.write_en = 1'd1; zero[done] = mem.done; }
    group other { mem.addr0 = 2'd0; mem.write_data = 8'd9; mem.write_en = 1'd1; other[done] = mem.done; }
    group inner { own.addr0 = 1'd0; own.write_data = 8'd0; own.write_en = 1'd1; inner[done] = own.done; }
  }
  control { seq { same; zero; other; inner; } }
}
"#,
    );
    let format = r#"{"numeric_type": "bitnum", "is_signed": false, "width": 8}"#;
    let data = format!(r#"{{"mem": {{"data": [1, 5, 0], "format": {format}}}}}"#);
    workshop.write("design.futil.data", data);
    for simulator in ["embedded", "verilator"] {
        let run = [
            "run",
            "design.futil",
            "-q",
            "--out",
            "out",
            "--simulator",
            simulator,
            // Nobody reads `own`, so that the optimiser removes it.
            "--passes",
            "no-opt",
        ];
        workshop.succeeds(&[&run[..], &["--watch", "main.mem", "--watch", "main.own"]].concat());
        let results: Value = serde_json::from_str(&workshop.read("out/observations.json")).unwrap();
        let changes = results["watches"][0]["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 1, "{simulator}: {changes:?}");
        assert_eq!(
            (&changes[0]["old"], &changes[0]["new"]),
            (&1.into(), &9.into())
        );
        assert_eq!(
            results["watches"][1]["changes"].as_array().unwrap().len(),
            0,
            "{simulator}"
        );
    }
}
