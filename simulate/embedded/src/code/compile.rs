//! From the plan of a design to functions of machine code.
//!
//! A function goes through its parts: one that has to be computed loads what it needs, computes its nodes in
//! order, stores what others need, and tells who uses it when that has changed. `operations.rs` makes the
//! instructions of an operation.

mod bits;

use std::collections::{BTreeMap, HashMap};

use cranelift_codegen::ir::{
    Block, FuncRef, InstBuilder, Signature, Type, UserFuncName, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use num_bigint::BigUint;
use petal_reconstruct::Id as _;

use super::helpers::{self, Arg, Call, Calls, Helper};
use super::layout::{Layout, Wake, store, word, words};
use super::operations::Operations;
use super::plan::{Plan, Sink};
use crate::error::Error;
use crate::graph::{Kind, NodeId, Op};

/// Parts that are looked at together, whether any of them has to be computed.
const TOGETHER: usize = 8;

/// The functions of a design.
pub(super) struct Compiled {
    pub module: JITModule,
    /// The functions that compute a cycle, in order.
    pub functions: Vec<FuncId>,
    /// What the functions hold addresses of.
    pub calls: Calls,
    pub layout: Layout,
}

/// Compiles a design.
pub(super) fn compile(plan: Plan<'_>) -> Result<Compiled, Error> {
    let mut module = module()?;
    let signature = helpers::perform_signature(&module);
    let perform = module
        .declare_function(helpers::PERFORM, Linkage::Import, &signature)
        .map_err(failed)?;
    let compiler = Compiler {
        plan,
        module,
        perform,
        calls: Vec::new(),
    };
    compiler.run()
}

/// A module to add functions to.
pub(crate) fn module() -> Result<JITModule, Error> {
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
    helpers::provide(&mut builder);
    Ok(JITModule::new(builder))
}

pub(crate) fn failed(error: impl std::fmt::Display) -> Error {
    Error::Compile(error.to_string())
}

/// What the functions that are being made share.
struct Compiler<'a> {
    plan: Plan<'a>,
    module: JITModule,
    perform: FuncId,
    calls: Calls,
}

