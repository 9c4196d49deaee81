//! `petal advise`: where programs are compiled, run and compared, and where the advice goes.

mod profiles;

use std::fmt::Write as _;
use std::fs;
use std::num::NonZero;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use petal_advise::{Advice, Budget, Defect, Hardware, Passes, Ran, Trial, Variant, Workshop};
use petal_analysis::{Analysis, ControlView};
use petal_compare::Change;
use petal_embedded::{Compiled, Options, Stopped, Visible};
use petal_metadata::{CompiledKind, ComponentId, Metadata};
use petal_passes::{Design, Library, Observed, Parsed, Pipeline, Program, Rewrite, Source};
use petal_reconstruct::{ProbeSource as _, Reconstruction};
use petal_table::thousands;

use self::profiles::Profiles;
use crate::args::{
    AdviceArg, AdviseArgs, ControlArg, ObserveArgs, RunArgs, SimulatorArg, ViewArgs,
};
use crate::compile::{self, Memories};
use crate::design;
use crate::failure::Failure;
use crate::folder::{self, Staging};
use crate::interrupt;
use crate::messages;
use crate::outputs;
use crate::places::Places;
use crate::run;
use crate::trace;
use crate::versions;

/// The folder of the patches in that of the profile.
const PATCHES: &str = "advice";

/// `petal advise`
pub fn advise(args: &AdviseArgs) -> Result<(), Failure> {
    let path = &args.design.design;
    let name = design::name(path);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("petal-out").join(&name));
    if args.apply {
        check_apply(path)?;
    }
    let mut places = Places::default();
    places.writes_profile(&out)?;
    let runs = runs(args);
    for run in &runs[1..] {
        if let Some(data) = &run.data {
            places.reads("the data file", data)?;
        }
    }
    let (source, text) = match design::source(path)? {
        Source::File(path) => {
            let text = petal_files::read_to_string(&path)
                .map_err(Failure::io("read the design", &path))?;
            let source = Source::Edited {
                path,
                text: text.clone(),
            };
            (source, text)
        }
        Source::Text { name, text } | Source::Edited { path: name, text } => {
            let source = Source::Text {
                name,
                text: text.clone(),
            };
            (source, text)
        }
    };
    let shop = Shop::new(args, &runs, source, &text)?;
    let run::Profiled { summary, .. } = run::profile(&runs[0], &out, None, &mut places)?;
    if !args.quiet {
        summary.warnings.iter().for_each(messages::warning);
    }
    let file = match path.file_name() {
        Some(file) if !design::is_standard_input(path) => file.to_owned(),
        _ => format!("{name}.futil").into(),
    };
    let threads = args.jobs.and_then(|jobs| NonZero::new(jobs as usize));
    let threads = threads.or_else(|| thread::available_parallelism().ok());
    let budget = Budget {
        time: args.budget,
        threads: threads.map_or(1, NonZero::get),
        search: args.search,
        proved: args.proved,
    };
    let advice = petal_advise::advise(&shop, &name, &file, text.clone(), budget);
    shop.bar.finish_and_clear();
    let advice = advice.map_err(|message| match interrupt::check() {
        Err(interrupted) => interrupted,
        Ok(()) => Failure::new(message),
    })?;
    write(&out, &advice, path)?;
    let is_sound = advice.defects.is_empty();
    if args.apply && is_sound && !advice.interrupted {
        apply(path, &text, &advice)?;
    }
    outputs::print(&print(args, &advice, path, &out))?;
    if !is_sound {
        return Err(defective(&advice, path, &out));
    }
    if advice.interrupted {
        return Err(Failure::new("interrupted"));
    }
    let saved = advice.cycles - advice.with_proved;
    // A limit is a share of the run as it is.
    let change = Change {
        before: advice.cycles,
        after: advice.cycles + saved,
    };
    match args.fail_above {
        Some(limit) if limit.exceeded(change) => Err(Failure::new(format!(
            "proved advice saves {} of {} cycles, more than the limit",
            thousands(saved),
            thousands(advice.cycles)
        ))),
        _ => Ok(()),
    }
}

