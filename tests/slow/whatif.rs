//! `petal whatif` against Verilator.

use std::fs;

use serde_json::Value;

use crate::support::workshop::{Workshop, example};

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