impl Compiler<'_> {
    fn run(mut self) -> Result<Compiled, Error> {
        let functions = std::mem::take(&mut self.plan.functions);
        let flags = self.plan.layout.flags.clone();
        let ids = flags.zip(&functions).map(|(flag, parts)| {
            self.function(|function| match &parts[..] {
                [part] => function.part(part),
                parts => function.parts(flag, parts),
            })
        });
        let functions = ids.collect::<Result<_, _>>()?;
        self.module.finalize_definitions().map_err(failed)?;
        Ok(Compiled {
            module: self.module,
            functions,
            calls: self.calls,
            layout: self.plan.layout,
        })
    }

    /// Compiles one function.
    fn function(
        &mut self,
        build: impl FnOnce(&mut FunctionCompiler<'_, '_>),
    ) -> Result<FuncId, Error> {
        let signature: Signature = helpers::signature(&self.module);
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
        let all = builder.block_params(block)[0];
        let mut function = FunctionCompiler {
            perform: self.module.declare_func_in_func(self.perform, builder.func),
            compiler: self,
            builder,
            all,
            values: HashMap::new(),
            changed: BTreeMap::new(),
            raised: BTreeMap::new(),
            bits: BTreeMap::new(),
            flags: None,
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
struct FunctionCompiler<'a, 'b> {
    compiler: &'b mut Compiler<'a>,
    builder: FunctionBuilder<'b>,
    perform: FuncRef,
    /// The address of all words.
    all: Value,
    values: HashMap<NodeId, Value>,
    /// What is to be set when one of these values is not 0.
    changed: BTreeMap<Vec<Wake>, Value>,
    /// The bits to set in each word.
    raised: BTreeMap<usize, Value>,
    /// The bits that are known of each word, and which these are.
    bits: BTreeMap<usize, (u64, Value)>,
    flags: Option<Flags>,
}

/// The word that tells which parts of a function have to be computed, while the function goes through them.
#[derive(Clone, Copy)]
struct Flags {
    word: usize,
    variable: Variable,
    /// The lowest bit that is still there.
    first: usize,
}

/// What values of up to 64 bits are computed in.
pub(crate) const WORD: Type = types::I64;

impl<'b> FunctionCompiler<'_, 'b> {
    /// The parts of a function, of which this word tells which have to be computed.
    fn parts(&mut self, word: usize, parts: &[Vec<NodeId>]) {
        let variable = self.builder.declare_var(WORD);
        let all = self.load(word);
        self.builder.def_var(variable, all);
        for (first, parts) in (0..).step_by(TOGETHER).zip(parts.chunks(TOGETHER)) {
            // Parts wake later ones only. What is tested has to be a small constant.
            let shifted = first / 32 * 32;
            if first == shifted && first > 0 {
                let flags = self.builder.use_var(variable);
                let flags = self.builder.ins().ushr_imm(flags, 32);
                self.builder.def_var(variable, flags);
            }
            self.flags = Some(Flags {
                word,
                variable,
                first: shifted,
            });
            let after = self.when_any(variable, ((1 << TOGETHER) - 1) << (first - shifted));
            for (bit, part) in (first - shifted..).zip(parts) {
                let after = self.when_any(variable, 1 << bit);
                self.part(part);
                self.values.clear();
                self.end(after);
            }
            self.end(after);
        }
    }

    /// What follows is done if any of these flags is set. Returns the block to end it with.
    fn when_any(&mut self, flags: Variable, mask: i64) -> Block {
        let (then, after) = (self.builder.create_block(), self.builder.create_block());
        let flags = self.builder.use_var(flags);
        let flags = self.builder.ins().ireduce(types::I32, flags);
        let any = self.builder.ins().band_imm(flags, mask);
        self.builder.ins().brif(any, then, &[], after, &[]);
        self.builder.switch_to_block(then);
        self.builder.seal_block(then);
        after
    }

    /// Goes on in another block.
    fn end(&mut self, after: Block) {
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
        self.builder.seal_block(after);
    }

    fn part(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            self.compute(node);
        }
        self.write_changed();
        self.write_raised();
        self.write_bits();
    }

    fn load(&mut self, word: usize) -> Value {
        let all = self.all;
        self.make().load(all, word)
    }

    fn store(&mut self, value: Value, word: usize) {
        let all = self.all;
        self.make().store(value, all, word);
    }

    fn number(&mut self, number: u64) -> Value {
        self.make().number(number)
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
                store(value, width, &mut digits);
                digits.into_iter().map(|digit| self.number(digit)).collect()
            }
            Kind::Reg(reg) => {
                let place = self.compiler.plan.layout.regs[reg.index()];
                place.words().map(|word| self.load(word)).collect()
            }
            Kind::Wire(wire) => {
                let place = self.compiler.plan.layout.wires[wire.index()];
                place.words().map(|word| self.load(word)).collect()
            }
            _ => {
                let at = self.compiler.plan.slot(node);
                (at..at + count).map(|word| self.load(word)).collect()
            }
        }
    }

    /// The value of a node of up to 64 bits.
    fn value(&mut self, node: NodeId) -> Value {
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
                let at = plan.layout.regs[reg.index()].at;
                self.load(at)
            }
            // Only the clock: the others are constants of a run.
            Kind::Input(_) => return self.number(0),
            Kind::Wire(wire) => {
                let at = plan.layout.wires[wire.index()].at;
                self.load(at)
            }
            Kind::Op(..) | Kind::Read(..) => {
                let at = plan.slot(node);
                self.load(at)
            }
        };
        self.values.insert(node, value);
        value
    }

    /// Computes a node, if it is not there already, and does what is to be done with its value.
    fn compute(&mut self, node: NodeId) {
        let graph = self.compiler.plan.graph;
        let width = graph.width(node);
        if self.compiler.plan.needs_help(node) {
            let at = self.compiler.plan.slot(node);
            let helper = match graph.node(node).kind {
                Kind::Op(op, _) => Helper::Op(op),
                Kind::Read(memory, _) => {
                    let address = self.compiler.plan.layout.memories.start + memory.index();
                    Helper::Read(address, graph.mems[memory.index()].size)
                }
                _ => return,
            };
            let difference = self.call(helper, graph.node(node).operands(), (at, width));
            let wakes = self.compiler.plan.wakes(node).to_vec();
            self.wake(difference, 1, &wakes);
        } else {
            match graph.node(node).kind {
                Kind::Op(op, _) => {
                    let value = self.operation(op, width, graph.node(node).operands());
                    self.values.insert(node, value);
                }
                Kind::Read(memory, address) => {
                    let value = self.read(memory.index(), address);
                    self.values.insert(node, value);
                }
                _ => {}
            }
        }
        self.drain(node);
    }

    /// Does with the value of a node what is to be done.
    fn drain(&mut self, node: NodeId) {
        let sinks = self.compiler.plan.sinks(node).to_vec();
        if sinks.is_empty() {
            return;
        }
        let width = self.compiler.plan.graph.width(node);
        let values = self.words(node);
        for sink in sinks {
            match sink {
                Sink::Store(at, wakes) => {
                    if !wakes.is_empty() {
                        let difference = self.difference(at, &values);
                        self.wake(difference, width, &wakes);
                    }
                    for (word, &value) in (at..).zip(&values) {
                        self.store(value, word);
                    }
                }
                Sink::Wire(at) => {
                    let difference = self.difference(at, &values);
                    self.raise(word::UNSETTLED, difference);
                    for (word, &value) in (at..).zip(&values) {
                        self.store(value, word);
                    }
                }
                Sink::Bit(word, by) => {
                    let value = match by {
                        0 => values[0],
                        by => self.builder.ins().ishl_imm(values[0], i64::from(by)),
                    };
                    self.set_bit(word, 1 << by, value);
                }
                Sink::Raise(word) => self.raise(word, values[0]),
            }
        }
    }

    /// Not 0 if these values differ from the words there.
    fn difference(&mut self, at: usize, values: &[Value]) -> Value {
        let differences: Vec<Value> = (at..)
            .zip(values)
            .map(|(word, &value)| {
                let old = self.load(word);
                self.builder.ins().bxor(old, value)
            })
            .collect();
        let all = differences.into_iter();
        all.reduce(|all, difference| self.builder.ins().bor(all, difference))
            .expect("a value has words")
    }

    /// Calls a helper; the result goes to these words, and has this width. Returns whether it is another one
    /// than before.
    fn call(&mut self, helper: Helper, operands: &[NodeId], result: (usize, u32)) -> Value {
        let graph = self.compiler.plan.graph;
        let layout = &self.compiler.plan.layout;
        let args = operands
            .iter()
            .map(|&node| {
                let arg = match &graph.node(node).kind {
                    Kind::Const(value) => Arg::Const(value.clone()),
                    Kind::Reg(reg) => Arg::Words(layout.regs[reg.index()].at),
                    Kind::Input(_) => Arg::Const(BigUint::ZERO),
                    Kind::Wire(wire) => Arg::Words(layout.wires[wire.index()].at),
                    Kind::Op(..) | Kind::Read(..) => Arg::Words(self.compiler.plan.slot(node)),
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
        let call = self.builder.ins().call(self.perform, &[call, self.all]);
        self.builder.inst_results(call)[0]
    }

    /// Reads a word of up to 64 bits; 0 beyond the memory's end.
    fn read(&mut self, memory: usize, address: NodeId) -> Value {
        let size = self.compiler.plan.graph.mems[memory].size;
        let width = self.compiler.plan.graph.width(address);
        let base = self.load(self.compiler.plan.layout.memories.start + memory);
        let address = self.value(address);
        self.make().read(base, size, address, width)
    }

    /// An operation on values of up to 64 bits.
    fn operation(&mut self, op: Op, width: u32, operands: &[NodeId]) -> Value {
        let graph = self.compiler.plan.graph;
        let widths: Vec<u32> = operands.iter().map(|&node| graph.width(node)).collect();
        let args: Vec<Value> = operands.iter().map(|&node| self.value(node)).collect();
        self.make().operation(op, width, &args, &widths)
    }

    fn make(&mut self) -> Operations<'_, 'b> {
        Operations(&mut self.builder)
    }
}
