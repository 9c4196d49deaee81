//! The rules that turn the probe values of each cycle into call trees.

use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{
    Arm, Binding, CallId, Callee, CellId, CellKind, CompiledGroup, CompiledId, CompiledKind,
    Component, ComponentId, ControlId, ControlKind, Id, Metadata, Origin, RegisterId, RegisterKind,
    RunId, RunRole, Schedule, State,
};
use thiserror::Error;

use crate::contradictions::{self, Contradiction, Values};
use crate::model::{
    Activity, CallTree, Charge, Cycle, Event, Instance, InstanceId, Node, Overhead, RegisterUpdate,
    Run, TreeId, Warning,
};
use crate::signals::{Layout, Physical, SignalTable};
use crate::source::{Change, ProbeSource, SourceError};

/// Why reconstruction stops.
#[derive(Debug, Error)]
pub enum ReconstructError<E> {
    /// The probe values can't be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Whoever takes the events failed.
    #[error("{0}")]
    Sink(E),
}

/// Turns metadata and probe values into a Petal trace.
pub struct Reconstruction<'a> {
    metadata: &'a Metadata,
    layout: Layout,
}

impl<'a> Reconstruction<'a> {
    /// Prepares the reconstruction of runs of a design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            layout: Layout::of(metadata),
        }
    }

    /// The signals that a source of probe values has to deliver.
    pub fn signals(&self) -> &SignalTable {
        &self.layout.table
    }

    /// Reads a whole run and hands its events to `sink`, in order.
    ///
    /// # Errors
    /// When `source` or `sink` fails.
    pub fn run<E>(
        &self,
        source: &mut impl ProbeSource,
        sink: &mut impl FnMut(Event) -> Result<(), E>,
    ) -> Result<u64, ReconstructError<E>> {
        let mut engine = Engine::new(self.metadata, &self.layout);
        let mut running = source.next_cycle()?;
        engine.take(source.changes());
        while running {
            for warning in source.take_warnings() {
                engine.events.push(Event::Warning(Box::new(warning)));
            }
            engine.step();
            running = source.next_cycle()?;
            engine.take(source.changes());
            engine.cycle();
            for event in engine.events.drain(..) {
                sink(event).map_err(ReconstructError::Sink)?;
            }
        }
        let cycles = engine.cycle;
        if let Some(found) = contradictions::at_the_end(self.metadata, &self.layout, &engine.next) {
            engine.tell(found);
        }
        engine.flush();
        engine.events.push(Event::End { cycles });
        for event in engine.events.drain(..) {
            sink(event).map_err(ReconstructError::Sink)?;
        }
        Ok(cycles)
    }
}

/// A static component that goes on after its start pulse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pending {
    physical: usize,
    call: usize,
    /// Cycles still to come, this one included.
    left: u64,
}

/// A static program with a schedule.
#[derive(Debug)]
struct Island<'a> {
    physical: usize,
    group: CompiledId,
    /// The slot of the group's probe.
    slot: usize,
    schedule: &'a Schedule,
    /// Cycles since it became active, modulo its latency; `None` if it is not.
    position: Option<u64>,
}

/// How many samples, and pairs of them, are remembered. Control registers that run freely beside each
/// other can have as many different values as the run has cycles.
const MAX_KNOWN: usize = 1 << 16;

/// What follows from the values of a cycle.
#[derive(Debug)]
struct Outcome {
    tree: TreeId,
    owners: Owners,
    /// Static components that go on in the next cycle.
    pending: Vec<Pending>,
}

/// Which source instance each active hardware instance works for.
type Owners = Vec<(usize, InstanceId)>;

struct Engine<'a> {
    metadata: &'a Metadata,
    layout: &'a Layout,
    /// The cycle that comes next.
    cycle: u64,
    instances: HashMap<Instance, InstanceId>,
    /// The source instance under which each hardware instance was last active.
    last_instance: Vec<Option<InstanceId>>,
    pending: Vec<Pending>,
    islands: Vec<Island<'a>>,
    trees: HashMap<Vec<(usize, Node)>, TreeId>,
    /// The values of a cycle and of the one after it.
    now: Vec<u64>,
    next: Vec<u64>,
    /// Slots in which the two differ.
    changed: Vec<usize>,
    /// The numbers of the two.
    samples: Samples,
    sample_now: u32,
    sample_next: u32,
    /// What else determines a tree: the numbers of `pending` and the positions of `islands`. 0:
    /// nothing.
    contexts: HashMap<Box<[u64]>, u32>,
    /// The latest of them.
    context: Vec<u64>,
    /// Numbers of a sample, of the next one, and of the context → what follows, for the latest ones.
    known: HashMap<(u32, u32, u32), Rc<Outcome>>,
    /// The latest samples and context after which no static component goes on, and their tree.
    latest: Option<((u32, u32, u32), TreeId)>,
    current: Option<Run>,
    events: Vec<Event>,
    warned: BTreeSet<(usize, usize)>,
    registers: Vec<(usize, RegisterId, usize)>,
    /// The register behind each slot.
    register_of: Vec<Option<usize>>,
    /// Registers that are updated at the end of the cycle.
    updated: Vec<usize>,
}

