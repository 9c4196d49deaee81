//! Where machine code and Rust meet: the helpers that the code calls for wide values, the memories that it
//! reads by address, and calling it.
//!
//! The only file with `unsafe` in it. What makes it sound: the code, what it holds addresses of, and the
//! layout that it was compiled for are in one [`Code`], and live and end together; the words and memories that it
//! works on are in [`Instance`], which are made by that layout, and keep the code alive.
#![allow(unsafe_code, reason = "machine code is called by address")]

use std::alloc;
use std::ops::{Index, IndexMut, Range};
use std::sync::Arc;

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use num_bigint::BigUint;
use petal_reconstruct::{Change, Id as _};

use super::compile;
use super::layout::{Layout, MemoryWrite, Plan, WEIGHT, first_weight, load, store, word, words};
use super::probes::bits;
use crate::error::Error;
use crate::graph::{Graph, Mem, MemId, NodeId, Op};

#[derive(Debug)]
pub(super) enum Arg {
    /// The value's first word.
    Words(usize),
    Const(BigUint),
}

/// A call of a helper.
#[derive(Debug)]
pub(super) struct Call {
    pub helper: Helper,
    pub args: Vec<(Arg, u32)>,
    /// The first word that the result goes to, and its width.
    pub result: (usize, u32),
}

#[derive(Debug)]
pub(super) enum Helper {
    Op(Op),
    /// The word with the address of the memory, and the number of the memory's words.
    Read(usize, u64),
}

impl Call {
    /// # Safety
    /// `all` must be the words that the code was compiled for.
    unsafe fn arg(&self, at: usize, all: *const u64) -> BigUint {
        let (arg, width) = &self.args[at];
        match arg {
            // SAFETY: the layout has room for the value at this offset.
            Arg::Words(first) => {
                load(unsafe { std::slice::from_raw_parts(all.add(*first), words(*width)) })
            }
            Arg::Const(value) => value.clone(),
        }
    }
}

/// Does what `call` says. Returns whether the result is another one than before, 1 or 0.
unsafe extern "C" fn perform(call: *const Call, all: *mut u64) -> u64 {
    // SAFETY: the code holds addresses of calls that live as long as it does.
    let call = unsafe { &*call };
    // SAFETY: as asked for by `arg`.
    let arg = |at: usize| unsafe { call.arg(at, all) };
    let (first, width) = call.result;
    let result = match &call.helper {
        Helper::Op(op) => {
            let args: Vec<(BigUint, u32)> = (0..call.args.len())
                .map(|at| (arg(at), call.args[at].1))
                .collect();
            op.eval(width, &args)
        }
        Helper::Read(memory, size) => match u64::try_from(arg(0)) {
            Ok(word) if word < *size => {
                // SAFETY: the layout has a word for the address.
                let memory = index(unsafe { *all.add(*memory) }) as *const u64;
                let first = index(word) * words(width);
                // SAFETY: the word is one of the memory's.
                load(unsafe { std::slice::from_raw_parts(memory.add(first), words(width)) })
            }
            _ => BigUint::ZERO,
        },
    };
    // SAFETY: the layout has room for the result.
    let target = unsafe { std::slice::from_raw_parts_mut(all.add(first), words(width)) };
    let differs = load(target) != result;
    store(&result, target);
    u64::from(differs)
}

/// Makes the helpers callable by name from a module that is made by `builder`.
pub(super) fn provide(builder: &mut JITBuilder) {
    builder.symbol(PERFORM, perform as *const u8);
}

/// The name of the function that all calls of helpers go to.
pub(super) const PERFORM: &str = "perform";

/// The signature of compiled functions: the address of all words.
pub(super) fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    let pointer = module.target_config().pointer_type();
    signature.params = vec![AbiParam::new(pointer)];
    signature
}

/// The signature of the helpers' function: the addresses of a call and of all words; whether the result is another one.
pub(super) fn perform_signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    let pointer = module.target_config().pointer_type();
    signature.params = vec![AbiParam::new(pointer); 2];
    signature.returns = vec![AbiParam::new(types::I64)];
    signature
}

