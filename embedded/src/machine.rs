//! A design that runs, cycle by cycle.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use num_bigint::BigUint;
use petal_reconstruct::{Change, Id as _};

use crate::code::{self, Code, Instance, Layout, word};
use crate::elaborate::Design;
use crate::error::{Error, Stopped};
use crate::graph::{Check, Graph, Input, Kind, NodeId};
use crate::repetition::{Loop, Repetition, State};

/// Clock cycles in which `reset` is high before the run.
pub(crate) const RESET_CYCLES: usize = 3;

/// How often a combinational loop is evaluated in a cycle until it has to have settled.
const MAX_EVALUATIONS: usize = 100;

/// A design in machine code.
pub(crate) struct Compiled {
    design: Design,
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
        let done = nodes[design.done.index()];
        let code = Code::new(&graph, done, &new(probes), &new(watched))?;
        Ok(Self {
            watched: watched.to_vec(),
            design,
            code: Arc::new(code),
        })
    }

    pub fn design(&self) -> &Design {
        &self.design
    }

    fn layout(&self) -> &Layout {
        &self.code.layout
    }
}

/// A design that runs.
pub(crate) struct Machine {
    compiled: Arc<Compiled>,
    instance: Instance,
    /// `None` while the design is being reset.
    cycle: Option<u64>,
    limit: u64,
    interrupt: Arc<AtomicBool>,
    repetition: Repetition,
}

impl Machine {
    /// Prepares a run. It ends with an error after `limit` cycles, or once `interrupt` is set.
    pub fn new(
        compiled: Arc<Compiled>,
        limit: u64,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        Ok(Self {
            instance: Instance::new(Arc::clone(&compiled.code))?,
            compiled,
            cycle: None,
            limit,
            interrupt,
            repetition: Repetition::default(),
        })
    }

    /// Sets words of an external memory, by their indices. Those that are not given stay as they are.
    pub fn write_memory(&mut self, name: &str, contents: &BTreeMap<u64, BigUint>) {
        // What is written from outside, no state tells.
        self.repetition = Repetition::default();
        if let Some((width, memory)) = self.memory(name) {
            let mut words = memory.chunks_exact_mut(code::words(width));
            let mut next = 0;
            for (&index, value) in contents {
                let between = usize::try_from(index - next).unwrap_or(usize::MAX);
                let Some(word) = words.nth(between) else {
                    break;
                };
                code::store(value, word);
                next = index + 1;
            }
        }
    }

    /// The words of an external memory that are not 0, by their indices; `None` if it has no such
    /// memory.
    pub fn read_memory(&mut self, name: &str) -> Option<BTreeMap<u64, BigUint>> {
        /// Elements that are looked at together: most of a large memory is 0.
        const BLOCK: usize = 512;
        let (width, memory) = self.memory(name)?;
        let size = code::words(width);
        let zeros = vec![0; BLOCK * size];
        let blocks = memory.chunks(zeros.len()).zip((0..).step_by(BLOCK));
        let used = blocks.filter(|(block, _)| **block != zeros[..block.len()]);
        let words = used.flat_map(|(block, first)| (first..).zip(block.chunks_exact(size)));
        let nonzero = words.filter(|(_, words)| words.iter().any(|word| *word != 0));
        Some(
            nonzero
                .map(|(index, words)| (index, code::load(words)))
                .collect(),
        )
    }

    /// The ports on each combinational loop.
    pub fn loops(&self) -> &[Vec<String>] {
        &self.compiled.design.loops
    }

    fn memory(&mut self, name: &str) -> Option<(u32, &mut [u64])> {
        let design = &self.compiled.design;
        let &(_, id) = design.memories.iter().find(|(memory, _)| memory == name)?;
        let width = design.graph.mems[id.index()].width;
        Some((width, self.instance.memory_mut(id.index())))
    }

    /// The words of the watched values one after the other, the lowest of a value first.
    pub fn watched(&self) -> &[u64] {
        self.instance.words(self.compiled.layout().watched.clone())
    }