/// Numbers the values of all signals that determine trees: two cycles with equal values have the
/// same number.
struct Samples {
    /// Word, bit of each slot; a register has a word of its own. `None`: it determines nothing.
    places: Vec<Option<(usize, Option<u32>)>>,
    words: Vec<u64>,
    numbers: HashMap<Box<[u64]>, u32>,
    /// Whether a word changed since the last number was given.
    changed: bool,
}

impl Samples {
    /// `probes` are the slots of signals of one bit, `registers` those of others.
    fn new(slots: usize, probes: &BTreeSet<usize>, registers: &[usize]) -> Self {
        let mut places = vec![None; slots];
        for (at, &slot) in probes.iter().enumerate() {
            let bit = u32::try_from(at % 64).expect("it is below 64");
            places[slot] = Some((at / 64, Some(bit)));
        }
        let first = probes.len().div_ceil(64);
        for (at, &slot) in registers.iter().enumerate() {
            places[slot] = Some((first + at, None));
        }
        Self {
            places,
            words: vec![0; first + registers.len()],
            numbers: HashMap::default(),
            changed: true,
        }
    }

    fn set(&mut self, slot: usize, value: u64) {
        let Some((word, bit)) = self.places[slot] else {
            return;
        };
        let word = &mut self.words[word];
        match bit {
            Some(bit) => *word = *word & !(1 << bit) | u64::from(value == 1) << bit,
            None => *word = value,
        }
        self.changed = true;
    }

    fn number(&mut self) -> u32 {
        self.changed = false;
        if let Some(&number) = self.numbers.get(self.words.as_slice()) {
            return number;
        }
        let number = u32::try_from(self.numbers.len()).expect("few are remembered");
        self.numbers.insert(self.words.as_slice().into(), number);
        number
    }
}

impl<'a> Engine<'a> {
    fn new(metadata: &'a Metadata, layout: &'a Layout) -> Self {
        let registers: Vec<(usize, RegisterId, usize)> = layout
            .instances
            .iter()
            .enumerate()
            .flat_map(|(physical, instance)| {
                instance
                    .registers
                    .iter()
                    .enumerate()
                    .map(move |(id, &slot)| (physical, RegisterId::from_index(id), slot))
            })
            .collect();
        let slots = layout.table.watched.len();
        let mut register_of = vec![None; slots];
        for (at, &(_, _, slot)) in registers.iter().enumerate() {
            register_of[slot] = Some(at);
        }
        // Counters of static programs are followed by their positions.
        let deciding: Vec<usize> = registers
            .iter()
            .filter(|&&(physical, id, _)| {
                let component = layout.instances[physical].component;
                let register = &metadata.component(component).registers[id.index()];
                register.kind != RegisterKind::StaticFsm
            })
            .map(|&(_, _, slot)| slot)
            .collect();
        let probes: BTreeSet<usize> = layout
            .instances
            .iter()
            .flat_map(|physical| {
                physical
                    .runs
                    .iter()
                    .chain(physical.starts.iter().flatten())
                    .chain(&physical.calls)
                    .chain(&physical.compiled)
            })
            .copied()
            .collect();
        let islands = layout.instances.iter().enumerate();
        let islands = islands.flat_map(|(at, physical)| {
            let groups = metadata.component(physical.component).compiled.iter();
            groups.enumerate().filter_map(move |(id, group)| {
                Some(Island {
                    physical: at,
                    group: CompiledId::from_index(id),
                    slot: physical.compiled[id],
                    schedule: group.schedule.as_ref()?,
                    position: None,
                })
            })
        });
        let mut engine = Self {
            now: vec![0; slots],
            next: vec![0; slots],
            changed: Vec::new(),
            samples: Samples::new(slots, &probes, &deciding),
            sample_now: 0,
            sample_next: 0,
            contexts: HashMap::default(),
            context: Vec::new(),
            known: HashMap::default(),
            latest: None,
            metadata,
            layout,
            cycle: 0,
            instances: HashMap::new(),
            last_instance: vec![None; layout.instances.len()],
            pending: Vec::new(),
            islands: islands.collect(),
            trees: HashMap::default(),
            current: None,
            events: Vec::new(),
            warned: BTreeSet::new(),
            registers,
            register_of,
            updated: Vec::new(),
        };
        let main = engine.instance(Instance {
            component: metadata.main,
            parent: None,
        });
        engine.last_instance[0] = Some(main);
        engine
    }

