//! From a design to its area and clock: compiled, synthesised, placed and routed, and written into a folder.
//!
//! What `petal synth`, `petal run --synth` and `petal compare --synth` have in common. Prints nothing but progress.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use petal_files::Scratch;
use petal_metadata::{nearest, question};
use petal_passes::{GroupName, MemoryPlace, Synthesizable};
use petal_profile::folder::{Draft, SYNTHESIS};
use petal_profile::{DesignOptions, Error, Places, Profile, Reporter as _, cache, interrupt};
use petal_synth::{Flow, ReportFile, Synthesis, Target, Tools};

use super::picture;
use crate::args::{AlsoSynthArgs, MemoriesArg, TargetArg};
use crate::terminal::Terminal;

/// Where area is in the folder of a profile.
const AREA: &str = "stats/area.csv";
const PICTURE: &str = "flame-area.svg";
const STACKS: &str = "flame-area.folded";

/// What to synthesise for, and how.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The device.
    pub target: Target,
    /// How often to place and route.
    pub seeds: u64,
    /// Where the memories are, if the user says it.
    pub memories: Option<MemoriesArg>,
    /// How many tools may run at once, if the user says it.
    pub jobs: Option<u32>,
    /// Of which groups to measure what vanishes without them.
    pub without: Groups,
}

/// Some groups of a design.
#[derive(Debug, Clone)]
pub enum Groups {
    /// All that can be left out.
    All,
    /// Those of these names.
    Named(Vec<String>),
}

impl Wanted {
    /// What the options of another command ask for, if they ask for it.
    pub fn also(args: &AlsoSynthArgs) -> Option<Self> {
        Some(Self {
            target: target(args.synth?),
            seeds: args.seeds,
            memories: args.synth_memories,
            jobs: None,
            without: Groups::Named(Vec::new()),
        })
    }

    /// How the tools run, with files in `folder`.
    fn flow(&self, tools: Tools, folder: &Path) -> Flow {
        let jobs = self
            .jobs
            .and_then(|jobs| NonZero::new(usize::try_from(jobs).ok()?));
        Flow {
            tools,
            target: self.target,
            seeds: (1..=self.seeds).collect(),
            jobs: jobs
                .or(thread::available_parallelism().ok())
                .unwrap_or(NonZero::<usize>::MIN),
            cache: kept(),
            folder: folder.to_owned(),
            interrupt: interrupt::flag(),
        }
    }

    /// The tools for it.
    pub fn tools(&self) -> Result<Tools, Error> {
        Tools::find(self.target).map_err(from)
    }
}

/// A device of the command line.
pub fn target(of: TargetArg) -> Target {
    match of {
        TargetArg::Ice40 => Target::Ice40,
        TargetArg::Ecp5 => Target::Ecp5,
        TargetArg::Xilinx => Target::Xilinx,
    }
}

/// Finds out area and clock of a design, and writes nothing.
pub fn measure(wanted: &Wanted, tools: Tools, options: &DesignOptions) -> Result<Synthesis, Error> {
    let terminal = Terminal::new(true);
    let (design, memories) = compiled(wanted, options, &mut Places::default(), &terminal)?;
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    let flow = wanted.flow(tools, scratch.path());
    measured(wanted, &flow, &design, memories, &terminal)
}

fn measured(
    wanted: &Wanted,
    flow: &Flow,
    design: &Synthesizable,
    memories: MemoryPlace,
    terminal: &Terminal,
) -> Result<Synthesis, Error> {
    let mapping = terminal.stage("synthesising");
    let mapped = flow.map(&design.hardware, memories).map_err(from)?;
    drop(mapping);
    let placing = terminal.stage("placing and routing");
    let placed = flow
        .place(&mapped)
        .map_err(|error| match (&error, wanted.memories) {
            (petal_synth::Error::TooLarge { .. }, Some(MemoriesArg::Inside)) => Error::new(
                format!("{error}; without its memories (`--synth-memories outside`) it may"),
            ),
            _ => from(error),
        })?;
    drop(placing);
    let (tools, target) = (&flow.tools, flow.target);
    Synthesis::new(tools, target, design, memories, &mapped, &placed).map_err(from)
}

/// Finds out area and clock of the design `name`, and writes them into the folder `out`.
pub fn synthesise(
    wanted: &Wanted,
    tools: Tools,
    options: &DesignOptions,
    (name, out): (&str, &Path),
    places: &mut Places,
    terminal: &Terminal,
) -> Result<Synthesis, Error> {
    let (design, memories) = compiled(wanted, options, places, terminal)?;
    let groups = wanted.without.of(&design)?;
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    let flow = wanted.flow(tools, scratch.path());
    let mut synthesis = measured(wanted, &flow, &design, memories, terminal)?;
    if let Some(cycles) = cycles(out, &design) {
        synthesis.set_cycles(cycles);
    }
    let mut lesser = Vec::new();
    for group in groups {
        match petal_profile::synthesizable_without(options, memories, &group, terminal) {
            Ok(hardware) => lesser.push((group, hardware)),
            Err(error) if interrupt::is_requested() => return Err(error),
            Err(error) => {
                let GroupName { component, group } = group;
                let error = error.to_string();
                let error = error.lines().next().unwrap_or_default();
                terminal.note(&format!(
                    "what vanishes without {component}.{group} can't be measured, since the program does not compile then: {error}"
                ));
            }
        }
    }
    if !lesser.is_empty() {
        let _measuring = terminal.stage("synthesising without groups");
        let designs: Vec<_> = lesser.iter().map(|(_, hardware)| hardware).collect();
        let mapped = flow.map_each(&designs, memories).map_err(from)?;
        for ((group, _), mapped) in lesser.iter().zip(&mapped) {
            synthesis.set_without(&design.metadata, group, mapped);
        }
    }
    write(out, name, &synthesis)?;
    show(out, &design)?;
    Ok(synthesis)
}

