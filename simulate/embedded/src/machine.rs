//! A design that runs, cycle by cycle.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use num_bigint::BigUint;
use petal_reconstruct::{Batch, Change, Cycle, Id as _, Warning};

use crate::code::{self, Code, Instance, Layout, WordSpan, word};
use crate::elaborate::Design;
use crate::error::{Error, Stopped};
use crate::graph::{Check, Graph, Input, Kind, MemId, NodeId, RegId, WireId};
use crate::repetition::{Loop, MachineState, Repetition};
use crate::states::{StateCode, States, Subject};

/// Clock cycles in which `reset` is high before the run.
pub(crate) const RESET_CYCLES: usize = 3;

/// How often a combinational loop is evaluated in a cycle until it has to have settled.
const MAX_EVALUATIONS: usize = 100;

/// A design in machine code.
pub(crate) struct Compiled {
    design: Design,
    /// Its graph of the run, in which these are the node of `done`, and those of the probes.
    running: Graph,
    done: NodeId,
    probes: Vec<NodeId>,
    watched: Vec<NodeId>,
    code: Arc<Code>,
}

impl Compiled {
    /// Compiles a design. `probes`, of up to 64 bits, and `watched` are the values to look at in each cycle.
    pub fn new(design: Design, probes: &[NodeId], watched: &[NodeId]) -> Result<Self, Error> {
        let (graph, nodes) = design.graph.running();
        let new = |old: &[NodeId]| -> Vec<NodeId> {
            old.iter().map(|node| nodes[node.index()]).collect()
        };
        let (done, probes) = (nodes[design.done.index()], new(probes));
        let code = Code::new(&graph, done, &probes, &new(watched))?;
        Ok(Self {
            running: graph,
            done,
            probes,
            watched: watched.to_vec(),
            design,
            code: Arc::new(code),
        })
    }

    pub fn design(&self) -> &Design {
        &self.design
    }

    fn layout(&self) -> &Layout {
        self.code.layout()
    }

    /// What tapes are made for.
    fn subject(&self) -> Subject<'_> {
        Subject {
            graph: &self.running,
            layout: self.layout(),
            done: self.done,
            probes: &self.probes,
        }
    }
}

/// A design that runs.
pub(crate) struct Machine {
    compiled: Arc<Compiled>,
    instance: Instance,
    /// `None` while the design is being reset.
    cycle: Option<u64>,
    /// Whether the values of the cycle after it are computed already.
    is_ahead: bool,
    limit: u64,
    interrupt: Arc<AtomicBool>,
    repetition: Repetition,
    states: Option<States>,
    /// Whether something was written beyond the end of each memory.
    missed: Vec<bool>,
    warnings: Vec<Warning>,
}

impl Machine {
    /// Prepares a run. It ends with an error after `limit` cycles, or once `interrupt` is set.
    pub fn new(
        compiled: Arc<Compiled>,
        limit: u64,
        interrupt: Arc<AtomicBool>,
        states: StateCode,
    ) -> Result<Self, Error> {
        let sees_all = !compiled.watched.is_empty();
        let states = States::new(states, &compiled.subject()).filter(|_| !sees_all);
        Ok(Self {
            states,
            instance: Instance::new(Arc::clone(&compiled.code))?,
            missed: vec![false; compiled.design.graph.mems.len()],
            warnings: Vec::new(),
            compiled,
            cycle: None,
            is_ahead: false,
            limit,
            interrupt,
            repetition: Repetition::default(),
        })
    }

    /// Sets words of an external memory, by their indices. Those that are not given stay as they are.
    pub fn write_memory(&mut self, name: &str, contents: &BTreeMap<u64, BigUint>) {
        // What is written from outside, no state tells.
        self.repetition = Repetition::default();
        if let Some(states) = &mut self.states {
            states.disturb();
        }
        if let Some(memory) = self.memory(name) {
            let memory = self.instance.memory_mut(memory);
            for (&index, value) in contents {
                memory.set(index, value);
            }
        }
    }

    /// The words of an external memory that are not 0, by their indices; `None` if it has no such
    /// memory.
    pub fn read_memory(&self, name: &str) -> Option<BTreeMap<u64, BigUint>> {
        let memory = self.memory(name)?;
        Some(self.instance.memories()[memory.index()].nonzero().collect())
    }

