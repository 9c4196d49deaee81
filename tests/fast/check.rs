//! `petal check`: races, addresses beyond a memory, and what else must not be.

mod races;
mod random;
mod undriven;

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

/// A design of these parts, without groups that nothing runs, which the compiler refuses.
fn design(cells: &str, wires: &str, control: &str) -> String {
    let is_used = |line: &&str| {
        let Some((kind, rest)) = line.split_once("group ") else {
            return true;
        };
        let name = rest.split(' ').next();
        let mut names = control.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        kind.contains("comb") || names.any(|used| Some(used) == name)
    };
    let wires: String = wires.split_inclusive('\n').filter(is_used).collect();
    format!(
        "import \"primitives/core.futil\";\nimport \"primitives/memories/comb.futil\";\nimport \"primitives/memories/seq.futil\";\n\
         import \"primitives/sync.futil\";\n\
         component main() -> () {{\n  cells {{ {cells} }}\n  wires {{\n{wires}  }}\n  control {{\n{control}\n  }}\n}}\n"
    )
}

/// A group that sets a register.
fn set(group: &str, register: &str, value: &str) -> String {
    format!(
        "    group {group} {{ {register}.in = {value}; {register}.write_en = 1'd1; {group}[done] = {register}.done; }}\n"
    )
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
    let wires = [
        set("five", "r", "8'd5"),
        set("ten", "r", "8'd10"),
        set("wait", "d", "1'd0"),
    ];
    design(
        cells,
        &wires.concat(),
        "    par {\n      seq { wait; ten; }\n      five;\n    }",
    )
}

#[test]
fn two_arms_that_write_a_register_race_with_both_lines_and_cycles() {
    let found = races(&write_write(), &[("main.r", ["five", "ten"])]);
    let race = &found["races"][0];
    let of = |at: usize, what: &str| race["accesses"][at][what].clone();
    assert_eq!([of(0, "cycle"), of(1, "cycle")], [0, 2]);
    assert_eq!([of(0, "line"), of(1, "line")], [15, 14]);
    assert_eq!([of(0, "access"), of(1, "access")], ["write", "write"]);
    assert_eq!(
        [&race["same_cycle"], &race["par"]],
        [&Value::Bool(false), &"main.par@L13".into()]
    );
}

#[test]
fn addresses_beyond_a_memory_are_found_with_who_and_when() {
    let workshop = Workshop::empty();
    let cells = "@external m = seq_mem_d1(8, 3, 2); i = std_reg(2); add = std_add(2);";
    let wires = [
        "    group get { m.addr0 = i.out; m.content_en = 1'd1; get[done] = m.done; }\n",
        "    group put { m.addr0 = i.out; m.write_data = 8'd1; m.write_en = 1'd1; m.content_en = 1'd1; put[done] = m.done; }\n",
        "    add.left = i.out; add.right = 2'd1;\n",
        &set("next", "i", "add.out"),
    ];
    let control = "    seq { repeat 3 { seq { get; next; } } put; }";
    let text = design(cells, &wires.concat(), control);
    workshop.write("design.futil", text);
    let (code, report) = found(&workshop, &["design.futil"]);
    assert_eq!(code, 1);
    let all = report["beyond"].as_array().unwrap();
    let told: Vec<[&Value; 5]> = all
        .iter()
        .map(|of| {
            [
                &of["access"],
                &of["address"][0],
                &of["times"],
                &of["by"][0]["group"],
                &of["sizes"][0],
            ]
        })
        .collect();
    assert!(
        matches!(told[..], [[access, address, times, group, size]]
            if *access == "write" && *address == 3 && *times == 1 && *group == "put" && *size == 3),
        "{report:#}"
    );
    // The library's memories stop the design themselves, but for writes of a `seq_mem`.
    let wires = wires.concat().replace("m.content_en = 1'd1;", "");
    let control = "    seq { repeat 3 { next; } put; }";
    let cells = cells.replace("seq_mem", "comb_mem");
    workshop.write("stops.futil", design(&cells, &wires, control));
    let (_, found) = found(&workshop, &["stops.futil"]);
    tells(
        found["stopped"].as_str().unwrap(),
        &["main.m", "Out of bounds", "index: 3"],
    );
}

