//! Writes trace files.

use std::io::{self, Write};

use foldhash::HashMap;
use petal_metadata::{CellId, Id};

use super::repeats::{MAX_AGAIN, MAX_GUESSED, Repeats, Step, StepId};
use super::{
    AGAIN, CELL, CELL_BY_REFERENCE, CONDITION, CONTINUOUS, CONTROL, END, FIGURES, GAP, GROUP,
    GUESSED, INSTANCE, LATEST, OVERHEAD, PRIMITIVE, PRIMITIVE_BY_REFERENCE, RUN, TREE, UPDATE,
    USEFUL, WARNING, head,
};
use crate::again::{Again, Item};
use crate::blocks::BlockWriter;
use crate::model::{Activity, Charge, Event, Gap, Node, Run};

/// Writes a Petal trace.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: BlockWriter<W>,
    /// Records that are not written yet.
    records: Vec<u8>,
    /// Where the runs so far end.
    cycles: u64,
    repeats: Repeats,
    /// The numbers of steps.
    ids: HashMap<Step, StepId>,
    /// The latest steps were as guessed: so many of them.
    guessed: u64,
}

/// How many bytes are written at once.
const CHUNK: usize = 1 << 16;

impl<W: Write> TraceWriter<W> {
    /// Starts a trace for the metadata with this fingerprint.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(out: W, fingerprint: &str) -> io::Result<Self> {
        Ok(Self {
            out: BlockWriter::new(out, &head(fingerprint))?,
            records: Vec::new(),
            cycles: 0,
            repeats: Repeats::new(),
            ids: HashMap::default(),
            guessed: 0,
        })
    }

    /// Appends records as they are, which may be anything: what a fuzz target wants of a reader
    /// that believes no byte without its checksum.
    ///
    /// # Errors
    /// When the file can't be written.
    #[doc(hidden)]
    pub fn records(&mut self, records: &[u8]) -> io::Result<()> {
        self.out.write(records)
    }

    /// Appends one event, or what comes again.
    ///
    /// # Errors
    /// When the file can't be written.
    #[inline]
    pub fn item(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Event(event) => self.event(event),
            Item::Again(again) => self.again(again),
        }
    }

    /// Appends what comes again: once more, and how often after that.
    fn again(&mut self, again: &Again) -> io::Result<()> {
        again.first().try_for_each(|event| self.event(&event))?;
        let count = again.count();
        let mut left = again.times() - 1;
        if self.repeats.latest(count).is_none() {
            let mut rest = (1..again.times()).flat_map(|number| again.time(number));
            return rest.try_for_each(|event| self.event(&event));
        }
        self.write_guessed();
        while left > 0 {
            let times = left.min(MAX_AGAIN / count as u64);
            left -= times;
            self.cycles += times * again.cycles();
            self.records.push(LATEST);
            self.number(count as u64);
            self.number(times);
        }
        self.write(CHUNK)
    }

    /// Appends one event; the last one completes the file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let is_told = Step::of(event, self.cycles).is_some_and(|step| self.is_told(step));
        if let Event::Run(Run { cycles, .. }) | Event::Gap(Gap { cycles, .. }) = event {
            self.cycles = self.cycles.wrapping_add(*cycles);
        }
        if is_told {
            return self.write(CHUNK);
        }
        self.write_guessed();
        self.record(event);
        if matches!(event, Event::End { .. }) {
            self.write(0)?;
            return self.out.flush();
        }
        self.write(CHUNK)
    }

    /// Whether the next step needs no record of its own, since it was told before.
    fn is_told(&mut self, step: Step) -> bool {
        if let Some((id, _)) = self.repeats.guess().filter(|(_, guess)| *guess == step) {
            self.repeats.take(id);
            self.guessed += 1;
            if self.guessed == MAX_GUESSED {
                self.write_guessed();
            }
            return true;
        }
        if let Some(&id) = self.ids.get(&step) {
            self.repeats.take(id);
            self.write_guessed();
            self.records.push(AGAIN);
            self.number(u64::from(id));
            return true;
        }
        if self.repeats.is_full() {
            self.ids.clear();
        }
        self.ids.insert(step, self.repeats.add(step));
        false
    }

    fn write_guessed(&mut self) {
        if self.guessed > 0 {
            let guessed = std::mem::take(&mut self.guessed);
            self.records.push(GUESSED);
            self.number(guessed);
        }
    }

    /// Writes records, if there are so many bytes of them.
    fn write(&mut self, least: usize) -> io::Result<()> {
        if self.records.len() >= least {
            self.out.write(&self.records)?;
            self.records.clear();
        }
        Ok(())
    }

    fn record(&mut self, event: &Event) {
        match event {
            Event::Instance(instance) => {
                self.records.push(INSTANCE);
                self.id(instance.component);
                match instance.parent {
                    None => self.number(0),
                    Some((parent, cell)) => {
                        self.number(parent.index() as u64 + 1);
                        self.id(cell);
                    }
                }
            }
            Event::Tree(tree) => {
                self.records.push(TREE);
                self.number(tree.len() as u64);
                for (depth, node) in tree.preorder() {
                    self.number(depth as u64);
                    self.node(node);
                }
            }
            Event::Run(run) => {
                self.records.push(RUN);
                self.id(run.tree);
                self.number(run.cycles);
            }
            Event::Gap(gap) => {
                self.records.push(GAP);
                self.number(gap.cycles);
            }
            Event::Update(update) => {
                self.records.push(UPDATE);
                self.number(update.cycle.cycles().wrapping_sub(self.cycles));
                self.id(update.instance);
                self.id(update.register);
                self.number(update.old);
                self.number(update.new);
            }
            Event::Warning(warning) => {
                self.records.push(WARNING);
                self.number(warning.cycle.cycles());
                self.text(&warning.signal);
                self.text(&warning.text);
            }
            Event::Figures(text) => {
                self.records.push(FIGURES);
                self.text(text);
            }
            Event::End { cycles } => {
                self.records.push(END);
                self.number(*cycles);
            }
        }
    }

    fn node(&mut self, node: Node) {
        match node {
            Node::Cell {
                instance,
                formal,
                activity,
            } => {
                self.tag(CELL, CELL_BY_REFERENCE, formal);
                self.id(instance);
                match activity {
                    Activity::Useful => self.number(USEFUL),
                    Activity::Condition => self.number(CONDITION),
                    Activity::Overhead(Charge { kind, statement }) => {
                        self.number(OVERHEAD + kind.index() as u64);
                        // 0 for none.
                        self.number(statement.map_or(0, |id| id.index() as u64 + 1));
                    }
                }
            }
            Node::Control { component, control } => {
                self.number(CONTROL);
                self.id(component);
                self.id(control);
            }
            Node::Group {
                component,
                group,
                run,
            } => {
                self.number(GROUP);
                self.id(component);
                self.id(group);
                self.id(run);
            }
            Node::Continuous { component } => {
                self.number(CONTINUOUS);
                self.id(component);
            }
            Node::Primitive {
                component,
                cell,
                actual,
            } => {
                self.tag(PRIMITIVE, PRIMITIVE_BY_REFERENCE, actual);
                self.id(component);
                self.id(cell);
            }
        }
    }

    /// `plain`, or `by_reference` with the other cell and who holds it.
    fn tag(&mut self, plain: u64, by_reference: u64, other: Option<(impl Id, CellId)>) {
        match other {
            None => self.number(plain),
            Some((holder, cell)) => {
                self.number(by_reference);
                self.id(holder);
                self.id(cell);
            }
        }
    }

    fn id(&mut self, id: impl Id) {
        self.number(id.index() as u64);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.records.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.records.push((number & 0x7f) as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.records.extend_from_slice(text.as_bytes());
    }
}
