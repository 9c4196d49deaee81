//! However a waveform is written and read, the trace is the same.

use std::io::{BufReader, Read};
use std::process::Command;

use petal_metadata::Metadata;
use petal_reconstruct::{Ahead, Event, Reconstruction, VcdSource};
use petal_verilator::{Optimisation, Trace};

use crate::support;
use crate::support::workshop::succeeds;

fn read(metadata: &Metadata, waveform: impl Read, capacity: usize) -> Vec<Event> {
    let reader = BufReader::with_capacity(capacity, waveform);
    let reconstruction = Reconstruction::new(metadata);
    let mut source =
        VcdSource::new(reader, reconstruction.signals()).unwrap_or_else(|error| panic!("{error}"));
    support::events(&reconstruction, &mut source, &"the waveform")
}

#[test]
fn all_ways_to_read_a_waveform_agree() {
    let design = support::root().join("calyx-examples/nested-components.futil");
    let (compiled, metadata) = support::instrument(&design, "no-opt");
    let simulated = support::simulate(&design, &compiled, Trace::Vcd, Optimisation::Debug);
    let vcd = std::fs::read_to_string(simulated.vcd.as_deref().expect("it was traced"))
        .expect("the waveform is text");
    let expected = read(&metadata, vcd.as_bytes(), 1 << 20);

    // Lines that are cut anywhere.
    for capacity in [1, 2, 3, 5, 7, 16, 61, 1000] {
        assert!(
            read(&metadata, vcd.as_bytes(), capacity) == expected,
            "read {capacity} bytes at a time"
        );
    }
    // From a line of another form on, the body is read by the `vcd` crate.
    let body = vcd.find("#0\n").expect("the body begins at time 0");
    let lines: Vec<usize> = vcd[body..]
        .match_indices('\n')
        .map(|(at, _)| body + at + 1)
        .collect();
    for part in 0..20 {
        let at = lines[part * (lines.len() - 1) / 19];
        let commented = format!("{}$comment halt $end\n{}", &vcd[..at], &vcd[at..]);
        for capacity in [7, 1 << 16] {
            assert!(
                read(&metadata, commented.as_bytes(), capacity) == expected,
                "a comment at byte {at}"
            );
        }
    }
    let windows = vcd.replace('\n', "\r\n");
    assert!(
        read(&metadata, windows.as_bytes(), 1 << 16) == expected,
        "line ends of another system"
    );
    // On a thread of its own.
    let reconstruction = Reconstruction::new(&metadata);
    let reader = std::io::Cursor::new(vcd.clone().into_bytes());
    let source =
        VcdSource::new(reader, reconstruction.signals()).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        support::events(&reconstruction, &mut Ahead::new(source), &"the waveform") == expected,
        "ahead"
    );
}

/// A testbench as some write it: `go` is a constant.
const TESTBENCH: &str = r#"
module toplevel;
  logic clk = 0, reset = 1, done;
  main main(.go(1'b1), .clk(clk), .reset(reset), .done(done));
  always #5 clk = ~clk;
  initial begin
    $dumpfile("wave.vcd");
    $dumpvars;
    repeat (3) @(negedge clk);
    reset = 0;
    wait (done);
    repeat (2) @(posedge clk);
    $finish;
  end
endmodule
"#;

#[test]
fn a_run_begins_after_the_reset() {
    let dir = tempfile::tempdir().unwrap();
    let design = dir.path().join("design.futil");
    let text = r#"import "primitives/core.futil";
        component main() -> () {
          cells { x = std_reg(8); y = std_reg(8); lt = std_lt(8); add = std_add(8); }
          wires {
            group put { x.in = 8'd1; x.write_en = 1'd1; put[done] = x.done; }
            group incr { add.left = y.out; add.right = 8'd1; y.in = add.out; y.write_en = 1'd1; incr[done] = y.done; }
            comb group less { lt.left = y.out; lt.right = 8'd3; }
          }
          control { seq { while lt.out with less { incr; } par { put; incr; } } }
        }"#;
    std::fs::write(&design, text).unwrap();
    let (compiled, metadata) = support::instrument(&design, "no-opt");
    let (_, expected) = support::embedded(&design, &compiled, &metadata);
    let expected = expected.events;

    std::fs::write(dir.path().join("design.sv"), compiled.verilog().unwrap()).unwrap();
    std::fs::write(dir.path().join("testbench.sv"), TESTBENCH).unwrap();
    let run = |program: &str, args: &[&str]| {
        succeeds(Command::new(program).args(args).current_dir(dir.path()));
    };
    // A wheel for Python does not ask for the coroutines that it needs.
    let flags = "-O0 -std=c++20";
    let quick = ["--binary", "--trace", "-Wno-fatal", "-CFLAGS", flags];
    let files = ["--top-module", "toplevel", "testbench.sv", "design.sv"];
    run("verilator", &[&quick[..], &files].concat());
    run("obj_dir/Vtoplevel", &[]);
    let vcd = std::fs::File::open(dir.path().join("wave.vcd")).unwrap();
    assert_eq!(read(&metadata, vcd, 1 << 16), expected);
}
