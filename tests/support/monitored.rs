//! Holds what a monitored design records, whoever compiles and runs it, against what `petal run` observes of the design.

use std::collections::BTreeMap;
use std::process::Output;

use petal_data::{Data, Words};
use petal_metadata::{CellKind, Component, GroupId, Id as _, Metadata};
use petal_visualize::outputs::{MEMORIES, METADATA, OBSERVATIONS};
use serde_json::{Map, Value};

use super::workshop::{Workshop, said};

/// How many checkpoints a design records at most in these tests.
const MOST: usize = 24;

/// What is asked for by an option: an expression, and values.
struct Asked {
    option: &'static str,
    event: String,
    values: Vec<String>,
}

/// What to observe in a design: groups, cells of components, ends, values that change, and rules that are broken, in all instances.
struct Found(Vec<Asked>);

impl Found {
    fn of(metadata: &Metadata) -> Self {
        let mut found = Self(Vec::new());
        let main = metadata.component(metadata.main);
        found.add(metadata, main, &main.name);
        found.0.truncate(MOST);
        found
    }

    fn add(&mut self, metadata: &Metadata, component: &Component, path: &str) {
        let registers = component.cells.iter().filter(|cell| {
            matches!(&cell.kind, CellKind::Primitive(name) if name == "std_reg")
                && cell.instance.is_some()
        });
        let registers: Vec<String> = registers
            .map(|cell| format!("{path}.`{}`.out", cell.name))
            .collect();
        for (at, group) in component.groups.iter().enumerate() {
            let id = GroupId::from_index(at);
            if !component.runs.iter().any(|run| run.group == id) {
                continue;
            }
            let group = format!("{path}.`{}`", group.name);
            let of_group = match at % 3 {
                0 => format!("end({group})"),
                1 => format!("{group} && !past({group}, 2)"),
                _ => format!("begin({group})"),
            };
            if at % 2 == 0 {
                self.ask("--latency", group.clone());
            }
            let values = registers.iter().cycle().skip(at);
            let values = values.take(registers.len().min(2)).cloned();
            self.push(group, values.collect());
            self.push(of_group, Vec::new());
        }
        if let Some(register) = registers.first() {
            self.push(format!("changed({register})"), vec![register.clone()]);
            self.ask("--watch", register.clone());
            self.ask("--watch", format!("{register} == 1"));
            self.ask("--never", format!("{register} == 1"));
            self.ask("--always", format!("{register} < 2"));
        }
        for (cell, inner) in component.instances() {
            let path = format!("{path}.`{}`", component.cell(cell).name);
            self.push(path.clone(), Vec::new());
            self.add(metadata, metadata.component(inner), &path);
        }
    }

    fn push(&mut self, event: String, values: Vec<String>) {
        let option = "--checkpoint";
        self.0.push(Asked {
            option,
            event,
            values,
        });
    }

    fn ask(&mut self, option: &'static str, event: String) {
        let values = Vec::new();
        self.0.push(Asked {
            option,
            event,
            values,
        });
    }

    /// The options that ask for it. All and their values are called by their numbers.
    fn options(&self) -> Vec<String> {
        let all = self.0.iter().enumerate();
        let options = all.flat_map(|(at, of)| {
            let values = of.values.iter().enumerate();
            let values = values.map(|(number, value)| format!("v{at}_{number}={value}"));
            let values: Vec<String> = values.collect();
            let separator = if values.is_empty() { "" } else { "; " };
            let event = &of.event;
            let text = format!("c{at}={event}{separator}{}", values.join(", "));
            [of.option.to_owned(), text]
        });
        options.collect()
    }

    /// A command that observes it.
    fn run(&self, workshop: &Workshop, command: &[&str]) -> Output {
        let options = self.options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        workshop.petal(&[command, &options].concat())
    }

