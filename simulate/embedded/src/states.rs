//! Code for states: in one state of the control registers hardly anything is left to compute, and which probes are on is known.
//!
//! Owns when a run is sampled, when a state gets a tape, and when tapes or the general code do a cycle. `choice.rs` chooses the registers
//! that make a state, `tape.rs` makes its tape and runs it; where many cycles are wanted at once, `blocks.rs` makes machine code of all tapes, and
//! `native.rs` runs it. A tape does nothing but cycles in which nothing is odd: a run ends, and a
//! design is warned of, in the general code alone.

mod blocks;
mod choice;
mod native;
mod tape;

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::{Batch, Change, ListNumber};

use self::choice::Samples;
use self::native::{Call, Exit, Kept, Native};
use self::tape::{State, Tape, Values};
use crate::code::{Ending, Instance, Layout};
use crate::graph::{Graph, NodeId, RegId};
use crate::repetition::Repetition;

/// When states get code of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StateCode {
    /// Once a run is long enough, and has few states.
    #[default]
    WhenWorth,
    /// From the first cycles on, for every state.
    Soon,
    /// Not at all.
    Never,
}

/// When something is done.
struct Pace {
    /// The first cycle of the sample, the distances to the next ones, in turn, and how many cycles it has. Were all distances alike, a loop
    /// that takes as long would be seen at one place alone.
    first: u64,
    strides: &'static [u64],
    samples: usize,
    /// How often a state without a tape is met before it gets one.
    hot: u32,
    /// Cycles that tapes do, for each part of them, before they get machine code.
    patience: u64,
    /// What tapes cost and save is counted in cycles: this is lost before there are none any more.
    loss: i64,
}

/// Where states were of no use, others are looked for once the run is so many times as long: it may do something else by then.
const LATER: u64 = 16;

/// To go from a tape to the general code and back.
const LEAVING: i64 = 8;

/// Nodes of the graph that are specialised while the general code does a cycle.
const NODES: i64 = 3;

/// Tapes at most.
const MAX_TAPES: usize = 1 << 10;

/// Cycles that the general code goes on at most before it looks for a tape again.
const MAX_PAUSE: u64 = 64;

/// How often machine code is made, and cycles that tapes do before.
const MAX_MADE: usize = 4;
const LEAST: u64 = 16;

/// Parts of all tapes at most that get machine code: it would take too long to make.
const MAX_PARTS: usize = 1 << 14;

/// What is known of a state.
enum Known {
    Met(u32),
    Tape(usize),
    /// The general code does it.
    Unfit,
}

/// Machine code for tapes.
#[derive(Default)]
struct MachineCode {
    code: Option<Native>,
    /// How often it was made, or could not be, and for how many edges.
    made: usize,
    edges: usize,
    /// Cycles that tapes did since then, and how many these are at least before it is made again.
    by_tapes: u64,
    due: u64,
    /// The cycles that it did, less what its calls cost.
    gained: i64,
    /// Lists of changes that were handed over for code that is no more.
    lists: ListNumber,
}

impl MachineCode {
    /// Begins anew, for other tapes.
    fn forget(&mut self) {
        *self = Self {
            lists: self.last_list(),
            ..Self::default()
        };
    }

    /// Whether there is some for this tape.
    fn has(&self, tape: usize) -> bool {
        self.code.as_ref().is_some_and(|code| code.has(tape))
    }

    /// Whether it may be time to make it.
    fn is_due(&self) -> bool {
        self.made < MAX_MADE && self.by_tapes >= self.due
    }

    /// The number of the last list that was handed over.
    fn last_list(&self) -> ListNumber {
        self.code.as_ref().map_or(self.lists, Native::last_list)
    }
}

/// What tapes are made for.
pub(crate) struct Subject<'a> {
    pub graph: &'a Graph,
    pub layout: &'a Layout,
    pub done: NodeId,
    pub probes: &'a [NodeId],
}

