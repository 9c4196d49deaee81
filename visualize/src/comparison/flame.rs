//! The differential flame graph: as wide as the run after, red where it grew, blue where it shrank.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use inferno::flamegraph::color::{Color, StrokeColor};

use super::matching::{self, Match};
use super::statements;
use crate::baseline::{Baseline, Frame};
use crate::flame::{frame, image};
use crate::text::thousands;

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
    let mut lines: Vec<String> = Vec::new();
    for (stack, identity, cycles) in &new {
        // Where several stacks could be the old one, none is.
        let only = identity.as_deref().filter(|identity| count[identity] == 1);
        let before = only.and_then(|identity| old.remove(identity)).unwrap_or(0);
        let labels: Vec<String> = stack.iter().map(|at| frame(label(after, at))).collect();
        lines.push(format!("{} {before} {cycles}", labels.join(";")));
    }
    lines.sort();
    if lines.is_empty() {
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
    let mut subtitle = "width: active leaves after; red grew, blue shrank".to_owned();
    if gone > 0 {
        let _ = write!(
            subtitle,
            "; {} cycles of leaves that vanished are not shown",
            thousands(gone)
        );
    }
    let mut options = image(title, subtitle);
    // What did not change is as white as the background.
    options.stroke_color = StrokeColor::Color(Color {
        r: 200,
        g: 200,
        b: 200,
    });
    inferno::flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
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