    /// What was odd since this was asked before.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }

    /// The ports on each combinational loop.
    pub fn loops(&self) -> &[Vec<String>] {
        &self.compiled.design.loops
    }

    /// An external memory.
    fn memory(&self, name: &str) -> Option<MemId> {
        let memories = &self.compiled.design.memories;
        let &(_, id) = memories.iter().find(|(memory, _)| memory == name)?;
        Some(id)
    }

    /// The words of the watched values one after the other, the lowest of a value first.
    pub fn watched(&self) -> &[u64] {
        self.instance.words(self.compiled.layout().watched.clone())
    }

    /// For each watched value a bit, 64 in a word: where it is 0, the value is that of the cycle before.
    pub fn changed(&self) -> &[u64] {
        self.instance.words(self.compiled.layout().changed.clone())
    }

    /// Adds to `changes` the probes that differ from when this was called before; at first, all were 0.
    pub fn changes(&mut self, changes: &mut Vec<Change>) {
        match &mut self.states {
            Some(states) if states.are_on() => states.changes(changes),
            _ => self.instance.changes(changes),
        }
    }

    /// Resets the design. `look` is called in each cycle, once the values have settled. Machine code is for the run alone, in
    /// which the inputs are constants.
    ///
    /// # Errors
    /// When the design stops itself.
    pub fn reset(&mut self, look: &mut dyn FnMut(&Self)) -> Result<(), Stopped> {
        let failed = |message| Stopped::Check {
            cycle: None,
            message,
        };
        let mut moves = true;
        for _ in 0..RESET_CYCLES {
            // Where nothing has changed, nothing ever does.
            if !moves {
                look(self);
                continue;
            }
            let values = self.interpret()?;
            if let Some(message) = self.failure(&values, false) {
                return Err(failed(message));
            }
            let compiled = Arc::clone(&self.compiled);
            let graph = &compiled.design.graph;
            let watched = compiled.watched.iter();
            let watched = watched.map(|&node| (values.get(node), graph.width(node)));
            self.instance.set_watched(watched);
            look(self);
            if let Some(message) = self.failure(&values, true) {
                return Err(failed(message));
            }
            moves = false;
            for (at, reg) in graph.regs.iter().enumerate() {
                let value = values.get(reg.next);
                moves |= self.instance.set_reg(RegId::from_index(at), value);
            }
            for write in &graph.writes {
                if *values.get(write.enable) != BigUint::ZERO {
                    let (address, data) = (values.get(write.address), values.get(write.data));
                    let changes = self.instance.write(write.memory, address, data);
                    moves |= changes == Some(true);
                }
            }
        }
        self.instance.begin();
        Ok(())
    }

    /// Computes the values of a cycle without machine code.
    fn interpret(&mut self) -> Result<Values, Stopped> {
        let compiled = Arc::clone(&self.compiled);
        for _ in 0..MAX_EVALUATIONS {
            let values = Values::of(self);
            let mut settled = true;
            for (at, &(_, node)) in compiled.design.graph.wires.iter().enumerate() {
                let wire = WireId::from_index(at);
                settled &= !self.instance.set_wire(wire, values.get(node));
            }
            if settled {
                return Ok(values);
            }
        }
        Err(self.unsettled())
    }

    fn unsettled(&self) -> Stopped {
        Stopped::Loop {
            cycle: self.cycle,
            ports: self.compiled.design.loops.concat(),
        }
    }

