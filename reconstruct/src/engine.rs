//! From the probe values of each cycle to the events of a trace.
//!
//! Owns the order of a run: values come in, trees, register updates and warnings go out, and what follows
//! from equal values is computed once. `tree.rs` decides what is in a tree, `charge.rs` what a cell's
//! cycle is for; `cells.rs` names the groups behind a warning; `statics.rs` follows static control; `samples.rs` numbers values; `memo.rs` remembers steps.

mod cells;
mod charge;
mod emitter;
mod memo;
mod samples;
mod statics;
mod tree;

use std::rc::Rc;

use foldhash::HashMap;
use petal_metadata::{ControlId, Id as _, Metadata, RegisterId};
use thiserror::Error;

use self::charge::CycleView;
use self::emitter::Emitter;
use self::memo::{Memo, State};
use self::samples::Samples;
use self::statics::{Pending, StaticProgram};
use self::tree::{Built, Owners};
use crate::contradictions::{self, Values};
use crate::model::{
    CallTree, Cycle, Event, Instance, InstanceId, Node, RegisterUpdate, Run, TreeId,
};
use crate::observer::{Next, Observer};
use crate::signals::{Layout, PhysicalId, SignalTable, SlotId};
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

/// How far a run is.
pub struct Progress<'a> {
    trees: &'a HashMap<Vec<(usize, Node)>, TreeId>,
    run: Option<Run>,
}

impl Progress<'_> {
    /// The number of cycles so far.
    pub fn cycles(&self) -> u64 {
        let run = self.run.as_ref();
        run.map_or(0, |run| run.start.cycles() + run.cycles)
    }

    /// The innermost groups and statements that are active. It takes a while to find them.
    pub fn active(&self) -> Vec<Node> {
        let is_work = |node: &Node| matches!(node, Node::Control { .. } | Node::Group { .. });
        let tree = self.run.map(|run| run.tree);
        let nodes = self.trees.iter().find(|&(_, id)| Some(*id) == tree);
        let nodes = nodes.map_or(&[][..], |(nodes, _)| nodes);
        let innermost = nodes.iter().enumerate().filter(|&(at, (depth, node))| {
            let mut below = nodes[at + 1..]
                .iter()
                .take_while(|(below, _)| below > depth);
            is_work(node) && !below.any(|(_, node)| is_work(node))
        });
        innermost.map(|(_, &(_, node))| node).collect()
    }
}

/// Cycles between two looks at the progress of a run: a prime, so that they do not meet a loop at the same place
/// again and again.
const PROGRESS: u64 = 8191;

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
        self.follow(source, sink, None, &mut |_| {})
    }

    /// The same; `observer` looks on, and may end the run, and `progress` hears now and then how far it is.
    pub(crate) fn follow<E>(
        &self,
        source: &mut impl ProbeSource,
        sink: &mut impl FnMut(Event) -> Result<(), E>,
        mut observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<u64, ReconstructError<E>> {
        let mut engine = Engine::new(self.metadata, &self.layout);
        let mut running = source.next_cycle()?;
        engine.take(source.changes());
        let mut warnings = source.take_warnings();
        while running {
            engine.step();
            running = source.next_cycle()?;
            engine.take(source.changes());
            let told = engine.emitter.events.len();
            engine.cycle();
            warnings.append(&mut source.take_warnings());
            if !warnings.is_empty() {
                engine.warn(&mut warnings, told);
            }
            let stops = observer
                .as_deref_mut()
                .is_some_and(|observer| engine.observe(observer) == Next::Stop);
            for event in engine.emitter.events.drain(..) {
                sink(event).map_err(ReconstructError::Sink)?;
            }
            if engine.emitter.cycle.is_multiple_of(PROGRESS) {
                progress(&Progress {
                    trees: &engine.trees,
                    run: engine.current,
                });
            }
            if stops {
                break;
            }
        }
        let cycles = engine.emitter.cycle;
        engine.warn_of_end(&mut warnings);
        let last = contradictions::at_the_end(self.metadata, &self.layout, &engine.next);
        if let Some(contradiction) = last.filter(|_| !running && source.is_done()) {
            engine.emitter.contradiction(contradiction);
        }
        engine.flush();
        engine.emitter.events.push(Event::End { cycles });
        for event in engine.emitter.events.drain(..) {
            sink(event).map_err(ReconstructError::Sink)?;
        }
        Ok(cycles)
    }
}

