//! Builds and runs small designs in the real Verilator.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use expect_test::{Expect, expect};
use petal_data::{Data, MemoryLayout};
use petal_verilator::{
    BuildOptions, BuildStage, Error, Executable, Optimisation, RunOptions, RunOutcome, TopModule,
    Trace, Verilator,
};
use tempfile::TempDir;

/// The cache folder of the whole workspace's tests.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/petal")
}

fn designs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/designs")
}

fn options() -> BuildOptions {
    BuildOptions {
        optimisation: Optimisation::Debug,
        ..BuildOptions::default()
    }
}

fn build_text(verilog: &str, options: &BuildOptions) -> (TempDir, Result<Executable, Error>) {
    let dir = TempDir::new().unwrap();
    let design = dir.path().join("design.sv");
    fs::write(&design, verilog).unwrap();
    let built =
        Verilator::find(None)
            .unwrap()
            .build(&design, &dir.path().join("out"), &cache(), options);
    (dir, built)
}

/// The counter design, built once for all tests, in a folder whose name has a space.
fn counter() -> &'static Executable {
    static BUILT: OnceLock<Executable> = OnceLock::new();
    BUILT.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulate counter");
        Verilator::find(None)
            .unwrap()
            .build(&designs().join("counter.sv"), &out, &cache(), &options())
            .unwrap()
    })
}

fn layouts() -> [MemoryLayout; 2] {
    [
        MemoryLayout {
            name: "limit".to_owned(),
            width: 16,
            dims: vec![2],
        },
        MemoryLayout {
            name: "grid".to_owned(),
            width: 100,
            dims: vec![2, 3],
        },
    ]
}

struct Run {
    dir: TempDir,
    data: Data,
    result: Result<RunOutcome, Error>,
}

impl Run {
    /// Runs the counter for `cycles`, doing what `action` says on the way.
    fn counter(cycles: u64, action: u32, cycle_limit: u64) -> Self {
        let dir = TempDir::new().unwrap();
        let text = format!(
            r#"{{
                "limit": {{"data": [{cycles}, {action}],
                    "format": {{"numeric_type": "bitnum", "is_signed": false, "width": 16}}}},
                "grid": {{"data": [[1, -2, 3], [4, 0.5, 316912650057057350374175801343.5]],
                    "format": {{"numeric_type": "fixed_point", "is_signed": true, "width": 100, "int_width": 99}}}}
            }}"#
        );
        let mut data = Data::parse(&text, Path::new("counter.json")).unwrap();
        data.check(&layouts()).unwrap();
        data.write_dat(dir.path()).unwrap();
        let options = RunOptions {
            data_dir: dir.path().to_owned(),
            vcd: Some(dir.path().join("trace.vcd")),
            cycle_limit,
        };
        let result = counter().run(&options, &mut |_| {});
        Self { dir, data, result }
    }

    fn error(self) -> Error {
        self.result.unwrap_err()
    }
}

#[test]
fn a_run_counts_cycles_until_done_and_leaves_the_memories() {
    for cycles in [1, 2, 9, 1000] {
        let run = Run::counter(cycles, 0, 1000);
        let outcome = run.result.unwrap();
        assert_eq!(
            outcome,
            RunOutcome {
                cycles,
                is_done: true,
                output: String::new()
            }
        );
        let after = run.data.read_out(run.dir.path()).unwrap();
        assert_eq!(after.memories()[0], run.data.memories()[0]);
        let json = after.to_json();
        assert!(
            json.contains("[-2, 3, 1],\n      [0.5, 316912650057057350374175801343.5, 4]"),
            "{json}"
        );
    }
}

#[test]
fn a_design_that_is_done_at_once_takes_no_cycle() {
    let run = Run::counter(0, 0, 0);
    assert_eq!(run.result.unwrap().cycles, 0);
    assert_eq!(run.data.read_out(run.dir.path()).unwrap(), run.data);
}

