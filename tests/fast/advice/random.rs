//! What is said to be proved holds: whatever the program and its data, an edit leaves the same in its memories.
//!
//! `PETAL_SEED=7 PETAL_PROGRAMS=2000 cargo test --test fast advice` tries other programs, and more. A failure is told
//! as the smallest program that fails so.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use num_bigint::BigUint;
use petal_advise::{Certainty, Observed, Rewrite, RewriteKind, rewrites};
use petal_embedded::{Compiled, Options, Visible};
use petal_passes::Pipeline;
use petal_program::{Library, Program};
use petal_reconstruct::ProbeSource as _;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

use super::shapes::random;
use crate::support;

/// How many programs are tried.
const PROGRAMS: u32 = 60;

/// A program that has not finished by then is taken to hang.
const CYCLE_LIMIT: u64 = 3_000;

/// How many edits are made one after the other.
const STEPS: usize = 6;

/// The kinds of edits of which some are proved.
const PROVED: [RewriteKind; 8] = [
    RewriteKind::ContinuousCondition,
    RewriteKind::ExclusiveBranches,
    RewriteKind::ParallelSteps,
    RewriteKind::SequentialArms,
    RewriteKind::MergedGroups,
    RewriteKind::OperationChaining,
    RewriteKind::FixedLatency,
    RewriteKind::UnsharedCell,
];

/// Of kinds of which a program has one for each group or cell, so many are tried of each.
const MOST_OF_A_KIND: usize = 2;

/// The pass that makes one cell of several.
pub const SHARING: &str = "cell-share";

/// Passes of `all` that are not needed to compile anything. (Without `add-guard`, a static component that a dynamic one runs goes on
/// after its latency, so a program computes something else then, edited or not.)
pub const OPTIMISATIONS: [&str; 11] = [
    "collapse-control",
    "group2seq",
    "dead-assign-removal",
    "group2invoke",
    "infer-share",
    "comb-prop",
    SHARING,
    "static-inference",
    "static-promotion",
    "dead-cell-removal",
    "simplify-static-guards",
];

/// The memories that a program begins and ends with.
type Memories = BTreeMap<&'static str, BTreeMap<u64, BigUint>>;

/// Numbers, most of them small, so that conditions hold now and then.
fn data(seed: u64) -> Memories {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = state >> 24;
        if number.is_multiple_of(5) {
            number >> 8 & 255
        } else {
            number >> 8 & 3
        }
    };
    let names = ["m", "data", "s_in", "fixed"].into_iter();
    names
        .map(|name| (name, (0..8).map(|at| (at, BigUint::from(next()))).collect()))
        .collect()
}

/// The ways to compile a program.
fn pipelines(without: u32, is_apart: bool) -> [(String, Pipeline); 3] {
    let left_out = OPTIMISATIONS.iter().enumerate();
    let left_out = left_out.filter(|(at, _)| without >> at & 1 == 1);
    let apart: Vec<String> = is_apart.then(|| SHARING.to_owned()).into_iter().collect();
    let left_out = left_out.map(|(_, pass)| (*pass).to_owned());
    let left_out: Vec<String> = left_out.chain(apart.clone()).collect();
    let parse = |name: &str, left_out: &[String]| {
        let told = format!("{name} without [{}]", left_out.join(", "));
        (
            told,
            Pipeline::parse(name, left_out).expect("the passes are known"),
        )
    };
    [
        parse("all", &apart),
        parse("no-opt", &[]),
        parse("all", &left_out),
    ]
}

