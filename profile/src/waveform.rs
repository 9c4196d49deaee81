//! A profile of a waveform that was simulated elsewhere.

use std::fs::{self, File};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use petal_analysis::ControlView;
use petal_metadata::Metadata;
use petal_observe::{Observations, Results};
use petal_reconstruct::Reconstruction;
use petal_visualize::Frames;
use petal_visualize::outputs::Rendering;

use crate::error::Error;
use crate::folder::Staging;
use crate::follow::{Followed, Output};
use crate::interrupt;
use crate::observations;
use crate::observing::Observing;
use crate::options::{ObserveOptions, design_name, memory_limit};
use crate::outputs;
use crate::places::Places;
use crate::reporter::Reporter;
use crate::run::{Profiled, write};

/// A waveform to profile.
#[derive(Debug, Clone)]
pub struct WaveformOptions {
    /// The metadata that were made with the instrumented design.
    pub metadata: PathBuf,
    /// The waveform: a VCD or FST file of that design, or a pipe through which a VCD comes.
    pub waveform: PathBuf,
    /// Which control statements outputs show.
    pub control: ControlView,
    /// What to observe. No file is looked for beside the design.
    pub observe: ObserveOptions,
}

/// Profiles a waveform into the folder `out`, which `places` has already. The memories after the run are not known.
///
/// # Errors
/// When the waveform is not one of the design, or the profile can't be written.
pub fn profile_waveform(
    options: &WaveformOptions,
    out: &Path,
    places: &mut Places,
    reporter: &dyn Reporter,
) -> Result<Profiled, Error> {
    let path = &options.waveform;
    places.reads("the metadata", &options.metadata)?;
    places.reads("the waveform", path)?;
    let observing = Observing::new(&options.observe, None, memory_limit(), places)?;
    let metadata = Metadata::read(&options.metadata)?;
    let waveform = open(path, reporter)?;
    let name = design_name(out);
    let staging = Staging::new(out)?;
    let reconstruction = Reconstruction::new(&metadata);
    let reconstructing = reporter.stage("reconstructing");
    let output = Output {
        staging: &staging,
        metadata: &metadata,
        reconstruction: &reconstruction,
        view: options.control,
        name: &name,
        cycle_limit: u64::MAX,
        stage: &*reconstructing,
        reporter,
    };
    let Followed {
        analysis,
        timelines,
        observations,
    } = output.read_file(path, waveform, &observing)?;
    drop(reconstructing);
    let ending = staging.ending([]);
    let mut summary = analysis.summary(&name, Vec::new());
    if let Some(stopped_by) = observations.as_ref().and_then(Observations::stopped_by) {
        summary.stopped = Some(format!("ended by `--stop-on {stopped_by}`"));
    }
    let results = observations
        .map(|observations| observations.finish(summary.cycles, summary.stopped.is_none()));
    let has_whole_timeline = timelines.finish(results.as_ref(), &staging, &analysis)?;
    summary.observations = results.as_ref().map(Results::page);
    if summary.cycles == 0 && !metadata.component(metadata.main).control.is_empty() {
        return Err(Error::new(format!(
            "{}: `done` is high in cycle 0, although the design has a control program to run before; \
             simulate it again, with a reset before the run",
            path.display()
        )));
    }
    let rendering = Rendering::new(&analysis, Frames::Calyx);
    write(&staging, &metadata, &rendering, &summary, |_| true)?;
    if let Some(results) = &results {
        observations::write(results, &staging)?;
    }
    drop(ending);
    interrupt::check()?;
    staging.commit(&outputs::of_runs())?;
    Ok(Profiled {
        metadata,
        summary,
        memories: String::new(),
        results,
        before: None,
        has_whole_timeline,
    })
}

/// Opens a waveform, which may also come through a pipe while it is made.
fn open(path: &Path, reporter: &dyn Reporter) -> Result<File, Error> {
    let failed = || Error::io("read the waveform", path);
    let kind = fs::metadata(path).map_err(failed())?.file_type();
    if !kind.is_fifo() {
        return petal_files::open(path).map_err(failed());
    }
    // It may take for ever, and there is nothing to clean up yet. Whoever reads the note can end it.
    let _ending = interrupt::Ending::at_once();
    interrupt::check()?;
    reporter.note(&format_args!(
        "waiting for a simulator to write to the pipe {}",
        path.display()
    ));
    File::open(path).map_err(failed())
}
