//! A design that runs, cycle by cycle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use num_bigint::BigUint;
use petal_reconstruct::{Id as _, SlotId};

use crate::code::{self, Code, word};
use crate::elaborate::Design;
use crate::error::{Error, Stopped};
use crate::graph::{Check, Graph, Input, Kind, NodeId};
use crate::repetition::{Loop, Repetition, State};

/// Clock cycles in which `reset` is high before the run.
const RESET_CYCLES: usize = 3;

/// How often a combinational loop is evaluated in a cycle until it has to have settled.
const MAX_EVALUATIONS: usize = 100;

/// A design that runs.
pub(crate) struct Machine {
    design: Design,
    code: Code,
    state: Vec<u64>,
    next: Vec<u64>,
    env: Vec<u64>,
    /// `None` while the design is being reset.
    cycle: Option<u64>,
    limit: u64,
    interrupt: Arc<AtomicBool>,
    repetition: Repetition,
}

impl Machine {
    /// Compiles a design to machine code. `probes`, of up to 64 bits, and `watched` are the
    /// values to look at in each cycle. The run ends with an error after `limit` cycles, or once `interrupt` is set.
    pub fn new(
        design: Design,
        probes: &[NodeId],
        watched: &[NodeId],
        limit: u64,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let code = Code::new(&design.graph, design.done, probes, watched)?;
        Ok(Self {
            state: vec![0; code.layout.state],
            next: vec![0; code.layout.state],
            env: vec![0; code.layout.env],
            design,
            code,
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
        &self.design.loops
    }

    fn memory(&mut self, name: &str) -> Option<(u32, &mut [u64])> {
        let memories = &self.design.memories;
        let &(_, id) = memories.iter().find(|(memory, _)| memory == name)?;
        let width = self.design.graph.mems[id.index()].width;
        Some((width, &mut self.code.memories[id.index()]))
    }

    /// The words of the watched values one after the other, the lowest of a value first.
    pub fn watched(&self) -> &[u64] {
        &self.env[self.code.layout.watched.clone()]
    }

    /// The words that hold the probes.
    pub fn probes(&self) -> &[u64] {
        &self.env[self.code.layout.probes.clone()]
    }

    /// For each of these words, the probe behind each bit; one with a word to itself is alone.
    pub fn probe_slots(&self) -> Vec<Vec<SlotId>> {
        let layout = &self.code.layout;
        let mut slots = vec![Vec::new(); layout.probes.len()];
        for (number, &(word, _)) in layout.probe.iter().enumerate() {
            slots[word - layout.probes.start].push(SlotId::from_index(number));
        }
        slots
    }

    /// Resets the design. `look` is called in each cycle, once the values have settled.
    ///
    /// # Errors
    /// When the design stops itself.
    pub fn reset(&mut self, look: &mut dyn FnMut(&Self)) -> Result<(), Stopped> {
        self.env[word::GO] = 0;
        self.env[word::RESET] = 1;
        for _ in 0..RESET_CYCLES {
            self.settle()?;
            look(self);
            let edge = self.edge();
            edge.map_err(|message| Stopped::Check {
                cycle: None,
                message,
            })?;
        }
        self.env[word::GO] = 1;
        self.env[word::RESET] = 0;
        Ok(())
    }

    /// Goes to the next cycle, the first time to cycle 0. Returns whether the design still runs:
    /// in the cycle in which it does not, it is done. The inputs never change, so a state that was there before
    /// proves that it never will be.
    ///
    /// # Errors
    /// When the run ends otherwise. The values are then those of the cycle that is not part of the
    /// run any more.
    pub fn step(&mut self) -> Result<bool, Stopped> {
        let edge = match self.cycle {
            None => Ok(()),
            Some(_) => self.edge(),
        };
        let cycle = match self.cycle {
            None => 0,
            Some(cycle) => cycle + 1,
        };
        self.cycle = Some(cycle);
        self.settle()?;
        edge.map_err(|message| Stopped::Check {
            cycle: self.cycle,
            message,
        })?;
        if self.env[word::DONE] != 0 {
            return Ok(false);
        }
        let state = State {
            regs: &self.state,
            wires: &self.env[self.code.layout.all_wires.clone()],
            memories: &self.code.memories,
            digest: self.env[word::DIGEST],
        };
        if let Some(Loop { cycle, period }) = self.repetition.take(cycle, state) {
            return Err(Stopped::Endless { cycle, period });
        }
        if cycle >= self.limit {
            return Err(Stopped::CycleLimit { limit: self.limit });
        }
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Stopped::Interrupted { cycle });
        }
        Ok(true)
    }

