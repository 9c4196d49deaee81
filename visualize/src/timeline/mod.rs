//! The timeline: when each cell, control node, group and primitive was active.
//!
//! Owns what is on a timeline and where; a [`Format`] owns how it is written. Rows of a cell are
//! the cell itself, its control nodes, the updates of its control registers, its groups by par
//! thread, and its primitives. Slices of a row nest properly: what would overlap gets a row of its
//! own.

mod compress;
mod format;
mod json;
mod lanes;
mod numbers;
mod packets;
mod perfetto;
mod proto;
mod slice;
mod steps;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Id, Metadata, RegisterId, RegisterKind};
use petal_reconstruct::{CallTree, Event, InstanceId, RegisterUpdate, TreeId};

use self::lanes::{Count, Counts, Lanes, Place, Track};
use self::numbers::Numbers;
use self::steps::{Placed, State, Step, Steps};
use crate::cells::path;
use crate::groups::Effects;
use crate::keys::{Item, Key, KeyId, Keys, without};
use crate::ledger::Class;

pub use format::{Begin, End, Format, Moment};
pub use json::ChromeJson;
pub use lanes::{Content, Lane, LaneId};
pub use perfetto::Perfetto;
pub use slice::{Detail, Slice, SliceId};

/// Where a key is shown.
#[derive(Debug)]
struct Shown {
    /// Whether it is outside of the section.
    hidden: bool,
    track: Track,
    /// The number of the track.
    row: usize,
    /// The number of its slices, by the number of the row of the track.
    slices: Vec<Option<SliceId>>,
}

/// Where in the run the section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Within,
    After,
}

/// How many kinds of updates are remembered.
const MAX_UPDATES: usize = 1 << 16;

/// Steps of a counter that follow one another without a jump.
#[derive(Debug, Clone, Copy)]
struct Ramp {
    start: u64,
    cycles: u64,
    first: u64,
    last: u64,
}

/// The part of a run that a timeline shows.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Only these cycles.
    pub cycles: Option<Range<u64>>,
    /// Only this component cell, by its path from main, and what is below it.
    pub cell: Option<String>,
    /// Only so many levels of the call tree, from that cell on.
    pub depth: Option<usize>,
}

/// Writes the timeline while the trace is read.
#[derive(Debug)]
pub struct Timeline<'a, F: Format> {
    metadata: &'a Metadata,
    effects: Effects,
    format: F,
    cycles: Range<u64>,
    section: Section,
    keys: Keys,
    lanes: Lanes<'a>,
    /// Whether each instance is the section's cell or below it.
    inside: Vec<bool>,
    /// Levels above the section's cell.
    base: Option<usize>,
    /// Where the section begins in which its cell is there, once it is.
    start: Option<u64>,
    part: Part,
    /// Slices so far.
    slices: u64,
    /// How many numbers of slices there are, and which of them nobody uses any more.
    next_slice: SliceId,
    free: Vec<SliceId>,
    /// The number of each track.
    rows: HashMap<(InstanceId, Track), usize>,
    shown: Vec<Shown>,
    steps: Steps<F::Memo>,
    numbers: Numbers<'a>,
    /// The numbers of the slices that end and begin now.
    now: Vec<u64>,
    /// The rows of the counters, of the outermost cell.
    counters: Option<[LaneId; Count::ALL.len()]>,
    /// The counters of each tree.
    trees: Vec<Counts>,
    /// The slices of updates, for the latest ones.
    updates: HashMap<((InstanceId, RegisterId), u64, u64), SliceId>,
    /// The latest steps of the counters of static programs, which are not written yet.
    static_steps: BTreeMap<(InstanceId, RegisterId), Ramp>,
}

