//! `petal check`: races, addresses beyond a memory, and what else must not be.

mod random;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::examples;
use crate::support::workshop::{Workshop, said, tells};

/// What the command exits with, and what it finds.
fn found(workshop: &Workshop, args: &[&str]) -> (i32, Value) {
    let all = [&["check", "-q", "--format", "json"], args].concat();
    let output = workshop.petal(&all);
    let found = serde_json::from_slice(&output.stdout);
    let found = found.unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    (output.status.code().unwrap(), found)
}

/// The cells that are raced for, each with the groups, or statements where there is no group.
fn pairs(found: &Value) -> BTreeSet<(String, [String; 2])> {
    let races = found["races"].as_array().unwrap().iter();
    races
        .map(|race| {
            let who = |at: usize| {
                let of = &race["accesses"][at];
                let name = of["group"].as_str().or(of["statement"].as_str());
                name.unwrap().to_owned()
            };
            let mut both = [who(0), who(1)];
            both.sort();
            (race["cell"].as_str().unwrap().to_owned(), both)
        })
        .collect()
}

/// A design of these parts.
fn design(cells: &str, wires: &str, control: &str) -> String {
    format!(
        "import \"primitives/core.futil\";\nimport \"primitives/memories/comb.futil\";\nimport \"primitives/memories/seq.futil\";\n\
         import \"primitives/sync.futil\";\n\
         component main() -> () {{\n  cells {{ {cells} }}\n  wires {{\n{wires}  }}\n  control {{\n{control}\n  }}\n}}\n"
    )
}

/// A group that sets a register.
fn set(group: &str, register: &str, value: &str) -> String {
    format!("    group {group} {{ {register}.in = {value}; {register}.write_en = 1'd1; {group}[done] = {register}.done; }}\n")
}

/// Checks a design, which must have these races and no others.
fn races(text: &str, expected: &[(&str, [&str; 2])]) -> Value {
    let workshop = Workshop::empty();
    workshop.write("design.futil", text);
    let (code, found) = found(&workshop, &["design.futil"]);
    let expected: BTreeSet<(String, [String; 2])> = expected
        .iter()
        .map(|(cell, who)| ((*cell).to_owned(), who.map(str::to_owned)))
        .collect();
    assert_eq!(pairs(&found), expected, "{text}\n{found:#}");
    assert_eq!(code, i32::from(!expected.is_empty()));
    found
}

/// Two arms that write a register, one of them later.
fn write_write() -> String {
    let cells = "r = std_reg(8); d = std_reg(1);";
    let wires = [set("five", "r", "8'd5"), set("ten", "r", "8'd10"), set("wait", "d", "1'd0")];
    design(cells, &wires.concat(), "    par {\n      seq { wait; ten; }\n      five;\n    }")
}

#[test]
fn two_arms_that_write_a_register_race_with_both_lines_and_cycles() {
    let found = races(&write_write(), &[("main.r", ["five", "ten"])]);
    let race = &found["races"][0];
    let of = |at: usize, what: &str| race["accesses"][at][what].clone();
    assert_eq!([of(0, "cycle"), of(1, "cycle")], [0, 2]);
    assert_eq!([of(0, "line"), of(1, "line")], [15, 14]);
    assert_eq!([of(0, "access"), of(1, "access")], ["write", "write"]);
    assert_eq!([&race["same_cycle"], &race["par"]], [&Value::Bool(false), &"main.par@L13".into()]);
}

#[test]
fn accesses_in_the_same_cycle_are_marked() {
    let cells = "r = std_reg(8); d = std_reg(1);";
    let wires = [set("five", "r", "8'd5"), set("ten", "r", "8'd10"), set("wait", "d", "1'd0")];
    // The first time they are two cycles apart.
    let control = "    seq {\n      par { seq { wait; ten; } five; }\n      par { ten; five; }\n    }";
    let found = races(
        &design(cells, &wires.concat(), control),
        &[("main.r", ["five", "ten"])],
    );
    let all = found["races"].as_array().unwrap().iter();
    let marks: Vec<bool> = all.map(|race| race["same_cycle"].as_bool().unwrap()).collect();
    assert_eq!(marks, [false, true]);
}

/// A register that one arm sets, and what the other does with it.
fn with_reader(cells: &str, wires: &str, arm: &str) -> String {
    let cells = format!("r = std_reg(8); on = std_reg(1); w = std_reg(8); {cells}");
    let wires = [set("put", "r", "8'd5"), set("switch", "on", "1'd1"), wires.to_owned()].concat();
    design(&cells, &wires, &format!("    par {{\n      seq {{ put; switch; }}\n      {arm}\n    }}"))
}

