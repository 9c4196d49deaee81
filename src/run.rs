//! `petal run`, and its stages one by one.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use petal_metadata::Metadata;
use petal_reconstruct::{
    CompiledView, Event, ReconstructError, Reconstruction, TraceWriter, VcdSource,
};
use petal_simulate::{BuildOptions, RunOptions, Verilator};
use petal_visualize::Summary;

use crate::args::{ControlArg, InstrumentArgs, ReconstructArgs, RunArgs};
use crate::compile;
use crate::failure::Failure;
use crate::folder::{self, Staging};
use crate::outputs::{self, Counted};
use crate::progress::{Progress, Stage};

/// `petal run`: profiles a design.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let progress = Progress::new(args.quiet);
    let (design, metadata) = progress.stage("compiling", |_| compile::instrument(&args.design))?;
    let memories = compile::Memories::of(args, &design)?;
    if let Some(note) = memories.note.as_ref().filter(|_| !args.quiet) {
        eprintln!("note: {note}");
    }
    let verilator = Verilator::find(args.verilator.as_deref())?;
    let name = design_name(&args.design.design);
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("petal-out").join(&name));
    let staging = Staging::new(&out)?;
    staging.write(folder::VERILOG, design.verilog()?)?;
    let work = staging.path("work");
    let simulation = progress.stage("building the simulation", |_| {
        let options = BuildOptions::default();
        verilator
            .build(
                &staging.path(folder::VERILOG),
                &work,
                &cache_dir(),
                &options,
            )
            .map_err(|error| keep_log(error, &out))
    })?;
    memories.write(&work)?;
    let vcd = staging.path(folder::WAVEFORM);
    let options = RunOptions {
        data_dir: work.clone(),
        vcd: Some(vcd.clone()),
        cycle_limit: args.cycle_limit,
    };
    let outcome = progress.stage("simulating", |stage| {
        simulation.run(&options, &mut |cycle| {
            stage.tell(|| format!("cycle {cycle}"));
        })
    })?;
    if !args.quiet {
        eprint!("{}", outcome.output);
    }
    let memories = memories.read(&work)?;
    staging.write(folder::MEMORIES, &memories)?;
    let versions = vec![("verilator".to_owned(), verilator.version().to_owned())];
    let view = args.view.control;
    let summary = progress.stage("reconstructing", |stage| {
        profile(&staging, &metadata, &vcd, &name, versions, view, stage)
    })?;
    if summary.cycles != outcome.cycles {
        return Err(Failure::new(format!(
            "the simulation took {} cycles, but its waveform has {}; please report this",
            outcome.cycles, summary.cycles
        )));
    }
    let mut files = vec![folder::MEMORIES];
    if args.keep {
        files.extend([folder::VERILOG, folder::WAVEFORM]);
    }
    files.extend(outputs::files());
    staging.commit(&files)?;
    report(&summary, &out, args.json, args.quiet)?;
    if args.memories {
        outputs::print(&memories)?;
    }
    Ok(())
}

/// Moves the log that an error names out of the folder that is about to vanish.
fn keep_log(error: petal_simulate::Error, out: &Path) -> Failure {
    if let petal_simulate::Error::Build {
        stage,
        excerpt,
        log,
    } = error
    {
        let kept = out.join(log.file_name().unwrap_or_default());
        let log = fs::copy(&log, &kept).map_or(log, |_| kept);
        return petal_simulate::Error::Build {
            stage,
            excerpt,
            log,
        }
        .into();
    }
    error.into()
}

/// `petal instrument`: compiles a design with probes.
pub fn instrument(args: &InstrumentArgs) -> Result<(), Failure> {
    let (design, metadata) = compile::instrument(&args.design)?;
    folder::write_whole(&args.verilog, design.verilog()?.as_bytes())?;
    folder::write_whole(&args.metadata, metadata.to_json().as_bytes())
}

/// `petal reconstruct`: profiles a waveform.
pub fn reconstruct(args: &ReconstructArgs) -> Result<(), Failure> {
    let progress = Progress::new(args.quiet);
    let metadata = Metadata::read(&args.metadata)?;
    let name = design_name(&args.out);
    let staging = Staging::new(&args.out)?;
    let view = args.view.control;
    let summary = progress.stage("reconstructing", |stage| {
        profile(
            &staging,
            &metadata,
            &args.vcd,
            &name,
            Vec::new(),
            view,
            stage,
        )
    })?;
    staging.commit(&outputs::files())?;
    report(&summary, &args.out, args.json, args.quiet)
}

/// Reads a waveform and writes all files of its profile.
fn profile(
    staging: &Staging,
    metadata: &Metadata,
    vcd: &Path,
    name: &str,
    versions: Vec<(String, String)>,
    view: ControlArg,
    stage: &Stage,
) -> Result<Summary, Failure> {
    let reconstruction = Reconstruction::new(metadata);
    let file = File::open(vcd).map_err(Failure::io("read the waveform", vcd))?;
    let in_waveform =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", vcd.display()));
    let mut source = VcdSource::new(BufReader::new(file), reconstruction.signals())
        .map_err(|error| in_waveform(&error))?;
    let trace = outputs::create(&staging.path(folder::TRACE))?;
    let mut trace = TraceWriter::new(trace, &metadata.fingerprint)?;
    let mut timeline = outputs::timeline(metadata, staging)?;
    let mut counted = Counted::new(metadata, view);
    let compiled = (view == ControlArg::Compiled).then(|| CompiledView::new(metadata));
    reconstruction
        .run(&mut source, &mut |event| {
            trace.event(&event)?;
            if let Event::Run(run) = &event {
                stage.tell(|| format!("cycle {}", run.start.cycles()));
            }
            counted.event(&event);
            let event = match &compiled {
                Some(view) => view.event(event),
                None => event,
            };
            timeline.event(&event)
        })
        .map_err(|error| match error {
            ReconstructError::Source(error) => in_waveform(&error),
            ReconstructError::Sink(error) => {
                Failure::new(format!("cannot write to the output folder: {error}"))
            }
        })?;
    let summary = counted.summary(name, versions);
    counted.write_flames(staging, name)?;
    counted.write_tables(staging)?;
    staging.write(folder::METADATA, metadata.to_json())?;
    staging.write(folder::SUMMARY, summary.json())?;
    Ok(summary)
}

fn report(summary: &Summary, out: &Path, json: bool, quiet: bool) -> Result<(), Failure> {
    if json {
        return outputs::print(&summary.json());
    }
    if quiet {
        return Ok(());
    }
    outputs::print(&format!(
        "{}\n\n{}\n  {out}/flame.svg       open in a browser\n  {out}/timeline.json   open in \
         ui.perfetto.dev\n  {out}/stats/          tables\n",
        summary.design,
        summary.text(),
        out = out.display(),
    ))
}

/// The name of a design: its file's without the extension.
fn design_name(path: &Path) -> String {
    path.file_stem().map_or_else(
        || "design".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Where builds keep what does not depend on the design, by the XDG base directory specification.
fn cache_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = match (variable("XDG_CACHE_HOME"), variable("HOME")) {
        (Some(cache), _) => PathBuf::from(cache),
        (None, Some(home)) => PathBuf::from(home).join(".cache"),
        (None, None) => std::env::temp_dir(),
    };
    let dir = base.join("petal");
    // Where the cache can't be made, builds are only slower.
    match fs::create_dir_all(&dir) {
        Ok(()) => dir,
        Err(_) => std::env::temp_dir().join("petal"),
    }
}
