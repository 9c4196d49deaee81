//! Reads of ports that nothing drives: who makes them, when and how often, held against the waveform of the run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::random::Program;
use super::{design, found, set};
use crate::support::programs;
use crate::support::samples::{Samples, samples};
use crate::support::workshop::Workshop;

/// What is found of reads: port and reader, each with the first cycle, how many, and the line.
type Reads = BTreeMap<(String, String), (u64, u64, u64)>;

/// The reads that a check of the design in the workshop tells of.
fn told(workshop: &Workshop) -> Reads {
    let (_, found) = found(workshop, &["design.futil"]);
    assert_eq!(found["unfollowed"], Value::Array(Vec::new()), "{found:#}");
    assert_eq!(found["stopped"], Value::Null, "{found:#}");
    let mut reads = Reads::new();
    for read in found["undriven"].as_array().unwrap() {
        let [by] = &read["by"].as_array().unwrap()[..] else {
            panic!("{found:#}");
        };
        let name = |of: &str| by[of].as_str().unwrap().to_owned();
        let who = match &*name("group") {
            "" => name("statement"),
            group => group.to_owned(),
        };
        let number = |of: &Value| of.as_u64().unwrap();
        let (first, times) = (number(&read["cycle"]), number(&read["times"]));
        let port = read["port"].as_str().unwrap().to_owned();
        let known = reads.entry((port, who));
        let known = known.or_insert((first, 0, number(&by["line"])));
        *known = (known.0.min(first), known.1 + times, known.2);
    }
    reads
}

/// The signals of main in each cycle of the design in the workshop, and how many cycles there are.
fn signals(workshop: &Workshop) -> (Samples, usize) {
    let vcd = workshop.path("run.vcd");
    let vcd_text = vcd.display().to_string();
    let run = [
        "run",
        "-q",
        "design.futil",
        "--passes",
        "no-opt",
        "--out",
        "out",
        "--vcd",
    ];
    workshop.succeeds(&[&run[..], &[&vcd_text]].concat());
    samples(&vcd, |_| true)
}

/// The first cycle in which signals have these values, such as `get_go_out=1 add_out=5`, and in how many they do.
fn when(signals: &(Samples, usize), condition: &str) -> (u64, u64) {
    let holds = |cycle: usize| {
        condition.split(' ').all(|part| {
            let (name, value) = part.split_once('=').unwrap();
            let (scope, name) = name.rsplit_once('.').unwrap_or(("main", name));
            let scope = scope.split('.').map(str::to_owned).collect();
            let (_, values) = &signals.0[&(scope, name.to_owned())];
            values[cycle] == value.parse::<u64>().unwrap()
        })
    };
    let cycles: Vec<usize> = (0..signals.1).filter(|cycle| holds(*cycle)).collect();
    assert!(!cycles.is_empty(), "{condition}");
    (cycles[0] as u64, cycles.len() as u64)
}

/// Checks a design, which must have these reads: port, reader, and what holds in the waveform when it is made.
fn reads(text: &str, expected: &[(&str, &str, &str)]) {
    let workshop = Workshop::empty();
    workshop.write("design.futil", text);
    let signals = signals(&workshop);
    // The last line of the control that names it.
    let line = |who: &str| {
        let who = who.split('@').next().unwrap();
        let names = |line: &str| {
            let mut words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            words.any(|word| word == who)
        };
        let lines = text.lines().enumerate();
        let line = lines.filter(|(_, line)| names(line)).last();
        line.unwrap().0 as u64 + 1
    };
    let expected: Reads = expected
        .iter()
        .map(|(port, who, condition)| {
            let (first, times) = when(&signals, condition);
            let key = ((*port).to_owned(), (*who).to_owned());
            (key, (first, times, line(who)))
        })
        .collect();
    assert_eq!(told(&workshop), expected, "{text}");
}

const CELLS: &str =
    "r = std_reg(8); s = std_reg(8); c = std_reg(1); add = std_add(8); lt = std_lt(8);";

/// A group that drives an adder, for itself.
fn put() -> String {
    "    group put { add.left = r.out; add.right = 8'd1; r.in = add.out; r.write_en = 1'd1; put[done] = r.done; }\n"
        .to_owned()
}

/// A group that stores something in `s`.
fn get(value: &str, enable: &str) -> String {
    format!("    group get {{ s.in = {value}; s.write_en = {enable}; get[done] = s.done; }}\n")
}

#[test]
fn a_group_takes_what_another_one_drives_in_each_cycle_of_a_loop() {
    let text = design(
        CELLS,
        &[put(), get("add.out", "1'd1")].concat(),
        "    repeat 3 {\n      seq {\n        put;\n        get;\n      }\n    }",
    );
    let condition = "s_write_en=1 put_go_out=0";
    reads(
        &text,
        &[
            ("main.add.left", "get", condition),
            ("main.add.right", "get", condition),
        ],
    );
    // Beside the one that drives it there is nothing to tell.
    let beside = design(
        CELLS,
        &[put(), get("add.out", "1'd1")].concat(),
        "    par {\n      put;\n      get;\n    }",
    );
    reads(&beside, &[]);
}