/// The states of a run.
pub(crate) struct States {
    pace: Pace,
    /// The general code need not ask before this cycle.
    next: u64,
    samples: Samples,
    /// The registers of a state, once they are chosen, and where they are.
    registers: Vec<RegId>,
    places: Vec<usize>,
    known: HashMap<Box<[u64]>, Known>,
    key: Vec<u64>,
    tapes: Vec<Tape>,
    values: Values,
    /// What was told last of the probes that are no constants of the state.
    told: Vec<u64>,
    /// The tape of the latest cycle, and the edge to it, from another tape.
    now: Option<usize>,
    edge: Option<(usize, usize)>,
    /// Whether the clock rose at the end of the latest cycle.
    is_committed: bool,
    /// Whether somebody else wrote to the memories since the values of the latest cycle were computed.
    is_disturbed: bool,
    native: MachineCode,
    /// The cycle of the first of the latest tapes.
    entered: u64,
    pause: u64,
    balance: i64,
}

impl States {
    /// `None` if tapes are of no use.
    pub fn new(code: StateCode, subject: &Subject<'_>) -> Option<Self> {
        let pace = match code {
            StateCode::Never => return None,
            StateCode::WhenWorth => Pace {
                first: 1 << 12,
                strides: &[4, 9, 7, 5, 10, 8, 6],
                samples: 1 << 9,
                hot: 2,
                patience: 12,
                loss: 50_000,
            },
            StateCode::Soon => Pace {
                first: 1,
                strides: &[1],
                samples: 16,
                hot: 1,
                patience: 0,
                loss: 1_000,
            },
        };
        let samples = Samples::new(subject);
        let is_hopeless = samples.is_hopeless() || !subject.graph.wires.is_empty();
        (!is_hopeless).then(|| Self {
            next: pace.first,
            pace,
            samples,
            registers: Vec::new(),
            places: Vec::new(),
            known: HashMap::new(),
            key: Vec::new(),
            tapes: Vec::new(),
            values: Values::new(subject.layout),
            told: vec![0; subject.probes.len()],
            now: None,
            edge: None,
            is_committed: false,
            is_disturbed: false,
            native: MachineCode::default(),
            entered: 0,
            pause: 1,
            balance: 0,
        })
    }

    /// Before this cycle, the general code need not ask.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether a tape did the latest cycle.
    pub fn are_on(&self) -> bool {
        self.now.is_some()
    }

    /// The registers, if they are on.
    pub fn registers(&self) -> &[u64] {
        self.values.registers()
    }

    /// The rising edge of the clock, and the cycle after it. `false` if the general code has to do that one: all
    /// is as it needs it.
    pub fn advance(&mut self, cycle: u64, subject: &Subject<'_>, instance: &mut Instance) -> bool {
        let Some(now) = self.now else {
            return false;
        };
        self.is_disturbed = false;
        if !std::mem::take(&mut self.is_committed) {
            self.tapes[now].commit(&mut self.values, instance);
        }
        if let Some(edge) = self.edge(now, subject) {
            let next = self.tapes[now].edge_at(edge).to;
            if !self.tapes[next].compute(&mut self.values, instance) {
                self.now = Some(next);
                self.edge = Some((now, edge));
                self.native.by_tapes += 1;
                return true;
            }
        }
        self.tapes[now].complete(&mut self.told);
        instance.resume(self.values.registers(), &self.told);
        self.now = None;
        let gained = i64::try_from(cycle - self.entered).unwrap_or(i64::MAX);
        self.balance += gained - LEAVING;
        self.rest(cycle, gained < LEAVING);
        false
    }

