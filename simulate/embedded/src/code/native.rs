//! Where Rust calls machine code: the memories that the code reads by address, and what is done in a cycle.
//!
//! What makes it sound: the code, what it holds addresses of, and the layout that it was compiled for are in one
//! [`Code`], and live and end together. The words and memories that it works on are in [`Instance`], which are made by that
//! layout, and keep the code alive. Nobody else can change a value but by [`Instance::set_reg`], [`Instance::resume`] and their like, which know where it
//! is and leave it no more bits than it has: machine code reads memories without looking whether an address of three bits is below 8.
#![allow(unsafe_code, reason = "machine code is called by address")]

use std::ops::Range;
use std::sync::Arc;

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use num_bigint::BigUint;
use petal_reconstruct::{Batch, Change, Id as _};

use super::compile;
use super::edge::Checked;
use super::helpers::Calls;
use super::layout::{Layout, WordSpan, load, store, top, word, words};
use super::memory::{Memory, Written};
use super::plan::Plan;
use crate::error::Error;
use crate::graph::{Graph, Mem, MemId, NodeId, RegId, WireId};

/// Takes the address of all words.
type Function = unsafe extern "C" fn(*mut u64);

/// The machine code of a design. Any number of machines run it, on any threads.
pub(crate) struct Code {
    module: Option<JITModule>,
    functions: Vec<Function>,
    /// What the code holds addresses of.
    _calls: Calls,
    memories: Vec<Mem>,
    /// Whether all of a cycle is evaluated, until wires on loops have settled.
    has_loops: bool,
    layout: Checked,
}

// SAFETY: what the addresses in the code lead to is the code's own, nobody else has them, and nobody writes
// there.
unsafe impl Send for Code {}
// SAFETY: as above; the module is only used when the code is dropped.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: nobody else has the addresses of the functions.
            unsafe { module.free_memory() };
        }
    }
}

impl Code {
    /// Compiles a graph. `probes`, of up to 64 bits, and `watched` are the values that can be seen
    /// from outside.
    pub fn new(
        graph: &Graph,
        done: NodeId,
        probes: &[NodeId],
        watched: &[NodeId],
    ) -> Result<Self, Error> {
        let plan = Plan::of(graph, done, probes, watched);
        let compiled = compile::compile(plan)?;
        let address = |id: &FuncId| {
            let code = compiled.module.get_finalized_function(*id);
            // SAFETY: `compile` declares every function with `signature`.
            unsafe { std::mem::transmute::<*const u8, Function>(code) }
        };
        Ok(Self {
            functions: compiled.functions.iter().map(address).collect(),
            module: Some(compiled.module),
            _calls: compiled.calls,
            memories: graph.mems.clone(),
            has_loops: !graph.wires.is_empty(),
            layout: Checked::new(compiled.layout),
        })
    }

    /// The layout that the code was compiled for.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Computes what has to be computed of the words of an instance.
    fn compute(&self, words: &mut [u64]) {
        assert_eq!(words.len(), self.layout.size);
        let flags = self.layout.flags.clone();
        for (flag, function) in flags.zip(&self.functions) {
            if words[flag] != 0 {
                // SAFETY: the code stays within the sizes of its layout, which the words have, and of the
                // memories, whose addresses are in them.
                unsafe { function(words.as_mut_ptr()) };
                // A part that uses another one comes later.
                words[flag] = 0;
            }
        }
    }
}

/// A design that runs: its values and memories.
pub(crate) struct Instance {
    code: Arc<Code>,
    words: Vec<u64>,
    memories: Vec<Memory>,
    /// A digest of what was written to the memories.
    digest: u64,
}

/// A state that a run of cycles ends at, as far as this tells: the digest of the memories, and a word of the registers with its value.
pub(crate) struct Ending {
    pub digest: u64,
    pub register: usize,
    pub value: u64,
}

