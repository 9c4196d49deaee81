//! What is said to be proved holds where premises are made to fail: each program has a trap.
//!
//! `PETAL_SEED=7 PETAL_PROGRAMS=200 cargo test --test fast adversary` tries other programs of each kind, and more.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use petal_advise::{Certainty, Observed, Piece, Rewrite, RewriteKind, Verdict, rewrites};
use petal_embedded::{Compiled, Options, Stopped, Visible};
use petal_passes::Pipeline;
use petal_program::{Library, Program};
use petal_reconstruct::ProbeSource as _;

use super::random::{OPTIMISATIONS, SHARING, edited, observed};
use crate::support;
use crate::support::dice::Dice;
use crate::support::traps::{self, Memories, TRAPS, Trap};

/// How many programs of each kind are tried.
const PROGRAMS: u32 = 4;

/// The first data set is what a user may have had, the others are other data.
const DATA_SETS: u64 = 9;

/// How many edits of one kind are tried of each program.
const MOST_OF_A_KIND: usize = 2;

/// How many edits are made one after the other.
const STEPS: usize = 3;

/// A program that has not finished by then is taken to hang.
pub(super) const CYCLE_LIMIT: u64 = 2_000;

/// What comes of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Ends(Vec<Vec<u64>>),
    OutOfBounds,
    Endless,
    Unsettled,
}

pub(super) struct Trial<'a> {
    file: &'a Path,
    library: &'a Library,
    memories: &'a Memories,
    pub(super) pipelines: Vec<(String, Pipeline)>,
    /// Whether none of them makes one cell of several.
    is_apart: bool,
    seed: u64,
}

impl Trial<'_> {
    pub(super) fn outcomes(
        &self,
        text: &str,
        pipeline: &Pipeline,
        limit: u64,
    ) -> Result<Vec<Outcome>, String> {
        std::fs::write(self.file, text).expect("the temporary folder can be written");
        let error = |error: &dyn std::fmt::Display| error.to_string();
        let program = Program::read(self.file, self.library).map_err(|e| error(&e))?;
        let design = petal_passes::compile(program, pipeline).map_err(|e| error(&e))?;
        match design.verilog() {
            Ok(verilog) => {
                if let Some(name) = declared_twice(&verilog) {
                    return Err(format!("in Verilog, `{name}` is declared twice"));
                }
            }
            // Nobody has the Verilog of floating-point primitives here.
            Err(_) if text.contains("primitives/float/") => {}
            Err(refused) => return Err(error(&refused)),
        }
        let compiled =
            Compiled::new(design.program(), &[], Visible::Probes).map_err(|e| error(&e))?;
        (0..DATA_SETS)
            .map(|at| {
                let options = Options {
                    cycle_limit: limit,
                    partial: true,
                    interrupt: Arc::default(),
                    ..Options::default()
                };
                let mut simulation = compiled.simulation(options).map_err(|e| error(&e))?;
                for (name, words) in traps::words(self.memories, &mut Dice::new(self.seed + at)) {
                    let words = words.into_iter().enumerate();
                    let words = words.map(|(at, word)| (at as u64, word.into()));
                    simulation.write_memory(&name, &words.collect());
                }
                while simulation.next_cycle().map_err(|e| error(&e))? {}
                Ok(match simulation.stopped() {
                    None => Outcome::Ends(
                        self.memories
                            .iter()
                            .map(|(name, (_, size))| {
                                let words = simulation.read_memory(name).unwrap_or_default();
                                let word = |at| {
                                    words
                                        .get(&at)
                                        .and_then(|word| u64::try_from(word).ok())
                                        .unwrap_or(0)
                                };
                                (0..*size).map(word).collect()
                            })
                            .collect(),
                    ),
                    Some(Stopped::Check { .. }) => Outcome::OutOfBounds,
                    Some(Stopped::Loop { .. }) => Outcome::Unsettled,
                    Some(_) => Outcome::Endless,
                })
            })
            .collect()
    }

    pub(super) fn proved(&self, text: &str) -> Result<Vec<Rewrite>, String> {
        std::fs::write(self.file, text).expect("the temporary folder can be written");
        let program = Program::read(self.file, self.library).map_err(|error| error.to_string())?;
        let observed = Observed {
            is_apart: self.is_apart,
            ..observed(text)
        };
        let mut all = rewrites(program, &observed).map_err(|error| error.to_string())?;
        all.retain(|rewrite| rewrite.certainty == Certainty::Proved);
        Ok(all)
    }

    /// Holds an edited text to what the program does, under all pipelines.
    fn check(&self, before: &[Option<Vec<Outcome>>], after: &str) -> Result<(), String> {
        for ((told, pipeline), before) in self.pipelines.iter().zip(before) {
            let Some(before) = before else { continue };
            // An edit that costs cycles is as well as one that saves them.
            let outcomes = self
                .outcomes(after, pipeline, CYCLE_LIMIT * 10)
                .map_err(|error| format!("{told}: {error}"))?;
            for (at, (before, after)) in before.iter().zip(&outcomes).enumerate() {
                if before != after {
                    return Err(format!("{told}, data {at}: {before:?} became {after:?}"));
                }
            }
        }
        Ok(())
    }

    pub(super) fn pieces(
        &self,
        text: &str,
        after: &str,
        kind: RewriteKind,
    ) -> Result<Vec<Piece>, String> {
        let program = |text: &str| {
            std::fs::write(self.file, text).expect("the temporary folder can be written");
            Program::read(self.file, self.library).map_err(|error| error.to_string())
        };
        Ok(petal_advise::pieces(
            &program(text)?,
            &program(after)?,
            kind,
        ))
    }

    /// Holds the pieces that an edit changes to what they were, with values that nobody knows.
    fn compare(&self, text: &str, after: &str, kind: RewriteKind) -> Result<(), String> {
        for piece in self.pieces(text, after, kind)? {
            if let Verdict::Differs(how) = piece.verdict {
                return Err(format!("{} does not come to the same: {how}", piece.name));
            }
        }
        Ok(())
    }
}