/// Takes area and clock of the design `name` from reports that others made, and writes them into the folder `out`.
pub fn read(
    reports: &[PathBuf],
    options: &DesignOptions,
    (name, out): (&str, &Path),
    places: &mut Places,
    terminal: &Terminal,
) -> Result<Synthesis, Error> {
    let mut files = Vec::new();
    for path in reports {
        places.reads("the report", path)?;
        files.push(ReportFile {
            name: path.display().to_string(),
            text: petal_files::read_to_string(path).map_err(Error::io("read", path))?,
        });
    }
    let compiling = terminal.stage("compiling");
    let outside = MemoryPlace::Outside;
    let design = petal_profile::synthesizable(options, outside, places, terminal)?;
    drop(compiling);
    let fingerprint = &design.metadata.fingerprint;
    let synthesis = Synthesis::of_reports(fingerprint, &design.hardware.top, &files);
    let mut synthesis = synthesis.map_err(from)?;
    if let Some(cycles) = cycles(out, &design) {
        synthesis.set_cycles(cycles);
    }
    write(out, name, &synthesis)?;
    show(out, &design)?;
    Ok(synthesis)
}

impl Groups {
    /// Those of a design, by what they are called there.
    fn of(&self, design: &Synthesizable) -> Result<BTreeSet<GroupName>, Error> {
        let names = match self {
            Self::All => return Ok(design.removable.clone()),
            Self::Named(names) => names,
        };
        let whole = |of: &GroupName| format!("{}.{}", of.component, of.group);
        let mut found = BTreeSet::new();
        for name in names {
            let is_meant = |of: &&GroupName| *name == of.group || *name == whole(of);
            let before = found.len();
            found.extend(design.removable.iter().filter(is_meant).cloned());
            if found.len() == before {
                let near = nearest(name, design.removable.iter().map(whole));
                let hint = question(&near).unwrap_or_default();
                return Err(Error::new(format!(
                    "there is no group `{name}` that can be left out: a dynamic one that the control enables, and that nothing else names; {hint}"
                )));
            }
        }
        Ok(found)
    }
}

/// The design, and where its memories are.
fn compiled(
    wanted: &Wanted,
    options: &DesignOptions,
    places: &mut Places,
    terminal: &Terminal,
) -> Result<(Synthesizable, MemoryPlace), Error> {
    let _compiling = terminal.stage("compiling");
    let mut compile = |memories| {
        let design = petal_profile::synthesizable(options, memories, places, terminal)?;
        Ok((design, memories))
    };
    match wanted.memories {
        Some(MemoriesArg::Outside) => compile(MemoryPlace::Outside),
        Some(MemoriesArg::Inside) => compile(MemoryPlace::Inside),
        None => {
            let outside = compile(MemoryPlace::Outside)?;
            let bits = outside.0.hardware.port_bits;
            let pins = wanted.target.pins().filter(|&pins| pins < bits);
            let Some(pins) = pins.filter(|_| !outside.0.hardware.memories.is_empty()) else {
                return Ok(outside);
            };
            terminal.note(&format!(
                "with its memories outside, the design has {bits} ports, and the {} has {pins} pins: they are inside, and a part of its area",
                wanted.target.device(),
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

/// Makes what shows area and time in the folder anew, if it has a profile of this design.
fn show(out: &Path, design: &Synthesizable) -> Result<(), Error> {
    let profile = Profile::open(out).ok();
    let is_same = |of: Profile| of.metadata.fingerprint == design.metadata.fingerprint;
    if profile.is_some_and(is_same) {
        petal_profile::write_area(out)?;
    }
    Ok(())
}

fn write(out: &Path, name: &str, synthesis: &Synthesis) -> Result<(), Error> {
    let stats = out.join("stats");
    fs::create_dir_all(&stats).map_err(Error::io("create the folder", &stats))?;
    let mut files = vec![(SYNTHESIS, synthesis.to_json().into_bytes())];
    let of_parts = [AREA, STACKS, PICTURE];
    if synthesis.area.rows.is_empty() {
        // Nothing is known of the parts, and what was known is of other figures.
        for path in of_parts.map(|name| out.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io("remove", &path)(error));
                }
                _ => {}
            }
        }
    } else {
        let render = Error::io("render", Path::new(PICTURE));
        let svg = picture::svg(name, synthesis).map_err(render)?;
        let texts = [synthesis.area.table().csv(), synthesis.folded()].map(String::into_bytes);
        files.extend(of_parts.into_iter().zip(texts.into_iter().chain([svg])));
    }
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
