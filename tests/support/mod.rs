//! What the end-to-end tests share: where the designs are, what they are expected to do, and the
//! way from a design to a simulated run.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod advice;
pub mod agent;
pub mod comparisons;
pub mod corpus;
pub mod debugger;
pub mod dice;
pub mod editor;
pub mod framed;
pub mod graph;
pub mod histories;
pub mod loops;
pub mod monitored;
pub mod page;
pub mod perfetto;
pub mod random;
pub mod samples;
pub mod simulators;
pub mod source;
pub mod sums;
pub mod traps;
pub mod waits;
pub mod workshop;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use petal_data::{Data, MemoryLayout, Words};
use petal_embedded::{Options, Simulation, StateCode};
use petal_metadata::Metadata;
use petal_passes::{Design, PassesError, Pipeline};
use petal_program::{Library, Program};
use petal_reconstruct::{
    CallTree, Change, Cycle, Event, Events, Instance, Item, Next, Observer, ProbeSource,
    Reconstruction, Run, Signal, TreeId, VcdSource, Warning,
};
use petal_verilator::{BuildOptions, Optimisation, RunOptions, Trace, Verilator};
use proptest::test_runner::{RngAlgorithm, TestRng};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Random numbers, the same in every run; the variable `PETAL_SEED` (0 to 255) chooses others.
pub fn rng() -> TestRng {
    let seed: u8 = std::env::var("PETAL_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32])
}

/// How many random programs to try: `usual`, or as many as the variable `PETAL_PROGRAMS` says.
pub fn programs<N: std::str::FromStr>(usual: N) -> N {
    let chosen = std::env::var("PETAL_PROGRAMS").ok();
    chosen.map_or(usual, |count| {
        count.parse().ok().expect("PETAL_PROGRAMS is a number")
    })
}

/// All designs of a folder, by file name.
pub fn designs(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let mut designs: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "futil")
        })
        .collect();
    designs.sort();
    designs
}

/// All examples: what people write, and what front ends wrote.
pub fn examples() -> Vec<PathBuf> {
    [designs("calyx-examples"), designs("calyx-examples/adl")].concat()
}

/// A browser that Playwright can drive.
pub fn chromium() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name))
        })
        .find(|program| program.is_file())
        .expect("the tests need Chromium; on Debian, install the package `chromium`")
}

/// A Python with the packages that the tests need, as the README installs them.
pub fn python() -> PathBuf {
    let own = root().join("target/python/bin/python3");
    let python = if own.exists() {
        own
    } else {
        PathBuf::from("python3")
    };
    let known = std::process::Command::new(&python)
        .args([
            "-c",
            "import perfetto.protos.perfetto.trace, playwright, viztracer",
        ])
        .output();
    assert!(
        known.is_ok_and(|output| output.status.success()),
        "{} has no packages `perfetto`, `playwright` and `viztracer`; the README's test commands install them",
        python.display()
    );
    python
}

/// What a design is expected to do, from the file `DESIGN.expect`.
#[derive(Debug, serde::Deserialize)]
pub struct Expected {
    /// Pipeline → cycles. A pipeline that is not named cannot compile the design.
    pub cycles: BTreeMap<String, u64>,
    /// Memory → final contents, nested as in data files.
    #[serde(default)]
    pub memories: BTreeMap<String, serde_json::Value>,
}

impl Expected {
    /// Where the expectation of `design` lies.
    pub fn path(design: &Path) -> PathBuf {
        PathBuf::from(format!("{}.expect", design.display()))
    }

