//! `petal view --gtkwave`: GTKWave shows what it is told.

use serde_json::Value;

use crate::support::workshop::{Workshop, example, succeeds};

/// Prints what is shown, and ends GTKWave.
const TELL: &str = r#"
puts "shown: [join [gtkwave::getDisplayedSignals] { }]"
puts "from: [gtkwave::getWindowStartTime]"
puts "to: [gtkwave::getWindowEndTime]"
puts "marker: [gtkwave::getNamedMarker A]"
exit
"#;

#[test]
fn gtkwave_shows_the_signals_of_what_is_active() {
    let workshop = Workshop::empty();
    let design = example("dot-product.futil");
    for (simulator, option, wave, top) in [
        ("embedded", "--fst", "wave.fst", ""),
        ("verilator", "--vcd", "wave.vcd", "TOP."),
    ] {
        let run = [
            "run",
            &design,
            "-q",
            "--out",
            "run",
            "--simulator",
            simulator,
        ];
        let more = [option, wave, "--checkpoint", "mac=main.multiply"];
        workshop.succeeds(&[&run[..], &more].concat());
        let view = ["view", "run", "--gtkwave", wave, "--out", "told.gtkw"];
        workshop.succeeds(
            &[
                &view[..],
                &["--signals", "main.multiply", "--cycles", "10..40"],
            ]
            .concat(),
        );
        workshop.write("tell.tcl", TELL);
        let mut viewer = workshop.run("xvfb-run");
        viewer.args(["-a", "gtkwave", "-S", "tell.tcl", wave, "told.gtkw"]);
        let told = succeeds(&mut viewer);
        let line = |key: &str| {
            let mut lines = told.lines();
            let line = lines.find_map(|line| line.strip_prefix(key));
            line.unwrap_or_else(|| panic!("no {key} in {told}"))
                .to_owned()
        };
        for port in ["left[31:0]", "right[31:0]", "go", "done", "out[31:0]"] {
            let signal = format!("{top}toplevel.main.mult_{port}");
            assert!(line("shown: ").contains(&signal), "{signal}: {told}");
        }
        assert_eq!(line("from: "), "125");
        // About all of the cycles, which end at 425, whatever its window is like.
        let end: u64 = line("to: ").parse().unwrap();
        assert!((325..900).contains(&end), "{end}");
        let observed = workshop.read("run/observations.json");
        let observed: Value = serde_json::from_str(&observed).unwrap();
        let stamps = observed["checkpoints"][0]["cycles"].as_array().unwrap();
        let mut stamps = stamps.iter().map(|cycle| cycle.as_u64().unwrap());
        let first = stamps.find(|cycle| *cycle >= 10).unwrap();
        assert_eq!(line("marker: "), (25 + 10 * first).to_string());
    }
}