/// Room for a memory. The system gives it page by page, as words are written: what is never written
/// takes none.
#[expect(
    clippy::cast_ptr_alignment,
    reason = "the layout is that of such words"
)]
fn zeroed(memory: &Mem) -> Result<Box<[u64]>, Error> {
    let allocated = usize::try_from(memory.size.max(1))
        .ok()
        .and_then(|size| size.checked_mul(words(memory.width)))
        .and_then(|size| Some((size, alloc::Layout::array::<u64>(size).ok()?)))
        .and_then(|(size, layout)| {
            // SAFETY: the layout has a size, as neither factor is 0.
            let words = unsafe { alloc::alloc_zeroed(layout) }.cast::<u64>();
            // SAFETY: the allocator of boxes gave it, with this layout, full of zeros.
            (!words.is_null())
                .then(|| unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(words, size)) })
        });
    allocated.ok_or(Error::Memory {
        size: memory.size,
        width: memory.width,
    })
}

fn index(word: u64) -> usize {
    usize::try_from(word).expect("what is in memory has an address there")
}

/// Calls at addresses that stay.
pub(super) type Calls = Vec<Box<Call>>;

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
    pub layout: Layout,
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
            layout: compiled.layout,
        })
    }
}

/// A design that runs: its values and memories.
pub(crate) struct Instance {
    code: Arc<Code>,
    words: Vec<u64>,
    memories: Vec<Box<[u64]>>,
    /// A digest of what was written to the memories.
    digest: u64,
}

