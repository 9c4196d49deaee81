//! `petal whatif` against Verilator, and what it replays against what it simulates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use petal_embedded::TIMED;
use serde_json::Value;

use crate::support::workshop::{Workshop, example};
use crate::support::{designs, examples, root};

/// What `petal whatif` says of a multiplier of another latency is what Verilator takes with one.
#[test]
fn another_latency_is_that_of_a_primitive_in_verilog() {
    let workshop = Workshop::empty();
    let design = example("matmul.futil");
    let runs = |more: &[&str]| {
        let run = ["run", &design, "-q", "--simulator", "verilator"];
        workshop.succeeds(&[&run[..], more].concat());
        let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
        let cycles = summary["cycles"].as_i64().unwrap();
        (cycles, workshop.read("out/memories.json"))
    };
    let (before, memories) = runs(&["--out", "out"]);
    for cycles in [1, 2, 3, 7] {
        let declared = format!("@interval({cycles})");
        let library = format!(
            r#"extern "binary_operators.sv" {{
  primitive std_mult_pipe<"state_share"=1>[WIDTH](
    @clk clk: 1, @reset reset: 1, @write_together(1) {declared} @go go: 1,
    @write_together(1) @data left: WIDTH, @write_together(1) @data right: WIDTH
  ) -> (@stable out: WIDTH, @done done: 1);
}}
"#
        );
        let verilog = format!(
            r"module std_mult_pipe #(parameter WIDTH = 32) (
  input logic clk, input logic reset, input logic go,
  input logic [WIDTH-1:0] left, input logic [WIDTH-1:0] right,
  output logic [WIDTH-1:0] out, output logic done
);
  logic [7:0] waited;
  always_ff @(posedge clk) begin
    done <= 0;
    if (reset | !go) waited <= 0;
    else if (waited == {cycles} - 1) begin
      waited <= 0;
      done <= 1;
      out <= left * right;
    end else waited <= waited + 1;
  end
endmodule
"
        );
        let folder = format!("latency-{cycles}");
        fs::create_dir_all(workshop.path(&format!("{folder}/primitives"))).unwrap();
        workshop.write(
            &format!("{folder}/primitives/binary_operators.futil"),
            library,
        );
        workshop.write(&format!("{folder}/primitives/binary_operators.sv"), verilog);
        let (after, others) = runs(&["--out", "out", "-l", &folder]);
        assert_eq!(others, memories, "{cycles}");
        let asked = format!("std_mult_pipe={cycles}");
        let told = [
            "whatif", &design, "-q", "--out", "asked", "--format", "json",
        ];
        let told = workshop.succeeds(&[&told[..], &["--primitive", &asked]].concat());
        let answer: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(answer["answers"][0]["saves"], before - after, "{cycles}");
        // And what a replay says of a group that takes as long as it takes then.
        let groups = workshop.succeeds(&["stats", "out", "groups", "--format", "json"]);
        let groups: Value = serde_json::from_str(&groups).unwrap();
        let mut groups = groups.as_array().unwrap().iter();
        let group = groups.find(|row| row["group"] == "multiply").unwrap();
        assert_eq!(group["min"], group["max"]);
        let asked = format!("main.multiply={}", group["max"]);
        let told = [
            "whatif", &design, "-q", "--out", "asked", "--format", "json",
        ];
        let told = workshop.succeeds(&[&told[..], &["--cycles", &asked]].concat());
        let answer: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(answer["answers"][0]["saves"], before - after, "{cycles}");
    }
}

/// How often a replay was right.
#[derive(Default)]
struct Held {
    designs: BTreeSet<String>,
    asked: u64,
    same: u64,
    between: u64,
}

impl Held {
    fn add(&mut self, design: &str, replayed: &Value, simulated: &Value) {
        self.designs.insert(design.to_owned());
        self.asked += 1;
        if replayed["saves"].is_null() {
            let [least, most] = ["at least", "at most"].map(|key| replayed[key].as_i64().unwrap());
            let simulated = simulated.as_i64().unwrap();
            assert!(
                (least..=most).contains(&simulated),
                "{design}: {simulated}, {replayed}"
            );
            self.between += 1;
        } else {
            assert_eq!(replayed["saves"], *simulated, "{design}: {replayed}");
            self.same += 1;
        }
    }

