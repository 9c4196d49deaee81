//! The whole run at a glance: what share of the cycles was useful, overhead of each kind, and busy in each component
//! cell, in windows of equal length.
//!
//! Owns these rows, and the one that tells of which parts a timeline has all. Viewers open them at once, however long the
//! run is.

use std::io;

use petal_metadata::{Id as _, Metadata};
use petal_reconstruct::{
    Activity, Again, CallTree, Event, FrameLabels, Instance, InstanceId, Item, Node, Overhead,
    TreeId,
};

use super::{Content, Detail, Format, Slice, Track, TrackId};
use crate::part::Part;
use petal_analysis::cells::track_label;
use petal_analysis::ledger::Class;
use petal_analysis::windows::Windows;
use petal_table::text::thousands;

/// How many windows a run has at most; a long one has more than half as many.
const MAX_WINDOWS: usize = 2048;
/// How many values all rows have together at most: where there are many cells, windows are longer.
const MAX_VALUES: usize = 1 << 16;
/// The tracks' numbers follow; those of elements are lower.
const FIRST_TRACK: TrackId = 1 << 62;

/// What is counted in windows: useful cycles, overhead by kind, and from here on what each cell is busy in.
const CELLS: usize = 1 + Overhead::ALL.len();

/// Follows a trace, and counts in windows.
#[derive(Debug)]
pub struct Overview<'a> {
    metadata: &'a Metadata,
    instances: Vec<Instance>,
    windows: Windows,
    /// What the cycles of each tree count for, and those that are to be appended, with the trees that have some.
    trees: Vec<(Vec<usize>, u64)>,
    waiting: Vec<TreeId>,
    /// So many more wait until they fill a window.
    room: u64,
}

/// A row of the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewRow {
    /// What it shows, in the words of the tables.
    pub name: String,
    /// The cycles of each window for which that holds: together those of the run.
    pub cycles: Vec<u64>,
}

impl<'a> Overview<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            instances: Vec::new(),
            windows: Windows::new(MAX_WINDOWS),
            trees: Vec::new(),
            waiting: Vec::new(),
            room: 0,
        }
    }

    /// Takes in the next event, or what comes again.
    #[inline]
    pub fn item(&mut self, item: &Item) {
        match item {
            Item::Event(event) => self.event(event),
            Item::Again(again) => self.again(again),
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let counted = self.counted(tree);
                self.trees.push((counted, 0));
            }
            Event::Run(run) if run.cycles < self.room => {
                self.room -= run.cycles;
                let (_, waiting) = &mut self.trees[run.tree.index()];
                if *waiting == 0 {
                    self.waiting.push(run.tree);
                }
                *waiting += run.cycles;
            }
            Event::Run(run) => {
                self.append();
                let (counted, _) = &self.trees[run.tree.index()];
                self.windows.add(counted, run.cycles);
                self.room = self.windows.room();
            }
            Event::End { .. } => {
                self.append();
                let rows = CELLS + self.instances.len();
                while rows * self.windows.count() > MAX_VALUES && self.windows.count() > 1 {
                    self.windows.halve();
                }
            }
            _ => {}
        }
    }

    fn again(&mut self, again: &Again) {
        self.append();
        let trees = &self.trees;
        let runs = again.runs();
        let counted: Vec<_> = runs
            .map(|run| (&trees[run.tree.index()].0[..], run.cycles))
            .collect();
        self.windows.add_again(&counted, again.times());
        self.room = self.windows.room();
    }

    /// Appends the cycles that wait: a window has room for all of them.
    fn append(&mut self) {
        for tree in self.waiting.drain(..) {
            let (counted, waiting) = &mut self.trees[tree.index()];
            self.windows.add(counted, std::mem::take(waiting));
        }
    }

    /// What the cycles with this tree count for, as the ledger and the table of cells count them.
    fn counted(&self, tree: &CallTree) -> Vec<usize> {
        let busy = tree.nodes().filter_map(|(_, node)| match node {
            Node::Cell {
                instance, activity, ..
            } if !matches!(activity, Activity::Overhead(_)) => Some(CELLS + instance.index()),
            _ => None,
        });
        let mut counted: Vec<usize> = busy.collect();
        counted.push(match Class::of(self.metadata, tree) {
            Class::Computation | Class::Conditions => 0,
            Class::Overhead(_, charge) => 1 + charge.kind.index(),
        });
        counted.sort_unstable();
        counted.dedup();
        counted
    }

    /// Cycles of a window, but for the last one.
    pub fn window(&self) -> u64 {
        self.windows.width()
    }

    /// Useful cycles, overhead of each kind that there was, and the cycles in which each cell was busy, if it ever was.
    pub fn rows(&self) -> Vec<OverviewRow> {
        let labels = FrameLabels::new(self.metadata);
        let cells = (0..self.instances.len()).map(|at| {
            let id = InstanceId::from_index(at);
            let cell = track_label(self.metadata, &labels, &self.instances, id);
            format!("{cell} busy")
        });
        let kinds = Overhead::ALL.map(|kind| kind.title().to_owned());
        let names = std::iter::once("useful".to_owned())
            .chain(kinds)
            .chain(cells);
        let rows = names.enumerate().map(|(id, name)| OverviewRow {
            name,
            cycles: self.windows.of(id).collect(),
        });
        rows.filter(|row| row.cycles.iter().any(|&cycles| cycles > 0))
            .collect()
    }

    /// Writes the rows, and the parts of which the timeline has all slices.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&self, format: &mut impl Format, parts: &[Part]) -> io::Result<()> {
        let width = thousands(self.window());
        let mut holder = None;
        let mut next = FIRST_TRACK;
        let mut track = |format: &mut dyn Format, name: String, content| {
            let rank = u32::try_from(next - FIRST_TRACK).unwrap_or(u32::MAX);
            let track = Track {
                id: next,
                parent: holder,
                cell: FIRST_TRACK,
                cell_path: name.clone(),
                cell_label: name.clone(),
                name,
                rank,
                content,
            };
            next += 1;
            holder = holder.or(Some(track.id));
            format.track(&track)?;
            io::Result::Ok(track.id)
        };
        // Viewers sort the outermost rows by name: this one comes before any component.
        let name = format!("% of each {width} cycles of the run");
        track(format, name, Content::Holder)?;
        let shown = track(format, "shown in detail".to_owned(), Content::Slices)?;
        for Part { cycles, about, .. } in parts {
            let slice = Slice {
                track: shown,
                name: format!(
                    "cycles {}..{}",
                    thousands(cycles.start),
                    thousands(cycles.end)
                ),
                path: String::new(),
                category: "section",
                is_update: true,
                site: None,
                details: vec![("what", Detail::Text(about.clone()))],
            };
            format.slice(0, &slice)?;
            format.update(0, cycles.clone(), None)?;
        }
        for row in self.rows() {
            let track = track(format, row.name, Content::Share)?;
            format.shares(track, &self.shares(&row.cycles))?;
        }
        Ok(())
    }

    /// Where a share changes, and to how many per cent.
    fn shares(&self, cycles: &[u64]) -> Vec<(u64, f64)> {
        let windows = cycles.iter().enumerate();
        let mut shares: Vec<(u64, f64)> = windows
            .map(|(at, &cycles)| {
                #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
                let share = 100.0 * cycles as f64 / self.windows.length(at) as f64;
                (at as u64 * self.window(), share)
            })
            .collect();
        shares.dedup_by(|next, before| next.1.to_bits() == before.1.to_bits());
        shares.push((self.windows.cycles(), 0.0));
        shares
    }
}