/// What to do where petal took for proved what is not so.
fn defective(advice: &Advice, path: &Path, out: &Path) -> Failure {
    let mut files = vec![path.display().to_string()];
    files.extend(advice.data.iter().map(|data| data.name.clone()));
    let programs = (0..advice.defects.len()).map(Defect::file);
    files.extend(programs.map(|file| out.join(PATCHES).join(file).display().to_string()));
    Failure::new(format!(
        "petal took for proved what is not so, which is a defect of petal: trust none of this advice (nothing was applied), and please \
         report it with {}",
        files.join(", ")
    ))
}

/// A run for each data file.
fn runs(args: &AdviseArgs) -> Vec<RunArgs> {
    let run = |data: Option<PathBuf>| RunArgs {
        design: args.design.clone(),
        data,
        exact: args.exact,
        name: None,
        out: None,
        simulator: Some(SimulatorArg::Embedded),
        verilator: None,
        cycle_limit: args.cycle_limit,
        max_memory: args.max_memory,
        partial: false,
        strict: false,
        vcd: None,
        fst: None,
        tables: false,
        memories: false,
        json: false,
        quiet: args.quiet,
        observe: ObserveArgs::default(),
        view: ViewArgs {
            control: ControlArg::Source,
        },
    };
    if args.data.is_empty() {
        return vec![run(None)];
    }
    args.data.iter().cloned().map(Some).map(run).collect()
}

fn print(args: &AdviseArgs, advice: &Advice, path: &Path, out: &Path) -> String {
    match args.format {
        AdviceArg::Text => {
            let mut text = advice.text();
            if !advice.advice.is_empty() && !args.quiet {
                let _ = write!(
                    text,
                    "\n  {out}/{PATCHES}/        patches: one each, proved.patch and all.patch\n  {out}/report.html   open in a browser\n",
                    out = out.display()
                );
            }
            text
        }
        AdviceArg::Markdown => advice.markdown(),
        AdviceArg::Json => with_newline(&advice.json()),
        AdviceArg::Sarif => with_newline(&sarif(advice, path)),
    }
}

fn sarif(advice: &Advice, path: &Path) -> serde_json::Value {
    // Who shows it looks for the file below the root of the sources, where the command runs.
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    advice.sarif(below.unwrap_or(path), versions::PETAL)
}

fn with_newline(json: &serde_json::Value) -> String {
    format!("{json:#}\n")
}

/// Writes what was found beside the profile, and into its summary and report.
fn write(out: &Path, advice: &Advice, path: &Path) -> Result<(), Failure> {
    trace::add_advice(out, advice.json())?;
    let staging = Staging::new(out)?;
    let mut names: Vec<String> = ["md", "sarif"]
        .map(|extension| format!("{PATCHES}/advice.{extension}"))
        .to_vec();
    staging.write(&names[0], advice.markdown())?;
    staging.write(&names[1], with_newline(&sarif(advice, path)))?;
    let items = advice.advice.iter();
    let patches = items.filter_map(|item| Some((item.patch.clone()?, &item.diff)));
    let whole = [
        ("proved.patch".to_owned(), &advice.proved_patch),
        ("all.patch".to_owned(), &advice.all_patch),
    ];
    let front = advice.front.iter();
    let front = front.filter_map(|point| Some((point.patch.clone()?, &point.diff)));
    let defects = advice.defects.iter().enumerate();
    let defects = defects.map(|(at, defect)| (Defect::file(at), &defect.text));
    for (name, patch) in patches.chain(whole).chain(front).chain(defects) {
        if !patch.is_empty() {
            let name = format!("{PATCHES}/{name}");
            staging.write(&name, patch)?;
            names.push(name);
        }
    }
    // Those of the advice before go.
    names.extend(files(out));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    staging.commit(&names)
}

