//! The two simulators give the same profiles, and stop at the same places.

use std::path::Path;

use crate::support::simulators::{
    a_cut_waveform_is_told, design_with_verilog, designs_that_stop, names_are_only_names,
};
use crate::support::workshop::{DESIGN, OF_THE_TRACE, Workshop, example, tells};

const RUN: [&str; 4] = ["run", "design.futil", "--out", "out"];

#[test]
fn both_simulators_give_the_same() {
    let workshop = Workshop::empty();
    let design = example("while-par.futil");
    for simulator in ["embedded", "verilator"] {
        let run = ["run", &design, "--simulator", simulator, "--out", simulator];
        workshop.succeeds(&[&run[..], &["--vcd", "wave.vcd", "-q"]].concat());
    }
    // From Verilator's waveform.
    let reconstruct = ["reconstruct", "embedded/metadata.json", "wave.vcd"];
    workshop.succeeds(&[&reconstruct[..], &["--out", "pieces", "-q"]].concat());
    let embedded = workshop.files("embedded");
    for other in ["verilator", "pieces"] {
        let files = workshop.files(other);
        for name in OF_THE_TRACE {
            assert!(
                embedded[Path::new(name)] == files[Path::new(name)],
                "{name} of {other} differs"
            );
        }
        let events = workshop.events(other);
        assert!(workshop.events("embedded") == events, "{other}");
    }
}

#[test]
fn both_simulators_stop_at_the_same_place() {
    let workshop = Workshop::new();
    for (design, data, part) in designs_that_stop() {
        workshop.write("design.futil", design);
        workshop.write("design.futil.data", data);
        let places = ["embedded", "verilator"].map(|simulator| {
            let said = workshop.fails(&[&RUN[..], &["--simulator", simulator]].concat());
            tells(&said, &["stopped itself", part]);
            let error = said.lines().find(|line| line.starts_with("error"));
            error.unwrap_or_else(|| panic!("{said}")).to_owned()
        });
        assert_eq!(places[0], places[1]);
    }
    let workshop = Workshop::endless();
    let limited = [&RUN[..], &["--cycle-limit", "100"]].concat();
    let profiles = ["embedded", "verilator"].map(|simulator| {
        let said = workshop.ends(1, &[&limited[..], &["--simulator", simulator]].concat());
        tells(&said, &["after 100 cycles", "active in cycle 99"]);
        (
            said,
            OF_THE_TRACE.map(|name| workshop.files("out")[Path::new(name)].clone()),
            workshop.events("out"),
            workshop.read("out/memories.json"),
        )
    });
    assert!(profiles[0] == profiles[1], "{profiles:?}");
}

#[test]
fn a_cut_waveform_of_verilator_is_told() {
    a_cut_waveform_is_told("verilator");
}

#[test]
fn names_of_files_are_only_names() {
    names_are_only_names("verilator");
}

#[test]
fn verilog_of_the_design_runs_in_verilator() {
    let workshop = Workshop::new();
    workshop.write("design.futil", design_with_verilog());
    let summary = workshop.succeeds(&["run", "design.futil", "--out", "fine", "--json"]);
    assert!(summary.contains("\"verilator\""), "{summary}");
}

#[test]
fn verilog_that_verilator_refuses() {
    let workshop = Workshop::new();
    let broken = "primitive broken(in: 8) -> (out: 8) { assign out = in +; }\n";
    let design = DESIGN
        .replace("component main", &format!("{broken}component main"))
        .replace(
            "mem = comb_mem_d1(8, 2, 1);",
            "mem = comb_mem_d1(8, 2, 1); b = broken();",
        )
        .replace(
            "mem.write_data = 8'd5;",
            "b.in = 8'd5; mem.write_data = b.out;",
        );
    workshop.write("design.futil", design);
    let said = workshop.fails(&RUN);
    tells(&said, &["syntax error", "verilator.log"]);
    assert!(
        workshop.path("out/verilator.log").is_file(),
        "the log is kept"
    );
}

#[test]
fn a_latency_that_is_not_so_is_told() {
    let workshop = Workshop::empty();
    workshop.write("slow.futil", SLOW);
    workshop.write("design.futil", MULTIPLIES);
    let format = r#"{"numeric_type": "bitnum", "is_signed": false, "width": 32}"#;
    let data = format!(r#"{{"m": {{"data": [1, 2, 3, 4], "format": {format}}}}}"#);
    workshop.write("design.futil.data", data);
    let run = |cycles: u32| {
        let verilog = SLOW_VERILOG.replace("CYCLES", &cycles.to_string());
        workshop.write("slow.sv", verilog);
        let said = workshop.ends(0, &RUN);
        let memories: serde_json::Value =
            serde_json::from_str(&workshop.read("out/memories.json")).unwrap();
        let is_right = memories["m"]["data"] == serde_json::json!([3, 6, 9, 12]);
        (is_right, said.contains("main.mul was not done in time 4x"))
    };
    assert_eq!(run(2), (true, false));
    assert_eq!(run(3), (false, true));
    assert_eq!(run(7), (false, true));
}

const SLOW: &str = r#"extern "slow.sv" {
  primitive slow_mult[WIDTH](
    @clk clk: 1, @reset reset: 1, @interval(2) @go go: 1, left: WIDTH, right: WIDTH
  ) -> (@stable out: WIDTH, @done done: 1);
}
"#;

const SLOW_VERILOG: &str = "module slow_mult #(parameter WIDTH = 32) (
  input wire clk, input wire reset, input wire go,
  input wire [WIDTH-1:0] left, input wire [WIDTH-1:0] right,
  output logic [WIDTH-1:0] out, output logic done
);
  logic [3:0] count;
  always_ff @(posedge clk) begin
    done <= ~reset & go & ~done & (count == CYCLES - 1);
    count <= (reset | ~go | done) ? 0 : count + 1;
    if (go & ~done & (count == CYCLES - 1)) out <= left * right;
  end
endmodule
";

const MULTIPLIES: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "slow.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(32, 4, 2); mul = slow_mult(32); i = std_reg(2); add = std_add(2);
  }
  wires {
    m.addr0 = i.out; mul.left = m.read_data; mul.right = 32'd3;
    static<2> group multiply { mul.go = 1'd1; }
    static<1> group store { m.write_data = mul.out; m.write_en = 1'd1; }
    static<1> group next { add.left = i.out; add.right = 2'd1; i.in = add.out; i.write_en = 1'd1; }
  }
  control { static repeat 4 { static seq { multiply; store; next; } } }
}
"#;
