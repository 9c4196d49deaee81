//! The lines of a front end's files: how long each was active, and what it cost.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{FrontEndFileId, Id, Metadata};
use petal_reconstruct::{CallTree, Event, Instance, InstanceId, Node, Overhead};

use crate::annotate::{Cost, Line};
use crate::cells::path;
use crate::front_end::{FrontEndLine, FrontEndLines, LineFrame, Part, PartNames, front_end_file};
use crate::leaves::{Weighting, shares, units};
use crate::ledger::{ByKind, Class, Inside, TreeCosts};
use crate::profile::Profile;
use petal_table::table::{Column, Table, Value};

/// Counts how often each line became active while the events of a trace pass by.
#[derive(Debug, Default)]
pub struct Entries {
    instances: Vec<Instance>,
    /// The lines of each tree, ascending.
    trees: Vec<Vec<FrontEndLine>>,
    /// Those of the last cycle so far.
    active: Vec<FrontEndLine>,
    times: BTreeMap<FrontEndLine, u64>,
}

impl Entries {
    /// How often a line became active.
    pub fn times(&self, line: FrontEndLine) -> u64 {
        self.times.get(&line).copied().unwrap_or(0)
    }

    /// How often each line became active.
    pub fn all(&self) -> &BTreeMap<FrontEndLine, u64> {
        &self.times
    }