    fn instance(&mut self, instance: Instance) -> InstanceId {
        let next = InstanceId::from_index(self.instances.len());
        *self.instances.entry(instance).or_insert_with(|| {
            self.events.push(Event::Instance(instance));
            next
        })
    }

    /// Takes in what leads from the latest cycle to the next one.
    fn take(&mut self, changes: &[Change]) {
        for &Change { slot, value } in changes {
            self.next[slot] = value;
            self.samples.set(slot, value);
            self.changed.push(slot);
        }
        let most = self.samples.numbers.len();
        let most = most.max(self.contexts.len()).max(self.known.len());
        if most >= MAX_KNOWN {
            self.forget();
        } else if self.samples.changed {
            self.sample_next = self.samples.number();
        }
    }

    /// Forgets what is known of samples and contexts. The samples of this cycle and the next one
    /// get new numbers.
    fn forget(&mut self) {
        self.samples.numbers.clear();
        self.contexts.clear();
        self.known.clear();
        self.latest = None;
        let next = self.samples.words.clone();
        let changed: Vec<usize> = self.changed.clone();
        for &slot in &changed {
            self.samples.set(slot, self.now[slot]);
        }
        self.sample_now = self.samples.number();
        self.samples.words = next;
        self.sample_next = self.samples.number();
    }

    /// Goes to the next cycle, which is taken in already.
    fn step(&mut self) {
        for slot in self.changed.drain(..) {
            self.now[slot] = self.next[slot];
        }
        self.sample_now = self.sample_next;
    }

    /// Tells what happens in a cycle.
    fn cycle(&mut self) {
        self.advance();
        let tree = self.tree();
        self.updates();
        match &mut self.current {
            Some(run) if run.tree == tree => run.cycles += 1,
            _ => {
                self.flush();
                let start = Cycle::from_cycles(self.cycle);
                self.current = Some(Run {
                    tree,
                    start,
                    cycles: 1,
                });
            }
        }
        self.cycle += 1;
    }

    /// Counts the cycles of static programs.
    fn advance(&mut self) {
        for island in &mut self.islands {
            let next = island.position.map_or(0, |at| at + 1);
            let active = self.now[island.slot] == 1;
            island.position = active
                .then(|| next.checked_rem(island.schedule.latency))
                .flatten();
        }
    }

    fn flush(&mut self) {
        if let Some(run) = self.current.take() {
            self.events.push(Event::Run(run));
        }
    }