impl Instance {
    /// Nothing but zeros.
    ///
    /// # Errors
    /// [`Error::Memory`] for the first memory that there is no room for.
    pub fn new(code: Arc<Code>) -> Result<Self, Error> {
        let memories: Vec<Box<[u64]>> =
            code.memories.iter().map(zeroed).collect::<Result<_, _>>()?;
        let mut words = vec![0; code.layout.size];
        for (word, memory) in words[code.layout.memories.clone()]
            .iter_mut()
            .zip(&memories)
        {
            *word = memory.as_ptr() as usize as u64;
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

    pub fn memories(&self) -> &[Box<[u64]>] {
        &self.memories
    }

    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// A memory, to write to it from outside.
    pub fn memory_mut(&mut self, memory: usize) -> &mut [u64] {
        self.wake_all();
        &mut self.memories[memory]
    }

    /// Sets a value of so many bits from outside: before the run only. Returns whether it is another one than before.
    pub fn set(&mut self, at: usize, width: u32, value: &BigUint) -> bool {
        let words = at..at + words(width);
        let addresses = &self.code.layout.memories;
        assert!(words.end <= addresses.start || addresses.end <= words.start);
        let target = &mut self.words[words];
        let differs = load(target) != *value;
        store(value, target);
        differs
    }

    /// Writes a word of a memory, if it has one with this address. Returns whether that changes it.
    pub fn write(&mut self, memory: MemId, address: &BigUint, data: &BigUint, width: u32) -> bool {
        let mut digits = vec![0; words(width)];
        store(data, &mut digits);
        let address: Vec<u64> = address.iter_u64_digits().collect();
        let address = if address.is_empty() {
            &[0][..]
        } else {
            &address
        };
        let at = memory.index();
        let change = write(&mut self.memories[at], at, address, &digits);
        self.digest = self.digest.wrapping_add(change.unwrap_or(0));
        change.is_some()
    }

    /// The probes that differ from when this was asked before, as [`Probes::changes`](super::probes::Probes::changes) tells. Returns how many.
    pub fn changes(&mut self, changes: &mut [Change]) -> usize {
        let layout = &self.code.layout;
        let mut words = Words::of(&mut self.words, layout);
        layout.probes.changes(&mut words, changes)
    }

    /// Sets these words to the same number from outside.
    pub fn fill(&mut self, at: Range<usize>, number: u64) {
        self.words[at].fill(number);
    }

    /// The run begins with the registers as they are.
    pub fn begin(&mut self) {
        for register in &self.code.layout.registers {
            let count = register.more.as_ref().map_or(1, |more| more.words);
            let [at, next, ..] = register.offsets.map(|at| at as usize);
            self.words.copy_within(at..at + count, next);
        }
        self.words[self.code.layout.probes.changed.clone()].fill(u64::MAX);
        self.wake_all();
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
        let flags = self.code.layout.flags.clone();
        for (flag, function) in flags.zip(&self.code.functions) {
            if self.words[flag] != 0 {
                // SAFETY: the code stays within the sizes of its layout, which the words have, and of the
                // memories, whose addresses are in them.
                unsafe { function(self.words.as_mut_ptr()) };
                // A part that uses another one comes later.
                self.words[flag] = 0;
            }
        }
        self.words[word::UNSETTLED] == 0
    }

    /// The rising edge of the clock: registers and memories become what they become.
    pub fn commit(&mut self) {
        let Self {
            code,
            words,
            memories,
            digest,
        } = self;
        let layout = &code.layout;
        let Layout {
            changing,
            registers,
            writing,
            writes,
            probes,
            ..
        } = layout;
        let mut words = Words::of(words, layout);
        for at in 0..changing.len() {
            let changed = words[changing.start + at];
            if changed == 0 {
                continue;
            }
            words[changing.start + at] = 0;
            words[probes.changed.start + at] |= changed;
            let registers = &registers[at * 64..];
            for bit in bits(changed) {
                let register = &registers[bit];
                let [at, next, first, second] = register.offsets.map(|at| at as usize);
                words[at] = words[next];
                words[first] |= register.wakes[0];
                words[second] |= register.wakes[1];
                if let Some(more) = &register.more {
                    for word in 1..more.words {
                        words[at + word] = words[next + word];
                    }
                    for &(word, bits) in &more.wakes {
                        words[word] |= bits;
                    }
                }
            }
        }
        for at in 0..writing.len() {
            let changed = words[writing.start + at];
            if changed == 0 {
                continue;
            }
            words[writing.start + at] = 0;
            let writes = &writes[at * 64..];
            for bit in bits(changed) {
                let MemoryWrite {
                    memory,
                    enable,
                    address,
                    data,
                    wakes,
                } = &writes[bit];
                if words[*enable] == 0 {
                    continue;
                }
                let (data, address) = (&words.0[data.clone()], &words.0[address.clone()]);
                let memory = memory.index();
                if let Some(change) = write(&mut memories[memory], memory, address, data) {
                    *digest = digest.wrapping_add(change);
                    for &(word, bits) in wakes {
                        words[word] |= bits;
                    }
                }
            }
        }
    }
}

/// The words of an instance, by the offsets of its layout, which are not checked.
pub(super) struct Words<'a>(&'a mut [u64]);

impl<'a> Words<'a> {
    fn of(words: &'a mut [u64], layout: &Layout) -> Self {
        assert_eq!(words.len(), layout.size);
        Self(words)
    }
}

impl Index<usize> for Words<'_> {
    type Output = u64;

    fn index(&self, at: usize) -> &u64 {
        debug_assert!(at < self.0.len());
        // SAFETY: layouts have no other offsets than those below their size, and there are as many words.
        unsafe { self.0.get_unchecked(at) }
    }
}

impl IndexMut<usize> for Words<'_> {
    fn index_mut(&mut self, at: usize) -> &mut u64 {
        debug_assert!(at < self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(at) }
    }
}

/// Writes a word of the memory with this number. Returns what that adds to the digest; `None` if it changes nothing.
fn write(memory: &mut [u64], number: usize, address: &[u64], data: &[u64]) -> Option<u64> {
    let (&low, high) = address.split_first()?;
    if high.iter().any(|&word| word != 0) {
        return None;
    }
    let first = usize::try_from(low).ok()?.checked_mul(data.len())?;
    let target = memory.get_mut(first..first.checked_add(data.len())?)?;
    if target == data {
        return None;
    }
    let first = first_weight(number) + first as u64;
    let weighed = (first..)
        .zip(target.iter().zip(data))
        .map(|(at, (old, new))| {
            let weight = at.wrapping_mul(WEIGHT) | 1;
            new.wrapping_sub(*old).wrapping_mul(weight)
        });
    let change = weighed.fold(0, u64::wrapping_add);
    target.copy_from_slice(data);
    Some(change)
}