/// What a program leaves in memory for each data set, `None` where it does not come to its end.
fn results(
    file: &Path,
    library: &Library,
    pipeline: &Pipeline,
    seeds: &[u64],
) -> Result<Vec<Option<Memories>>, String> {
    let program = Program::read(file, library).map_err(|error| error.to_string())?;
    let design = petal_passes::compile(program, pipeline).map_err(|error| error.to_string())?;
    let compiled =
        Compiled::new(design.program(), &[], Visible::Probes).map_err(|error| error.to_string())?;
    let run = |seed: &u64| {
        let options = Options {
            cycle_limit: CYCLE_LIMIT,
            partial: true,
            ..Options::default()
        };
        let mut simulation = compiled
            .simulation(options)
            .map_err(|error| error.to_string())?;
        for (name, words) in data(*seed) {
            simulation.write_memory(name, &words);
        }
        while simulation.next_cycle().map_err(|error| error.to_string())? {}
        let names = ["m", "data", "s_in", "fixed", "results"].into_iter();
        let memories = names.filter_map(|name| Some((name, simulation.read_memory(name)?)));
        let memories = memories.collect();
        Ok(simulation.stopped().is_none().then_some(memories))
    };
    seeds.iter().map(run).collect()
}

/// What a run would have to tell for all edits there are to be found: of some it is not true, and they are not proved then.
pub fn observed(text: &str) -> Observed {
    let mut observed = Observed::default();
    let mut component = String::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let Some(next) = words.peek() else { break };
            let name = next.split('(').next().unwrap_or(next);
            match word {
                "component" => name.clone_into(&mut component),
                "group" => {
                    let of = (component.clone(), name.to_owned());
                    observed.latencies.insert(of, 1);
                }
                _ if *next == "=" && !word.contains(['.', '[']) => {
                    observed.shared.insert((component.clone(), word.to_owned()));
                }
                _ => {}
            }
        }
    }
    observed
}

/// The text with an edit.
pub fn edited(text: &str, rewrite: &Rewrite) -> String {
    let mut result = String::new();
    let mut at = 0;
    for edit in &rewrite.edits {
        let start = edit.range.start.max(at);
        result.push_str(&text[at..start]);
        result.push_str(&edit.text);
        at = edit.range.end.max(start);
    }
    result + &text[at..]
}

struct Tried<'a> {
    file: &'a Path,
    library: &'a Library,
    pipelines: [(String, Pipeline); 3],
    seeds: &'a [u64],
    /// What the program leaves in memory without edits, for each pipeline that can compile it.
    before: Vec<Option<Vec<Option<Memories>>>>,
    edits: &'a RefCell<BTreeMap<RewriteKind, u32>>,
    /// Whether no pipeline makes one cell of several.
    is_apart: bool,
}