impl<'a, F: Format> Timeline<'a, F> {
    /// The timeline of this part of a run.
    pub fn new(metadata: &'a Metadata, section: Section, format: F) -> Self {
        Self {
            metadata,
            effects: Effects::new(metadata),
            format,
            cycles: section.cycles.clone().unwrap_or(0..u64::MAX),
            section,
            keys: Keys::default(),
            lanes: Lanes::new(metadata),
            inside: Vec::new(),
            base: None,
            start: None,
            part: Part::Before,
            slices: 0,
            next_slice: 0,
            free: Vec::new(),
            rows: HashMap::new(),
            shown: Vec::new(),
            steps: Steps::new(),
            numbers: Numbers::new(metadata),
            now: Vec::new(),
            counters: None,
            trees: Vec::new(),
            updates: HashMap::new(),
            static_steps: BTreeMap::new(),
        }
    }

    /// Whether the section's cell was there.
    pub fn found(&self) -> bool {
        // They are those of the section's cell.
        self.counters.is_some()
    }

    /// Slices so far.
    pub fn slices(&self) -> u64 {
        self.slices
    }

    /// How it is written.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// Takes in the next event; the last one completes the file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        self.keys.event(event);
        for at in self.shown.len()..self.keys.all().len() {
            self.learn(at);
        }
        match event {
            Event::Instance(_) => self.enter(),
            Event::Tree(tree) => {
                for &(key, formal) in self.keys.called_by_reference() {
                    self.numbers.call_by_reference(key, formal);
                }
                let counts = self.counts_of(tree);
                self.trees.push(counts);
                Ok(())
            }
            Event::Run(run) => self.go(Some(run.tree), run.start.cycles()),
            Event::Update(update) => self.update(update),
            Event::End { cycles } => {
                self.go(None, *cycles)?;
                self.finish()
            }
            Event::Warning(_) => Ok(()),
        }
    }

    /// Goes on to the next tree, in cycle `now`.
    fn go(&mut self, tree: Option<TreeId>, now: u64) -> io::Result<()> {
        if self.start.is_none() && self.found() {
            let start = now.max(self.cycles.start);
            self.start = Some(start);
            if start >= self.cycles.end {
                self.part = Part::After;
            }
        }
        let start = self.start.filter(|_| self.part == Part::Before);
        if let Some(start) = start.filter(|start| *start < now) {
            self.begin(start)?;
        }
        if self.part == Part::Within && now >= self.cycles.end {
            self.step(None, self.cycles.end)?;
            self.part = Part::After;
        }
        if self.part == Part::After {
            return Ok(());
        }
        self.step(tree, now)?;
        if start == Some(now) {
            self.begin(now)?;
        }
        Ok(())
    }

    /// Begins the section, with what is open.
    fn begin(&mut self, at: u64) -> io::Result<()> {
        self.part = Part::Within;
        let State { tree, mut open } = self.steps.now().clone();
        self.put_cells_last(&mut open);
        let lanes = self.counters.into_iter().flatten();
        let moment = Moment {
            ends: Vec::new(),
            begins: self.begins(&open)?,
            counts: lanes.zip(self.counts(tree)).collect(),
        };
        self.now.clear();
        for placed in &open {
            self.numbers.cut(placed.key, at);
            self.numbers.begin(placed.key, &mut self.now);
        }
        self.slices += moment.begins.len() as u64;
        let memo = &mut F::Memo::default();
        self.format.moment(at, &moment, &self.now, memo)
    }

    /// Takes the step to the next tree.
    fn step(&mut self, tree: Option<TreeId>, now: u64) -> io::Result<()> {
        let before = self.steps.now().tree;
        let number = match self.steps.repeat(tree) {
            Some(number) => number,
            None => self.new_step(tree),
        };
        let drawn = self.part == Part::Within;
        if drawn && self.steps.step(number).moment.is_none() {
            let moment = self.moment(number, before, tree)?;
            self.steps.step(number).moment = Some(moment);
        }
        let Step {
            begins,
            closes,
            moment,
            memo,
            ..
        } = self.steps.step(number);
        self.now.clear();
        for &key in &*closes {
            self.numbers.close(key, now, &mut self.now);
        }
        for placed in &*begins {
            self.numbers.open(placed.key, now);
        }
        let Some(moment) = moment.as_ref().filter(|_| drawn) else {
            return Ok(());
        };
        for placed in begins {
            self.numbers.begin(placed.key, &mut self.now);
        }
        self.slices += moment.begins.len() as u64;
        self.format.moment(now, moment, &self.now, memo)
    }

    /// Finds out where what becomes active in a new step is drawn.
    fn new_step(&mut self, tree: Option<TreeId>) -> usize {
        let after = self.keys.of(tree).iter().copied();
        let after: Vec<KeyId> = after.filter(|&key| !self.shown[key].hidden).collect();
        let open = self.steps.now().open.iter();
        let (kept, mut ends): (Vec<Placed>, Vec<Placed>) =
            open.partition(|placed| after.binary_search(&placed.key).is_ok());
        ends.reverse();
        let before: Vec<KeyId> = kept.iter().map(|placed| placed.key).collect();
        let mut begins = self.place(&without(&after, &before), &kept);
        self.put_cells_last(&mut begins);
        let closes = ends.iter().map(|placed| placed.key);
        let closes = closes.filter(|&key| self.numbers.closes(key)).collect();
        self.steps.take(tree, ends, begins, closes, kept)
    }

    /// Brings these into the order in which they begin: arrows to cells leave slices that are there.
    fn put_cells_last(&self, begins: &mut [Placed]) {
        begins.sort_by_key(|placed| self.keys.all()[placed.key].item == Item::Cell);
    }

    /// Finds a row for each of these: an empty one, or one whose innermost open slice contains it.
    fn place(&self, new: &[KeyId], open: &[Placed]) -> Vec<Placed> {
        // The innermost open slices of the rows, by their numbers, for the tracks that matter.
        let mut tracks: HashMap<usize, Vec<Option<KeyId>>> = HashMap::new();
        for &key in new {
            tracks.entry(self.shown[key].row).or_default();
        }
        for placed in open {
            if let Some(rows) = tracks.get_mut(&self.shown[placed.key].row) {
                rows.resize(rows.len().max(placed.number + 1), None);
                rows[placed.number] = Some(placed.key);
            }
        }
        let place = |&key: &KeyId| {
            let rows = tracks.entry(self.shown[key].row).or_default();
            let free = |row: &Option<KeyId>| row.is_none_or(|outer| self.contains(outer, key));
            let number = rows.iter().position(free).unwrap_or(rows.len());
            rows.resize(rows.len().max(number + 1), None);
            rows[number] = Some(key);
            Placed { key, number }
        };
        new.iter().map(place).collect()
    }

    /// Whether a key of a track always contains another one.
    fn contains(&self, outer: KeyId, inner: KeyId) -> bool {
        let keys = self.keys.all();
        let (
            Item::Control(outer),
            Key {
                instance,
                item: Item::Control(inner),
            },
        ) = (keys[outer].item, keys[inner])
        else {
            return false;
        };
        let component = self.keys.instances()[instance.index()].component;
        let mut above = self.metadata.component(component).ancestry(inner);
        above.any(|above| above == outer)
    }

    /// How a step is drawn.
    fn moment(
        &mut self,
        number: usize,
        before: Option<TreeId>,
        after: Option<TreeId>,
    ) -> io::Result<Moment> {
        let Step { ends, begins, .. } = self.steps.step(number);
        let (ends, begins) = (ends.clone(), begins.clone());
        let ends = ends.into_iter().map(|placed| {
            Ok(End {
                slice: self.slice_of(placed)?,
                counted: self.numbers.counted(placed.key),
            })
        });
        let ends = ends.collect::<io::Result<_>>()?;
        let (before, after) = (self.counts(before), self.counts(after));
        let lanes = self.counters.into_iter().flatten();
        let counts = lanes.zip(before.into_iter().zip(after));
        Ok(Moment {
            ends,
            begins: self.begins(&begins)?,
            counts: counts
                .filter(|(_, (before, after))| before != after)
                .map(|(lane, (_, after))| (lane, after))
                .collect(),
        })
    }

    /// How these are drawn where they begin.
    fn begins(&mut self, begins: &[Placed]) -> io::Result<Vec<Begin>> {
        let begin = |&placed: &Placed| {
            Ok(Begin {
                slice: self.slice_of(placed)?,
                arrows: self.numbers.arrows(placed.key),
                is_called: self.numbers.is_called(placed.key),
            })
        };
        begins.iter().map(begin).collect()
    }

    /// Finds out what there is to know of a key.
    fn learn(&mut self, id: KeyId) {
        let key = self.keys.all()[id];
        let track = self.track(key);
        let next = self.rows.len();
        let row = *self.rows.entry((key.instance, track)).or_insert(next);
        let hidden = !self.shows(id);
        self.numbers.learn(key, self.keys.instances());
        self.shown.push(Shown {
            hidden,
            track,
            row,
            slices: Vec::new(),
        });
    }

    /// Takes in the newest instance.
    fn enter(&mut self) -> io::Result<()> {
        let instances = self.keys.instances();
        let instance = InstanceId::from_index(instances.len() - 1);
        let path = path(self.metadata, instances, instance);
        let inside = match &self.section.cell {
            None => true,
            Some(cell) => path
                .strip_prefix(cell.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        };
        self.inside.push(inside);
        if !inside {
            return Ok(());
        }
        // The cell's own row is the first of its rows.
        self.lane(instance, Track::Cell, 0)?;
        if self.counters.is_none() {
            let mut lanes = [0; Count::ALL.len()];
            for (lane, count) in lanes.iter_mut().zip(Count::ALL) {
                *lane = self.lane(instance, Track::Count(count), 0)?;
            }
            self.counters = Some(lanes);
        }
        Ok(())
    }

    /// Whether a key is in the section.
    fn shows(&mut self, id: KeyId) -> bool {
        if !self.inside[self.keys.all()[id].instance.index()] {
            return false;
        }
        let depth = self.keys.depth(id);
        // The first key in the section is its cell.
        let base = *self.base.get_or_insert(depth);
        self.section
            .depth
            .is_none_or(|limit| depth - base.min(depth) < limit)
    }

    fn track(&self, key: Key) -> Track {
        let component = self
            .metadata
            .component(self.keys.instances()[key.instance.index()].component);
        match key.item {
            Item::Cell => Track::Cell,
            Item::Control(node) => Track::Control(component.node(node).thread),
            Item::Group(run) => Track::Groups(component.run(run).thread),
            Item::Primitive(cell, _) => Track::Primitive(cell),
        }
    }

    /// The number of a row.
    fn lane(&mut self, instance: InstanceId, track: Track, number: usize) -> io::Result<LaneId> {
        let place = Place {
            instance,
            track,
            number,
        };
        let (id, new) = self.lanes.lane(place, self.keys.instances());
        if let Some(lane) = new {
            self.format.lane(&lane)?;
        }
        Ok(id)
    }

    /// The number of a key's slice on a row.
    fn slice_of(&mut self, Placed { key: id, number }: Placed) -> io::Result<SliceId> {
        let Shown { track, slices, .. } = &mut self.shown[id];
        let track = *track;
        if slices.len() <= number {
            slices.resize(number + 1, None);
        }
        if let Some(slice) = slices[number] {
            return Ok(slice);
        }
        let key = self.keys.all()[id];
        let lane = self.lane(key.instance, track, number)?;
        let instances = self.keys.instances();
        let (effects, labels) = (&self.effects, self.lanes.labels());
        let slice = slice::describe(self.metadata, effects, labels, instances, key, lane);
        let number_of_slice = self.new_slice(&slice)?;
        self.shown[id].slices[number] = Some(number_of_slice);
        Ok(number_of_slice)
    }

    /// The counters of a tree.
    fn counts_of(&self, tree: &CallTree) -> Counts {
        let keys = self.keys.of_last_tree();
        let active = |wanted: fn(Item) -> bool| {
            let keys = keys.iter().map(|&id| self.keys.all()[id].item);
            keys.filter(|&item| wanted(item)).count() as u64
        };
        [
            active(|item| matches!(item, Item::Group(_))),
            active(|item| matches!(item, Item::Primitive(..))),
            u64::from(matches!(
                Class::of(self.metadata, tree),
                Class::Overhead(..)
            )),
        ]
    }

    /// The counters while a tree is active.
    fn counts(&self, tree: Option<TreeId>) -> Counts {
        tree.map_or(Counts::default(), |tree| self.trees[tree.index()])
    }

    fn update(&mut self, update: &RegisterUpdate) -> io::Result<()> {
        // Where only the section's cell itself is wanted, its registers are too much.
        if !self.inside[update.instance.index()] || self.section.depth == Some(1) {
            return Ok(());
        }
        let component = self.keys.instances()[update.instance.index()].component;
        let register = self.metadata.component(component).register(update.register);
        let key = (update.instance, update.register);
        let steps = Ramp {
            start: update.cycle.cycles(),
            cycles: 1,
            first: update.old,
            last: update.new,
        };
        if register.kind == RegisterKind::StaticFsm {
            self.count_steps(key, steps)
        } else {
            self.write_steps(key, steps)
        }
    }

    /// Takes in a step of a counter of a static program.
    fn count_steps(&mut self, key: (InstanceId, RegisterId), step: Ramp) -> io::Result<()> {
        let known = self
            .static_steps
            .entry(key)
            .or_insert(Ramp { cycles: 0, ..step });
        let follows = known.start + known.cycles == step.start && known.last == step.first;
        if known.cycles == 0 || follows && step.last == step.first + 1 {
            known.cycles += 1;
            known.last = step.last;
            return Ok(());
        }
        let before = std::mem::replace(known, step);
        self.write_steps(key, before)
    }

    fn write_steps(&mut self, key: (InstanceId, RegisterId), steps: Ramp) -> io::Result<()> {
        let start = steps.start.max(self.cycles.start);
        let end = (steps.start + steps.cycles).min(self.cycles.end);
        if start >= end {
            return Ok(());
        }
        let slice = match self.updates.get(&(key, steps.first, steps.last)) {
            Some(&slice) => slice,
            None => self.slice_of_steps(key, steps)?,
        };
        self.slices += 1;
        self.format.update(slice, start, end - start)
    }

    fn slice_of_steps(
        &mut self,
        key: (InstanceId, RegisterId),
        steps: Ramp,
    ) -> io::Result<SliceId> {
        let (instance, register) = key;
        let component = self.keys.instances()[instance.index()].component;
        let known = self.metadata.component(component).register(register);
        let name = match (known.kind, steps.last) {
            (RegisterKind::ParDone, 1) => format!("{} set", known.name),
            (RegisterKind::ParDone, _) => format!("{} cleared", known.name),
            _ => format!("{}: {}→{}", known.name, steps.first, steps.last),
        };
        let track = match known.kind {
            RegisterKind::StaticFsm => Track::Counter(register),
            _ => Track::Registers,
        };
        let slice = Slice {
            lane: self.lane(instance, track, 0)?,
            name,
            category: "control register",
            is_update: true,
            details: Vec::new(),
        };
        if self.updates.len() == MAX_UPDATES {
            self.free.extend(self.updates.drain().map(|(_, id)| id));
        }
        let id = self.new_slice(&slice)?;
        self.updates.insert((key, steps.first, steps.last), id);
        Ok(id)
    }

    fn new_slice(&mut self, slice: &Slice) -> io::Result<SliceId> {
        let id = self.free.pop().unwrap_or_else(|| {
            self.next_slice += 1;
            self.next_slice - 1
        });
        self.format.slice(id, slice)?;
        Ok(id)
    }

    fn finish(&mut self) -> io::Result<()> {
        for (key, steps) in std::mem::take(&mut self.static_steps) {
            self.write_steps(key, steps)?;
        }
        self.format.finish()
    }
}