/// A name that a module of a Verilog text declares twice.
fn declared_twice(verilog: &str) -> Option<String> {
    let mut names = std::collections::BTreeSet::new();
    for line in verilog.lines() {
        let line = line.trim();
        if line.starts_with("module ") {
            names.clear();
        }
        let declared = match line.split_once(' ') {
            Some(("logic" | "wire" | "reg" | "input" | "output", rest)) => {
                let declared = rest.split(" = ").next().unwrap_or_default();
                declared.trim_end_matches([',', ';']).rsplit(' ').next()
            }
            // An instance: `) name (`.
            Some((")", rest)) => rest.strip_suffix(" ("),
            _ => None,
        };
        if let Some(name) = declared.filter(|name| !name.is_empty())
            && !names.insert(name.to_owned())
        {
            return Some(name.to_owned());
        }
    }
    None
}

/// Tries what is proved of a program: each edit by itself, and some one after the other. Gives what they are.
fn tried(trial: &Trial<'_>, text: &str, dice: &mut Dice) -> Result<Vec<RewriteKind>, String> {
    let before = trial.pipelines.iter();
    let before = before.map(|(_, pipeline)| trial.outcomes(text, pipeline, CYCLE_LIMIT));
    let before: Vec<_> = before.collect();
    if let (Some(Err(error)), true) = (before.first(), before.iter().all(Result::is_err)) {
        return Err(format!("refused: {error}"));
    }
    let before: Vec<_> = before.into_iter().map(Result::ok).collect();
    let told = |rewrite: &Rewrite, problem: String, after: &str| {
        format!(
            "{problem}\n{:?}: {}\nEDITED:\n{after}",
            rewrite.kind, rewrite.what
        )
    };
    let mut proved = trial.proved(text)?;
    let all = proved.clone();
    let mut kinds: Vec<RewriteKind> = Vec::new();
    while !proved.is_empty() {
        let rewrite = proved.swap_remove(dice.below(proved.len()));
        if kinds.iter().filter(|kind| **kind == rewrite.kind).count() == MOST_OF_A_KIND {
            continue;
        }
        kinds.push(rewrite.kind);
        let after = edited(text, &rewrite);
        trial
            .check(&before, &after)
            .and_then(|()| trial.compare(text, &after, rewrite.kind))
            .map_err(|problem| told(&rewrite, problem, &after))?;
    }
    let (mut text, mut proved) = (text.to_owned(), all);
    for _ in 0..STEPS {
        if proved.is_empty() {
            break;
        }
        let rewrite = proved.swap_remove(dice.below(proved.len()));
        kinds.push(rewrite.kind);
        let after = edited(&text, &rewrite);
        trial
            .check(&before, &after)
            .and_then(|()| trial.compare(&text, &after, rewrite.kind))
            .map_err(|problem| format!("{}\nof\n{text}", told(&rewrite, problem, &after)))?;
        proved = trial.proved(&after)?;
        text = after;
    }
    Ok(kinds)
}