#[test]
fn what_is_not_stored_or_not_chosen_is_not_read() {
    let cells = &format!("{CELLS} mux = std_mux(8); both = std_and(8); any = std_or(8);");
    let high = set("high", "c", "1'd1");
    let control = "    seq {\n      put;\n      get;\n      high;\n      get;\n    }";
    let last = "s_write_en=1 c_out=1";
    let both = |condition| {
        [
            ("main.add.left", "get", condition),
            ("main.add.right", "get", condition),
        ]
    };
    let parts = |own: &str| [&put(), &high, own].concat();
    // Without `done` it would never end.
    let guarded = "    group get { s.in = c.out ? add.out; s.in = !c.out ? 8'd3; s.write_en = 1'd1; get[done] = s.done; }\n";
    reads(&design(cells, &parts(guarded), control), &both(last));
    let mux = "    group get { mux.cond = c.out; mux.tru = add.out; mux.fal = 8'd3; s.in = mux.out; s.write_en = 1'd1; get[done] = s.done; }\n";
    reads(&design(cells, &parts(mux), control), &both(last));
    let and = "    group get { both.left = add.out; both.right = c.out ? 8'd4; both.right = !c.out ? 8'd0; s.in = both.out; s.write_en = 1'd1; get[done] = s.done; }\n";
    reads(&design(cells, &parts(and), control), &both(last));
    let or = "    group get { any.left = c.out ? 8'd0; any.left = !c.out ? 8'd255; any.right = add.out; s.in = any.out; s.write_en = 1'd1; get[done] = s.done; }\n";
    reads(&design(cells, &parts(or), control), &both(last));
    let idle =
        "    group get { s.in = add.out; r.in = 8'd1; r.write_en = 1'd1; get[done] = r.done; }\n";
    reads(&design(cells, &parts(idle), control), &[]);
}

#[test]
fn what_two_undriven_ports_decide_together_is_read() {
    let control = "    seq {\n      put;\n      get;\n    }";
    let cells = |primitive: &str| {
        let both = "both = std_and(8); one = std_slice(8, 1); other = std_slice(8, 1);";
        format!("{CELLS} {both} pair = {primitive}(8);")
    };
    let put = |more: &str| {
        format!("    group put {{ {more} r.in = 8'd1; r.write_en = 1'd1; put[done] = r.done; }}\n")
    };
    let condition = "s_write_en=1";
    for primitive in ["std_and", "std_or"] {
        let driven = put("pair.left = r.out; pair.right = 8'd1;");
        let text = design(
            &cells(primitive),
            &[driven, get("pair.out", "1'd1")].concat(),
            control,
        );
        reads(
            &text,
            &[
                ("main.pair.left", "get", condition),
                ("main.pair.right", "get", condition),
            ],
        );
    }
    // Through other cells.
    let driven = put("add.left = r.out; add.right = 8'd1; pair.left = r.out; pair.right = 8'd1;");
    let together = "    group get { both.left = add.out; both.right = pair.out; s.in = both.out; s.write_en = 1'd1; get[done] = s.done; }\n";
    let text = design(
        &cells("std_sub"),
        &[driven, together.to_owned()].concat(),
        control,
    );
    let ports = ["add.left", "add.right", "pair.left", "pair.right"];
    let ports = ports.map(|port| format!("main.{port}"));
    let expected: Vec<_> = ports
        .iter()
        .map(|port| (&**port, "get", condition))
        .collect();
    reads(&text, &expected);
    // And in guards.
    let driven = put("one.in = r.out; other.in = 8'd1;");
    for guard in ["one.out & other.out", "!(!one.out | !other.out)"] {
        let get = format!(
            "    group get {{ s.in = {guard} ? 8'd1; s.in = !({guard}) ? 8'd2; s.write_en = 1'd1; get[done] = s.done; }}\n"
        );
        let text = design(&cells("std_sub"), &[&*driven, &get].concat(), control);
        reads(
            &text,
            &[
                ("main.one.in", "get", condition),
                ("main.other.in", "get", condition),
            ],
        );
    }
}