/// How many samples, and pairs of them, are remembered. Control registers that run freely beside each
/// other can have as many different values as the run has cycles.
const MAX_REMEMBERED: usize = 1 << 16;

/// What follows from the values of a cycle.
#[derive(Debug)]
struct Outcome {
    tree: TreeId,
    owners: Rc<Owners>,
    /// Static components that continue in the next cycle.
    pending: Vec<Pending>,
}

/// The state of a run between two cycles.
struct Engine<'a> {
    metadata: &'a Metadata,
    layout: &'a Layout,
    /// The source instance under which each hardware instance was last active.
    last_instance: Vec<Option<InstanceId>>,
    pending: Vec<Pending>,
    programs: Vec<StaticProgram<'a>>,
    /// The numbers of those that run, and whether others may in the next cycle; the slots that tell that.
    running: Vec<usize>,
    programs_change: bool,
    is_program: Vec<bool>,
    trees: HashMap<Vec<(usize, Node)>, TreeId>,
    /// The values of a cycle and of the one after it.
    now: Vec<u64>,
    next: Vec<u64>,
    /// What leads from the one to the other.
    changed: Vec<Change>,
    /// What followed before, and the step that is taken again, if one is. `is_stale`: such steps left the samples, the
    /// context and what follows from it behind.
    memo: Memo,
    step: Option<usize>,
    is_stale: bool,
    /// The numbers of the two.
    samples: Samples,
    sample_now: u32,
    sample_next: u32,
    /// What else determines a tree: the numbers of `pending` and the statements of `programs`. 0:
    /// nothing.
    contexts: HashMap<Box<[u64]>, u32>,
    /// The latest of them.
    context: Vec<u64>,
    /// Numbers of a sample, of the next one, and of the context → what follows, for the latest ones.
    outcomes: HashMap<(u32, u32, u32), Outcome>,
    current: Option<Run>,
    emitter: Emitter<'a>,
    registers: Vec<Register>,
    /// The position in `registers` of the register behind each slot.
    register_of: Vec<Option<usize>>,
    /// Positions of the registers that are updated at the end of the cycle.
    updated: Vec<usize>,
    /// The changes of observed values in the cycle and in the one after it.
    observed_now: Vec<Change>,
    observed_next: Vec<Change>,
    /// What the observer saw last, and when it wants to look again.
    seen: Option<TreeId>,
    look: Next,
}

/// A control register of a hardware instance.
struct Register {
    physical: PhysicalId,
    id: RegisterId,
    slot: SlotId,
}

impl<'a> Engine<'a> {
    fn new(metadata: &'a Metadata, layout: &'a Layout) -> Self {
        let registers: Vec<Register> = layout
            .instances()
            .flat_map(|(physical, instance)| {
                let slots = instance.registers.iter().enumerate();
                slots.map(move |(at, &slot)| Register {
                    physical,
                    id: RegisterId::from_index(at),
                    slot,
                })
            })
            .collect();
        let slots = layout.table.watched.len();
        let mut register_of = vec![None; slots];
        for (at, register) in registers.iter().enumerate() {
            register_of[register.slot.index()] = Some(at);
        }
        let programs = StaticProgram::all(metadata, layout);
        let mut is_program = vec![false; slots];
        for program in &programs {
            is_program[program.slot().index()] = true;
        }
        let mut engine = Self {
            now: vec![0; slots],
            next: vec![0; slots],
            changed: Vec::new(),
            memo: Memo::default(),
            step: None,
            is_stale: false,
            samples: Samples::of(metadata, layout),
            sample_now: 0,
            sample_next: 0,
            contexts: HashMap::default(),
            context: Vec::new(),
            outcomes: HashMap::default(),
            metadata,
            layout,
            last_instance: layout.for_each_instance(None),
            pending: Vec::new(),
            programs,
            running: Vec::new(),
            programs_change: false,
            is_program,
            trees: HashMap::default(),
            current: None,
            emitter: Emitter::new(layout),
            registers,
            register_of,
            updated: Vec::new(),
            observed_now: Vec::new(),
            observed_next: Vec::new(),
            seen: None,
            look: Next::Change,
        };
        let main = engine.emitter.instance(Instance {
            component: metadata.main,
            parent: None,
        });
        engine.last_instance[Layout::main().index()] = Some(main);
        engine
    }

