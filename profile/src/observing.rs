//! What to observe in a run: where the request comes from, and what there is to observe.

use std::path::{Path, PathBuf};

use petal_embedded::Latencies;
use petal_metadata::Metadata;
use petal_observe::{Countable, Directory, Observations, Promise, Refused, Request, countable};
use petal_passes::Design;
use petal_reconstruct::Signal;

use crate::compile;
use crate::error::Error;
use crate::options::{DesignOptions, ObserveOptions};
use crate::places::Places;
use crate::reporter::Reporter;

/// What is to be observed, and the file that it is from.
pub(crate) struct Observing {
    request: Request,
    file: Option<(PathBuf, String)>,
    /// How many bytes results may take.
    limit: u64,
    /// Whether reads of undriven ports are looked for.
    is_undriven: bool,
}

impl Observing {
    /// What the options ask for. If they name no file, the one beside the design is taken, if there is one.
    pub fn new(
        options: &ObserveOptions,
        design: Option<&Path>,
        limit: u64,
        places: &mut Places,
    ) -> Result<Self, Error> {
        let beside = design.and_then(|path| {
            let name = path.file_name()?.to_str()?;
            let name = name.strip_suffix(".futil").unwrap_or(name);
            Some(path.with_file_name(format!("{name}.observe.toml")))
        });
        let path = options.file.clone();
        let path = path.or_else(|| beside.filter(|path| path.is_file()));
        let mut observing = Self {
            request: Request::default(),
            file: None,
            limit,
            is_undriven: options.undriven,
        };
        if let Some(path) = path {
            places.reads("the observations", &path)?;
            let text = petal_files::read_to_string(&path).map_err(Error::io("read", &path))?;
            let request = Request::parse(&text);
            observing.request =
                request.map_err(|problem| Error::new(format!("{}: {problem}", path.display())))?;
            observing.file = Some((path, text));
        }
        observing.request.extend(options.request.clone());
        Ok(observing)
    }

    /// Makes the observations ready; `None` if there are none.
    pub fn of<'a>(
        &self,
        metadata: &'a Metadata,
        directory: impl FnOnce() -> Directory,
    ) -> Result<Option<Observations<'a>>, Error> {
        if !self.is_asked(metadata) && self.request.promises.is_empty() {
            return Ok(None);
        }
        let observations = Observations::new(metadata, &directory(), &self.request);
        let mut observations = observations.map_err(|refused| self.failure(&refused))?;
        observations.limit(self.limit);
        Ok(Some(observations))
    }

    /// Watches what nobody names: whether the user's libraries say what is so, and whether undriven ports are read, if that is to be told.
    pub fn watch(&mut self, design: &Design, latencies: &Latencies) {
        self.watch_promises(design);
        if self.is_undriven {
            self.watch_undriven(design, latencies);
        }
    }

    fn watch_promises(&mut self, design: &Design) {
        let promises = design.promises();
        if promises.is_empty() {
            return;
        }
        for instance in design.instances() {
            let path = instance.scope[1..].join(".");
            for cell in instance.cells {
                let Some(promise) = promises.get(&cell.primitive) else {
                    continue;
                };
                let port = |port: &str| Signal {
                    scope: instance.scope.clone(),
                    name: format!("{}_{port}", cell.name),
                };
                self.request.promises.push(Promise {
                    go: port(&promise.go),
                    done: port(&promise.done),
                    cycles: promise.cycles,
                    cell: format!("{path}.{}", cell.name),
                    primitive: cell.primitive,
                });
            }
        }
    }

    fn watch_undriven(&mut self, design: &Design, latencies: &Latencies) {
        // What can't be simulated is told when it is to run.
        let reads = petal_embedded::undriven(design.program(), latencies);
        self.request.may_read = reads.unwrap_or_default();
    }

    /// Whether something was asked for, or is told of this design anyway.
    pub fn is_asked(&self, metadata: &Metadata) -> bool {
        !self.request.is_empty() || Observations::are_of_design(metadata)
    }

    /// Whether the run may end before the design is done.
    pub fn may_stop(&self) -> bool {
        self.request.stop_on.is_some()
    }

    /// Whether only parts of the run are kept.
    pub fn have_windows(&self) -> bool {
        !self.request.windows.is_empty()
    }

    fn failure(&self, refused: &Refused) -> Error {
        let problem = &refused.problem;
        let place = refused
            .text
            .at
            .zip(self.file.as_ref())
            .map(|(at, (path, text))| {
                let line = text[..at.min(text.len())].matches('\n').count() + 1;
                format!("{}:{line}: ", path.display())
            });
        match place {
            Some(place) => Error::new(format!("{place}{problem}")),
            None => refusal(refused),
        }
    }
}

/// What is wrong with a text that is from no file.
pub(crate) fn refusal(refused: &Refused) -> Error {
    let option = refused.text.option.as_ref();
    let option = option.map(|option| format!("`{option}`: "));
    let problem = &refused.problem;
    Error::new(format!("{}{problem}", option.unwrap_or_default()))
}

/// What can be observed in a design: words of memories only where petal simulates it.
pub(crate) fn directory(design: &Design, has_memories: bool) -> Directory {
    let mut directory = if has_memories {
        Directory::with_memories()
    } else {
        Directory::without_memories()
    };
    for instance in design.instances() {
        for cell in instance.cells {
            let (scope, name) = (instance.scope.clone(), cell.name);
            directory.add_cell(Signal { scope, name }, &cell.primitive, &cell.parameters);
        }
        directory.add(instance.scope, instance.signals);
    }
    directory
}

/// What can be observed in a waveform.
pub(crate) fn directory_of(signals: impl Iterator<Item = (Signal, u32)>) -> Directory {
    let mut directory = Directory::without_memories();
    for (Signal { scope, name }, width) in signals {
        directory.add(scope, [(name, width)]);
    }
    directory
}

/// What can be counted in a design.
///
/// # Errors
/// When it can't be compiled.
pub fn counters(options: &DesignOptions, reporter: &dyn Reporter) -> Result<Vec<Countable>, Error> {
    // Nothing runs that would have to be verified.
    let options = DesignOptions {
        is_verified: false,
        ..options.clone()
    };
    let compile::Compiled {
        design, metadata, ..
    } = compile::instrument(&options, None, &mut Places::default(), reporter)?;
    Ok(countable(&metadata, &directory(&design, true)))
}
