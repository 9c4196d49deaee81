//! The variables of a front end: its tables, what registers and memories hold of them, and what shows it.

mod random;
mod tables;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::support::workshop::{Workshop, tells};

/// A program in some language, and the Calyx program that its front end made of it, with all tables.
pub(crate) const SOURCE: &str = include_str!("variables/count.adl");
pub(crate) const DESIGN: &str = include_str!("variables/count.futil");

/// A workshop with both.
fn workshop() -> Workshop {
    let workshop = Workshop::empty();
    workshop.write("count.adl", SOURCE);
    workshop.write("count.futil", DESIGN);
    workshop
}

/// The values of a profile's variables by their names, each with the first cycle that has it.
fn values(workshop: &Workshop, profile: &str) -> BTreeMap<String, Vec<(u64, Option<String>)>> {
    let text = workshop.read(&format!("{profile}/observations.json"));
    let results: Json = serde_json::from_str(&text).unwrap();
    let list = results["variables"]["list"].as_array().unwrap();
    let of = |of: &Json| {
        let values = serde_json::from_value(of["values"].clone()).unwrap();
        (of["name"].as_str().unwrap().to_owned(), values)
    };
    list.iter().map(of).collect()
}

/// The values that a variable has one after the other, without the cycles in which it has none.
fn sequence(values: &[(u64, Option<String>)]) -> Vec<&str> {
    let mut sequence: Vec<&str> = values.iter().filter_map(|(_, of)| of.as_deref()).collect();
    sequence.dedup();
    sequence
}

/// What the program does, worked out here, for each variable.
fn model() -> BTreeMap<&'static str, Vec<String>> {
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    // Registers are 0 before they are written.
    let mut set = |name, value: String| {
        let values = all.entry(name).or_default();
        if values.last() != Some(&value) {
            values.push(value);
        }
    };
    let point = |x: u8, y: i8| format!("{{ x: {x}, y: {y} }}");
    let (mut a, mut n, mut out) = (3_u8, -2_i8, [0_u8; 4]);
    for (name, before) in [
        ("a", "0"),
        ("n", "0"),
        ("flag", "false"),
        ("bits", "0b0000"),
    ] {
        set(name, before.to_owned());
    }
    set("p", point(0, 0));
    set("a", a.to_string());
    set("n", n.to_string());
    set("flag", "true".to_owned());
    set("bits", "0b1010".to_owned());
    set("p", point(5, -1));
    while a < 6 {
        a += 1;
        n -= 1;
        set("a", a.to_string());
        set("n", n.to_string());
    }
    let b = a + a;
    set("b", "0".to_owned());
    set("b", b.to_string());
    let list = |out: [u8; 4]| format!("{out:?}");
    set("out", list(out));
    set("last", "0".to_owned());
    for (at, value) in [(2, b), (1, n.cast_unsigned()), (0, 5 + (15 << 4))] {
        out[at] = value;
        set("out", list(out));
        set("last", out[2].to_string());
    }
    all
}

#[test]
fn values_are_those_of_the_program() {
    let workshop = workshop();
    let model = model();
    for passes in ["all", "no-opt"] {
        workshop.succeeds(&[
            "run",
            "count.futil",
            "--passes",
            passes,
            "-q",
            "--out",
            "out",
        ]);
        let values = values(&workshop, "out");
        let names: Vec<&str> = values.keys().map(String::as_str).collect();
        assert_eq!(names, model.keys().copied().collect::<Vec<_>>(), "{passes}");
        for (name, values) in &values {
            let mut expected = model[name.as_str()].clone();
            // Before it is at a place where it holds, nothing is shown of a variable.
            let seen = sequence(values);
            let from = expected.iter().position(|of| of == seen[0]).unwrap();
            assert!(from < 2, "{passes}: {name} begins with {}", seen[0]);
            expected.drain(..from);
            assert_eq!(seen, expected, "{passes}: {name}");
        }
        // The memory in the end is what the variable was last.
        let memories: Json = serde_json::from_str(&workshop.read("out/memories.json")).unwrap();
        let words: Vec<u64> = serde_json::from_value(memories["out"]["data"].clone()).unwrap();
        assert_eq!(
            sequence(&values["out"]).last(),
            Some(&&*format!("{words:?}"))
        );
    }
}

#[test]
fn a_watched_variable_is_found_by_its_name_and_shown_as_its_type() {
    let workshop = workshop();
    let said = workshop.succeeds(&[
        "run",
        "count.futil",
        "--watch",
        "n",
        "--watch",
        "p",
        "--watch",
        "flag",
        "--out",
        "out",
    ]);
    tells(&said, &["variables: ", "i8", "-5", "main.rn"]);
    let table = workshop.read("out/observations/variables.csv");
    tells(
        &table,
        &[
            "variable,type,held in,cycle,value\n",
            ",-5\n",
            "p,\"{ x: u4, y: i4 }\",main.rp,",
            "{ x: 5, y: -1 }",
            ",true\n",
        ],
    );
    // What has that name in the Calyx program is meant first.
    let renamed = DESIGN.replace("n: ty i8", "\"main.rn.out\": ty i8");
    workshop.write("renamed.futil", renamed);
    let said = workshop.succeeds(&["run", "renamed.futil", "--watch", "main.rn.out"]);
    tells(&said, &["changes: "]);
    let said = workshop.ends(1, &["run", "count.futil", "--watch", "m"]);
    tells(&said, &["paths begin with `main`"]);
    // What can't be seen is not watched.
    workshop.write("gone.futil", DESIGN.replace("1: main.rn", "1: main.gone"));
    let said = workshop.ends(1, &["run", "gone.futil", "--watch", "n"]);
    tells(&said, &["`n` can't be seen", "no `main.gone`"]);
}

