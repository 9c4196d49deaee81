//! Where machine code and Rust meet: the helpers that the code calls for wide values, the memories that it
//! reads and writes by address, and calling it.
//!
//! The only file with `unsafe` in it. What makes it sound: the code, what it holds addresses of, and the
//! layout that it was compiled for are in one [`Code`], and live and end together.
#![allow(unsafe_code, reason = "machine code is called by address")]

use std::alloc;

use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use num_bigint::BigUint;

use super::compile;
use super::layout::{Layout, Plan, WEIGHT, first_weight, load, store, word, words};
use crate::error::Error;
use crate::graph::{Graph, Mem, NodeId, Op};

#[derive(Debug)]
pub(super) enum Arg {
    State(usize),
    Env(usize),
    Const(BigUint),
}

/// A call of a helper.
#[derive(Debug)]
pub(super) struct Call {
    pub helper: Helper,
    pub args: Vec<(Arg, u32)>,
    /// Where the result goes in the environment, and its width.
    pub result: (usize, u32),
}

#[derive(Debug)]
pub(super) enum Helper {
    Op(Op),
    /// Address and number of words of the memory.
    Read(*const u64, u64),
    /// Address and number of the memory; the operands are enable, address and data. The memory's code checks
    /// the bounds.
    Write(*mut u64, usize),
}

impl Call {
    /// # Safety
    /// The pointers must be those that the code was compiled for.
    unsafe fn arg(&self, at: usize, state: *const u64, env: *const u64) -> BigUint {
        let (arg, width) = &self.args[at];
        let (base, offset) = match arg {
            Arg::State(offset) => (state, *offset),
            Arg::Env(offset) => (env, *offset),
            Arg::Const(value) => return value.clone(),
        };
        // SAFETY: the layout has room for the value at this offset.
        load(unsafe { std::slice::from_raw_parts(base.add(offset), words(*width)) })
    }
}

/// Does what `call` says.
unsafe extern "C" fn perform(call: *const Call, state: *const u64, env: *mut u64) {
    // SAFETY: the code holds addresses of calls that live as long as it does.
    let call = unsafe { &*call };
    // SAFETY: as asked for by `arg`.
    let arg = |at: usize| unsafe { call.arg(at, state, env) };
    let (offset, width) = call.result;
    let result = match &call.helper {
        Helper::Op(op) => {
            let args: Vec<(BigUint, u32)> = (0..call.args.len())
                .map(|at| (arg(at), call.args[at].1))
                .collect();
            op.eval(width, &args)
        }
        Helper::Read(memory, size) => match u64::try_from(arg(0)) {
            // SAFETY: the word is one of the memory's.
            Ok(word) if word < *size => load(unsafe {
                std::slice::from_raw_parts(memory.add(index(word) * words(width)), words(width))
            }),
            _ => BigUint::ZERO,
        },
        Helper::Write(memory, number) => {
            if let (true, Ok(address)) = (arg(0) != BigUint::ZERO, u64::try_from(arg(1))) {
                let width = call.args[2].1;
                let first = index(address) * words(width);
                // SAFETY: the enable is high only if the word is one of the memory's.
                let target =
                    unsafe { std::slice::from_raw_parts_mut(memory.add(first), words(width)) };
                // SAFETY: the environment has a word for the digest.
                let digest = unsafe { &mut *env.add(word::DIGEST) };
                let first = first_weight(*number) + first as u64;
                let weigh = |target: &[u64]| {
                    let weighed = (first..).zip(target).map(|(at, &word)| {
                        let weight = at.wrapping_mul(WEIGHT) | 1;
                        word.wrapping_mul(weight)
                    });
                    weighed.fold(0, u64::wrapping_add)
                };
                let old = weigh(target);
                store(&arg(2), target);
                *digest = digest.wrapping_add(weigh(target)).wrapping_sub(old);
            }
            return;
        }
    };
    // SAFETY: the layout has room for the result.
    let target = unsafe { std::slice::from_raw_parts_mut(env.add(offset), words(width)) };
    store(&result, target);
}

/// Makes the helpers callable by name from a module that is made by `builder`.
pub(super) fn provide(builder: &mut JITBuilder) {
    builder.symbol(PERFORM, perform as *const u8);
}

/// The name of the function that all calls of helpers go to.
pub(super) const PERFORM: &str = "perform";

/// The signature of all functions, compiled ones and helpers: three addresses.
pub(super) fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    let pointer = module.target_config().pointer_type();
    signature.params = vec![AbiParam::new(pointer); 3];
    signature
}

/// The memories of a graph, full of zeros.
///
/// # Errors
/// [`Error::Memory`] for the first one that there is no room for.
fn memories(graph: &Graph) -> Result<Vec<Box<[u64]>>, Error> {
    graph.mems.iter().map(zeroed).collect()
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
    usize::try_from(word).expect("a memory's words fit in memory")
}

/// Calls at addresses that stay.
pub(super) type Calls = Vec<Box<Call>>;

/// State before, state after, environment.
type Chunk = unsafe extern "C" fn(*const u64, *mut u64, *mut u64);

/// The machine code of a design.
pub(crate) struct Code {
    module: Option<JITModule>,
    chunks: Vec<Chunk>,
    commit: Chunk,
    /// What the code holds addresses of.
    _calls: Calls,
    pub memories: Vec<Box<[u64]>>,
    pub layout: Layout,
}

// SAFETY: what the addresses in the code and the calls lead to is the code's own, and nobody else has
// them.
unsafe impl Send for Code {}

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
    /// from outside. The words of the probes must be 0 before each evaluation.
    pub fn new(
        graph: &Graph,
        done: NodeId,
        probes: &[NodeId],
        watched: &[NodeId],
    ) -> Result<Self, Error> {
        let plan = Plan::of(graph, done, probes, watched);
        let memories = memories(graph)?;
        let compiled = compile::compile(plan, memories)?;
        let address = |id: &FuncId| {
            let code = compiled.module.get_finalized_function(*id);
            // SAFETY: `compile` declares every function with `signature`.
            unsafe { std::mem::transmute::<*const u8, Chunk>(code) }
        };
        Ok(Self {
            chunks: compiled.chunks.iter().map(address).collect(),
            commit: address(&compiled.commit),
            module: Some(compiled.module),
            _calls: compiled.calls,
            memories: compiled.memories,
            layout: compiled.layout,
        })
    }

    /// Computes all values of a cycle, and the state after it.
    pub fn evaluate(&self, state: &[u64], next: &mut [u64], env: &mut [u64]) {
        self.assert_sizes(state, next, env);
        for chunk in &self.chunks {
            // SAFETY: the code stays within the sizes of its layout.
            unsafe { chunk(state.as_ptr(), next.as_mut_ptr(), env.as_mut_ptr()) };
        }
    }

    /// Writes to the memories what the evaluated cycle writes.
    pub fn commit(&mut self, state: &[u64], next: &mut [u64], env: &mut [u64]) {
        self.assert_sizes(state, next, env);
        // SAFETY: as above; nobody reads the memories meanwhile.
        unsafe { (self.commit)(state.as_ptr(), next.as_mut_ptr(), env.as_mut_ptr()) };
    }

    fn assert_sizes(&self, state: &[u64], next: &[u64], env: &[u64]) {
        assert!(state.len() == self.layout.state && next.len() == self.layout.state);
        assert!(env.len() == self.layout.env);
    }
}