#[test]
fn values_are_followed_round_circles() {
    // Each takes what the next one computes, whose inputs nothing drives then.
    let count = 7;
    let (mut cells, mut groups, mut control) = (String::new(), String::new(), String::new());
    for at in 0..count {
        let next = (at + 3) % count;
        let _ = write!(cells, "q{at} = std_add(8); x{at} = std_reg(8); ");
        let _ = writeln!(
            groups,
            "    group g{at} {{ q{at}.left = x{at}.out; q{at}.right = q{next}.out; x{at}.in = q{at}.out; x{at}.write_en = 1'd1; g{at}[done] = x{at}.done; }}"
        );
        let _ = writeln!(control, "      g{at};");
    }
    let text = design(&cells, &groups, &format!("    seq {{\n{control}    }}"));
    let ports = (0..count).flat_map(|at| {
        let by = (at + count - 3) % count;
        ["left", "right"].map(|side| {
            let condition = format!("x{by}_write_en=1");
            (format!("main.q{at}.{side}"), format!("g{by}"), condition)
        })
    });
    let ports: Vec<_> = ports.collect();
    let expected: Vec<_> = ports
        .iter()
        .map(|(port, by, when)| (&**port, &**by, &**when))
        .collect();
    reads(&text, &expected);
}

#[test]
fn conditions_are_read_where_control_goes_on() {
    let less = "    group less { lt.left = r.out; lt.right = 8'd2; r.in = 8'd1; r.write_en = 1'd1; less[done] = r.done; }\n";
    let cond = "    comb group cond { lt.left = r.out; lt.right = 8'd2; }\n";
    let control = "    seq {\n      less;\n      if lt.out { get; }\n    }";
    let text = design(CELLS, &[less, &get("8'd1", "1'd1")].concat(), control);
    let condition = "r_done=1";
    reads(
        &text,
        &[
            ("main.lt.left", "if@L14", condition),
            ("main.lt.right", "if@L14", condition),
        ],
    );
    let control = "    seq {\n      less;\n      if lt.out with cond { get; }\n    }";
    let text = design(CELLS, &[less, cond, &get("8'd1", "1'd1")].concat(), control);
    reads(&text, &[]);
    // It is read when a guard decides by it, too.
    let guard = "    group get { s.in = lt.out ? 8'd1; s.in = !lt.out ? 8'd2; s.write_en = 1'd1; get[done] = s.done; }\n";
    let control = "    seq {\n      less;\n      get;\n    }";
    let text = design(CELLS, &[less, guard].concat(), control);
    let condition = "s_write_en=1";
    reads(
        &text,
        &[
            ("main.lt.left", "get", condition),
            ("main.lt.right", "get", condition),
        ],
    );
}

#[test]
fn registers_memories_and_multipliers_take_undriven_ports_only_when_they_are_told_to() {
    let cells = "r = std_reg(8); s = std_reg(8); c = std_reg(1); m = seq_mem_d1(8, 4, 2); mul = std_mult_pipe(8);";
    let half = "    group get { s.in = c.out ? 8'd5; s.write_en = 1'd1; get[done] = s.done; }\n";
    let write = "    group write { m.addr0 = 2'd1; m.content_en = 1'd1; m.write_en = 1'd1; write[done] = m.done; }\n";
    let read = "    group read { m.content_en = 1'd1; read[done] = m.done; }\n";
    let multiply =
        "    group multiply { mul.left = 8'd3; mul.go = 1'd1; multiply[done] = mul.done; }\n";
    let control = "    seq {\n      get;\n      write;\n      read;\n      multiply;\n    }";
    let text = design(cells, &[half, write, read, multiply].concat(), control);
    let text = text.replace(
        "import \"primitives/sync",
        "import \"primitives/binary_operators.futil\";\nimport \"primitives/sync",
    );
    reads(
        &text,
        &[
            ("main.s.in", "get", "s_write_en=1 c_out=0"),
            ("main.m.write_data", "write", "m_write_en=1 m_content_en=1"),
            ("main.m.addr0", "read", "read_go_out=1 m_content_en=1"),
            ("main.mul.right", "multiply", "mul_go=1"),
        ],
    );
}

#[test]
fn values_are_followed_through_continuous_assignments_static_groups_and_component_cells() {
    let cells = "r = std_reg(8); s = std_reg(8); add = std_add(8); w = std_wire(8); k = keeper();";
    let continuous = "    w.in = add.out;\n";
    let short = "    static<2> group short { add.left = %0 ? 8'd1; add.right = 8'd1; s.in = w.out; s.write_en = 1'd1; }\n";
    let control = "    seq {\n      short;\n      invoke k(in = add.out)();\n    }";
    let text = design(cells, &[continuous, short].concat(), control);
    let keeper = "component keeper(in: 8) -> () {\n  cells { own = std_reg(8); }\n  wires { group keep { own.in = in; own.write_en = 1'd1; keep[done] = own.done; } }\n  control { keep; }\n}\n";
    let text = text.replace("component main", &format!("{keeper}component main"));
    let workshop = Workshop::empty();
    workshop.write("design.futil", &text);
    let signals = signals(&workshop);
    let invoked = when(&signals, "main.k.own_write_en=1");
    let late = when(&signals, "add_right=1 fsm_out=1");
    let line = |of: &str| {
        1 + text
            .lines()
            .position(|line| line.trim_start().starts_with(of))
            .unwrap() as u64
    };
    let invoke = |port| {
        let found = (invoked.0, invoked.1, line("invoke"));
        (port, "invoke0 (compiler)", found)
    };
    let expected = [
        invoke("main.add.left"),
        ("main.add.left", "short", (late.0, late.1, line("short;"))),
        invoke("main.add.right"),
    ];
    let told = told(&workshop);
    let told: Vec<_> = told
        .iter()
        .map(|((port, who), of)| (&**port, &**who, *of))
        .collect();
    assert_eq!(told, expected, "{text}");
}