    /// Computes the values of a cycle.
    fn settle(&mut self) -> Result<(), Stopped> {
        for _ in 0..MAX_EVALUATIONS {
            for flag in [
                word::FAILED,
                word::FAILED_AT_EDGE,
                word::UNSETTLED,
                word::DONE,
            ] {
                self.env[flag] = 0;
            }
            self.env[self.code.layout.probes.clone()].fill(0);
            self.code
                .evaluate(&self.state, &mut self.next, &mut self.env);
            if self.env[word::UNSETTLED] == 0 {
                return if self.env[word::FAILED] == 0 {
                    Ok(())
                } else {
                    Err(Stopped::Check {
                        cycle: self.cycle,
                        message: self.failure(false),
                    })
                };
            }
        }
        Err(Stopped::Loop {
            cycle: self.cycle,
            ports: self.design.loops.concat(),
        })
    }

    /// The rising edge of the clock. An error is what failed on it.
    fn edge(&mut self) -> Result<(), String> {
        let failure = (self.env[word::FAILED_AT_EDGE] != 0).then(|| self.failure(true));
        self.code.commit(&self.state, &mut self.next, &mut self.env);
        std::mem::swap(&mut self.state, &mut self.next);
        failure.map_or(Ok(()), Err)
    }

    /// What failed in the cycle that was evaluated last.
    fn failure(&self, at_edge: bool) -> String {
        let values = Values::of(self);
        let failed =
            |check: &&Check| check.at_edge == at_edge && *values.get(check.fails) != BigUint::ZERO;
        let Some(check) = self.design.graph.checks.iter().find(failed) else {
            return "a check failed".to_owned();
        };
        let operands = check.values.iter();
        operands.fold(check.message.clone(), |message, (name, node)| {
            format!("{message}\n  {name}: {}", values.get(*node))
        })
    }
}

/// All values of a cycle, computed without machine code.
pub(crate) struct Values {
    values: Vec<BigUint>,
}

impl Values {
    fn of(simulation: &Machine) -> Self {
        let graph: &Graph = &simulation.design.graph;
        let layout = &simulation.code.layout;
        let mut values: Vec<BigUint> = Vec::with_capacity(graph.len());
        for index in 0..graph.len() {
            let id = NodeId::from_index(index);
            let node = graph.node(id);
            let in_words =
                |words: &[u64], at: usize| code::load(&words[at..at + code::words(node.width)]);
            let value = match &node.kind {
                Kind::Const(value) => value.clone(),
                Kind::Input(Input::Go) => BigUint::from(simulation.env[word::GO]),
                Kind::Input(Input::Clock) => BigUint::ZERO,
                Kind::Input(Input::Reset) => BigUint::from(simulation.env[word::RESET]),
                Kind::Reg(reg) => in_words(&simulation.state, layout.regs[reg.index()]),
                Kind::Wire(wire) => in_words(&simulation.env, layout.wires[wire.index()]),
                Kind::Read(memory, address) => {
                    let words = code::words(node.width);
                    let memory = &simulation.code.memories[memory.index()];
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
            values.push(value);
        }
        Self { values }
    }

    fn get(&self, node: NodeId) -> &BigUint {
        &self.values[node.index()]
    }
}
