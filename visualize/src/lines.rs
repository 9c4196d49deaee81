//! The lines of a front end's files: how long each was active, and what it cost.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{FrontEndFileId, Id, Metadata};
use petal_reconstruct::{CallTree, Event, Instance, Overhead};

use crate::annotate::{Cost, Line};
use crate::cells::column_of;
use crate::flame::{Weighting, units, weights};
use crate::front_end::{FrontEndLine, FrontEndLines, front_end_file};
use crate::ledger::{ByKind, Class, Inside, TreeCosts};
use crate::profile::Profile;
use crate::table::{Column, Table, Value};

/// Counts how often each line became active while the events of a trace pass by.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    instances: Vec<Instance>,
    /// The lines of each tree, ascending.
    trees: Vec<Vec<FrontEndLine>>,
    /// Those of the last cycle so far.
    active: Vec<FrontEndLine>,
    times: BTreeMap<FrontEndLine, u64>,
}

impl Entries {
    /// Takes in the next event.
    pub fn event(&mut self, lines: &FrontEndLines<'_>, event: &Event) {
        match event {
            Event::Instance(instance) => self.instances.push(*instance),
            Event::Tree(tree) => {
                let lines = of_tree(lines, tree, &self.instances);
                self.trees.push(lines.into_iter().collect());
            }
            Event::Run(run) => {
                let now = &self.trees[run.tree.index()];
                for line in now {
                    if self.active.binary_search(line).is_err() {
                        *self.times.entry(*line).or_default() += 1;
                    }
                }
                self.active.clone_from(now);
            }
            Event::Update(_) | Event::Warning(_) | Event::End { .. } => {}
        }
    }
}

/// The lines that are active in the cycles of a tree.
fn of_tree(
    lines: &FrontEndLines<'_>,
    tree: &CallTree,
    instances: &[Instance],
) -> BTreeSet<FrontEndLine> {
    let frames = tree
        .nodes()
        .flat_map(|(_, node)| lines.frames(node, instances));
    frames.map(|frame| frame.line).collect()
}

/// What a line did in a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    /// Times that it became active.
    times: u64,
    /// Cycles in which something of it was active, anywhere.
    cycles: u64,
    /// Its share of the run: each cycle is divided among the leaves of its call tree, and a leaf is that of the
    /// innermost line above it. In units that [`Lines::units`] tells.
    own: u128,
    /// The part of `cycles` in which something useful ran in it, conditions included.
    useful: u64,
    /// Cycles of the run that are overhead and charged to a statement of it.
    overhead: ByKind,
}

impl Sums {
    fn charged(&self) -> u64 {
        self.overhead.iter().sum()
    }
}

/// What each line did in a run. `own` adds up to the run, and `overhead` to the run's.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    metadata: &'a Metadata,
    sums: BTreeMap<FrontEndLine, Sums>,
    /// How many units of `own` make a cycle.
    units: u128,
}

impl<'a> Lines<'a> {
    /// The lines of a run.
    pub fn new(
        metadata: &'a Metadata,
        lines: &FrontEndLines<'_>,
        profile: &Profile,
        entries: &Entries,
    ) -> Self {
        let units = units(profile, Weighting::Scaled);
        let mut sums: BTreeMap<FrontEndLine, Sums> = BTreeMap::new();
        let instances = profile.instances();
        for (tree, cycles) in profile.trees().filter(|&(_, cycles)| cycles > 0) {
            let costs = TreeCosts::of(metadata, tree);
            let mut active: BTreeMap<FrontEndLine, Inside> = BTreeMap::new();
            for (id, node) in tree.nodes() {
                let inside = costs.inside(id.index());
                for frame in lines.frames(node, instances) {
                    let most = active.entry(frame.line).or_insert(inside);
                    *most = inside.max(*most);
                }
            }
            for (line, inside) in active {
                let sum = sums.entry(line).or_default();
                sum.cycles += cycles;
                if inside != Inside::Nothing {
                    sum.useful += cycles;
                }
            }
            let innermost = lines.innermost(tree, instances);
            let leaves: Vec<_> = tree.leaves().collect();
            let whole = u128::from(cycles) * units;
            let shares = weights(Weighting::Scaled, leaves.len(), whole);
            for (leaf, share) in leaves.into_iter().zip(shares) {
                sums.entry(innermost[leaf.index()]).or_default().own += share;
            }
            if let Class::Overhead(instance, charge) = costs.class() {
                let line = lines.of_charge(instance, charge.statement, instances);
                sums.entry(line).or_default().overhead[charge.kind.index()] += cycles;
            }
        }
        for (line, times) in &entries.times {
            sums.entry(*line).or_default().times = *times;
        }
        Self {
            metadata,
            sums,
            units,
        }
    }

    /// The table of lines, by file and line.
    ///
    /// `own` is the line's share of the run in hundredths of a cycle, rounded so that the column adds up to the
    /// run's cycles; the columns for kinds of overhead add up to the overhead of the run. `cycles` do not add up:
    /// a line is active while what it calls is.
    pub fn table(&self) -> Table {
        let mut columns = vec![
            Column::text("file"),
            Column::number("line"),
            Column::text("text"),
            Column::number("times entered"),
            Column::number("cycles"),
            Column::number("own"),
            Column::number("useful"),
            Column::number("overhead"),
        ];
        columns.extend(Overhead::ALL.map(|kind| Column::number(column_of(kind))));
        let mut table = Table::new(columns);
        let mut before = 0;
        for (&line, sums) in &self.sums {
            let (file, number, text) = match line {
                FrontEndLine::At(file, number) => (
                    front_end_file(self.metadata, file),
                    u64::from(number).into(),
                    self.metadata.front_end.file(file).line(number),
                ),
                FrontEndLine::Untold => ("(no line)", Value::Empty, None),
                FrontEndLine::Compiler => ("(compiler)", Value::Empty, None),
            };
            let after = before + sums.own;
            let own = hundredths(after, self.units) - hundredths(before, self.units);
            before = after;
            let mut row = vec![
                file.into(),
                number,
                text.map_or(Value::Empty, Value::from),
                sums.times.into(),
                sums.cycles.into(),
                Value::average(own, 100),
                sums.useful.into(),
                sums.charged().into(),
            ];
            row.extend(sums.overhead.map(Value::from));
            table.push(row);
        }
        table
    }

    /// The lines of a front end's file with their costs; without those that have none where the text is not known,
    /// or has no such line.
    pub fn annotate(&self, file: FrontEndFileId) -> Vec<Line<'a>> {
        let text = self.metadata.front_end.file(file).text.as_deref();
        let costs = self.sums.iter().filter_map(|(line, sums)| match *line {
            FrontEndLine::At(of, number) if of == file => {
                let cost = Cost {
                    cycles: sums.cycles,
                    useful: sums.useful,
                    overhead: sums.charged(),
                };
                Some((number, cost))
            }
            _ => None,
        });
        let mut costs: BTreeMap<u32, Cost> = costs.collect();
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (text, number) in text.unwrap_or_default().lines().zip(1..) {
            let cost = costs.remove(&number);
            lines.push(Line { number, cost, text });
        }
        lines.extend(costs.into_iter().map(|(number, cost)| Line {
            number,
            cost: Some(cost),
            text: "",
        }));
        lines
    }
}

/// `amount / units` in hundredths, rounded down.
fn hundredths(amount: u128, units: u128) -> u64 {
    u64::try_from(amount * 100 / units).unwrap_or(u64::MAX)
}