impl Tried<'_> {
    fn proved(&self, text: &str) -> Result<Vec<Rewrite>, String> {
        std::fs::write(self.file, text).expect("the temporary folder can be written");
        let program = Program::read(self.file, self.library).map_err(|error| error.to_string())?;
        let observed = Observed {
            is_apart: self.is_apart,
            ..observed(text)
        };
        let all = rewrites(program, &observed).map_err(|error| error.to_string())?;
        let proved = all.into_iter();
        let mut proved: Vec<Rewrite> = proved
            .filter(|rewrite| rewrite.certainty == Certainty::Proved)
            .collect();
        for kind in [RewriteKind::FixedLatency, RewriteKind::UnsharedCell] {
            let count = proved.iter().filter(|edit| edit.kind == kind).count();
            let every = count.div_ceil(MOST_OF_A_KIND).max(1);
            let mut at = text.len() % every;
            proved.retain(|edit| {
                at += usize::from(edit.kind == kind);
                edit.kind != kind || at.is_multiple_of(every)
            });
        }
        Ok(proved)
    }

    /// Holds an edited text to what the program leaves in memory.
    fn check(&self, text: &str, at: usize) -> Result<(), String> {
        std::fs::write(self.file, text).expect("the temporary folder can be written");
        let (told, pipeline) = &self.pipelines[at];
        let Some(before) = &self.before[at] else {
            return Ok(());
        };
        if before.iter().all(Option::is_none) {
            return Ok(());
        }
        let after = match results(self.file, self.library, pipeline, self.seeds) {
            Ok(after) => after,
            // With several `par`s of which some have no `@sync`, that pass fails.
            Err(error) if error.contains("(compile-sync)") => return Ok(()),
            Err(error) => return Err(format!("{told}: refused: {error}")),
        };
        for (seed, (before, after)) in self.seeds.iter().zip(before.iter().zip(&after)) {
            let Some(before) = before else { continue };
            let Some(after) = after else {
                return Err(format!("{told}, data {seed}: does not come to its end"));
            };
            for (name, words) in before {
                if after.get(name) != Some(words) {
                    let after = after.get(name);
                    return Err(format!(
                        "{told}, data {seed}: {name} was {words:?}, is {after:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn all(&self, text: &str, walk: &[u8]) -> Result<(), String> {
        let told = |rewrite: &Rewrite, problem: String, text: &str| {
            let kind = rewrite.kind;
            format!(
                "{problem}\n{kind:?} in {}: {}\nEDITED:\n{text}",
                rewrite.component, rewrite.what
            )
        };
        let proved = self.proved(text)?;
        for (at, rewrite) in proved.iter().enumerate() {
            *self.edits.borrow_mut().entry(rewrite.kind).or_default() += 1;
            let after = edited(text, rewrite);
            self.check(&after, at % 3)
                .map_err(|problem| told(rewrite, problem, &after))?;
        }
        let mut text = text.to_owned();
        let mut proved = proved;
        for step in walk {
            if proved.is_empty() {
                break;
            }
            let rewrite = &proved[usize::from(*step) % proved.len()];
            let after = edited(&text, rewrite);
            let next = self
                .proved(&after)
                .map_err(|problem| told(rewrite, problem, &after))?;
            for at in 0..3 {
                let result = self.check(&after, at);
                result
                    .map_err(|problem| format!("{}\nof\n{text}", told(rewrite, problem, &after)))?;
            }
            text = after;
            proved = next;
        }
        Ok(())
    }
}

#[test]
fn what_is_proved_changes_no_memory() {
    let library = Library::new(&[]).expect("the library can be set up");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("random.futil");
    let config = ProptestConfig {
        cases: support::programs(PROGRAMS),
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, support::rng());
    let (tried, finished) = (Cell::new(0), Cell::new(0));
    let first_failure = Cell::new(None);
    let edits = RefCell::new(BTreeMap::new());
    let walks = prop::collection::vec(any::<u8>(), 0..STEPS);
    let strategy = (random(), any::<u32>(), any::<u8>(), walks);
    let result = runner.run(&strategy, |(program, without, seed, walk)| {
        if first_failure.get().is_none() {
            tried.set(tried.get() + 1);
        }
        let text = program.text();
        std::fs::write(&file, &text).expect("the temporary folder can be written");
        let seed = u64::from(seed);
        let seeds = [seed, seed + 1_000, seed + 2_000];
        let is_apart = seed % 2 == 1;
        let pipelines = pipelines(without, is_apart);
        let before = pipelines
            .iter()
            .map(|(_, pipeline)| results(&file, &library, pipeline, &seeds));
        let before: Vec<_> = before.collect();
        let before: Vec<_> = before.into_iter().map(Result::ok).collect();
        let ends = before.iter().flatten().flatten().flatten().count();
        if ends == 0 {
            return Ok(());
        }
        finished.set(finished.get() + 1);
        let tried_with = Tried {
            file: &file,
            library: &library,
            pipelines,
            seeds: &seeds,
            before,
            edits: &edits,
            is_apart,
        };
        tried_with.all(&text, &walk).map_err(|problem| {
            first_failure.set(first_failure.get().or(Some(tried.get())));
            TestCaseError::fail(format!("{problem}\nORIGINAL:\n{text}"))
        })
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => {
            let number = first_failure.get().unwrap_or_default();
            panic!("program {number} fails; the smallest that does:\n{reason}");
        }
        Err(error) => panic!("{error}"),
    }
    let (tried, finished) = (tried.get(), finished.get());
    let edits = edits.into_inner();
    println!("{finished} of {tried} programs finished; {edits:?}");
    assert!(
        finished * 4 > tried * 3,
        "only {finished} of {tried} programs finished"
    );
    for kind in PROVED {
        let count = edits.get(&kind).copied().unwrap_or_default();
        assert!(count * 100 >= tried, "only {count} edits were {kind:?}");
    }
}