/// The files of advice that there are in the folder of a profile.
pub fn files(out: &Path) -> Vec<String> {
    let entries = fs::read_dir(out.join(PATCHES))
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_ours = |name: &String| {
        let patch = name.strip_suffix(".patch");
        let program = name.strip_suffix(".futil");
        matches!(name.as_str(), "advice.md" | "advice.sarif")
            || program.is_some_and(|of| of.starts_with("defect-"))
            || patch.is_some_and(|of| {
                let of = of.strip_prefix("front-").unwrap_or(of);
                matches!(of, "all" | "proved") || of.starts_with(|c: char| c.is_ascii_digit())
            })
    };
    names
        .filter(is_ours)
        .map(|name| format!("{PATCHES}/{name}"))
        .collect()
}

/// Where the design's file is kept as it was.
fn kept(path: &Path) -> PathBuf {
    let mut kept = path.as_os_str().to_owned();
    kept.push(".orig");
    PathBuf::from(kept)
}

/// The design's file itself, where the path leads to it by symbolic links. Fails if it can't be changed.
fn check_apply(path: &Path) -> Result<PathBuf, Failure> {
    if design::is_standard_input(path) {
        return Err(Failure::usage(
            "`--apply` changes a file: give the design as one, not on standard input",
        ));
    }
    let kept = kept(path);
    // A link that leads nowhere is there, too.
    if kept.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!(
            "{} is there already, and `--apply` would lose it: move it away",
            kept.display()
        )));
    }
    let real = fs::canonicalize(path).map_err(Failure::io("read the design", path))?;
    let metadata = fs::metadata(&real).map_err(Failure::io("read the design", path))?;
    if metadata.permissions().readonly() {
        return Err(Failure::usage(format!(
            "{} is read-only, and `--apply` would change it: make it writable, or apply the patch to a copy",
            path.display()
        )));
    }
    Ok(real)
}

/// Changes the design's file, whose text was `text`, and keeps it as it was.
fn apply(path: &Path, text: &str, advice: &Advice) -> Result<(), Failure> {
    if advice.all_patch.is_empty() {
        return Ok(());
    }
    let real = check_apply(path)?;
    let before = petal_files::read(path).map_err(Failure::io("read the design", path))?;
    if before != text.as_bytes() {
        return Err(Failure::new(format!(
            "{} was changed meanwhile, so the advice is not applied",
            path.display()
        )));
    }
    let metadata = fs::metadata(&real).map_err(Failure::io("read the design", path))?;
    // With the same mode, and as far as that is allowed of the same owner.
    let write = |to: &Path, content: &[u8]| {
        let draft = folder::Draft::of(to, content)?;
        let _ = std::os::unix::fs::chown(draft.path(), Some(metadata.uid()), Some(metadata.gid()));
        fs::set_permissions(draft.path(), metadata.permissions())
            .map_err(Failure::io("write", to))?;
        draft.finish()
    };
    write(&kept(path), &before)?;
    write(&real, advice.text.as_bytes())
}

/// Compiles, runs and compares programs.
struct Shop<'a> {
    args: &'a AdviseArgs,
    library: Library,
    source: Source,
    /// The contents of the memories before and after the run of the program as it is, for each data set.
    data: Vec<(Memories, String)>,
    names: Vec<String>,
    /// One program is parsed at a time anyway.
    bar: ProgressBar,
    told: Mutex<()>,
}