#[test]
fn values_are_read_by_assignments_guards_and_through_wires() {
    let through = "    add.left = r.out; add.right = 8'd1;\n    group get { w.in = add.out; w.write_en = 1'd1; get[done] = w.done; }\n";
    let guard = "    group get { w.in = on.out ? 8'd1; w.write_en = 1'd1; get[done] = w.done; }\n";
    for (cells, wires, cell) in [
        ("", set("get", "w", "r.out"), "main.r"),
        ("add = std_add(8);", through.to_owned(), "main.r"),
        ("", guard.to_owned(), "main.on"),
    ] {
        let writer = if cell == "main.r" { "put" } else { "switch" };
        races(&with_reader(cells, &wires, "get;"), &[(cell, ["get", writer])]);
    }
    // A group that only reads what others set races with nobody.
    races(&with_reader("x = std_reg(8);", &set("get", "w", "x.out"), "get;"), &[]);
}

#[test]
fn what_a_guard_or_a_multiplexer_decides_is_no_finding_but_told() {
    let guarded = "    group get { w.in = on.done ? r.out; w.write_en = 1'd1; get[done] = w.done; }\n";
    let mux = "    mux.cond = 1'd0; mux.tru = r.out; mux.fal = 8'd1;\n    group get { w.in = mux.out; w.write_en = 1'd1; get[done] = w.done; }\n";
    for (cells, wires) in [("", guarded), ("mux = std_mux(8);", mux)] {
        let workshop = Workshop::empty();
        workshop.write("design.futil", with_reader(cells, wires, "get;"));
        let (code, found) = found(&workshop, &["design.futil"]);
        assert_eq!(found["races"][0]["doubt"], "guard", "{found:#}");
        assert_eq!(code, 0);
    }
}

#[test]
fn conditions_are_read_by_their_statement() {
    let wires = [set("a", "w", "8'd1"), set("b", "w", "8'd2")].concat();
    for (arm, statement) in [
        ("if on.out { a; } else { b; }", "if@L16"),
        // Nothing is taken.
        ("if on.out { a; }", "if@L16"),
        ("seq { b; if on.out { a; } }", "if@L16"),
        ("seq { b; while on.out { a; } }", "while@L16"),
    ] {
        // The loop may have no end.
        let wires = wires.replace("8'd1", "8'd1; on.in = 1'd0; on.write_en = 1'd1");
        let wires = if arm.contains("while") { wires } else { set("a", "w", "8'd1") + &set("b", "w", "8'd2") };
        let mut expected = vec![("main.on", [statement, "switch"])];
        if arm.contains("while") {
            expected.push(("main.on", ["a", "switch"]));
        }
        races(&with_reader("", &wires, arm), &expected);
    }
}

#[test]
fn a_comb_group_reads_for_its_condition_and_not_for_what_the_condition_guards() {
    // The loop's condition reads the counter that an arm of its body sets, and the other arm names a wire of the condition.
    let cells = "i = std_reg(4); lt = std_lt(4); add = std_add(4); wire = std_wire(1); other = std_wire(1); w = std_reg(8);";
    let wires = "    comb group cond { lt.left = i.out; lt.right = 4'd3; wire.in = lt.out; }
    group next { add.left = i.out; add.right = 4'd1; i.in = add.out; i.write_en = 1'd1; next[done] = i.done; }
    group work { other.in = wire.out; w.in = 8'd1; w.write_en = 1'd1; work[done] = w.done; }\n";
    let control = "    while lt.out with cond { par { work; next; } }";
    races(&design(cells, wires, control), &[]);
    // Beside a loop that looks at it, it races.
    let control = "    par {\n      next;\n      if lt.out with cond { work; }\n    }";
    races(&design(cells, wires, control), &[("main.i", ["cond", "next"])]);
}

#[test]
fn other_runs_of_a_par_and_other_branches_do_not_race() {
    let cells = "r = std_reg(8); odd = std_reg(1); no = std_not(1);";
    let wires = [
        set("one", "r", "8'd1"),
        set("two", "r", "8'd2"),
        set("flip", "odd", "no.out"),
        "    no.in = odd.out;\n".to_owned(),
    ];
    let turns = "    repeat 4 { seq { par { if odd.out { one; } if no.out { two; } } flip; } }";
    races(&design(cells, &wires.concat(), turns), &[]);
    let after = "    seq { par { one; flip; } par { two; flip; } }";
    races(&design(cells, &wires.concat(), after), &[]);
}

