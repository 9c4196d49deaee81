//! A comparison as one page: what changed by itself, both flame graphs, the source with both costs beside each line, tables and observations.
//!
//! The page's script knows nothing but its data, and loads nothing.

use std::collections::{BTreeMap, BTreeSet};

use petal_reconstruct::Overhead;
use petal_table::terms;
use petal_visualize::Page;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::baseline::{Baseline, StatementFigures};
use crate::comparison::{Both, Change, Comparison, OwnRow, both, of_statements};

const BODY: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = concat!(
    include_str!("page/flames.js"),
    include_str!("page/compare.js")
);

/// Changes beyond so many are not on the page.
const MOST_OWN: usize = 500;

/// The text of a source file of a run. A baseline has none.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name, as in [`Baseline::files`], or that of a front end's file as outputs have it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whose it is.
    pub language: Language,
}

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Calyx.
    Calyx,
    /// That of a front end.
    FrontEnd,
}

/// What the script of the page gets.
#[derive(Serialize)]
struct Data<'a> {
    comparison: &'a Comparison,
    /// Names of the classes of cycles, what their colours are called, and their cycles.
    classes: Vec<(&'static str, String, Change)>,
    own: Vec<&'a OwnRow>,
    frames: Vec<Both>,
    files: Vec<File>,
    /// The passes that only one of the runs was compiled with, before and after.
    passes: [Vec<&'a str>; 2],
    terms: BTreeMap<&'a str, String>,
}

/// A file of both runs.
#[derive(Debug, Serialize)]
struct File {
    name: String,
    language: Language,
    /// The number of each line before and after, and its text.
    lines: Vec<(Option<usize>, Option<usize>, String)>,
    /// Of the lines before, and of those after: cycles in which what begins there was active, and in thousandths what it cost by itself.
    costs: [BTreeMap<usize, (u64, u64)>; 2],
}

/// The text of the page that compares two runs, whose sources are known or not.
pub fn page(before: &Baseline, after: &Baseline, sources: [&[Source]; 2]) -> String {
    let comparison = Comparison::new(before, after);
    let own = comparison.own.iter().filter(|row| row.shift() > 0);
    let effects = comparison.groups.iter();
    let effects = effects.flat_map(|row| row.now.iter().chain(&row.no_longer));
    let words: BTreeSet<&str> = effects.map(|effect| first_word(effect)).collect();
    let data = Data {
        classes: classes(&comparison),
        own: own.take(MOST_OWN).collect(),
        frames: both(before, after),
        files: front_end_files(before, after, sources)
            .into_iter()
            .chain(files(before, after, sources))
            .collect(),
        passes: [only(before, after), only(after, before)],
        terms: terms::hints(words.into_iter()),
        comparison: &comparison,
    };
    let designs = &comparison.designs;
    let title = if designs.before == designs.after {
        designs.after.clone()
    } else {
        format!("{} → {}", designs.before, designs.after)
    };
    let page = Page {
        kind: "compare",
        body: BODY,
        style: STYLE,
        script: SCRIPT,
    };
    page.render(&title, &data, &[("title", &title)], &[])
}

/// What an effect is called: `shares` of `shares dx in xx`.
fn first_word(effect: &str) -> &str {
    effect.split(' ').next().unwrap_or(effect)
}

fn classes(comparison: &Comparison) -> Vec<(&'static str, String, Change)> {
    let useful = [
        ("computation", comparison.computation),
        ("conditions", comparison.conditions),
    ];
    let useful = useful.map(|(name, change)| (name, name.to_owned(), change));
    let overhead = Overhead::ALL.map(|kind| {
        let key = kind.to_string();
        let change = comparison.overhead_by_kind.get(&key);
        (kind.title(), key, change.copied().unwrap_or_default())
    });
    useful.into_iter().chain(overhead).collect()
}

/// The passes that only the first of two runs was compiled with.
fn only<'a>(run: &'a Baseline, other: &Baseline) -> Vec<&'a str> {
    let mut only: Vec<&str> = Vec::new();
    for pass in &run.passes {
        if !other.passes.contains(pass) && !only.contains(&pass.as_str()) {
            only.push(pass);
        }
    }
    only
}

