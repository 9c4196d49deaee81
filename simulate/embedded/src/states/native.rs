//! Machine code for states: one call does many cycles.
//!
//! Owns the call and what it leaves behind; `blocks.rs` makes the code. What makes it sound: the code was made for the places of one run: the
//! registers and what was told of the probes have the lengths that [`Native`] holds it to, the memories are asserted to be where they were, and
//! what it writes for its caller goes to arrays of this module that have room for all cycles that it is asked for.
#![allow(unsafe_code, reason = "machine code is called by address")]

use std::sync::Arc;

use cranelift_jit::JITModule;
use petal_reconstruct::{Batch, BatchCycle, Change, Id as _, ListNumber, SlotId};

use super::blocks::{self, shared};
use super::tape::{Tape, Values};
use crate::code::{Ending, Instance};
use crate::error::Error;

/// Room for changes of a call.
const CHANGES: usize = 1 << 13;

/// Takes the addresses of what is shared, the registers, what was told of the probes, and where cycles and changes go.
type Function = unsafe extern "C" fn(*mut u64, *mut u64, *mut u64, *mut u64, *mut [u64; 2]) -> u64;

/// The code for some tapes of a run.
pub(super) struct Native {
    module: Option<JITModule>,
    function: Function,
    /// The number of each tape in the code, if it is there; and the other way round.
    numbers: Vec<Option<u64>>,
    tapes: Vec<usize>,
    /// The tape that each edge leads from.
    from: Vec<usize>,
    /// The number of the first edge's list, and the lists until they are handed over.
    first: ListNumber,
    lists: Vec<Arc<[Change]>>,
    /// Changes of a cycle that are no list's, at most.
    own: usize,
    registers: usize,
    probes: usize,
    memories: Vec<u64>,
    shared: Box<[u64; shared::COUNT]>,
    cycles: Box<[u64; Batch::CYCLES]>,
    changes: Box<[[u64; 2]]>,
}

// SAFETY: the code and what it works on are the run's own, and go to another thread together with it.
unsafe impl Send for Native {}

impl Drop for Native {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: nobody else has the function's address.
            unsafe { module.free_memory() };
        }
    }
}

/// What a call is for.
pub(super) struct Call<'a> {
    /// The tape of the latest cycle, and how many more cycles there may be.
    pub tape: usize,
    pub cycles: usize,
    /// A state: the code stops before a cycle that may have it.
    pub kept: Option<Kept>,
    pub values: &'a mut Values,
    pub told: &'a mut [u64],
    pub instance: &'a mut Instance,
}

/// What is looked at of a state.
pub(super) struct Kept {
    pub tape: usize,
    pub ending: Ending,
}

/// Where a call ended.
pub(super) enum Exit {
    /// With the cycle of a tape.
    Cycle(usize),
    /// After the clock's edge that ends the cycle of a tape.
    Edge(usize),
}

impl Native {
    /// Compiles tapes with their edges. `before`: how many lists were handed over.
    pub fn new(
        tapes: &[Tape],
        values: &Values,
        probes: usize,
        instance: &mut Instance,
        before: ListNumber,
    ) -> Result<Self, Error> {
        let memories = addresses(instance);
        let made = blocks::make(tapes, values, &memories, before + 1)?;
        let code = made.module.get_finalized_function(made.function);
        let mut numbers = vec![None; tapes.len()];
        for (number, &tape) in (0..).zip(&made.tapes) {
            numbers[tape] = Some(number);
        }
        Ok(Self {
            // SAFETY: `blocks` makes it with this signature.
            function: unsafe { std::mem::transmute::<*const u8, Function>(code) },
            module: Some(made.module),
            numbers,
            tapes: made.tapes,
            from: made.from,
            first: before + 1,
            lists: made.lists,
            own: made.own,
            registers: values.registers().len(),
            probes,
            memories,
            shared: Box::new([0; shared::COUNT]),
            cycles: Box::new([0; Batch::CYCLES]),
            changes: vec![[0; 2]; CHANGES].into(),
        })
    }

    /// Whether it has this tape.
    pub fn has(&self, tape: usize) -> bool {
        self.number(tape).is_some()
    }

    fn number(&self, tape: usize) -> Option<u64> {
        self.numbers.get(tape).copied().flatten()
    }

    /// The number of the last list that was handed over.
    pub fn last_list(&self) -> ListNumber {
        let handed_over = self.from.len() - self.lists.len();
        self.first + ListNumber::try_from(handed_over).expect("edges are few") - 1
    }

    /// Does cycles, and adds them to the batch, which has room for them.
    pub fn run(&mut self, call: Call<'_>, batch: &mut Batch) -> Exit {
        let Call {
            tape,
            cycles,
            kept,
            values,
            told,
            instance,
        } = call;
        for list in self.lists.drain(..) {
            batch.add_list(list);
        }
        let start = self.number(tape).expect("it was asked for");
        let cycles = cycles.min(Batch::CYCLES).min(CHANGES / (self.own + 1));
        assert!(cycles > 0, "it has to do something");
        assert!(values.registers().len() == self.registers && told.len() == self.probes);
        assert!(addresses(instance) == self.memories, "memories stay");
        let own = batch.own_changes();
        let begin = self.cycles.as_ptr() as usize as u64;
        self.shared[shared::END] = begin + 8 * cycles as u64;
        self.shared[shared::OWN] = 16 * own as u64;
        self.shared[shared::START] = start;
        self.shared[shared::DIGEST] = instance.digest();
        self.shared[shared::KEPT] = u64::MAX;
        if let Some(Kept { tape, ending }) = kept
            && let Some(number) = self.number(tape)
            && ending.register < self.registers
        {
            self.shared[shared::KEPT] = number;
            self.shared[shared::KEPT_DIGEST] = ending.digest;
            self.shared[shared::REGISTER] = 8 * ending.register as u64;
            self.shared[shared::VALUE] = ending.value;
        }
        // What is told goes after the changes of the batch, by their number.
        let changes = self.changes.as_mut_ptr().wrapping_sub(own);
        // SAFETY: the code stays within the registers, the probes and the memories, whose places and sizes are those that it was made
        // for, and writes as many cycles as there is room for, each with at most `own` changes.
        let exit = unsafe {
            (self.function)(
                self.shared.as_mut_ptr(),
                values.registers_mut().as_mut_ptr(),
                told.as_mut_ptr(),
                self.cycles.as_mut_ptr(),
                changes,
            )
        };
        instance.set_digest(self.shared[shared::DIGEST]);
        let done = (self.shared[shared::OUT] - begin) / 8;
        let done = &self.cycles[..usize::try_from(done).expect("they are few")];
        let end = done.last().map_or(own, |cycle| (cycle >> 32) as usize);
        let changes = self.changes[..end - own].iter().map(|&[slot, value]| {
            let slot = SlotId::from_index(usize::try_from(slot).expect("it is a probe"));
            Change { slot, value }
        });
        batch.extend(done.iter().copied().map(BatchCycle::from_word), changes);
        let which = usize::try_from(exit >> 2).expect("it is one of them");
        match exit & 3 {
            shared::AFTER_CYCLE => Exit::Cycle(self.tapes[which]),
            shared::AFTER_EDGE => Exit::Edge(self.tapes[which]),
            _ => Exit::Edge(self.from[which - self.first as usize]),
        }
    }
}

/// Where the memories are.
fn addresses(instance: &mut Instance) -> Vec<u64> {
    let memories = instance.memory_addresses();
    memories.collect()
}
