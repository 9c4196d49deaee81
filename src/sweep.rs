//! `petal sweep`: many runs, each in a process of its own, and what they gave.
//!
//! Owns the folder of a sweep. What runs there are and how they are shown, `petal_sweep` tells; one run is in `shop`, what it depends on in `inputs`.

pub mod dataset;
mod inputs;
mod merge;
mod process;
mod shop;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use petal_files::{Scratch, is_scratch};
use petal_profile::{Error, Places, folder, interrupt};
use petal_sweep::{Job, Row, Source, Sweep, SweepFile, expand};

use self::process::Guard;
use self::shop::{Memo, Shop};
use crate::args::{SweepArgs, parse_size};
use crate::call::Streams;
use crate::design;
use crate::messages;
use crate::print::print;
use crate::progress::Runs;
use crate::versions;

/// What is in the folder of a sweep: what it is made of, its page, and folders with rows, profiles and what was generated.
const SWEEP: &str = "sweep.json";
const PAGE: &str = "sweep.html";
const ROWS: &str = "rows";
const PROFILES: &str = "profiles";
const GENERATED: &str = "generated";

/// The figures that are weighed against each other unless the file names others.
const PARETO: [&str; 2] = ["cycles", "overhead_cycles"];

/// What the names of figures begin with that are observed.
const OBSERVED: [&str; 4] = ["count:", "checkpoint:", "latency:", "broken:"];

/// `petal sweep`
pub fn sweep(args: &SweepArgs) -> Result<(), Error> {
    let Some(path) = &args.file else {
        return merge::merge(args);
    };
    let plan = Plan::read(path)?;
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("petal-out").join(&plan.sweep.name));
    let mut shop = plan.shop(args, &out)?;
    if args.dry_run {
        return plan.list(&shop, args);
    }
    Places::default().reads("the sweep", path)?;
    check_free(&out, SWEEP, "sweep")?;
    plan.check_inputs(path, &shop)?;
    fs::create_dir_all(&out).map_err(Error::io("create the output folder", &out))?;
    shop.scratch = Some(Scratch::new_in(&out).map_err(Error::io("write to", &out))?);
    write(&out.join(SWEEP), &plan.sweep.json())?;
    let jobs = plan.of(args);
    let rows = run(&shop, &jobs, args)?;
    if !args.quiet {
        let changed = shop.changed.lock().unwrap_or_else(PoisonError::into_inner);
        for (what, runs) in &*changed {
            let runs = match runs {
                1 => "one run was".to_owned(),
                runs => format!("{runs} runs were"),
            };
            messages::note(format!("{what} changed: {runs} done again"));
        }
    }
    if args.shard.is_none() {
        publish(&plan.sweep, &rows, &out)?;
    }
    tell(
        &plan.sweep,
        &rows,
        (args.shard.is_none()).then_some(&*out),
        args.quiet,
    )
}

/// A sweep that was read.
struct Plan {
    /// The folder of its file.
    dir: PathBuf,
    jobs: Vec<Job>,
    sweep: Sweep,
    memory: Option<u64>,
}

impl Plan {
    fn read(path: &Path) -> Result<Self, Error> {
        let text = petal_files::read_to_string(path).map_err(Error::io("read", path))?;
        let shown = path.display();
        let file =
            SweepFile::parse(&text).map_err(|problem| Error::new(format!("{shown}: {problem}")))?;
        let at = |start: usize| text[..start.min(text.len())].matches('\n').count() + 1;
        let dir = std::path::absolute(path).map_err(Error::io("find", path))?;
        let dir = dir.parent().map_or_else(|| dir.clone(), Path::to_owned);
        // Patterns may stand for more files than anybody wants to wait for.
        let _ending = interrupt::Ending::at_once([]);
        let jobs = expand(&file, &dir).map_err(|problem| {
            let line = problem.line(&text);
            let line = line.map_or_else(String::new, |line| format!("{line}:"));
            Error::new(format!("{shown}:{line} {problem}"))
        })?;
        let memory = file.memory.as_ref().map(|size| {
            parse_size(size.get_ref()).map_err(|problem| {
                let line = at(size.span().start);
                Error::new(format!("{shown}:{line}: `memory`: {problem}"))
            })
        });
        let pareto = match &file.pareto {
            None => PARETO.map(str::to_owned),
            Some(names) => names.get_ref().clone().try_into().map_err(|_| {
                let line = at(names.span().start);
                Error::new(format!(
                    "{shown}:{line}: `pareto` has two figures, such as {PARETO:?}"
                ))
            })?,
        };
        Ok(Self {
            sweep: Sweep::new(versions::PETAL, &design::name(path), pareto, &jobs),
            dir,
            jobs,
            memory: memory.transpose()?,
        })
    }

    fn shop(&self, args: &SweepArgs, out: &Path) -> Result<Shop, Error> {
        let program = match &*args.program {
            [] => {
                let this = std::env::current_exe();
                vec![
                    this.map_err(|error| Error::new(format!("cannot find petal: {error}")))?
                        .into_os_string(),
                ]
            }
            words => words.to_vec(),
        };
        Ok(Shop {
            dir: self.dir.clone(),
            out: std::path::absolute(out).map_err(Error::io("find", out))?,
            program,
            memory: self.memory,
            generated: Memo::default(),
            designs: Memo::default(),
            scratch: None,
            drafts: AtomicUsize::new(0),
            changed: Mutex::default(),
            guard: Guard::start(),
        })
    }

    /// The runs that are to be done.
    fn of(&self, args: &SweepArgs) -> Vec<&Job> {
        let jobs = self.jobs.iter().enumerate();
        let is_wanted = |at| args.shard.is_none_or(|shard| shard.has(at));
        jobs.filter(|(at, _)| is_wanted(*at))
            .map(|(_, job)| job)
            .collect()
    }

