//! One run of a sweep after the other: what it depends on, and a process of its own that does it.
//!
//! Every run leaves a row, whatever happens to it. Knows the folder of a sweep, and nothing of what rows are for.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use petal_observe::Results;
use petal_passes::{CALYX_VERSION, Library, Parsed, Source as Design};
use petal_sweep::{Inputs, Job, Name, Row, Source, encoded};
use petal_visualize::outputs::{OBSERVATIONS, SUMMARY};
use serde_json::Value as Json;

use super::process::{self, Guard, Limits};
use super::{GENERATED, PROFILES, ROWS};
use crate::failure::Failure;
use crate::folder;
use crate::front_end::SourceRoots;
use crate::versions;

/// Where runs are done.
pub struct Shop {
    /// The folder of the sweep's file, in which everything runs.
    pub dir: PathBuf,
    /// The folder of the sweep.
    pub out: PathBuf,
    /// The words of the command that is petal.
    pub program: Vec<OsString>,
    /// How many bytes of memory a run may have.
    pub memory: Option<u64>,
    /// What commands printed, and designs with all that they import.
    pub generated: Memo<Source, Result<Arc<Vec<u8>>, String>>,
    pub designs: Memo<PathBuf, Vec<(String, Vec<u8>)>>,
    /// What changed since earlier results, and how many runs were done again for it.
    pub changed: Mutex<BTreeMap<String, usize>>,
    /// Ends the processes of runs if this one is killed.
    pub guard: Guard,
}

/// Values that are made once, although several threads want them at the same time.
pub struct Memo<K, V>(Mutex<HashMap<K, Arc<OnceLock<V>>>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + std::hash::Hash, V: Clone> Memo<K, V> {
    fn of(&self, key: &K, make: impl FnOnce() -> V) -> V {
        let cell = {
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(key.clone()).or_default())
        };
        cell.get_or_init(make).clone()
    }
}

/// A run whose inputs are there.
struct Ready {
    inputs: Inputs,
    /// The design, if it is for standard input.
    input: Option<Arc<Vec<u8>>>,
    /// The data that were generated.
    data: Option<Arc<Vec<u8>>>,
}

impl Shop {
    /// The row of a run: that of an earlier one with the same inputs, if it gave a result. Second, whether it is.
    pub fn row(&self, job: &Job) -> Result<(Row, bool), Failure> {
        let place = self.place(job);
        fs::create_dir_all(&place).map_err(Failure::io("create the folder", &place))?;
        // Another command may be at this run, for the same sweep. Some file systems have no locks: then both do it.
        let lock = File::open(&place).map_err(Failure::io("open", &place))?;
        let _ = lock.lock();
        let row = match self.ready(job)? {
            (ready, None) => {
                let earlier = self.earlier(job);
                if let Some(row) = earlier.as_ref().filter(|row| row.is_of(&ready.inputs)) {
                    return Ok((row.clone(), true));
                }
                let earlier = earlier.filter(|row| row.error.is_none());
                if let Some(what) = earlier
                    .as_ref()
                    .and_then(|row| ready.inputs.changed(&row.inputs))
                {
                    let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
                    *changed.entry(what.to_owned()).or_default() += 1;
                }
                self.run(job, ready)?
            }
            (ready, Some(error)) => Row::failed(job, ready.inputs, self.portable(&error)),
        };
        if row.error.is_some() || !job.keeps_profile {
            remove(&self.profile(job))?;
        }
        folder::write_whole(&place.join(ROW), row.json().as_bytes())?;
        Ok((row, false))
    }

    /// The row that there is of a run, with its profile if that is to be kept.
    pub fn earlier(&self, job: &Job) -> Option<Row> {
        let text = fs::read_to_string(self.place(job).join(ROW)).ok()?;
        let row = Row::parse(text.as_bytes())?;
        let is_whole = !job.keeps_profile || self.profile(job).join(SUMMARY).exists();
        (row.name == job.name && (row.error.is_some() || is_whole)).then_some(row)
    }

