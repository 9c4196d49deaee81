//! The rules that turn the probe values of each cycle into call trees.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use petal_metadata::{
    Arm, CallId, Callee, CellId, CompiledGroup, CompiledId, CompiledKind, Component, ControlId,
    ControlKind, Id, Metadata, Origin, RegisterId, RegisterKind, RunId, RunRole, State,
};
use thiserror::Error;

use crate::model::{
    Activity, CallTree, Charge, Cycle, Event, Instance, InstanceId, Node, Overhead, RegisterUpdate,
    Run, TreeId, Warning,
};
use crate::signals::{Layout, Physical, SignalTable};
use crate::source::{ProbeSource, SourceError};

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
        let mut now = source.values().to_vec();
        let mut changed = true;
        while running {
            for warning in source.take_warnings() {
                engine.events.push(Event::Warning(warning));
            }
            running = source.next_cycle()?;
            let next_changed = source.changed();
            engine.cycle(&now, source.values(), changed || next_changed);
            if next_changed {
                now.copy_from_slice(source.values());
            }
            changed = next_changed;
            for event in engine.events.drain(..) {
                sink(event).map_err(ReconstructError::Sink)?;
            }
        }
        let cycles = engine.cycle;
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

/// How many cycles' outcomes are remembered. Control registers that run freely beside each other can
/// have as many different values as the run has cycles.
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
    /// Static programs with a schedule: hardware instance, compilation group, slot of its probe.
    islands: Vec<(usize, CompiledId, usize)>,
    /// For each of them, cycles since it became active, modulo its latency; `None` if it is not.
    positions: Vec<Option<u64>>,
    trees: HashMap<Vec<(usize, Node)>, TreeId>,
    /// All that determines a tree → the tree, for the latest ones.
    known: HashMap<Vec<u64>, Rc<Outcome>>,
    /// Slots of probes and of FSM and par-done registers, whose values determine a tree.
    deciding: Vec<usize>,
    /// Slots whose next values matter too: those of the registers, and of the probes of arms.
    control_slots: Vec<usize>,
    current: Option<Run>,
    last_key_tree: Option<TreeId>,
    events: Vec<Event>,
    warned: BTreeSet<(usize, usize)>,
    registers: Vec<(usize, RegisterId, usize)>,
}

/// The values of one cycle and of the one after.
#[derive(Clone, Copy)]
struct Values<'v> {
    now: &'v [u64],
    next: &'v [u64],
}

