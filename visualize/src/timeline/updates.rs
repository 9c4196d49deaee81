//! The updates of control registers: which slices they are.
//!
//! Steps of a static program's counter that follow one another without a jump are one slice.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{ControlRegister, Id as _, RegisterId, RegisterKind};
use petal_reconstruct::{InstanceId, RegisterUpdate};

use super::tracks::Subject;
use super::{Format, Slice, SliceId, Timeline, Whole};
use petal_analysis::cells::path;

/// How many kinds of updates are remembered.
const MAX_KINDS: usize = 1 << 16;

/// A control register of an instance.
pub(super) type Register = (InstanceId, RegisterId);

/// From which value to which a register goes, in these cycles.
#[derive(Debug, Clone)]
pub(super) struct Ramp {
    pub cycles: Range<u64>,
    pub first: u64,
    pub last: u64,
}

impl Ramp {
    pub fn of(update: &RegisterUpdate) -> Self {
        let cycle = update.cycle.cycles();
        Self {
            cycles: cycle..cycle + 1,
            first: update.old,
            last: update.new,
        }
    }

    /// What its slice is called.
    pub fn name(&self, register: &ControlRegister) -> String {
        match (register.kind, self.last) {
            (RegisterKind::ParDone, 1) => format!("{} set", register.name),
            (RegisterKind::ParDone, _) => format!("{} cleared", register.name),
            _ => format!("{}: {}→{}", register.name, self.first, self.last),
        }
    }
}

/// What the track shows on which a register's updates are.
pub(super) fn subject(id: RegisterId, kind: RegisterKind) -> Subject {
    match kind {
        RegisterKind::StaticFsm => Subject::StaticFsm(id),
        RegisterKind::Fsm | RegisterKind::ParDone => Subject::Registers,
    }
}

/// The slices of updates, and the steps that may go on.
#[derive(Debug)]
pub(super) struct Updates {
    /// The slices of the latest kinds of updates: register, first and last value.
    slices: HashMap<(Register, u64, u64), SliceId>,
    /// The latest steps of the counters of static programs, which are not written yet.
    open: HashMap<Register, Ramp>,
}

impl Updates {
    pub fn new() -> Self {
        Self {
            slices: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// Takes in a step of a static program's counter. If it does not follow the steps before, these are
    /// over.
    pub fn step(&mut self, register: Register, step: Ramp) -> Option<Ramp> {
        let Some(open) = self.open.get_mut(&register) else {
            self.open.insert(register, step);
            return None;
        };
        let follows = open.cycles.end == step.cycles.start && open.last == step.first;
        if follows && step.last == step.first + 1 {
            open.cycles.end += 1;
            open.last = step.last;
            return None;
        }
        Some(std::mem::replace(open, step))
    }

    /// The steps since this cycle, or a later one, are so many cycles later.
    pub fn later(&mut self, since: u64, cycles: u64) {
        for ramp in self.open.values_mut() {
            if ramp.cycles.start >= since {
                ramp.cycles.start += cycles;
                ramp.cycles.end += cycles;
            }
        }
    }

    /// The steps that are over because the run is.
    pub fn finish(&mut self) -> BTreeMap<Register, Ramp> {
        std::mem::take(&mut self.open).into_iter().collect()
    }

    /// The slice of such updates, if it is remembered.
    pub fn slice(&self, register: Register, ramp: &Ramp) -> Option<SliceId> {
        self.slices.get(&(register, ramp.first, ramp.last)).copied()
    }

    /// Remembers the slice of such updates.
    pub fn remember(&mut self, register: Register, ramp: &Ramp, slice: SliceId) {
        self.slices.insert((register, ramp.first, ramp.last), slice);
    }

    /// Forgets the slices if there are too many: their numbers are free again.
    pub fn free(&mut self) -> Vec<SliceId> {
        if self.slices.len() < MAX_KINDS {
            return Vec::new();
        }
        self.slices.drain().map(|(_, id)| id).collect()
    }
}

impl<F: Format> Timeline<'_, F> {
    /// Takes in the update of a control register.
    pub(super) fn update(&mut self, update: &RegisterUpdate) -> io::Result<()> {
        if !self.shown.updates(update.instance.index()) {
            return Ok(());
        }
        let component = self.elements.instances()[update.instance.index()].component;
        let kind = self
            .metadata
            .component(component)
            .register(update.register)
            .kind;
        let register = (update.instance, update.register);
        let ramp = Ramp::of(update);
        let over = match kind {
            RegisterKind::StaticFsm => self.updates.step(register, ramp),
            RegisterKind::Fsm | RegisterKind::ParDone => Some(ramp),
        };
        over.map_or(Ok(()), |ramp| self.write_ramp(register, &ramp))
    }

    pub(super) fn write_ramp(&mut self, register: Register, ramp: &Ramp) -> io::Result<()> {
        let start = ramp.cycles.start.max(self.cycles.start);
        let end = ramp.cycles.end.min(self.cycles.end);
        if start >= end {
            return Ok(());
        }
        if !self.format.wants(&(start..end)) {
            self.passed += 1;
            return Ok(());
        }
        let slice = match self.updates.slice(register, ramp) {
            Some(slice) => slice,
            None => self.slice_of_ramp(register, ramp)?,
        };
        let is_cut = (start..end) != ramp.cycles;
        let whole = is_cut.then_some(Whole {
            start: ramp.cycles.start,
            cycles: ramp.cycles.end - ramp.cycles.start,
        });
        self.slices += 1;
        self.format.update(slice, start..end, whole)
    }

    fn slice_of_ramp(&mut self, register: Register, ramp: &Ramp) -> io::Result<SliceId> {
        let (instance, id) = register;
        let component = self.elements.instances()[instance.index()].component;
        let what = self.metadata.component(component).register(id);
        let cell = path(self.metadata, self.elements.instances(), instance);
        let slice = Slice {
            track: self.track(instance, subject(id, what.kind), 0)?,
            name: ramp.name(what),
            path: format!("{cell}.{}", what.name),
            category: "control register",
            is_update: true,
            site: None,
            details: Vec::new(),
        };
        self.free.extend(self.updates.free());
        let slice = self.new_slice(&slice)?;
        self.updates.remember(register, ramp, slice);
        Ok(slice)
    }
}
