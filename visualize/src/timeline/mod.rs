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
mod perfetto;
mod proto;
mod slice;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Callee, CellId, CellKind, Id, Metadata, RegisterId, RegisterKind};
use petal_reconstruct::{CallTree, Cycle, Event, InstanceId, RegisterUpdate};

use self::lanes::{Count, Counts, Lanes, Place, Track};
use crate::activations::Counting;
use crate::cells::path;
use crate::ledger::Class;
use crate::spans::{Item, Key, KeyId, Spans, SwitchId};

pub use format::{Activation, Flows, Format};
pub use json::ChromeJson;
pub use lanes::{Content, Lane, LaneId};
pub use perfetto::Perfetto;
pub use slice::{Detail, Slice, SliceId};

/// What is known of a key.
#[derive(Debug)]
struct Shown {
    /// Whether it is outside of the section.
    hidden: bool,
    track: Track,
    /// The number of the track.
    row: usize,
    counting: Counting,
    /// The activations so far.
    activations: u64,
    /// The component cells that it runs.
    calls: Box<[CellId]>,
    /// The number of its slices, by the number of the row of the track.
    slices: Vec<Option<SliceId>>,
    /// Its open slice.
    open: Open,
}

#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// The number of the row of the track.
    number: usize,
    activation: u64,
    /// Its slice, once its beginning was told.
    slice: Option<SliceId>,
}

/// How many kinds of updates are remembered.
const MAX_UPDATES: usize = 1 << 16;

/// Steps of a counter that follow one another without a jump.
#[derive(Debug, Clone, Copy)]
struct Steps {
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
pub struct Timeline<'a, F> {
    metadata: &'a Metadata,
    format: F,
    cycles: Range<u64>,
    section: Section,
    spans: Spans,
    lanes: Lanes<'a>,
    /// Whether each instance is the section's cell or below it.
    inside: Vec<bool>,
    /// Levels above the section's cell.
    base: Option<usize>,
    /// Slices so far.
    slices: u64,
    /// How many numbers of slices there are, and which of them nobody uses any more.
    next_slice: SliceId,
    free: Vec<SliceId>,
    /// The number of each track.
    rows: HashMap<(InstanceId, Track), usize>,
    /// What is open on each row of a track, by its number, outermost first.
    open: Vec<Vec<Vec<KeyId>>>,
    shown: Vec<Shown>,
    /// Activations of split groups, by their first part.
    split: HashMap<Key, u64>,
    /// Whether the section has begun.
    begun: bool,
    /// What began before the section and is not told yet.
    early: Vec<KeyId>,
    /// Arrows to cells that did not begin yet, by the cell.
    flows: HashMap<(InstanceId, CellId), u64>,
    last_flow: u64,
    /// The rows of the counters, of the outermost cell.
    counters: Option<[LaneId; Count::ALL.len()]>,
    /// The counters of each tree.
    trees: Vec<Counts>,
    /// The counters now.
    counts: Counts,
    /// The counters as told last.
    told: [Option<u64>; Count::ALL.len()],
    /// The slices of updates, for the latest ones.
    updates: HashMap<((InstanceId, RegisterId), u64, u64), SliceId>,
    /// The latest steps of the counters of static programs, which are not written yet.
    static_steps: BTreeMap<(InstanceId, RegisterId), Steps>,
}

impl<'a, F: Format> Timeline<'a, F> {
    /// The timeline of this part of a run.
    pub fn new(metadata: &'a Metadata, section: Section, format: F) -> Self {
        Self {
            metadata,
            format,
            cycles: section.cycles.clone().unwrap_or(0..u64::MAX),
            section,
            spans: Spans::default(),
            lanes: Lanes::new(metadata),
            inside: Vec::new(),
            base: None,
            slices: 0,
            next_slice: 0,
            free: Vec::new(),
            rows: HashMap::new(),
            open: Vec::new(),
            shown: Vec::new(),
            split: HashMap::new(),
            begun: false,
            early: Vec::new(),
            flows: HashMap::new(),
            last_flow: 0,
            counters: None,
            trees: Vec::new(),
            counts: Counts::default(),
            told: [None; Count::ALL.len()],
            updates: HashMap::new(),
            static_steps: BTreeMap::new(),
        }
    }

