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
    let mut waveform = results("verilator", "verilator");
    // What was in a memory before is in no waveform.
    for (watch, same) in [(0, 16), (1, 1)] {
        let changes = waveform["watches"][watch]["changes"]
            .as_array_mut()
            .unwrap();
        assert_eq!(changes.len(), same);
        for (at, change) in changes.iter_mut().enumerate() {
            assert!(change["old"].is_null());
            change["old"] = direct["watches"][watch]["changes"][at]["old"].clone();
        }
    }
    assert_eq!(waveform, direct);
}
