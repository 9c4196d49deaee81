//! `petal monitor`: what a design records by itself is what `petal run` observes of it, and nothing else of the design changes.

use std::process::Output;

use petal_metadata::{CellKind, Component, GroupId, Id as _, Metadata};
use petal_visualize::outputs::{MEMORIES, METADATA, OBSERVATIONS};
use serde_json::Value;

use crate::support::random::texts;
use crate::support::workshop::{Workshop, example, said, tells};
use crate::support::{examples, programs, root};

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

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Records what there is in a design, and holds it to what `petal run` observes. Returns how many stamps there were, and what was refused.
fn records_what_is_observed(workshop: &Workshop, design: &str, options: &[&str]) -> (usize, usize) {
    let run = [&["run", design, "-q", "--out", "plain"], options].concat();
    workshop.succeeds(&run);
    let metadata = Metadata::read(&workshop.path(&format!("plain/{METADATA}"))).unwrap();
    let cycles = json(&workshop.read("plain/summary.json"))["cycles"].to_string();
    let mut found = Found::of(&metadata);
    let refused = found.until_taken(workshop, &run);
    let monitor = [
        &["monitor", design, "-o", "m.futil", "--depth", &cycles],
        options,
    ]
    .concat();
    let refused = refused + found.until_taken(workshop, &monitor);
    if found.0.is_empty() {
        return (0, refused);
    }
    assert!(found.run(workshop, &run).status.success());
    // It refuses some circles that are none, and nothing else is left for it.
    let lowered = ["run", "m.futil", "-q", "--out", "monitored"];
    workshop.succeeds(&[&lowered[..], &["-d", "canonicalize"]].concat());
    // The design does what it did.
    let of = |profile: &str, file: &str| json(&workshop.read(&format!("{profile}/{file}")));
    let (plain, monitored) = (of("plain", MEMORIES), of("monitored", MEMORIES));
    for (name, memory) in plain.as_object().unwrap() {
        // Where Verilog has no such name, the lowered design has another.
        let name = name.replace(['-', '\''], "_");
        assert_eq!(*memory, monitored[&name], "{design} {options:?}: {name}");
    }
    let length = |profile| of(profile, "summary.json")["cycles"].clone();
    assert_eq!(length("plain"), length("monitored"), "{design} {options:?}");
    // And it recorded what was observed.
    let memories = format!("monitored/{MEMORIES}");
    let read = ["monitor", "read", &memories, "--metadata", "m.monitor.json"];
    let read = workshop.succeeds(&[&read[..], &["--json"]].concat());
    let mut observed = of("plain", OBSERVATIONS);
    let recorded = json(&read);
    forget_what_no_wire_tells(&mut observed, &recorded);
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

#[test]
fn examples_record_what_is_observed() {
    let workshop = Workshop::empty();
    let (mut stamps, mut refused) = (0, 0);
    for design in examples() {
        let design = design.display().to_string();
        // It runs for more than a million cycles.
        if design.contains("packet-scheduler") {
            continue;
        }
        for passes in ["all", "no-opt"] {
            let more = records_what_is_observed(&workshop, &design, &["--passes", passes]);
            stamps += more.0;
            refused += more.1;
        }
    }
    assert!(stamps > 3_000, "only {stamps} stamps");
    assert!(refused < 10, "{refused} checkpoints were refused");
}

#[test]
fn random_programs_record_what_is_observed() {
    let workshop = Workshop::empty();
    let mut stamps = 0;
    for (number, text) in texts(programs(6)).into_iter().enumerate() {
        let design = format!("r{number}.futil");
        workshop.write(&design, text);
        for options in [&["--passes", "no-opt"][..], &["-d", "infer-share"]] {
            stamps += records_what_is_observed(&workshop, &design, options).0;
        }
    }
    assert!(stamps > 100, "only {stamps} stamps");
}

/// What a monitor of `while-comb` records with these options; the design is in `m.futil`, and its memories in `out`.
fn recorded(workshop: &Workshop, options: &[&str]) -> String {
    let design = example("while-comb.futil");
    let monitor = [&["monitor", &design, "-o", "m.futil"], options].concat();
    workshop.succeeds(&monitor);
    workshop.succeeds(&["run", "m.futil", "-q", "--out", "out"]);
    let memories = format!("out/{MEMORIES}");
    let read = ["monitor", "read", &memories, "--metadata", "m.monitor.json"];
    let output = workshop.petal(&read);
    assert!(output.status.success());
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn what_there_is_no_room_for_is_told() {
    let workshop = Workshop::empty();
    let checkpoint = ["--checkpoint", "main.update; i=main.i.out"];
    let all = recorded(&workshop, &checkpoint);
    tells(&all, &["3 stamps, none lost"]);
    let some = recorded(&workshop, &[&checkpoint[..], &["--depth", "2"]].concat());
    tells(
        &some,
        &[
            "2 stamps, those of 1 other cycle lost",
            "larger `--depth`",
            "the cycles 0 to 9",
        ],
    );
    // The first ones are those that are kept.
    for line in all.lines().skip(2).take(2) {
        assert!(some.contains(line), "{some}");
    }
}

#[test]
fn what_no_wire_tells_is_refused() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let cases = [
        ("main.while@L55", "the statement `main.while@L55`"),
        ("overhead(main)", "`main` only moves its control along"),
        ("main.mem[0] == 3", "take its ports, such as `read_data`"),
        ("main.i.out * main.i.out == 3", "does not multiply"),
        ("toggles(main.i.out) == 3", "does not count bits"),
        (
            "main.nothing",
            "no cell, port, group or statement `nothing`",
        ),
    ];
    let monitor = ["monitor", &design, "-o", "m.futil", "--checkpoint"];
    for (event, reason) in cases {
        let said = workshop.ends(1, &[&monitor[..], &[event]].concat());
        tells(&said, &["`--checkpoint`", event, reason]);
        let value = format!("main.init; v={event}");
        workshop.ends(1, &[&monitor[..], &[&value]].concat());
    }
    let other = root().join("tests/corpus/struct-other-main.futil");
    let other = other.display().to_string();
    let said = workshop.ends(1, &["monitor", &other, "-o", "m.futil", "--count", "top"]);
    tells(
        &said,
        &["the entry point is called `top`", "call it `main`"],
    );
    assert!(!workshop.path("m.futil").exists());
    let said = workshop.ends(2, &["monitor", &design, "-o", "m.futil"]);
    tells(&said, &["there is nothing to record"]);
    let many: Vec<String> = (0..65).map(|at| format!("c{at}=main.init")).collect();
    let many = many.iter().flat_map(|of| ["--checkpoint", of]);
    let many = [
        &["monitor", &design, "-o", "m.futil"][..],
        &many.collect::<Vec<_>>(),
    ]
    .concat();
    tells(&workshop.ends(1, &many), &["65 events", "room for 64"]);
}

#[test]
fn memories_that_no_monitor_wrote_are_refused() {
    let workshop = Workshop::empty();
    recorded(&workshop, &["--checkpoint", "main.update; i=main.i.out"]);
    let after = json(&workshop.read(&format!("out/{MEMORIES}")));
    let refused = |memory: &str, data: Option<Value>, reason: &str| {
        let mut after = after.clone();
        match data {
            Some(data) => after[memory]["data"] = data,
            None => drop(after.as_object_mut().unwrap().remove(memory)),
        }
        workshop.write("after.json", after.to_string());
        let read = [
            "monitor",
            "read",
            "after.json",
            "--metadata",
            "m.monitor.json",
        ];
        tells(&workshop.ends(1, &read), &["after.json", memory, reason]);
    };
    let mut mask = after["petal_mask"]["data"].clone();
    refused("petal_mask", None, "is missing");
    refused("petal_value_0", None, "is missing");
    refused("petal_stamp", Some(json("[1, 2]")), "has 2 words, and 256");
    refused("petal_head", Some(json("[0]")), "the design has not run");
    mask[1] = json("0");
    refused("petal_mask", Some(mask), "entry 1 is damaged");
    let mut stamp = after["petal_stamp"]["data"].clone();
    stamp[2] = json("0");
    refused("petal_stamp", Some(stamp), "entry 2 is damaged");
    workshop.write("none.json", "{}");
    let read = ["monitor", "read", "none.json", "--metadata", "none.json"];
    tells(&workshop.ends(1, &read), &["not the metadata of a monitor"]);
}

#[test]
fn a_reading_is_held_against_a_simulation_stamp_by_stamp() {
    let workshop = Workshop::empty();
    let asked = [
        "--checkpoint",
        "main.update; i=main.i.out",
        "--watch",
        "main.i",
        "--never",
        "main.i.out == 2",
        "--latency",
        "main.update..main.write",
        "--count",
        "busy=main.mem.write_en",
    ];
    let design = example("while-comb.futil");
    let run = [&["run", &design, "-q", "--out", "plain"], &asked[..]].concat();
    workshop.succeeds(&run);
    recorded(&workshop, &asked);
    let reading = |memories: &str| {
        let read = ["monitor", "read", memories, "--metadata", "m.monitor.json"];
        workshop.succeeds(&[&read[..], &["--json"]].concat())
    };
    let chip = reading(&format!("out/{MEMORIES}"));
    workshop.write("chip.json", &chip);
    let same = workshop.succeeds(&["compare", "plain", "chip.json"]);
    tells(&same, &["the same: ", "entries of 6 observations"]);
    // A value is another one.
    let mut after = json(&workshop.read(&format!("out/{MEMORIES}")));
    let mut stamps = after["petal_stamp"]["data"].as_array().unwrap().iter();
    let at = stamps.position(|of| *of == 5).unwrap();
    after["petal_value_0"]["data"][at] = json("3");
    workshop.write("after.json", after.to_string());
    workshop.write("chip.json", reading("after.json"));
    let compared = |more: &[&str]| {
        let output = workshop.petal(&[&["compare", "chip.json", "plain"], more].concat());
        tells(&said(&output), &["do not tell the same"]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    let differ = [
        "checkpoint main.update",
        "0",
        "cycle 5: i=3",
        "cycle 5: i=1",
    ];
    tells(&compared(&[]), &differ);
    tells(&compared(&["--format", "json"]), &["\"same\": false"]);
    // What has no observations has nothing to hold it against.
    workshop.succeeds(&["run", &design, "-q", "--out", "bare"]);
    let bare = workshop.ends(1, &["compare", "bare", "chip.json"]);
    tells(&bare, &["no observations"]);
    workshop.ends(2, &["compare", "plain", "chip.json", "--html", "a.html"]);
}

#[test]
fn latencies_are_added_up_without_a_buffer() {
    let workshop = Workshop::empty();
    let said = recorded(&workshop, &["--latency", "w=main.update..main.write"]);
    // Each write is in the cycle after its update.
    let row = said.lines().find(|line| line.trim().starts_with("w "));
    let row: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(row[..5], ["w", "3", "1", "1", "3"], "{said}");
    let data = json(&workshop.read("m.futil.data"));
    assert!(data.get("petal_mask").is_none(), "it needs no buffer");
    // What begins again before it ends has no sums that mean anything.
    let said = recorded(
        &workshop,
        &["--latency", "w=main.update..main.i.out == 3 && main.write"],
    );
    tells(&said, &["`w` began again before it ended"]);
    assert!(
        !said.lines().any(|line| line.trim().starts_with("w ")),
        "{said}"
    );
}

/// The cycles of the only checkpoint of a reading in `m.monitor.json` and `out`, with its other numbers.
fn cycles_of(workshop: &Workshop) -> (Vec<u64>, Value) {
    let memories = format!("out/{MEMORIES}");
    let read = ["monitor", "read", &memories, "--metadata", "m.monitor.json"];
    let read = json(&workshop.succeeds(&[&read[..], &["--json"]].concat()));
    let cycles = read["checkpoints"][0]["cycles"].as_array();
    let cycles = cycles
        .into_iter()
        .flatten()
        .map(|of| of.as_u64().unwrap())
        .collect();
    (cycles, read)
}

#[test]
fn the_last_entries_are_kept_or_those_around_a_trigger() {
    let workshop = Workshop::empty();
    let asked = ["--checkpoint", "main.update || main.write"];
    recorded(&workshop, &asked);
    let (all, _) = cycles_of(&workshop);
    assert_eq!(all, [5, 6, 9, 10, 13, 14]);
    let around = |options: &[&str]| {
        recorded(&workshop, &[&asked, options].concat());
        let (cycles, read) = cycles_of(&workshop);
        (cycles, read["dropped"].clone(), read["recorded"].clone())
    };
    let (cycles, dropped, known) = around(&["--depth", "4", "--cyclic"]);
    assert_eq!(cycles, all[2..]);
    assert_eq!(dropped, json("2"));
    assert_eq!(known["start"], json("9"));
    // The one of the trigger, one after it, and as many before it as there is room for.
    let trigger = [
        "--trigger",
        "main.update && main.i.out == 2",
        "--after",
        "1",
    ];
    let (cycles, dropped, known) = around(&[&["--depth", "4", "--cyclic"], &trigger[..]].concat());
    assert_eq!(cycles, all[..4]);
    assert_eq!(dropped, json("2"));
    assert_eq!((&known["start"], &known["end"]), (&json("0"), &json("11")));
    let (cycles, _, _) = around(&[&["--depth", "2", "--cyclic"], &trigger[..]].concat());
    assert_eq!(cycles, all[2..4]);
    let design = example("while-comb.futil");
    let refused = |options: &[&str], reason: &str| {
        let monitor = [&["monitor", &design, "-o", "m.futil"], &asked[..], options].concat();
        tells(&workshop.ends(2, &monitor), &[reason]);
    };
    refused(&["--cyclic", "--depth", "3"], "a power of two");
    refused(&["--cyclic", "--depth", "1"], "2 at least");
    let late = ["--trigger", "main.write", "--cyclic", "--after", "256"];
    refused(&late, "fewer than `--depth`");
    refused(&["--trigger", "main.write"], "--cyclic");
    // Of a rule that was broken before, the end tells that it was.
    let rule = ["--checkpoint", "main.write", "--never", "main.i.out == 1"];
    recorded(
        &workshop,
        &[&rule[..], &["--cyclic", "--depth", "4"]].concat(),
    );
    let (cycles, read) = cycles_of(&workshop);
    assert_eq!(cycles, [6, 10, 14]);
    let broken = &read["rules"][0]["violations"][0];
    // It is so from cycle 5 on, which is not kept.
    let kept = (&json("6"), &json("3"));
    assert_eq!((&broken["cycle"], &broken["cycles"]), kept);
    workshop.write("chip.json", read.to_string());
    let run = [&["run", &design, "-q", "--out", "plain"], &rule[..]].concat();
    workshop.succeeds(&run);
    let same = workshop.succeeds(&["compare", "plain", "chip.json"]);
    tells(&same, &["the same: ", "in the cycles 6 to 16"]);
}

#[test]
fn a_second_run_begins_anew() {
    let workshop = Workshop::empty();
    recorded(
        &workshop,
        &[
            "--checkpoint",
            "main.update",
            "--latency",
            "main.update..main.write",
        ],
    );
    let inner = workshop.read("m.futil");
    let inner = inner.replace("component main(", "component inner(");
    let inner = inner.replace("@external(1) ", "").replace("@external ", "");
    let main = "component main() -> () { cells { inner = inner(); } wires {} control { seq { invoke inner()(); invoke inner()(); } } }";
    workshop.write("twice.futil", format!("{inner}\n{main}\n"));
    let of = |memory: &str, port: &str| format!("main.inner.petal_{memory}.{port}");
    let writes = |memory: &str| {
        let [enable, at, data] = ["write_en", "addr0", "write_data"].map(|port| of(memory, port));
        format!("{memory}={enable}; at={at}, data={data}")
    };
    let run = [
        "run",
        "twice.futil",
        "-q",
        // Others leave out memories that nobody reads.
        "--passes",
        "no-opt",
        "--out",
        "twice",
        "--checkpoint",
        &writes("stamp"),
        "--checkpoint",
        &writes("latency_0_total"),
    ];
    workshop.succeeds(&run);
    let observed = json(&workshop.read(&format!("twice/{OBSERVATIONS}")));
    let values = |checkpoint: usize, value: usize| {
        let bits = &observed["checkpoints"][checkpoint]["values"][value]["bits"];
        serde_json::from_value::<Vec<u64>>(bits.clone()).unwrap()
    };
    assert_eq!(values(0, 0), [0, 1, 2, 0, 1, 2]);
    assert_eq!(values(0, 1), [5, 9, 13, 5, 9, 13]);
    let totals = values(1, 1);
    let (first, second) = totals.split_at(totals.len() / 2);
    assert_eq!(first, second);
    assert_eq!(first.last(), Some(&3));
}