    /// A row of the table in the documentation.
    fn row(&self, question: &str) -> String {
        let Self {
            designs,
            asked,
            same,
            between,
        } = self;
        let designs = designs.len();
        format!("| {question} | {designs} | {asked} | {same} | {between} |")
    }
}

/// The groups of the source that multipliers or dividers of another latency make take another number of cycles, always the same: what to ask
/// of a replay. `None` if they do not always take the same.
fn changed(workshop: &Workshop) -> Option<Vec<String>> {
    let groups = |dir: &str| {
        let told = workshop.succeeds(&["stats", dir, "groups", "--format", "json"]);
        let rows: Vec<Value> = serde_json::from_str(&told).unwrap();
        let rows = rows.into_iter().map(|row| {
            let name = |key: &str| row[key].as_str().unwrap().to_owned();
            (format!("{}.{}", name("component"), name("group")), row)
        });
        // What an `invoke` takes, the groups of the cell tell.
        let of_source =
            rows.filter(|(name, row)| row["origin"] == "source" && !name.contains("invoke"));
        of_source.collect::<BTreeMap<String, Value>>()
    };
    let after = groups("after");
    let mut asked = Vec::new();
    for (name, before) in groups("before") {
        let after = &after[&name];
        if before["total cycles"] != after["total cycles"] {
            if [&before, after].iter().any(|row| row["min"] != row["max"]) {
                return None;
            }
            asked.extend(["--cycles".to_owned(), format!("{name}={}", after["min"])]);
        }
    }
    Some(asked)
}

/// What replays say of groups that take longer or shorter is what a simulation with such primitives takes, and what they say of conditions is
/// around it. The table is in the documentation.
#[test]
fn replays_are_held_against_simulations() {
    let [mut groups, mut conditions] = [Held::default(), Held::default()];
    for design in examples().into_iter().chain(designs("tests/corpus")) {
        let text = fs::read_to_string(&design).unwrap();
        let path = design.to_str().unwrap();
        // Groups that the compiler splits are not told from cells.
        let ask = |workshop: &Workshop, out: &str, more: &[&str]| {
            let args = ["whatif", path, "-q", "--format", "json", "--out", out];
            let output = workshop.petal(&[&args[..], &["-d", "group2seq"], more].concat());
            let found: Option<Value> = serde_json::from_slice(&output.stdout).ok();
            found.map(|found| found["answers"].clone())
        };
        for primitive in TIMED.iter().filter(|name| text.contains(**name)) {
            for cycles in [1, 4, 9] {
                let workshop = Workshop::empty();
                let primitive = format!("{primitive}={cycles}");
                let more = ["--primitive", &primitive, "--profile", "after"];
                let Some(simulated) = ask(&workshop, "before", &more) else {
                    continue;
                };
                let simulated = &simulated[0]["saves"];
                let asked = changed(&workshop).filter(|_| !simulated.is_null());
                let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
                    continue;
                };
                let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
                let replayed = ask(&workshop, "before", &asked).unwrap();
                groups.add(path, &replayed[0], simulated);
            }
        }
        if path.contains("packet-scheduler") {
            continue;
        }
        let workshop = Workshop::empty();
        let all = ask(&workshop, "all", &["--budget", "2m"]);
        for answer in all.iter().flat_map(|all| all.as_array().unwrap()) {
            let what = answer["what if"].as_str().unwrap();
            let statement = what.strip_prefix("no condition of ");
            if let Some(statement) = statement.filter(|_| answer["how"] == "simulated") {
                let replayed = ask(&workshop, "one", &["--condition", statement]).unwrap();
                conditions.add(path, &replayed[0], &answer["saves"]);
            }
        }
    }
    let documented = fs::read_to_string(root().join("docs/whatif.md")).unwrap();
    for row in [
        groups.row("a group takes another number of cycles"),
        conditions.row("a condition takes no cycle"),
    ] {
        assert!(documented.contains(&row), "{row}");
    }
}
