//! From the plan of a design to functions of machine code.
//!
//! A function loads what it needs, computes its nodes in order, and stores what others need.
//! `operations.rs` makes the instructions of an operation.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlags, Type, UserFuncName, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use num_bigint::BigUint;
use petal_reconstruct::Id as _;

use super::layout::{CHUNK, Layout, Plan, Sink, WEIGHT, first_weight, store, word, words};
use super::native::{self, Arg, Call, Calls, Helper};
use crate::error::Error;
use crate::graph::{Input, Kind, NodeId, Write};

/// Words of which a function collects bits before it writes them: each takes a register, and the time to find
/// registers grows faster than the number of values.
const MAX_COLLECTED: usize = 8;

/// The functions of a design.
pub(super) struct Compiled {
    pub module: JITModule,
    /// The functions that compute a cycle, in order.
    pub chunks: Vec<FuncId>,
    /// The one that writes to the memories.
    pub commit: FuncId,
    /// What the functions hold addresses of.
    pub calls: Calls,
    pub memories: Vec<Box<[u64]>>,
    pub layout: Layout,
}

/// Compiles a design whose memories are these.
pub(super) fn compile(plan: Plan<'_>, memories: Vec<Box<[u64]>>) -> Result<Compiled, Error> {
    let mut flags = settings::builder();
    for (flag, value) in [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        // The optimiser's code was measured to run less than half as fast.
        ("opt_level", "none"),
        // It takes time, and finds mistakes of this crate only.
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
    ] {
        flags.set(flag, value).map_err(failed)?;
    }
    let isa = cranelift_native::builder()
        .map_err(failed)?
        .finish(settings::Flags::new(flags))
        .map_err(failed)?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    native::provide(&mut builder);
    let mut module = JITModule::new(builder);
    let signature = native::signature(&module);
    let perform = module
        .declare_function(native::PERFORM, Linkage::Import, &signature)
        .map_err(failed)?;
    let compiler = Compiler {
        plan,
        module,
        perform,
        memories,
        calls: Vec::new(),
    };
    compiler.run()
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Compile(error.to_string())
}

/// What the functions that are being made share.
pub(super) struct Compiler<'a> {
    pub plan: Plan<'a>,
    module: JITModule,
    perform: FuncId,
    pub memories: Vec<Box<[u64]>>,
    calls: Calls,
}

impl Compiler<'_> {
    fn run(mut self) -> Result<Compiled, Error> {
        let mut ids = Vec::new();
        for leaves in self.plan.leaves().chunks(CHUNK) {
            ids.push(self.function(|function| {
                for &node in leaves {
                    function.drain(node);
                }
                function.write_collected();
            })?);
        }
        for chunk in 0..self.plan.order.len().div_ceil(CHUNK) {
            let nodes: Vec<NodeId> = self
                .plan
                .order
                .iter()
                .copied()
                .skip(chunk * CHUNK)
                .take(CHUNK)
                .collect();
            ids.push(self.function(|function| {
                for node in nodes {
                    function.compute(node);
                }
                function.write_collected();
            })?);
        }
        let graph = self.plan.graph;
        let commit = self.function(|function| {
            for write in &graph.writes {
                function.write(write);
            }
        })?;
        self.module.finalize_definitions().map_err(failed)?;
        Ok(Compiled {
            module: self.module,
            chunks: ids,
            commit,
            calls: self.calls,
            memories: self.memories,
            layout: self.plan.layout,
        })
    }

    /// Compiles one function.
    fn function(
        &mut self,
        build: impl FnOnce(&mut FunctionCompiler<'_, '_>),
    ) -> Result<FuncId, Error> {
        let signature = native::signature(&self.module);
        let id = self
            .module
            .declare_anonymous_function(&signature)
            .map_err(failed)?;
        let mut context = self.module.make_context();
        context.func.signature = signature;
        context.func.name = UserFuncName::user(0, id.as_u32());
        let mut variables = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut variables);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let &[state, next, env] = builder.block_params(block) else {
            unreachable!("the signature has three parameters");
        };
        let mut function = FunctionCompiler {
            perform: self.module.declare_func_in_func(self.perform, builder.func),
            compiler: self,
            builder,
            state,
            next,
            env,
            values: HashMap::new(),
            collected: HashMap::new(),
        };
        build(&mut function);
        function.builder.ins().return_(&[]);
        function.builder.seal_all_blocks();
        function.builder.finalize();
        self.module
            .define_function(id, &mut context)
            .map_err(failed)?;
        Ok(id)
    }
}

/// A function that is being built.
pub(super) struct FunctionCompiler<'a, 'b> {
    pub compiler: &'b mut Compiler<'a>,
    pub builder: FunctionBuilder<'b>,
    perform: FuncRef,
    state: Value,
    next: Value,
    env: Value,
    values: HashMap<NodeId, Value>,
    /// The bits to set in each word.
    collected: HashMap<usize, Value>,
}

