//! From a sweep's file to its runs: which there are, in which order, and what each is called.
//!
//! Looks for files by patterns, and reads none of them. Starts nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::file::{
    DataEntry, DataFrom, DesignEntry, Many, Parameter, PassesEntry, SweepFile, TIMEOUT,
};
use crate::fill::{filled, is_in_name, plain, shell};
use crate::job::{Job, Name, Source, encoded};
use crate::named::Named;

/// How many runs a sweep may have: each is a process and a folder.
const MOST: usize = 100_000;

/// How many bytes the name of a folder may have.
const LONGEST: usize = 200;

/// What is wrong with a sweep.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    message: String,
    at: Option<Range<usize>>,
}

impl Problem {
    fn new(message: impl Into<String>, at: Range<usize>) -> Self {
        Self {
            message: message.into(),
            at: Some(at),
        }
    }

    /// The line of the file's text in which it is, counted from 1.
    pub fn line(&self, text: &str) -> Option<usize> {
        let at = self.at.as_ref()?;
        Some(text[..at.start.min(text.len())].matches('\n').count() + 1)
    }
}

/// The runs of a sweep whose file is in the folder `dir`, always in the same order.
///
/// # Errors
/// What makes no sense, with its place.
pub fn expand(file: &SweepFile, dir: &Path) -> Result<Vec<Job>, Problem> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut names = HashSet::new();
    let mut named = Named::default();
    let entries: Vec<Vec<Design>> = file
        .designs
        .iter()
        .map(|entry| designs(entry.get_ref(), dir, &entry.span()))
        .collect::<Result<_, _>>()?;
    if let Some(seeds) = file.seeds.as_ref().filter(|_| file.synth.is_none()) {
        let message = "`seeds` are of place and route: name a device with `synth`, too";
        return Err(Problem::new(message, seeds.span()));
    }
    if let Some(period) = file.period.as_ref().filter(|_| file.synth.is_some()) {
        let message = "`synth` tells the period: leave out one of the two";
        return Err(Problem::new(message, period.span()));
    }
    if entries.is_empty() {
        return Err(Problem {
            message: "it names no designs: add a table `[[design]]` with `files` or `generate`"
                .to_owned(),
            at: None,
        });
    }
    let twice = same_stems(&entries);
    for (entry, designs) in file.designs.iter().zip(entries) {
        let (entry, span) = (entry.get_ref(), entry.span());
        for mut design in designs {
            if let Source::File(path) = &design.source
                && entry.name.is_none()
                && twice.contains(&design.label)
            {
                design.label = path.with_extension("").to_string_lossy().into_owned();
                design.family.clone_from(&design.label);
            }
            for job in runs(file, entry, &design, &span)? {
                if jobs.len() == MOST {
                    let message =
                        format!("a sweep has at most {MOST} runs, and this one has more: split it");
                    return Err(Problem::new(message, span));
                }
                if !names.insert(job.name.clone()) {
                    let message = format!("the run {} is there twice; give one a `name`", job.name);
                    return Err(Problem::new(message, span));
                }
                named.check(&job).map_err(|what| {
                    Problem::new(format!("{what}; give one another `name`"), span.clone())
                })?;
                jobs.push(job);
            }
        }
    }
    Ok(jobs)
}

/// A design, of which runs are made.
struct Design {
    label: String,
    family: String,
    parameters: BTreeMap<String, String>,
    source: Source,
}

/// The labels that several files would have.
fn same_stems(entries: &[Vec<Design>]) -> HashSet<String> {
    let mut seen = HashSet::new();
    let all = entries.iter().flatten();
    all.filter(|design| !seen.insert(&design.label))
        .map(|design| design.label.clone())
        .collect()
}

/// The designs of an entry.
fn designs(entry: &DesignEntry, dir: &Path, span: &Range<usize>) -> Result<Vec<Design>, Problem> {
    let refuse = |message: &str| Err(Problem::new(message, span.clone()));
    match (&entry.files, &entry.generate) {
        (Some(patterns), None) if entry.parameters.is_empty() => {
            of_files(patterns, entry.name.as_ref(), dir, span)
        }
        (Some(_), None) => refuse("`parameters` are for a command: use `generate`, not `files`"),
        (None, Some(command)) => match &entry.name {
            Some(name) => of_command(command.get_ref(), &command.span(), name, &entry.parameters),
            None => refuse("a design that a command prints needs a `name`"),
        },
        (Some(_), Some(_)) => refuse("a design has either `files` or a command to `generate` it"),
        (None, None) => refuse("a design needs `files`, or a command to `generate` it"),
    }
}