    /// Reads what `design` is expected to do.
    pub fn of(design: &Path) -> Self {
        let path = Self::path(design);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Reads a design.
fn program(design: &Path) -> Program {
    let library = Library::new(&[]).expect("the library can be set up");
    Program::read(design, &library).unwrap_or_else(|error| panic!("{}: {error}", design.display()))
}

/// Compiles a design without probes.
pub fn compile(design: &Path, passes: &str) -> Design {
    let pipeline = Pipeline::parse(passes, &[]).expect("the pipeline is a stock one");
    petal_passes::compile(program(design), &pipeline)
        .unwrap_or_else(|error| panic!("{} under {passes}: {error}", design.display()))
}

/// Compiles a design with probes.
pub fn instrument(design: &Path, passes: &str) -> (Design, Metadata) {
    instrument_without(design, passes, &[])
}

/// The same without some of the passes.
pub fn instrument_without(design: &Path, passes: &str, left_out: &[String]) -> (Design, Metadata) {
    try_instrument(design, passes, left_out)
        .unwrap_or_else(|error| panic!("{} under {passes}: {error}", design.display()))
}

/// The same, for a design that can't be compiled with an error.
pub fn try_instrument(
    design: &Path,
    passes: &str,
    left_out: &[String],
) -> Result<(Design, Metadata), PassesError> {
    let pipeline = Pipeline::parse(passes, left_out).expect("the passes are known");
    petal_passes::instrument(program(design), &pipeline)
}

/// The cache folder of the commands that the tests run.
pub fn cache_home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// A simulated run.
pub struct Simulated {
    /// Length in cycles.
    pub cycles: u64,
    /// The memories after the run.
    pub memories: Memories,
    /// The waveform, if one was asked for.
    pub vcd: Option<PathBuf>,
    _dir: tempfile::TempDir,
}

/// The contents of a design's memories before the run, by their names in the hardware, from the data
/// file that lies beside its source; and those names' names in the source.
fn data(source: &Path, design: &Design) -> (Data, BTreeMap<String, String>) {
    let layouts: Vec<MemoryLayout> = design
        .memories
        .iter()
        .map(|memory| MemoryLayout {
            name: memory.name.clone(),
            width: u32::try_from(memory.width).expect("widths are small"),
            dims: memory.dims.clone(),
        })
        .collect();
    let path = PathBuf::from(format!("{}.data", source.display()));
    let mut data = if path.exists() {
        let text = std::fs::read_to_string(&path).expect("the data file can be read");
        Data::parse(&text, &path).unwrap_or_else(|error| panic!("{error}"))
    } else {
        Data::zeros(&layouts)
    };
    data.check(&layouts)
        .unwrap_or_else(|error| panic!("{error}"));
    let instances: BTreeMap<String, String> = design
        .memories
        .iter()
        .map(|memory| (memory.name.clone(), memory.instance.clone()))
        .collect();
    let names = instances
        .iter()
        .map(|(name, instance)| (instance.clone(), name.clone()))
        .collect();
    (data.renamed(&instances), names)
}

/// The contents of memories.
#[derive(Debug, PartialEq)]
pub struct Memories {
    /// Nested as in data files.
    nested: BTreeMap<String, serde_json::Value>,
    /// Exact, by their indices in row-major order; without those that are 0.
    words: BTreeMap<String, Words>,
}

impl Memories {
    fn of(data: &Data) -> Self {
        let json: serde_json::Value =
            serde_json::from_str(&data.to_json()).expect("memories are written as JSON");
        let memories = json.as_object().expect("a data file is an object").iter();
        let words = data.memories().iter();
        Self {
            nested: memories
                .map(|(name, memory)| (name.clone(), memory["data"].clone()))
                .collect(),
            words: words
                .map(|memory| (memory.name().to_owned(), memory.words().clone()))
                .collect(),
        }
    }

    /// The contents of a memory, nested as in data files.
    pub fn get(&self, name: &str) -> Option<&serde_json::Value> {
        self.nested.get(name)
    }

    /// The words of every memory that are not 0, by its name.
    pub fn words(&self) -> &BTreeMap<String, Words> {
        &self.words
    }
}

/// The Verilator on `PATH`.
static VERILATOR: LazyLock<Verilator> =
    LazyLock::new(|| Verilator::find(None).unwrap_or_else(|error| panic!("{error}")));

/// Simulates a compiled design with the data that lies beside its source.
pub fn simulate(
    source: &Path,
    design: &Design,
    trace: Trace,
    optimisation: Optimisation,
) -> Simulated {
    let name = source.display();
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let verilog = dir.path().join("design.sv");
    let text = design
        .verilog()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    std::fs::write(&verilog, text).expect("the temporary folder can be written");
    let (data, names) = data(source, design);
    data.write_dat(dir.path())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let options = BuildOptions {
        trace,
        optimisation,
        jobs: std::num::NonZeroUsize::MIN,
        ..BuildOptions::default()
    };
    let executable = VERILATOR
        .build(
            &verilog,
            &dir.path().join("build"),
            &cache_home().join("petal"),
            &options,
        )
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let vcd = (trace == Trace::Vcd).then(|| dir.path().join("trace.vcd"));
    let run = RunOptions {
        data_dir: dir.path().to_owned(),
        vcd: vcd.clone(),
        cycle_limit: CYCLE_LIMIT,
    };
    let outcome = executable
        .run(&run, &mut |_| {})
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let memories = data
        .read_out(dir.path())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    Simulated {
        cycles: outcome.cycles,
        memories: Memories::of(&memories.renamed(&names)),
        vcd,
        _dir: dir,
    }
}

const CYCLE_LIMIT: u64 = 10_000_000;

/// Runs a compiled design in the embedded simulator without looking at it: its cycles, and the
/// memories after the run.
pub fn plain(source: &Path, design: &Design) -> (u64, Memories) {
    let mut cycles = 0;
    let memories = in_embedded(source, design, &[], StateCode::default(), |simulation| {
        while simulation
            .next_cycle()
            .unwrap_or_else(|error| panic!("{}: {error}", source.display()))
        {
            cycles += 1;
        }
    });
    (cycles, memories)
}

/// Whether a compiled design ends in the embedded simulator.
pub fn ends(source: &Path, design: &Design) -> bool {
    let mut ends = false;
    in_embedded(source, design, &[], StateCode::default(), |simulation| {
        let last = std::iter::repeat_with(|| simulation.next_cycle())
            .find(|next| !matches!(next, Ok(true)));
        ends = matches!(last, Some(Ok(false)));
    });
    ends
}

/// Runs a compiled design in the embedded simulator: the memories after the run, and its trace. Both are the same whether states
/// have code of their own or not.
pub fn embedded(source: &Path, design: &Design, metadata: &Metadata) -> (Memories, Traced) {
    let reconstruction = Reconstruction::new(metadata);
    let watched = &reconstruction.signals().watched;
    let [general, by_states] = [StateCode::Never, StateCode::Soon].map(|states| {
        let mut trace = Vec::new();
        let memories = in_embedded(source, design, watched, states, |simulation| {
            trace = events(&reconstruction, simulation, &source.display());
        });
        (memories, trace)
    });
    assert!(general == by_states, "{} by states", source.display());
    (general.0, Traced::new(general.1))
}

/// An observer that looks at nothing.
struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _event: &Event) {}