fn byte_offset(word: usize) -> i32 {
    i32::try_from(word * 8).expect("designs need less than 2 GiB of state")
}

/// What values of up to 64 bits are computed in.
pub(super) const WORD: Type = types::I64;

impl FunctionCompiler<'_, '_> {
    pub fn load(&mut self, base: Value, word: usize) -> Value {
        self.builder
            .ins()
            .load(WORD, MemFlags::trusted(), base, byte_offset(word))
    }

    fn store(&mut self, value: Value, base: Value, word: usize) {
        self.builder
            .ins()
            .store(MemFlags::trusted(), value, base, byte_offset(word));
    }

    pub fn number(&mut self, number: u64) -> Value {
        self.builder.ins().iconst(WORD, number.cast_signed())
    }

    /// The words of a node that is there already.
    fn words(&mut self, node: NodeId) -> Vec<Value> {
        let width = self.compiler.plan.graph.width(node);
        let count = words(width);
        if count == 1 {
            return vec![self.value(node)];
        }
        match &self.compiler.plan.graph.node(node).kind {
            Kind::Const(value) => {
                let mut digits = vec![0; count];
                store(value, &mut digits);
                digits.into_iter().map(|digit| self.number(digit)).collect()
            }
            Kind::Reg(reg) => {
                let at = self.compiler.plan.layout.regs[reg.index()];
                (at..at + count)
                    .map(|word| self.load(self.state, word))
                    .collect()
            }
            Kind::Wire(wire) => {
                let at = self.compiler.plan.layout.wires[wire.index()];
                (at..at + count)
                    .map(|word| self.load(self.env, word))
                    .collect()
            }
            _ => {
                let at = self.compiler.plan.slots[&node];
                (at..at + count)
                    .map(|word| self.load(self.env, word))
                    .collect()
            }
        }
    }

    /// The value of a node of up to 64 bits.
    pub fn value(&mut self, node: NodeId) -> Value {
        if let Some(&value) = self.values.get(&node) {
            return value;
        }
        let plan = &self.compiler.plan;
        let value = match &plan.graph.node(node).kind {
            Kind::Const(value) => {
                let number = value.iter_u64_digits().next().unwrap_or(0);
                // Not kept: a constant in an instruction is better than one in a register.
                return self.number(number);
            }
            Kind::Reg(reg) => {
                let at = plan.layout.regs[reg.index()];
                self.load(self.state, at)
            }
            Kind::Input(Input::Clock) => return self.number(0),
            Kind::Input(Input::Go) => self.load(self.env, word::GO),
            Kind::Input(Input::Reset) => self.load(self.env, word::RESET),
            Kind::Wire(wire) => {
                let at = plan.layout.wires[wire.index()];
                self.load(self.env, at)
            }
            Kind::Op(..) | Kind::Read(..) => {
                let at = plan.slots[&node];
                self.load(self.env, at)
            }
        };
        self.values.insert(node, value);
        value
    }

    /// Computes a node and does what is to be done with its value.
    fn compute(&mut self, node: NodeId) {
        let graph = self.compiler.plan.graph;
        let width = graph.width(node);
        if self.compiler.plan.needs_help(node) {
            let at = self.compiler.plan.slots[&node];
            let helper = match graph.node(node).kind {
                Kind::Op(op, _) => Helper::Op(op),
                Kind::Read(memory, _) => Helper::Read(
                    self.compiler.memories[memory.index()].as_ptr(),
                    graph.mems[memory.index()].size,
                ),
                _ => return,
            };
            self.call(helper, graph.node(node).operands(), (at, width));
        } else {
            let value = match graph.node(node).kind {
                Kind::Op(op, _) => self.operation(op, width, graph.node(node).operands()),
                Kind::Read(memory, address) => self.read(memory.index(), address),
                _ => return,
            };
            self.values.insert(node, value);
        }
        self.drain(node);
    }

    /// Stores the value of a node wherever it is used outside of this function.
    fn drain(&mut self, node: NodeId) {
        let Some(sinks) = self.compiler.plan.sinks.get(&node).cloned() else {
            return;
        };
        let values = self.words(node);
        for sink in sinks {
            for (word, &value) in values.iter().enumerate() {
                match sink {
                    Sink::Next(at) => self.store(value, self.next, at + word),
                    Sink::Store(at) => self.store(value, self.env, at + word),
                    Sink::Wire(at) => {
                        let old = self.load(self.env, at + word);
                        let difference = self.builder.ins().bxor(old, value);
                        self.raise(word::UNSETTLED, difference);
                        self.store(value, self.env, at + word);
                    }
                    Sink::SetBits(word, by) => {
                        let value = match by {
                            0 => value,
                            by => self.builder.ins().ishl_imm(value, i64::from(by)),
                        };
                        self.raise(word, value);
                    }
                }
            }
        }
    }

