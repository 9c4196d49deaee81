//! How long the stages of a profile take, on the million-cycle example.
//!
//! `cargo bench` simulates `calyx-examples/packet-scheduler.futil` once and then times, on the same
//! waveform: a plain loop of the `vcd` crate over it, reconstruction, and all outputs.

use std::convert::Infallible;
use std::fs::File;
use std::io::{BufReader, sink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use petal_metadata::Metadata;
use petal_passes::{Library, Pipeline, Program};
use petal_reconstruct::{Event, Reconstruction, VcdSource};
use petal_simulate::{BuildOptions, Data, RunOptions, Verilator};
use petal_visualize::{
    Activations, Flame, Ledger, Profile, Timeline, Weighting, cells, control, groups,
};

fn main() {
    divan::main();
}

struct Simulated {
    metadata: Metadata,
    vcd: PathBuf,
}

/// The run, simulated at the first call.
fn run() -> &'static Simulated {
    static RUN: OnceLock<Simulated> = OnceLock::new();
    RUN.get_or_init(|| {
        let design =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("calyx-examples/packet-scheduler.futil");
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench");
        std::fs::create_dir_all(&dir).expect("the target folder can be written");
        let library = Library::new(&[]).expect("the library can be set up");
        let program = Program::read(&design, &library).expect("the example is Calyx");
        let pipeline = Pipeline::parse("all", &[]).expect("it is a stock pipeline");
        let (compiled, metadata) =
            petal_passes::instrument(program, &pipeline).expect("the example compiles");
        let verilog = dir.join("design.sv");
        std::fs::write(&verilog, compiled.verilog().expect("the backend takes it"))
            .expect("the target folder can be written");
        let executable = Verilator::find(None)
            .and_then(|verilator| {
                verilator.build(&verilog, &dir, &dir.join("cache"), &BuildOptions::default())
            })
            .expect("the example can be built");
        let data = PathBuf::from(format!("{}.data", design.display()));
        let text = std::fs::read_to_string(&data).expect("the example has data");
        Data::parse(&text, &data)
            .and_then(|data| data.write_dat(&dir))
            .expect("the example's data is good");
        let vcd = dir.join("trace.vcd");
        let options = RunOptions {
            data_dir: dir,
            vcd: Some(vcd.clone()),
            cycle_limit: 100_000_000,
        };
        executable
            .run(&options, &mut |_| {})
            .expect("the example runs");
        Simulated { metadata, vcd }
    })
}

fn open(vcd: &Path) -> BufReader<File> {
    BufReader::new(File::open(vcd).expect("the waveform was just written"))
}

fn events(simulated: &Simulated, mut take: impl FnMut(&Event)) -> u64 {
    let reconstruction = Reconstruction::new(&simulated.metadata);
    let mut source = VcdSource::new(open(&simulated.vcd), reconstruction.signals())
        .expect("the waveform is of the design");
    reconstruction
        .run::<Infallible>(&mut source, &mut |event| {
            take(&event);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"))
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
    bencher.bench(|| events(simulated, |_| {}));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reconstruction_and_all_outputs(bencher: divan::Bencher<'_, '_>) {
    let simulated = run();
    bencher.bench(|| {
        let metadata = &simulated.metadata;
        let mut profile = Profile::default();
        let mut activations = Activations::new(metadata);
        let mut timeline = Timeline::new(metadata, sink()).expect("a sink takes all");
        events(simulated, |event| {
            profile.event(event);
            activations.event(event);
            timeline.event(event).expect("a sink takes all");
        });
        for weighting in [Weighting::Flat, Weighting::Scaled] {
            let flame = Flame::new(metadata, &profile, weighting);
            flame
                .svg("packet-scheduler", sink())
                .expect("a sink takes all");
        }
        [
            cells(metadata, &profile, &activations).csv(),
            groups(metadata, &activations).csv(),
            control(metadata, &Ledger::new(metadata, &profile), &activations).csv(),
        ]
    });
}
