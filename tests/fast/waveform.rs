//! Waveforms that are cut, odd, of another design or contradict themselves: the right profile, or a
//! clear error and none.

use std::fs;

use petal_metadata::Metadata;
use petal_reconstruct::{Event, Reconstruction, VcdSource};

use crate::support::simulators::{RECONSTRUCT, a_cut_waveform_is_told, code, simulated};
use crate::support::workshop::{Workshop, example, tells};

#[test]
fn a_waveform_that_is_cut() {
    a_cut_waveform_is_told("embedded");
}

/// The first probe of the design.
const PROBE: &str = "petal_ga_0_in";

#[test]
fn a_waveform_with_an_odd_clock() {
    let (workshop, vcd, right) = simulated("embedded");
    let clock = code(&vcd, "clk");
    let (high, low) = (format!("\n1{clock}\n"), format!("\n0{clock}\n"));
    let edges = vcd.matches(&high).count();
    let mut told = 0;
    for at in 0..edges {
        let (start, _) = vcd.match_indices(&high).nth(at).unwrap();
        let (before, edge) = vcd.split_at(start);
        let edge = &edge[high.len()..];
        let line = before.rsplit("\n#").next().unwrap().lines().next();
        let time: u64 = line.unwrap().parse().unwrap();
        for (what, changed) in [
            ("missing", format!("{before}\n{edge}")),
            (
                "twice at one time",
                format!("{before}{high}0{clock}{high}{edge}"),
            ),
            ("x", format!("{before}\nx{clock}\n{edge}")),
            (
                "one too many",
                format!("{before}{high}#{}{low}#{}{high}{edge}", time + 1, time + 2),
            ),
        ] {
            workshop.write("wave.vcd", &changed);
            let output = workshop.petal(&RECONSTRUCT);
            workshop.is_right_or_told(&output, &right, &format!("edge {at} {what}"));
            told += usize::from(!output.status.success());
            let _ = fs::remove_dir_all(workshop.path("out"));
        }
    }
    // Before the run and after it, nobody minds.
    assert!(told >= 4 * 3, "{told} of {} were told", 4 * edges);

    workshop.write("wave.vcd", vcd.replace(&high, "\n"));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "after 0 cycles"],
    );
    workshop.write("wave.vcd", vcd.replace(" clk $end", " clock $end"));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "toplevel.main.clk"],
    );
}

#[test]
fn a_waveform_with_unknown_values() {
    let (workshop, vcd, _) = simulated("embedded");
    let high = |name| format!("\n1{}\n", code(&vcd, name));
    for unknown in ["x", "z"] {
        let changed = high(PROBE).replace('1', unknown);
        workshop.write("wave.vcd", vcd.replace(&high(PROBE), &changed));
        let summary = workshop.succeeds(&[&RECONSTRUCT[..5], &["--json"]].concat());
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let told = summary["warnings"].to_string();
        tells(&told, &[PROBE, "x or z", "taken as 0"]);
        let said = workshop.ends(0, &RECONSTRUCT[..5]);
        tells(&said, &["warning: cycle", PROBE, "x or z"]);
    }
    fs::remove_dir_all(workshop.path("out")).unwrap();
    let changed = high("done").replace('1', "x");
    workshop.write("wave.vcd", vcd.replace(&high("done"), &changed));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "`done` is x or z"],
    );
}

#[test]
fn a_waveform_that_is_done_at_once() {
    let (workshop, vcd, _) = simulated("embedded");
    let low = format!("\n0{}\n", code(&vcd, "done"));
    assert!(vcd.contains(&low));
    workshop.write("wave.vcd", vcd.replacen(&low, &low.replace('0', "1"), 1));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "`done` is high in cycle 0", "reset"],
    );
}

#[test]
fn a_waveform_with_the_probes_of_another_design() {
    let (workshop, vcd, _) = simulated("embedded");
    let other = vcd.replace("petal_run_", "petal_run_0");
    assert_ne!(other, vcd);
    workshop.write("wave.vcd", other);
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "different builds"],
    );
    workshop.write("wave.vcd", vcd.replace(PROBE, "petal_ga_99_in"));
    let lacks = ["wave.vcd", "lacks 1 of", PROBE];
    tells(&workshop.fails(&RECONSTRUCT), &lacks);
}

/// A part of the values of a waveform.
fn changed_lines(vcd: &str) -> Vec<(usize, &str)> {
    let body = vcd.find("#0\n").expect("the body begins at time 0");
    let lines = vcd[body..].match_indices('\n');
    let lines = lines.map(|(at, _)| body + at + 1);
    lines
        .filter_map(|at| Some((at, vcd[at..].lines().next()?)))
        .filter(|(_, line)| line.starts_with(['0', '1', 'b']))
        .collect()
}

/// What reconstruction makes of a waveform: its trees, and whether it tells that something is wrong.
fn made_of(metadata: &Metadata, vcd: &str) -> (Vec<Event>, bool) {
    let reconstruction = Reconstruction::new(metadata);
    let mut events = Vec::new();
    let mut read = || {
        let mut source = VcdSource::new(vcd.as_bytes(), reconstruction.signals()).ok()?;
        let sink = &mut |event| {
            events.push(event);
            Ok::<_, std::convert::Infallible>(())
        };
        reconstruction.run(&mut source, sink).ok()
    };
    let failed = read().is_none_or(|cycles| cycles == 0);
    let told = events
        .iter()
        .any(|event| matches!(event, Event::Warning(_)));
    events.retain(|event| matches!(event, Event::Tree(_) | Event::Run(_) | Event::End { .. }));
    (events, failed || told)
}

#[test]
fn waveforms_that_contradict_themselves_are_told() {
    let workshop = Workshop::empty();
    let run = [
        "run",
        &example("switch-case-par.futil"),
        "-q",
        "--vcd",
        "wave.vcd",
        "--out",
        "out",
    ];
    workshop.succeeds(&run);
    let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
    let vcd = workshop.read("wave.vcd");
    let (right, told) = made_of(&metadata, &vcd);
    assert!(!told, "the waveform is right");

    let lines = changed_lines(&vcd);
    let count = |change: &dyn Fn(&str) -> Option<String>| {
        let [mut tried, mut silent] = [0, 0];
        for (at, line) in &lines {
            let Some(changed) = change(line) else {
                continue;
            };
            let changed = format!("{}{changed}{}", &vcd[..*at], &vcd[at + line.len()..]);
            let (made, told) = made_of(&metadata, &changed);
            tried += 1;
            if made != right && !told {
                silent += 1;
                println!("silent: {line} at byte {at}");
            }
        }
        (tried, silent)
    };
    let (deleted, silent) = count(&|_| Some(String::new()));
    println!("deleted: {silent} of {deleted} are silent");
    assert!(
        100 * silent <= 3 * deleted,
        "{silent} of {deleted} deleted lines"
    );
    let (flipped, silent) = count(&|line| match line.split_at(1) {
        ("0", code) => Some(format!("1{code}")),
        ("1", code) => Some(format!("0{code}")),
        _ => None,
    });
    println!("flipped: {silent} of {flipped} are silent");
    assert!(
        100 * silent <= 3 * flipped,
        "{silent} of {flipped} flipped lines"
    );
}