impl Ending {
    /// Whether a state with this digest, and this value of its word, may be it.
    pub fn may_be(&self, digest: u64, value: u64) -> bool {
        digest == self.digest && value == self.value
    }
}

impl Instance {
    /// Nothing but zeros.
    ///
    /// # Errors
    /// [`Error::Memory`] for the first memory that there is no room for.
    pub fn new(code: Arc<Code>) -> Result<Self, Error> {
        let mut memories: Vec<Memory> = code
            .memories
            .iter()
            .map(Memory::new)
            .collect::<Result<_, _>>()?;
        let mut words = vec![0; code.layout.size];
        for (word, memory) in words[code.layout.memories.clone()]
            .iter_mut()
            .zip(&mut memories)
        {
            *word = memory.address();
        }
        let mut instance = Self {
            code,
            words,
            memories,
            digest: 0,
        };
        instance.wake_all();
        Ok(instance)
    }

    /// Words of the layout.
    pub fn words(&self, at: Range<usize>) -> &[u64] {
        &self.words[at]
    }

    pub fn word(&self, at: usize) -> u64 {
        self.words[at]
    }

    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Where the memories are, for code that writes no more bits to a word than it has, and tells the digest.
    pub fn memory_addresses(&mut self) -> impl Iterator<Item = u64> {
        self.memories.iter_mut().map(Memory::address)
    }

    pub fn set_digest(&mut self, digest: u64) {
        self.digest = digest;
    }

    /// A memory, to write to it from outside.
    pub fn memory_mut(&mut self, memory: MemId) -> &mut Memory {
        self.wake_all();
        &mut self.memories[memory.index()]
    }

    /// Sets a register from outside: before the run only. Returns whether it is another value than before.
    pub fn set_reg(&mut self, reg: RegId, value: &BigUint) -> bool {
        self.set(self.code.layout.regs[reg.index()], value)
    }

    /// The same with a wire on a loop.
    pub fn set_wire(&mut self, wire: WireId, value: &BigUint) -> bool {
        self.set(self.code.layout.wires[wire.index()], value)
    }

    /// A place must be one of the layout's.
    fn set(&mut self, place: WordSpan, value: &BigUint) -> bool {
        let target = &mut self.words[place.words()];
        let before = load(target);
        store(value, place.width, target);
        load(target) != before
    }

