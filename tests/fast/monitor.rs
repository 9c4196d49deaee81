//! `petal monitor`: what a design records by itself is what `petal run` observes of it, and nothing else of the design changes.

use petal_visualize::outputs::{MEMORIES, OBSERVATIONS};
use serde_json::Value;

use crate::support::monitored::{json, records_what_is_observed};
use crate::support::random::texts;
use crate::support::workshop::{Workshop, example, said, tells};
use crate::support::{examples, programs, root};

/// Runs `m.futil` as any other design, which compiles it again. Returns its cycles, and where its memories are.
fn run_again(workshop: &Workshop) -> (u64, String) {
    // It refuses some circles that are none, and nothing else is left for it.
    workshop.succeeds(&[
        "run",
        "m.futil",
        "-q",
        "--out",
        "monitored",
        "-d",
        "canonicalize",
    ]);
    let summary = json(&workshop.read("monitored/summary.json"));
    (
        summary["cycles"].as_u64().unwrap(),
        format!("monitored/{MEMORIES}"),
    )
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
            let more =
                records_what_is_observed(&workshop, &design, &["--passes", passes], run_again);
            stamps += more.0;
            refused += more.1;
        }
    }
    assert!(stamps > 3_000, "only {stamps} stamps");
    assert!(refused < 10, "{refused} checkpoints were refused");
}

#[test]
fn what_several_events_look_at_stays_there_when_the_design_is_compiled_again() {
    let workshop = Workshop::empty();
    let events = ["main.i.out", "main.value.out", "main.add.out"]
        .map(|value| format!("main.mem.write_en && {value} != 0"));
    for count in 1..=events.len() {
        let events = events[..count].iter();
        let asked: Vec<&str> = events
            .flat_map(|event| ["--checkpoint", event.as_str()])
            .collect();
        let stamps = 3 * count;
        tells(&recorded(&workshop, &asked), &[&format!("{stamps} stamps")]);
    }
}

#[test]
fn random_programs_record_what_is_observed() {
    let workshop = Workshop::empty();
    let mut stamps = 0;
    for (number, text) in texts(programs(6)).into_iter().enumerate() {
        let design = format!("r{number}.futil");
        workshop.write(&design, text);
        for options in [&["--passes", "no-opt"][..], &["-d", "infer-share"]] {
            stamps += records_what_is_observed(&workshop, &design, options, run_again).0;
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
    let head = head(&after);
    refused(&head, Some(json("[0]")), "the design has not run");
    refused(&head, None, "is missing");
    mask[1] = json("0");
    refused("petal_mask", Some(mask), "entry 1 is damaged");
    let mut stamp = after["petal_stamp"]["data"].clone();
    stamp[2] = json("0");
    refused("petal_stamp", Some(stamp), "entry 2 is damaged");
    workshop.write("none.json", "{}");
    let read = ["monitor", "read", "none.json", "--metadata", "none.json"];
    tells(&workshop.ends(1, &read), &["not the metadata of a monitor"]);
}

/// The name of the memory that a monitor writes first.
fn head(memories: &Value) -> String {
    let mut names = memories.as_object().unwrap().keys();
    let head = names.find(|name| name.starts_with("petal_head_"));
    head.unwrap().clone()
}

#[test]
fn memories_of_another_monitor_are_refused() {
    let workshop = Workshop::empty();
    let checkpoint = ["--checkpoint", "main.update"];
    recorded(&workshop, &checkpoint);
    let after = head(&json(&workshop.read(&format!("out/{MEMORIES}"))));
    let memories = format!("out/{MEMORIES}");
    let read = ["monitor", "read", &memories, "--metadata", "m.monitor.json"];
    let refused = |design: &str, options: &[&str]| {
        workshop.succeeds(&[&["monitor", design, "-o", "m.futil"], options].concat());
        let said = workshop.ends(1, &read);
        tells(&said, &[&format!("there is `{after}`"), "another monitor"]);
    };
    refused(
        &example("while-comb.futil"),
        &["--checkpoint", "main.write"],
    );
    let text = std::fs::read_to_string(example("while-comb.futil")).unwrap();
    let other = text.replacen("32'd5", "32'd6", 1);
    assert_ne!(other, text);
    workshop.write("while-comb.futil", other);
    refused("while-comb.futil", &checkpoint);
    workshop.write("while-comb.futil", text);
    workshop.succeeds(
        &[
            &["monitor", "while-comb.futil", "-o", "m.futil"],
            &checkpoint[..],
        ]
        .concat(),
    );
    workshop.succeeds(&read);
}

#[test]
fn memories_are_read_as_other_tools_write_them() {
    let workshop = Workshop::empty();
    recorded(&workshop, &["--checkpoint", "main.update; i=main.i.out"]);
    let read = |memories: &str| {
        let read = ["monitor", "read", memories, "--metadata", "m.monitor.json"];
        workshop.succeeds(&read)
    };
    let file = format!("out/{MEMORIES}");
    let known = read(&file);
    let mut lists = json(&workshop.read(&file));
    for memory in lists.as_object_mut().unwrap().values_mut() {
        *memory = memory["data"].take();
    }
    // Of the design's own memories nothing is asked.
    lists["mem"] = json("[0.5]");
    workshop.write("cider.json", lists.to_string());
    assert_eq!(read("cider.json"), known);
    let of_fud = serde_json::json!({ "cycles": 17, "memories": lists });
    workshop.write("fud.json", of_fud.to_string());
    assert_eq!(read("fud.json"), known);
    workshop.write("wrong.json", r#"{"memories": 3}"#);
    let wrong = [
        "monitor",
        "read",
        "wrong.json",
        "--metadata",
        "m.monitor.json",
    ];
    tells(&workshop.ends(1, &wrong), &["wrong.json:1:14"]);
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
    // Of latencies that overlapped the chip knows nothing.
    let overlapping = ["--latency", "w=main.update..main.i.out == 3 && main.write"];
    recorded(&workshop, &[&asked[..], &overlapping].concat());
    workshop.write("chip.json", reading(&format!("out/{MEMORIES}")));
    workshop.succeeds(&[&run[..], &overlapping].concat());
    let told = [
        "the same: ",
        "entries of 6 observations",
        "not compared: `w`",
    ];
    for sides in [["plain", "chip.json"], ["chip.json", "plain"]] {
        tells(&workshop.succeeds(&["compare", sides[0], sides[1]]), &told);
    }
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
    // A histogram takes more memories, and those of another run are told.
    let asked = [
        "--latency",
        "w=main.init..main.write",
        "--latency",
        "main.update",
        "--histogram",
    ];
    let said = recorded(&workshop, &asked);
    let rows: Vec<Vec<&str>> = said
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let at = rows
        .iter()
        .position(|row| *row == ["latency", "min", "max", "count"])
        .unwrap();
    assert_eq!(
        rows[at + 1..],
        [["w", "4", "7", "1"], ["main.update", "1", "1", "3"]],
        "{said}"
    );
    let mut after = json(&workshop.read(&format!("out/{MEMORIES}")));
    after["petal_latency_0_filled"]["data"] = json("[0]");
    workshop.write("after.json", after.to_string());
    let read = [
        "monitor",
        "read",
        "after.json",
        "--metadata",
        "m.monitor.json",
    ];
    tells(
        &workshop.ends(1, &read),
        &["`petal_latency_0_powers` add up to 0, and 1 latencies ended"],
    );
    workshop.ends(
        2,
        &[
            "monitor",
            &example("while-comb.futil"),
            "-o",
            "m.futil",
            "--histogram",
        ],
    );
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
