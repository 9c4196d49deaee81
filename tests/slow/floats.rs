//! Primitives whose Verilog includes other files, laid out as Calyx's floating-point primitives and Berkeley `HardFloat` are.
//! What stands for them here is small: it doubles numbers.

use std::fs;

use serde_json::Value;

use crate::support::workshop::{Workshop, tells};

const DESIGN: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/float/twiceFN.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); twice = std_twiceFN(8); }
  wires {
    m.addr0 = 1'd0;
    group put { m.write_data = twice.out; m.write_en = 1'd1; put[done] = m.done; }
  }
  control { seq { invoke twice(left = m.read_data)(); put; } }
}
"#;
const DATA: &str = r#"{"m": {"data": [21], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}}}"#;

const PRIMITIVE: &str = r#"extern "twiceFN.sv" {
  primitive std_twiceFN[numWidth](
    @clk clk: 1, @reset reset: 1, @write_together @go go: 1, @write_together left: numWidth
  ) -> (out: numWidth, @done done: 1);
}
"#;

/// Names a module that no file is called by, and a constant that another file defines.
const WRAPPER: &str = r#"`ifndef TWICE_FN
`define TWICE_FN
`include "HardFloat_consts.vi"
`ifdef NOBODY_DEFINES_THIS
`include "nobody_has_this.vh"
`endif
module std_twiceFN #(parameter numWidth = 8) (
  input clk, input reset, input go, input [(numWidth - 1):0] left,
  output logic [(numWidth - 1):0] out, output logic done
);
  wire [(numWidth - 1):0] doubled;
  doubleRaw #(numWidth) double(.in(left), .out(doubled));
  always_ff @(posedge clk) begin
    done <= go & ~reset;
    if (go) out <= doubled;
  end
endmodule
`endif
"#;

/// The second module is broken, but nobody names it.
const MODULES: &str = r#"`include "HardFloat_specialize.vi"
module doubleRaw #(parameter width = 8) (input [(width - 1):0] in, output [(width - 1):0] out);
  wire [(width - 1):0] offset;
  specialized #(width) rest(.out(offset));
  assign out = in * `factor + offset;
endmodule
module nobodyNamesThis(output out);
  wire twice;
  wire twice;
endmodule
"#;

const SPECIALIZED: &str = "module specialized #(parameter width = 8) (output [(width - 1):0] out);
  assign out = `offset;
endmodule
";

const HARDFLOAT: &str = "library/primitives/float/HardFloat-1";
const RUN: [&str; 6] = [
    "run",
    "design.futil",
    "--out",
    "out",
    "--library",
    "library",
];

fn workshop() -> Workshop {
    let workshop = Workshop::empty();
    workshop.write("design.futil", DESIGN);
    workshop.write("design.futil.data", DATA);
    let source = format!("{HARDFLOAT}/source");
    for folder in ["RISCV", "8086-SSE"] {
        fs::create_dir_all(workshop.path(&format!("{source}/{folder}"))).unwrap();
    }
    workshop.write("library/primitives/float/twiceFN.futil", PRIMITIVE);
    workshop.write("library/primitives/float/twiceFN.sv", WRAPPER);
    for (file, text) in [
        ("HardFloat_consts.vi", "`define factor 2\n"),
        ("HardFloat_raw.v", MODULES),
        ("RISCV/HardFloat_specialize.vi", "`define offset 0\n"),
        ("RISCV/HardFloat_specialize.v", SPECIALIZED),
        ("8086-SSE/HardFloat_specialize.vi", "`define offset 1\n"),
        ("8086-SSE/HardFloat_specialize.v", SPECIALIZED),
    ] {
        workshop.write(&format!("{source}/{file}"), text);
    }
    workshop
}

fn doubled(workshop: &Workshop) -> Value {
    let memories: Value = serde_json::from_str(&workshop.read("out/memories.json")).unwrap();
    memories["m"]["data"][0].clone()
}

#[test]
fn verilog_that_includes_files_of_sub_folders_runs() {
    let workshop = workshop();
    workshop.succeeds(&RUN);
    assert_eq!(doubled(&workshop), 42);
    // The built design is kept, and is another one now.
    let constants = format!("{HARDFLOAT}/source/HardFloat_consts.vi");
    workshop.write(&constants, "`define factor 3\n");
    workshop.succeeds(&RUN);
    assert_eq!(doubled(&workshop), 63);
}

/// Includes nothing, as the wrapper of comparisons does, and names a module of `HardFloat`.
const BARE: &str = "module std_twiceFN #(parameter numWidth = 8) (
  input clk, input reset, input go, input [(numWidth - 1):0] left,
  output logic [(numWidth - 1):0] out, output logic done
);
  wire [(numWidth - 1):0] doubled;
  fNToRecFN #(numWidth) double(.in(left), .out(doubled));
  always_ff @(posedge clk) begin
    done <= go & ~reset;
    if (go) out <= doubled;
  end
endmodule
";

#[test]
fn verilog_that_includes_nothing_finds_the_modules_that_it_names() {
    let workshop = workshop();
    workshop.write("library/primitives/float/twiceFN.sv", BARE);
    workshop.write(
        &format!("{HARDFLOAT}/source/HardFloat_raw.v"),
        format!("`include \"HardFloat_consts.vi\"\n{MODULES}"),
    );
    workshop.write(
        &format!("{HARDFLOAT}/source/fNToRecFN.v"),
        "`include \"HardFloat_consts.vi\"
module fNToRecFN #(parameter width = 8) (input [(width - 1):0] in, output [(width - 1):0] out);
  assign out = in * `factor;
endmodule
",
    );
    workshop.succeeds(&RUN);
    assert_eq!(doubled(&workshop), 42);
    fs::remove_dir_all(workshop.path(HARDFLOAT)).unwrap();
    fs::remove_dir_all(workshop.path("out")).unwrap();
    let said = workshop.fails(&RUN);
    tells(&said, &["twiceFN.sv:6: `fNToRecFN`", "get_hardfloat.sh"]);
}

#[test]
fn hardfloat_may_be_in_another_library_or_missing() {
    let workshop = workshop();
    fs::create_dir_all(workshop.path("calyx/primitives/float")).unwrap();
    let elsewhere = workshop.path("calyx/primitives/float/HardFloat-1");
    fs::rename(workshop.path(HARDFLOAT), elsewhere).unwrap();
    let said = workshop.fails(&RUN);
    tells(
        &said,
        &[
            "library/primitives/float/twiceFN.sv:3: `HardFloat_consts.vi`",
            "get_hardfloat.sh",
            "~/.calyx",
        ],
    );
    workshop.succeeds(&[&RUN[..], &["--library", "calyx"]].concat());
    assert_eq!(doubled(&workshop), 42);
}

#[test]
fn floating_point_primitives_need_a_library() {
    let said = workshop().fails(&RUN[..4]);
    tells(
        &said,
        &[
            "design.futil:3: `primitives/float/twiceFN.futil`",
            "a checkout of Calyx: `--library",
        ],
    );
}