#[test]
fn the_arms_of_a_static_par_have_a_schedule() {
    let cells = "r = std_reg(8); w = std_reg(8);";
    let wires = "    static<1> group put { r.in = 8'd5; r.write_en = 1'd1; }
    static<1> group get { w.in = r.out; w.write_en = 1'd1; }
    static<2> group late { w.in = %1 ? r.out; w.write_en = %1 ? 1'd1; }\n";
    for (control, is_race) in [
        ("static par { put; late; }", false),
        ("par { put; late; }", true),
        ("par { static seq { put; put; } get; }", true),
    ] {
        let who = if control.contains("get") { "get" } else { "late" };
        let expected = [("main.r", [who, "put"])];
        let expected = if is_race { &expected[..] } else { &[] };
        races(&design(cells, wires, control), expected);
    }
}

#[test]
fn what_a_barrier_puts_into_an_order_does_not_race() {
    let cells = "r = std_reg(8); w = std_reg(8); v = std_reg(8); d = std_reg(1);";
    let wires = [
        set("put", "r", "8'd5"),
        set("get", "w", "r.out"),
        set("look", "v", "r.out"),
        set("wait", "d", "1'd0"),
    ];
    for (first, second, expected) in [
        ("put; @sync(1); wait;", "wait; @sync(1); get;", &[][..]),
        ("wait; @sync(1); put;", "wait; @sync(1); get;", &["get"]),
        ("put; @sync(1); put;", "wait; @sync(1); get;", &["get"]),
        ("@sync(1); put; @sync(2); wait;", "get; @sync(1); wait; @sync(2); look;", &[]),
    ] {
        let control = format!("    par {{ seq {{ {first} }} seq {{ {second} }} }}");
        let expected: Vec<_> = expected.iter().map(|who| ("main.r", [*who, "put"])).collect();
        races(&design(cells, &wires.concat(), &control), &expected);
    }
    // Each round of a loop has its own meetings.
    let control = "    par {
      repeat 3 { seq { put; @sync(1); wait; @sync(2); } }
      repeat 3 { seq { @sync(1); get; @sync(2); } }
    }";
    races(&design(cells, &wires.concat(), control), &[]);
    // What one arm tells the second, and the second the third.
    let control = "    par {
      seq { put; @sync(1); }
      seq { @sync(1); wait; @sync(2); }
      seq { @sync(2); get; }
    }";
    races(&design(cells, &wires.concat(), control), &[]);
}

#[test]
fn a_word_is_raced_for_and_not_its_neighbours() {
    for memory in ["comb_mem_d1", "seq_mem_d1"] {
        let enable = if memory == "seq_mem_d1" { "m.content_en = 1'd1;" } else { "" };
        let put = |name: &str, word: usize| {
            format!(
                "    group {name} {{ m.addr0 = 2'd{word}; m.write_data = 8'd{word}; m.write_en = 1'd1; {enable} {name}[done] = m.done; }}\n"
            )
        };
        let wires = [put("one", 1), put("two", 2), put("again", 1), set("wait", "d", "1'd0")].concat();
        let cells = format!("@external m = {memory}(8, 4, 2); d = std_reg(1);");
        let control = "    par {\n      one;\n      seq { wait; wait; two; }\n      seq { wait; wait; wait; wait; again; }\n    }";
        let found = races(&design(&cells, &wires, control), &[("main.m", ["again", "one"])]);
        assert_eq!(found["races"][0]["word"], 1);
    }
}

#[test]
fn components_race_for_what_they_are_handed_and_for_their_own() {
    let part = "component part() -> (out: 8) {
  cells { ref c = std_reg(8); own = std_reg(8); }
  wires {
    out = own.out;
    group put { c.in = 8'd1; c.write_en = 1'd1; put[done] = c.done; }
    group keep { own.in = c.out; own.write_en = 1'd1; keep[done] = own.done; }
  }
  control { seq { put; keep; } }
}
";
    let cells = "p = part(); q = part(); r = std_reg(8); s = std_reg(8); w = std_reg(8);";
    let wires = set("get", "w", "p.out");
    let text = |control: &str| {
        let text = design(cells, &wires, control);
        text.replace("component main", &format!("{part}component main"))
    };
    races(&text("par { invoke p[c = r]()(); invoke q[c = s]()(); }"), &[]);
    races(
        &text("par { invoke p[c = r]()(); invoke q[c = r]()(); }"),
        &[("main.r", ["put", "put"]), ("main.r", ["keep", "put"])],
    );
    races(
        &text("par { invoke p[c = r]()(); get; }"),
        &[("main.p.own", ["get", "keep"])],
    );
    races(&text("seq { invoke p[c = r]()(); get; }"), &[]);
}