    fn place(&self, job: &Job) -> PathBuf {
        self.out.join(ROWS).join(job.name.folder())
    }

    fn profile(&self, job: &Job) -> PathBuf {
        self.out.join(PROFILES).join(job.name.folder())
    }

    fn limits(&self, job: &Job) -> Limits {
        Limits {
            time: Duration::from_secs(job.timeout),
            memory: self.memory,
        }
    }

    /// A message without what differs from one machine to another.
    fn portable(&self, message: &str) -> String {
        let out = format!("{}/", self.out.display());
        let message = message.strip_prefix("error: ").unwrap_or(message);
        message.replace(&out, "")
    }

    /// Gets all inputs of a run: also what could be found out where something is missing.
    fn ready(&self, job: &Job) -> Result<(Ready, Option<String>), Failure> {
        let mut ready = Ready {
            inputs: self.known(job),
            input: None,
            data: None,
        };
        if let Source::Command(_) = &job.design {
            let name = &job.name.design;
            match self.print(job, &job.design, "design")? {
                Ok(text) => {
                    let what = format!("what the command of the design {name} prints");
                    ready.inputs.add(&what, &text);
                    self.keep(&kept_design(job), &text)?;
                    ready.input = Some(text);
                }
                Err(error) => return Ok((ready, Some(error))),
            }
        }
        if let Some(source @ Source::Command(_)) = &job.data {
            match self.print(job, source, "data set")? {
                Ok(text) => {
                    let Name { design, data, .. } = &job.name;
                    let what = format!("what the command of the data {data} of {design} prints");
                    ready.inputs.add(&what, &text);
                    ready.data = Some(text);
                }
                Err(error) => return Ok((ready, Some(error))),
            }
        }
        let data = match &job.data {
            Some(Source::File(path)) => Some(("data file", path)),
            _ => None,
        };
        let observe = job.observe.as_ref().map(|path| ("observations", path));
        for (what, path) in data.into_iter().chain(observe) {
            let path = self.dir.join(path);
            if let Err(error) = petal_files::read(&path) {
                let path = path.display();
                return Ok((
                    ready,
                    Some(format!("cannot read the {what} {path}: {error}")),
                ));
            }
        }
        Ok((ready, None))
    }

    /// The inputs of a run that are known without starting anything.
    pub fn known(&self, job: &Job) -> Inputs {
        let mut inputs = Inputs::default();
        let petal = format!("{} {CALYX_VERSION}", versions::PETAL);
        inputs.add("the version of petal", petal.as_bytes());
        let is_pass = |option: &&String| {
            let passes = ["--passes=", "--disable-pass=", "--extra-opt="];
            passes.iter().any(|name| option.starts_with(name))
        };
        let (passes, others): (Vec<&String>, Vec<&String>) = job.options.iter().partition(is_pass);
        let text = |options: Vec<&String>| serde_json::to_vec(&options).unwrap_or_default();
        inputs.add(&format!("the pipeline {}", job.name.passes), &text(passes));
        inputs.add("the options of all runs", &text(others));
        match &job.design {
            Source::File(path) => {
                for (name, digest) in self.designs.of(path, || self.texts(path, job)) {
                    inputs.add(&name, &digest);
                }
            }
            Source::Command(command) => {
                let what = format!("the command of the design {}", job.name.design);
                inputs.add(&what, command.as_bytes());
            }
        }
        // What petal takes if nothing else is said lies beside the design.
        let beside = |extension: &str| match &job.design {
            Source::File(path) => Some(path.with_extension(extension)),
            Source::Command(_) => None,
        };
        let data = match &job.data {
            Some(Source::Command(command)) => {
                let Name { design, data, .. } = &job.name;
                let what = format!("the command of the data {data} of {design}");
                inputs.add(&what, command.as_bytes());
                None
            }
            Some(Source::File(path)) => Some(path.clone()),
            None => match &job.design {
                Source::File(path) => {
                    let mut path = path.clone().into_os_string();
                    path.push(".data");
                    Some(PathBuf::from(path))
                }
                Source::Command(_) => None,
            },
        };
        let observe = job.observe.clone().or_else(|| beside("observe.toml"));
        for path in data.into_iter().chain(observe) {
            if let Ok(text) = petal_files::read(&self.dir.join(&path)) {
                inputs.add(&path.to_string_lossy(), &text);
            }
        }
        inputs
    }

