//! Which cycles of a run are kept, where that turns out only while the run goes on.
//!
//! Owns the way from whoever decides ([`Marks`]) to whoever writes ([`Held`]), and the trace that has these cycles only
//! ([`KeptTrace`]). What is worth keeping is decided elsewhere.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::codec::TraceWriter;
use crate::model::{Cycle, Event, Gap, Run};

/// Marks the parts of a run that are kept. They may overlap.
#[derive(Debug, Clone)]
pub struct Marks(Sender<(u64, i64)>);

impl Marks {
    /// A part begins with this cycle: the one that is looked at, or one of so many before it as [`Held`] waits for.
    pub fn begin(&self, cycle: u64) {
        // If nobody writes any more, nobody wants to know.
        let _ = self.0.send((cycle, 1));
    }

    /// A part has ended before this cycle, which is at most the next one.
    pub fn end(&self, cycle: u64) {
        let _ = self.0.send((cycle, -1));
    }
}

/// Holds the events of a run back until it is certain which of their cycles are kept.
#[derive(Debug)]
pub struct Held {
    marks: Receiver<(u64, i64)>,
    /// By how much the number of open parts changes with cycles that were not handed on.
    changes: BTreeMap<u64, i64>,
    open: i64,
    /// How many cycles a part may begin before the cycle that decides it.
    before: u64,
    waiting: VecDeque<Event>,
    /// Cycles that were looked at.
    seen: u64,
    parts: Vec<Range<u64>>,
}

impl Held {
    /// Waits for parts that begin at most so many cycles before it is known. Marks are set for a cycle before its events come.
    pub fn new(before: u64) -> (Self, Marks) {
        let (sender, marks) = channel();
        let held = Self {
            marks,
            changes: BTreeMap::new(),
            open: 0,
            before,
            waiting: VecDeque::new(),
            seen: 0,
            parts: Vec::new(),
        };
        (held, Marks(sender))
    }

    /// Takes in the next event. Hands those on, in order, that need not wait any more, with the parts that begin before they end:
    /// ascending, with gaps between them, and with `u64::MAX` for the end of one that goes on.
    ///
    /// # Errors
    /// The first one of `take`.
    pub fn event<E>(
        &mut self,
        event: &Event,
        take: &mut impl FnMut(&Event, &[Range<u64>]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.seen = self.seen.max(end(event));
        self.waiting.push_back(event.clone());
        for (cycle, change) in self.marks.try_iter() {
            *self.changes.entry(cycle).or_default() += change;
        }
        let certain = match event {
            Event::End { .. } => u64::MAX,
            _ => self.seen.saturating_sub(self.before),
        };
        while self
            .waiting
            .front()
            .is_some_and(|event| end(event) <= certain)
        {
            let Some(event) = self.waiting.pop_front() else {
                break;
            };
            self.go_to(end(&event));
            if let Event::End { cycles } = event
                && let Some(last) = self.parts.last_mut()
            {
                last.end = last.end.min(cycles);
            }
            take(&event, &self.parts)?;
        }
        Ok(())
    }

    /// Takes in the marks before a cycle.
    fn go_to(&mut self, end: u64) {
        while let Some(change) = self.changes.first_entry().filter(|of| *of.key() < end) {
            let (cycle, change) = change.remove_entry();
            let was_open = self.open > 0;
            self.open += change;
            match (was_open, self.open > 0) {
                (false, true) => self.parts.push(cycle..u64::MAX),
                (true, false) => {
                    if let Some(last) = self.parts.last_mut() {
                        last.end = cycle;
                    }
                }
                _ => {}
            }
        }
    }
}

/// The cycle after those that an event tells of; 0 if it tells of none.
fn end(event: &Event) -> u64 {
    match event {
        Event::Run(Run { start, cycles, .. }) | Event::Gap(Gap { start, cycles }) => {
            start.cycles() + cycles
        }
        Event::Update(update) => update.cycle.cycles() + 1,
        Event::End { cycles } => *cycles,
        Event::Instance(_) | Event::Tree(_) | Event::Warning(_) | Event::Figures(_) => 0,
    }
}

/// Writes a Petal trace that has the kept cycles only, and all trees of the run.
#[derive(Debug)]
pub struct KeptTrace<W> {
    trace: TraceWriter<W>,
    /// Cycles that are left out and not written yet.
    gap: Option<Gap>,
    /// The first part that is not over.
    at: usize,
}

impl<W: Write> KeptTrace<W> {
    /// In this trace.
    pub fn new(trace: TraceWriter<W>) -> Self {
        Self {
            trace,
            gap: None,
            at: 0,
        }
    }

    /// Appends one event but the last, with the parts that [`Held`] tells.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event, parts: &[Range<u64>]) -> io::Result<()> {
        match event {
            Event::Run(run) => self.run(run, parts),
            Event::Update(update) => {
                let cycle = update.cycle.cycles();
                let parts = &parts[self.at..];
                if parts.iter().any(|part| part.contains(&cycle)) {
                    self.trace.event(event)?;
                }
                Ok(())
            }
            Event::End { .. } => Ok(()),
            _ => self.trace.event(event),
        }
    }