    /// Takes these for how often each line became active.
    pub fn restore(&mut self, times: &[(FrontEndLine, u64)]) {
        self.times = times.iter().copied().collect();
    }

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
            _ => {}
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
pub struct Sums {
    /// Times that it became active.
    times: u64,
    /// Cycles in which something of it was active, anywhere.
    cycles: u64,
    /// Its share of the run: each cycle is divided among the leaves of its call tree, and a leaf is that of the
    /// innermost line above it; a cycle of overhead is that of the line that is charged. In units that [`Lines::units`] tells.
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
pub struct Lines<'a> {
    metadata: &'a Metadata,
    sums: BTreeMap<FrontEndLine, Sums>,
    /// How many units of `own` make a cycle.
    units: u128,
}

/// Something that a line stands for: the line, the component cell, and what of that.
type Place = (FrontEndLine, InstanceId, Part);

/// What everything did that has the same `key`, in a run whose cycles are `units` of [`Sums::own`].
fn sums<Key: Ord + Copy>(
    metadata: &Metadata,
    lines: &FrontEndLines<'_>,
    profile: &Profile,
    units: u128,
    key: impl Fn(Place) -> Key,
) -> BTreeMap<Key, Sums> {
    let mut sums: BTreeMap<Key, Sums> = BTreeMap::new();
    let instances = profile.instances();
    for (tree, cycles) in profile.trees().filter(|&(_, cycles)| cycles > 0) {
        let costs = TreeCosts::of(metadata, tree);
        let mut active: BTreeMap<Key, Inside> = BTreeMap::new();
        // Of each node, by its index.
        let mut innermost: Vec<Place> = Vec::with_capacity(tree.len());
        for (id, node) in tree.nodes() {
            let root = (
                FrontEndLine::Untold,
                InstanceId::from_index(0),
                Part::Component,
            );
            let above = tree.parent(id);
            let mut place = above.map_or(root, |parent| innermost[parent.index()]);
            if let Node::Cell { instance, .. } = node {
                place.1 = instance;
            }
            let inside = costs.inside(id.index());
            for LineFrame { line, part, .. } in lines.frames(node, instances) {
                place = (line, place.1, part);
                let most = active.entry(key(place)).or_insert(inside);
                *most = inside.max(*most);
            }
            innermost.push(place);
        }
        for (key, inside) in active {
            let sum = sums.entry(key).or_default();
            sum.cycles += cycles;
            if inside != Inside::Nothing {
                sum.useful += cycles;
            }
        }
        let whole = u128::from(cycles) * units;
        if let Class::Overhead(instance, charge) = costs.class() {
            let (line, part) = lines.of_charge(instance, charge.statement, instances);
            let sum = sums.entry(key((line, instance, part))).or_default();
            sum.overhead[charge.kind.index()] += cycles;
            sum.own += whole;
        } else {
            for (leaf, share) in shares(tree, whole) {
                sums.entry(key(innermost[leaf.index()])).or_default().own += share;
            }
        }
    }
    sums
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
        let mut sums = sums(metadata, lines, profile, units, |(line, ..)| line);
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
        let mut rows = Rows::new(
            self.metadata,
            self.units,
            vec![Column::number("times entered")],
        );
        for (&line, sums) in &self.sums {
            rows.push(line, vec![sums.times.into()], sums);
        }
        rows.table
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

/// The table of lines with a row for each thing that a line stands for, in each component cell: `cell` and
/// `statement`, which is also a group, a cell or a component.
///
/// `own` and the columns of overhead add up to those of the line. `cycles` and `useful` do not: several rows may be
/// active in one cycle.
pub fn lines_per_instance(
    metadata: &Metadata,
    lines: &FrontEndLines<'_>,
    profile: &Profile,
) -> Table {
    let units = units(profile, Weighting::Scaled);
    let instances = profile.instances();
    let names = metadata.components.iter();
    let names = names.map(|component| PartNames::new(metadata, component));
    let names: Vec<PartNames<'_>> = names.collect();
    let columns = vec![Column::text("cell"), Column::text("statement")];
    let mut rows = Rows::new(metadata, units, columns);
    for ((line, instance, part), sums) in sums(metadata, lines, profile, units, |place| place) {
        let cell = path(metadata, instances, instance);
        let part = names[instances[instance.index()].component.index()].name(part);
        rows.push(line, vec![cell.into(), part.into()], &sums);
    }
    rows.table
}

/// A table with figures of lines.
struct Rows<'a> {
    metadata: &'a Metadata,
    units: u128,
    table: Table,
    /// What `own` of the rows so far adds up to, in units.
    own: u128,
}

impl<'a> Rows<'a> {
    /// No rows yet; `columns` come behind those that name the line.
    fn new(metadata: &'a Metadata, units: u128, columns: Vec<Column>) -> Self {
        let line = vec![
            Column::text("file"),
            Column::number("line"),
            Column::text("text"),
        ];
        let figures = ["cycles", "own", "useful", "overhead"].map(Column::number);
        let kinds = Overhead::ALL.map(|kind| Column::number(kind.title()));
        let all = line.into_iter().chain(columns).chain(figures).chain(kinds);
        Self {
            metadata,
            units,
            table: Table::new(all.collect()),
            own: 0,
        }
    }

    /// Adds a row; `values` are those of `columns`.
    fn push(&mut self, line: FrontEndLine, values: Vec<Value>, sums: &Sums) {
        let (file, number, text) = match line {
            FrontEndLine::At(file, number) => (
                front_end_file(self.metadata, file),
                u64::from(number).into(),
                self.metadata.front_end.file(file).line(number),
            ),
            FrontEndLine::Untold => ("(no line)", Value::Empty, None),
            FrontEndLine::Compiler => ("(compiler)", Value::Empty, None),
        };
        let before = hundredths(self.own, self.units);
        self.own += sums.own;
        let own = hundredths(self.own, self.units) - before;
        let mut row = vec![file.into(), number, text.map_or(Value::Empty, Value::from)];
        row.extend(values);
        row.extend([
            sums.cycles.into(),
            Value::average(own, 100),
            sums.useful.into(),
            sums.charged().into(),
        ]);
        row.extend(sums.overhead.map(Value::from));
        self.table.push(row);
    }
}

/// `amount / units` in hundredths, rounded down.
fn hundredths(amount: u128, units: u128) -> u64 {
    u64::try_from(amount * 100 / units).unwrap_or(u64::MAX)
}
