//! A run of a design: compiled with probes, simulated, and written to the folder of its profile.

mod embedded;
mod stuck;
mod verilator;
mod waveforms;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use petal_analysis::{Analysis, ControlView, Hardware, Summary};
use petal_metadata::Metadata;
use petal_observe::{Directory, Observations, Results};
use petal_passes::Design;
use petal_program::Drivers;
use petal_reconstruct::Reconstruction;
use petal_visualize::Frames;
use petal_visualize::outputs::{FIGURES, MEMORIES, METADATA, Rendering, SUMMARY};

use crate::before::Before;
use crate::compile::{self, Compiled};
use crate::error::Error;
use crate::folder::{self, Staging};
use crate::follow::{Output, Timelines};
use crate::interrupt::{self, Ending};
use crate::memories::Memories;
use crate::observations;
use crate::observing::{Observing, directory};
use crate::options::{Options, Simulator};
use crate::outputs;
use crate::places::Places;
use crate::profile::{area, period};
use crate::reporter::{Reporter, Stage};
use crate::verify::{self, Verification};

use self::waveforms::Waveforms;

/// Why there is no FST with Verilator.
const NO_FST: &str =
    "`--fst` is for petal's own simulator; with Verilator, write the waveform by `--vcd`";

/// What a run gave.
#[derive(Debug)]
pub struct Profiled {
    /// What the probes of the design mean, and its source.
    pub metadata: Metadata,
    /// How long it was, and what it went to.
    pub summary: Summary,
    /// The memories after it: the text of a data file.
    pub memories: String,
    /// What was observed, if anything was to be.
    pub results: Option<Results>,
    /// The run whose profile was there before.
    pub before: Option<Before>,
    /// Whether its timeline has the whole run, or what stands for it.
    pub has_whole_timeline: bool,
}

/// Profiles a design into the folder `out`, which is made if it is not there. That the run ended early is told in the summary.
///
/// # Errors
/// When the design can't be profiled, or the profile can't be written; then it is not there, or still the one before.
pub fn run(
    options: &Options,
    out: impl AsRef<Path>,
    reporter: &dyn Reporter,
) -> Result<Profiled, Error> {
    let mut places = Places::default();
    places.writes_run(options, out.as_ref())?;
    run_in(options, out.as_ref(), &mut places, reporter)
}