    /// Whether the section's cell was there.
    pub fn found(&self) -> bool {
        self.inside.contains(&true)
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
        if let Some((switch, now)) = self.spans.event(event) {
            self.switch(switch, now)?;
        }
        for at in self.shown.len()..self.spans.keys().len() {
            self.learn(at);
        }
        match event {
            Event::Instance(_) => self.enter(),
            Event::Tree(tree) => {
                let counts = self.counts_of(tree);
                self.trees.push(counts);
                Ok(())
            }
            Event::Run(run) => self.count(self.trees[run.tree.index()], run.start),
            Event::Update(update) => self.update(update),
            Event::End { cycles } => {
                self.count(Counts::default(), Cycle::from_cycles(*cycles))?;
                self.finish()
            }
            Event::Warning(_) => Ok(()),
        }
    }

    /// Goes from one tree to the next.
    fn switch(&mut self, switch: SwitchId, now: Cycle) -> io::Result<()> {
        let begins = !self.begun && now.cycles() >= self.cycles.start;
        self.begun |= begins;
        if begins && now.cycles() > self.cycles.start {
            self.tell_early()?;
            self.tell_counts(self.counts, self.cycles.start)?;
        }
        // What holds others was seen before them: it ends after them and begins before them.
        for at in (0..self.spans.switch(switch).closes.len()).rev() {
            self.close(self.spans.switch(switch).closes[at], now)?;
        }
        if begins {
            self.tell_early()?;
        }
        // Arrows to cells begin at groups, which come before them.
        for at in 0..self.spans.switch(switch).opens.len() {
            self.open(self.spans.switch(switch).opens[at], now)?;
        }
        Ok(())
    }

    /// Finds out what there is to know of a key.
    fn learn(&mut self, id: KeyId) {
        let key = self.spans.keys()[id];
        let track = self.track(key);
        let next = self.rows.len();
        let row = *self.rows.entry((key.instance, track)).or_insert(next);
        if row == next {
            self.open.push(Vec::new());
        }
        let hidden = !self.shows(id);
        self.shown.push(Shown {
            hidden,
            track,
            row,
            counting: Counting::of(self.metadata, self.spans.instances(), key),
            activations: 0,
            calls: self.calls(key),
            slices: Vec::new(),
            open: Open::default(),
        });
    }

    /// Takes in the newest instance.
    fn enter(&mut self) -> io::Result<()> {
        let instances = self.spans.instances();
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
        if !self.inside[self.spans.keys()[id].instance.index()] {
            return false;
        }
        let depth = self.spans.depth(id);
        // The first key in the section is its cell.
        let base = *self.base.get_or_insert(depth);
        self.section
            .depth
            .is_none_or(|limit| depth - base.min(depth) < limit)
    }

    fn track(&self, key: Key) -> Track {
        let component = self
            .metadata
            .component(self.spans.instances()[key.instance.index()].component);
        match key.item {
            Item::Cell => Track::Cell,
            Item::Control(node) => Track::Control(component.node(node).thread),
            Item::Group(run) => Track::Groups(component.run(run).thread),
            Item::Primitive(cell) => Track::Primitive(cell),
        }
    }

    /// The component cells that a group run calls.
    fn calls(&self, key: Key) -> Box<[CellId]> {
        let Item::Group(run) = key.item else {
            return Box::default();
        };
        let component = self
            .metadata
            .component(self.spans.instances()[key.instance.index()].component);
        let calls = component
            .calls
            .iter()
            .filter(|call| call.caller == Some(run));
        calls
            .filter_map(|call| match call.callee {
                Callee::Cell(cell) => Some(cell),
                Callee::Group(_) => None,
            })
            .filter(|&cell| matches!(component.cell(cell).kind, CellKind::Component(_)))
            .collect()
    }

