//! From the probe values of each cycle to the events of a trace.
//!
//! Owns the order of a run: values come in, trees, register updates and warnings go out, and what follows
//! from equal values is computed once. `tree.rs` decides what is in a tree, `charge.rs` what a cell's
//! cycle is for; `cells.rs` names the groups behind a warning; `statics.rs` follows static control, `programs.rs` all of it at once; `samples.rs` numbers
//! values, `contexts.rs` what else decides; `registers.rs` knows which registers are updated; `watch.rs` lets an observer look; `memo.rs` remembers steps, `rounds.rs`
//! which of them a run goes round in.

mod cells;
mod charge;
mod contexts;
mod emitter;
mod memo;
mod programs;
mod progress;
mod registers;
mod rounds;
mod samples;
mod statics;
mod tree;
mod watch;

use std::rc::Rc;

use foldhash::HashMap;
use petal_metadata::{Id as _, Metadata};
use thiserror::Error;

use self::charge::CycleView;
use self::contexts::Contexts;
use self::emitter::Emitter;
use self::memo::{CycleState, Happening, Memo};
use self::programs::Programs;
use self::registers::{Registers, Updated};
use self::rounds::Rounds;
use self::samples::Samples;
use self::statics::Pending;
use self::tree::{Built, Owners};
use self::watch::Watch;
use crate::again::Item;
use crate::contradictions::{self, Values};
use crate::model::{
    CallTree, Cycle, Event, Instance, InstanceId, Node, RegisterUpdate, Run, TreeId,
};
use crate::observer::{Next, Observer};
use crate::signals::{Layout, PhysicalId, SignalTable, SlotId};
use crate::source::{Change, ProbeSource, SourceError};

