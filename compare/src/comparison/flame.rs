//! The differential flame graph: the stacks of both runs, red where they grew, blue where they shrank, hollow where they vanished.
//!
//! Each frame tells the cycles that it had in both runs: what the flame graphs of the two tell of it. Where frames that vanished stand
//! beside others, all are drawn narrower, so that the picture is as wide as the longer run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::Serialize;

use super::matching::{self, Match, statements};
use crate::baseline::{Baseline, Frame};
use petal_table::text::{amount, thousands};
use petal_visualize::picture::{self, Picture};

/// Writes the differential flame graph of two runs as an SVG image that zooms and searches in a
/// browser.
///
/// # Errors
/// When `out` can't be written, or nothing was active in either run.
pub fn differential(before: &Baseline, after: &Baseline, out: impl Write) -> io::Result<()> {
    let graph = Graph::of(before, after);
    if graph.sums.is_empty() {
        return Err(io::Error::other("nothing was active in either run"));
    }
    let title = format!(
        "{}: {} → {}: {} cycles",
        before.design,
        thousands(before.cycles),
        after.design,
        thousands(after.cycles)
    );
    let picture = Picture {
        units: 1000,
        // What did not change is as white as the background.
        stroke: 200,
        title,
        subtitle: "as wide as the longer run; striped: overhead".to_owned(),
        legend: vec![
            (tint(GREW, 1.0), "red grew"),
            (tint(SHRANK, 1.0), "blue shrank"),
            (tint(SHRANK, 0.0), "hollow vanished"),
        ],
        frames: graph.frames(),
    };
    picture.svg(out)
}

/// What took more cycles, and what fewer: red, green and blue.
const GREW: [f64; 3] = [213.0, 94.0, 0.0];
const SHRANK: [f64; 3] = [0.0, 114.0, 178.0];

/// White at `strength` 0, `color` at 1.
fn tint(color: [f64; 3], strength: f64) -> String {
    let [red, green, blue] = color.map(|part| (255.0 - (255.0 - part) * strength).round());
    format!("rgb({red},{green},{blue})")
}

/// Thousandths of cycles in both runs.
#[derive(Debug, Clone, Copy, Default)]
struct Cycles {
    before: u64,
    after: u64,
}

impl Cycles {
    fn add(&mut self, other: Self) {
        self.before += other.before;
        self.after += other.after;
    }

    fn most(self) -> u64 {
        self.before.max(self.after)
    }
}

/// The stacks of both runs, laid on top of each other.
#[derive(Default)]
struct Graph {
    sums: Vec<Sum>,
    /// By what a frame stands on, its label, and whether the run after has nothing like it.
    ids: BTreeMap<(Option<usize>, String, bool), usize>,
}

/// A frame, with what is of stacks that go through it.
struct Sum {
    above: Option<usize>,
    label: String,
    /// As a leaf.
    leaf: Cycles,
    all: Cycles,
}

/// A frame of the flame graphs of two runs.
#[derive(Debug, Serialize)]
pub(crate) struct Both {
    /// The frame that it stands on, which comes before it.
    above: Option<usize>,
    label: String,
    /// With all that stands on it, in thousandths of cycles.
    before: u64,
    after: u64,
}

/// The frames of both runs, laid on top of each other.
pub(crate) fn both(before: &Baseline, after: &Baseline) -> Vec<Both> {
    let sums = Graph::of(before, after).sums.into_iter();
    sums.map(|sum| Both {
        above: sum.above,
        label: sum.label,
        before: sum.all.before,
        after: sum.all.after,
    })
    .collect()
}

impl Graph {
    fn of(before: &Baseline, after: &Baseline) -> Self {
        let common = Common::of(before, after);
        let mut graph = Self::default();
        for (stack, cycles) in stacks(after) {
            let names = shown(after, &stack).map(|frame| (label(after, frame), false));
            graph.add(
                names,
                Cycles {
                    before: 0,
                    after: cycles,
                },
            );
        }
        for (stack, cycles) in stacks(before) {
            let names = shown(before, &stack).map(|frame| match common.after(frame) {
                Some(frame) => (label(after, &frame).to_owned(), false),
                None => (label(before, frame).to_owned(), true),
            });
            let names: Vec<(String, bool)> = names.collect();
            let names = names.iter().map(|(name, is_gone)| (&**name, *is_gone));
            graph.add(
                names,
                Cycles {
                    before: cycles,
                    after: 0,
                },
            );
        }
        graph
    }