    /// Goes to the next cycle, the first time to cycle 0. Returns whether the design still runs:
    /// in the cycle in which it does not, it is done. The inputs never change, so a state that was there before
    /// proves that it never will be.
    ///
    /// # Errors
    /// When the run ends otherwise. The values are then those of the cycle that is not part of the
    /// run any more.
    pub fn step(&mut self) -> Result<bool, Box<Stopped>> {
        let cycle = self.cycle.map_or(0, |cycle| cycle + 1);
        let was_on = self.is_by_tape();
        let mut is_on = was_on && self.by_tape(cycle, States::advance);
        let edge = match self.cycle {
            Some(_) if !was_on && !std::mem::take(&mut self.is_ahead) => self.edge(),
            _ => Ok(()),
        };
        is_on |= !was_on && edge.is_ok() && self.by_tape(cycle, States::enter);
        self.cycle = Some(cycle);
        if !is_on {
            self.instance.forget_changes();
            self.settle()?;
            edge.map_err(|message| Stopped::Check {
                cycle: self.cycle,
                message,
            })?;
            if self.instance.word(word::DONE) != 0 {
                return Ok(false);
            }
        }
        let layout = self.compiled.layout();
        let state = MachineState {
            regs: match &self.states {
                Some(states) if states.are_on() => states.registers(),
                _ => self.instance.words(layout.state.clone()),
            },
            wires: self.instance.words(layout.all_wires.clone()),
            memories: self.instance.memories(),
            digest: self.instance.digest(),
        };
        if let Some(Loop { cycle, period }) = self.repetition.take(cycle, state) {
            return Err(Stopped::Endless { cycle, period }.into());
        }
        if cycle >= self.limit {
            return Err(Stopped::CycleLimit { limit: self.limit }.into());
        }
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Stopped::Interrupted { cycle }.into());
        }
        Ok(true)
    }

    /// Whether a tape did the cycle.
    pub fn is_by_tape(&self) -> bool {
        self.states.as_ref().is_some_and(States::are_on)
    }

    /// Does some of the next cycles at once, and adds them to the batch, which has room. Returns whether it did any: a step does what is odd.
    pub fn run(&mut self, batch: &mut Batch) -> bool {
        let Some(cycle) = self.cycle else {
            return false;
        };
        let by_tape = self.is_by_tape();
        // In these, a step does more.
        let mut end = self.limit.min(self.repetition.next());
        if let (false, Some(states)) = (by_tape, &self.states) {
            end = end.min(states.next());
        }
        let cycles = end.saturating_sub(cycle + 1).min(batch.room() as u64);
        if cycles == 0 || self.is_ahead || self.interrupt.load(Ordering::Relaxed) {
            return false;
        }
        let cycles = usize::try_from(cycles).expect("a batch has room for them");
        let subject = self.compiled.subject();
        let done = match &mut self.states {
            Some(states) if by_tape => {
                let works_on = (&mut self.instance, &self.repetition);
                let done = states.run(cycle, cycles, &subject, works_on, batch);
                self.is_ahead = !states.are_on();
                done
            }
            _ => self.run_instance(cycles, batch),
        };
        self.cycle = Some(cycle + done);
        done > 0
    }

    /// Does at most so many cycles by the general code. Returns how many.
    fn run_instance(&mut self, cycles: usize, batch: &mut Batch) -> u64 {
        let Some((_, ending)) = self.repetition.kept() else {
            return 0;
        };
        let sees_all = !self.compiled.watched.is_empty();
        if sees_all || self.instance.has_loops() {
            return 0;
        }
        let before = batch.len();
        let mut beyond = Vec::new();
        self.is_ahead = self.instance.run(cycles, &ending, &mut beyond, batch);
        let done = (batch.len() - before) as u64;
        if !beyond.is_empty() {
            let last = self.cycle.unwrap_or_default() + done;
            self.miss(last - u64::from(!self.is_ahead), beyond);
            if !self.is_ahead {
                batch.warn(self.take_warnings());
            }
        }
        done
    }

    /// Lets a tape do a cycle. Returns whether one did.
    fn by_tape(
        &mut self,
        cycle: u64,
        act: fn(&mut States, u64, &Subject<'_>, &mut Instance) -> bool,
    ) -> bool {
        let states = self.states.as_mut();
        let subject = self.compiled.subject();
        states.is_some_and(|states| act(states, cycle, &subject, &mut self.instance))
    }

    /// Computes the values of a cycle.
    fn settle(&mut self) -> Result<(), Box<Stopped>> {
        let settled = (0..MAX_EVALUATIONS).any(|_| self.instance.evaluate());
        if !settled {
            return Err(self.unsettled().into());
        }
        if self.instance.word(word::FAILED) != 0 {
            let (cycle, message) = (self.cycle, self.failed(false));
            return Err(Stopped::Check { cycle, message }.into());
        }
        Ok(())
    }

    /// The rising edge of the clock. An error is what failed on it.
    fn edge(&mut self) -> Result<(), String> {
        let failed = self.instance.word(word::FAILED_AT_EDGE) != 0;
        let failure = failed.then(|| self.failed(true));
        let mut beyond = Vec::new();
        self.instance.commit(&mut beyond);
        self.miss(self.cycle.unwrap_or_default(), beyond);
        failure.map_or(Ok(()), Err)
    }

    /// Something was written to memories, at the end of a cycle, with addresses that they do not have: that is told once of each.
    fn miss(&mut self, cycle: u64, beyond: Vec<(MemId, BigUint)>) {
        let design = &self.compiled.design;
        for (memory, address) in beyond {
            if std::mem::replace(&mut self.missed[memory.index()], true) {
                continue;
            }
            let size = design.graph.mems[memory.index()].size;
            let text = if address < BigUint::from(size) {
                format!(
                    "a write with an index beyond its dimension goes to word {address} of the memory"
                )
            } else {
                format!("a write to address {address} is lost, since the memory has {size} words")
            };
            self.warnings.push(Warning {
                cycle: Cycle::from_cycles(cycle),
                signal: design.memory_paths[memory.index()].clone(),
                text,
            });
        }
    }

    /// What failed in the cycle that was evaluated last.
    fn failed(&mut self, at_edge: bool) -> String {
        let failure = self.failure(&Values::of(self), at_edge);
        failure.unwrap_or_else(|| "a check failed".to_owned())
    }

    /// What fails with these values, if anything does.
    fn failure(&mut self, values: &Values, at_edge: bool) -> Option<String> {
        let failed =
            |check: &&Check| check.at_edge == at_edge && *values.get(check.fails) != BigUint::ZERO;
        let check = self.compiled.design.graph.checks.iter().find(failed)?;
        if let (Some(cycle), Some(cell)) = (self.cycle, &check.cell) {
            self.warnings.push(Warning {
                cycle: Cycle::from_cycles(cycle),
                signal: cell.clone(),
                text: "it stops the design".to_owned(),
            });
        }
        let operands = check.values.iter();
        Some(
            operands.fold(check.message.clone(), |message, (name, node)| {
                format!("{message}\n  {name}: {}", values.get(*node))
            }),
        )
    }
}

