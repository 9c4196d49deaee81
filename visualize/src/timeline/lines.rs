//! The lines of a front end's files on a timeline: which are active in each tree, and how often each became so.
//!
//! Owns only the counting; [`Tracks`](super::tracks::Tracks) names their tracks. A design that names no lines
//! takes no memory here.

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{FrontEndFileId, Id, Metadata};
use petal_reconstruct::{Instance, Node, TreeId};

use super::SliceId;
use petal_analysis::elements::without;
use petal_analysis::front_end::{FrontEndLine, FrontEndLines};

/// A number for each line that was active, from 0 on.
pub(super) type LineId = usize;

/// The lines so far.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    front_end: FrontEndLines<'a>,
    any: bool,
    ids: HashMap<(FrontEndFileId, u32), LineId>,
    list: Vec<Line>,
    /// The lines of each tree, ascending.
    trees: Vec<Vec<LineId>>,
    is_lost: bool,
}

#[derive(Debug)]
struct Line {
    file: FrontEndFileId,
    number: u32,
    /// Times that it became active, and when it did last.
    times: u64,
    since: u64,
    slice: Option<SliceId>,
}

impl<'a> Lines<'a> {
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            front_end: FrontEndLines::new(metadata),
            any: metadata.front_end.has_lines(),
            ids: HashMap::new(),
            list: Vec::new(),
            trees: Vec::new(),
            is_lost: false,
        }
    }

    /// Takes in the nodes of the next tree, as far as they are shown.
    pub fn tree(&mut self, nodes: impl Iterator<Item = Node>, instances: &[Instance]) {
        if !self.any {
            return;
        }
        let mut active = Vec::new();
        for frame in nodes.flat_map(|node| self.front_end.frames(node, instances)) {
            let FrontEndLine::At(file, number) = frame.line else {
                continue;
            };
            let id = *self.ids.entry((file, number)).or_insert_with(|| {
                self.list.push(Line {
                    file,
                    number,
                    times: 0,
                    since: 0,
                    slice: None,
                });
                self.list.len() - 1
            });
            active.push(id);
        }
        active.sort_unstable();
        active.dedup();
        self.trees.push(active);
    }

    /// The lines that are active while `tree` is.
    pub fn of(&self, tree: Option<TreeId>) -> &[LineId] {
        let lines = tree.and_then(|tree| self.trees.get(tree.index()));
        lines.map_or(&[], Vec::as_slice)
    }

    /// The lines that end, and those that begin, where `after` follows `before`.
    pub fn changes(
        &self,
        before: Option<TreeId>,
        after: Option<TreeId>,
    ) -> (Vec<LineId>, Vec<LineId>) {
        let (before, after) = (self.of(before), self.of(after));
        (without(before, after), without(after, before))
    }

    /// A line becomes active in the cycle `now`.
    pub fn open(&mut self, id: LineId, now: u64) {
        self.list[id].times += 1;
        self.list[id].since = now;
    }

    /// A line has become active so many times, at `last` the last time.
    pub fn opened(&mut self, id: LineId, times: u64, last: u64) {
        let line = &mut self.list[id];
        line.times += times;
        line.since = line.since.max(last);
    }

    /// Times that each line became active.
    pub fn all_times(&self) -> Vec<u64> {
        self.list.iter().map(|line| line.times).collect()
    }

    /// What was counted since there were these times comes so often again, and began so many cycles later if it began in this cycle or
    /// after it.
    pub fn again(&mut self, before: &[u64], times: u64, since: u64, later: u64) {
        for (line, before) in self.list.iter_mut().zip(before) {
            line.times += (line.times - before) * times;
            if line.since >= since {
                line.since += later;
            }
        }
    }

    /// When a line became active last.
    pub fn since(&self, id: LineId) -> u64 {
        self.list[id].since
    }

    /// Times that a line became active; 0 if cycles were left out.
    pub fn times(&self, id: LineId) -> u64 {
        if self.is_lost { 0 } else { self.list[id].times }
    }

    /// Cycles were left out, so nothing is known of how often lines became active.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Its file and its number in that.
    pub fn place(&self, id: LineId) -> (FrontEndFileId, u32) {
        (self.list[id].file, self.list[id].number)
    }

    /// What its slices are, once that is set.
    pub fn slice(&mut self, id: LineId) -> &mut Option<SliceId> {
        &mut self.list[id].slice
    }
}