impl<'a> Engine<'a> {
    fn new(metadata: &'a Metadata, layout: &'a Layout) -> Self {
        let registers = layout
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
        let mut control_slots: Vec<usize> = layout
            .instances
            .iter()
            .flat_map(|physical| {
                let registers = &metadata.component(physical.component).registers;
                physical.registers.iter().zip(registers)
            })
            .filter(|(_, register)| register.kind != RegisterKind::StaticFsm)
            .map(|(&slot, _)| slot)
            .collect();
        let probes = layout.instances.iter().flat_map(|physical| {
            physical
                .runs
                .iter()
                .chain(&physical.calls)
                .chain(&physical.compiled)
        });
        let deciding: BTreeSet<usize> = probes.chain(&control_slots).copied().collect();
        let arms = layout.instances.iter().flat_map(|physical| {
            let groups = &metadata.component(physical.component).compiled;
            groups
                .iter()
                .filter_map(|group| match &group.kind {
                    CompiledKind::Par { arms } => Some(arms),
                    _ => None,
                })
                .flatten()
                .map(|arm| physical.compiled[arm.child.index()])
        });
        control_slots.extend(arms);
        let islands: Vec<(usize, CompiledId, usize)> = layout
            .instances
            .iter()
            .enumerate()
            .flat_map(|(at, physical)| {
                let groups = &metadata.component(physical.component).compiled;
                groups
                    .iter()
                    .enumerate()
                    .filter(|(_, group)| group.schedule.is_some())
                    .map(move |(id, _)| (at, CompiledId::from_index(id), physical.compiled[id]))
            })
            .collect();
        let mut engine = Self {
            deciding: deciding.into_iter().collect(),
            control_slots,
            metadata,
            layout,
            cycle: 0,
            instances: HashMap::new(),
            last_instance: vec![None; layout.instances.len()],
            pending: Vec::new(),
            positions: vec![None; islands.len()],
            islands,
            trees: HashMap::new(),
            known: HashMap::new(),
            current: None,
            last_key_tree: None,
            events: Vec::new(),
            warned: BTreeSet::new(),
            registers,
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

    /// Takes in one cycle; `changed` tells that it may differ from the one before.
    fn cycle(&mut self, now: &[u64], next: &[u64], changed: bool) {
        let values = Values { now, next };
        self.advance(now);
        let quiet =
            !changed && self.pending.is_empty() && !self.positions.iter().any(Option::is_some);
        let tree = match self.last_key_tree {
            Some(tree) if quiet => tree,
            _ => self.tree(values),
        };
        self.last_key_tree = Some(tree);
        self.updates(values);
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
    fn advance(&mut self, now: &[u64]) {
        for (position, &(physical, id, slot)) in self.positions.iter_mut().zip(&self.islands) {
            let component = self.layout.instances[physical].component;
            let schedule = &self.metadata.component(component).compiled(id).schedule;
            *position = schedule
                .as_ref()
                .filter(|_| now[slot] == 1)
                .and_then(|schedule| {
                    position
                        .map_or(0, |at| at + 1)
                        .checked_rem(schedule.latency)
                });
        }
    }

    fn flush(&mut self) {
        if let Some(run) = self.current.take() {
            self.events.push(Event::Run(run));
        }
    }

    fn updates(&mut self, values: Values<'_>) {
        for at in 0..self.registers.len() {
            let (physical, register, slot) = self.registers[at];
            let (old, new) = (values.now[slot], values.next[slot]);
            if old != new {
                let instance = self.owner(physical);
                self.events.push(Event::Update(RegisterUpdate {
                    cycle: Cycle::from_cycles(self.cycle),
                    instance,
                    register,
                    old,
                    new,
                }));
            }
        }
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
    fn tree(&mut self, values: Values<'_>) -> TreeId {
        let key = self.key(values);
        let outcome = match self.known.get(&key) {
            Some(outcome) => Rc::clone(outcome),
            None => {
                let outcome = Rc::new(self.build(values));
                if self.known.len() == MAX_KNOWN {
                    self.known.clear();
                }
                self.known.insert(key, Rc::clone(&outcome));
                outcome
            }
        };
        for &(physical, instance) in &outcome.owners {
            self.last_instance[physical] = Some(instance);
        }
        self.pending.clone_from(&outcome.pending);
        outcome.tree
    }

    /// All that determines a tree and what follows from it.
    fn key(&self, values: Values<'_>) -> Vec<u64> {
        let mut key = Vec::with_capacity(2 * self.deciding.len() + 3 * self.pending.len());
        key.extend(self.deciding.iter().map(|&slot| values.now[slot]));
        key.extend(self.control_slots.iter().map(|&slot| values.next[slot]));
        for pending in &self.pending {
            key.extend([pending.physical as u64, pending.call as u64, pending.left]);
        }
        for (island, position) in self.positions.iter().enumerate() {
            key.extend(position.iter().flat_map(|&at| [island as u64, at]));
        }
        key
    }

    fn build(&mut self, values: Values<'_>) -> Outcome {
        let mut builder = Builder {
            engine: self,
            values,
            nodes: Vec::new(),
            owners: Vec::new(),
            pending: Vec::new(),
        };
        builder.cell(0, InstanceId::from_index(0), None, 0);
        let Builder {
            nodes,
            owners,
            pending,
            ..
        } = builder;
        let tree = match self.trees.get(&nodes) {
            Some(&tree) => tree,
            None => {
                let tree = TreeId::from_index(self.trees.len());
                let call_tree = CallTree::from_preorder(nodes.iter().copied())
                    .expect("the builder goes down one level at a time");
                self.events.push(Event::Tree(call_tree));
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
struct Builder<'e, 'a, 'v> {
    engine: &'e mut Engine<'a>,
    values: Values<'v>,
    nodes: Vec<(usize, Node)>,
    owners: Owners,
    pending: Vec<Pending>,
}

/// What is active in one instance.
struct Active {
    runs: Vec<RunId>,
    /// Calls, with whether the caller itself is active.
    calls: Vec<CallId>,
    controls: BTreeSet<ControlId>,
}

impl<'a> Builder<'_, 'a, '_> {
    fn component(&self, physical: usize) -> &'a Component {
        self.engine
            .metadata
            .component(self.physical(physical).component)
    }

    fn physical(&self, physical: usize) -> &'a Physical {
        &self.engine.layout.instances[physical]
    }

    fn high(&self, slot: usize) -> bool {
        self.values.now[slot] == 1
    }

    /// `position` counts the cycles of a static component.
    fn cell(&mut self, physical: usize, instance: InstanceId, position: Option<u64>, depth: usize) {
        self.owners.push((physical, instance));
        let mut active = self.active(physical);
        let activity = self.activity(physical, &active, position);
        if let Activity::Overhead(Charge {
            statement: Some(statement),
            ..
        }) = activity
        {
            let component = self.component(physical);
            active.controls.extend(component.ancestry(statement));
        }
        self.nodes.push((depth, Node::Cell { instance, activity }));
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

    fn active(&mut self, physical: usize) -> Active {
        let component = self.component(physical);
        let own = self.physical(physical);
        let runs: Vec<RunId> = (0..component.runs.len())
            .filter(|&run| self.high(own.runs[run]))
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
                self.warn(physical, own.calls[at], pending);
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
        }
    }

    fn warn(&mut self, physical: usize, slot: usize, outlives: bool) {
        if self.engine.warned.insert((physical, slot)) {
            let text = if outlives {
                "the called cell goes on after the group that started it; it is still shown below it"
            } else {
                "is high while the group that makes the call is not active; ignored"
            };
            self.engine.events.push(Event::Warning(Warning {
                cycle: Cycle::from_cycles(self.engine.cycle),
                signal: self.engine.layout.table.watched[slot].to_string(),
                text: text.to_owned(),
            }));
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
            } => {
                let slot = own.registers[register.index()];
                let (now, next) = (self.values.now[slot], self.values.next[slot]);
                match state(states, now) {
                    Some(child) if self.high(own.compiled[child.index()]) => {
                        self.compiled(physical, child, controls);
                    }
                    _ => {
                        if let Some(node) = transition(component, group, states, *last, now, next) {
                            controls.extend(component.ancestry(node));
                        }
                    }
                }
            }
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
                    register.kind == kind && self.values.now[slot] != self.values.next[slot]
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
                let islands = self.engine.islands.iter().zip(&self.engine.positions);
                let scheduled = islands
                    .filter(|((island, leaf, _), _)| (*island, *leaf) == (physical, id))
                    .find_map(|(_, position)| group.schedule.as_ref()?.at((*position)?));
                (scheduled.or(group.node), Place::Leaf)
            }
            CompiledKind::Par { arms } => {
                let slot = |arm: &Arm| own.compiled[arm.child.index()];
                let running = || arms.iter().filter(|arm| self.high(slot(arm)));
                // The arms that end now wait for those that go on.
                let longest = running()
                    .find(|arm| self.values.next[slot(arm)] == 1)
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
            } => {
                let slot = own.registers[register.index()];
                let (now, next) = (self.values.now[slot], self.values.next[slot]);
                match state(states, now) {
                    Some(child) if self.high(own.compiled[child.index()]) => {
                        self.blame(physical, child)
                    }
                    _ => (
                        transition(component, group, states, *last, now, next),
                        Place::Transition,
                    ),
                }
            }
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
                    match self.physical(physical).cells[cell.index()] {
                        Some(child) => {
                            self.component_cell(physical, instance, call, cell, child, depth);
                        }
                        None => self.nodes.push((
                            depth,
                            Node::Primitive {
                                component: id,
                                cell,
                            },
                        )),
                    }
                }
            }
        }
    }

    fn component_cell(
        &mut self,
        physical: usize,
        instance: InstanceId,
        call: CallId,
        cell: CellId,
        child: usize,
        depth: usize,
    ) {
        let component = self.physical(child).component;
        let inner = self.engine.instance(Instance {
            component,
            parent: Some((instance, cell)),
        });
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
        self.cell(child, inner, position, depth);
    }
}
