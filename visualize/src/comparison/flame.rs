//! The differential flame graph: as wide as the run after, red where it grew, blue where it shrank.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use inferno::flamegraph::color::{Color, StrokeColor};

use super::matching::{self, Match};
use crate::baseline::{Baseline, Frame};
use crate::flame::{frame, image};
use crate::table::thousands;

/// Writes the differential flame graph of two runs as an SVG image that zooms and searches in a
/// browser. What is the same statement or group in both has one frame, with the label of the run
/// after.
///
/// # Errors
/// When `out` can't be written, or nothing was active in the run after.
pub fn differential(before: &Baseline, after: &Baseline, out: impl Write) -> io::Result<()> {
    let groups = matching::groups(before, after);
    let statements = pairs(&matching::statements(before, after, &groups));
    let groups = pairs(&groups);
    let label = |run: &Baseline, frame: &Frame| match frame {
        Frame::Statement(at) => run.statements[*at].label.clone(),
        Frame::Group(at) => run.groups[*at].name.clone(),
        Frame::Label(label) => label.clone(),
    };
    let old = |frame: &Frame| match frame {
        Frame::Statement(at) => statements.get(at).map(|&at| Frame::Statement(at)),
        Frame::Group(at) => groups.get(at).map(|&at| Frame::Group(at)),
        Frame::Label(_) => Some(frame.clone()),
    };
    let mut stacks: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    each_stack(before, |frames, cycles| {
        let labels = frames.iter().map(|frame| match old(frame) {
            Some(same) => label(after, &same),
            // What has vanished must not look like something else on the same line.
            None => format!("{} (vanished)", label(before, frame)),
        });
        stacks.entry(stack(labels)).or_default().0 += cycles;
    });
    each_stack(after, |frames, cycles| {
        let labels = frames.iter().map(|frame| label(after, frame));
        stacks.entry(stack(labels)).or_default().1 += cycles;
    });
    let gone = stacks.values().filter(|&&(_, after)| after == 0);
    let gone: u64 = gone.map(|&(before, _)| before).sum();
    let lines: Vec<String> = stacks
        .iter()
        .filter(|&(_, &(_, after))| after > 0)
        .map(|(stack, (before, after))| format!("{stack} {before} {after}"))
        .collect();
    if lines.is_empty() {
        return Err(io::Error::other("nothing was active in the run after"));
    }
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

fn stack(labels: impl Iterator<Item = String>) -> String {
    let frames: Vec<String> = labels.map(|label| frame(&label)).collect();
    frames.join(";")
}

/// Which is which, for what is matched one to one.
fn pairs(matches: &[Match]) -> BTreeMap<usize, usize> {
    let pairs = matches
        .iter()
        .filter_map(|found| match (&found.before[..], &found.after[..]) {
            ([from], [to]) => Some((*from, *to)),
            _ => None,
        });
    pairs.collect()
}

fn each_stack(run: &Baseline, mut take: impl FnMut(&[Frame], u64)) {
    let mut stack: Vec<Frame> = Vec::new();
    for node in &run.flame {
        stack.truncate(node.0);
        stack.push(run.frames[node.1].clone());
        if node.2 > 0 {
            take(&stack, node.2);
        }
    }
}