    /// For each watched value a bit, 64 in a word: where it is 0, the value is that of the cycle before.
    pub fn changed(&self) -> &[u64] {
        self.instance.words(self.compiled.layout().changed.clone())
    }

    /// How many probes there are.
    pub fn probes(&self) -> usize {
        self.compiled.layout().probes.count()
    }

    /// Writes to `changes` the probes that differ from when this was called before; at first, all were 0. Returns how many.
    pub fn changes(&mut self, changes: &mut [Change]) -> usize {
        self.instance.changes(changes)
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
            let (graph, layout) = (&compiled.design.graph, compiled.layout());
            self.instance.fill(layout.changed.clone(), u64::MAX);
            let mut at = layout.watched.start;
            for &node in &compiled.watched {
                self.instance.set(at, graph.width(node), values.get(node));
                at += code::words(graph.width(node));
            }
            look(self);
            if let Some(message) = self.failure(&values, true) {
                return Err(failed(message));
            }
            moves = false;
            for (reg, &at) in graph.regs.iter().zip(&layout.regs) {
                moves |= self.instance.set(at, reg.width, values.get(reg.next));
            }
            for write in &graph.writes {
                if *values.get(write.enable) != BigUint::ZERO {
                    let (address, data) = (values.get(write.address), values.get(write.data));
                    let width = graph.width(write.data);
                    moves |= self.instance.write(write.memory, address, data, width);
                }
            }
        }
        self.instance.begin();
        Ok(())
    }

    /// Computes the values of a cycle without machine code.
    fn interpret(&mut self) -> Result<Values, Stopped> {
        let compiled = Arc::clone(&self.compiled);
        let layout = compiled.layout();
        for _ in 0..MAX_EVALUATIONS {
            let values = Values::of(self);
            let mut settled = true;
            for (&(width, node), &at) in compiled.design.graph.wires.iter().zip(&layout.wires) {
                settled &= !self.instance.set(at, width, values.get(node));
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
        let edge = match self.cycle {
            None => Ok(()),
            Some(_) => self.edge(),
        };
        let cycle = match self.cycle {
            None => 0,
            Some(cycle) => cycle + 1,
        };
        self.cycle = Some(cycle);
        let changed = self.compiled.layout().changed.clone();
        if !changed.is_empty() {
            self.instance.fill(changed, 0);
        }
        self.settle()?;
        edge.map_err(|message| Stopped::Check {
            cycle: self.cycle,
            message,
        })?;
        if self.instance.word(word::DONE) != 0 {
            return Ok(false);
        }
        let layout = self.compiled.layout();
        let state = State {
            regs: self.instance.words(layout.state.clone()),
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
        self.instance.commit();
        failure.map_or(Ok(()), Err)
    }

    /// What failed in the cycle that was evaluated last.
    fn failed(&self, at_edge: bool) -> String {
        let failure = self.failure(&Values::of(self), at_edge);
        failure.unwrap_or_else(|| "a check failed".to_owned())
    }

    /// What fails with these values, if anything does.
    fn failure(&self, values: &Values, at_edge: bool) -> Option<String> {
        let failed =
            |check: &&Check| check.at_edge == at_edge && *values.get(check.fails) != BigUint::ZERO;
        let check = self.compiled.design.graph.checks.iter().find(failed)?;
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
            let stored = |at: usize| code::load(instance.words(at..at + code::words(node.width)));
            let value = match &node.kind {
                Kind::Const(value) => value.clone(),
                Kind::Input(Input::Go) => BigUint::from(u8::from(machine.cycle.is_some())),
                Kind::Input(Input::Clock) => BigUint::ZERO,
                Kind::Input(Input::Reset) => BigUint::from(u8::from(machine.cycle.is_none())),
                Kind::Reg(reg) => stored(layout.regs[reg.index()]),
                Kind::Wire(wire) => stored(layout.wires[wire.index()]),
                Kind::Read(memory, address) => {
                    let words = code::words(node.width);
                    let memory = &instance.memories()[memory.index()];
                    usize::try_from(&values[address.index()])
                        .ok()
                        .and_then(|at| memory.chunks_exact(words).nth(at))
                        .map_or(BigUint::ZERO, code::load)
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
mod tests;
