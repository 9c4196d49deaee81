//! What fuzzing looks for: each target reads an input that may be anything, and fails if petal
//! panics or contradicts itself. `cargo fuzz` runs them, and `tests/fast/fuzz.rs` on the corpus.

use std::io::{self, BufRead, BufReader, Cursor};
use std::path::Path;
use std::sync::OnceLock;

use petal_analysis::{Analysis, ControlView, CriticalCycles};
use petal_compare::Baseline;
use petal_data::{Data, MemoryLayout};
use petal_embedded::{Options, Simulation};
use petal_metadata::Metadata;
use petal_observe::{Directory, Observations, Request};
use petal_passes::{PassesError, Pipeline};
use petal_program::{Library, Program, ProgramError, STACK};
use petal_reconstruct::violations::Checker;
use petal_reconstruct::{
    Change, CompiledView, Event, FrameLabels, FstHeader, Id as _, Instance, Item, ProbeSource,
    Reconstruction, Signal, SignalTable, SlotId, SourceError, TraceReader, TraceWriter, VcdSource,
    Warning,
};
use petal_sweep::SweepFile;
use petal_visualize::outputs::{Make, OUTPUTS, Rendering};
use petal_visualize::timeline::Format;
use petal_visualize::{Frames, Section, Timeline};

/// Waveforms: the scan and the `vcd` crate read the same, whatever pieces the file comes in.
///
/// An input that begins with `c` or `t` is the body of a file whose header is that of a waveform
/// with a clock or with one time a cycle; any other is a whole file.
pub fn vcd(input: &[u8]) {
    let file = match input.split_first() {
        Some((b'c', body)) => [header("clk", "main").as_bytes(), body].concat(),
        Some((b't', body)) => [header("tick", "toplevel").as_bytes(), body].concat(),
        _ => input.to_vec(),
    };
    let scanned = read_vcd(&file[..]);
    let in_pieces = read_vcd(BufReader::with_capacity(3, &file[..]));
    assert_eq!(scanned, in_pieces, "pieces make a difference");
    let mut body = Cursor::new(&file);
    if vcd::Parser::new(&mut body).parse_header().is_ok() {
        // From a line on that the scan does not know, the crate reads.
        let at = usize::try_from(body.position()).expect("it is within the file");
        let parsed = [&file[..at], b"$comment $end ", &file[at..]].concat();
        assert_eq!(scanned, read_vcd(&parsed[..]), "scan and crate disagree");
    }
}

/// A header with the signals of [`table`], where this clock is in this scope.
fn header(clock: &str, scope: &str) -> String {
    let clock = format!("$var wire 1 ! {clock} $end\n");
    let (outer, inner) = match scope {
        "main" => ("", clock.as_str()),
        _ => (clock.as_str(), ""),
    };
    format!(
        "$scope module toplevel $end\n{outer}$scope module main $end\n{inner}\
         $var wire 1 \" go $end\n$var wire 1 & reset $end\n$var wire 1 # done $end\n$var wire 1 $ marker_in $end\n\
         $var wire 1 % a $end\n$var wire 1 a! b $end\n$var wire 8 zz!~ c $end\n\
         $upscope $end\n$upscope $end\n$enddefinitions $end\n"
    )
}

fn table() -> SignalTable {
    let signal = |scope: &[&str], name: &str| Signal {
        scope: scope.iter().map(ToString::to_string).collect(),
        name: name.to_owned(),
    };
    let main = |name| signal(&["toplevel", "main"], name);
    SignalTable {
        watched: ["a", "b", "c"].map(main).to_vec(),
        clock: main("clk"),
        tick: signal(&["toplevel"], "tick"),
        reset: main("reset"),
        go: main("go"),
        done: main("done"),
        marker: main("marker"),
    }
}

/// The cycles of a waveform, and the error that it ends with.
type Waveform = (Vec<(Vec<Change>, Vec<Warning>)>, Option<String>);

fn read_vcd(input: impl BufRead) -> Waveform {
    let mut cycles = Vec::new();
    let read = || -> Result<(), SourceError> {
        let mut source = VcdSource::new(input, &table())?;
        loop {
            let goes_on = source.next_cycle()?;
            cycles.push((source.changes().to_vec(), source.take_warnings()));
            if !goes_on {
                return Ok(());
            }
        }
    };
    let error = read().err().map(|error| error.to_string());
    (cycles, error)
}