/// The designs in files.
fn of_files(
    patterns: &Many<String>,
    name: Option<&String>,
    dir: &Path,
    span: &Range<usize>,
) -> Result<Vec<Design>, Problem> {
    let problem = |message: String| Problem::new(message, span.clone());
    // Its own characters are no pattern.
    let base = glob::Pattern::escape(&dir.to_string_lossy());
    let mut files = Vec::new();
    for pattern in &patterns.0 {
        let whole = Path::new(&base).join(pattern);
        let there = glob::glob(&whole.to_string_lossy())
            .map_err(|error| problem(format!("`{pattern}` is no pattern for files: {error}")))?;
        let before = files.len();
        for path in there {
            let path = path.map_err(|error| problem(error.to_string()))?;
            let path = path.strip_prefix(dir).unwrap_or(&path).to_owned();
            if dir.join(&path).is_file() && !files.contains(&path) {
                files.push(path);
            }
        }
        if files.len() == before && !files.iter().any(|file| file == Path::new(pattern)) {
            return Err(problem(format!(
                "there is no file `{pattern}` in {}",
                dir.display()
            )));
        }
    }
    if name.is_some() && files.len() > 1 {
        return Err(problem(format!(
            "one `name` for {} files: give each a `[[design]]` of its own, or leave the name out",
            files.len()
        )));
    }
    let designs = files.into_iter().map(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let label = name.cloned().unwrap_or_else(|| stem.into_owned());
        Design {
            family: label.clone(),
            label,
            parameters: BTreeMap::new(),
            source: Source::File(path),
        }
    });
    Ok(designs.collect())
}

/// The designs that a command prints, with each combination of its parameters.
fn of_command(
    command: &str,
    span: &Range<usize>,
    name: &str,
    parameters: &BTreeMap<String, Many<Parameter>>,
) -> Result<Vec<Design>, Problem> {
    let problem = |message: String| Problem::new(message, span.clone());
    let counts = parameters.values().map(|values| values.0.len() as u128);
    let count = counts.fold(1, u128::saturating_mul);
    if count > MOST as u128 {
        return Err(problem(format!(
            "the parameters have {count} combinations, and a sweep has at most {MOST} runs: leave some values out"
        )));
    }
    let mut all = vec![BTreeMap::new()];
    for (parameter, values) in parameters {
        let mut names = parameter.chars();
        let is_name = names
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && names.all(is_in_name);
        if !is_name || RESERVED.contains(&parameter.as_str()) {
            return Err(problem(format!(
                "`{parameter}` can be no parameter: use letters, digits, `_` and `-`, and none of {}",
                RESERVED.join(", ")
            )));
        }
        if !command.contains(&format!("{{{parameter}}}")) {
            return Err(problem(format!(
                "the parameter `{parameter}` changes nothing: there is no `{{{parameter}}}` in the command"
            )));
        }
        let distinct: BTreeSet<&String> = values.0.iter().map(|value| &value.0).collect();
        if distinct.len() < values.0.len() {
            return Err(problem(format!(
                "the parameter `{parameter}` has a value twice"
            )));
        }
        all = all
            .into_iter()
            .flat_map(|chosen| {
                values.0.iter().map(move |value| {
                    let mut chosen = chosen.clone();
                    chosen.insert(parameter.clone(), value.0.clone());
                    chosen
                })
            })
            .collect();
    }
    let design = |parameters: BTreeMap<String, String>| {
        let mut label = name.to_owned();
        for (parameter, value) in &parameters {
            let _ = write!(label, " {parameter}={value}");
        }
        Ok(Design {
            label,
            family: name.to_owned(),
            source: Source::Command(filled(command, &parameters, shell).map_err(problem)?),
            parameters,
        })
    };
    all.into_iter().map(design).collect()
}

