//! `petal sweep`: many runs, each in a process of its own, and what they gave.
//!
//! What runs there are and how they are shown, `petal_sweep` tells; the folder of a sweep is in `folder`, one run is in `shop`, what it depends on in `inputs`.

mod dataset;
mod figures;
mod folder;
mod inputs;
mod merge;
mod process;
mod publish;
mod shop;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use petal_analysis::Period;
use petal_files::Scratch;
use petal_profile::{Error, Places, interrupt};
use petal_sweep::{Job, Row, Source, Sweep, SweepFile, expand};

use self::folder::{SWEEP, check_free, write};
use self::process::Guard;
use self::publish::{publish, tell};
use self::shop::{Memo, Shop};
use crate::args::{SweepArgs, parse_size};
use crate::design;
use crate::messages;
use crate::print::print;
use crate::progress::Runs;
use crate::streams::Streams;
use crate::versions;

/// The figures that are weighed against each other unless the file names others.
const PARETO: [&str; 2] = ["cycles", "overhead_cycles"];

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
        let _ending = interrupt::Ending::at_once();
        let jobs = expand(&file, &dir).map_err(|problem| {
            let line = problem.line(&text);
            let line = line.map_or_else(String::new, |line| format!("{line}:"));
            Error::new(format!("{shown}:{line} {problem}"))
        })?;
        let wrong = |key: &str, start: usize, problem: String| {
            let line = at(start);
            Error::new(format!("{shown}:{line}: `{key}`: {problem}"))
        };
        let memory = file.memory.as_ref().map(|size| {
            let parsed = parse_size(size.get_ref());
            parsed.map_err(|problem| wrong("memory", size.span().start, problem))
        });
        if let Some(period) = &file.period {
            let parsed = period.get_ref().parse::<Period>();
            parsed.map_err(|problem| wrong("period", period.span().start, problem))?;
        }
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
            tools: Memo::default(),
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