    /// Sets all watched values, each with its width, from outside. All count as changed.
    pub fn set_watched<'v>(&mut self, values: impl Iterator<Item = (&'v BigUint, u32)>) {
        let layout = &self.code.layout;
        self.words[layout.changed.clone()].fill(u64::MAX);
        let mut watched = &mut self.words[layout.watched.clone()];
        for (value, width) in values {
            let (target, rest) = watched.split_at_mut(words(width));
            store(value, width, target);
            watched = rest;
        }
    }

    /// None of the watched values counts as changed.
    pub fn forget_changes(&mut self) {
        self.words[self.code.layout.changed.clone()].fill(0);
    }

    /// Writes a word of a memory. Returns whether that changes it; `None` if there is no such word.
    pub fn write(&mut self, memory: MemId, address: &BigUint, data: &BigUint) -> Option<bool> {
        let at = memory.index();
        let width = self.code.memories[at].width;
        let mut digits = vec![0; words(width)];
        store(data, width, &mut digits);
        let mut address: Vec<u64> = address.iter_u64_digits().collect();
        if address.is_empty() {
            address.push(0);
        }
        match self.memories[at].write(at, &address, &digits) {
            Written::Changed(change) => {
                self.digest = self.digest.wrapping_add(change);
                Some(true)
            }
            Written::Same => Some(false),
            Written::Beyond => None,
        }
    }

    /// Adds to `changes` the probes that differ from when this was called before; at first, all were 0.
    pub fn changes(&mut self, changes: &mut Vec<Change>) {
        self.code.layout.changes(&mut self.words, changes);
    }

    /// The run begins with the registers as they are.
    pub fn begin(&mut self) {
        let layout = &self.code.layout;
        for (number, register) in layout.registers.iter().enumerate() {
            let [at, next, ..] = register.offsets.map(|at| at as usize);
            let more = layout.more(number / 64, number % 64);
            let count = more.map_or(1, |more| more.words);
            self.words.copy_within(at..at + count, next);
        }
        self.words[self.code.layout.probes.changed.clone()].fill(u64::MAX);
        self.wake_all();
    }

    /// What was told of each probe last.
    pub fn told(&self, told: &mut [u64]) {
        let words = |at: usize| self.words[at];
        for (slot, value) in self.code.layout.probes.told(words) {
            told[slot.index()] = value;
        }
    }

    /// The run goes on from these registers, after what was told of each probe last: where nothing is known of the cycles
    /// before.
    pub fn resume(&mut self, registers: &[u64], told: &[u64]) {
        let layout = &self.code.layout;
        self.words[layout.state.clone()].copy_from_slice(registers);
        for place in &layout.regs {
            self.words[place.words().end - 1] &= top(place.width);
        }
        layout.probes.tell(told, &mut self.words);
        for (number, at) in layout.writing.clone().enumerate() {
            let left = layout.writes.len() - number * 64;
            self.words[at] = u64::MAX >> 64_usize.saturating_sub(left);
        }
        self.begin();
    }

    /// Writes a word of a memory, of up to 64 bits.
    pub fn write_word(&mut self, memory: MemId, address: u64, data: u64) {
        let at = memory.index();
        if let Written::Changed(change) = self.memories[at].write(at, &[address], &[data]) {
            self.digest = self.digest.wrapping_add(change);
        }
    }

    /// All has to be computed.
    fn wake_all(&mut self) {
        self.words[self.code.layout.flags.clone()].fill(u64::MAX);
    }

    /// Computes the values of a cycle. Returns whether wires on loops have settled.
    pub fn evaluate(&mut self) -> bool {
        if self.code.has_loops {
            for flag in [word::FAILED, word::FAILED_AT_EDGE, word::UNSETTLED] {
                self.words[flag] = 0;
            }
            self.wake_all();
        }
        self.code.compute(&mut self.words);
        self.words[word::UNSETTLED] == 0
    }

    /// Whether wires on loops have to settle.
    pub fn has_loops(&self) -> bool {
        self.code.has_loops
    }

    /// Does at most so many cycles, from the clock's edge on, and adds them to the batch. It ends before an edge on which a check fails, and
    /// after a cycle in which something was written beyond the end of a memory. Returns whether the values of one more cycle are computed, which
    /// is not in the batch: the run ends there, or its state may be `ending`. The design must have no loops.
    pub fn run(
        &mut self,
        cycles: usize,
        ending: &Ending,
        beyond: &mut Vec<(MemId, BigUint)>,
        batch: &mut Batch,
    ) -> bool {
        let Self {
            code,
            words,
            memories,
            digest,
        } = self;
        let register = code.layout.state.start + ending.register;
        for _ in 0..cycles {
            if words[word::FAILED_AT_EDGE] != 0 || !beyond.is_empty() {
                break;
            }
            code.layout.commit(words, memories, digest, beyond);
            code.compute(words);
            let is_over = words[word::FAILED] | words[word::DONE] != 0;
            if is_over || ending.may_be(*digest, words[register]) {
                return true;
            }
            batch.add_cycle(|changes| code.layout.changes(words, changes));
        }
        false
    }

    /// The rising edge of the clock: registers and memories become what they become. What is written beyond the end of a
    /// memory, or of a dimension of it, is added to `beyond`, with the address.
    pub fn commit(&mut self, beyond: &mut Vec<(MemId, BigUint)>) {
        let (layout, digest) = (&self.code.layout, &mut self.digest);
        layout.commit(&mut self.words, &mut self.memories, digest, beyond);
    }
}