    fn updates(&mut self) {
        let mut updated = std::mem::take(&mut self.updated);
        updated.extend(
            self.changed
                .iter()
                .filter_map(|&slot| self.register_of[slot]),
        );
        updated.sort_unstable();
        for at in updated.drain(..) {
            let (physical, register, slot) = self.registers[at];
            let instance = self.owner(physical);
            self.events.push(Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(self.cycle),
                instance,
                register,
                old: self.now[slot],
                new: self.next[slot],
            }));
        }
        self.updated = updated;
    }

    /// The source instance that a hardware instance last worked for.
    fn owner(&mut self, physical: usize) -> InstanceId {
        if let Some(instance) = self.last_instance[physical] {
            return instance;
        }
        let own = &self.layout.instances[physical];
        let parent = own.parent.map(|(parent, cell)| (self.owner(parent), cell));
        let component = own.component;
        let instance = self.instance(Instance { component, parent });
        self.last_instance[physical] = Some(instance);
        instance
    }

    /// The tree of a cycle.
    fn tree(&mut self) -> TreeId {
        let (now, next) = (self.sample_now, self.sample_next);
        let context = self.context();
        match self.latest {
            Some((known, tree)) if known == (now, next, context) => return tree,
            _ => {}
        }
        let outcome = match self.known.get(&(now, next, context)) {
            Some(outcome) => Rc::clone(outcome),
            None => {
                let outcome = Rc::new(self.build());
                self.known.insert((now, next, context), Rc::clone(&outcome));
                outcome
            }
        };
        for &(physical, instance) in &outcome.owners {
            self.last_instance[physical] = Some(instance);
        }
        self.pending.clone_from(&outcome.pending);
        // Nothing is left to do for the next cycle if it is the same.
        let plain = outcome.pending.is_empty();
        self.latest = plain.then_some(((now, next, context), outcome.tree));
        outcome.tree
    }

    /// The number of what determines a tree beside the samples. Of a static program's position, that
    /// is the statement that waits there.
    fn context(&mut self) -> u32 {
        let key = &mut self.context;
        key.clear();
        for pending in &self.pending {
            key.extend([pending.physical as u64, pending.call as u64, pending.left]);
        }
        for (number, island) in self.islands.iter().enumerate() {
            if let Some(at) = island.position {
                let waits = island.schedule.at(at);
                let waits = waits.map_or(u64::MAX, |statement| statement.index() as u64);
                key.extend([number as u64, waits]);
            }
        }
        if key.is_empty() {
            return 0;
        }
        if let Some(&number) = self.contexts.get(key.as_slice()) {
            return number;
        }
        let number = u32::try_from(self.contexts.len() + 1).expect("few are remembered");
        self.contexts.insert(key.as_slice().into(), number);
        number
    }

    fn build(&mut self) -> Outcome {
        let mut builder = Builder {
            engine: self,
            nodes: Vec::new(),
            owners: Vec::new(),
            pending: Vec::new(),
        };
        let main = Entry {
            physical: 0,
            instance: InstanceId::from_index(0),
            formal: None,
            actuals: Actuals::new(),
            position: None,
        };
        builder.cell(main, 0);
        let Builder {
            nodes,
            owners,
            pending,
            ..
        } = builder;
        self.tell_contradictions(&owners);
        let tree = match self.trees.get(&nodes) {
            Some(&tree) => tree,
            None => {
                let tree = TreeId::from_index(self.trees.len());
                let call_tree = CallTree::from_preorder(nodes.iter().copied())
                    .expect("the builder goes down one level at a time");
                self.events.push(Event::Tree(Box::new(call_tree)));
                self.trees.insert(nodes, tree);
                tree
            }
        };
        Outcome {
            tree,
            owners,
            pending,
        }
    }
}

impl Engine<'_> {
    /// Tells what can't be in the cycle, in which these hardware instances run.
    fn tell_contradictions(&mut self, owners: &Owners) {
        let mut running = vec![false; self.layout.instances.len()];
        for &(physical, _) in owners {
            running[physical] = true;
        }
        let values = Values {
            now: &self.now,
            next: &self.next,
        };
        for found in contradictions::find(self.metadata, self.layout, values, &running) {
            self.tell(found);
        }
    }

    /// Tells of a signal, once.
    fn tell(&mut self, (physical, slot, text): Contradiction) {
        if self.warned.insert((physical, slot)) {
            self.events.push(Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(self.cycle),
                signal: self.layout.table.watched[slot].to_string(),
                text: text.to_owned(),
            })));
        }
    }
}

/// Where control is in a cycle in which it runs nothing useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The control program does not run.
    Outside,
    /// An FSM goes from one state to the next.
    Transition,
    /// A `par` whose arms are all done.
    Par,
    /// A static program, or a helper of the compiler.
    Leaf,
}

/// What runs in the state `value`.
fn state(states: &[State], value: u64) -> Option<CompiledId> {
    states
        .iter()
        .find(|state| state.value == value)
        .map(|state| state.child)
}

/// The statement that a transition from the state `now` to `next` is for: the innermost one that
/// contains both; for a jump back, the loop around both.
fn transition(
    component: &Component,
    group: &CompiledGroup,
    states: &[State],
    last: u64,
    now: u64,
    next: u64,
) -> Option<ControlId> {
    let child = |value: u64| {
        state(states, value)
            .filter(|_| value != last)
            .map_or(group, |child| component.compiled(child))
    };
    // After the last state comes state 0 again, which is not entered yet.
    let next = if now == last { last } else { next };
    let ended = child(now).last_statement().or(group.node)?;
    let begins = child(next).first_statement().or(group.node)?;
    let common = component.common_ancestor(ended, begins)?;
    let is_loop = |&id: &ControlId| {
        matches!(
            component.node(id).kind,
            ControlKind::While | ControlKind::Repeat
        )
    };
    if next <= now && now != last {
        component.ancestry(common).find(is_loop).or(Some(common))
    } else {
        Some(common)
    }
}

