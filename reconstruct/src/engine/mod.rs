//! From the probe values of each cycle to the events of a trace.
//!
//! Owns the order of a run: values come in, trees, register updates and warnings go out, and what is
//! known already is not worked out again. What is in a tree is the matter of `tree.rs`; what a cell's
//! cycle is for, of `charge.rs`; static control is followed by `statics.rs`; `samples.rs` numbers values.

mod charge;
mod samples;
mod statics;
mod tree;

use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt as _};
use petal_metadata::{Id, Metadata, RegisterId};
use thiserror::Error;

use self::charge::CycleView;
use self::samples::Samples;
use self::statics::{Pending, StaticProgram};
use self::tree::{Built, Owners};
use crate::contradictions::{self, Contradiction, Values};
use crate::model::{
    CallTree, Cycle, Event, Instance, InstanceId, Node, RegisterUpdate, Run, TreeId, Warning,
};
use crate::signals::{Layout, SignalTable};
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
                engine
                    .emitter
                    .events
                    .push(Event::Warning(Box::new(warning)));
            }
            engine.step();
            running = source.next_cycle()?;
            engine.take(source.changes());
            engine.cycle();
            for event in engine.emitter.events.drain(..) {
                sink(event).map_err(ReconstructError::Sink)?;
            }
        }
        let cycles = engine.emitter.cycle;
        if let Some(found) = contradictions::at_the_end(self.metadata, &self.layout, &engine.next) {
            engine.emitter.contradiction(found);
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
const MAX_KNOWN: usize = 1 << 16;

/// What follows from the values of a cycle.
#[derive(Debug)]
struct Outcome {
    tree: TreeId,
    owners: Owners,
    /// Static components that go on in the next cycle.
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
    /// What else determines a tree: the numbers of `pending` and the statements of `programs`. 0:
    /// nothing.
    contexts: HashMap<Box<[u64]>, u32>,
    /// The latest of them.
    context: Vec<u64>,
    /// Numbers of a sample, of the next one, and of the context → what follows, for the latest ones.
    known: HashMap<(u32, u32, u32), Rc<Outcome>>,
    /// The latest samples and context after which no static component goes on, and their tree.
    latest: Option<((u32, u32, u32), TreeId)>,
    current: Option<Run>,
    emitter: Emitter<'a>,
    registers: Vec<(usize, RegisterId, usize)>,
    /// The register behind each slot.
    register_of: Vec<Option<usize>>,
    /// Registers that are updated at the end of the cycle.
    updated: Vec<usize>,
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
        let mut engine = Self {
            now: vec![0; slots],
            next: vec![0; slots],
            changed: Vec::new(),
            samples: Samples::of(metadata, layout),
            sample_now: 0,
            sample_next: 0,
            contexts: HashMap::default(),
            context: Vec::new(),
            known: HashMap::default(),
            latest: None,
            metadata,
            layout,
            last_instance: vec![None; layout.instances.len()],
            pending: Vec::new(),
            programs: StaticProgram::all(metadata, layout),
            trees: HashMap::default(),
            current: None,
            emitter: Emitter::new(layout),
            registers,
            register_of,
            updated: Vec::new(),
        };
        let main = engine.emitter.instance(Instance {
            component: metadata.main,
            parent: None,
        });
        engine.last_instance[0] = Some(main);
        engine
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
        for program in &mut self.programs {
            program.advance(&self.now);
        }
        let tree = self.tree();
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
                .filter_map(|&slot| self.register_of[slot]),
        );
        updated.sort_unstable();
        for at in updated.drain(..) {
            let (physical, register, slot) = self.registers[at];
            let instance = self.owner(physical);
            self.emitter.events.push(Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(self.emitter.cycle),
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
        let instance = self.emitter.instance(Instance { component, parent });
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
        for (number, program) in self.programs.iter().enumerate() {
            if program.is_active() {
                let waits = program.statement();
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

    /// Works out what follows from the values of the cycle and of the next one.
    fn build(&mut self) -> Outcome {
        let cycle = CycleView {
            metadata: self.metadata,
            layout: self.layout,
            now: &self.now,
            next: &self.next,
            programs: &self.programs,
            pending: &self.pending,
        };
        let Built {
            nodes,
            owners,
            pending,
        } = tree::build(cycle, &mut self.emitter);
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
            owners,
            pending,
        }
    }

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
            self.emitter.contradiction(found);
        }
    }
}

/// The events of a run on their way out: each instance once, and each signal that is odd once.
struct Emitter<'a> {
    layout: &'a Layout,
    /// The cycle that comes next.
    cycle: u64,
    instances: HashMap<Instance, InstanceId>,
    warned: BTreeSet<(usize, usize)>,
    events: Vec<Event>,
}

impl<'a> Emitter<'a> {
    fn new(layout: &'a Layout) -> Self {
        Self {
            layout,
            cycle: 0,
            instances: HashMap::new(),
            warned: BTreeSet::new(),
            events: Vec::new(),
        }
    }

    /// The handle of an instance, which is told if it is new.
    fn instance(&mut self, instance: Instance) -> InstanceId {
        let next = InstanceId::from_index(self.instances.len());
        *self.instances.entry(instance).or_insert_with(|| {
            self.events.push(Event::Instance(instance));
            next
        })
    }

    /// Warns of a signal of a hardware instance, once.
    fn warn(&mut self, physical: usize, slot: usize, text: &str) {
        if self.warned.insert((physical, slot)) {
            self.events.push(Event::Warning(Box::new(Warning {
                cycle: Cycle::from_cycles(self.cycle),
                signal: self.layout.table.watched[slot].to_string(),
                text: text.to_owned(),
            })));
        }
    }

    fn contradiction(&mut self, (physical, slot, text): Contradiction) {
        self.warn(physical, slot, text);
    }
}