    /// The cycles after one of a tape: at most so many, by machine code if there is any. It stops before one whose state may be the kept one.
    /// Where it stops, [`advance`](Self::advance) goes on, or the general code after the clock's edge. Returns how many it did.
    pub fn run(
        &mut self,
        cycle: u64,
        cycles: usize,
        subject: &Subject<'_>,
        (instance, kept): (&mut Instance, &Repetition),
        batch: &mut Batch,
    ) -> u64 {
        let Some(tape) = self
            .now
            .filter(|_| !self.is_committed && !self.is_disturbed)
        else {
            return 0;
        };
        self.make(instance);
        if !self.native.has(tape) {
            let ending = kept.kept().map(|(_, ending)| ending);
            return ending.map_or(0, |ending| {
                self.run_tapes((cycle, cycles), &ending, subject, instance, batch)
            });
        }
        let kept = self.kept(kept);
        let Some(native) = &mut self.native.code else {
            return 0;
        };
        let call = Call {
            tape,
            cycles,
            kept,
            values: &mut self.values,
            told: &mut self.told,
            instance,
        };
        let before = batch.len();
        let exit = native.run(call, batch);
        let done = (batch.len() - before) as u64;
        self.native.gained += done.cast_signed() - LEAVING;
        if self.native.gained < -self.pace.loss {
            self.native.forget();
            self.native.made = MAX_MADE;
        }
        self.now = Some(match exit {
            Exit::Cycle(tape) => {
                // What is written from outside before it goes on is no part of it.
                self.tapes[tape].compute(&mut self.values, instance);
                tape
            }
            Exit::Edge(tape) => {
                self.is_committed = true;
                tape
            }
        });
        done
    }

    /// The same by tapes, one after the other.
    fn run_tapes(
        &mut self,
        (cycle, cycles): (u64, usize),
        ending: &Ending,
        subject: &Subject<'_>,
        instance: &mut Instance,
        batch: &mut Batch,
    ) -> u64 {
        let before = batch.len();
        for cycle in (cycle + 1..).take(cycles) {
            let native = &self.native;
            let tape = self.now.filter(|&now| !native.is_due() && !native.has(now));
            let Some(now) = tape else {
                break;
            };
            self.tapes[now].commit(&mut self.values, instance);
            self.is_committed = true;
            let register = self.values.registers()[ending.register];
            if ending.may_be(instance.digest(), register) || !self.advance(cycle, subject, instance)
            {
                break;
            }
            batch.add_cycle(|changes| self.changes(changes));
        }
        (batch.len() - before) as u64
    }

    /// Somebody else has written to the memories.
    pub fn disturb(&mut self) {
        self.is_disturbed = true;
    }

    /// Makes machine code if it is worth while.
    fn make(&mut self, instance: &mut Instance) {
        let machine = &mut self.native;
        if !machine.is_due() {
            return;
        }
        let parts: usize = self.tapes.iter().map(Tape::parts).sum();
        if parts > MAX_PARTS {
            machine.made = MAX_MADE;
            return;
        }
        let due = self.pace.patience * parts as u64 + LEAST;
        machine.due = due << (2 * machine.made);
        if machine.by_tapes < machine.due {
            return;
        }
        machine.by_tapes = 0;
        let edges = self.tapes.iter().map(|tape| tape.edges.len()).sum();
        if edges == machine.edges {
            return;
        }
        machine.made += 1;
        machine.edges = edges;
        let before = machine.last_list();
        let probes = self.told.len();
        let made = Native::new(&self.tapes, &self.values, probes, instance, before);
        // Without it, tapes do the same.
        machine.code = made.ok().or_else(|| machine.code.take());
    }

    /// What the code has to look at to tell whether a state may be the kept one.
    fn kept(&mut self, kept: &Repetition) -> Option<Kept> {
        let (words, ending) = kept.kept()?;
        self.key.clear();
        for &at in &self.places {
            self.key.push(*words.get(at)?);
        }
        let Known::Tape(tape) = *self.known.get(&self.key[..])? else {
            return None;
        };
        Some(Kept { tape, ending })
    }

    /// Where the general code would do a cycle: `true` if a tape has done it.
    pub fn enter(&mut self, cycle: u64, subject: &Subject<'_>, instance: &mut Instance) -> bool {
        if cycle < self.next {
            return false;
        }
        if self.registers.is_empty() {
            self.sample(cycle, subject, instance);
            return false;
        }
        let registers = instance.words(subject.layout.state.clone());
        self.values.registers_mut().copy_from_slice(registers);
        let Some(tape) = self.tape(subject) else {
            self.balance -= 1;
            self.rest(cycle, true);
            return false;
        };
        instance.told(&mut self.told);
        if self.tapes[tape].compute(&mut self.values, instance) {
            self.rest(cycle, true);
            return false;
        }
        self.now = Some(tape);
        self.edge = None;
        (self.is_committed, self.is_disturbed) = (false, false);
        self.entered = cycle;
        true
    }