/// The runs of a design.
fn runs(
    file: &SweepFile,
    entry: &DesignEntry,
    design: &Design,
    span: &Range<usize>,
) -> Result<Vec<Job>, Problem> {
    let problem = |message: String| Problem::new(message, span.clone());
    let mut values = design.parameters.clone();
    if let Source::File(path) = &design.source {
        values.insert(DESIGN.to_owned(), path.to_string_lossy().into_owned());
    }
    let observe = entry.observe.as_ref().or(file.observe.as_ref());
    let observe = observe
        .map(|path| filled(path.get_ref(), &values, plain))
        .transpose()
        .map_err(problem)?
        .map(PathBuf::from);
    let pipelines = entry.passes.as_ref().or(file.passes.as_ref());
    let pipelines = pipelines.map_or_else(|| vec![PassesEntry::all()], |many| many.0.clone());
    let data = entry.data.as_ref().or(file.data.as_ref());
    let data: Vec<(String, Option<Source>)> = match data {
        Some(sets) => sets
            .0
            .iter()
            .map(|set| of_data(set, &values).map_err(problem))
            .collect::<Result<_, _>>()?,
        None => vec![("default".to_owned(), None)],
    };
    let mut jobs = Vec::new();
    for passes in &pipelines {
        for (set, source) in &data {
            for (what, name) in [
                ("design", &design.label),
                ("pipeline", &passes.name),
                ("data set", set),
            ] {
                if name.is_empty() || encoded(name).len() > LONGEST {
                    return Err(problem(format!(
                        "`{name}` can be no folder's name, since it is empty or too long: give the {what} another `name`"
                    )));
                }
            }
            jobs.push(Job {
                name: Name {
                    design: design.label.clone(),
                    parameters: design.parameters.clone(),
                    passes: passes.name.clone(),
                    data: set.clone(),
                },
                family: design.family.clone(),
                design: design.source.clone(),
                data: source.clone(),
                observe: observe.clone(),
                options: options(file, passes),
                library: file.library.0.clone(),
                timeout: file.timeout.unwrap_or(TIMEOUT),
                memory: file.memory.as_ref().map(|size| size.get_ref().clone()),
                keeps_profile: file.profiles.unwrap_or(true),
            });
        }
    }
    Ok(jobs)
}

/// The options of `petal run` that are the same for all designs and data.
fn options(file: &SweepFile, passes: &PassesEntry) -> Vec<String> {
    let mut options = vec![format!("--passes={}", passes.list)];
    let mut add = |option: &str, values: &[String]| {
        options.extend(values.iter().map(|value| format!("{option}={value}")));
    };
    add("--disable-pass", &passes.disable);
    add("--extra-opt", &passes.extra);
    add("--checkpoint", &file.checkpoint.0);
    add("--latency", &file.latency.0);
    add("--watch", &file.watch.0);
    add("--access", &file.access.0);
    add("--never", &file.never.0);
    add("--always", &file.always.0);
    add("--count", &file.count.0);
    let folders = file.library.0.iter();
    let folders: Vec<String> = folders.map(|dir| dir.to_string_lossy().into()).collect();
    add("--library", &folders);
    let limit = file.cycle_limit.map(|limit| limit.to_string());
    add("--cycle-limit", limit.as_slice());
    add(
        "--max-memory",
        file.memory
            .as_ref()
            .map(|size| size.get_ref().clone())
            .as_slice(),
    );
    let device = file.synth.map(|device| device.name().to_owned());
    add("--synth", device.as_slice());
    let seeds = file.seeds.as_ref().map(|seeds| seeds.get_ref().to_string());
    add("--seeds", seeds.as_slice());
    let period = file.period.as_ref().map(|of| of.get_ref().clone());
    add("--period", period.as_slice());
    if file.strict == Some(true) {
        options.push("--strict".to_owned());
    }
    options
}

/// What a data set is called, and where it comes from.
fn of_data(
    entry: &DataEntry,
    values: &BTreeMap<String, String>,
) -> Result<(String, Option<Source>), String> {
    Ok(match &entry.from {
        DataFrom::File(path) => {
            let path = PathBuf::from(filled(path, values, plain)?);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = entry.name.clone().unwrap_or_else(|| name.into_owned());
            (name, Some(Source::File(path)))
        }
        DataFrom::Command(command) => {
            let name = entry.name.clone().unwrap_or_default();
            (name, Some(Source::Command(filled(command, values, shell)?)))
        }
    })
}

/// What is called so in tables of runs already.
const RESERVED: [&str; 26] = [
    "design",
    "family",
    "passes",
    "data",
    "profile",
    "digest",
    "pipeline",
    "cycles",
    "useful",
    "computation",
    "conditions",
    "overhead",
    "fsm_update",
    "par_done_update",
    "fsm_and_par_done_update",
    "static_wait",
    "barrier",
    "start_finish",
    "other",
    "stopped",
    "error",
    "verified",
    "petal",
    "calyx",
    "parameters",
    "figures",
];

/// The place of a design's file in the texts of data and observations.
const DESIGN: &str = "design";
