//! The tour: a design with everything that a call tree can have in it. Its metadata and its waveform are
//! what petal's passes and its embedded simulator write.

#![allow(dead_code, reason = "each test file uses a part")]

use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::Path;

use petal_metadata::Metadata;
use petal_reconstruct::{
    CallTree, Event, Id as _, Instance, ProbeSource, ReconstructError, Reconstruction, SourceError,
    VcdSource,
};

/// The waveform of the tour.
pub const VCD: &str = include_str!("../data/tour.vcd");

/// The metadata of the tour.
pub fn metadata() -> Metadata {
    let text = include_str!("../data/tour.metadata.json");
    Metadata::from_json(text, Path::new("tour.metadata.json")).expect("the file is petal's own")
}

/// All events of the run in a waveform.
pub fn events(metadata: &Metadata, vcd: &str) -> Result<Vec<Event>, SourceError> {
    let reconstruction = Reconstruction::new(metadata);
    let source = VcdSource::new(vcd.as_bytes(), reconstruction.signals())?;
    events_of(metadata, source)
}

/// All events of a run.
pub fn events_of(
    metadata: &Metadata,
    mut source: impl ProbeSource,
) -> Result<Vec<Event>, SourceError> {
    let mut events = Vec::new();
    let mut sink = |event| -> Result<(), Infallible> {
        events.push(event);
        Ok(())
    };
    match Reconstruction::new(metadata).run(&mut source, &mut sink) {
        Ok(_) => Ok(events),
        Err(ReconstructError::Source(error)) => Err(error),
        Err(ReconstructError::Sink(never)) => match never {},
    }
}

/// The instances and trees that events define.
pub fn tables(events: &[Event]) -> (Vec<Instance>, Vec<CallTree>) {
    let mut tables = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Instance(instance) => tables.0.push(*instance),
            Event::Tree(tree) => tables.1.push((**tree).clone()),
            _ => {}
        }
    }
    tables
}

/// The tree of each cycle.
pub fn trees_by_cycle(events: &[Event]) -> Vec<usize> {
    let runs = events.iter().filter_map(|event| match event {
        Event::Run(run) => Some(run),
        _ => None,
    });
    runs.flat_map(|run| (0..run.cycles).map(|_| run.tree.index()))
        .collect()
}

/// The warnings, each as cycle, signal and text.
pub fn warnings(events: &[Event]) -> Vec<String> {
    let warnings = events.iter().filter_map(|event| match event {
        Event::Warning(warning) => Some(format!(
            "cycle {}: {} {}",
            warning.cycle.cycles(),
            warning.signal,
            warning.text
        )),
        _ => None,
    });
    warnings.collect()
}

/// The waveform with a signal of one bit that always has this value.
pub fn forced(signal: &str, value: char) -> String {
    /// No other signal has it.
    const CODE: &str = "forced";
    let mut path: Vec<&str> = Vec::new();
    let mut text = String::new();
    let mut is_there = false;
    for line in VCD.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["$scope", _, name, _] => path.push(name),
            ["$upscope", _] => drop(path.pop()),
            ["$var", kind, "1", _, name, "$end"]
                if format!("{}.{name}", path.join(".")) == signal =>
            {
                is_there = true;
                writeln!(text, "$var {kind} 1 {CODE} {name} $end").unwrap();
                continue;
            }
            _ => {}
        }
        writeln!(text, "{line}").unwrap();
        if line == "#0" {
            writeln!(text, "{value}{CODE}").unwrap();
        }
    }
    assert!(is_there, "there is no signal {signal}");
    text
}