/// The same, where `places` has all that is written, and more that is.
///
/// # Errors
/// As for [`run`].
pub fn run_in(
    options: &Options,
    out: &Path,
    places: &mut Places,
    reporter: &dyn Reporter,
) -> Result<Profiled, Error> {
    let mut observing = inputs(options, places)?;
    let mut before = Before::new(out);
    let compiling = reporter.stage("compiling");
    let limit = Some(options.memory_limit());
    let Compiled {
        design,
        metadata,
        notes,
        verification,
        drivers,
    } = compile::instrument(&options.design, limit, places, reporter)?;
    observing.watch(&design, &options.design.simulated_latencies());
    drop(compiling);
    let loading = Ending::at_once();
    let memories = Arc::new(Memories::of(options, &design)?);
    let plain = |ended| verify::Run {
        memories: Arc::clone(&memories),
        cycle_limit: options.cycle_limit,
        ended,
        verilator: options.simulator.verilator().map(Path::to_owned),
    };
    // Where an observation may end the run, nobody knows yet how far the plain design has to run.
    if let Some(verification) = verification.as_ref().filter(|_| !observing.may_stop()) {
        verification.compare(&design, Some(plain(None)));
    }
    let notes = notes.iter().chain(&memories.notes);
    notes.for_each(|note| reporter.note(note));
    let reconstruction = Reconstruction::new(&metadata);
    drop(loading);
    let job = Job {
        options,
        reporter,
        design,
        metadata: &metadata,
        reconstruction,
        memories: Arc::clone(&memories),
        waveforms: Waveforms::new(options)?,
        name: options.name(),
        staging: Staging::new(out)?,
        out,
        observing,
        drivers,
        expected: before.as_ref().map(|before| before.profile.summary.cycles),
    };
    let Followed {
        mut analysis,
        timelines,
        mut summary,
        memories: left,
        observations,
    } = match job.embedded()? {
        Some((simulation, observations)) => job.run_embedded(simulation, observations)?,
        None => job.run_verilator()?,
    };
    let ending = job.ending();
    let results = observations
        .map(|observations| observations.finish(summary.cycles, summary.stopped.is_none()));
    let broken = results.as_ref().map(observations::broken_promises);
    summary.warnings.extend(broken.unwrap_or_default());
    let results = results.filter(|_| job.observing.is_asked(job.metadata));
    let has_whole_timeline = job.complete(timelines, results.as_ref(), &analysis)?;
    summary.observations = results.as_ref().map(Results::page);
    let synthesis = folder::synthesis(out, &job.metadata.fingerprint);
    summary.set_clock(options.period, synthesis.as_ref().and_then(period));
    analysis.set_period(summary.period());
    job.describe(&mut summary);
    if let Some(verification) = verification.as_ref().filter(|_| job.observing.may_stop()) {
        let ended = ended(results.as_ref(), &summary);
        verification.compare(&job.design, Some(plain(ended)));
    }
    let memories = verified(verification, left, &mut summary, reporter)?;
    job.warn(&mut summary);
    if let Some(before) = &mut before {
        before.compare(job.metadata, &summary, &memories);
    }
    // What is advised is of the run before, unless this is the same one; the patches stay, as most of them may still fit.
    let same = before.as_ref().filter(|before| before.is_same);
    summary.set_advice(same.and_then(|before| before.profile.summary.advice.clone()));
    summary.what_if = same.and_then(|before| before.profile.summary.what_if.clone());
    let area = synthesis.as_ref().and_then(area);
    let rendering = Rendering::new(&analysis, Frames::Calyx).with_area(area);
    job.write(&rendering, &summary, results.as_ref())?;
    job.staging.write(MEMORIES, &memories)?;
    drop(ending);
    if !options.is_partial {
        interrupt::check()?;
    }
    let names = outputs::of_runs();
    job.staging.commit(&names)?;
    job.waveforms.finish()?;
    Ok(Profiled {
        metadata,
        summary,
        memories,
        results,
        before,
        has_whole_timeline,
    })
}

/// After how many cycles an observation ended a run, and what is said of that, if one did.
fn ended(results: Option<&Results>, summary: &Summary) -> Option<(u64, String)> {
    results?.stopped_by.as_ref()?;
    Some((summary.cycles, summary.stopped.clone()?))
}

/// Waits for the plain design, says in the summary how the run was verified, and gives back its memories.
fn verified(
    verification: Option<Verification>,
    memories: String,
    summary: &mut Summary,
    reporter: &dyn Reporter,
) -> Result<String, Error> {
    let ran = verify::Ran {
        cycles: summary.cycles,
        stopped: summary.stopped.clone(),
        memories,
    };
    if let Some(verification) = verification {
        let _verifying = reporter.stage("verifying");
        summary.verified = verification.finish(&ran)?;
    }
    Ok(ran.memories)
}

/// Takes in what a run reads besides its design; returns what to observe.
fn inputs(options: &Options, places: &mut Places) -> Result<Observing, Error> {
    if options.fst.is_some() && matches!(options.simulator, Simulator::Verilator(_)) {
        return Err(Error::usage(NO_FST));
    }
    let observing = {
        let (design, limit) = (options.design.file(), options.memory_limit());
        Observing::new(&options.observe, design, limit, places)?
    };
    if let Some(data) = options.data_file() {
        places.reads("the data file", &data)?;
    }
    if let Some(program) = options.simulator.verilator() {
        places.reads("the Verilator", program)?;
    }
    Ok(observing)
}

/// Writes what is known only at the end of a run, of the pictures and tables those that are wanted.
pub(crate) fn write(
    staging: &Staging,
    metadata: &Metadata,
    rendering: &Rendering<'_, '_>,
    summary: &Summary,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    outputs::write(rendering, summary, staging, |output| wanted(output.name))?;
    staging.write(METADATA, metadata.to_json())
}