    /// Completes the file of a run of so many cycles, with what was counted in all of them.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn finish(mut self, figures: &str, cycles: u64) -> io::Result<()> {
        self.write_gap()?;
        self.trace.event(&Event::Figures(figures.into()))?;
        self.trace.event(&Event::End { cycles })
    }

    fn run(&mut self, run: &Run, parts: &[Range<u64>]) -> io::Result<()> {
        let mut cycle = run.start.cycles();
        let end = cycle + run.cycles;
        while cycle < end {
            let over = parts[self.at..].iter().take_while(|part| part.end <= cycle);
            self.at += over.count();
            let start = Cycle::from_cycles(cycle);
            match parts.get(self.at) {
                Some(part) if part.start <= cycle => {
                    self.write_gap()?;
                    let kept = part.end.min(end);
                    self.trace.event(&Event::Run(Run {
                        tree: run.tree,
                        start,
                        cycles: kept - cycle,
                    }))?;
                    cycle = kept;
                }
                next => {
                    let left_out = next.map_or(end, |part| part.start.min(end));
                    let gap = self.gap.get_or_insert(Gap { start, cycles: 0 });
                    gap.cycles += left_out - cycle;
                    cycle = left_out;
                }
            }
        }
        Ok(())
    }

    fn write_gap(&mut self) -> io::Result<()> {
        match self.gap.take() {
            Some(gap) => self.trace.event(&Event::Gap(gap)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use petal_metadata::{ComponentId, ControlId, Id as _, RegisterId};
    use proptest::prelude::*;

    use super::*;
    use crate::codec::TraceReader;
    use crate::model::{CallTree, Instance, InstanceId, Node, RegisterUpdate, TreeId};

    /// A run: the length of each stay in one of two trees, and whether a register changes in each cycle.
    fn events(stays: &[u64]) -> Vec<(u64, Event)> {
        let component = ComponentId::from_index(0);
        let mut events = vec![(
            0,
            Event::Instance(Instance {
                component,
                parent: None,
            }),
        )];
        for at in 0..2 {
            let node = Node::Control {
                component,
                control: ControlId::from_index(at),
            };
            let tree = CallTree::from_preorder([(0, node)]).unwrap();
            events.push((0, Event::Tree(Box::new(tree))));
        }
        let mut start = 0;
        for (at, &cycles) in stays.iter().enumerate() {
            for cycle in start..start + cycles {
                let update = Event::Update(RegisterUpdate {
                    cycle: Cycle::from_cycles(cycle),
                    instance: InstanceId::from_index(0),
                    register: RegisterId::from_index(0),
                    old: cycle,
                    new: cycle + 1,
                });
                events.push((cycle + 1, update));
            }
            let run = Event::Run(Run {
                tree: TreeId::from_index(at % 2),
                start: Cycle::from_cycles(start),
                cycles,
            });
            start += cycles;
            // It is told when the next one begins.
            events.push((start + 1, run));
        }
        events.push((u64::MAX, Event::End { cycles: start }));
        events
    }

    proptest! {
        #[test]
        fn a_trace_has_what_is_kept(
            stays in prop::collection::vec(1..9_u64, 1..20),
            windows in prop::collection::vec((0..80_u64, 0..12_u64, any::<bool>()), 0..8),
            before in 0..12_u64,
        ) {
            let total: u64 = stays.iter().sum();
            // Each from a cycle to another, decided at its beginning or at its end.
            let mut kept = vec![false; usize::try_from(total).unwrap()];
            let mut marks = Vec::new();
            for (start, cycles, looks_back) in windows {
                let last = start + if looks_back { cycles.min(before) } else { cycles };
                let decided = if looks_back { last } else { start };
                if decided >= total || (looks_back && last >= total) {
                    continue;
                }
                marks.push((decided, start, 1));
                if last < total {
                    marks.push((last, last + 1, -1));
                }
                for cycle in start..(last + 1).min(total) {
                    kept[usize::try_from(cycle).unwrap()] = true;
                }
            }
            marks.sort_by_key(|mark| mark.0);
            let mut marks = marks.into_iter().peekable();
            let (mut held, sender) = Held::new(before);
            let mut bytes = Vec::new();
            let mut trace = KeptTrace::new(TraceWriter::new(&mut bytes, "abc").unwrap());
            for (seen, event) in events(&stays) {
                while let Some((_, cycle, change)) = marks.next_if(|mark| mark.0 < seen) {
                    if change > 0 {
                        sender.begin(cycle);
                    } else {
                        sender.end(cycle);
                    }
                }
                held.event(&event, &mut |event, parts| trace.event(event, parts)).unwrap();
            }
            trace.finish("", total).unwrap();
            let (mut cycles, mut updates) = (Vec::new(), Vec::new());
            let mut last_was_gap = false;
            for event in TraceReader::new(&bytes[..], "abc").unwrap() {
                let event = event.unwrap();
                match &event {
                    Event::Run(run) => cycles.extend((0..run.cycles).map(|_| Some(run.tree.index()))),
                    Event::Gap(gap) => {
                        prop_assert!(!last_was_gap);
                        cycles.extend((0..gap.cycles).map(|_| None));
                    }
                    Event::Update(update) => updates.push(update.cycle.cycles()),
                    _ => {}
                }
                last_was_gap = matches!(event, Event::Gap(_));
            }
            let trees = stays.iter().enumerate().flat_map(|(at, &cycles)| (0..cycles).map(move |_| at % 2));
            let expected: Vec<Option<usize>> = trees.zip(&kept).map(|(tree, kept)| kept.then_some(tree)).collect();
            prop_assert_eq!(cycles, expected);
            let expected: Vec<u64> = (0..total).zip(&kept).filter(|(_, kept)| **kept).map(|(cycle, _)| cycle).collect();
            prop_assert_eq!(updates, expected);
        }
    }
}
