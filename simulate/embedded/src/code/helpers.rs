//! Where machine code calls Rust: the helpers for wide values.
//!
//! The code holds addresses of its [`Calls`], which live as long as it does, in one `Code`.
#![allow(unsafe_code, reason = "machine code hands over addresses")]

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module;
use num_bigint::BigUint;

use super::layout::{load, store, words};
use crate::graph::Op;

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
    if let Helper::Op(Op::Float(op, format)) = call.helper {
        let mut words = [0; 3];
        for (word, (arg, _)) in words.iter_mut().zip(&call.args) {
            *word = match arg {
                // SAFETY: the layout has room for the value at this offset.
                Arg::Words(first) => unsafe { *all.add(*first) },
                Arg::Const(value) => value.iter_u64_digits().next().unwrap_or(0),
            };
        }
        // SAFETY: the layout has room for the result, which has one word.
        let target = unsafe { &mut *all.add(first) };
        let before = std::mem::replace(target, op.eval(format, width, &words));
        return u64::from(before != *target);
    }
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
    store(&result, width, target);
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

fn index(word: u64) -> usize {
    usize::try_from(word).expect("what is in memory has an address there")
}

/// Calls at addresses that stay.
pub(super) type Calls = Vec<Box<Call>>;
