//! The embedded simulator and Verilator side by side, on the same instrumented designs, in turn.
//!
//! `cargo bench --bench simulators [PAIRS] [DESIGN...]` runs both in pairs (11 unless said otherwise), and prints what each takes in
//! processor time, the ratio of the pairs (median, least and greatest), and what it took to build them. Verilator runs without a
//! trace and is built before, with `-O3`; the embedded simulator delivers all probes. Without designs: the one of the
//! examples and of the corpus whose run is long. Then, for each design, what eight data sets take: compiled for each and run one after the
//! other, and compiled once and run on all processors.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use petal_data::Data;
use petal_embedded::{Compiled, Options, Visible};
use petal_passes::{Design, Pipeline};
use petal_program::{Library, Program};
use petal_reconstruct::{Reconstruction, Signal};
use petal_verilator::{BuildOptions, Executable, Optimisation, RunOptions, Trace, Verilator};

/// Pairs of runs, if nothing else is said.
const PAIRS: usize = 11;

/// Data sets that are run together.
const SETS: usize = 8;

fn main() {
    // Cargo adds `--bench`.
    let arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let (pairs, designs): (Vec<String>, Vec<String>) =
        arguments.partition(|word| word.parse::<usize>().is_ok());
    let pairs = pairs.first().and_then(|pairs| pairs.parse().ok());
    let designs: Vec<PathBuf> = if designs.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        vec![root.join("calyx-examples/packet-scheduler.futil")]
    } else {
        designs.into_iter().map(PathBuf::from).collect()
    };
    println!(
        "| design | cycles | petal | Verilator | ratio | from | to | petal compiles | Verilator builds |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for design in &designs {
        compare(design, pairs.unwrap_or(PAIRS));
    }
    println!(
        "\n| design | {SETS} data sets one by one | compiled once, on all processors | ratio | of the processors | | ratio |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for design in &designs {
        several(design, pairs.unwrap_or(PAIRS));
    }
}

/// What several data sets take, on a clock and of the processors. All are the same: how long each takes matters alone.
fn several(file: &Path, pairs: usize) {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let (design, probes) = instrumented(file);
    let data = data(file);
    let compile =
        || Compiled::new(design.program(), &probes, Visible::Probes).expect("it compiles");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let one_by_one = || {
        for _ in 0..SETS {
            embedded(&compile(), &data);
        }
    };
    let together = || {
        let compiled = compile();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..processors {
                scope.spawn(|| {
                    while next.fetch_add(1, Ordering::Relaxed) < SETS {
                        embedded(&compiled, &data);
                    }
                });
            }
        });
    };
    let timed = |run: &dyn Fn()| {
        let (begin, begin_used) = (Instant::now(), used(UsageWho::RUSAGE_SELF));
        run();
        let used = used(UsageWho::RUSAGE_SELF).saturating_sub(begin_used);
        [begin.elapsed(), used].map(|time| time.as_secs_f64())
    };
    let times: Vec<[[f64; 2]; 2]> = (0..pairs)
        .map(|_| [timed(&one_by_one), timed(&together)])
        .collect();
    let median = |of: &dyn Fn(&[[f64; 2]; 2]) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[pairs / 2]
    };
    println!(
        "| {name} | {:.3} s | {:.3} s | {:.2} | {:.3} s | {:.3} s | {:.2} |",
        median(&|[alone, _]| alone[0]),
        median(&|[_, together]| together[0]),
        median(&|[alone, together]| alone[0] / together[0]),
        median(&|[alone, _]| alone[1]),
        median(&|[_, together]| together[1]),
        median(&|[alone, together]| alone[1] / together[1]),
    );
}

/// A design with probes, and their signals.
fn instrumented(file: &Path) -> (Design, Vec<Signal>) {
    let library = Library::new(&[]).expect("the library can be set up");
    let program = Program::read(file, &library).expect("the design is Calyx");
    let pipeline = Pipeline::parse("all", &[]).expect("it is a stock pipeline");
    let (design, metadata) = petal_passes::instrument(program, &pipeline).expect("it compiles");
    let probes = Reconstruction::new(&metadata).signals().watched.clone();
    (design, probes)
}