/// Metadata, as they would be if they had been written so: with the fingerprint that fits.
pub fn sealed(input: &[u8]) -> Option<Metadata> {
    let file = Path::new("metadata.json");
    // Looking at what comes without it must not fail.
    let _ = Metadata::from_json(std::str::from_utf8(input).ok()?, file);
    let mut metadata: Metadata = serde_json::from_slice(input).ok()?;
    metadata.version = petal_metadata::VERSION;
    metadata.seal();
    Metadata::from_json(&metadata.to_json(), file).ok()
}

/// Metadata: what is accepted is written and read back the same, and reconstructs any run.
pub fn metadata(input: &[u8]) {
    let file = Path::new("metadata.json");
    let Some(metadata) = sealed(input) else {
        return;
    };
    let again = Metadata::from_json(&metadata.to_json(), file);
    assert_eq!(metadata, again.expect("it was just written"));
    let reconstruction = Reconstruction::new(&metadata);
    let slots = reconstruction.signals().watched.len();
    if slots > 1000 {
        // It would take long.
        return;
    }
    let mut source = Noise {
        slots,
        cycles: 40,
        state: input.len() as u64,
        changes: Vec::new(),
    };
    let mut shown = Shown::new(&metadata);
    reconstruction
        .run::<()>(&mut source, &mut |event| {
            shown.event(&event);
            Ok(())
        })
        .expect("neither source nor sink fail");
    shown.finish();
}

/// A run of signals that change at random.
struct Noise {
    slots: usize,
    cycles: u32,
    state: u64,
    changes: Vec<Change>,
}

impl ProbeSource for Noise {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        self.changes.clear();
        for slot in 0..self.slots {
            // Marsaglia's xorshift.
            self.state |= 1;
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            let value = match self.state % 16 {
                0..8 => continue,
                8..11 => 0,
                11..15 => 1,
                _ => self.state >> 32,
            };
            self.changes.push(Change {
                slot: SlotId::from_index(slot),
                value,
            });
        }
        self.cycles -= 1;
        Ok(self.cycles > 0)
    }

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

/// Everything that is made of a trace.
struct Shown<'a> {
    compiled: CompiledView,
    checker: Checker<'a>,
    labels: FrameLabels,
    instances: Vec<Instance>,
    analysis: Analysis<'a>,
    timeline: Timeline<'a, Vec<Box<dyn Format + Send>>>,
}

impl<'a> Shown<'a> {
    fn new(metadata: &'a Metadata) -> Self {
        let formats = OUTPUTS.iter().filter_map(|output| match output.make {
            Make::Timeline(begin) => Some(begin(Box::new(io::sink()))),
            _ => None,
        });
        let formats: io::Result<_> = formats.collect();
        Self {
            compiled: CompiledView::new(metadata),
            checker: Checker::new(metadata),
            labels: FrameLabels::new(metadata),
            instances: Vec::new(),
            analysis: Analysis::new(metadata, ControlView::Source),
            timeline: Timeline::new(
                metadata,
                Section::default(),
                formats.expect("nothing is written"),
            ),
        }
    }

    fn event(&mut self, event: &Event) {
        self.analysis.event(event);
        let compiled = self.compiled.event(event.clone());
        self.timeline.event(&compiled).expect("nothing is written");
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                self.labels.render(tree, &self.instances);
            }
            _ => {}
        }
    }

    fn finish(self) {
        let analysis = self.analysis;
        let useful = analysis.cycles() - analysis.ledger().total_overhead();
        let summary = analysis.summary("fuzz", []);
        assert_eq!(summary.useful_cycles, useful, "the ledger does not add up");
        let run = Rendering::new(&analysis, Frames::Calyx);
        for render in OUTPUTS.iter().filter_map(|output| output.make.render()) {
            render(&run, &summary).expect("memory can be written");
        }
    }
}

/// Data files: what is accepted is written and read back the same.
pub fn data(input: &[u8]) {
    let file = Path::new("design.futil.data");
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let layout = MemoryLayout {
        name: "points".to_owned(),
        width: 8,
        dims: vec![2],
    };
    let Ok(data) = Data::parse(text, file) else {
        return;
    };
    // Most do not fit; looking must not fail.
    let _ = data.clone().check(&[layout]);
    let again = Data::parse(&data.to_json(), file);
    assert_eq!(data, again.expect("it was just written"));
}

