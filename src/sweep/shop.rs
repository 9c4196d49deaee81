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
use petal_sweep::{Inputs, Job, Row, Source, encoded};
use petal_visualize::outputs::{OBSERVATIONS, SUMMARY};
use serde_json::Value as Json;

use super::process::{self, Limits};
use super::{GENERATED, PROFILES, ROWS};
use crate::failure::Failure;
use crate::folder;
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
    pub designs: Memo<PathBuf, Vec<Vec<u8>>>,
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
    digest: String,
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
            Ok(ready) => {
                if let Some(row) = self.earlier(job).filter(|row| row.is_of(&ready.digest)) {
                    return Ok((row, true));
                }
                self.run(job, &ready)?
            }
            Err(error) => Row::failed(job, None, self.portable(&error)),
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
        let row: Row = serde_json::from_str(&text).ok()?;
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

    /// Gets all inputs of a run.
    fn ready(&self, job: &Job) -> Result<Result<Ready, String>, Failure> {
        let mut inputs = Inputs::new(&format!("{} {CALYX_VERSION}", versions::PETAL));
        for option in &job.options {
            inputs.add("option", option.as_bytes());
        }
        let mut ready = Ready {
            digest: String::new(),
            input: None,
            data: None,
        };
        match &job.design {
            Source::File(path) => {
                for text in self.designs.of(path, || self.texts(path, job)) {
                    inputs.add("design", &text);
                }
            }
            Source::Command(_) => match self.print(job, &job.design, "design")? {
                Ok(text) => {
                    inputs.add("design", &text);
                    self.keep(&job.name.design, "futil", &text)?;
                    ready.input = Some(text);
                }
                Err(error) => return Ok(Err(error)),
            },
        }
        match &job.data {
            Some(source @ Source::Command(_)) => match self.print(job, source, "data set")? {
                Ok(text) => {
                    inputs.add("data", &text);
                    ready.data = Some(text);
                }
                Err(error) => return Ok(Err(error)),
            },
            Some(Source::File(path)) => {
                let path = self.dir.join(path);
                match petal_files::read(&path) {
                    Ok(text) => inputs.add("data", &text),
                    Err(error) => {
                        let path = path.display();
                        return Ok(Err(format!("cannot read the data file {path}: {error}")));
                    }
                }
            }
            // What petal takes if nothing else is said.
            None => {
                for (what, text) in self.beside(job) {
                    inputs.add(what, &text);
                }
            }
        }
        if let Some(path) = &job.observe {
            let path = self.dir.join(path);
            match petal_files::read(&path) {
                Ok(text) => inputs.add("observe", &text),
                Err(error) => {
                    let path = path.display();
                    return Ok(Err(format!("cannot read the observations {path}: {error}")));
                }
            }
        }
        ready.digest = inputs.digest();
        Ok(Ok(ready))
    }

    /// What petal reads because of its name, beside a design's file.
    fn beside(&self, job: &Job) -> Vec<(&'static str, Vec<u8>)> {
        let Source::File(path) = &job.design else {
            return Vec::new();
        };
        let mut data = self.dir.join(path).into_os_string();
        data.push(".data");
        petal_files::read(Path::new(&data)).map_or_else(|_| Vec::new(), |text| vec![("data", text)])
    }

    /// The texts of a design and of all that it is made of: of one that can't be parsed its own alone.
    fn texts(&self, path: &Path, job: &Job) -> Vec<Vec<u8>> {
        let path = self.dir.join(path);
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let folders: Vec<PathBuf> = job.library.iter().map(|dir| self.dir.join(dir)).collect();
        if let Ok(library) = Library::new(&folders)
            && let Ok(parsed) = Parsed::read(Design::from(&*path), &library)
        {
            let files = parsed.files().iter();
            texts.extend(files.filter_map(|file| petal_files::read(file).ok()));
        }
        // The parser tells them in no particular order.
        texts.sort_unstable();
        texts.insert(0, petal_files::read(&path).unwrap_or_default());
        let observe = path.with_extension("observe.toml");
        if job.observe.is_none()
            && let Ok(text) = petal_files::read(&observe)
        {
            texts.push(text);
        }
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
            match process::run(&mut command, self.limits(job)) {
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
    fn keep(&self, name: &str, extension: &str, text: &[u8]) -> Result<PathBuf, Failure> {
        let dir = self.out.join(GENERATED);
        fs::create_dir_all(&dir).map_err(Failure::io("create the folder", &dir))?;
        let path = dir.join(format!("{}.{extension}", encoded(name)));
        if fs::read(&path).is_ok_and(|there| there == text) {
            return Ok(path);
        }
        folder::write_whole(&path, text)?;
        Ok(path)
    }

    /// Does a run.
    fn run(&self, job: &Job, ready: &Ready) -> Result<Row, Failure> {
        let [program, words @ ..] = &*self.program else {
            return Err(Failure::new("there is no program to run"));
        };
        let mut command = Command::new(program);
        command.args(words).arg("run").current_dir(&self.dir);
        let profile = self.profile(job);
        match &job.design {
            Source::File(path) => command.arg(path).stdin(Stdio::null()),
            Source::Command(_) => {
                let path = self.out.join(GENERATED);
                let path = path.join(format!("{}.futil", encoded(&job.name.design)));
                let text = File::open(&path).map_err(Failure::io("read", &path))?;
                command.arg("-").stdin(text)
            }
        };
        match (&job.data, &ready.data) {
            (_, Some(text)) => {
                let name = format!("{} {}", job.name.design, job.name.data);
                command.arg("--data").arg(self.keep(&name, "json", text)?);
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
        let digest = Some(ready.digest.clone());
        Ok(match process::run(&mut command, self.limits(job))? {
            Ok(_) => Row {
                name: job.name.clone(),
                digest,
                error: None,
                figures: figures(&profile)?,
            },
            Err(error) => Row::failed(job, digest, self.portable(&error)),
        })
    }
}

/// The file of a row, in a folder of its own that is locked while somebody is at the run.
pub const ROW: &str = "row.json";

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