/// Builds the preorder of one tree.
struct Builder<'e, 'a> {
    engine: &'e mut Engine<'a>,
    nodes: Vec<(usize, Node)>,
    owners: Owners,
    pending: Vec<Pending>,
}

/// A hardware instance, and the source instance that it works for.
#[derive(Debug, Clone, Copy)]
struct Holder {
    physical: usize,
    instance: InstanceId,
}

/// What the `ref` cells of a component stand for: each with the cell, and who holds that.
type Actuals = Vec<(CellId, (Holder, CellId))>;

/// How a cell is entered.
struct Entry {
    physical: usize,
    instance: InstanceId,
    /// The `ref` cell by which it is called, and its component.
    formal: Option<(ComponentId, CellId)>,
    actuals: Actuals,
    /// Cycles of a static component so far.
    position: Option<u64>,
}

/// What is active in one instance.
struct Active {
    runs: Vec<RunId>,
    /// Calls, with whether the caller itself is active.
    calls: Vec<CallId>,
    controls: BTreeSet<ControlId>,
    actuals: Actuals,
}

impl<'a> Builder<'_, 'a> {
    fn component(&self, physical: usize) -> &'a Component {
        self.engine
            .metadata
            .component(self.physical(physical).component)
    }

    fn physical(&self, physical: usize) -> &'a Physical {
        &self.engine.layout.instances[physical]
    }

    fn high(&self, slot: usize) -> bool {
        self.engine.now[slot] == 1
    }

    fn cell(&mut self, entry: Entry, depth: usize) {
        let Entry {
            physical,
            instance,
            formal,
            actuals,
            position,
        } = entry;
        self.owners.push((physical, instance));
        let mut active = self.active(physical, actuals);
        let activity = self.activity(physical, &active, position);
        if let Activity::Overhead(Charge {
            statement: Some(statement),
            ..
        }) = activity
        {
            let component = self.component(physical);
            active.controls.extend(component.ancestry(statement));
        }
        let node = Node::Cell {
            instance,
            formal,
            activity,
        };
        self.nodes.push((depth, node));
        self.level(physical, instance, &active, None, depth + 1);
        let continuous: Vec<CallId> = active
            .calls
            .iter()
            .copied()
            .filter(|&call| {
                self.component(physical).calls[call.index()]
                    .caller
                    .is_none()
            })
            .collect();
        if !continuous.is_empty() {
            let component = self.physical(physical).component;
            self.nodes.push((depth + 1, Node::Continuous { component }));
            self.callees(physical, instance, &active, &continuous, depth + 2);
        }
    }

    fn active(&mut self, physical: usize, actuals: Actuals) -> Active {
        let component = self.component(physical);
        let own = self.physical(physical);
        let runs: Vec<RunId> = (0..component.runs.len())
            .filter(|&run| self.runs(physical, run))
            .map(RunId::from_index)
            .collect();
        let mut calls = Vec::new();
        for (at, call) in component.calls.iter().enumerate() {
            let pending = self
                .engine
                .pending
                .iter()
                .any(|p| p.physical == physical && p.call == at);
            if !self.high(own.calls[at]) && !pending {
                continue;
            }
            if call.caller.is_some_and(|caller| !runs.contains(&caller)) {
                // Other runs of the group have the same probe.
                let explained = component.calls.iter().zip(&own.calls).any(|(call, &slot)| {
                    slot == own.calls[at] && call.caller.is_some_and(|run| runs.contains(&run))
                });
                if !explained {
                    self.warn(physical, own.calls[at], pending);
                }
                if !pending {
                    continue;
                }
            }
            calls.push(CallId::from_index(at));
        }
        let mut controls = BTreeSet::new();
        for run in &runs {
            if let Some(control) = component.run(*run).control {
                controls.extend(component.ancestry(control));
            }
        }
        if let Some(root) = component.root {
            self.compiled(physical, root, &mut controls);
        }
        Active {
            runs,
            calls,
            controls,
            actuals,
        }
    }

    /// Whether a run is active: its group is, and so is what starts the group for this run.
    fn runs(&self, physical: usize, run: usize) -> bool {
        let own = self.physical(physical);
        let starts = &own.starts[run];
        self.high(own.runs[run])
            && (starts.is_empty() || starts.iter().any(|&slot| self.high(slot)))
    }

    /// The cell that `cell` is: itself, or what it stands for; `None` for a `ref` cell that nobody
    /// handed over.
    fn resolve(
        &self,
        physical: usize,
        instance: InstanceId,
        active: &Active,
        cell: CellId,
    ) -> Option<(Holder, CellId)> {
        if self.component(physical).cell(cell).is_reference() {
            let mut actuals = active.actuals.iter();
            actuals
                .find(|(formal, _)| *formal == cell)
                .map(|known| known.1)
        } else {
            let holder = Holder { physical, instance };
            Some((holder, cell))
        }
    }

    /// What the `ref` cells of `cell`'s component stand for while `call` is made.
    fn actuals(
        &self,
        physical: usize,
        instance: InstanceId,
        active: &Active,
        call: CallId,
        cell: CellId,
    ) -> Actuals {
        let component = self.component(physical);
        let caller = component.calls[call.index()].caller;
        let invoke = caller.and_then(|run| component.run(run).control);
        let invoke = invoke.map(|node| component.node(node)).filter(|node| {
            let invoked = node.cell.map(|cell| &component.cell(cell).kind);
            invoked == Some(&component.cell(cell).kind)
        });
        let bindings = invoke.map_or(&[][..], |node| &node.bindings);
        let actual = |binding: &Binding| {
            let actual = self.resolve(physical, instance, active, binding.actual)?;
            Some((binding.formal, actual))
        };
        bindings.iter().filter_map(actual).collect()
    }

    fn warn(&mut self, physical: usize, slot: usize, outlives: bool) {
        if self.engine.warned.insert((physical, slot)) {
            let text = if outlives {
                "the called cell goes on after the group that started it; it is still shown below it"
            } else {
                "is high while the group that makes the call is not active; ignored"
            };
            self.engine.events.push(Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(self.engine.cycle),
                signal: self.engine.layout.table.watched[slot].to_string(),
                text: text.to_owned(),
            })));
        }
    }

    /// What an active state machine does: the group that runs in its state; or, if none does, the
    /// statement that its transition is for.
    fn machine(
        &self,
        physical: usize,
        group: &CompiledGroup,
        register: RegisterId,
        states: &[State],
        last: u64,
    ) -> Result<CompiledId, Option<ControlId>> {
        let own = self.physical(physical);
        let slot = own.registers[register.index()];
        let (now, next) = (self.engine.now[slot], self.engine.next[slot]);
        match state(states, now) {
            Some(child) if self.high(own.compiled[child.index()]) => Ok(child),
            _ => {
                let component = self.component(physical);
                Err(transition(component, group, states, last, now, next))
            }
        }
    }

    /// Adds the control nodes that an active compilation group stands for.
    fn compiled(&self, physical: usize, id: CompiledId, controls: &mut BTreeSet<ControlId>) {
        let component = self.component(physical);
        let own = self.physical(physical);
        if !self.high(own.compiled[id.index()]) {
            return;
        }
        let group = component.compiled(id);
        if let Some(node) = group.node {
            controls.extend(component.ancestry(node));
        }
        match &group.kind {
            CompiledKind::Leaf => {}
            CompiledKind::Par { arms } => {
                for arm in arms {
                    self.compiled(physical, arm.child, controls);
                }
            }
            CompiledKind::Fsm {
                register,
                states,
                last,
            } => match self.machine(physical, group, *register, states, *last) {
                Ok(child) => self.compiled(physical, child, controls),
                Err(node) => {
                    controls.extend(node.into_iter().flat_map(|node| component.ancestry(node)));
                }
            },
        }
    }

    fn activity(&self, physical: usize, active: &Active, position: Option<u64>) -> Activity {
        let component = self.component(physical);
        let role = |run: RunId| component.run(run).role;
        let helps = |role| matches!(role, RunRole::Condition | RunRole::Control);
        let calls = active.calls.iter().any(|&call| {
            let caller = component.calls[call.index()].caller;
            !caller.is_some_and(|caller| helps(role(caller)))
        });
        let works = active.runs.iter().any(|&run| {
            let group = component.run(run).group;
            !helps(role(run))
                && (role(run) == RunRole::Body || component.group(group).origin != Origin::Compiler)
        });
        // Without control there is nothing but computation.
        if calls || works || component.control.is_empty() {
            Activity::Useful
        } else if active
            .runs
            .iter()
            .any(|&run| role(run) == RunRole::Condition)
        {
            Activity::Condition
        } else {
            Activity::Overhead(self.charge(physical, active, position))
        }
    }

    /// The kind of an overhead cycle, and the statement to charge.
    fn charge(&self, physical: usize, active: &Active, position: Option<u64>) -> Charge {
        let component = self.component(physical);
        let own = self.physical(physical);
        let (statement, place) = match component.root {
            Some(root) if self.high(own.compiled[root.index()]) => self.blame(physical, root),
            _ => {
                let scheduled = position
                    .zip(component.schedule.as_ref())
                    .and_then(|(at, schedule)| schedule.at(at));
                let whole = (!component.control.is_empty()).then(|| ControlId::from_index(0));
                (scheduled.or(whole), Place::Outside)
            }
        };
        // A helper of the compiler knows better.
        let helped = active
            .runs
            .iter()
            .filter(|&&run| component.run(run).role == RunRole::Control)
            .find_map(|&run| component.run(run).control);
        let helps = |kind| helped.is_some_and(|node| component.node(node).kind == kind);
        let changes = |kind: RegisterKind| {
            self.physical(physical)
                .registers
                .iter()
                .zip(&component.registers)
                .any(|(&slot, register)| {
                    register.kind == kind && self.engine.now[slot] != self.engine.next[slot]
                })
        };
        let steps =
            place == Place::Transition || helps(ControlKind::Repeat) || changes(RegisterKind::Fsm);
        let kind = match (steps, changes(RegisterKind::ParDone)) {
            (true, true) => Overhead::Both,
            (true, false) => Overhead::FsmUpdate,
            (false, true) => Overhead::ParDone,
            (false, false) => match place {
                _ if helps(ControlKind::Empty) => Overhead::Barrier,
                _ if component.latency.is_some() => Overhead::StaticWait,
                Place::Leaf if helped.is_none() => Overhead::StaticWait,
                Place::Outside => Overhead::StartFinish,
                _ => Overhead::Other,
            },
        };
        Charge {
            kind,
            statement: helped.or(statement),
        }
    }

    /// Where control is that runs nothing useful: the statement to charge, from the active
    /// compilation group `id` downwards.
    fn blame(&self, physical: usize, id: CompiledId) -> (Option<ControlId>, Place) {
        let component = self.component(physical);
        let own = self.physical(physical);
        let group = component.compiled(id);
        match &group.kind {
            CompiledKind::Leaf => {
                let own = |island: &&Island<'_>| (island.physical, island.group) == (physical, id);
                let island = self.engine.islands.iter().find(own);
                let scheduled = island.and_then(|island| island.schedule.at(island.position?));
                (scheduled.or(group.node), Place::Leaf)
            }
            CompiledKind::Par { arms } => {
                let slot = |arm: &Arm| own.compiled[arm.child.index()];
                let running = || arms.iter().filter(|arm| self.high(slot(arm)));
                // The arms that end now wait for those that go on.
                let longest = running()
                    .find(|arm| self.engine.next[slot(arm)] == 1)
                    .or_else(|| running().next());
                match longest {
                    Some(arm) => self.blame(physical, arm.child),
                    None => (group.node, Place::Par),
                }
            }
            CompiledKind::Fsm {
                register,
                states,
                last,
            } => match self.machine(physical, group, *register, states, *last) {
                Ok(child) => self.blame(physical, child),
                Err(statement) => (statement, Place::Transition),
            },
        }
    }

    /// The control nodes and groups right below `parent` (`None`: the cell).
    fn level(
        &mut self,
        physical: usize,
        instance: InstanceId,
        active: &Active,
        parent: Option<ControlId>,
        depth: usize,
    ) {
        let component = self.component(physical);
        let id = self.physical(physical).component;
        let framed = |node: ControlId| !component.node(node).kind.is_enable();
        for &control in &active.controls {
            if framed(control) && component.node(control).parent == parent {
                self.nodes.push((
                    depth,
                    Node::Control {
                        component: id,
                        control,
                    },
                ));
                self.level(physical, instance, active, Some(control), depth + 1);
            }
        }
        let mut below: BTreeSet<RunId> = BTreeSet::new();
        for &run in &active.runs {
            let above = match component.run(run).control {
                Some(control) => component.ancestry(control).find(|&node| framed(node)),
                None if Self::has_caller(component, active, run) => continue,
                None => None,
            };
            if above == parent {
                below.insert(run);
            }
        }
        // A group that has ended, but whose callee goes on.
        for &call in &active.calls {
            if let Some(caller) = component.calls[call.index()].caller
                && !active.runs.contains(&caller)
            {
                let above = component
                    .run(caller)
                    .control
                    .and_then(|c| component.ancestry(c).find(|&node| framed(node)));
                let above = above.filter(|node| active.controls.contains(node));
                if above == parent {
                    below.insert(caller);
                }
            }
        }
        for run in below {
            self.group(physical, instance, active, run, depth);
        }
    }

    fn has_caller(component: &Component, active: &Active, run: RunId) -> bool {
        active
            .calls
            .iter()
            .any(|call| component.calls[call.index()].callee == Callee::Group(run))
    }

    fn group(
        &mut self,
        physical: usize,
        instance: InstanceId,
        active: &Active,
        run: RunId,
        depth: usize,
    ) {
        let component = self.component(physical);
        let id = self.physical(physical).component;
        let known = component.run(run);
        self.nodes.push((
            depth,
            Node::Group {
                component: id,
                group: known.group,
                run,
            },
        ));
        let mut below = depth + 1;
        if let Some(part) = known.part.filter(|&part| part != known.group) {
            self.nodes.push((
                below,
                Node::Group {
                    component: id,
                    group: part,
                    run,
                },
            ));
            below += 1;
        }
        let calls: Vec<CallId> = active
            .calls
            .iter()
            .copied()
            .filter(|call| component.calls[call.index()].caller == Some(run))
            .collect();
        self.callees(physical, instance, active, &calls, below);
    }

    fn callees(
        &mut self,
        physical: usize,
        instance: InstanceId,
        active: &Active,
        calls: &[CallId],
        depth: usize,
    ) {
        let component = self.component(physical);
        let id = self.physical(physical).component;
        let mut seen: Vec<CellId> = Vec::new();
        for &call in calls {
            match component.calls[call.index()].callee {
                Callee::Group(run) => {
                    if active.runs.contains(&run) {
                        self.group(physical, instance, active, run, depth);
                    }
                }
                Callee::Cell(cell) => {
                    if seen.contains(&cell) {
                        continue;
                    }
                    seen.push(cell);
                    if let CellKind::Component(_) = component.cell(cell).kind {
                        self.component_cell(physical, instance, active, (call, cell), depth);
                        continue;
                    }
                    let is_reference = component.cell(cell).is_reference();
                    let actual = self.resolve(physical, instance, active, cell);
                    let actual = actual.filter(|_| is_reference);
                    self.nodes.push((
                        depth,
                        Node::Primitive {
                            component: id,
                            cell,
                            actual: actual.map(|(holder, cell)| (holder.instance, cell)),
                        },
                    ));
                }
            }
        }
    }

    fn component_cell(
        &mut self,
        physical: usize,
        instance: InstanceId,
        active: &Active,
        (call, cell): (CallId, CellId),
        depth: usize,
    ) {
        let Some((holder, actual)) = self.resolve(physical, instance, active, cell) else {
            return;
        };
        let Some(child) = self.physical(holder.physical).cells[actual.index()] else {
            return;
        };
        let component = self.physical(child).component;
        let inner = self.engine.instance(Instance {
            component,
            parent: Some((holder.instance, actual)),
        });
        let own = self.physical(physical).component;
        let is_reference = self.component(physical).cell(cell).is_reference();
        let mut position = None;
        if let Some(latency) = self.engine.metadata.component(component).latency {
            let left = self
                .engine
                .pending
                .iter()
                .find(|p| p.physical == physical && p.call == call.index())
                .map_or(latency, |p| p.left);
            position = Some(latency - left);
            if left > 1 {
                let next = Pending {
                    physical,
                    call: call.index(),
                    left: left - 1,
                };
                if !self.pending.contains(&next) {
                    self.pending.push(next);
                }
            }
        }
        let entry = Entry {
            physical: child,
            instance: inner,
            formal: is_reference.then_some((own, cell)),
            actuals: self.actuals(physical, instance, active, call, cell),
            position,
        };
        self.cell(entry, depth);
    }
}