/// Trace files: what is accepted is written and read back the same, and can be shown.
///
/// An input that does not begin with a `p` is the records of a file, without head and checksums.
pub fn trace(input: &[u8]) {
    let metadata = nested();
    let mut file = Vec::new();
    let mut fingerprint = &*metadata.fingerprint;
    if input.first() == Some(&b'p') {
        file.extend_from_slice(input);
        let line = input.split(|&byte| byte == b'\n').nth(1);
        fingerprint = line.map_or("", |line| std::str::from_utf8(line).unwrap_or(""));
    } else {
        TraceWriter::new(&mut file, fingerprint)
            .and_then(|mut writer| writer.records(input))
            .expect("memory can be written");
    }
    let Ok(events) = read_trace(&file, fingerprint) else {
        return;
    };
    let mut shown = Shown::new(metadata);
    for event in &events {
        if shown.checker.event(event).is_err() {
            return;
        }
        shown.event(event);
    }
    let one_by_one = figures(&shown.analysis);
    shown.finish();
    let items = read_items(&file, fingerprint).expect("it was read");
    let mut at_once = Analysis::new(metadata, ControlView::Source);
    let mut told = Vec::new();
    for item in &items {
        at_once.item(item);
        let taken = item.try_for_each(|event| {
            told.push(event.clone());
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = taken;
    }
    assert!(told == events, "what comes again is read otherwise");
    assert!(figures(&at_once) == one_by_one, "it is counted otherwise");
    let mut again = Vec::new();
    let mut writer =
        TraceWriter::new(&mut again, &metadata.fingerprint).expect("memory can be written");
    for event in &events {
        writer.event(event).expect("memory can be written");
    }
    let again = read_trace(&again, &metadata.fingerprint);
    assert!(
        again.is_ok_and(|again| again == events),
        "it reads otherwise"
    );
}

/// The metadata of a design with components in components.
fn nested() -> &'static Metadata {
    static METADATA: OnceLock<Metadata> = OnceLock::new();
    METADATA.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let design = folder.ancestors().take(2).find_map(|folder| {
            let design = folder.join("calyx-examples/nested-components.futil");
            design.exists().then_some(design)
        });
        let program = Program::read(&design.expect("it is there"), library());
        let passes = Pipeline::parse("all", &[]).expect("it is an alias");
        let compiled = petal_passes::instrument(program.expect("it is Calyx"), &passes);
        compiled.expect("it compiles").1
    })
}

/// FST files: each is refused with an error, or read to its end.
pub fn fst(input: &[u8]) {
    let Ok(header) = FstHeader::read(Cursor::new(input.to_vec())) else {
        return;
    };
    let signals: Vec<Signal> = header.signals().map(|(signal, _)| signal).collect();
    let named = |name: &str| {
        let signal = signals.iter().find(|signal| signal.name == name);
        signal.or(signals.first()).cloned()
    };
    let (Some(marker), Some(clock), Some(tick)) = (named(""), named("clk"), named("tick")) else {
        return;
    };
    let [Some(reset), Some(go), Some(done)] = ["reset", "go", "done"].map(named) else {
        return;
    };
    let table = SignalTable {
        watched: signals.iter().take(100).cloned().collect(),
        clock,
        tick,
        reset,
        go,
        done,
        marker,
    };
    let Ok(mut source) = header.source(&table) else {
        return;
    };
    for _ in 0..1000 {
        if !source.next_cycle().is_ok_and(|goes_on| goes_on) {
            return;
        }
    }
}

/// Files of observations: each is refused with an error, or made ready.
pub fn observations(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(request) = Request::parse(text) {
        let _ = Observations::new(nested(), &directory(), &request);
    }
}

/// Expressions and events of observations, the same.
pub fn expression(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    // A string of JSON is one of TOML.
    let quoted = serde_json::to_string(text).expect("a text can be written");
    for kind in [
        "[[checkpoint]]\nwhen",
        "[[watch]]\nvalue",
        "[[never]]\nwhen",
        "[[count]]\nvalue",
        "[[latency]]\nto = \"main.x0\"\nfrom",
    ] {
        observations(format!("{kind} = {quoted}\nname = \"it\"\n").as_bytes());
    }
}