    fn add<'n>(&mut self, stack: impl Iterator<Item = (&'n str, bool)>, cycles: Cycles) {
        let mut above = None;
        for (label, is_gone) in stack {
            let next = self.sums.len();
            let key = (above, label.to_owned(), is_gone);
            let at = *self.ids.entry(key).or_insert(next);
            if at == next {
                self.sums.push(Sum {
                    above,
                    label: label.to_owned(),
                    leaf: Cycles::default(),
                    all: Cycles::default(),
                });
            }
            self.sums[at].all.add(cycles);
            above = Some(at);
        }
        if let Some(leaf) = above {
            self.sums[leaf].leaf.add(cycles);
        }
    }

    /// How wide each frame is as a leaf: all together as wide as the longer run.
    fn weights(&self) -> Vec<u64> {
        // What stands on each, by which it has to be shared, and what stands on nothing.
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); self.sums.len()];
        let mut outermost = Vec::new();
        for (at, sum) in self.sums.iter().enumerate() {
            match sum.above {
                Some(above) => parts[above].push(at),
                None => outermost.push(at),
            }
        }
        let mut run = Cycles::default();
        for &at in &outermost {
            run.add(self.sums[at].all);
        }
        let mut weights = vec![0; self.sums.len()];
        let mut waiting = vec![(run.most(), None, outermost)];
        while let Some((width, leaf, on_it)) = waiting.pop() {
            let of_leaf = leaf.map_or(0, |at: usize| self.sums[at].leaf.most());
            let wanted = on_it.iter().map(|&at| self.sums[at].all.most());
            let all = u128::from(of_leaf) + wanted.clone().map(u128::from).sum::<u128>();
            // Where each part ends, so that nothing is lost by rounding.
            let end = |so_far: u128| {
                let end = u128::from(width) * so_far / all.max(1);
                u64::try_from(end).unwrap_or(width)
            };
            let mut so_far = u128::from(of_leaf);
            if let Some(leaf) = leaf {
                weights[leaf] = end(so_far);
            }
            for (&at, wanted) in on_it.iter().zip(wanted) {
                let start = end(so_far);
                so_far += u128::from(wanted);
                waiting.push((
                    end(so_far) - start,
                    Some(at),
                    std::mem::take(&mut parts[at]),
                ));
            }
        }
        weights
    }

    fn frames(&self) -> Vec<picture::Frame> {
        let change = |frame: &Sum| frame.all.after.abs_diff(frame.all.before);
        let most = self.sums.iter().map(change).max().unwrap_or(0).max(1);
        let weights = self.weights();
        let frames = self.sums.iter().zip(weights).map(|(frame, weight)| {
            let Cycles { before, after } = frame.all;
            let color = if after > before { GREW } else { SHRANK };
            // The eye tells small changes from none.
            let strength = ratio(change(frame), most).sqrt();
            let is_gone = after == 0;
            let is_overhead = frame.label.starts_with("(overhead: ");
            let cycles = |cycles: u64| amount(cycles.into(), 1000);
            picture::Frame {
                above: frame.above,
                name: picture::shown(&frame.label),
                detail: format!("{} cycles after, {} before", cycles(after), cycles(before)),
                fill: tint(color, if is_gone { 0.0 } else { strength }),
                outline: is_gone.then(|| tint(SHRANK, 1.0)),
                overhead: is_overhead,
                striped: is_overhead,
                weight,
            }
        });
        frames.collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "the strength of a colour")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

pub(super) fn label<'a>(run: &'a Baseline, frame: &'a Frame) -> &'a str {
    match frame {
        Frame::Statement(at) => &run.statements[*at].label,
        Frame::Group(at) => &run.groups[*at].name,
        Frame::Label(label) => label,
    }
}

/// The frames that both runs have.
struct Common<'a> {
    /// Statements before and after.
    statements: BTreeMap<usize, usize>,
    groups: BTreeMap<usize, usize>,
    labels: BTreeSet<&'a Frame>,
}

impl<'a> Common<'a> {
    fn of(before: &'a Baseline, after: &'a Baseline) -> Self {
        let groups = matching::groups(before, after);
        let statements = pairs(&statements::statements(before, after, &groups));
        let groups = pairs(&groups);
        let labels = before.frames.iter();
        let labels =
            labels.filter(|frame| matches!(frame, Frame::Label(_)) && after.frames.contains(frame));
        Self {
            labels: labels.collect(),
            statements,
            groups,
        }
    }

    /// The frame after for a frame before.
    fn after(&self, frame: &Frame) -> Option<Frame> {
        match frame {
            Frame::Statement(at) => self.statements.get(at).map(|&at| Frame::Statement(at)),
            Frame::Group(at) => self.groups.get(at).map(|&at| Frame::Group(at)),
            Frame::Label(_) => self.labels.get(frame).map(|&frame| frame.clone()),
        }
    }
}

/// Which is which, for what is matched one to one.
fn pairs(matches: &[Match]) -> BTreeMap<usize, usize> {
    let pairs = matches.iter().filter_map(|found| {
        let ([from], [to]) = (&found.before[..], &found.after[..]) else {
            return None;
        };
        Some((*from, *to))
    });
    pairs.collect()
}

/// The frames of a stack without the groups that the compiler made for an `invoke`: which number they have hangs on the passes, so that
/// all below would be of one run alone.
fn shown<'a>(run: &'a Baseline, stack: &'a [Frame]) -> impl Iterator<Item = &'a Frame> {
    let is_invoke = |frame: &Frame| matches!(frame, Frame::Statement(at) if run.statements[*at].label.starts_with("invoke@"));
    let is_made =
        |frame: &Frame| matches!(frame, Frame::Label(label) if label.ends_with(" (compiler)"));
    let frames = stack.iter().enumerate();
    frames
        .filter(move |&(at, frame)| at == 0 || !is_made(frame) || !is_invoke(&stack[at - 1]))
        .map(|(_, frame)| frame)
}

/// The stacks of a run, with the cycles in which their last frame was a leaf.
pub(super) fn stacks(run: &Baseline) -> Vec<(Vec<Frame>, u64)> {
    let mut stacks = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    for node in &run.flame {
        stack.truncate(node.0);
        stack.push(run.frames[node.1].clone());
        if node.2 > 0 {
            stacks.push((stack.clone(), node.2));
        }
    }
    stacks
}
