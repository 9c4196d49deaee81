//! How long the stages of a profile take, on the million-cycle example.
//!
//! `cargo bench` times, for `calyx-examples/packet-scheduler.futil`: the build and the run of it in
//! the embedded simulator and in Verilator; and, on one waveform, a plain loop of the `vcd` crate
//! over it, reconstruction, and all outputs. Then whole runs, with the check that the plain design is
//! the same and without.

use std::convert::Infallible;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use petal_data::Data;
use petal_embedded::{Options, Simulation};
use petal_metadata::Metadata;
use petal_passes::{Design, Pipeline};
use petal_program::{Library, Program};
use petal_reconstruct::{Ahead, Reconstruction, VcdSource};
use petal_verilator::{BuildOptions, Executable, RunOptions, Trace, Verilator};

fn main() {
    divan::main();
}

/// The example, compiled with probes. Not kept: the Calyx compiler's data cannot be shared.
fn compiled() -> (Design, Metadata) {
    let library = Library::new(&[]).expect("the library can be set up");
    let program = Program::read(&example(), &library).expect("the example is Calyx");
    let pipeline = Pipeline::parse("all", &[]).expect("it is a stock pipeline");
    petal_passes::instrument(program, &pipeline).expect("the example compiles")
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("calyx-examples/packet-scheduler.futil")
}

fn data() -> Data {
    let path = PathBuf::from(format!("{}.data", example().display()));
    let text = std::fs::read_to_string(&path).expect("the example has data");
    Data::parse(&text, &path).expect("the example's data is good")
}

/// A folder for the builds of one benchmark, with all that a build and a run need.
fn folder(name: &str, design: &Design) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("bench")
        .join(name);
    std::fs::create_dir_all(&dir).expect("the target folder can be written");
    let verilog = design.verilog().expect("the backend takes it");
    std::fs::write(dir.join("design.sv"), verilog).expect("the target folder can be written");
    data()
        .write_dat(&dir)
        .expect("the target folder can be written");
    dir
}

fn build(dir: &Path, trace: Trace) -> Executable {
    let options = BuildOptions {
        trace,
        ..BuildOptions::default()
    };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench/cache");
    Verilator::find(None)
        .and_then(|verilator| verilator.build(&dir.join("design.sv"), dir, &cache, &options))
        .expect("the example can be built")
}

fn simulate(executable: &Executable, dir: &Path, vcd: Option<PathBuf>) -> u64 {
    let options = RunOptions {
        data_dir: dir.to_owned(),
        vcd,
        cycle_limit: 100_000_000,
    };
    executable
        .run(&options, &mut |_| {})
        .expect("the example runs")
        .cycles
}