/// Some ports and a memory.
fn directory() -> Directory {
    let mut directory = Directory::with_memories();
    let scope = ["toplevel", "main"].map(str::to_owned).to_vec();
    let ports = [
        ("n_out", 8),
        ("first_out", 8),
        ("wide_out", 100),
        ("done", 1),
    ];
    let ports = ports.map(|(name, width)| (name.to_owned(), width));
    directory.add(scope.clone(), ports);
    let memory = Signal {
        scope,
        name: "mem".to_owned(),
    };
    let parameters = [("WIDTH", 8), ("SIZE", 5), ("IDX_SIZE", 3)];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
    directory.add_cell(memory, "seq_mem_d1", &parameters);
    directory
}

/// Files of sweeps: reading them must not fail but with an error.
pub fn sweep(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = SweepFile::parse(text);
    }
}

/// Baselines: what is accepted is written and read back the same.
pub fn baseline(input: &[u8]) {
    let file = Path::new("baseline.json");
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let Ok(baseline) = Baseline::from_json(text, file) else {
        return;
    };
    let again = Baseline::from_json(&baseline.to_json(), file);
    assert_eq!(baseline, again.expect("it was just written"));
}

/// All that is counted of a run.
fn figures(analysis: &Analysis<'_>) -> String {
    analysis.figures(CriticalCycles::default()).json()
}

/// What a trace file has, where what comes again is one item.
fn read_items(file: &[u8], fingerprint: &str) -> Result<Vec<Item>, petal_reconstruct::TraceError> {
    let mut reader = TraceReader::new(file, fingerprint)?;
    std::iter::from_fn(|| reader.next_item()).collect()
}

/// The events of a trace file.
pub fn read_trace(
    file: &[u8],
    fingerprint: &str,
) -> Result<Vec<Event>, petal_reconstruct::TraceError> {
    TraceReader::new(file, fingerprint)?.collect()
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::new(&[]).expect("temporary files can be written"))
}

/// Designs: each is refused with an error, or compiled, and simulated for some cycles.
pub fn frontend(input: &[u8]) {
    let dir = tempfile::tempdir().expect("temporary files can be written");
    let design = dir.path().join("design.futil");
    std::fs::write(&design, input).expect("temporary files can be written");
    std::thread::scope(|scope| {
        let deep = std::thread::Builder::new().stack_size(STACK);
        let compiling = deep.spawn_scoped(scope, || {
            for passes in ["all", "no-opt"] {
                compile(&design, passes);
            }
        });
        let compiled = compiling.expect("a thread can be started").join();
        compiled.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn compile(path: &Path, passes: &str) {
    let pipeline = Pipeline::parse(passes, &[]).expect("it is an alias");
    let compiled = Program::read(path, library())
        .map_err(PassesError::from)
        .and_then(|program| petal_passes::instrument(program, &pipeline))
        .and_then(|compiled| compiled.0.verilog().map(|_| compiled));
    let (design, metadata) = match compiled {
        Ok(compiled) => compiled,
        Err(
            error @ (PassesError::Program(ProgramError::Bug { .. }) | PassesError::NoMetadata(_)),
        ) => panic!("{passes}: {error}"),
        Err(_) => return,
    };
    let again = Metadata::from_json(&metadata.to_json(), path);
    assert_eq!(again.expect("it was just written"), metadata);
    let reconstruction = Reconstruction::new(&metadata);
    let options = Options {
        cycle_limit: 100,
        partial: true,
        ..Options::default()
    };
    let probes = &reconstruction.signals().watched;
    let mut simulation = match Simulation::new(design.program(), probes, options) {
        Ok(simulation) => simulation,
        Err(petal_embedded::Error::Unsupported { .. }) => return,
        Err(error) => panic!("{passes}: {error}"),
    };
    let mut shown = Shown::new(&metadata);
    reconstruction
        .run(&mut simulation, &mut |event| {
            let checked = shown.checker.event(&event);
            shown.event(&event);
            checked
        })
        .unwrap_or_else(|error| panic!("{passes}: {error}"));
    shown.finish();
}
