//! One run of a sweep after the other: what it depends on, and a process of its own that does it.
//!
//! Every run leaves a row, whatever happens to it. Knows the folder of a sweep, and nothing of what rows are for.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use petal_files::Scratch;
use petal_profile::{Error, Profile, folder, interrupt};
use petal_sweep::{Inputs, Job, Name, Row, Source, digest, encoded};
use petal_visualize::outputs::SUMMARY;

use super::figures::figures;
use super::folder::{GENERATED, PROFILES, ROW, ROWS, remove};
use super::process::{self, Guard, Limits};

/// What the names of inputs begin with that commands print.
pub const PRINTED: &str = "what the command of";

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
    /// What commands printed, and what designs are made of.
    pub generated: Memo<Source, Result<Printed, String>>,
    pub designs: Memo<Source, Inputs>,
    /// The versions of the tools of synthesis, by the option that asks for them.
    pub tools: Memo<String, String>,
    /// Where texts are until they have their places, and how many were there. Without it, nothing is generated.
    pub scratch: Option<Scratch>,
    pub drafts: AtomicUsize,
    /// What changed since earlier results, and how many runs were done again for it.
    pub changed: Mutex<BTreeMap<String, usize>>,
    /// Ends the processes of runs if this one is killed.
    pub guard: Guard,
}

/// What a command printed, which may be more than there is memory.
#[derive(Debug, Clone)]
pub struct Printed {
    pub path: PathBuf,
    pub digest: String,
}