/// A run of the embedded simulator that has not begun.
fn embedded(design: &Design, metadata: &Metadata) -> Simulation {
    let reconstruction = Reconstruction::new(metadata);
    let probes = &reconstruction.signals().watched;
    let mut simulation = Simulation::new(design.program(), probes, Options::default())
        .expect("the example has no Verilog of its own");
    for memory in data().memories() {
        simulation.write_memory(memory.name(), memory.words());
    }
    simulation
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn embedded_build(bencher: divan::Bencher<'_, '_>) {
    let (design, metadata) = compiled();
    bencher.bench_local(|| embedded(&design, &metadata));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn embedded_run(bencher: divan::Bencher<'_, '_>) {
    let (design, metadata) = compiled();
    bencher
        .with_inputs(|| embedded(&design, &metadata))
        .bench_local_values(|mut simulation| {
            simulation.run_to(u64::MAX).expect("the example runs")
        });
}

#[divan::bench(sample_count = 5, sample_size = 1, args = [Trace::Off, Trace::Vcd])]
fn verilator_build(bencher: divan::Bencher<'_, '_>, trace: Trace) {
    let (design, _) = compiled();
    let dir = folder("build", &design);
    let file = dir.join("design.sv");
    let verilog = std::fs::read_to_string(&file).expect("it was just written");
    let mut number = 0;
    bencher
        .with_inputs(|| {
            // What was built before is not built again.
            number += 1;
            let text = format!("{verilog}\n// {number} of {}\n", std::process::id());
            std::fs::write(&file, text).expect("the target folder can be written");
        })
        .bench_local_values(|()| build(&dir, trace));
}

#[divan::bench(sample_count = 5, sample_size = 1, args = [Trace::Off, Trace::Vcd])]
fn verilator_run(bencher: divan::Bencher<'_, '_>, trace: Trace) {
    let (design, _) = compiled();
    let dir = folder("run", &design);
    let executable = build(&dir, trace);
    let vcd = (trace == Trace::Vcd).then(|| dir.join("trace.vcd"));
    bencher.bench_local(|| simulate(&executable, &dir, vcd.clone()));
}

struct Simulated {
    metadata: Metadata,
    vcd: PathBuf,
}

/// The run, simulated at the first call.
fn run() -> &'static Simulated {
    static RUN: OnceLock<Simulated> = OnceLock::new();
    RUN.get_or_init(|| {
        let (design, metadata) = compiled();
        let dir = folder("profile", &design);
        let vcd = dir.join("trace.vcd");
        simulate(&build(&dir, Trace::Vcd), &dir, Some(vcd.clone()));
        Simulated { metadata, vcd }
    })
}

fn open(vcd: &Path) -> BufReader<File> {
    let file = File::open(vcd).expect("the waveform was just written");
    BufReader::with_capacity(1 << 20, file)
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn plain_vcd_loop(bencher: divan::Bencher<'_, '_>) {
    let simulated = run();
    bencher.bench(|| {
        let mut parser = vcd::Parser::new(open(&simulated.vcd));
        parser.parse_header().expect("the waveform has a header");
        parser.flatten().count()
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reconstruction(bencher: divan::Bencher<'_, '_>) {
    let simulated = run();
    bencher.bench(|| {
        let reconstruction = Reconstruction::new(&simulated.metadata);
        let source = VcdSource::new(open(&simulated.vcd), reconstruction.signals())
            .expect("the waveform is of the design");
        let mut source = Ahead::new(source);
        reconstruction
            .run::<Infallible>(&mut source, &mut |_| Ok(()))
            .unwrap_or_else(|error| panic!("{error}"))
    });
}

/// What `petal reconstruct` takes from the start to the end, with the files that it writes.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn reconstruction_and_all_outputs(bencher: divan::Bencher<'_, '_>) {
    let simulated = run();
    let metadata = simulated.vcd.with_file_name("metadata.json");
    std::fs::write(&metadata, simulated.metadata.to_json())
        .expect("the target folder can be written");
    let out = simulated.vcd.with_file_name("out");
    bencher
        .with_inputs(|| {
            // To take old files away takes its time, too.
            let _ = std::fs::remove_dir_all(&out);
            let mut petal = Command::new(env!("CARGO_BIN_EXE_petal"));
            petal.args(["reconstruct", "--quiet", "--out"]).arg(&out);
            petal.arg(&metadata).arg(&simulated.vcd);
            petal
        })
        .bench_local_values(|mut petal| {
            let status = petal.status().expect("petal was just built");
            assert!(status.success());
        });
}

/// What `petal run` takes from the start to the end, with and without the check that the plain design
/// is the same.
#[divan::bench(sample_count = 21, sample_size = 1, args = [
    "switch-case-par", "switch-case-par --unverified", "packet-scheduler", "packet-scheduler --unverified",
])]
fn whole_run(bencher: divan::Bencher<'_, '_>, design: &str) {
    let mut words = design.split(' ');
    let name = words.next().expect("a text has a first word");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench/whole");
    let design = example().with_file_name(name).with_extension("futil");
    let mut petal = Command::new(env!("CARGO_BIN_EXE_petal"));
    petal.args(["run", "--quiet", "--out"]).arg(&out);
    petal.arg(design).args(words);
    bencher.bench_local(|| {
        let status = petal.status().expect("petal was just built");
        assert!(status.success());
    });
}