/// Tries programs with a trap: gives what came of each, up to the first that fails, with its number.
fn programs<T>(
    trap: Trap,
    run: impl Fn(&Trial<'_>, &str, &mut Dice) -> Result<T, String>,
) -> Vec<Result<T, String>> {
    let library = Library::new(&[]).expect("the library can be set up");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("trap.futil");
    let start: u64 = std::env::var("PETAL_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let mut all = Vec::new();
    for number in 0..u64::from(support::programs(PROGRAMS)) {
        let seed = (start << 32) + (number << 8) + trap as u64;
        let mut dice = Dice::new(seed);
        let program = traps::program(trap, &mut dice);
        let parse = |name: &str, without: Vec<String>| {
            let told = format!("{name} without [{}]", without.join(", "));
            (
                told,
                Pipeline::parse(name, &without).expect("the passes are known"),
            )
        };
        let is_apart = number % 2 == 1;
        let apart = || is_apart.then(|| SHARING.to_owned());
        let mut some = || {
            let passes = OPTIMISATIONS.iter();
            let passes = passes.filter(|_| dice.one_in(3));
            let passes = passes.map(|pass| (*pass).to_owned());
            passes.chain(apart()).collect::<Vec<_>>()
        };
        let lists = [some(), some()];
        let [first, second] = lists.map(|list| parse("all", list));
        let trial = Trial {
            file: &file,
            library: &library,
            memories: &program.memories,
            pipelines: vec![
                parse("all", apart().into_iter().collect()),
                parse("no-opt", Vec::new()),
                first,
                second,
            ],
            is_apart,
            seed: seed + 1,
        };
        let text = if number % 4 == 3 {
            program.as_kernel()
        } else {
            program.text
        };
        let one = run(&trial, &text, &mut dice);
        all.push(one.map_err(|problem| {
            format!("{trap:?}: program {number}: {problem}\nORIGINAL:\n{text}")
        }));
    }
    all
}

/// Tries programs with each trap, as many at a time as there are processors.
pub(super) fn with_each_trap<T: Send>(
    run: impl Fn(&Trial<'_>, &str, &mut Dice) -> Result<T, String> + Copy + Send + Sync,
) -> Vec<(Trap, Vec<Result<T, String>>)> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut tried = Vec::new();
        while let Some(&trap) = TRAPS.get(next.fetch_add(1, Ordering::Relaxed)) {
            tried.push((trap, programs(trap, run)));
        }
        tried
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(some)).collect();
        let tried = threads.into_iter().map(thread::ScopedJoinHandle::join);
        tried
            .flat_map(|all| all.expect("no thread panics"))
            .collect()
    })
}

#[test]
fn no_trap_breaks_a_proof() {
    let mut edits: BTreeMap<RewriteKind, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for (trap, results) in with_each_trap(tried) {
        let mut count = 0;
        for result in results {
            match result {
                Ok(kinds) => {
                    count += kinds.len();
                    for kind in kinds {
                        *edits.entry(kind).or_default() += 1;
                    }
                }
                Err(failure) => failures.push(failure),
            }
        }
        println!("{trap:?}: {count} edits");
    }
    println!("{edits:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let count = edits.values().sum::<usize>();
    assert!(count > TRAPS.len(), "only {count} edits are proved");
}