#[test]
fn a_design_without_tables_has_no_variables() {
    let workshop = workshop();
    let tables = DESIGN.find("MEMORY_LOCATIONS").unwrap();
    workshop.write("plain.futil", format!("{}}}#\n", &DESIGN[..tables]));
    workshop.succeeds(&["run", "plain.futil", "-q", "--out", "out"]);
    assert!(!workshop.path("out/observations.json").exists());
    assert!(!workshop.read("out/metadata.json").contains("variable_sets"));
    let report = workshop.read("out/report.html");
    assert!(!report.contains("showVariables"), "its script is left out");
    workshop.succeeds(&["run", "count.futil", "-q", "--out", "out"]);
    assert!(workshop.read("out/report.html").contains("showVariables"));
}

#[test]
fn values_of_too_many_variables_are_left_out_and_those_of_one_are_not() {
    let workshop = workshop();
    let many = (0..1000).map(|at| format!(" v{at}: ty u8, packed 0"));
    let many = many.collect::<Vec<_>>().concat();
    let state = "0: { a: ty u8, packed 0";
    assert!(DESIGN.contains(state));
    let design = DESIGN.replace(state, &format!("{state}{many}"));
    workshop.write("many.futil", design);
    workshop.succeeds(&["run", "many.futil", "-q", "--out", "out"]);
    let results: Json = serde_json::from_str(&workshop.read("out/observations.json")).unwrap();
    let told = results["variables"]["left_out"].as_str().unwrap();
    tells(
        told,
        &["values are recorded of 1000 at most", "--watch NAME"],
    );
    assert_eq!(results["variables"]["list"], Json::Array(vec![]));
    workshop.succeeds(&["run", "many.futil", "-q", "--watch", "b", "--out", "out"]);
    let values = values(&workshop, "out");
    assert_eq!(sequence(&values["b"]), ["0", "12"]);
}

/// Counts to 30,000 with two variables in one register.
const LONG: &str = r#"import "primitives/core.futil";
component main<"pos"={0}>() -> () {
  cells {
    r = std_reg(16);
    lt = std_lt(16);
    add = std_add(16);
  }
  wires {
    comb group less { lt.left = r.out; lt.right = 16'd30000; }
    group inc { add.left = r.out; add.right = 16'd1; r.in = add.out; r.write_en = 1'd1; inc[done] = r.done; }
  }
  control { @pos{0} while lt.out with less { @pos{0} inc; } }
}
sourceinfo #{
FILES
  0: count.adl
POSITIONS
  0: 0 1
MEMORY_LOCATIONS
  0: main.r
VARIABLE_ASSIGNMENTS
  0: { one: ty u16, packed 0 other: ty u16, packed 0 }
POSITION_STATE_MAP
  0: 0
TYPES
}#
"#;

#[test]
fn values_end_where_there_are_too_many_and_say_so() {
    let workshop = workshop();
    workshop.write("long.futil", LONG);
    workshop.succeeds(&["run", "long.futil", "-q", "--out", "out"]);
    let results: Json = serde_json::from_str(&workshop.read("out/observations.json")).unwrap();
    let until = results["variables"]["until"].as_u64().unwrap();
    let values = values(&workshop, "out");
    assert_eq!(values.values().map(Vec::len).sum::<usize>(), 50_000);
    for values in values.values() {
        for (at, (cycle, value)) in values.iter().enumerate() {
            assert_eq!(value.as_deref(), Some(&*at.to_string()));
            assert!(*cycle <= until);
        }
    }
    tells(&workshop.read("out/report.html"), &["\"until\""]);
}

#[test]
fn a_trace_as_json_has_lines_and_what_holds_variables() {
    let workshop = workshop();
    workshop.succeeds(&["run", "count.futil", "-q", "--out", "out"]);
    let text = workshop.succeeds(&["trace", "out"]);
    let mut nodes = 0;
    let mut shown = Vec::new();
    for line in workshop.succeeds(&["trace", "out", "--json"]).lines() {
        let cycles: Json = serde_json::from_str(line).unwrap();
        for node in cycles["tree"].as_array().unwrap() {
            let list = |key: &str| {
                let list = node[key].as_array().cloned().unwrap_or_default();
                let texts: Vec<_> = list
                    .iter()
                    .map(|of| of.as_str().unwrap().to_owned())
                    .collect();
                texts.join(", ")
            };
            let mut line = node["label"].as_str().unwrap().to_owned();
            let (holds, lines) = (list("holds"), list("lines"));
            if !holds.is_empty() {
                nodes += 1;
                line += " holds ";
                line += &holds;
            }
            if !lines.is_empty() {
                line += " {";
                line += &lines;
                line += "}";
            }
            shown.push(line);
        }
    }
    assert!(nodes > 5, "some primitives hold variables");
    let lines = text.lines().filter(|line| line.starts_with(' '));
    let lines = lines.map(|line| line.split("  <- ").next().unwrap().trim());
    assert_eq!(shown, lines.collect::<Vec<_>>());
}
