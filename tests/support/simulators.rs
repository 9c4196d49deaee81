//! What both simulators are held to: the fast tests with the embedded one, the slow ones with Verilator.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::workshop::{DATA, DESIGN, Files, Workshop, said, tells};

/// Reconstruction of the waveform `wave.vcd` of the profile in `kept`.
pub const RECONSTRUCT: [&str; 6] = [
    "reconstruct",
    "kept/metadata.json",
    "wave.vcd",
    "--out",
    "out",
    "-q",
];

/// A design that was simulated: its waveform is `wave.vcd`, its profile is in `kept`. Returns also
/// the waveform, and the profile that is reconstructed from it.
pub fn simulated(simulator: &str) -> (Workshop, String, Files) {
    let workshop = Workshop::new();
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--simulator",
        simulator,
        "--out",
        "kept",
        "--vcd",
        "wave.vcd",
        "-q",
    ]);
    let vcd = workshop.read("wave.vcd");
    let right = workshop.undisturbed(&RECONSTRUCT);
    (workshop, vcd, right)
}

/// The code of a signal in a waveform.
pub fn code<'a>(vcd: &'a str, name: &str) -> &'a str {
    let mut words = vcd.lines().map(str::split_whitespace);
    let declared = words.find(|words| words.clone().nth(4) == Some(name));
    declared.unwrap().nth(3).unwrap()
}

/// Wherever the waveform of a simulator is cut, that is told.
pub fn a_cut_waveform_is_told(simulator: &str) {
    let (workshop, vcd, right) = simulated(simulator);
    for percent in 0..100 {
        workshop.write("wave.vcd", &vcd[..vcd.len() * percent / 100]);
        let output = workshop.petal(&RECONSTRUCT);
        let what = format!("{simulator} cut at {percent} %");
        workshop.is_right_or_told(&output, &right, &what);
        if !output.status.success() {
            tells(&said(&output), &["wave.vcd", "simulate"]);
        }
        let _ = fs::remove_dir_all(workshop.path("out"));
    }
}

/// Designs that stop themselves, with their data and a part of the reason.
pub fn designs_that_stop() -> [(String, &'static str, &'static str); 3] {
    let divide = "group divide { div.left = 8'd7; div.right = 8'd0; div.go = 1'd1; divide[done] = div.done; }";
    let out_of_bounds = DESIGN
        .replace("(8, 2, 1)", "(8, 2, 2)")
        .replace("mem.addr0 = 1'd1;", "mem.addr0 = 2'd2;");
    let division_by_zero = DESIGN
        .replace("core.futil", "binary_operators.futil")
        .replace(
            "comb.futil\";",
            "comb.futil\"; import \"primitives/core.futil\";",
        )
        .replace("cells {", "cells { div = std_div_pipe(8);")
        .replace("wires {", &format!("wires {{ {divide}"))
        .replace("seq { put; put; }", "seq { put; divide; }");
    let twice = DESIGN
        .replace("cells {", "cells { yes = std_wire(1);")
        .replace("wires {", "wires { yes.in = 1'd1;")
        .replace("= 8'd5;", "= 8'd5; mem.write_data = yes.out ? 8'd4;");
    [
        (out_of_bounds, DATA, "ut of bounds"),
        (division_by_zero, DATA, "golden"),
        (twice, DATA, "ultiple assignment"),
    ]
}

/// A design with a primitive whose Verilog it brings along.
pub fn design_with_verilog() -> String {
    let own = "primitive own(in: 8) -> (out: 8) { assign out = ~in; }\n";
    DESIGN
        .replace("component main", &format!("{own}component main"))
        .replace("cells {", "cells { o = own();")
        .replace("= 8'd5;", "= o.out; o.in = 8'd5;")
}

/// Names that mean something to a shell, to HTML or to an argument parser.
const NAMES: [&[u8]; 4] = [
    b"<img src=x onerror=alert(1)>&\"'.futil",
    b"a $(touch pwned) `touch pwned`; touch pwned.futil",
    b"-q --json.futil",
    b"not\xffUTF-8\n.futil",
];

/// Names of files reach no shell and no markup, and runs that are repeated give the same bytes.
pub fn names_are_only_names(simulator: &str) {
    for name in NAMES.map(OsStr::from_bytes) {
        let workshop = Workshop::new();
        let shown = name.display();
        fs::write(workshop.dir.path().join(name), DESIGN).unwrap();
        let mut runs = ["one", "two"].map(|out| {
            let mut run = workshop.command(&["run", "-q", "--simulator", simulator]);
            let output = run.args(["--out", out, "--"]).arg(name).output().unwrap();
            let said = said(&output);
            assert!(output.status.success(), "{shown}, {simulator}: {said}");
            workshop.files(out)
        });
        assert!(runs[0] == runs[1], "{shown}: {simulator} differs");
        for (file, text) in std::mem::take(&mut runs[0]) {
            if file.extension() == Some(OsStr::new("svg")) {
                let text = String::from_utf8(text).unwrap();
                let options = roxmltree::ParsingOptions {
                    allow_dtd: true,
                    ..roxmltree::ParsingOptions::default()
                };
                let image = roxmltree::Document::parse_with_options(&text, options).unwrap();
                let mut nodes = image.descendants();
                assert!(!nodes.any(|node| node.has_tag_name("img")), "{shown}");
            }
        }
        assert!(!workshop.path("pwned").exists(), "{shown} reached a shell");
    }
}
