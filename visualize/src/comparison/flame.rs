//! The differential flame graph: as wide as the run after, red where it grew, blue where it shrank.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use super::matching::{self, Match};
use super::statements;
use crate::baseline::{Baseline, Frame};
use crate::picture::{self, Picture};
use crate::text::{amount, thousands};

/// Writes the differential flame graph of two runs as an SVG image that zooms and searches in a
/// browser.
///
/// Frames that only one of the runs has do not keep what stands on them from being the same: a group
/// that moved into a new `par` has the colour of its own change.
///
/// # Errors
/// When `out` can't be written, or nothing was active in the run after.
pub fn differential(before: &Baseline, after: &Baseline, out: impl Write) -> io::Result<()> {
    let common = Common::of(before, after);
    let mut old: BTreeMap<Vec<Frame>, u64> = BTreeMap::new();
    let mut gone = 0;
    for (stack, cycles) in stacks(before) {
        match identity(&stack, |frame| common.after(frame)) {
            Some(stack) => *old.entry(stack).or_default() += cycles,
            None => gone += cycles,
        }
    }
    let new: Vec<(Vec<Frame>, Option<Vec<Frame>>, u64)> = stacks(after)
        .into_iter()
        .map(|(stack, cycles)| {
            let identity = identity(&stack, |frame| common.known(frame));
            (stack, identity, cycles)
        })
        .collect();
    let mut count: BTreeMap<&[Frame], usize> = BTreeMap::new();
    for identity in new
        .iter()
        .filter_map(|(_, identity, _)| identity.as_deref())
    {
        *count.entry(identity).or_default() += 1;
    }
    let mut graph = Graph::default();
    for (stack, identity, cycles) in &new {
        // Where several stacks could be the old one, none is.
        let only = identity.as_deref().filter(|identity| count[identity] == 1);
        let before = only.and_then(|identity| old.remove(identity)).unwrap_or(0);
        let labels = stack.iter().map(|at| label(after, at));
        graph.add(labels, before, *cycles);
    }
    if graph.sums.is_empty() {
        return Err(io::Error::other("nothing was active in the run after"));
    }
    gone += old.values().sum::<u64>();
    let title = format!(
        "{}: {} → {}: {} cycles",
        before.design,
        thousands(before.cycles),
        after.design,
        thousands(after.cycles)
    );
    let mut subtitle = "as wide as the run after; striped: overhead".to_owned();
    if gone > 0 {
        let _ = write!(
            subtitle,
            "; {} cycles of what vanished are not shown",
            amount(gone.into(), 1000)
        );
    }
    let picture = Picture {
        units: 1000,
        // What did not change is as white as the background.
        stroke: 200,
        title,
        subtitle,
        legend: vec![
            (tint(GREW, 1.0), "red grew"),
            (tint(SHRANK, 1.0), "blue shrank"),
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

/// The stacks of the run after, laid on top of each other.
#[derive(Default)]
struct Graph<'a> {
    sums: Vec<Sum<'a>>,
    ids: BTreeMap<(Option<usize>, &'a str), usize>,
}

/// A frame, with what is of stacks that go through it.
struct Sum<'a> {
    above: Option<usize>,
    label: &'a str,
    leaf: u64,
    before: u64,
    after: u64,
}

impl<'a> Graph<'a> {
    fn add(&mut self, stack: impl Iterator<Item = &'a str>, before: u64, after: u64) {
        let mut above = None;
        for label in stack {
            let next = self.sums.len();
            let at = *self.ids.entry((above, label)).or_insert(next);
            if at == next {
                self.sums.push(Sum {
                    above,
                    label,
                    leaf: 0,
                    before: 0,
                    after: 0,
                });
            }
            self.sums[at].before += before;
            self.sums[at].after += after;
            above = Some(at);
        }
        if let Some(leaf) = above {
            self.sums[leaf].leaf += after;
        }
    }

    fn frames(&self) -> Vec<picture::Frame> {
        let changes = self
            .sums
            .iter()
            .map(|frame| frame.after.abs_diff(frame.before));
        let most = changes.max().unwrap_or(0).max(1);
        let frames = self.sums.iter().map(|frame| {
            let change = frame.after.abs_diff(frame.before);
            let color = if frame.after > frame.before {
                GREW
            } else {
                SHRANK
            };
            let is_overhead = frame.label.starts_with("(overhead: ");
            picture::Frame {
                above: frame.above,
                name: frame.label.to_owned(),
                detail: format!(
                    "{} cycles after, {} before",
                    amount(frame.after.into(), 1000),
                    amount(frame.before.into(), 1000)
                ),
                // The eye tells small changes from none.
                fill: tint(color, ratio(change, most).sqrt()),
                last: is_overhead,
                striped: is_overhead,
                weight: frame.leaf,
            }
        });
        frames.collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "the strength of a colour")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn label<'a>(run: &'a Baseline, frame: &'a Frame) -> &'a str {
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
    /// All of them, as in the run after.
    after: BTreeSet<Frame>,
}

impl<'a> Common<'a> {
    fn of(before: &'a Baseline, after: &'a Baseline) -> Self {
        let groups = matching::groups(before, after);
        let statements = pairs(&statements::statements(before, after, &groups));
        let groups = pairs(&groups);
        let labels: BTreeSet<&Frame> = before
            .frames
            .iter()
            .filter(|frame| matches!(frame, Frame::Label(_)) && after.frames.contains(frame))
            .collect();
        let all = statements.values().map(|&at| Frame::Statement(at));
        let all = all.chain(groups.values().map(|&at| Frame::Group(at)));
        Self {
            after: all.chain(labels.iter().copied().cloned()).collect(),
            statements,
            groups,
            labels,
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

    /// A frame after, if there is one before.
    fn known(&self, frame: &Frame) -> Option<Frame> {
        self.after.get(frame).cloned()
    }
}

/// What a stack is without the frames that only one run has; `None` if its leaf is one of them.
fn identity(stack: &[Frame], common: impl Fn(&Frame) -> Option<Frame>) -> Option<Vec<Frame>> {
    common(stack.last()?)?;
    Some(stack.iter().filter_map(common).collect())
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

/// The stacks of a run, with the cycles in which their last frame was a leaf.
fn stacks(run: &Baseline) -> Vec<(Vec<Frame>, u64)> {
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
