//! The lines of a front end's files: how long each was active, and what it cost.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{FrontEndFileId, Id, Metadata};
use petal_reconstruct::{Again, CallTree, Event, Instance, InstanceId, Node, Overhead, Run};

use crate::annotate::{Cost, Line};
use crate::cells::path;
use crate::front_end::{
    FrontEndLine, FrontEndLines, LineFrame, PartNames, ProgramPart, front_end_file,
};
use crate::leaves::{Weighting, shares, units};
use crate::ledger::{ByKind, Class, Inside, TreeCosts};
use crate::profile::Profile;
use petal_table::Columns;
use petal_table::{Table, Value};

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
            Event::Run(run) => self.run(run, 1),
            _ => {}
        }
    }

    /// Takes in what comes again.
    pub fn again(&mut self, again: &Again) {
        for run in again.runs() {
            self.run(&run, again.times());
        }
    }

    fn run(&mut self, run: &Run, times: u64) {
        let now = &self.trees[run.tree.index()];
        for line in now {
            if self.active.binary_search(line).is_err() {
                *self.times.entry(*line).or_default() += times;
            }
        }
        self.active.clone_from(now);
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
type LinePart = (FrontEndLine, InstanceId, ProgramPart);

/// What everything did that has the same `key`, in a run whose cycles are `units` of [`Sums::own`].
fn sums<Key: Ord + Copy>(
    metadata: &Metadata,
    lines: &FrontEndLines<'_>,
    profile: &Profile,
    units: u128,
    key: impl Fn(LinePart) -> Key,
) -> BTreeMap<Key, Sums> {
    let mut sums: BTreeMap<Key, Sums> = BTreeMap::new();
    let instances = profile.instances();
    for (tree, cycles) in profile.trees().filter(|&(_, cycles)| cycles > 0) {
        let costs = TreeCosts::of(metadata, tree);
        let mut active: BTreeMap<Key, Inside> = BTreeMap::new();
        // Of each node, by its index.
        let mut innermost: Vec<LinePart> = Vec::with_capacity(tree.len());
        for (id, node) in tree.nodes() {
            let root = (
                FrontEndLine::Untold,
                InstanceId::from_index(0),
                ProgramPart::Component,
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

    /// The lines, in the order of the table's rows.
    pub fn lines(&self) -> impl Iterator<Item = FrontEndLine> {
        self.sums.keys().copied()
    }

    /// The table of lines, by file and line.
    ///
    /// `own` is the line's share of the run in hundredths of a cycle, rounded so that the column adds up to the
    /// run's cycles; the columns for kinds of overhead add up to the overhead of the run. `cycles` do not add up:
    /// a line is active while what it calls is.
    pub fn table(&self) -> Table {
        let mut own = Own::new(self.units);
        let rows = self.sums.iter().map(|(&line, sums)| LineRow {
            own: own.next(sums),
            ..LineRow::new(self.metadata, line, *sums)
        });
        columns().table(rows)
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
                    listed: sums.charged(),
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
    let mut own = Own::new(units);
    let all = sums(metadata, lines, profile, units, |place| place);
    let rows = all.into_iter().map(|((line, instance, part), sums)| {
        let component = instances[instance.index()].component;
        LineRow {
            cell: path(metadata, instances, instance),
            statement: names[component.index()].name(part),
            own: own.next(&sums),
            ..LineRow::new(metadata, line, sums)
        }
    });
    let more = Columns::default()
        .text("cell", |row: &LineRow<'_>| row.cell.as_str().into())
        .text("statement", |row| row.statement.as_str().into());
    named().and(more).and(figures()).table(rows)
}

/// A line, and what it did.
pub struct LineRow<'a> {
    file: &'a str,
    number: Option<u32>,
    text: Option<&'a str>,
    /// The component cell and what of it, where each has a row of its own.
    cell: String,
    statement: String,
    /// Its share of the run in hundredths of a cycle.
    own: u64,
    sums: Sums,
}

impl<'a> LineRow<'a> {
    fn new(metadata: &'a Metadata, line: FrontEndLine, sums: Sums) -> Self {
        let (file, number, text) = match line {
            FrontEndLine::At(file, number) => (
                front_end_file(metadata, file),
                Some(number),
                metadata.front_end.file(file).line(number),
            ),
            FrontEndLine::Untold => ("(no line)", None, None),
            FrontEndLine::Compiler => ("(compiler)", None, None),
        };
        Self {
            file,
            number,
            text,
            cell: String::new(),
            statement: String::new(),
            own: 0,
            sums,
        }
    }
}

/// The columns of the table of lines.
pub fn columns<'a>() -> Columns<LineRow<'a>> {
    let times = Columns::default();
    let times = times.number("times entered", |row: &LineRow<'_>| row.sums.times.into());
    named().and(times).and(figures())
}

/// Which line it is.
fn named<'a>() -> Columns<LineRow<'a>> {
    Columns::default()
        .text("file", |row: &LineRow<'_>| row.file.into())
        .number("line", |row| {
            row.number
                .map_or(Value::Empty, |number| u64::from(number).into())
        })
        .prose("text", |row| row.text.map_or(Value::Empty, Value::from))
}

/// What its cycles went to.
fn figures<'a>() -> Columns<LineRow<'a>> {
    let columns = Columns::default()
        .number("cycles", |row: &LineRow<'_>| row.sums.cycles.into())
        .decimal("own", |row| Value::average(row.own, 100))
        .number("useful", |row| row.sums.useful.into())
        .number("overhead", |row| row.sums.charged().into());
    Overhead::ALL.iter().fold(columns, |columns, kind| {
        columns.number(kind.title(), move |row| {
            row.sums.overhead[kind.index()].into()
        })
    })
}

/// Shares of a run in hundredths of a cycle, rounded so that they add up to it.
struct Own {
    units: u128,
    /// What those so far add up to, in units.
    so_far: u128,
}

impl Own {
    fn new(units: u128) -> Self {
        Self { units, so_far: 0 }
    }

    /// The next one.
    fn next(&mut self, sums: &Sums) -> u64 {
        let before = hundredths(self.so_far, self.units);
        self.so_far += sums.own;
        hundredths(self.so_far, self.units) - before
    }
}

/// `amount / units` in hundredths, rounded down.
fn hundredths(amount: u128, units: u128) -> u64 {
    u64::try_from(amount * 100 / units).unwrap_or(u64::MAX)
}
