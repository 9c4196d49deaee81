//! `petal run`, and its stages one by one.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use petal_analysis::{Analysis, Hardware, Summary};
use petal_embedded::Error::{Compile, Unsupported};
use petal_embedded::{
    CRANELIFT_VERSION, Compiled, Options, Simulation, Stopped, Visible, WaveformFile,
};
use petal_metadata::Metadata;
use petal_observe::{Observations, Results};
use petal_passes::Design;
use petal_reconstruct::{Ahead, Computation, ProbeSource as _, ReconstructError, Reconstruction};
use petal_verilator::{BuildOptions, RunOptions, Verilator};
use petal_visualize::Frames;
use petal_visualize::outputs::{MEMORIES, METADATA, Rendering};

use crate::advise;
use crate::args::{RunArgs, SimulatorArg};
use crate::cache::Cache;
use crate::compile;
use crate::design;
use crate::events;
use crate::export;
use crate::failure::Failure;
use crate::folder::{self, Draft, Staging};
use crate::follow::{Followed, Known, Output, Timelines};
use crate::interrupt::{self, Ending};
use crate::messages;
use crate::observe::{self, Observing};
use crate::outputs;
use crate::places::Places;
use crate::progress::{Progress, Stage};
use crate::verify;

/// Why there is no `--fst` with Verilator.
const NO_FST: &str =
    "`--fst` is for petal's own simulator; with Verilator, write the waveform by `--vcd`";

/// `petal run`: profiles a design.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    if args.verilator.is_some() && args.simulator == Some(SimulatorArg::Embedded) {
        return Err(Failure::usage(
            "`--verilator` chooses Verilator as the simulator: leave it out, or `--simulator embedded`",
        ));
    }
    if args.fst.is_some() && args.simulator == Some(SimulatorArg::Verilator) {
        return Err(Failure::usage(NO_FST));
    }
    if args.tables {
        export::check()?;
    }
    let name = name(args);
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("petal-out").join(name));
    let mut places = Places::default();
    places.writes_profile(&out)?;
    for (option, file) in [("--fst", &args.fst), ("--vcd", &args.vcd)] {
        if let Some(file) = file {
            places.writes(option, file)?;
        }
    }
    let others = [("--json", args.json), ("--memories", args.memories)];
    events::check(&args.observe, args.view.control, &others, &mut places)?;
    let Profiled {
        summary,
        memories,
        results,
    } = profile(args, &out, None, &mut places)?;
    if args.tables {
        Progress::new(args.quiet).stage("writing tables", |_| export::write(&out))?;
    }
    let quiet = args.quiet || events::take_output(&args.observe);
    report(&summary, results.as_ref(), &out, args.json, quiet)?;
    if args.memories {
        outputs::print(&memories)?;
    }
    warn(&summary, args.quiet);
    let judge = |results| observe::judge(results, args.observe.fail_on_violation, args.quiet);
    let broken = match summary.warnings.len() {
        count if args.strict && count > 0 => Err(strict(&summary, args.quiet)),
        _ => results.as_ref().map_or(Ok(()), judge),
    };
    let Some(early) = summary.early_end() else {
        return broken;
    };
    let told = format!(
        "{early}\n  {} holds the profile up to there, a partial one",
        out.display()
    );
    let is_asked_for = results.is_some_and(|results| results.stopped_by.is_some());
    if !args.partial && !is_asked_for {
        return Err(Failure::new(told));
    }
    if !args.quiet {
        messages::note(told);
    }
    broken
}

/// A design that was profiled.
pub struct Profiled {
    pub summary: Summary,
    /// The memories after the run.
    pub memories: String,
    /// What was observed, if anything was to be.
    pub results: Option<Results>,
}

/// What the profile of a design is called.
fn name(args: &RunArgs) -> String {
    let name = args.name.clone();
    name.unwrap_or_else(|| design::name(&args.design.design))
}