impl<'a> Shop<'a> {
    fn new(
        args: &'a AdviseArgs,
        runs: &[RunArgs],
        source: Source,
        text: &str,
    ) -> Result<Self, Failure> {
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(if args.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        });
        if let Ok(style) = ProgressStyle::with_template("{spinner} advising ({elapsed}) {wide_msg}")
        {
            bar.set_style(style);
        }
        let mut shop = Self {
            args,
            library: Library::new(&args.design.library)?,
            source,
            data: Vec::new(),
            names: Vec::new(),
            bar,
            told: Mutex::default(),
        };
        let original = Variant::original(text.to_owned());
        let limit = args.max_memory.unwrap_or_else(compile::memory_limit);
        shop.program(&original)?.check_size(limit)?;
        let design = shop.compile(&original)?;
        let compiled = Compiled::new(design.program(), &[], Visible::Probes).map_err(|error| {
            Failure::new(format!(
                "{error}; `petal advise` needs petal's own simulator, which runs a design hundreds of times"
            ))
        })?;
        for run in runs {
            let memories = Memories::of(run, &design)?;
            let after = match Self::run(&compiled, &design, &memories, args.cycle_limit)? {
                Ok((_, after)) => after,
                Err(stopped) => {
                    return Err(Failure::new(format!(
                        "there is nothing to compare with: {stopped} (`petal run` tells what it waits for)"
                    )));
                }
            };
            let name = compile::data_file(run);
            let name = name.map_or_else(|| "zeros".to_owned(), |name| name.display().to_string());
            shop.names.push(name);
            shop.data.push((memories, after));
        }
        Ok(shop)
    }

    fn program(&self, variant: &Variant) -> Result<Program, Failure> {
        let mut source = self.source.clone();
        match &mut source {
            Source::Edited { text, .. } | Source::Text { text, .. } => {
                variant.text().clone_into(text);
            }
            Source::File(_) => unreachable!("it is a text"),
        }
        Ok(Parsed::read(source, &self.library)?.program()?)
    }

    fn pipeline(&self, passes: &Passes) -> Result<Pipeline, Failure> {
        let args = &self.args.design;
        let mut without = args.disable_pass.clone();
        without.extend(passes.disabled.iter().cloned());
        let mut options = args.extra_opt.clone();
        options.extend(passes.options.iter().cloned());
        let list = passes.passes.as_ref().unwrap_or(&args.passes);
        Ok(Pipeline::parse(list, &without)?.with_options(&options)?)
    }

    fn compile(&self, variant: &Variant) -> Result<Design, Failure> {
        let pipeline = self.pipeline(variant.passes())?;
        Ok(petal_passes::compile(self.program(variant)?, &pipeline)?)
    }

    /// The cycles of a run and the memories after it, or why it ended before the design was done.
    fn run(
        compiled: &Compiled,
        design: &Design,
        memories: &Memories,
        limit: u64,
    ) -> Result<Result<(u64, String), Stopped>, Failure> {
        let mut simulation = compiled.simulation(Options {
            cycle_limit: limit,
            interrupt: interrupt::flag(),
            partial: true,
            waveform: None,
            kept: None,
        })?;
        let memories = memories.in_design(design);
        memories.load(&mut simulation);
        let mut cycles = 0;
        while simulation.next_cycle()? {
            cycles += 1;
        }
        if let Some(stopped) = simulation.stopped().cloned() {
            return Ok(Err(stopped));
        }
        Ok(Ok((cycles, memories.store(&mut simulation))))
    }
}

