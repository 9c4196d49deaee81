//! The timeline: when each cell, control node, group and primitive was active.
//!
//! Owns what is on a timeline and on which track; a [`Format`] owns how it is written. The tracks of a
//! cell are the cell itself, its control nodes, the updates of its control registers, its groups by par
//! thread, and its primitives. A file of a front end has a track for each line that was active. Slices of a track nest properly: what would overlap gets a track of its
//! own.

mod again;
mod compress;
mod counted;
mod cuts;
mod format;
mod interner;
mod json;
mod lines;
mod numbers;
mod observed;
mod overview;
mod packets;
mod perfetto;
mod placement;
mod proto;
mod section;
mod slice;
mod tracks;
mod transitions;
mod updates;
mod whole;
mod windowed;

use std::io;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Id, Metadata};
use petal_reconstruct::{CallTree, Event, Gap, InstanceId, Item, TreeId};

use self::cuts::Cuts;
use self::format::{Begin, End, Pattern};
use self::lines::{LineId, Lines};
use self::numbers::Numbers;
use self::placement::ElementTracks;
use self::section::{Phase, Shown};
use self::tracks::{Counter, CounterValues, Subject, Tracks};
use self::transitions::{OnTrack, OpenSlices, Transition, Transitions};
use self::updates::Updates;
use petal_analysis::elements::{ElementId, ElementKind, Elements, without};
use petal_analysis::groups::Effects;
use petal_analysis::ledger::Class;

pub use counted::Counted;
pub use format::{Change, Changes, Format, Open, PatternId, Whole};
pub use json::ChromeJson;
pub use observed::Observed;
pub use overview::{Overview, OverviewRow};
pub use perfetto::Perfetto;
pub use section::Section;
pub use slice::{Detail, Slice, SliceId};
pub use tracks::{Content, Track, TrackId};
pub use whole::{WholeSlice, WholeSliceFormat, WholeSlices};
pub use windowed::Windowed;

/// Writes the timeline while the trace is read.
#[derive(Debug)]
pub struct Timeline<'a, F: Format> {
    metadata: &'a Metadata,
    effects: Effects,
    format: F,
    cycles: Range<u64>,
    shown: Shown,
    elements: Elements,
    /// By the numbers of the elements.
    shown_on: Vec<ElementTracks>,
    tracks: Tracks<'a>,
    /// A number for each subject of each instance.
    subjects: HashMap<(InstanceId, Subject), usize>,
    /// Where the section begins in which its cell is there, once it is.
    start: Option<u64>,
    phase: Phase,
    /// Slices so far, and those that the format needed not.
    slices: u64,
    passed: u64,
    /// Whether the format rests.
    rests: bool,
    /// How many numbers of slices there are, and which of them nobody uses any more.
    next_slice: SliceId,
    free: Vec<SliceId>,
    transitions: Transitions,
    numbers: Numbers<'a>,
    /// The numbers of the slices that end and begin now.
    now: Vec<u64>,
    /// The tracks of the counters, of the outermost cell.
    counters: Option<[TrackId; Counter::ALL.len()]>,
    /// The counters of each tree.
    values: Vec<CounterValues>,
    updates: Updates,
    cuts: Cuts,
    /// The cycle after the latest gap.
    gap_end: Option<u64>,
    /// The lines of a front end's files.
    lines: Lines<'a>,
    /// Whether something comes after the end of the run.
    awaits_observations: bool,
}

impl<'a, F: Format> Timeline<'a, F> {
    /// The timeline of this part of a run.
    pub fn new(metadata: &'a Metadata, section: Section, format: F) -> Self {
        Self {
            metadata,
            effects: Effects::new(metadata),
            format,
            cycles: section.cycles.clone().unwrap_or(0..u64::MAX),
            shown: Shown::new(section),
            elements: Elements::default(),
            shown_on: Vec::new(),
            tracks: Tracks::new(metadata),
            subjects: HashMap::new(),
            start: None,
            phase: Phase::Before,
            slices: 0,
            passed: 0,
            rests: false,
            next_slice: 0,
            free: Vec::new(),
            transitions: Transitions::new(),
            numbers: Numbers::new(metadata),
            now: Vec::new(),
            counters: None,
            values: Vec::new(),
            updates: Updates::new(),
            cuts: Cuts::new(),
            gap_end: None,
            lines: Lines::new(metadata),
            awaits_observations: false,
        }
    }