/// Profiles a design into the folder `out` without telling of it. Verilator's builds are kept in
/// `cache` instead of the user's cache, if there is one; `places` has all that is written.
pub fn profile(
    args: &RunArgs,
    out: &Path,
    cache: Option<&Path>,
    places: &mut Places,
) -> Result<Profiled, Failure> {
    let progress = Progress::new(args.quiet);
    let file = (args.design.design != Path::new("-")).then_some(&*args.design.design);
    let observing = Observing::new(&args.observe, file, places)?;
    if let Some(data) = compile::data_file(args) {
        places.reads("the data file", &data)?;
    }
    if let Some(program) = &args.verilator {
        places.reads("the Verilator", program)?;
    }
    let limit = args.max_memory.unwrap_or_else(compile::memory_limit);
    let compile::Compiled {
        design,
        metadata,
        notes,
        verification,
    } = progress.stage("compiling", |_| {
        compile::instrument(&args.design, Some(limit), places)
    })?;
    let loading = Ending::at_once([design.folder()]);
    let memories = Arc::new(compile::Memories::of(args, &design)?);
    if let Some(verification) = &verification {
        let run = verify::Run {
            memories: Arc::clone(&memories),
            cycle_limit: args.cycle_limit,
            verilator: args.verilator.clone(),
        };
        verification.compare(&design, Some(run));
    }
    if !args.quiet {
        notes.iter().chain(&memories.notes).for_each(messages::note);
    }
    let reconstruction = Reconstruction::new(&metadata);
    drop(loading);
    let waveform = args.fst.as_deref().or(args.vcd.as_deref());
    let waveform = waveform.map(Draft::new).transpose()?;
    let job = Job {
        args,
        progress,
        design,
        metadata: &metadata,
        reconstruction,
        memories,
        waveform: waveform.as_ref(),
        name: name(args),
        staging: Staging::new(out)?,
        out,
        cache,
        observing,
    };
    let Run {
        analysis,
        timelines,
        mut summary,
        memories,
        observations,
    } = match job.embedded()? {
        Some((simulation, observations)) => job.run_embedded(simulation, observations)?,
        None => job.run_verilator()?,
    };
    let ending = job.ending();
    let results = observations
        .map(|observations| observations.finish(summary.cycles, summary.stopped.is_none()));
    timelines.finish(results.as_ref(), &job.staging)?;
    summary.observations = results.as_ref().map(Results::page);
    summary.data = job.data();
    summary.hardware = Some(job.hardware());
    let ran = verify::Ran {
        cycles: summary.cycles,
        stopped: summary.stopped.clone(),
        memories,
    };
    if let Some(verification) = verification {
        let stage = |_: &Stage| verification.finish(&ran);
        summary.verified = job.progress.stage("verifying", stage)?;
    }
    let memories = ran.memories;
    summary.warnings.extend(job.design.warnings.clone());
    summary.warnings.extend(job.memories.warning.clone());
    write(&job.staging, job.metadata, &analysis, &summary)?;
    job.staging.write(MEMORIES, &memories)?;
    if let Some(results) = &results {
        job.keep(results)?;
        observe::write(results, &job.staging)?;
    }
    drop(ending);
    if !args.partial {
        interrupt::check()?;
    }
    // Advice is of the run before.
    let advice = advise::files(out);
    let mut names = outputs::files();
    names.extend(advice.iter().map(String::as_str));
    job.staging.commit(&names)?;
    if let Some(waveform) = waveform {
        waveform.finish()?;
    }
    Ok(Profiled {
        summary,
        memories,
        results,
    })
}

/// A run that was followed to its end.
struct Run<'a> {
    analysis: Analysis<'a>,
    timelines: Timelines<'a>,
    summary: Summary,
    memories: String,
    observations: Option<Observations<'a>>,
}

/// A run of `petal run`.
struct Job<'a> {
    args: &'a RunArgs,
    progress: Progress,
    design: Design,
    metadata: &'a Metadata,
    reconstruction: Reconstruction<'a>,
    memories: Arc<compile::Memories>,
    /// Where all signals go, as the arguments tell.
    waveform: Option<&'a Draft>,
    name: String,
    staging: Staging,
    out: &'a Path,
    cache: Option<&'a Path>,
    observing: Observing,
}