/// Values that are made once, although several threads want them at the same time.
pub struct Memo<K, V>(Mutex<HashMap<K, Arc<OnceLock<V>>>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + std::hash::Hash, V: Clone> Memo<K, V> {
    pub fn of(&self, key: &K, make: impl FnOnce() -> V) -> V {
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
    input: Option<Printed>,
    /// The data that were generated.
    data: Option<Printed>,
}

impl Shop {
    /// The row of a run: that of an earlier one with the same inputs, if it gave a result. Second, whether it is.
    pub fn row(&self, job: &Job) -> Result<(Row, bool), Error> {
        let place = self.place(job);
        fs::create_dir_all(&place).map_err(Error::io("create the folder", &place))?;
        // Another command may be at this run, for the same sweep. Some file systems have no locks: then both do it.
        let lock = File::open(&place).map_err(Error::io("open", &place))?;
        while let Err(TryLockError::WouldBlock) = lock.try_lock() {
            interrupt::check()?;
            thread::sleep(process::LOOK);
        }
        let row = match self.ready(job)? {
            (ready, None) => {
                let earlier = self.earlier(job);
                if let Some(row) = earlier.as_ref().filter(|row| row.is_of(&ready.inputs)) {
                    // One that was killed when it had written this row may have left its temporary folder here.
                    let _ = Scratch::new_in(&place);
                    return Ok((row.clone(), true));
                }
                let earlier = earlier.filter(|row| row.error.is_none());
                if let Some(what) = earlier
                    .as_ref()
                    .and_then(|row| ready.inputs.changes(&row.inputs).next())
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
    fn ready(&self, job: &Job) -> Result<(Ready, Option<String>), Error> {
        let mut ready = Ready {
            inputs: self.known(job),
            input: None,
            data: None,
        };
        if let Source::Command(_) = &job.design {
            match self.print(job, &job.design, "design")? {
                Ok(printed) => {
                    let what = format!("{PRINTED} the design {} prints", job.name.design);
                    ready.inputs.add_digest(&what, printed.digest.clone());
                    let parts = self.parts_of_printed(job, &printed.path);
                    ready.inputs.extend(&parts);
                    self.keep(&kept_design(job), &printed)?;
                    ready.input = Some(printed);
                }
                Err(error) => return Ok((ready, Some(error))),
            }
        }
        if let Some(source @ Source::Command(_)) = &job.data {
            match self.print(job, source, "data set")? {
                Ok(printed) => {
                    let Name { design, data, .. } = &job.name;
                    let what = format!("{PRINTED} the data {data} of {design} prints");
                    ready.inputs.add_digest(&what, printed.digest.clone());
                    ready.data = Some(printed);
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

    /// What a command prints, which runs once for all runs that need it.
    fn print(
        &self,
        job: &Job,
        source: &Source,
        what: &str,
    ) -> Result<Result<Printed, String>, Error> {
        let (Source::Command(text), Some(scratch)) = (source, &self.scratch) else {
            return Ok(Err("there is no command".to_owned()));
        };
        let path = self.draft(scratch);
        let print = || {
            let failed =
                |error: &dyn Display| format!("cannot generate the {what} by `{text}`: {error}");
            let file = File::create(&path).map_err(|error| failed(&error))?;
            let mut command = Command::new("sh");
            command.args(["-c", text]).current_dir(&self.dir);
            command.stdin(Stdio::null());
            let done = process::run(&mut command, self.limits(job), &self.guard, Some(file));
            let done = done.map_err(|interrupted| interrupted.to_string())?;
            let messages = done.map_err(|error| failed(&error))?;
            if is_blank(&path) {
                let told = format!("it printed nothing\n{messages}");
                return Err(failed(&told.trim_end()));
            }
            let digest = File::open(&path).and_then(digest);
            digest.map_err(|error| failed(&error))
        };
        let printed = self.generated.of(source, || match print() {
            Ok(digest) => Ok(Printed {
                path: path.clone(),
                digest,
            }),
            Err(error) => {
                let _ = fs::remove_file(&path);
                Err(error)
            }
        });
        interrupt::check()?;
        Ok(printed)
    }

    /// A place for a text that has none yet.
    fn draft(&self, scratch: &Scratch) -> PathBuf {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        scratch.path().join(number.to_string())
    }

    /// Keeps what was generated for the user to look at.
    fn keep(&self, name: &Path, printed: &Printed) -> Result<PathBuf, Error> {
        let path = self.out.join(name);
        let dir = path.parent().unwrap_or(&self.out);
        fs::create_dir_all(dir).map_err(Error::io("create the folder", dir))?;
        let there = File::open(&path).and_then(digest);
        let is_there = there.is_ok_and(|there| there == printed.digest);
        if let Some(scratch) = &self.scratch
            && !is_there
        {
            let draft = self.draft(scratch);
            fs::copy(&printed.path, &draft)
                .and_then(|_| fs::rename(&draft, &path))
                .map_err(Error::io("write", &path))?;
        }
        Ok(path)
    }

    /// Does a run.
    fn run(&self, job: &Job, ready: Ready) -> Result<Row, Error> {
        let [program, words @ ..] = &*self.program else {
            return Err(Error::new("there is no program to run"));
        };
        let mut command = Command::new(program);
        command.args(words).arg("run").current_dir(&self.dir);
        let profile = self.profile(job);
        match (&job.design, &ready.input) {
            (_, Some(Printed { path, .. })) => {
                let text = File::open(path).map_err(Error::io("read", path))?;
                command.arg("-").stdin(text);
            }
            (Source::File(path), None) => {
                command.arg(path).stdin(Stdio::null());
            }
            (Source::Command(_), None) => {}
        }
        match (&job.data, &ready.data) {
            (_, Some(printed)) => {
                let path = self.keep(&kept_data(job), printed)?;
                command.arg("--data").arg(path);
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
            match process::run(&mut command, self.limits(job), &self.guard, None)? {
                Ok(_) => {
                    let folder = profile;
                    let profile = Profile::open(&folder)?;
                    // Which data a run has, its name tells.
                    let warnings = profile.summary.warnings.iter();
                    let no_data = profile.summary.no_data.as_ref();
                    let warnings = warnings.filter(|warning| Some(*warning) != no_data);
                    Row {
                        name: job.name.clone(),
                        inputs,
                        error: None,
                        figures: figures(&profile)?,
                        warnings: warnings.map(|warning| self.portable(warning)).collect(),
                    }
                }
                Err(error) => Row::failed(job, inputs, self.portable(&error)),
            },
        )
    }
}

/// Whether there is nothing in a file. In a large one there is something.
fn is_blank(path: &Path) -> bool {
    let is_small = fs::metadata(path).is_ok_and(|file| file.len() < 4096);
    is_small && fs::read(path).is_ok_and(|text| text.trim_ascii().is_empty())
}

/// Where a generated design is kept in the folder of the sweep.
pub fn kept_design(job: &Job) -> PathBuf {
    Path::new(GENERATED).join(format!("{}.futil", encoded(&job.name.design)))
}

/// Where the generated data of a design are kept there: in folders, so that no two names make one.
fn kept_data(job: &Job) -> PathBuf {
    let dir = Path::new(GENERATED).join("data");
    let dir = dir.join(encoded(&job.name.design));
    dir.join(format!("{}.json", encoded(&job.name.data)))
}