    /// Fails if something that the sweep reads is in the folder that it writes.
    fn check_inputs(&self, file: &Path, shop: &Shop) -> Result<(), Error> {
        let Ok(out) = shop.out.canonicalize() else {
            return Ok(());
        };
        let sources = self.jobs.iter().flat_map(|job| {
            let sources = [Some(&job.design), job.data.as_ref()].into_iter().flatten();
            let files = sources.filter_map(|source| match source {
                Source::File(path) => Some(path),
                Source::Command(_) => None,
            });
            files.chain(&job.observe)
        });
        let mut files = sources
            .map(|path| self.dir.join(path))
            .chain([file.to_owned()]);
        let is_in = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path.starts_with(&out));
        match files.find(is_in) {
            Some(path) => Err(Error::usage(format!(
                "the sweep reads {}, which is in its output folder; choose another one with `--out`",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// `--dry-run`
    fn list(&self, shop: &Shop, args: &SweepArgs) -> Result<(), Error> {
        let mut text = String::new();
        for job in self.of(args) {
            let earlier = shop.earlier(job);
            let changed = earlier.as_ref().and_then(|row| shop.changed(job, row));
            let changed = changed.map(|name| format!(": {name} changed"));
            let state = match (&earlier, &changed) {
                (Some(row), _) if row.error.is_some() => "failed",
                (Some(_), None) => "done",
                _ => "to do",
            };
            let changed = changed.filter(|_| state == "to do").unwrap_or_default();
            let _ = writeln!(text, "{state:<6}  {}{changed}", job.name);
        }
        print(&text)
    }
}

/// Fails unless the folder is not there, empty, or has the file or folder `mark`, which all have that hold such a thing.
pub fn check_free(out: &Path, mark: &str, what: &str) -> Result<(), Error> {
    let entries = match fs::read_dir(out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("write to the output folder", out))?,
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.retain(|name| !is_scratch(name));
    names.sort();
    match names.first() {
        Some(first) if !out.join(mark).exists() => Err(Error::usage(format!(
            "the output folder {} holds {} and no {what}; choose a new or empty folder with `--out`",
            out.display(),
            first.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a file, unless it is there: several commands may work on parts of one sweep in one folder.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    folder::write_whole(path, text.as_bytes())
}

/// Does all runs, several at once, and gives their rows in the order of the runs.
fn run(shop: &Shop, jobs: &[&Job], args: &SweepArgs) -> Result<Vec<Row>, Error> {
    let threads = match args.jobs {
        Some(jobs) => usize::try_from(jobs).unwrap_or(1),
        None => thread::available_parallelism().map_or(1, Into::into),
    };
    let progress = Runs::new(jobs.len(), args.quiet);
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(0);
    let broken: Mutex<Option<Error>> = Mutex::new(None);
    let rows: Vec<Mutex<Option<Row>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let streams = Streams::of_command();
    let work = || {
        Streams::enter(streams.clone());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return };
            match interrupt::check().and_then(|()| shop.row(job)) {
                Ok((row, _)) => {
                    let more = usize::from(row.error.is_some());
                    let failed = failed.fetch_add(more, Ordering::Relaxed) + more;
                    *rows[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(row);
                    progress.done(failed);
                }
                // Nothing can be kept any more: on a full disk, for example.
                Err(failure) => {
                    next.store(jobs.len(), Ordering::Relaxed);
                    let mut broken = broken.lock().unwrap_or_else(PoisonError::into_inner);
                    broken.get_or_insert(failure);
                    return;
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            // Designs are parsed to find what they import.
            let thread = thread::Builder::new().stack_size(petal_program::STACK);
            thread
                .spawn_scoped(scope, work)
                .map_err(|error| Error::new(format!("cannot start a thread: {error}")))?;
        }
        Ok::<(), Error>(())
    })?;
    drop(progress);
    if let Some(failure) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if interrupt::is_requested() && !args.quiet {
            let done = rows
                .iter()
                .filter(|row| row.lock().is_ok_and(|row| row.is_some()));
            let (done, all) = (done.count(), jobs.len());
            messages::note(format!(
                "{done} of {all} runs are done; the same command goes on with the others"
            ));
        }
        return Err(failure);
    }
    let rows = rows.into_iter();
    let rows = rows.filter_map(|row| row.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(rows.collect())
}

/// Writes what shows all rows.
fn publish(sweep: &Sweep, rows: &[Row], out: &Path) -> Result<(), Error> {
    dataset::write(sweep, rows, out)?;
    write(&out.join(PAGE), &sweep.html(rows))
}

/// Tells what the runs gave; fails if some gave nothing.
fn tell(sweep: &Sweep, rows: &[Row], out: Option<&Path>, quiet: bool) -> Result<(), Error> {
    let missing = sweep.pareto.iter().find(|name| {
        let is_optional = OBSERVED.iter().any(|prefix| name.starts_with(prefix));
        let there = rows.iter().any(|row| row.figures.contains_key(*name));
        let any = rows.iter().any(|row| row.error.is_none());
        any && !there && !is_optional
    });
    if !quiet {
        print(&sweep.text(rows))?;
        if let Some(out) = out {
            let page = out.join(PAGE);
            print(&format!("\n  {}   open in a browser\n", page.display()))?;
        }
    }
    if let Some(name) = missing {
        return Err(Error::new(format!(
            "`pareto` names the figure `{name}`, which no run has; there is {}",
            Sweep::figures(rows).join(", ")
        )));
    }
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    match failed {
        0 => Ok(()),
        1 => Err(Error::new(
            "one run failed; the same command tries it again",
        )),
        failed => Err(Error::new(format!(
            "{failed} runs failed; the same command tries them again"
        ))),
    }
}