impl<'a> Job<'a> {
    fn output<'s>(&'s self, stage: &'s Stage) -> Output<'a, 's> {
        Output {
            staging: &self.staging,
            metadata: self.metadata,
            reconstruction: &self.reconstruction,
            view: self.args.view.control,
            name: &self.name,
            events: self.args.observe.events.as_deref(),
            cycle_limit: self.args.cycle_limit,
            stage,
        }
    }

    /// The name of the data file, if there is one.
    fn data(&self) -> Option<String> {
        let data = compile::data_file(self.args)?;
        Some(data.file_name()?.to_string_lossy().into_owned())
    }

    /// The hardware that the design consists of, without probes.
    fn hardware(&self) -> Hardware {
        let probe = self.metadata.prefix.named("");
        let cells = self.design.cells();
        let cells = cells.iter().filter(|(cell, _)| !cell.starts_with(&probe));
        Hardware::of(cells.map(|(cell, count)| (&**cell, *count)))
    }

    /// While it lives, Ctrl-C ends the command at once.
    fn ending(&self) -> Ending {
        let waveform = self.waveform.map(Draft::path);
        let left = [self.design.folder()].into_iter();
        self.staging.ending(left.chain(waveform.as_deref()))
    }

    /// The run in the embedded simulator, unless it is for Verilator.
    fn embedded(&self) -> Result<Option<(Simulation, Option<Observations<'a>>)>, Failure> {
        let chosen = match self.args.verilator {
            Some(_) => Some(SimulatorArg::Verilator),
            None => self.args.simulator,
        };
        if chosen == Some(SimulatorArg::Verilator) {
            return Ok(None);
        }
        let directory = || observe::directory(&self.design, true);
        let observations = self.observing.of(self.metadata, directory)?;
        let values = observations.as_ref().map_or(&[][..], Observations::values);
        // Which parts are kept is known only when the run is over.
        let is_whole = observations.as_ref().is_none_or(|of| !of.have_windows());
        let waveform = self.waveform.filter(|_| is_whole);
        let waveform = waveform
            .map(|draft| self.waveform_file(draft))
            .transpose()?;
        let visible = match waveform {
            Some(_) => Visible::All,
            None => Visible::Probes,
        };
        let options = Options {
            cycle_limit: self.args.cycle_limit,
            interrupt: interrupt::flag(),
            partial: true,
            waveform,
            kept: None,
        };
        let probes = &self.reconstruction.signals().watched;
        let _ending = self.ending();
        let compiled = Compiled::observing(self.design.program(), probes, values, visible);
        match compiled.and_then(|compiled| compiled.simulation(options)) {
            Ok(mut simulation) => {
                self.memories.load(&mut simulation);
                Ok(Some((simulation, observations)))
            }
            Err(error @ Unsupported { .. }) if chosen.is_none() && !self.args.partial => {
                if !self.args.quiet {
                    messages::note(format!("{error}; Verilator simulates the design"));
                }
                Ok(None)
            }
            Err(error @ (Unsupported { .. } | Compile(_))) => Err(Failure::new(format!(
                "{error}; choose `--simulator verilator`"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    fn waveform_file(&self, draft: &Draft) -> Result<WaveformFile, Failure> {
        let file = BufWriter::with_capacity(1 << 20, draft.create()?);
        Ok(match self.args.fst {
            Some(_) => WaveformFile::Fst(Box::new(file)),
            None => WaveformFile::Vcd(Box::new(file)),
        })
    }

    /// Runs the design again for a waveform of the cycles that are kept: the same design does the same.
    fn keep(&self, results: &Results) -> Result<(), Failure> {
        let Some(draft) = self.waveform.filter(|_| !results.windows.is_empty()) else {
            return Ok(());
        };
        let kept = results.kept();
        let end = kept.last().map_or(0, |last| last.end);
        let options = Options {
            cycle_limit: u64::MAX,
            interrupt: interrupt::flag(),
            partial: true,
            waveform: Some(self.waveform_file(draft)?),
            kept: Some(kept),
        };
        let compiled = Compiled::new(self.design.program(), &[], Visible::All)?;
        let mut simulation = compiled.simulation(options)?;
        self.memories.load(&mut simulation);
        self.progress.stage("writing the waveform", |_| {
            (0..end).try_for_each(|_| simulation.next_cycle().map(drop))
        })?;
        simulation.finish_waveform()?;
        Ok(())
    }

    fn run_embedded(
        &self,
        mut simulation: Simulation,
        mut observations: Option<Observations<'a>>,
    ) -> Result<Run<'a>, Failure> {
        for ports in simulation.loops() {
            if !self.args.quiet {
                messages::note(format!(
                    "these ports depend on one another in a circle: {}",
                    ports.join(", ")
                ));
            }
        }
        let ((analysis, timelines), mut simulation) =
            self.progress.stage("simulating", |stage| {
                let output = self.output(stage);
                let observations = observations.as_mut();
                // The simulation itself looks for interrupts.
                if self.observing.may_stop() {
                    // It must not go on after the cycle in which it ends.
                    let profiled = output.profile(&mut simulation, observations)?;
                    return Ok((profiled, simulation));
                }
                let mut source = Ahead::new(simulation);
                let profiled = output.profile(&mut source, observations)?;
                Ok::<_, ReconstructError<Failure>>((profiled, source.into_inner()))
            })?;
        let _ending = self.ending();
        simulation.finish_waveform()?;
        let period = match simulation.stopped() {
            Some(Stopped::Endless { period, .. }) => Some(*period),
            None | Some(Stopped::CycleLimit { .. }) => None,
            Some(stopped) if !self.args.partial => {
                warn(&analysis.summary(&self.name, Vec::new()), self.args.quiet);
                return Err(Failure::new(stopped.to_string()));
            }
            Some(_) => None,
        };
        let versions = vec![("cranelift".to_owned(), CRANELIFT_VERSION.to_owned())];
        let mut summary = analysis.summary(&self.name, versions);
        if let Some(stopped) = simulation.stopped() {
            summary.stopped = Some(stopped.to_string());
            summary.ending = analysis.ending(period);
        }
        if let Some(stopped_by) = observations.as_ref().and_then(Observations::stopped_by) {
            summary.stopped = Some(format!("ended by `--stop-on {stopped_by}`"));
        }
        Ok(Run {
            analysis,
            timelines,
            summary,
            memories: self.memories.store(&mut simulation),
            observations,
        })
    }

    /// Refuses what Verilator cannot do.
    fn check_for_verilator(&self) -> Result<(), Failure> {
        let problem = if self.args.partial {
            "Verilator cannot make a partial profile; leave out `--partial`"
        } else if self.args.fst.is_some() {
            NO_FST
        } else if self.waveform.is_some() && self.observing.have_windows() {
            "Verilator writes a waveform of the whole run; leave out `--vcd`, or the windows"
        } else if self.observing.may_stop() {
            "Verilator cannot end a run where an observation wants it; leave out `--stop-on`"
        } else {
            return Ok(());
        };
        Err(Failure::new(problem))
    }

    fn run_verilator(&self) -> Result<Run<'a>, Failure> {
        self.check_for_verilator()?;
        let verilator = Verilator::find(self.args.verilator.as_deref())?;
        let writing = self.ending();
        let verilog = self.design.verilog()?;
        let source = self.staging.work(folder::VERILOG);
        fs::write(&source, verilog).map_err(Failure::io("write", &source))?;
        drop(writing);
        let work = self.staging.work("work");
        let cache = self
            .cache
            .map_or_else(Cache::open, |dir| Ok(Cache::of(dir)))?;
        let directory = observe::directory(&self.design, false);
        let observations = self.observing.of(self.metadata, || directory.clone())?;
        let values = observations.as_ref().map_or(&[][..], Observations::values);
        let signals = Computation::of(values).signals(self.reconstruction.signals());
        let simulation = self.progress.stage("building the simulation", |_| {
            // A user looks at all signals, reconstruction only at some.
            let probes = || signals.names().into_iter().collect();
            let options = BuildOptions {
                signals: self.waveform.is_none().then(probes),
                more: compile::more_verilog(&self.design),
                interrupt: interrupt::flag(),
                ..BuildOptions::default()
            };
            verilator
                .build(&source, &work, cache.dir(), &options)
                .map_err(|error| keep_log(error, self.out))
        })?;
        let writing = self.ending();
        self.memories.write(&work)?;
        drop(writing);
        let options = RunOptions {
            data_dir: work.clone(),
            vcd: self.waveform.map(Draft::path),
            cycle_limit: self.args.cycle_limit,
        };
        let known = Known {
            directory: &directory,
            memories: &self.memories,
        };
        let (outcome, followed) = match &options.vcd {
            None => {
                let (outcome, followed) = self.progress.stage("simulating", |stage| {
                    let name = Path::new("the simulation");
                    let output = self.output(stage);
                    simulation
                        .run_piped(&options, |pipe| {
                            output.read_waveform(name, pipe, &self.observing, Some(&known))
                        })
                        .map_err(interrupt::of_simulation)
                })?;
                (outcome, followed?)
            }
            Some(vcd) => {
                let outcome = self.progress.stage("simulating", |stage| {
                    simulation
                        .run(&options, &mut |cycle| {
                            stage.tell(cycle, self.metadata, Vec::new);
                        })
                        .map_err(interrupt::of_simulation)
                })?;
                let waveform = File::open(vcd).map_err(Failure::io("read the waveform", vcd))?;
                let followed = self.progress.stage("reconstructing", |stage| {
                    let output = self.output(stage);
                    output.read_waveform(vcd, waveform, &self.observing, Some(&known))
                })?;
                (outcome, followed)
            }
        };
        let Followed {
            analysis,
            timelines,
            observations,
        } = followed;
        if !self.args.quiet && !outcome.output.is_empty() {
            messages::plain(outcome.output.trim_end());
        }
        let _ending = self.ending();
        let memories = self.memories.read(&work)?;
        let versions = vec![("verilator".to_owned(), verilator.version().to_owned())];
        let mut summary = analysis.summary(&self.name, versions);
        if !outcome.is_done {
            let limit = self.args.cycle_limit;
            summary.stopped = Some(Stopped::CycleLimit { limit }.to_string());
            summary.ending = analysis.ending(None);
        }
        check_length(summary.cycles, outcome.cycles)?;
        Ok(Run {
            analysis,
            timelines,
            summary,
            memories,
            observations,
        })
    }
}

/// Refuses a waveform that is not as long as the run was.
fn check_length(waveform: u64, run: u64) -> Result<(), Failure> {
    if waveform == run {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the simulation took {run} cycles, but its waveform has {waveform}; please report this"
    )))
}