impl Workshop for Shop<'_> {
    type Profile = Profiles;

    fn data(&self) -> Vec<String> {
        self.names.clone()
    }

    fn try_out(&self, variant: &Variant, limit: u64) -> Trial {
        let compiled = self.compile(variant).and_then(|design| {
            let compiled = Compiled::new(design.program(), &[], Visible::Probes)?;
            Ok((design, compiled))
        });
        let (design, compiled) = match compiled {
            Ok(compiled) => compiled,
            Err(failure) => return Trial::Failed(failure.to_string()),
        };
        let mut cycles = Vec::new();
        let mut left = limit.min(self.args.cycle_limit.saturating_mul(self.data.len() as u64));
        for (memories, expected) in &self.data {
            match Self::run(&compiled, &design, memories, left) {
                Ok(Ok((count, after))) if after == *expected => {
                    left -= count;
                    cycles.push(count);
                }
                Ok(Ok(_)) => return Trial::Differs,
                Ok(Err(Stopped::CycleLimit { .. })) => return Trial::TooLong,
                Ok(Err(stopped)) => return Trial::Failed(stopped.to_string()),
                Err(failure) => return Trial::Failed(failure.to_string()),
            }
        }
        Trial::Ran(Ran {
            cycles,
            hardware: hardware(&design),
        })
    }

    fn rewrites(&self, variant: &Variant, observed: &Observed) -> Result<Vec<Rewrite>, String> {
        let rewrites = || {
            let pipeline = self.pipeline(variant.passes())?;
            let mut found = petal_passes::rewrites(self.program(variant)?, observed)?;
            found.retain(|rewrite| pipeline.compiles(rewrite.kind));
            Ok::<_, Failure>(found)
        };
        rewrites().map_err(|failure| failure.to_string())
    }

    fn profile(&self, variant: &Variant) -> Result<Profiles, String> {
        self.profiles(variant)
            .map_err(|failure| failure.to_string())
    }

    fn states(&self, variant: &Variant) -> Result<u64, String> {
        let instrument = || {
            let pipeline = self.pipeline(variant.passes())?;
            let (_, metadata) = petal_passes::instrument(self.program(variant)?, &pipeline)?;
            Ok::<Metadata, Failure>(metadata)
        };
        let metadata = instrument().map_err(|failure| failure.to_string())?;
        Ok(states(&metadata, metadata.main))
    }

    fn pipelines(&self) -> Vec<Passes> {
        let passes = self.pipeline(&Passes::default());
        let passes = passes.map(|pipeline| pipeline.passes().to_vec());
        petal_advise::pipelines(&passes.unwrap_or_default(), &self.args.design.extra_opt)
    }

    fn progress(&self, runs: usize, best: u64) {
        let _told = self.told.lock();
        self.bar.set_message(format!(
            "{runs} programs tried, best {} cycles",
            thousands(best)
        ));
        self.bar.tick();
    }

    fn is_interrupted(&self) -> bool {
        interrupt::requested()
    }
}

impl Shop<'_> {
    fn profiles(&self, variant: &Variant) -> Result<Profiles, Failure> {
        let pipeline = self.pipeline(variant.passes())?;
        let (design, metadata) = petal_passes::instrument(self.program(variant)?, &pipeline)?;
        let reconstruction = Reconstruction::new(&metadata);
        let mut profiles = Profiles::new(&design);
        let probes = &reconstruction.signals().watched;
        let compiled = Compiled::new(design.program(), probes, Visible::Probes)?;
        for (at, (memories, _)) in self.data.iter().enumerate() {
            let mut simulation = compiled.simulation(Options {
                cycle_limit: self.args.cycle_limit,
                interrupt: interrupt::flag(),
                partial: false,
                waveform: None,
                kept: None,
            })?;
            memories.in_design(&design).load(&mut simulation);
            let mut analysis = Analysis::new(&metadata, ControlView::Source);
            reconstruction
                .run(&mut simulation, &mut |event| {
                    analysis.event(&event);
                    Ok::<(), Failure>(())
                })
                .map_err(|error| Failure::new(error.to_string()))?;
            profiles.add(&metadata, &analysis, at == 0);
        }
        Ok(profiles)
    }
}

/// What a design is made of, but for states.
fn hardware(design: &Design) -> Hardware {
    let mut hardware = Hardware::default();
    for (name, count) in design.cells() {
        let width = name
            .strip_prefix("std_reg(")
            .and_then(|rest| rest.strip_suffix(')')?.parse::<u64>().ok());
        match width {
            Some(width) => {
                hardware.registers += count;
                // Each has one more for its `done`.
                hardware.register_bits += count * (width + 1);
            }
            None => {
                hardware.cells.insert(name, count);
            }
        }
    }
    hardware
}

/// The states of the state machines of a component, with those of all cells in it.
fn states(metadata: &Metadata, id: ComponentId) -> u64 {
    let component = metadata.component(id);
    let own = component.compiled.iter().map(|group| match group.kind {
        CompiledKind::Fsm { last, .. } => last + 1,
        CompiledKind::Leaf | CompiledKind::Par { .. } => 0,
    });
    let cells = component.instances();
    own.sum::<u64>() + cells.map(|(_, of)| states(metadata, of)).sum::<u64>()
}