    /// The number of a row.
    fn lane(&mut self, instance: InstanceId, track: Track, number: usize) -> io::Result<LaneId> {
        let place = Place {
            instance,
            track,
            number,
        };
        let (id, new) = self.lanes.lane(place, self.spans.instances());
        if let Some(lane) = new {
            self.format.lane(&lane)?;
        }
        Ok(id)
    }

    /// Something becomes active.
    fn open(&mut self, id: KeyId, now: Cycle) -> io::Result<()> {
        let key = self.spans.keys()[id];
        let shown = &mut self.shown[id];
        let activation = match shown.counting {
            Counting::Once | Counting::Latency(_) => shown.activations + 1,
            Counting::Part(first) => {
                let count = self.split.entry(first).or_default();
                *count += u64::from(key == first || *count == 0);
                *count
            }
        };
        if shown.hidden {
            return Ok(());
        }
        let number = self.find_row(id);
        self.shown[id].open = Open {
            number,
            activation,
            slice: None,
        };
        if now.cycles() < self.cycles.start {
            self.early.push(id);
            return Ok(());
        }
        self.begin(id, now.cycles())
    }

    /// Finds a row: an empty one, or one whose innermost open slice contains this one.
    fn find_row(&mut self, id: KeyId) -> usize {
        let keys = self.spans.keys();
        let key = keys[id];
        let inside = |outer: &KeyId| match (keys[*outer].item, key.item) {
            (Item::Control(outer), Item::Control(inner)) => {
                let component = self
                    .metadata
                    .component(self.spans.instances()[key.instance.index()].component);
                component.ancestry(inner).any(|above| above == outer)
            }
            _ => false,
        };
        let rows = &mut self.open[self.shown[id].row];
        let number = rows
            .iter()
            .position(|row| row.last().is_none_or(&inside))
            .unwrap_or(rows.len());
        if number == rows.len() {
            rows.push(Vec::new());
        }
        rows[number].push(id);
        number
    }

    /// Tells the beginning of what was active already when the section begins.
    fn tell_early(&mut self) -> io::Result<()> {
        let mut early = std::mem::take(&mut self.early);
        early.sort_by_key(|&id| self.shown[id].track == Track::Cell);
        for id in early {
            self.begin(id, self.cycles.start)?;
        }
        Ok(())
    }

    fn begin(&mut self, id: KeyId, at: u64) -> io::Result<()> {
        if at >= self.cycles.end {
            return Ok(());
        }
        let key = self.spans.keys()[id];
        let slice = self.slice_of(id)?;
        let shown = &mut self.shown[id];
        shown.open.slice = Some(slice);
        let mut flows = Flows::default();
        for &cell in &shown.calls {
            self.last_flow += 1;
            flows.starts.push(self.last_flow);
            self.flows.insert((key.instance, cell), self.last_flow);
        }
        if shown.track == Track::Cell
            && let Some(cell) = self.spans.instances()[key.instance.index()].parent
        {
            flows.ends = self.flows.remove(&cell);
        }
        self.format.begin(slice, at, shown.open.activation, &flows)
    }

    /// Something was active up to cycle `end`.
    fn close(&mut self, id: KeyId, end: Cycle) -> io::Result<()> {
        let (start, end) = (self.spans.since(id).cycles(), end.cycles());
        let shown = &mut self.shown[id];
        let count = match shown.counting {
            Counting::Once | Counting::Part(_) => 1,
            Counting::Latency(latency) => (end - start).div_ceil(latency),
        };
        shown.activations += count;
        if shown.hidden {
            return Ok(());
        }
        let open = shown.open;
        let row = &mut self.open[shown.row][open.number];
        if row.pop_if(|innermost| *innermost == id).is_none() {
            row.retain(|known| *known != id);
        }
        let Some(slice) = open.slice else {
            self.early.retain(|known| *known != id);
            return Ok(());
        };
        for &cell in &shown.calls {
            let instance = self.spans.keys()[id].instance;
            self.flows.remove(&(instance, cell));
        }
        let activation = Activation {
            first: open.activation,
            count,
        };
        self.slices += 1;
        self.format.end(
            slice,
            start.max(self.cycles.start),
            end.min(self.cycles.end),
            activation,
        )
    }