/// Moves the log that an error names out of the folder that is about to vanish.
fn keep_log(error: petal_verilator::Error, out: &Path) -> Failure {
    if let Err(interrupted) = interrupt::check() {
        return interrupted;
    }
    if let petal_verilator::Error::Build {
        stage,
        excerpt,
        log,
    } = error
    {
        let kept = out.join(log.file_name().unwrap_or_default());
        let copied = fs::read(&log).map_err(Failure::io("read", &log));
        let copied = copied.and_then(|text| folder::write_whole(&kept, &text));
        let log = copied.map_or(log, |()| kept);
        return petal_verilator::Error::Build {
            stage,
            excerpt,
            log,
        }
        .into();
    }
    error.into()
}

/// Writes what is known only at the end of a run.
pub fn write(
    staging: &Staging,
    metadata: &Metadata,
    analysis: &Analysis<'_>,
    summary: &Summary,
) -> Result<(), Failure> {
    outputs::write(
        &Rendering::new(analysis, Frames::Calyx),
        summary,
        staging,
        |_| true,
    )?;
    staging.write(METADATA, metadata.to_json())
}

pub fn warn(summary: &Summary, quiet: bool) {
    if !quiet {
        summary.warnings.iter().for_each(messages::warning);
    }
}

/// The failure of a run with warnings that may have none. They are told already, unless nothing is.
fn strict(summary: &Summary, quiet: bool) -> Failure {
    let told = if quiet { &summary.warnings[..] } else { &[] };
    let first = "the run has warnings, and `--strict` makes them errors".to_owned();
    Failure::new(
        told.iter()
            .fold(first, |text, warning| format!("{text}\n  {warning}")),
    )
}

pub fn report(
    summary: &Summary,
    results: Option<&Results>,
    out: &Path,
    json: bool,
    quiet: bool,
) -> Result<(), Failure> {
    if json {
        return outputs::print(&summary.json());
    }
    if quiet {
        return Ok(());
    }
    outputs::print(&format!(
        "{}\n\n{}\n  {out}/report.html   open in a browser\n  {out}/flame.svg     open in a browser\n  \
         {out}/stats/        tables\n  `petal view {out}` opens the timeline\n\n  {}\n",
        summary.design,
        summary.text(),
        summary.verified.text(),
        out = out.display(),
    ))?;
    match results {
        Some(results) => outputs::print(&format!("\n{}", results.text())),
        None => Ok(()),
    }
}