    /// Leaves out what a command refuses, until it takes the rest. Returns how much that was.
    fn until_taken(&mut self, workshop: &Workshop, command: &[&str]) -> usize {
        let all = self.0.len();
        loop {
            let output = self.run(workshop, command);
            if output.status.success() {
                return all - self.0.len();
            }
            let said = said(&output);
            let before = self.0.len();
            // The message has the expression on a line of its own.
            let refused = said.lines().nth(1).unwrap_or_default().trim();
            let is_refused =
                |of: &Asked| of.event == refused || of.values.iter().any(|value| value == refused);
            self.0.retain(|of| !is_refused(of));
            assert!(self.0.len() < before, "{said}");
        }
    }
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The words of the memories in a data file.
fn words(workshop: &Workshop, file: &str) -> Vec<(String, Words)> {
    let data = Data::parse(&workshop.read(file), &workshop.path(file)).unwrap();
    let memories = data.memories().iter();
    let words = memories.map(|of| (of.name().to_owned(), of.words().clone()));
    words.collect()
}

/// Records what there is in a design, and holds it to what `petal run` observes. `lowered` runs the monitored design `m.futil`: it returns the
/// cycles, and the file with the memories after the run. Returns how many stamps there were, and what was refused.
pub fn records_what_is_observed(
    workshop: &Workshop,
    design: &str,
    options: &[&str],
    lowered: impl Fn(&Workshop) -> (u64, String),
) -> (usize, usize) {
    let run = [&["run", design, "-q", "--out", "plain"], options].concat();
    workshop.succeeds(&run);
    let metadata = Metadata::read(&workshop.path(&format!("plain/{METADATA}"))).unwrap();
    let cycles = json(&workshop.read("plain/summary.json"))["cycles"].to_string();
    let mut found = Found::of(&metadata);
    let refused = found.until_taken(workshop, &run);
    let has_latencies = found.0.iter().any(|of| of.option == "--latency");
    let histogram = has_latencies.then_some("--histogram");
    let monitor = [
        &["monitor", design, "-o", "m.futil", "--depth", &cycles],
        options,
        histogram.as_slice(),
    ]
    .concat();
    let refused = refused + found.until_taken(workshop, &monitor);
    if found.0.is_empty() {
        return (0, refused);
    }
    assert!(found.run(workshop, &run).status.success());
    let (length, memories) = lowered(workshop);
    // The design does what it did.
    let of = |file: &str| json(&workshop.read(&format!("plain/{file}")));
    let after = words(workshop, &memories);
    for (name, plain) in words(workshop, &format!("plain/{MEMORIES}")) {
        // Where Verilog has no such name, the lowered design has another.
        let name = name.replace(['-', '\''], "_");
        let found = after.iter().find(|of| of.0 == name);
        assert_eq!(
            found.map(|of| &of.1),
            Some(&plain),
            "{design} {options:?}: {name}"
        );
    }
    assert_eq!(of("summary.json")["cycles"], length, "{design} {options:?}");
    // And it recorded what was observed.
    let read = ["monitor", "read", &memories, "--metadata", "m.monitor.json"];
    let read = workshop.succeeds(&[&read[..], &["--json"]].concat());
    let mut observed = of(OBSERVATIONS);
    let mut recorded = json(&read);
    forget_what_no_wire_tells(&mut observed, &recorded);
    recorded.as_object_mut().unwrap().remove("overlapped");
    let lists = |of: &Value| of["checkpoints"].as_array().unwrap().clone();
    for (observed, recorded) in lists(&observed).iter().zip(&lists(&recorded)) {
        assert_eq!(observed, recorded, "{design} {options:?}");
    }
    assert_eq!(observed, recorded, "{design} {options:?}");
    let stamps = lists(&recorded);
    let stamps = stamps
        .iter()
        .map(|of| of["cycles"].as_array().unwrap().len());
    (stamps.sum(), refused)
}

/// A histogram by powers of two: 0, 1, 2 to 3, 4 to 7, and so on.
fn by_powers(histogram: &Value) -> Map<String, Value> {
    let histogram: BTreeMap<u64, u64> = serde_json::from_value(histogram.clone()).unwrap();
    let mut powers: BTreeMap<u64, u64> = BTreeMap::new();
    for (cycles, count) in histogram {
        let mut least = cycles.min(1);
        while least * 2 <= cycles && least > 0 {
            least *= 2;
        }
        *powers.entry(least).or_default() += count;
    }
    let powers = powers.into_iter();
    powers
        .map(|(least, count)| (least.to_string(), count.into()))
        .collect()
}

/// Leaves out of observations what a monitor has no wires for: a front end's variables, who was active or wrote, and what sums do not tell
/// of latencies.
fn forget_what_no_wire_tells(observed: &mut Value, recorded: &Value) {
    observed.as_object_mut().unwrap().remove("variables");
    let is_known = |of: &Value| {
        let mut known = recorded["latencies"].as_array().unwrap().iter();
        known.any(|known| known["name"] == of["name"])
    };
    let latencies = observed["latencies"].as_array_mut().unwrap();
    latencies.retain(|of| {
        let intervals: Vec<(u64, u64)> = serde_json::from_value(of["intervals"].clone()).unwrap();
        let mut pairs = intervals.windows(2);
        let overlap = pairs.any(|pair| pair[0].0 + pair[0].1 > pair[1].0);
        assert!(is_known(of) || overlap, "{of}");
        is_known(of)
    });
    for of in latencies {
        for unknown in ["median", "p99", "stall", "values"] {
            of.as_object_mut().unwrap().remove(unknown);
        }
        let powers = by_powers(&of["histogram"]);
        let of = of.as_object_mut().unwrap();
        if !powers.is_empty() {
            of.insert("powers".to_owned(), powers.into());
        }
        of["histogram"] = json("{}");
        of["intervals"] = json("[]");
        of["blame"] = json("[]");
    }
    for (kind, rows, unknown) in [
        ("watches", "changes", "by"),
        ("rules", "violations", "active"),
    ] {
        for of in observed[kind].as_array_mut().unwrap() {
            for row in of[rows].as_array_mut().unwrap() {
                row[unknown] = json("[]");
                row.as_object_mut().unwrap().remove("written");
            }
        }
    }
}