/// The files of both runs whose text is known: those with the same name together, and of the others the first with the first.
fn files(before: &Baseline, after: &Baseline, sources: [&[Source]; 2]) -> Vec<File> {
    let name = |run: &Baseline, at: usize| run.files[at].name.clone();
    let mut left: Vec<usize> = (0..before.files.len()).collect();
    let mut pairs: Vec<(Option<usize>, Option<usize>)> = Vec::new();
    let (same, other): (Vec<usize>, Vec<usize>) = (0..after.files.len()).partition(|&at| {
        before
            .files
            .iter()
            .any(|file| file.name == after.files[at].name)
    });
    for at in same {
        let was = left
            .iter()
            .position(|&was| name(before, was) == name(after, at));
        pairs.push((was.map(|was| left.remove(was)), Some(at)));
    }
    let mut left = left.into_iter();
    pairs.extend(other.into_iter().map(|at| (left.next(), Some(at))));
    pairs.extend(left.map(|at| (Some(at), None)));
    let costs = [costs(before), costs(after)];
    let text = |side: usize, run: &Baseline, at: Option<usize>| {
        let file = &run.files[at?];
        let mut sources = sources[side].iter();
        let source =
            sources.find(|source| source.language == Language::Calyx && source.name == file.name);
        source.map(|source| source.text.as_str())
    };
    let files = pairs.into_iter().filter_map(|(was, is)| {
        let (old, new) = (text(0, before, was), text(1, after, is));
        let of = |side: usize, at: Option<usize>| {
            at.and_then(|at| costs[side].get(&at).cloned())
                .unwrap_or_default()
        };
        // Without one of the texts, the lines of the other are shown; costs of the one without belong to its lines alone.
        old.or(new)?;
        let names = [was.map(|at| name(before, at)), is.map(|at| name(after, at))];
        let [was_name, is_name] = names;
        let name = match (was_name, is_name) {
            (Some(was), Some(is)) if was != is => format!("{was} → {is}"),
            (was, is) => is.or(was).unwrap_or_default(),
        };
        let is_same = was
            .zip(is)
            .is_some_and(|(was, is)| before.files[was] == after.files[is]);
        let lines = match (old, new) {
            (Some(old), Some(new)) => aligned(old, new),
            // What is the same in both runs is told by either.
            (text, None) | (None, text) if is_same => {
                aligned(text.unwrap_or_default(), text.unwrap_or_default())
            }
            (old, new) => aligned(old.unwrap_or_default(), new.unwrap_or_default()),
        };
        Some(File {
            name,
            language: Language::Calyx,
            lines,
            costs: [of(0, was), of(1, is)],
        })
    });
    files.collect()
}

/// The files of the front ends of both runs whose text is known, by their names.
fn front_end_files(before: &Baseline, after: &Baseline, sources: [&[Source]; 2]) -> Vec<File> {
    let texts = sources.map(|sources| {
        let front = sources.iter();
        let front = front.filter(|source| source.language == Language::FrontEnd);
        let texts = front.map(|source| (source.name.as_str(), source.text.as_str()));
        texts.collect::<BTreeMap<&str, &str>>()
    });
    let names: BTreeSet<&str> = texts.iter().flat_map(|of| of.keys().copied()).collect();
    let costs = [front_end_costs(before), front_end_costs(after)];
    let files = names.into_iter().map(|name| {
        let [old, new] = [0, 1].map(|side| texts[side].get(name).copied());
        // Where one side has no text, the other's stands for both: the lines of a baseline are those of its file.
        let (was, is) = (old.or(new), new.or(old));
        File {
            name: name.to_owned(),
            language: Language::FrontEnd,
            lines: aligned(was.unwrap_or_default(), is.unwrap_or_default()),
            costs: [0, 1].map(|side| {
                let known = texts[side].contains_key(name);
                let of = costs[side].get(name).filter(|_| known);
                of.cloned().unwrap_or_default()
            }),
        }
    });
    files.collect()
}

/// The lines of two texts: what is in one alone has a number in that alone.
fn aligned(old: &str, new: &str) -> Vec<(Option<usize>, Option<usize>, String)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut lines = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (from, to) = (operation.old_range(), operation.new_range());
        if let DiffOp::Equal { .. } = operation {
            lines.extend(
                from.zip(to)
                    .map(|(from, to)| (Some(from + 1), Some(to + 1), new[to].to_owned())),
            );
        } else {
            lines.extend(from.map(|at| (Some(at + 1), None, old[at].to_owned())));
            lines.extend(to.map(|at| (None, Some(at + 1), new[at].to_owned())));
        }
    }
    lines
}

/// What the lines of each file cost: by file and line, cycles in which the outermost statement was active, and thousandths by themselves.
fn costs(run: &Baseline) -> BTreeMap<usize, LineCosts> {
    costs_at(run, |row| row.place.map(|place| (place.file, place.line)))
}

/// The same of the lines of front ends.
fn front_end_costs(run: &Baseline) -> BTreeMap<String, LineCosts> {
    costs_at(run, |row| {
        let place = row.front_end.as_ref()?;
        Some((place.file.clone(), place.line))
    })
}

/// Costs by line, as [`File::costs`] has them.
type LineCosts = BTreeMap<usize, (u64, u64)>;

fn costs_at<F: Ord>(
    run: &Baseline,
    place: impl Fn(&StatementFigures) -> Option<(F, u32)>,
) -> BTreeMap<F, LineCosts> {
    let own = of_statements(run);
    let mut costs: BTreeMap<F, LineCosts> = BTreeMap::new();
    for (at, row) in run.statements.iter().enumerate() {
        let Some((file, line)) = place(row) else {
            continue;
        };
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let cost = costs.entry(file).or_default().entry(line).or_default();
        cost.0 = cost.0.max(row.cycles);
        cost.1 += own.get(&at).copied().unwrap_or(0);
    }
    costs
}