    /// Takes in what leads from the latest cycle to the next one.
    fn take(&mut self, changes: &[Change]) {
        for &Change { slot, value } in changes {
            // What is observed comes after the probes, and no tree depends on it.
            if let Some(number) = slot.index().checked_sub(self.next.len()) {
                let slot = SlotId::from_index(number);
                self.observed_next.push(Change { slot, value });
                continue;
            }
            self.next[slot.index()] = value;
            self.changed.push(Change { slot, value });
        }
        self.step = self.memo.find(&self.changed);
        if self.step.is_some() {
            self.is_stale = true;
            return;
        }
        if std::mem::take(&mut self.is_stale) {
            self.restore();
        }
        for &Change { slot, value } in &self.changed {
            self.samples.set(slot, value);
        }
        if self.memo.is_full() {
            self.memo.forget();
        }
        let most = self.samples.numbers.len();
        let most = most.max(self.contexts.len()).max(self.outcomes.len());
        if most >= MAX_REMEMBERED {
            self.forget();
        } else if self.samples.changed {
            self.sample_next = self.samples.number();
        }
    }

    /// Catches up with the steps that were taken again.
    fn restore(&mut self) {
        let state = self.memo.state().expect("a step led there");
        self.sample_now = state.sample;
        self.sample_next = state.sample;
        self.pending.clone_from(&state.pending);
        for program in &mut self.programs {
            program.set_position(None);
        }
        for &(number, position) in &state.running {
            self.programs[number].set_position(Some(position));
        }
        self.programs_change = true;
        for (slot, &value) in self.now.iter().enumerate() {
            self.samples.set(SlotId::from_index(slot), value);
        }
    }

    /// Forgets all samples, contexts and outcomes. The samples of this cycle and the next one get new
    /// numbers.
    fn forget(&mut self) {
        self.samples.numbers.clear();
        self.contexts.clear();
        self.outcomes.clear();
        self.memo.forget();
        let next = self.samples.words.clone();
        for &Change { slot, .. } in &self.changed {
            self.samples.set(slot, self.now[slot.index()]);
        }
        self.sample_now = self.samples.number();
        self.samples.words = next;
        self.sample_next = self.samples.number();
    }

    /// Goes to the next cycle, which is taken in already.
    fn step(&mut self) {
        for Change { slot, .. } in self.changed.drain(..) {
            self.now[slot.index()] = self.next[slot.index()];
            self.programs_change |= self.is_program[slot.index()];
        }
        self.sample_now = self.sample_next;
        self.observed_now.clear();
        std::mem::swap(&mut self.observed_now, &mut self.observed_next);
    }

    /// Lets an observer look at the cycle that was told last.
    fn observe(&mut self, observer: &mut dyn Observer) -> Next {
        for event in &self.emitter.events {
            if matches!(event, Event::Instance(_) | Event::Tree(_)) {
                observer.event(event);
            }
        }
        let cycle = Cycle::from_cycles(self.emitter.cycle - 1);
        let tree = self.current.map(|run| run.tree);
        let due = self.look == Next::At(cycle);
        if let Some(now) = tree
            && (due || tree != self.seen || !self.observed_now.is_empty())
        {
            self.seen = tree;
            self.look = observer.cycle(cycle, now, &self.observed_now);
        }
        self.look
    }

    /// Tells what happens in a cycle.
    fn cycle(&mut self) {
        let (tree, owners) = match self.step.take() {
            Some(step) => {
                let step = self.memo.take(step);
                (step.tree, Rc::clone(&step.owners))
            }
            None => self.work_out(),
        };
        for &(physical, instance) in &*owners {
            self.last_instance[physical.index()] = Some(instance);
        }
        self.updates();
        match &mut self.current {
            Some(run) if run.tree == tree => run.cycles += 1,
            _ => {
                self.flush();
                let start = Cycle::from_cycles(self.emitter.cycle);
                self.current = Some(Run {
                    tree,
                    start,
                    cycles: 1,
                });
            }
        }
        self.emitter.cycle += 1;
    }

    /// Works out what follows from the values of the cycle and of the next one, and remembers it.
    fn work_out(&mut self) -> (TreeId, Rc<Owners>) {
        self.advance();
        let (tree, owners) = self.tree();
        if !self.memo.is_on() {
            return (tree, owners);
        }
        let running = self.running.iter();
        let running =
            running.filter_map(|&number| Some((number, self.programs[number].position()?)));
        let next = State {
            sample: self.sample_next,
            pending: self.pending.clone(),
            running: running.collect(),
        };
        let remembered = Rc::clone(&owners);
        self.memo.remember(&self.changed, tree, remembered, next);
        (tree, owners)
    }