pub use self::progress::Progress;

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
        let sink = &mut |item: Item| item.try_for_each(|event| sink(event.clone()));
        self.follow(source, sink, None, &mut |_| {})
    }

    /// Follows a run for an observer alone, which may end it; returns its length in cycles.
    ///
    /// # Errors
    /// When `source` fails.
    pub fn observe(
        &self,
        source: &mut impl ProbeSource,
        observer: &mut dyn Observer,
    ) -> Result<u64, SourceError> {
        let take = &mut |_| Ok::<(), std::convert::Infallible>(());
        let followed = self.follow(source, take, Some(observer), &mut |_| {});
        followed.map_err(|error| match error {
            ReconstructError::Source(error) => error,
            ReconstructError::Sink(never) => match never {},
        })
    }

    /// As [`run`](Self::run); `observer` looks on, and may end the run, and `progress` hears now and then how far it is.
    pub(crate) fn follow<E>(
        &self,
        source: &mut impl ProbeSource,
        sink: &mut impl FnMut(Item) -> Result<(), E>,
        mut observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<u64, ReconstructError<E>> {
        let mut engine = Engine::new(self.metadata, &self.layout);
        let mut running = source.next_cycle()?;
        engine.take(source.changes());
        let mut warnings = source.take_warnings();
        while running {
            let goes_round = engine.rounds.are_on();
            if goes_round && (engine.rounds.is_due() || engine.rounds.pass(source)) {
                engine
                    .tell()
                    .map_or(Ok(()), &mut *sink)
                    .map_err(ReconstructError::Sink)?;
                progress(&engine.progress());
                continue;
            }
            running = source.next_cycle()?;
            warnings.append(&mut source.take_warnings());
            if goes_round {
                if running && warnings.is_empty() && engine.goes_round(source) {
                    continue;
                }
                let told = engine.leave_round();
                told.map_or(Ok(()), &mut *sink)
                    .map_err(ReconstructError::Sink)?;
            }
            engine.step();
            engine.take(source.changes());
            let told = engine.emitter.events.len();
            engine.go_on(observer.is_none());
            if !warnings.is_empty() {
                engine.warn(&mut warnings, told);
            }
            let stops = observer
                .as_deref_mut()
                .is_some_and(|observer| engine.observe(observer) == Next::Stop);
            for event in engine.emitter.events.drain(..) {
                sink(Item::Event(event)).map_err(ReconstructError::Sink)?;
            }
            if engine.emitter.cycle.is_multiple_of(PROGRESS) {
                progress(&engine.progress());
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
            sink(Item::Event(event)).map_err(ReconstructError::Sink)?;
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
    programs: Programs<'a>,
    trees: HashMap<Vec<(usize, Node)>, TreeId>,
    /// The values of a cycle and of the one after it.
    now: Vec<u64>,
    next: Vec<u64>,
    /// What leads from the one to the other.
    changed: Vec<Change>,
    /// What followed before, and the step that is taken again, if one is. `is_stale`: such steps left the values of the cycle, the samples,
    /// the context and what follows from it behind.
    memo: Memo,
    step: Option<usize>,
    is_stale: bool,
    rounds: Rounds,
    /// The numbers of the two.
    samples: Samples,
    sample_now: u32,
    sample_next: u32,
    contexts: Contexts,
    /// Numbers of a sample, of the next one, and of the context → what follows, for the latest ones.
    outcomes: HashMap<(u32, u32, u32), Outcome>,
    current: Option<Run>,
    emitter: Emitter<'a>,
    registers: Registers,
    watch: Watch,
}

impl<'a> Engine<'a> {
    fn new(metadata: &'a Metadata, layout: &'a Layout) -> Self {
        let slots = layout.table.watched.len();
        let mut engine = Self {
            now: vec![0; slots],
            next: vec![0; slots],
            changed: Vec::new(),
            memo: Memo::default(),
            step: None,
            is_stale: false,
            rounds: Rounds::new(),
            samples: Samples::of(metadata, layout),
            sample_now: 0,
            sample_next: 0,
            contexts: Contexts::default(),
            outcomes: HashMap::default(),
            metadata,
            layout,
            last_instance: layout.for_each_instance(None),
            pending: Vec::new(),
            programs: Programs::of(metadata, layout),
            trees: HashMap::default(),
            current: None,
            emitter: Emitter::new(layout),
            registers: Registers::of(layout),
            watch: Watch::new(),
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
        let probes = self.next.len();
        if changes.iter().all(|change| change.slot.index() < probes) {
            if self.take_again(changes) {
                return;
            }
            self.changed.extend_from_slice(changes);
        } else {
            self.divide(changes);
            let mut changed = std::mem::take(&mut self.changed);
            if self.take_again(&changed) {
                changed.clear();
            }
            self.changed = changed;
            if self.step.is_some() {
                return;
            }
        }
        self.catch_up();
        for &Change { slot, value } in &self.changed {
            self.next[slot.index()] = value;
            self.samples.set(slot, value);
        }
        if self.memo.is_full() {
            self.forget_steps();
        }
        let most = self.samples.numbers.len();
        let most = most.max(self.contexts.len()).max(self.outcomes.len());
        if most >= MAX_REMEMBERED {
            self.forget();
        } else if self.samples.changed {
            self.sample_next = self.samples.number();
        }
    }

    /// Takes in changes of probes that lead to a step which was taken before, if they do.
    #[inline]
    fn take_again(&mut self, changes: &[Change]) -> bool {
        self.step = self.memo.find(changes);
        let is_known = self.step.is_some();
        if is_known {
            self.is_stale = true;
            for &Change { slot, value } in changes {
                self.next[slot.index()] = value;
            }
        }
        is_known
    }

    /// Takes in changes of which some are observed: these come after the probes, and no tree depends on them.
    fn divide(&mut self, changes: &[Change]) {
        for &Change { slot, value } in changes {
            if let Some(number) = slot.index().checked_sub(self.next.len()) {
                let slot = SlotId::from_index(number);
                self.watch.take(Change { slot, value });
            } else {
                self.changed.push(Change { slot, value });
            }
        }
    }

    /// Catches up with the steps that were taken again.
    fn catch_up(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let state = self.memo.state().expect("a step led there");
        self.sample_now = state.sample;
        self.sample_next = state.sample;
        self.pending.clone_from(&state.pending);
        self.programs.restore(&state.running);
        self.now.copy_from_slice(&self.next);
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
        self.forget_steps();
        let next = self.samples.words.clone();
        for &Change { slot, .. } in &self.changed {
            self.samples.set(slot, self.now[slot.index()]);
        }
        self.sample_now = self.samples.number();
        self.samples.words = next;
        self.sample_next = self.samples.number();
    }

    fn forget_steps(&mut self) {
        self.memo.forget();
        self.rounds.forget();
    }

    /// How far the run is.
    fn progress(&self) -> Progress<'_> {
        Progress {
            trees: &self.trees,
            run: self.current,
        }
    }

    /// Goes to the next cycle, which is taken in already.
    fn step(&mut self) {
        for Change { slot, .. } in self.changed.drain(..) {
            self.now[slot.index()] = self.next[slot.index()];
            self.programs.notice(slot);
        }
        self.sample_now = self.sample_next;
        self.watch.step();
    }

    /// Lets an observer look at the cycle that was told last.
    fn observe(&mut self, observer: &mut dyn Observer) -> Next {
        let cycle = Cycle::from_cycles(self.emitter.cycle - 1);
        let tree = self.current.map(|run| run.tree);
        self.watch.look(observer, &self.emitter.events, cycle, tree)
    }

    /// Tells what happens in a cycle.
    fn cycle(&mut self) {
        let Happening {
            tree,
            owners,
            updates,
        } = match self.step.take() {
            Some(step) => self.memo.take(step),
            None => self.work_out(),
        };
        for &(physical, instance) in &*owners {
            self.last_instance[physical.index()] = Some(instance);
        }
        self.updates(&updates);
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
    fn work_out(&mut self) -> Happening {
        self.programs.advance(&self.now);
        let (tree, owners) = self.tree();
        let happening = Happening {
            tree,
            owners,
            updates: self.registers.updated(&self.changed, &self.now, &self.next),
        };
        if !self.memo.is_on() {
            return happening;
        }
        let next = CycleState {
            sample: self.sample_next,
            pending: self.pending.clone(),
            running: self.programs.positions(),
        };
        self.memo.remember(&self.changed, happening.clone(), next);
        happening
    }

    /// Hands out the run of equal cycles that has ended.
    fn flush(&mut self) {
        if let Some(run) = self.current.take() {
            self.emitter.events.push(Event::Run(run));
        }
    }

    /// Hands out the changes of control registers at the end of the cycle.
    fn updates(&mut self, updates: &[Updated]) {
        for &Updated {
            physical,
            register,
            old,
            new,
        } in updates
        {
            let instance = self.owner(physical);
            self.emitter.events.push(Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(self.emitter.cycle),
                instance,
                register,
                old,
                new,
            }));
        }
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
        let context = self.contexts.number(&self.pending, &self.programs);
        let key = (self.sample_now, self.sample_next, context);
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

    /// The nodes of the cycle's tree.
    fn built(&mut self) -> Built {
        let cycle = CycleView {
            metadata: self.metadata,
            layout: self.layout,
            now: &self.now,
            next: &self.next,
            programs: self.programs.all(),
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