#[test]
fn what_continuous_assignments_set_is_in_no_order() {
    let cells = "@external m = comb_mem_d1(8, 4, 2); v = std_reg(8); add = std_add(8);";
    let wires = "    add.left = v.out; add.right = 8'd1; v.in = add.out; v.write_en = 1'd1;
    group store { m.addr0 = 2'd0; m.write_data = v.out; m.write_en = 1'd1; store[done] = m.done; }\n";
    races(
        &design(cells, wires, "repeat 3 { store; }"),
        &[("main.v", ["continuous assignments", "store"])],
    );
    // That they read something is no moment: who takes what they give reads it.
    let wires = [set("put", "v", "8'd1"), "    add.left = v.out; add.right = v.out;\n".to_owned()];
    races(&design(cells, &wires.concat(), "seq { put; put; }"), &[]);
}

#[test]
fn addresses_beyond_a_memory_are_found_with_who_and_when() {
    let workshop = Workshop::empty();
    let cells = "@external m = comb_mem_d1(8, 3, 2); w = std_reg(8); i = std_reg(2); add = std_add(2);";
    let wires = [
        set("get", "w", "m.read_data").replace("w.in", "m.addr0 = i.out; w.in"),
        "    add.left = i.out; add.right = 2'd1;\n".to_owned(),
        set("next", "i", "add.out"),
        "    group put { m.addr0 = i.out; m.write_data = 8'd1; m.write_en = 1'd1; put[done] = m.done; }\n".to_owned(),
    ];
    workshop.write("design.futil", design(cells, &wires.concat(), "    seq { repeat 3 { seq { get; next; } } get; get; put; }"));
    let (code, found) = found(&workshop, &["design.futil"]);
    assert_eq!(code, 1);
    let all = found["beyond"].as_array().unwrap();
    let told: Vec<[&Value; 5]> = all
        .iter()
        .map(|of| [&of["access"], &of["address"][0], &of["times"], &of["by"][0]["group"], &of["sizes"][0]])
        .collect();
    // Each enable has a line.
    let (read, write): (Vec<_>, Vec<_>) = told.iter().partition(|of| *of[0] == "read");
    assert!(read.iter().all(|of| *of[1] == 3 && *of[3] == "get" && *of[4] == 3), "{found:#}");
    assert_eq!(read.iter().map(|of| of[2].as_u64().unwrap()).sum::<u64>(), 2);
    assert!(matches!(write[..], [[_, _, _, group, _]] if *group == "put"), "{found:#}");
}

#[test]
fn what_undef_gives_is_told_when_it_is_taken() {
    let workshop = Workshop::empty();
    let cells = "u = undef(8); w = std_reg(8); v = std_reg(8);";
    let wires = [set("get", "w", "u.out"), set("never", "v", "u.out"), set("put", "w", "8'd1")];
    workshop.write("design.futil", design(cells, &wires.concat(), "    seq { put; get; }"));
    let (code, found) = found(&workshop, &["design.futil"]);
    assert_eq!(code, 1);
    let undefined = found["undefined"].as_array().unwrap();
    assert!(matches!(&undefined[..], [of] if of["cell"] == "main.u" && of["group"] == "get"), "{found:#}");
}

#[test]
fn a_run_without_an_end_and_a_broken_rule_are_findings() {
    let workshop = Workshop::empty();
    let cells = "r = std_reg(8); never = std_reg(1);";
    let stuck = "    group stuck { r.in = 8'd1; stuck[done] = r.done; }\n";
    let text = design(cells, &[stuck, &set("put", "r", "8'd9")].concat(), "    seq { put; stuck; }");
    workshop.write("design.futil", text);
    let (code, found) = found(&workshop, &["design.futil", "--never", "main.r.out > 8"]);
    assert_eq!(code, 1);
    tells(found["stopped"].as_str().unwrap(), &["stuck"]);
    tells(found["rules"][0].as_str().unwrap(), &["never main.r.out > 8 is broken"]);
}

#[test]
fn other_programs_read_findings_as_sarif() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", write_write());
    let output = workshop.petal(&["check", "-q", "design.futil", "--format", "sarif"]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &log["runs"][0]["results"][0];
    let place = |of: &Value| {
        let place = &of["physicalLocation"];
        (place["artifactLocation"]["uri"].clone(), place["region"]["startLine"].clone())
    };
    assert_eq!(result["ruleId"], "race");
    assert_eq!(place(&result["locations"][0]), ("design.futil".into(), 15.into()));
    assert_eq!(place(&result["relatedLocations"][0]), ("design.futil".into(), 14.into()));
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == "race"));
}

#[test]
fn findings_are_told_in_sentences() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", write_write());
    let output = workshop.petal(&["check", "-q", "design.futil"]);
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["error: the check found 1 race"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let expected = "races\n  main.r: five (line 15) writes it in cycle 0, and ten (line 14) writes it in cycle 2:";
    tells(&told, &["1 race in ", expected]);
    workshop.write("design.futil", write_write().replace("five;", "wait;"));
    let told = workshop.succeeds(&["check", "-q", "design.futil"]);
    tells(&told, &["nothing found in "]);
}
