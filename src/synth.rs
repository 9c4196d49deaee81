//! `petal synth`: what a design costs in area and time.

mod picture;
mod text;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use petal_files::Scratch;
use petal_passes::{MemoryPlace, Synthesizable};
use petal_profile::folder::{Draft, SYNTHESIS};
use petal_profile::{Error, Places, Profile, Reporter as _, cache, interrupt};
use petal_synth::{Flow, Synthesis, Target, Tools};

use crate::args::{MemoriesArg, SynthArgs, SynthFormat, TargetArg};
use crate::design;
use crate::print::print;
use crate::terminal::Terminal;

/// Where area is in the folder of a profile.
const AREA: &str = "stats/area.csv";
const PICTURE: &str = "flame-area.svg";
const STACKS: &str = "flame-area.folded";

/// `petal synth`
pub fn synth(args: &SynthArgs) -> Result<(), Error> {
    let name = design::name(&args.design.design);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("petal-out").join(&name));
    let mut places = Places::default();
    places.writes_profile(&out)?;
    let target = match args.target {
        TargetArg::Ice40 => Target::Ice40,
        TargetArg::Ecp5 => Target::Ecp5,
    };
    let terminal = Terminal::new(args.quiet);
    let tools = Tools::find(target).map_err(from)?;
    let (design, memories) = compiled(args, target, &mut places, &terminal)?;
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    let jobs = args
        .jobs
        .and_then(|jobs| NonZero::new(usize::try_from(jobs).ok()?));
    let flow = Flow {
        tools,
        target,
        seeds: (1..=args.seeds).collect(),
        jobs: jobs
            .or(thread::available_parallelism().ok())
            .unwrap_or(NonZero::<usize>::MIN),
        cache: kept(),
        folder: scratch.path().to_owned(),
        interrupt: interrupt::flag(),
    };
    let mapping = terminal.stage("synthesising");
    let mapped = flow.map(&design, memories).map_err(from)?;
    drop(mapping);
    let placing = terminal.stage("placing and routing");
    let placed = flow.place(&mapped).map_err(from)?;
    drop(placing);
    let synthesis = Synthesis::new(&flow.tools, target, &design, memories, &mapped, &placed);
    let mut synthesis = synthesis.map_err(from)?;
    if let Some(cycles) = cycles(&out, &design) {
        synthesis.set_cycles(cycles);
    }
    write(&out, &name, &synthesis)?;
    match args.format {
        SynthFormat::Json => print(&synthesis.to_json()),
        SynthFormat::Text if args.quiet => Ok(()),
        SynthFormat::Text => print(&text::summary(&synthesis, &out)),
    }
}

/// The design, and where its memories are.
fn compiled(
    args: &SynthArgs,
    target: Target,
    places: &mut Places,
    terminal: &Terminal,
) -> Result<(Synthesizable, MemoryPlace), Error> {
    let _compiling = terminal.stage("compiling");
    let options = args.design.options()?;
    let mut compile = |memories| {
        let design = petal_profile::synthesizable(&options, memories, places, terminal)?;
        Ok((design, memories))
    };
    match args.synth_memories {
        Some(MemoriesArg::Outside) => compile(MemoryPlace::Outside),
        Some(MemoriesArg::Inside) => compile(MemoryPlace::Inside),
        None => {
            let outside = compile(MemoryPlace::Outside)?;
            let bits = outside.0.port_bits;
            if bits <= target.pins() || outside.0.memories.is_empty() {
                return Ok(outside);
            }
            terminal.note(&format!(
                "with its memories outside, the design has {bits} ports, and the {} has {} pins: they are inside, and a part of its area",
                target.device(),
                target.pins()
            ));
            compile(MemoryPlace::Inside)
        }
    }
}

/// Where results are kept, if there is such a place.
fn kept() -> Option<PathBuf> {
    let folder = cache::path().ok()?;
    cache::make(&folder).ok()?;
    cache::check(&folder).ok().map(|()| folder)
}

/// The cycles of the run in the folder, if it is one of this design that came to its end.
fn cycles(out: &Path, design: &Synthesizable) -> Option<u64> {
    let profile = Profile::open(out).ok()?;
    let is_same = profile.metadata.fingerprint == design.metadata.fingerprint;
    let is_whole = profile.summary.stopped.is_none();
    (is_same && is_whole).then_some(profile.summary.cycles)
}

fn write(out: &Path, name: &str, synthesis: &Synthesis) -> Result<(), Error> {
    let stats = out.join("stats");
    fs::create_dir_all(&stats).map_err(Error::io("create the folder", &stats))?;
    let svg = picture::svg(name, synthesis).map_err(Error::io("render", Path::new(PICTURE)))?;
    let files = [
        (AREA, synthesis.area_csv().into_bytes()),
        (STACKS, synthesis.folded().into_bytes()),
        (PICTURE, svg),
        (SYNTHESIS, synthesis.to_json().into_bytes()),
    ];
    let drafts = files
        .iter()
        .map(|(name, content)| Draft::of(&out.join(name), content));
    let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
    interrupt::check()?;
    drafts.into_iter().try_for_each(Draft::finish)
}

fn from(error: petal_synth::Error) -> Error {
    match error {
        petal_synth::Error::Interrupted => Error::interrupted(),
        other => Error::new(other.to_string()),
    }
}