    /// Sets the bits of `value` in a word of the environment, once the function ends.
    fn raise(&mut self, word: usize, value: Value) {
        let value = match self.collected.get(&word) {
            Some(&bits) => self.builder.ins().bor(bits, value),
            None => {
                if self.collected.len() == MAX_COLLECTED {
                    self.write_collected();
                }
                value
            }
        };
        self.collected.insert(word, value);
    }

    /// Sets the bits that this function has collected in the words of the environment.
    fn write_collected(&mut self) {
        let mut collected: Vec<(usize, Value)> = self.collected.drain().collect();
        collected.sort_unstable_by_key(|&(word, _)| word);
        for (word, value) in collected {
            let old = self.load(self.env, word);
            let value = self.builder.ins().bor(old, value);
            self.store(value, self.env, word);
        }
    }

    /// Calls a helper; the result goes to these words of the environment, and has this width.
    fn call(&mut self, helper: Helper, operands: &[NodeId], result: (usize, u32)) {
        let graph = self.compiler.plan.graph;
        let layout = &self.compiler.plan.layout;
        let args = operands
            .iter()
            .map(|&node| {
                let arg = match &graph.node(node).kind {
                    Kind::Const(value) => Arg::Const(value.clone()),
                    Kind::Reg(reg) => Arg::State(layout.regs[reg.index()]),
                    Kind::Input(Input::Clock) => Arg::Const(BigUint::ZERO),
                    Kind::Input(Input::Go) => Arg::Env(word::GO),
                    Kind::Input(Input::Reset) => Arg::Env(word::RESET),
                    Kind::Wire(wire) => Arg::Env(layout.wires[wire.index()]),
                    Kind::Op(..) | Kind::Read(..) => Arg::Env(self.compiler.plan.slots[&node]),
                };
                (arg, graph.width(node))
            })
            .collect();
        let call = Box::new(Call {
            helper,
            args,
            result,
        });
        let address = std::ptr::from_ref::<Call>(&call) as usize as u64;
        self.compiler.calls.push(call);
        let call = self.number(address);
        self.builder
            .ins()
            .call(self.perform, &[call, self.state, self.env]);
    }

    /// Reads a word of up to 64 bits; 0 beyond the memory's end.
    fn read(&mut self, memory: usize, address: NodeId) -> Value {
        let size = self.compiler.plan.graph.mems[memory].size;
        let width = self.compiler.plan.graph.width(address);
        let base = self.compiler.memories[memory].as_ptr() as usize as u64;
        let base = self.number(base);
        let address = self.value(address);
        let zero = self.number(0);
        let fits = (width >= 64 || size >> width == 0).then(|| {
            let size = self.number(size);
            self.builder
                .ins()
                .icmp(IntCC::UnsignedLessThan, address, size)
        });
        let word = match fits {
            Some(fits) => self.builder.ins().select(fits, address, zero),
            None => address,
        };
        let offset = self.builder.ins().ishl_imm(word, 3);
        let at = self.builder.ins().iadd(base, offset);
        let value = self.load(at, 0);
        match fits {
            Some(fits) => self.builder.ins().select(fits, value, zero),
            None => value,
        }
    }

    /// Writes to a memory what a cycle writes, and brings the digest up to date.
    fn write(&mut self, write: &Write) {
        let graph = self.compiler.plan.graph;
        let number = write.memory.index();
        let memory = self.compiler.memories[number].as_mut_ptr();
        let operands = [write.enable, write.address, write.data];
        if operands.iter().any(|&node| graph.width(node) > 64) {
            self.call(Helper::Write(memory, number), &operands, (0, 1));
            return;
        }
        let enable = self.value(write.enable);
        let (store, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(enable, store, &[], after, &[]);
        self.builder.switch_to_block(store);
        // What is loaded in one branch is not there in the others.
        let before = self.values.clone();
        let address = self.value(write.address);
        let data = self.value(write.data);
        let base = self.number(memory as usize as u64);
        let offset = self.builder.ins().ishl_imm(address, 3);
        let at = self.builder.ins().iadd(base, offset);
        let old = self.load(at, 0);
        self.store(data, at, 0);
        let first = first_weight(number).cast_signed();
        let weight = self.builder.ins().iadd_imm(address, first);
        let weight = self.builder.ins().imul_imm(weight, WEIGHT.cast_signed());
        let weight = self.builder.ins().bor_imm(weight, 1);
        let difference = self.builder.ins().isub(data, old);
        let difference = self.builder.ins().imul(difference, weight);
        let digest = self.load(self.env, word::DIGEST);
        let digest = self.builder.ins().iadd(digest, difference);
        self.store(digest, self.env, word::DIGEST);
        self.values = before;
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }
}
