//! `petal reconstruct`.

use petal_metadata::Metadata;
use petal_observe::{Observations, Results};
use petal_reconstruct::Reconstruction;

use crate::args::ReconstructArgs;
use crate::design;
use crate::events;
use crate::failure::Failure;
use crate::folder::Staging;
use crate::follow::{Followed, Output, open_waveform};
use crate::interrupt;
use crate::messages;
use crate::observe::{self, Observing};
use crate::outputs;
use crate::places::Places;
use crate::progress::Progress;
use crate::run::{report, warn, write};

/// `petal reconstruct`: profiles a waveform.
pub fn reconstruct(args: &ReconstructArgs) -> Result<(), Failure> {
    let mut places = Places::default();
    places.writes_profile(&args.out)?;
    places.reads("the metadata", &args.metadata)?;
    places.reads("the waveform", &args.waveform)?;
    let others = [("--json", args.json)];
    events::check(&args.observe, args.view.control, &others, &mut places)?;
    let observing = Observing::new(&args.observe, None, &mut places)?;
    let progress = Progress::new(args.quiet);
    let metadata = Metadata::read(&args.metadata)?;
    let waveform = open_waveform(&args.waveform, args.quiet)?;
    let name = design::name(&args.out);
    let staging = Staging::new(&args.out)?;
    let reconstruction = Reconstruction::new(&metadata);
    let Followed {
        analysis,
        timelines,
        observations,
    } = progress.stage("reconstructing", |stage| {
        let output = Output {
            staging: &staging,
            metadata: &metadata,
            reconstruction: &reconstruction,
            view: args.view.control,
            name: &name,
            events: args.observe.events.as_deref(),
            cycle_limit: u64::MAX,
            stage,
        };
        output.read_file(&args.waveform, waveform, &observing)
    })?;
    let ending = staging.ending([]);
    let mut summary = analysis.summary(&name, Vec::new());
    if let Some(stopped_by) = observations.as_ref().and_then(Observations::stopped_by) {
        summary.stopped = Some(format!("ended by `--stop-on {stopped_by}`"));
    }
    let results = observations
        .map(|observations| observations.finish(summary.cycles, summary.stopped.is_none()));
    timelines.finish(results.as_ref(), &staging)?;
    summary.observations = results.as_ref().map(Results::page);
    if summary.cycles == 0 && !metadata.component(metadata.main).control.is_empty() {
        return Err(Failure::new(format!(
            "{}: `done` is high in cycle 0, although the design has a control program to run before; \
             simulate it again, with a reset before the run",
            args.waveform.display()
        )));
    }
    write(&staging, &metadata, &analysis, &summary)?;
    if let Some(results) = &results {
        observe::write(results, &staging)?;
    }
    drop(ending);
    interrupt::check()?;
    staging.commit(&outputs::files())?;
    let quiet = args.quiet || events::take_output(&args.observe);
    report(&summary, results.as_ref(), &args.out, args.json, quiet)?;
    warn(&summary, args.quiet);
    if let Some(early) = summary.early_end().filter(|_| !args.quiet) {
        messages::note(early);
    }
    match &results {
        Some(results) => observe::judge(results, args.observe.fail_on_violation, args.quiet),
        None => Ok(()),
    }
}