/// A run that was followed to its end.
struct Followed<'a> {
    analysis: Analysis<'a>,
    timelines: Timelines<'a>,
    summary: Summary,
    memories: String,
    observations: Option<Observations<'a>>,
}

/// A run that is under way.
struct Job<'a> {
    options: &'a Options,
    reporter: &'a dyn Reporter,
    design: Design,
    metadata: &'a Metadata,
    reconstruction: Reconstruction<'a>,
    memories: Arc<Memories>,
    waveforms: Waveforms,
    name: String,
    staging: Staging,
    out: &'a Path,
    observing: Observing,
    /// What starts the cells of the source.
    drivers: Drivers,
    /// The cycles of the run before.
    expected: Option<u64>,
}

impl<'a> Job<'a> {
    /// Completes the timelines, if there are to be any; returns whether they have the whole run.
    fn complete(
        &self,
        timelines: Timelines<'_>,
        results: Option<&Results>,
        analysis: &Analysis<'_>,
    ) -> Result<bool, Error> {
        if !self.options.is_drawn {
            return Ok(false);
        }
        timelines.finish(results, &self.staging, analysis)
    }

    /// Writes what is known only at the end: what the run was, what was observed, and what a later run is compared with, figures of the
    /// program as it is written.
    fn write(
        &self,
        rendering: &Rendering<'_, '_>,
        summary: &Summary,
        results: Option<&Results>,
    ) -> Result<(), Error> {
        let is_drawn = self.options.is_drawn;
        write(&self.staging, self.metadata, rendering, summary, |name| {
            is_drawn || name == SUMMARY
        })?;
        results.map_or(Ok(()), |results| self.keep(results))?;
        if !is_drawn {
            return Ok(());
        }
        results.map_or(Ok(()), |results| {
            observations::write(results, &self.staging)
        })?;
        if self.options.control != ControlView::Source {
            return Ok(());
        }
        match self.reporter.figures(rendering.analysis, summary, results) {
            Some(figures) => self.staging.write(FIGURES, figures),
            None => Ok(()),
        }
    }

    /// What can be observed in the design, and which numbers its memories hold.
    fn directory(&self, has_memories: bool) -> Directory {
        let mut directory = directory(&self.design, has_memories);
        let scope = &self.metadata.scope;
        self.memories.add_formats(scope, &mut directory);
        directory
    }

    fn output<'s>(&'s self, stage: &'s dyn Stage) -> Output<'a, 's> {
        Output {
            staging: &self.staging,
            metadata: self.metadata,
            reconstruction: &self.reconstruction,
            view: self.options.control,
            name: &self.name,
            cycle_limit: self.options.cycle_limit,
            stage,
            reporter: self.reporter,
        }
    }

    /// The name of the data file, if there is one.
    fn data(&self) -> Option<String> {
        let data = self.options.data_file()?;
        Some(data.file_name()?.to_string_lossy().into_owned())
    }

    /// The hardware that the design consists of, without probes.
    fn hardware(&self) -> Hardware {
        let probe = self.metadata.prefix.named("");
        let cells = self.design.cells();
        let cells = cells.iter().filter(|(cell, _)| !cell.starts_with(&probe));
        Hardware::of(cells.map(|(cell, count)| (&**cell, *count)))
    }

    /// Takes in what was run, and with which data.
    fn describe(&self, summary: &mut Summary) {
        summary.data = self.data();
        summary.data_digest = Some(self.memories.digest());
        summary.hardware = Some(self.hardware());
        summary.added_pass = self.design.added_pass.map(str::to_owned);
    }

    /// Takes in what the design is warned of, and that the run had no data.
    fn warn(&self, summary: &mut Summary) {
        summary.warnings.extend(self.design.warnings.clone());
        summary.warnings.extend(self.memories.warning.clone());
        summary.no_data.clone_from(&self.memories.warning);
    }

    /// While it lives, an interrupt ends the process at once.
    fn ending(&self) -> Ending {
        let waveforms = self.waveforms.paths();
        self.staging.ending(waveforms.iter().map(PathBuf::as_path))
    }
}