    fn cycle(&mut self, _cycle: Cycle, _tree: TreeId, _changes: &[Change]) -> Next {
        Next::Change
    }
}

/// What a run in the embedded simulator tells its readers, and what it tells them one by one, which it does where somebody looks on.
pub fn told(source: &Path, design: &Design, metadata: &Metadata) -> [Vec<Item>; 2] {
    let reconstruction = Reconstruction::new(metadata);
    let watched = &reconstruction.signals().watched;
    let all = |events: Events| {
        let mut items = Vec::new();
        let read = events.try_for_each_item(|item| {
            items.push(item.clone());
            Ok::<_, Infallible>(())
        });
        read.map(|()| items)
    };
    [None, Some(Nobody)].map(|mut nobody| {
        let mut told = Vec::new();
        in_embedded(
            source,
            design,
            watched,
            StateCode::default(),
            |simulation| {
                let observer = nobody.as_mut().map(|nobody| nobody as &mut dyn Observer);
                let followed = reconstruction.fan_out(simulation, all, all, observer, &mut |_| {});
                told = followed
                    .unwrap_or_else(|error| panic!("{}: {error}", source.display()))
                    .0;
            },
        );
        told
    })
}

/// Runs a compiled design in the embedded simulator, with its data: `run` goes through its cycles.
fn in_embedded(
    source: &Path,
    design: &Design,
    signals: &[Signal],
    states: StateCode,
    run: impl FnOnce(&mut Simulation),
) -> Memories {
    let (data, names) = data(source, design);
    let options = Options {
        cycle_limit: CYCLE_LIMIT,
        states,
        ..Options::default()
    };
    let mut simulation = Simulation::new(design.program(), signals, options)
        .unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    for memory in data.memories() {
        simulation.write_memory(memory.name(), memory.words());
    }
    run(&mut simulation);
    let after = data.filled(|name| simulation.read_memory(name));
    Memories::of(&after.renamed(&names))
}

/// The Petal trace of a simulated run.
pub struct Traced {
    /// The instances of the trace.
    pub instances: Vec<Instance>,
    /// The trees of the trace.
    pub trees: Vec<CallTree>,
    /// Which tree holds for how many cycles.
    pub runs: Vec<Run>,
    /// What was odd.
    pub warnings: Vec<Warning>,
    /// All events, in order.
    pub events: Vec<Event>,
}

impl Traced {
    /// The trace of these events.
    pub fn new(events: Vec<Event>) -> Self {
        let mut traced = Self {
            instances: Vec::new(),
            trees: Vec::new(),
            runs: Vec::new(),
            warnings: Vec::new(),
            events: events.clone(),
        };
        for event in events {
            match event {
                Event::Instance(instance) => traced.instances.push(instance),
                Event::Tree(tree) => traced.trees.push(*tree),
                Event::Run(run) => traced.runs.push(run),
                Event::Warning(warning) => traced.warnings.push(*warning),
                _ => {}
            }
        }
        traced
    }
}

/// All events of a run; `name` is told with errors.
pub fn events(
    reconstruction: &Reconstruction<'_>,
    source: &mut impl ProbeSource,
    name: &dyn std::fmt::Display,
) -> Vec<Event> {
    let mut events = Vec::new();
    reconstruction
        .run::<std::convert::Infallible>(source, &mut |event| {
            events.push(event);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    events
}

/// Reconstructs a run.
pub fn reconstruct(metadata: &Metadata, vcd: &Path) -> Traced {
    let reconstruction = Reconstruction::new(metadata);
    let file = std::fs::File::open(vcd).expect("the waveform was just written");
    let mut source = VcdSource::new(std::io::BufReader::new(file), reconstruction.signals())
        .unwrap_or_else(|error| panic!("{}: {error}", vcd.display()));
    let events = events(&reconstruction, &mut source, &vcd.display());
    Traced::new(events)
}