#[test]
fn what_undef_gives_is_told_when_it_is_taken() {
    let workshop = Workshop::empty();
    let cells = "u = undef(8); w = std_reg(8); v = std_reg(8); no = std_wire(1);";
    let wires = [
        set("get", "w", "u.out"),
        set("never", "v", "u.out"),
        set("put", "w", "8'd1"),
        "    no.in = 1'd0;\n".to_owned(),
    ];
    let control = "    seq { put; get; if no.out { never; } }";
    workshop.write("design.futil", design(cells, &wires.concat(), control));
    let (code, found) = found(&workshop, &["design.futil"]);
    assert_eq!(code, 1);
    let undefined = found["undefined"].as_array().unwrap();
    assert!(
        matches!(&undefined[..], [of] if of["cell"] == "main.u" && of["group"] == "get"),
        "{found:#}"
    );
}

#[test]
fn a_run_without_an_end_and_a_broken_rule_are_findings() {
    let workshop = Workshop::empty();
    let cells = "r = std_reg(8); never = std_reg(1);";
    let stuck = "    group stuck { r.in = 8'd1; stuck[done] = r.done; }\n";
    let text = design(
        cells,
        &[stuck, &set("put", "r", "8'd9")].concat(),
        "    seq { put; stuck; }",
    );
    workshop.write("design.futil", text);
    let (code, found) = found(&workshop, &["design.futil", "--never", "main.r.out > 8"]);
    assert_eq!(code, 1);
    tells(found["stopped"].as_str().unwrap(), &["stuck"]);
    tells(
        found["rules"][0].as_str().unwrap(),
        &["never main.r.out > 8 is broken"],
    );
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
        (
            place["artifactLocation"]["uri"].clone(),
            place["region"]["startLine"].clone(),
        )
    };
    assert_eq!(result["ruleId"], "race");
    assert_eq!(
        place(&result["locations"][0]),
        ("design.futil".into(), 15.into())
    );
    assert_eq!(
        place(&result["relatedLocations"][0]),
        ("design.futil".into(), 14.into())
    );
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == "race"));
    // An imported file of the same name, in another folder.
    std::fs::create_dir(workshop.path("sub")).unwrap();
    let inner = write_write().replace("component main", "component w");
    workshop.write("sub/design.futil", inner);
    workshop.write(
        "design.futil",
        "import \"sub/design.futil\";\ncomponent main() -> () { cells { c = w(); } wires {} control { invoke c()(); } }\n",
    );
    let output = workshop.petal(&["check", "-q", "design.futil", "--format", "sarif"]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(
        place(&result["locations"][0]),
        ("sub/design.futil".into(), 15.into())
    );
}

#[test]
fn findings_are_told_in_sentences() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", write_write());
    let output = workshop.petal(&["check", "-q", "design.futil"]);
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["error: the check found 1 race"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let expected =
        "races\n  main.r: write by five (line 15) in cycle 0, write by ten (line 14) in cycle 2:";
    tells(&told, &["1 race in ", expected]);
    workshop.write("design.futil", write_write().replace("par {", "seq {"));
    let told = workshop.succeeds(&["check", "-q", "design.futil"]);
    tells(&told, &["nothing found in "]);
}

#[test]
fn the_examples_are_clean_but_for_a_race_that_is_known() {
    for example in examples() {
        let workshop = Workshop::empty();
        let name = example.file_stem().unwrap().to_str().unwrap().to_owned();
        let (_, found) = found(&workshop, &[example.to_str().unwrap()]);
        // An arm counts the column while the other stores at it: `docs/check.md` has it.
        let known = ("main.j", ["next_column", "store"]);
        let known = (known.0.to_owned(), known.1.map(str::to_owned));
        let known: BTreeSet<_> = (name == "matmul").then_some(known).into_iter().collect();
        assert_eq!(pairs(&found), known, "{name}: {found:#}");
        for list in ["beyond", "undefined", "undriven", "unfollowed", "unknown"] {
            assert_eq!(
                found[list].as_array().map(Vec::len),
                Some(0),
                "{name}: {list}"
            );
        }
        assert_eq!(found["stopped"], Value::Null, "{name}");
    }
}