    /// The same, which [`finish`](Self::finish) completes: what was observed is known only after the run.
    #[must_use]
    pub fn awaiting_observations(mut self) -> Self {
        self.awaits_observations = true;
        self
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

    /// Slices so far that the format needed not.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// How it is written.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// The same, to take what it has written so far.
    pub fn format_mut(&mut self) -> &mut F {
        &mut self.format
    }

    /// Takes in the next event, or what comes again.
    ///
    /// # Errors
    /// As for [`event`](Self::event).
    #[inline]
    pub fn item(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Event(event) => self.event(event),
            Item::Again(again) => self.again(again),
        }
    }

    /// Takes in the next event; the last one completes the file, unless observations are to come.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Event::Update(update) = event {
            return self.update(update);
        }
        self.elements.event(event);
        for id in self.shown_on.len()..self.elements.all().len() {
            self.learn(id);
        }
        match event {
            Event::Instance(_) => self.enter(),
            Event::Tree(tree) => {
                for &(element, formal) in self.elements.called_by_reference() {
                    self.numbers.call_by_reference(element, formal);
                }
                let values = self.values_of(tree);
                self.values.push(values);
                let nodes = self.elements.nodes_of_last_tree().iter();
                let shown = nodes.filter(|(element, _)| !self.shown_on[*element].hidden);
                let shown = shown.map(|&(_, node)| node);
                self.lines.tree(shown, self.elements.instances());
                Ok(())
            }
            Event::Run(run) => self.go(Some(run.tree), run.start.cycles()),
            Event::Gap(gap) => self.skip(gap),
            Event::End { cycles } => {
                self.go(None, *cycles)?;
                self.end()
            }
            Event::Update(_) | Event::Warning(_) | Event::Figures(_) => Ok(()),
        }
    }

    /// Goes on to the next tree, in cycle `now`.
    fn go(&mut self, tree: Option<TreeId>, now: u64) -> io::Result<()> {
        if self.start.is_none() && self.found() {
            let start = now.max(self.cycles.start);
            self.start = Some(start);
            if start >= self.cycles.end {
                self.phase = Phase::After;
            }
        }
        let start = self.start.filter(|_| self.phase == Phase::Before);
        if let Some(start) = start.filter(|start| *start < now) {
            self.begin(start)?;
        }
        if self.phase == Phase::Within && now >= self.cycles.end {
            self.leave()?;
            self.phase = Phase::After;
        }
        if self.phase == Phase::After {
            return self.follow(tree, now);
        }
        self.step(tree, now)?;
        if start == Some(now) {
            self.begin(now)?;
        }
        Ok(())
    }

    /// Counts what was passed over.
    fn catch_up(&mut self) {
        let (numbers, lines) = (&mut self.numbers, &mut self.lines);
        self.transitions.catch_up(|transition, times, last| {
            for slice in &transition.begins {
                numbers.opened(slice.element, times, last);
            }
            for &line in &transition.lines {
                lines.opened(line, times, last);
            }
        });
    }

    /// Tells a format that has rested what is open.
    fn resume(&mut self) -> io::Result<()> {
        self.catch_up();
        self.numbers.forget_flows();
        let OpenSlices { tree, mut open } = self.transitions.now().clone();
        self.put_cells_last(&mut open);
        let mut slices = Vec::new();
        for on_track in open {
            slices.push(Open {
                slice: self.slice_of(on_track)?,
                since: self.numbers.since(on_track.element),
                activation: self.numbers.activation(on_track.element),
            });
        }
        for line in self.lines.of(tree).to_vec() {
            slices.push(Open {
                slice: self.slice_of_line(line)?,
                since: self.lines.since(line),
                activation: self.lines.times(line),
            });
        }
        let tracks = self.counters.into_iter().flatten();
        let counters = tracks.zip(self.values(tree)).collect();
        self.format.resume(slices, counters);
        Ok(())
    }

    /// Begins the section, with what is open.
    fn begin(&mut self, cycle: u64) -> io::Result<()> {
        self.phase = Phase::Within;
        self.catch_up();
        let OpenSlices { tree, mut open } = self.transitions.now().clone();
        self.put_cells_last(&mut open);
        let lines = self.lines.of(tree).to_vec();
        let tracks = self.counters.into_iter().flatten();
        let pattern = Pattern {
            ends: Vec::new(),
            begins: self.begins(&open, &lines)?,
            counters: tracks.zip(self.values(tree)).collect(),
        };
        let elements = open.iter().map(|slice| self.numbers.since(slice.element));
        let since = elements.chain(lines.iter().map(|&line| self.lines.since(line)));
        for (begin, since) in pattern.begins.iter().zip(since) {
            if since < cycle && self.is_known(since) {
                self.cuts.enter(begin.slice, since);
            }
        }
        self.now.clear();
        for slice in &open {
            self.numbers.cut(slice.element, cycle);
            self.numbers.begin(slice.element, &mut self.now);
        }
        let times = lines.iter().map(|&line| self.lines.times(line));
        self.now.extend(times);
        self.slices += pattern.begins.len() as u64;
        let changes = Changes::new(None, &pattern, &self.now);
        self.format.changes(cycle, changes)
    }

    /// Passes over cycles that were not kept: what is active before them ends, and what is active after them begins, for want of better knowledge.
    fn skip(&mut self, gap: &Gap) -> io::Result<()> {
        self.go_on_unseen()?;
        self.go(None, gap.start.cycles())?;
        self.catch_up();
        self.numbers.lose();
        self.lines.lose();
        self.gap_end = Some(gap.start.cycles() + gap.cycles);
        Ok(())
    }

    /// Whether what began in this cycle has really begun in it, and not in cycles that were not kept.
    fn is_known(&self, since: u64) -> bool {
        self.gap_end != Some(since)
    }

    /// Takes the step to the next tree.
    fn step(&mut self, tree: Option<TreeId>, now: u64) -> io::Result<()> {
        let rests = self.format.rests(now);
        if self.rests && !rests {
            self.resume()?;
        }
        self.rests = rests;
        let before = self.transitions.now().tree;
        let id = match self.transitions.repeat(tree) {
            Some(id) => id,
            None => self.new_transition(tree),
        };
        let drawn = self.phase == Phase::Within && !rests;
        if !drawn && self.transitions.get(id).counts_late {
            self.passed += self.transitions.pass(id, 1, now) as u64;
            return Ok(());
        }
        if drawn && self.transitions.get(id).pattern.is_none() {
            let pattern = self.pattern(id, before, tree)?;
            self.transitions.get(id).pattern = Some(pattern);
        }
        let Transition {
            begins,
            closes,
            lines,
            pattern,
            ..
        } = self.transitions.get(id);
        self.now.clear();
        for &element in &*closes {
            self.numbers.close(element, now, &mut self.now);
        }
        for slice in &*begins {
            self.numbers.open(slice.element, now);
        }
        for &line in &*lines {
            self.lines.open(line, now);
        }
        let Some(pattern) = pattern.as_ref().filter(|_| drawn) else {
            self.passed += (begins.len() + lines.len()) as u64;
            return Ok(());
        };
        for slice in begins {
            self.numbers.begin(slice.element, &mut self.now);
        }
        let times = lines.iter().map(|&line| self.lines.times(line));
        self.now.extend(times);
        self.slices += pattern.begins.len() as u64;
        let cut = self.cuts.end(pattern, now, &mut self.now);
        let changes = match &cut {
            Some(pattern) => Changes::new(None, pattern, &self.now),
            None => Changes::new(Some(id), pattern, &self.now),
        };
        self.format.changes(now, changes)
    }

    /// Goes on to a tree in a new way: works out on which tracks what becomes active is.
    fn new_transition(&mut self, tree: Option<TreeId>) -> PatternId {
        if self.transitions.is_full() {
            self.catch_up();
            self.transitions.forget();
            self.format.forget_patterns();
        }
        let after = self.elements.of(tree).iter().copied();
        let after: Vec<ElementId> = after.filter(|&id| !self.shown_on[id].hidden).collect();
        let open = self.transitions.now().open.iter();
        let (kept, mut ends): (Vec<OnTrack>, Vec<OnTrack>) =
            open.partition(|slice| after.binary_search(&slice.element).is_ok());
        ends.reverse();
        let before: Vec<ElementId> = kept.iter().map(|slice| slice.element).collect();
        let mut begins = self.place(&without(&after, &before), &kept);
        self.put_cells_last(&mut begins);
        let closes = ends.iter().map(|slice| slice.element);
        let closes = closes.filter(|&id| self.numbers.closes(id)).collect();
        let before = self.transitions.now().tree;
        let (_, lines) = self.lines.changes(before, tree);
        let mut changed = begins.iter().chain(&ends);
        let is_in_order = changed.any(|slice| self.numbers.is_in_order(slice.element));
        let id = self
            .transitions
            .take(tree, ends, begins, closes, kept, lines);
        self.transitions.get(id).counts_late = !is_in_order;
        id
    }

    /// Brings these into the order in which they begin: flows to cells leave slices that are there.
    fn put_cells_last(&self, begins: &mut [OnTrack]) {
        begins.sort_by_key(|slice| self.elements.all()[slice.element].kind == ElementKind::Cell);
    }

    /// What changes on the timeline in a transition.
    fn pattern(
        &mut self,
        id: PatternId,
        before: Option<TreeId>,
        after: Option<TreeId>,
    ) -> io::Result<Pattern> {
        let Transition { ends, begins, .. } = self.transitions.get(id);
        let (open, begins) = (ends.clone(), begins.clone());
        let mut ends = Vec::new();
        for slice in open {
            ends.push(End {
                slice: self.slice_of(slice)?,
                counted: self.numbers.counted(slice.element),
                cut: false,
            });
        }
        let (over, lines) = self.lines.changes(before, after);
        for line in over {
            ends.push(End {
                slice: self.slice_of_line(line)?,
                counted: false,
                cut: false,
            });
        }
        let (before, after) = (self.values(before), self.values(after));
        let tracks = self.counters.into_iter().flatten();
        let counters = tracks.zip(before.into_iter().zip(after));
        Ok(Pattern {
            ends,
            begins: self.begins(&begins, &lines)?,
            counters: counters
                .filter(|(_, (before, after))| before != after)
                .map(|(track, (_, after))| (track, after))
                .collect(),
        })
    }

    /// These slices, and those of these lines, where they begin.
    fn begins(&mut self, begins: &[OnTrack], lines: &[LineId]) -> io::Result<Vec<Begin>> {
        let mut all = Vec::new();
        for &slice in begins {
            all.push(Begin {
                slice: self.slice_of(slice)?,
                outgoing: self.numbers.flows(slice.element),
                is_called: self.numbers.is_called(slice.element),
            });
        }
        for &line in lines {
            all.push(Begin {
                slice: self.slice_of_line(line)?,
                outgoing: 0,
                is_called: false,
            });
        }
        Ok(all)
    }

    /// The counters while the newest tree, `tree`, is active.
    fn values_of(&self, tree: &CallTree) -> CounterValues {
        let elements = self.elements.of_last_tree();
        let active = |wanted: fn(ElementKind) -> bool| {
            let kinds = elements.iter().map(|&id| self.elements.all()[id].kind);
            kinds.filter(|&kind| wanted(kind)).count() as u64
        };
        [
            active(|kind| matches!(kind, ElementKind::Group(_))),
            active(|kind| matches!(kind, ElementKind::Primitive(..))),
            u64::from(matches!(
                Class::of(self.metadata, tree),
                Class::Overhead(..)
            )),
        ]
    }

    /// The counters while a tree is active.
    fn values(&self, tree: Option<TreeId>) -> CounterValues {
        tree.map_or(CounterValues::default(), |tree| self.values[tree.index()])
    }

    fn end(&mut self) -> io::Result<()> {
        for (register, ramp) in self.updates.finish() {
            self.write_ramp(register, &ramp)?;
        }
        if self.awaits_observations {
            return Ok(());
        }
        self.format.finish()
    }

    /// Completes the file with what was observed.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn finish(&mut self, observed: &Observed) -> io::Result<()> {
        self.format.observed(observed)?;
        self.format.finish()
    }
}