/// What a group of a random program does with an adder.
struct Use {
    adder: usize,
    /// Whether it does so only while the flag is high.
    is_guarded: bool,
}

#[test]
fn all_seeded_reads_are_found_and_no_others() {
    let sides = ["left", "right"];
    let (mut with, mut without, mut times) = (0, 0, 0);
    for seed in 0..programs(30) {
        let mut program = Program::new(seed);
        let shape = program.shape(4);
        let mut cells = "f = std_reg(1); n = std_not(1);\n".to_owned();
        let mut wires = "n.in = f.out; f.in = n.out; f.write_en = 1'd1;\n".to_owned();
        for adder in 0..3 {
            let _ = writeln!(cells, "a{adder} = std_add(8);");
        }
        let mut drives: Vec<Vec<(usize, Use)>> = Vec::new();
        let mut takes: Vec<Option<Use>> = Vec::new();
        for group in 0..program.count() {
            let dice = &mut program.dice;
            let mut used = |one_in: usize| {
                (!dice.one_in(one_in)).then(|| Use {
                    adder: dice.below(3),
                    is_guarded: dice.one_in(3),
                })
            };
            let own = sides.map(|_| used(4));
            let take = used(3);
            let guard = |of: &Use| if of.is_guarded { "f.out ? " } else { "" };
            let _ = writeln!(cells, "w{group} = std_reg(8);");
            let _ = write!(wires, "group g{group} {{ ");
            for (side, of) in sides.iter().zip(&own) {
                if let Some(of) = of {
                    let _ = write!(
                        wires,
                        "a{}.{side} = {}8'd{}; ",
                        of.adder,
                        guard(of),
                        of.adder
                    );
                }
            }
            let (value, enable) = match &take {
                Some(of) => (format!("a{}.out", of.adder), guard(of)),
                None => ("8'd1".to_owned(), ""),
            };
            let _ = writeln!(
                wires,
                "w{group}.in = {value}; w{group}.write_en = {enable}1'd1; g{group}[done] = w{group}.done; }}"
            );
            let own = own.into_iter().enumerate();
            drives.push(own.filter_map(|(side, of)| Some((side, of?))).collect());
            takes.push(take);
        }
        let text = program.around(&shape, cells, wires);
        let workshop = Workshop::empty();
        workshop.write("design.futil", &text);
        let (signals, cycles) = signals(&workshop);
        let value = |name: String, cycle: usize| signals[&(vec!["main".to_owned()], name)].1[cycle];
        let is_active = |group: usize, of: &Use, cycle: usize| {
            let is_met = !of.is_guarded || value("f_out".to_owned(), cycle) == 1;
            is_met && value(format!("g{group}_go_out"), cycle) == 1
        };
        let mut expected: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
        for (group, take) in takes.iter().enumerate() {
            let Some(take) = take else { continue };
            for cycle in (0..cycles).filter(|cycle| is_active(group, take, *cycle)) {
                for (side, name) in sides.iter().enumerate() {
                    let is_driven = drives.iter().enumerate().any(|(group, of)| {
                        let mut of = of.iter();
                        of.any(|(own, of)| {
                            *own == side && of.adder == take.adder && is_active(group, of, cycle)
                        })
                    });
                    if !is_driven {
                        let key = (format!("main.a{}.{name}", take.adder), format!("g{group}"));
                        expected.entry(key).or_insert((cycle as u64, 0)).1 += 1;
                    }
                }
            }
        }
        let told = told(&workshop).into_iter();
        let told: BTreeMap<_, _> = told
            .map(|(key, (first, times, _))| (key, (first, times)))
            .collect();
        assert_eq!(told, expected, "seed {seed}:\n{text}");
        times += expected.values().map(|of| of.1).sum::<u64>();
        *(if expected.is_empty() {
            &mut without
        } else {
            &mut with
        }) += 1;
    }
    assert!(
        with > 10 && times > 100,
        "{with} with reads, {without} without, {times} in all"
    );
}
