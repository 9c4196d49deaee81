//! Designs that record observations themselves, and what their memories tell after a run elsewhere.

use std::path::{Path, PathBuf};

use petal_data::Data;
use petal_observe::{MonitorFile, Request, Results, Room};

use crate::compile::{self, Compiled};
use crate::error::Error;
use crate::memories::{self, Memories};
use crate::observing::{directory, refusal};
use crate::options::{DesignOptions, Options};
use crate::places::Places;
use crate::reporter::Reporter;

/// What a design is to record.
#[derive(Debug, Clone)]
pub struct MonitorOptions {
    /// The design.
    pub design: DesignOptions,
    /// What the design is called.
    pub name: String,
    /// The file with the contents of the memories. Default: `DESIGN.futil.data` if there is one, else they are zero.
    pub data: Option<PathBuf>,
    /// The checkpoints to record.
    pub request: Request,
    /// Which entries there is room for.
    pub room: Room,
}

/// A design that records observations itself.
#[derive(Debug)]
pub struct MonitoredDesign {
    /// The lowered design as Calyx.
    pub text: String,
    /// Its memories before a run: the text of a data file.
    pub data: String,
    /// What its memories mean after it.
    pub file: MonitorFile,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What the compiler may have made wrong.
    pub warnings: Vec<String>,
}

/// Puts a monitor into a design.
///
/// # Errors
/// When the design can't be compiled, or the monitor can't record what is asked for.
pub fn monitor(
    options: &MonitorOptions,
    places: &mut Places,
    reporter: &dyn Reporter,
) -> Result<MonitoredDesign, Error> {
    let run = Options {
        data: options.data.clone(),
        ..Options::new(options.design.clone())
    };
    if let Some(data) = run.data_file() {
        places.reads("the data file", &data)?;
    }
    let Compiled {
        design,
        metadata,
        mut notes,
        verification,
        ..
    } = compile::instrument(&options.design, None, places, reporter)?;
    if metadata.scope.len() > 2 {
        let main = &metadata.component(metadata.main).name;
        return Err(Error::new(format!(
            "the entry point is called `{main}`, and so Calyx wraps it when it compiles it: what comes out has memories where no compiler \
             reads them again; call it `main`"
        )));
    }
    let memories = Memories::of(&run, &design)?;
    if let Some(verification) = verification
        && !verification.by_structure(&design)?
    {
        return Err(Error::new(
            "the probes that the monitor takes its events from change how the design is built, so what it records would not be true of \
             the plain one (`--unverified` goes on nevertheless)",
        ));
    }
    let mut directory = directory(&design, true);
    memories.add_formats(&metadata.scope, &mut directory);
    let (request, name) = (&options.request, &options.name);
    let plan = petal_observe::monitor(&metadata, &directory, request, name, &options.room);
    let plan = plan.map_err(|refused| refusal(&refused))?;
    notes.extend(memories.notes.iter().cloned());
    notes.extend(plan.notes);
    let (warnings, own) = (design.warnings.clone(), design.memories.len());
    let monitored = design.monitored(&metadata, &plan.monitor)?;
    let added = memories::layouts(&monitored.memories[own..])?;
    Ok(MonitoredDesign {
        text: monitored.text,
        data: memories.with_more(&added),
        file: plan.file,
        notes,
        warnings,
    })
}

/// What the memories of a monitored design tell after a run, with the file that tells what they mean.
///
/// # Errors
/// When a file can't be read, or they do not belong together.
pub fn read_monitor(memories: &Path, file: &Path) -> Result<(MonitorFile, Results), Error> {
    let text = petal_files::read_to_string(file).map_err(Error::io("read", file))?;
    let monitor = MonitorFile::parse(&text).map_err(|problem| {
        Error::new(format!(
            "{} is not the metadata of a monitor: {problem}",
            file.display()
        ))
    })?;
    let text = petal_files::read_to_string(memories).map_err(Error::io("read", memories))?;
    let data = Data::parse_left(&text, memories, |name| monitor.is_own(name))?;
    let results = monitor
        .read(&data)
        .map_err(|problem| Error::new(format!("{}: {problem}", memories.display())))?;
    Ok((monitor, results))
}
