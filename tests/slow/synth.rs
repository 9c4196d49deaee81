//! `petal synth` with yosys and nextpnr for iCE40.

use serde_json::Value;

use crate::support::workshop::{Workshop, example};

/// A figure of all rows together.
fn sum(synthesis: &Value, figure: &str) -> f64 {
    let rows = synthesis["area"]["rows"].as_array().unwrap();
    rows.iter().map(|row| row[figure].as_f64().unwrap()).sum()
}

#[test]
fn area_adds_up_and_time_is_cycles_times_the_period() {
    let workshop = Workshop::empty();
    for name in ["while-comb", "static"] {
        let design = example(&format!("{name}.futil"));
        workshop.succeeds(&["run", &design, "--out", name, "-q"]);
        workshop.succeeds(&["synth", &design, "--out", name, "-q"]);
        let text = workshop.read(&format!("{name}/synthesis.json"));
        let synthesis: Value = serde_json::from_str(&text).unwrap();
        let counts = synthesis["cells"].as_object().unwrap();
        for (figure, kind) in [
            ("luts", "SB_LUT4"),
            ("ffs", "SB_DFF"),
            ("carries", "SB_CARRY"),
        ] {
            let counts = counts.iter().filter(|(of, _)| of.starts_with(kind));
            let counted: f64 = counts.map(|(_, count)| count.as_f64().unwrap()).sum();
            let sum = sum(&synthesis, figure);
            assert!(
                (sum - counted).abs() < 1e-6,
                "{name}: {sum} {figure}, not {counted}"
            );
        }
        let summary: Value =
            serde_json::from_str(&workshop.read(&format!("{name}/summary.json"))).unwrap();
        assert_eq!(synthesis["cycles"], summary["cycles"], "{name}");
        let fmax = synthesis["clock"]["fmax_mhz"].as_f64().unwrap();
        let time = summary["cycles"].as_f64().unwrap() / fmax;
        assert!((synthesis["time_us"].as_f64().unwrap() - time).abs() < 1e-9);
        assert_eq!(synthesis["clock"]["seeds"].as_object().unwrap().len(), 3);
    }
}