    /// Adds the probes that differ in a cycle of a tape to `changes`. Has to be called in each of them.
    pub fn changes(&mut self, changes: &mut Vec<Change>) {
        let Some(now) = self.now else {
            return;
        };
        let mut tell = |change| changes.push(change);
        let (tape, values, told) = (&self.tapes[now], &self.values, &mut self.told);
        match self.edge {
            None => tape.changes(values, told, &mut tell),
            Some((from, edge)) => {
                let edge = self.tapes[from].edge_at(edge);
                tape.changes_after(edge, values, told, &mut tell);
            }
        }
    }

    /// The general code goes on for some cycles: longer each time that this is of no use.
    fn rest(&mut self, cycle: u64, is_longer: bool) {
        self.pause = if is_longer {
            (self.pause * 2).min(MAX_PAUSE)
        } else {
            1
        };
        self.next = cycle + self.pause;
        if self.balance < -self.pace.loss {
            self.start_over(cycle);
        }
    }

    /// Forgets all states; later, others are looked for.
    fn start_over(&mut self, cycle: u64) {
        self.pace.first = self.pace.first.saturating_mul(LATER);
        self.next = self.pace.first.max(cycle);
        self.samples.clear();
        self.registers.clear();
        self.places.clear();
        self.known.clear();
        self.tapes.clear();
        self.native.forget();
        self.pause = 1;
        self.balance = 0;
    }

    /// Looks at a cycle of the general code.
    fn sample(&mut self, cycle: u64, subject: &Subject<'_>, instance: &Instance) {
        let layout = subject.layout;
        self.samples.take(instance.words(layout.state.clone()));
        let strides = self.pace.strides;
        self.next = cycle + strides[self.samples.len() % strides.len()];
        if self.samples.len() < self.pace.samples {
            return;
        }
        match self.samples.choose(subject.graph) {
            Some(registers) => {
                let places = registers.iter().map(|&reg| tape::at(layout, reg));
                self.places = places.collect();
                self.registers = registers;
            }
            None => self.start_over(cycle),
        }
    }

    /// The edge that the registers take from a tape, if it leads to one.
    fn edge(&mut self, from: usize, subject: &Subject<'_>) -> Option<usize> {
        if let Some(edge) = self.tapes[from].edge(&self.values) {
            return Some(edge);
        }
        let to = self.tape(subject)?;
        let edge = self.tapes[from].edge_to(to, &self.tapes[to], &self.values);
        Some(self.tapes[from].keep(edge))
    }

    /// The tape for the registers, if they have one.
    fn tape(&mut self, subject: &Subject<'_>) -> Option<usize> {
        self.key.clear();
        let values = self.values.registers();
        self.key.extend(self.places.iter().map(|&at| values[at]));
        if !self.known.contains_key(&self.key[..]) {
            if self.known.len() >= 4 * MAX_TAPES {
                return None;
            }
            self.known.insert(self.key[..].into(), Known::Met(0));
        }
        let known = self.known.get_mut(&self.key[..])?;
        match known {
            Known::Tape(tape) => return Some(*tape),
            Known::Unfit => return None,
            Known::Met(times) => {
                *times += 1;
                if *times < self.pace.hot || self.tapes.len() == MAX_TAPES {
                    return None;
                }
            }
        }
        self.balance -= i64::try_from(subject.graph.len()).unwrap_or(i64::MAX) / NODES;
        let state = State {
            subject,
            registers: &self.registers,
            key: &self.key,
        };
        let Some(tape) = state.tape(&mut self.values) else {
            *known = Known::Unfit;
            return None;
        };
        *known = Known::Tape(self.tapes.len());
        self.tapes.push(tape);
        Some(self.tapes.len() - 1)
    }
}

#[cfg(test)]
mod tests;
