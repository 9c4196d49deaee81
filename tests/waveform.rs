//! However a waveform is written and read, the trace is the same.

mod support;

use std::io::{BufReader, Read};
use std::process::Command;

use petal_metadata::Metadata;
use petal_reconstruct::{Ahead, Event, Reconstruction, VcdSource};
use petal_simulate::{Optimisation, Trace};

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

    std::fs::write(dir.path().join("design.sv"), compiled.verilog().unwrap()).unwrap();
    std::fs::write(dir.path().join("testbench.sv"), TESTBENCH).unwrap();
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program)
            .args(args)
            .current_dir(dir.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} said:\n{said}");
    };
    let quick = ["--binary", "--trace", "-Wno-fatal", "-CFLAGS", "-O0"];
    let files = ["--top-module", "toplevel", "testbench.sv", "design.sv"];
    run("verilator", &[&quick[..], &files].concat());
    run("obj_dir/Vtoplevel", &[]);
    let vcd = std::fs::File::open(dir.path().join("wave.vcd")).unwrap();
    assert_eq!(read(&metadata, vcd, 1 << 16), expected);
}

/// A part of the values of a waveform.
fn changed_lines(vcd: &str) -> Vec<(usize, &str)> {
    let body = vcd.find("#0\n").expect("the body begins at time 0");
    let lines = vcd[body..].match_indices('\n');
    let lines = lines.map(|(at, _)| body + at + 1);
    lines
        .filter_map(|at| Some((at, vcd[at..].lines().next()?)))
        .filter(|(_, line)| line.starts_with(['0', '1', 'b']))
        .collect()
}

/// What reconstruction makes of a waveform: its trees, and whether it tells that something is wrong.
fn made_of(metadata: &Metadata, vcd: &str) -> (Vec<Event>, bool) {
    let reconstruction = Reconstruction::new(metadata);
    let mut events = Vec::new();
    let mut read = || {
        let mut source = VcdSource::new(vcd.as_bytes(), reconstruction.signals()).ok()?;
        let sink = &mut |event| {
            events.push(event);
            Ok::<_, std::convert::Infallible>(())
        };
        reconstruction.run(&mut source, sink).ok()
    };
    let failed = read().is_none_or(|cycles| cycles == 0);
    let told = events
        .iter()
        .any(|event| matches!(event, Event::Warning(_)));
    events.retain(|event| matches!(event, Event::Tree(_) | Event::Run(_) | Event::End { .. }));
    (events, failed || told)
}

#[test]
fn waveforms_that_contradict_themselves_are_told() {
    let design = support::root().join("calyx-examples/switch-case-par.futil");
    let dir = tempfile::tempdir().unwrap();
    let vcd = dir.path().join("wave.vcd");
    let output = Command::new(env!("CARGO_BIN_EXE_petal"))
        .args(["run", "-q", "--vcd", "wave.vcd", "--out", "out"])
        .arg(&design)
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success());
    let metadata = Metadata::read(&dir.path().join("out/metadata.json")).unwrap();
    let vcd = std::fs::read_to_string(vcd).unwrap();
    let (right, told) = made_of(&metadata, &vcd);
    assert!(!told, "the waveform is right");

    let lines = changed_lines(&vcd);
    let count = |change: &dyn Fn(&str) -> Option<String>| {
        let [mut tried, mut silent] = [0, 0];
        for (at, line) in &lines {
            let Some(changed) = change(line) else {
                continue;
            };
            let changed = format!("{}{changed}{}", &vcd[..*at], &vcd[at + line.len()..]);
            let (made, told) = made_of(&metadata, &changed);
            tried += 1;
            if made != right && !told {
                silent += 1;
                println!("silent: {line} at byte {at}");
            }
        }
        (tried, silent)
    };
    let (deleted, silent) = count(&|_| Some(String::new()));
    println!("deleted: {silent} of {deleted} are silent");
    assert!(
        100 * silent <= 3 * deleted,
        "{silent} of {deleted} deleted lines"
    );
    let (flipped, silent) = count(&|line| match line.split_at(1) {
        ("0", code) => Some(format!("1{code}")),
        ("1", code) => Some(format!("0{code}")),
        _ => None,
    });
    println!("flipped: {silent} of {flipped} are silent");
    assert!(
        100 * silent <= 3 * flipped,
        "{silent} of {flipped} flipped lines"
    );
}