    /// The texts of a design, of all that it is made of, and of the front end's files that it names: of one that can't be parsed its own
    /// alone. Each has a name that is the same on other machines.
    fn texts(&self, path: &Path, job: &Job) -> Vec<(String, Vec<u8>)> {
        let own = petal_files::read(&self.dir.join(path)).unwrap_or_default();
        let mut texts = vec![(path.to_string_lossy().into_owned(), own)];
        let path = self.dir.join(path);
        let folders: Vec<PathBuf> = job.library.iter().map(|dir| self.dir.join(dir)).collect();
        let name = |file: &Path| {
            let near = file.strip_prefix(&self.dir).ok();
            let name = near.or(file.file_name().map(Path::new)).unwrap_or(file);
            name.to_string_lossy().into_owned()
        };
        let is_own = |file: &&PathBuf| file.canonicalize().ok() != path.canonicalize().ok();
        if let Ok(library) = Library::new(&folders)
            && let Ok(parsed) = Parsed::read(Design::from(&*path), &library)
        {
            let files = parsed.files().iter().filter(is_own);
            let files = files.filter_map(|file| Some((name(file), petal_files::read(file).ok()?)));
            texts.extend(files);
            if let Ok(roots) = SourceRoots::new(Some(&path), &[]) {
                let (front_end, _) = roots.read(parsed.front_end_files());
                let front_end = front_end.into_iter();
                texts.extend(front_end.map(|(file, text)| (name(Path::new(&file)), text.into())));
            }
        }
        // The parser tells them in no particular order.
        texts[1..].sort_unstable();
        texts
    }

    /// What a command prints, which runs once for all runs that need it.
    fn print(
        &self,
        job: &Job,
        source: &Source,
        what: &str,
    ) -> Result<Result<Arc<Vec<u8>>, String>, Failure> {
        let Source::Command(text) = source else {
            return Ok(Err("there is no command".to_owned()));
        };
        let printed = self.generated.of(source, || {
            let mut command = Command::new("sh");
            command.args(["-c", text]).current_dir(&self.dir);
            command.stdin(Stdio::null());
            let failed = |error: String| format!("cannot generate the {what} by `{text}`: {error}");
            match process::run(&mut command, self.limits(job), &self.guard) {
                Ok(Ok(printed)) if printed.output.trim_ascii().is_empty() => {
                    let told = format!("it printed nothing\n{}", printed.messages);
                    Err(failed(told.trim_end().to_owned()))
                }
                Ok(Ok(printed)) => Ok(Arc::new(printed.output)),
                Ok(Err(error)) => Err(failed(error)),
                Err(interrupted) => Err(interrupted.to_string()),
            }
        });
        crate::interrupt::check()?;
        Ok(printed)
    }

    /// Keeps what was generated for the user to look at.
    fn keep(&self, name: &Path, text: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.out.join(name);
        let dir = path.parent().unwrap_or(&self.out);
        fs::create_dir_all(dir).map_err(Failure::io("create the folder", dir))?;
        if fs::read(&path).is_ok_and(|there| there == text) {
            return Ok(path);
        }
        folder::write_whole(&path, text)?;
        Ok(path)
    }