fn compare(file: &Path, pairs: usize) {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let (design, probes) = instrumented(file);
    let data = data(file);

    let begin = used(UsageWho::RUSAGE_SELF);
    let compiled = Compiled::new(design.program(), &probes, Visible::Probes)
        .expect("the design has no Verilog of its own");
    let compiling = used(UsageWho::RUSAGE_SELF).saturating_sub(begin);
    let begin = used(UsageWho::RUSAGE_CHILDREN);
    let (executable, dir) = build(&name, &design, &data);
    let building = used(UsageWho::RUSAGE_CHILDREN).saturating_sub(begin);

    let mut runs: Vec<(f64, f64)> = Vec::new();
    let mut cycles = 0;
    for _ in 0..pairs {
        let begin = used(UsageWho::RUSAGE_SELF);
        cycles = embedded(&compiled, &data);
        let ours = used(UsageWho::RUSAGE_SELF).saturating_sub(begin);
        let begin = used(UsageWho::RUSAGE_CHILDREN);
        assert_eq!(verilator(&executable, &dir), cycles, "both run alike");
        let theirs = used(UsageWho::RUSAGE_CHILDREN).saturating_sub(begin);
        runs.push((ours.as_secs_f64(), theirs.as_secs_f64()));
    }
    let sorted = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (ours, theirs) = (sorted(&|run| run.0), sorted(&|run| run.1));
    let ratios = sorted(&|(ours, theirs)| theirs / ours);
    println!(
        "| {name} | {cycles} | {:.3} s | {:.3} s | {:.2} | {:.2} | {:.2} | {:.3} s | {:.2} s |",
        ours[pairs / 2],
        theirs[pairs / 2],
        ratios[pairs / 2],
        ratios[0],
        ratios[pairs - 1],
        compiling.as_secs_f64(),
        building.as_secs_f64(),
    );
}

/// The data beside a design.
fn data(file: &Path) -> Data {
    let path = PathBuf::from(format!("{}.data", file.display()));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    Data::parse(&text, &path).expect("the data is good")
}

/// The processor time that was used so far.
fn used(who: UsageWho) -> Duration {
    let usage = getrusage(who).expect("the system counts time");
    let times = [usage.user_time(), usage.system_time()];
    let micros = times.map(|time| time.tv_sec() * 1_000_000 + time.tv_usec());
    Duration::from_micros(micros.iter().sum::<i64>().unsigned_abs())
}

fn build(name: &str, design: &Design, data: &Data) -> (Executable, PathBuf) {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("bench/pairs")
        .join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the target folder can be written");
    let verilog = design.verilog().expect("the backend takes it");
    std::fs::write(dir.join("design.sv"), verilog).expect("the target folder can be written");
    data.write_dat(&dir)
        .expect("the target folder can be written");
    let verilator = Verilator::find(None).expect("Verilator is installed");
    let built = verilator.build(
        &dir.join("design.sv"),
        &dir,
        &dir.join("cache"),
        &BuildOptions {
            trace: Trace::Off,
            optimisation: Optimisation::Full,
            ..BuildOptions::default()
        },
    );
    (built.expect("Verilator takes it"), dir)
}

/// One run in the embedded simulator, with its memories set up. Returns its cycles.
fn embedded(compiled: &Compiled, data: &Data) -> u64 {
    let mut simulation = compiled
        .simulation(Options::default())
        .expect("there is room for the memories");
    for memory in data.memories() {
        simulation.write_memory(memory.name(), memory.words());
    }
    simulation.run_to(u64::MAX).expect("the design runs")
}

/// One run in Verilator. Returns its cycles.
fn verilator(executable: &Executable, dir: &Path) -> u64 {
    let options = RunOptions {
        data_dir: dir.to_owned(),
        vcd: None,
        cycle_limit: u64::MAX,
    };
    let run = executable.run(&options, &mut |_| {});
    run.expect("the design runs").cycles
}
