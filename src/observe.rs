//! Observations of a run: where their request comes from, and where their results go.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use petal_metadata::Metadata;
use petal_observe::{Directory, Memory, Observations, Refused, Request, Results};
use petal_passes::Design;
use petal_reconstruct::Signal;
use petal_visualize::outputs::{OBSERVATION_TABLES, OBSERVATIONS};

use crate::args::ObserveArgs;
use crate::failure::Failure;
use crate::folder::Staging;
use crate::messages;
use crate::places::Places;

/// What is to be observed, and the file that it is from.
pub struct Observing {
    request: Request,
    file: Option<(PathBuf, String)>,
}

impl Observing {
    /// What the arguments ask for. Without `--observe`, the file beside the design is taken, if there is one.
    pub fn new(
        args: &ObserveArgs,
        design: Option<&Path>,
        places: &mut Places,
    ) -> Result<Self, Failure> {
        let beside = design.map(|path| path.with_extension("observe.toml"));
        let path = args.observe.clone();
        let path = path.or_else(|| beside.filter(|path| path.exists()));
        let mut observing = Self {
            request: Request::default(),
            file: None,
        };
        if let Some(path) = path {
            places.reads("the observations", &path)?;
            let text = petal_files::read_to_string(&path).map_err(Failure::io("read", &path))?;
            let request = Request::parse(&text);
            observing.request = request
                .map_err(|problem| Failure::new(format!("{}: {problem}", path.display())))?;
            observing.file = Some((path, text));
        }
        observing.request.extend(args.request());
        Ok(observing)
    }

    /// Makes the observations ready; `None` if nothing is asked for.
    pub fn of<'a>(
        &self,
        metadata: &'a Metadata,
        directory: impl FnOnce() -> Directory,
    ) -> Result<Option<Observations<'a>>, Failure> {
        if self.request.is_empty() {
            return Ok(None);
        }
        let observations = Observations::new(metadata, &directory(), &self.request);
        observations
            .map(Some)
            .map_err(|refused| self.failure(&refused))
    }

    /// Whether the run may end before the design is done.
    pub fn may_stop(&self) -> bool {
        self.request.stop_on.is_some()
    }

    fn failure(&self, refused: &Refused) -> Failure {
        let problem = &refused.problem;
        let place = refused
            .text
            .at
            .zip(self.file.as_ref())
            .map(|(at, (path, text))| {
                let line = text[..at.min(text.len())].matches('\n').count() + 1;
                format!("{}:{line}: ", path.display())
            });
        Failure::new(format!("{}{problem}", place.unwrap_or_default()))
    }
}

/// What can be observed in a design: words of memories only where petal simulates it.
pub fn directory(design: &Design, has_memories: bool) -> Directory {
    let mut directory = if has_memories {
        Directory::with_memories()
    } else {
        Directory::without_memories()
    };
    for instance in design.instances() {
        for cell in instance.cells {
            if let Some(memory) = Memory::of(&cell.primitive, &cell.parameters) {
                let scope = instance.scope.clone();
                let name = cell.name;
                directory.add_memory(Signal { scope, name }, memory);
            }
        }
        directory.add(instance.scope, instance.signals);
    }
    directory
}

/// What can be observed in a waveform.
pub fn directory_of(signals: impl Iterator<Item = (Signal, u32)>) -> Directory {
    let mut directory = Directory::without_memories();
    for (Signal { scope, name }, width) in signals {
        directory.add(scope, [(name, width)]);
    }
    directory
}

/// Writes the results.
pub fn write(results: &Results, staging: &Staging) -> Result<(), Failure> {
    staging.write(OBSERVATIONS, results.json())?;
    for (name, table) in results.tables() {
        let path = format!("{OBSERVATION_TABLES}/{name}");
        staging.write(&path, table)?;
    }
    Ok(())
}

/// The results in the folder of a profile, if something was observed.
pub fn read(dir: &Path) -> Result<Option<Results>, Failure> {
    let path = dir.join(OBSERVATIONS);
    let text = match petal_files::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io("read", &path)(error)),
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::new(format!(
            "{} is damaged: {error}; make it again with `petal run`",
            path.display()
        ))
    })
}

/// Fails, or warns, if a rule was broken.
pub fn judge(results: &Results, fails: bool, quiet: bool) -> Result<(), Failure> {
    let broken: Vec<String> = results
        .rules
        .iter()
        .filter(|rule| rule.cycles > 0)
        .map(|rule| {
            let first = &rule.violations[0];
            let word = if rule.always { "always" } else { "never" };
            let active = first.active.join(" | ");
            format!(
                "{word} {} is broken in {} of {} cycles, first in cycle {}, in which was active: {active}",
                rule.name, rule.cycles, results.cycles, first.cycle
            )
        })
        .collect();
    if broken.is_empty() {
        return Ok(());
    }
    if fails {
        return Err(Failure::new(broken.join("\n")));
    }
    if !quiet {
        broken.iter().for_each(messages::warning);
    }
    Ok(())
}