/// All values of a cycle, computed without machine code.
pub(crate) struct Values {
    values: Vec<BigUint>,
}

impl Values {
    fn of(machine: &Machine) -> Self {
        let graph: &Graph = &machine.compiled.design.graph;
        let (instance, layout) = (&machine.instance, machine.compiled.layout());
        let mut values: Vec<BigUint> = Vec::with_capacity(graph.len());
        let mut driven: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (wire, (_, driver)) in graph.wires.iter().enumerate() {
            driven.entry(*driver).or_default().push(wire);
        }
        let mut wires: Vec<Option<usize>> = vec![None; graph.wires.len()];
        for index in 0..graph.len() {
            let id = NodeId::from_index(index);
            let node = graph.node(id);
            let stored = |place: WordSpan| code::load(instance.words(place.words()));
            let value = match &node.kind {
                Kind::Const(value) => value.clone(),
                Kind::Input(Input::Go) => BigUint::from(u8::from(machine.cycle.is_some())),
                Kind::Input(Input::Clock) => BigUint::ZERO,
                Kind::Input(Input::Reset) => BigUint::from(u8::from(machine.cycle.is_none())),
                Kind::Reg(reg) => stored(layout.regs[reg.index()]),
                Kind::Wire(wire) => stored(layout.wires[wire.index()]),
                Kind::Read(memory, address) => {
                    let memory = &instance.memories()[memory.index()];
                    memory.word(&values[address.index()]).unwrap_or_default()
                }
                Kind::Op(op, _) => {
                    let args: Vec<(BigUint, u32)> = node
                        .operands()
                        .iter()
                        .map(|id| (values[id.index()].clone(), graph.width(*id)))
                        .collect();
                    op.eval(node.width, &args)
                }
            };
            if let Kind::Wire(wire) = node.kind {
                wires[wire.index()] = Some(index);
            }
            // What comes later on the loop takes the new value.
            for &wire in driven.get(&id).into_iter().flatten() {
                if let Some(wire) = wires[wire] {
                    values[wire].clone_from(&value);
                }
            }
            values.push(value);
        }
        Self { values }
    }

    fn get(&self, node: NodeId) -> &BigUint {
        &self.values[node.index()]
    }
}

#[cfg(test)]
pub(crate) mod tests;