#[test]
fn what_the_design_prints_comes_back() {
    let outcome = Run::counter(9, 3, 1000).result.unwrap();
    expect![[r"
        hello from cycle 3
    "]]
    .assert_eq(&outcome.output);
}

#[test]
fn the_cycle_limit_ends_a_run() {
    for (limit, is_done) in [(20, true), (19, false)] {
        let run = Run::counter(20, 0, limit);
        let outcome = run.result.unwrap();
        assert_eq!((outcome.cycles, outcome.is_done), (limit, is_done));
        // The memories are those of the end.
        run.data.read_out(run.dir.path()).unwrap();
    }
}

#[test]
fn checks_in_the_design_stop_the_run_with_their_message() {
    let check = |action, expected: Expect| {
        let run = Run::counter(9, action, 1000);
        let folder = designs();
        let text = run.error().to_string();
        expected.assert_eq(&text.replace(&format!("{}/", folder.display()), ""));
    };
    check(
        1,
        expect![[r"
            the design stopped itself in cycle 3:
            [55] %Error: counter.sv:66: Assertion failed in TOP.toplevel.main: Multiple assignment to port `r.in'."]],
    );
    check(
        2,
        expect![[r"
            the design stopped itself in cycle 4:
            - counter.sv:57: Verilog $finish"]],
    );
    check(
        4,
        expect![[r"
            the design stopped itself in cycle 2:
            [45] %Error: counter.sv:67: Assertion failed in TOP.toplevel.main: counter: Out of bounds access
            addr0: 2"]],
    );
}

#[test]
fn a_missing_memory_file_stops_the_run() {
    let dir = TempDir::new().unwrap();
    let options = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: None,
        cycle_limit: 10,
    };
    let text = counter()
        .run(&options, &mut |_| {})
        .unwrap_err()
        .to_string();
    expect![[r"
        the design stopped itself during reset:
        DIR/limit.dat:0: $readmem file not found"]]
    .assert_eq(&text.replace(&dir.path().display().to_string(), "DIR"));
}

#[test]
fn a_trace_shows_each_cycle_before_its_rising_edge() {
    let run = Run::counter(3, 0, 1000);
    run.result.unwrap();
    let trace = fs::read(run.dir.path().join("trace.vcd")).unwrap();
    let mut parser = vcd::Parser::new(&trace[..]);
    let header = parser.parse_header().unwrap();
    assert_eq!(
        header.timescale,
        Some((1, vcd::TimescaleUnit::NS)),
        "{header:?}"
    );
    let wires = [
        "clk",
        "reset",
        "go",
        "done",
        "main.count",
        "main._cell.probe_out",
    ]
    .map(|name| {
        let path: Vec<&str> = ["TOP", "toplevel"]
            .into_iter()
            .chain(name.split('.'))
            .collect();
        header
            .find_var(&path)
            .unwrap_or_else(|| panic!("{name} is not traced"))
            .code
    });
    let main = header.find_scope(&["TOP", "toplevel", "main"]).unwrap();
    assert!(main.find_var("_guard0").is_none());

    let mut values = [0_u64; 6];
    let mut settled = values;
    let mut samples = String::new();
    for command in parser {
        let (id, value) = match command.unwrap() {
            vcd::Command::ChangeScalar(id, value) => (id, u64::from(value == vcd::Value::V1)),
            vcd::Command::ChangeVector(id, bits) => {
                let number = bits
                    .iter()
                    .fold(0, |n, bit| n << 1 | u64::from(bit == vcd::Value::V1));
                (id, number)
            }
            vcd::Command::Timestamp(_) => {
                settled = values;
                continue;
            }
            _ => continue,
        };
        if id == wires[0] && value == 1 {
            let [_, reset, go, done, count, probe] = settled;
            writeln!(samples, "{reset} {go} {done} {count} {probe}").unwrap();
        }
        for (wire, place) in wires.iter().zip(&mut values) {
            if *wire == id {
                *place = value;
            }
        }
    }
    // reset, go, done, count, the probe in a cell with a leading underscore
    expect![[r"
        1 0 0 0 0
        1 0 0 0 0
        1 0 0 0 0
        0 1 0 0 1
        0 1 0 1 1
        0 1 0 2 1
        0 1 1 3 1
    "]]
    .assert_eq(&samples);
}

#[test]
fn a_design_that_is_not_traced_finds_its_memories() {
    // As the Calyx backend writes it: the result of $value$plusargs is never read.
    let verilog = "module main(input logic go, input logic clk, input logic reset, output logic done);\n\
                   logic [7:0] limit [0:0]; logic [7:0] count; string DATA; int CODE;\n\
                   initial begin CODE = $value$plusargs(\"DATA=%s\", DATA);\n\
                   $readmemh({DATA, \"/limit.dat\"}, limit); end\n\
                   assign done = count == limit[0];\n\
                   always_ff @(posedge clk) count <= reset ? 0 : count + 1;\nendmodule\n";
    let (dir, built) = build_text(
        verilog,
        &BuildOptions {
            trace: Trace::Off,
            ..options()
        },
    );
    fs::write(dir.path().join("limit.dat"), "2a\n").unwrap();
    let run = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: None,
        cycle_limit: 100,
    };
    assert_eq!(built.unwrap().run(&run, &mut |_| {}).unwrap().cycles, 42);
}

#[test]
fn an_unchanged_design_is_not_built_again() {
    // Not in the cache from before.
    let verilog = format!(
        "// {}\nmodule main(input logic go, input logic clk, input logic reset, output logic done);\n\
         logic [7:0] count; assign done = count == 8'd7;\n\
         always_ff @(posedge clk) count <= reset ? 0 : count + 1;\nendmodule\n",
        std::process::id()
    );
    let cycles = |options: &BuildOptions| {
        let (dir, built) = build_text(&verilog, options);
        let run = RunOptions {
            data_dir: dir.path().to_owned(),
            vcd: None,
            cycle_limit: 100,
        };
        let outcome = built.unwrap().run(&run, &mut |_| {}).unwrap();
        assert_eq!(outcome.cycles, 7);
        dir.path().join("out/verilated").exists()
    };
    assert!(cycles(&options()), "it was there before");
    assert!(!cycles(&options()), "it was built again");
    let other = BuildOptions {
        trace: Trace::Off,
        ..options()
    };
    assert!(cycles(&other), "another build was taken for it");
}

#[test]
fn a_piped_trace_is_that_of_a_file() {
    let verilog = "module main(input logic go, input logic clk, input logic reset, output logic done);\n\
                   logic [15:0] count; assign done = count == 16'd20000;\n\
                   always_ff @(posedge clk) count <= reset ? 0 : count + 1;\nendmodule\n";
    let (dir, built) = build_text(verilog, &options());
    let executable = built.unwrap();
    let mut run = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: None,
        cycle_limit: 100_000,
    };
    let (outcome, piped) = executable
        .run_piped(&run, |mut pipe| {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes)
        })
        .unwrap();
    assert_eq!(outcome.cycles, 20_000);
    let vcd = dir.path().join("trace.vcd");
    run.vcd = Some(vcd.clone());
    executable.run(&run, &mut |_| {}).unwrap();
    assert!(
        piped.unwrap() == fs::read(vcd).unwrap(),
        "the traces differ"
    );

    // Who does not read on ends the run.
    run.vcd = None;
    let error = executable.run_piped(&run, drop).unwrap_err();
    assert!(matches!(error, Error::Crashed { .. }), "{error}");
}

#[test]
fn progress_tells_the_cycle_of_a_long_run() {
    let verilog = "module main(input logic go, input logic clk, input logic reset, output logic done);\n\
                   logic [31:0] count; assign done = count == 32'd3000000;\n\
                   always_ff @(posedge clk) count <= reset ? 0 : count + 1;\nendmodule\n";
    let (dir, built) = build_text(
        verilog,
        &BuildOptions {
            trace: Trace::Off,
            ..options()
        },
    );
    let executable = built.unwrap();
    let mut run = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: None,
        cycle_limit: u64::MAX,
    };
    let mut seen = Vec::new();
    let outcome = executable.run(&run, &mut |cycle| seen.push(cycle)).unwrap();
    assert_eq!(outcome.cycles, 3_000_000);
    assert!(
        seen.is_sorted() && seen.iter().all(|cycle| *cycle < 3_000_000),
        "{seen:?}"
    );

    run.vcd = Some(dir.path().join("trace.vcd"));
    let error = executable.run(&run, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::NoTrace { .. }), "{error}");
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let dir = TempDir::new().unwrap();
    let options = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: Some(dir.path().join("missing/trace.vcd")),
        cycle_limit: 10,
    };
    let error = counter().run(&options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("missing/trace.vcd"), "{error}");
}

#[test]
fn other_names_of_the_top_module_and_its_ports_work() {
    let verilog = "module entry(input logic start, input logic ck, input logic rst, output logic finish);\n\
                   always_ff @(posedge ck) finish <= !rst & start;\nendmodule\n";
    let top = TopModule {
        module: "entry".to_owned(),
        go: "start".to_owned(),
        done: "finish".to_owned(),
        clk: "ck".to_owned(),
        reset: "rst".to_owned(),
    };
    let (dir, built) = build_text(verilog, &BuildOptions { top, ..options() });
    let run = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: None,
        cycle_limit: 10,
    };
    assert_eq!(built.unwrap().run(&run, &mut |_| {}).unwrap().cycles, 1);
}

#[test]
fn rejected_verilog_shows_the_first_errors_and_the_log() {
    let (_dir, built) = build_text(
        "module main(input logic go, input logic clk, input logic reset, output logic done);\n  sub s(.x(go));\nendmodule\n",
        &options(),
    );
    let Err(Error::Build {
        stage: BuildStage::Verilator,
        excerpt,
        log,
    }) = built
    else {
        panic!("{built:?}");
    };
    assert!(
        excerpt.contains("design.sv:2:3: Cannot find file containing module: 'sub'"),
        "{excerpt}"
    );
    assert!(fs::read_to_string(log).unwrap().contains("Exiting due to"));
}

#[test]
fn a_component_that_is_called_as_the_wrapper_is_an_error() {
    let verilog = "module toplevel(input logic clk); endmodule\n\
                   module main(input logic go, input logic clk, input logic reset, output logic done);\n\
                   toplevel t(.clk(clk)); assign done = go;\nendmodule\n";
    let (_dir, built) = build_text(verilog, &options());
    let text = built.unwrap_err().to_string();
    assert!(
        text.contains("Duplicate declaration of module: 'toplevel'"),
        "{text}"
    );
}

#[test]
fn a_verilator_that_is_missing_or_is_something_else_is_an_error() {
    let missing = Verilator::find(Some(Path::new("/nowhere/verilator"))).unwrap_err();
    assert!(
        matches!(missing, Error::VerilatorMissing { .. }),
        "{missing}"
    );
    let other = Verilator::find(Some(Path::new("echo"))).unwrap_err();
    expect!["`echo` does not work as Verilator: its --version says `--version`"].assert_eq(
        &other
            .to_string()
            .replace("echo (GNU coreutils) 9.1", "--version"),
    );
}