    /// Takes the static programs to the cycle.
    fn advance(&mut self) {
        if std::mem::take(&mut self.programs_change) {
            self.running.clear();
            for (number, program) in self.programs.iter_mut().enumerate() {
                program.advance(&self.now);
                if program.is_active() {
                    self.running.push(number);
                }
            }
        } else {
            for &number in &self.running {
                self.programs[number].advance(&self.now);
            }
        }
    }

    /// Hands out the run of equal cycles that has ended.
    fn flush(&mut self) {
        if let Some(run) = self.current.take() {
            self.emitter.events.push(Event::Run(run));
        }
    }

    /// Hands out the changes of control registers at the end of the cycle.
    fn updates(&mut self) {
        let mut updated = std::mem::take(&mut self.updated);
        updated.extend(
            self.changed
                .iter()
                .filter_map(|change| self.register_of[change.slot.index()]),
        );
        updated.sort_unstable();
        for at in updated.drain(..) {
            let Register { physical, id, slot } = self.registers[at];
            let instance = self.owner(physical);
            self.emitter.events.push(Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(self.emitter.cycle),
                instance,
                register: id,
                old: self.now[slot.index()],
                new: self.next[slot.index()],
            }));
        }
        self.updated = updated;
    }

    /// The source instance that a hardware instance last worked for.
    fn owner(&mut self, physical: PhysicalId) -> InstanceId {
        if let Some(instance) = self.last_instance[physical.index()] {
            return instance;
        }
        let hardware = self.layout.physical(physical);
        let parent = hardware
            .parent
            .map(|(parent, cell)| (self.owner(parent), cell));
        let component = hardware.component;
        let instance = self.emitter.instance(Instance { component, parent });
        self.last_instance[physical.index()] = Some(instance);
        instance
    }

    /// The tree of a cycle, and who works for whom in it.
    fn tree(&mut self) -> (TreeId, Rc<Owners>) {
        let key = (self.sample_now, self.sample_next, self.context());
        let outcome = match self.outcomes.get(&key) {
            Some(outcome) => outcome,
            None => {
                let outcome = self.build();
                self.outcomes.entry(key).or_insert(outcome)
            }
        };
        self.pending.clone_from(&outcome.pending);
        (outcome.tree, Rc::clone(&outcome.owners))
    }

    /// The number of what determines a tree beside the samples. Of a static program's position, that
    /// are the statements that run there, in whatever branch.
    fn context(&mut self) -> u32 {
        let key = &mut self.context;
        key.clear();
        for pending in &self.pending {
            let Pending {
                physical,
                call,
                left,
            } = *pending;
            key.extend([physical.index() as u64, call.index() as u64, left]);
        }
        for &number in &self.running {
            key.push(number as u64);
            if let Some((schedule, position)) = self.programs[number].running() {
                let mut add = |statement: ControlId| key.push(statement.index() as u64);
                schedule.visit(position, &|_| true, &mut add);
            }
            key.push(u64::MAX);
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

    /// The nodes of the cycle's tree.
    fn built(&mut self) -> Built {
        let cycle = CycleView {
            metadata: self.metadata,
            layout: self.layout,
            now: &self.now,
            next: &self.next,
            programs: &self.programs,
            pending: &self.pending,
        };
        tree::build(cycle, &mut self.emitter)
    }

    /// Works out what follows from the values of the cycle and of the next one.
    fn build(&mut self) -> Outcome {
        let Built {
            nodes,
            owners,
            pending,
        } = self.built();
        self.tell_contradictions(&owners);
        let tree = match self.trees.get(&nodes) {
            Some(&tree) => tree,
            None => {
                let tree = TreeId::from_index(self.trees.len());
                let call_tree = CallTree::from_preorder(nodes.iter().copied())
                    .expect("the builder goes down one level at a time");
                self.emitter.events.push(Event::Tree(Box::new(call_tree)));
                self.trees.insert(nodes, tree);
                tree
            }
        };
        Outcome {
            tree,
            owners: Rc::new(owners),
            pending,
        }
    }

    /// Tells what can't be in the cycle, in which these hardware instances run.
    fn tell_contradictions(&mut self, owners: &Owners) {
        let mut running = self.layout.for_each_instance(false);
        for &(physical, _) in owners {
            running[physical.index()] = true;
        }
        let values = Values {
            now: &self.now,
            next: &self.next,
        };
        let contradictions = contradictions::find(self.metadata, self.layout, values, &running);
        for contradiction in contradictions {
            self.emitter.contradiction(contradiction);
        }
    }
}