    /// Does a run.
    fn run(&self, job: &Job, ready: Ready) -> Result<Row, Failure> {
        let [program, words @ ..] = &*self.program else {
            return Err(Failure::new("there is no program to run"));
        };
        let mut command = Command::new(program);
        command.args(words).arg("run").current_dir(&self.dir);
        let profile = self.profile(job);
        match &job.design {
            Source::File(path) => command.arg(path).stdin(Stdio::null()),
            Source::Command(_) => {
                let path = self.out.join(kept_design(job));
                let text = File::open(&path).map_err(Failure::io("read", &path))?;
                command.arg("-").stdin(text)
            }
        };
        match (&job.data, &ready.data) {
            (_, Some(text)) => {
                command.arg("--data").arg(self.keep(&kept_data(job), text)?);
            }
            (Some(Source::File(path)), None) => {
                command.arg("--data").arg(path);
            }
            _ => {}
        }
        if let Some(path) = &job.observe {
            command.arg("--observe").arg(path);
        }
        command
            .args(&job.options)
            .args(["--color", "never", "--quiet"]);
        command.arg("--name").arg(job.name.design.replace('/', " "));
        command.arg("--out").arg(&profile);
        let inputs = ready.inputs;
        Ok(
            match process::run(&mut command, self.limits(job), &self.guard)? {
                Ok(_) => Row {
                    name: job.name.clone(),
                    inputs,
                    error: None,
                    figures: figures(&profile)?,
                },
                Err(error) => Row::failed(job, inputs, self.portable(&error)),
            },
        )
    }
}

/// The file of a row, in a folder of its own that is locked while somebody is at the run.
pub const ROW: &str = "row.json";

/// Where a generated design is kept in the folder of the sweep.
fn kept_design(job: &Job) -> PathBuf {
    Path::new(GENERATED).join(format!("{}.futil", encoded(&job.name.design)))
}

/// Where the generated data of a design are kept there: in folders, so that no two names make one.
fn kept_data(job: &Job) -> PathBuf {
    let dir = Path::new(GENERATED).join("data");
    let dir = dir.join(encoded(&job.name.design));
    dir.join(format!("{}.json", encoded(&job.name.data)))
}

/// Removes a folder, if it is there.
pub fn remove(dir: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::io("remove", dir)(error))
        }
        _ => Ok(()),
    }
}

/// What the cycles of a kind of overhead are called as a figure.
pub fn overhead(kind: &str) -> String {
    format!("{}_cycles", kind.replace('-', "_"))
}

/// The figures of a profile.
fn figures(profile: &Path) -> Result<BTreeMap<String, u64>, Failure> {
    let path = profile.join(SUMMARY);
    let text = petal_files::read(&path).map_err(Failure::io("read", &path))?;
    let summary: Json = serde_json::from_slice(&text)?;
    let mut figures = BTreeMap::new();
    let mut add = |name: String, value: &Json| {
        if let Some(value) = value.as_u64() {
            figures.insert(name, value);
        }
    };
    for name in [
        "cycles",
        "useful_cycles",
        "computation_cycles",
        "condition_cycles",
        "overhead_cycles",
    ] {
        add(name.to_owned(), &summary[name]);
    }
    for (kind, cycles) in summary["overhead"].as_object().into_iter().flatten() {
        add(overhead(kind), cycles);
    }
    for (name, value) in summary["hardware"].as_object().into_iter().flatten() {
        add(name.clone(), value);
    }
    let path = profile.join(OBSERVATIONS);
    if let Ok(text) = petal_files::read(&path) {
        let results: Results = serde_json::from_slice(&text)?;
        for of in &results.counters {
            figures.insert(format!("count:{}", of.name), of.total);
        }
        for of in &results.checkpoints {
            figures.insert(format!("checkpoint:{}", of.name), of.cycles.len() as u64);
        }
        for of in &results.latencies {
            for (what, value) in [("median", of.median), ("max", of.max)] {
                if let Some(value) = value {
                    figures.insert(format!("latency:{}:{what}", of.name), value);
                }
            }
        }
        for of in &results.rules {
            figures.insert(format!("broken:{}", of.name), of.cycles);
        }
    }
    Ok(figures)
}