    /// The number of a key's open slice.
    fn slice_of(&mut self, id: KeyId) -> io::Result<SliceId> {
        let Shown {
            track,
            open,
            slices,
            ..
        } = &mut self.shown[id];
        let (track, number) = (*track, open.number);
        if slices.len() <= number {
            slices.resize(number + 1, None);
        }
        if let Some(slice) = slices[number] {
            return Ok(slice);
        }
        let key = self.spans.keys()[id];
        let lane = self.lane(key.instance, track, number)?;
        let instances = self.spans.instances();
        let slice = slice::describe(self.metadata, self.lanes.labels(), instances, key, lane);
        let number_of_slice = self.new_slice(&slice)?;
        self.shown[id].slices[number] = Some(number_of_slice);
        Ok(number_of_slice)
    }

    /// The counters of a tree.
    fn counts_of(&self, tree: &CallTree) -> Counts {
        let keys = self.spans.last_tree();
        let active = |wanted: fn(Item) -> bool| {
            let keys = keys.iter().map(|&id| self.spans.keys()[id].item);
            keys.filter(|&item| wanted(item)).count() as u64
        };
        [
            active(|item| matches!(item, Item::Group(_))),
            active(|item| matches!(item, Item::Primitive(_))),
            u64::from(matches!(
                Class::of(self.metadata, tree),
                Class::Overhead(..)
            )),
        ]
    }

    /// The counters change.
    fn count(&mut self, counts: Counts, now: Cycle) -> io::Result<()> {
        self.counts = counts;
        match now.cycles() {
            _ if !self.begun => Ok(()),
            at if at < self.cycles.end => self.tell_counts(counts, at),
            _ => self.tell_counts(Counts::default(), self.cycles.end),
        }
    }

    fn tell_counts(&mut self, counts: Counts, at: u64) -> io::Result<()> {
        let lanes = self.counters.into_iter().flatten();
        for ((lane, count), told) in lanes.zip(counts).zip(&mut self.told) {
            if *told != Some(count) {
                *told = Some(count);
                self.format.count(lane, at, count)?;
            }
        }
        Ok(())
    }

    fn update(&mut self, update: &RegisterUpdate) -> io::Result<()> {
        // Where only the section's cell itself is wanted, its registers are too much.
        if !self.inside[update.instance.index()] || self.section.depth == Some(1) {
            return Ok(());
        }
        let component = self.spans.instances()[update.instance.index()].component;
        let register = self.metadata.component(component).register(update.register);
        let key = (update.instance, update.register);
        let steps = Steps {
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
    fn count_steps(&mut self, key: (InstanceId, RegisterId), step: Steps) -> io::Result<()> {
        let known = self
            .static_steps
            .entry(key)
            .or_insert(Steps { cycles: 0, ..step });
        let follows = known.start + known.cycles == step.start && known.last == step.first;
        if known.cycles == 0 || follows && step.last == step.first + 1 {
            known.cycles += 1;
            known.last = step.last;
            return Ok(());
        }
        let before = std::mem::replace(known, step);
        self.write_steps(key, before)
    }

    fn write_steps(&mut self, key: (InstanceId, RegisterId), steps: Steps) -> io::Result<()> {
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
        steps: Steps,
    ) -> io::Result<SliceId> {
        let (instance, register) = key;
        let component = self.spans.instances()[instance.index()].component;
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
