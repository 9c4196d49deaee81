//! From a graph to machine code that computes one cycle.
//!
//! Values of up to 64 bits live in machine registers; wider ones in memory, where functions of ours
//! work on them. The code is cut into chunks of one function each, because the time to compile a
//! function grows faster than its length.
#![allow(unsafe_code, reason = "machine code is called by address")]

use std::alloc;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, InstBuilder, MemFlags, Signature, Type, UserFuncName, Value, types,
};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use num_bigint::BigUint;

use crate::error::Error;
use crate::graph::{Graph, Input, Kind, Mem, NodeId, Op, Write};

/// Nodes in a function.
const CHUNK: usize = 1000;

/// Words that a function adds to before it writes them: each takes a register, and the time to find
/// registers grows faster than the number of values.
const MOST_ADDED: usize = 8;

/// Words of the environment with a meaning of their own, all of them 0 or not 0.
pub(crate) mod word {
    /// A check fails in the settled cycle.
    pub const FAILED: usize = 0;
    /// A check fails on the clock's edge.
    pub const FAILED_AT_EDGE: usize = 1;
    /// A wire on a loop differs from the last evaluation.
    pub const UNSETTLED: usize = 2;
    /// The design has run.
    pub const DONE: usize = 3;
    /// The inputs.
    pub const GO: usize = 4;
    pub const RESET: usize = 5;
    pub const COUNT: usize = 6;
}

/// Words that a value takes.
pub(crate) fn words(width: u32) -> usize {
    usize::try_from(width.div_ceil(64)).unwrap_or(usize::MAX)
}

/// Reads a value from its words, the lowest first.
pub(crate) fn load(words: &[u64]) -> BigUint {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

/// Writes a value to its words.
pub(crate) fn store(value: &BigUint, words: &mut [u64]) {
    let mut digits = value.iter_u64_digits();
    for word in words {
        *word = digits.next().unwrap_or(0);
    }
}

/// Where the values of a machine are.
#[derive(Debug)]
pub(crate) struct Layout {
    /// First word of each register, in the state before and after a cycle.
    pub regs: Vec<usize>,
    /// Words of a state.
    pub state: usize,
    /// The words of the environment that hold the probes: one bit each, 64 in a word, and a word
    /// for each of those that are wider.
    pub probes: Range<usize>,
    /// Word and bit of each probe; without a bit it has the word to itself.
    pub probe: Vec<(usize, Option<u32>)>,
    /// The words of the environment that hold the watched values.
    pub watched: Range<usize>,
    /// First word of each wire on a loop in the environment.
    pub wires: Vec<usize>,
    /// Words of the environment.
    pub env: usize,
}

/// An operand of a function of ours.
#[derive(Debug)]
enum Arg {
    State(usize),
    Env(usize),
    Const(BigUint),
}

/// A call of a function of ours.
#[derive(Debug)]
struct Call {
    what: What,
    args: Vec<(Arg, u32)>,
    /// Where the result goes in the environment, and its width.
    result: (usize, u32),
}

#[derive(Debug)]
enum What {
    Op(Op),
    /// Address and number of words of the memory.
    Read(*const u64, u64),
    /// Address; the operands are enable, address and data. The memory's code checks the bounds.
    Write(*mut u64),
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
    let result = match &call.what {
        What::Op(op) => {
            let args: Vec<(BigUint, u32)> = (0..call.args.len())
                .map(|at| (arg(at), call.args[at].1))
                .collect();
            op.eval(width, &args)
        }
        What::Read(memory, size) => match u64::try_from(arg(0)) {
            // SAFETY: the word is one of the memory's.
            Ok(word) if word < *size => load(unsafe {
                std::slice::from_raw_parts(memory.add(index(word) * words(width)), words(width))
            }),
            _ => BigUint::ZERO,
        },
        What::Write(memory) => {
            if let (true, Ok(word)) = (arg(0) != BigUint::ZERO, u64::try_from(arg(1))) {
                let width = call.args[2].1;
                // SAFETY: the enable is high only if the word is one of the memory's.
                let target = unsafe {
                    std::slice::from_raw_parts_mut(
                        memory.add(index(word) * words(width)),
                        words(width),
                    )
                };
                store(&arg(2), target);
            }
            return;
        }
    };
    // SAFETY: the layout has room for the result.
    let target = unsafe { std::slice::from_raw_parts_mut(env.add(offset), words(width)) };
    store(&result, target);
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
type Calls = Vec<Box<Call>>;

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
        Compiler::new(graph, done, probes, watched)?.run()
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

/// What happens to a node's value once it is there.
#[derive(Debug, Clone, Copy)]
enum Sink {
    /// It is a register's next value.
    Next(usize),
    /// It is that of a wire on a loop: stored in the environment, and compared with what was there.
    Wire(usize),
    /// It is added to this word, shifted to the left.
    Add(usize, u32),
    /// It is used elsewhere.
    Store(usize),
}

struct Compiler<'a> {
    graph: &'a Graph,
    module: JITModule,
    perform: FuncId,
    layout: Layout,
    memories: Vec<Box<[u64]>>,
    /// The nodes to compute, in order, and the chunk of each.
    order: Vec<NodeId>,
    chunk_of: HashMap<NodeId, usize>,
    sinks: HashMap<NodeId, Vec<Sink>>,
    /// Where a node is in the environment, if it is.
    places: HashMap<NodeId, usize>,
    calls: Calls,
}

impl<'a> Compiler<'a> {
    fn new(
        graph: &'a Graph,
        done: NodeId,
        probes: &[NodeId],
        watched: &[NodeId],
    ) -> Result<Self, Error> {
        let mut flags = settings::builder();
        let failed = |error: &dyn std::fmt::Display| Error::Compile(error.to_string());
        for (flag, value) in [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            // The optimiser's code was measured to run less than half as fast.
            ("opt_level", "none"),
            ("enable_verifier", "false"),
        ] {
            flags.set(flag, value).map_err(|error| failed(&error))?;
        }
        let isa = cranelift_native::builder()
            .map_err(|error| failed(&error))?
            .finish(settings::Flags::new(flags))
            .map_err(|error| failed(&error))?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbol("perform", perform as *const u8);
        let mut module = JITModule::new(builder);
        let signature = signature(&module);
        let perform = module
            .declare_function("perform", Linkage::Import, &signature)
            .map_err(|error| failed(&error))?;
        let memories: Result<_, _> = graph.mems.iter().map(zeroed).collect();
        let memories = memories?;
        let mut compiler = Self {
            graph,
            module,
            perform,
            layout: Layout {
                regs: Vec::new(),
                state: 0,
                probes: 0..0,
                probe: Vec::new(),
                watched: 0..0,
                wires: Vec::new(),
                env: word::COUNT,
            },
            memories,
            order: Vec::new(),
            chunk_of: HashMap::new(),
            sinks: HashMap::new(),
            places: HashMap::new(),
            calls: Vec::new(),
        };
        compiler.lay_out(done, probes, watched);
        Ok(compiler)
    }

    fn reserve(&mut self, width: u32) -> usize {
        let at = self.layout.env;
        self.layout.env += words(width);
        at
    }

    fn sink(&mut self, node: NodeId, sink: Sink) {
        self.sinks.entry(node).or_default().push(sink);
    }

    /// Gives everything a place, and decides what is computed where.
    fn lay_out(&mut self, done: NodeId, probes: &[NodeId], watched: &[NodeId]) {
        let graph = self.graph;
        self.lay_out_probes(probes);
        let first = self.layout.env;
        for &node in watched {
            let at = self.reserve(graph.width(node));
            self.sink(node, Sink::Store(at));
        }
        self.layout.watched = first..self.layout.env;
        for &(width, node) in &graph.wires {
            let at = self.reserve(width);
            self.layout.wires.push(at);
            self.sink(node, Sink::Wire(at));
        }
        for reg in &graph.regs {
            let at = self.layout.state;
            self.layout.state += words(reg.width);
            self.layout.regs.push(at);
            self.sink(reg.next, Sink::Next(at));
        }
        self.sink(done, Sink::Add(word::DONE, 0));
        for check in &graph.checks {
            let flag = if check.at_edge {
                word::FAILED_AT_EDGE
            } else {
                word::FAILED
            };
            self.sink(check.fails, Sink::Add(flag, 0));
        }
        let mut roots: Vec<NodeId> = self.sinks.keys().copied().collect();
        let committed: Vec<NodeId> = graph
            .writes
            .iter()
            .flat_map(|write| [write.enable, write.address, write.data])
            .collect();
        roots.extend(&committed);
        self.order = live(graph, roots);
        self.chunk_of = self
            .order
            .iter()
            .enumerate()
            .map(|(at, &node)| (node, at / CHUNK))
            .collect();
        for node in committed {
            self.place(node);
        }
        for at in 0..self.order.len() {
            let node = self.order[at];
            let helped = self.needs_help(node);
            for &operand in graph.node(node).operands() {
                let far = self
                    .chunk_of
                    .get(&operand)
                    .is_some_and(|chunk| *chunk != at / CHUNK);
                if helped || far {
                    self.place(operand);
                }
            }
            if helped || graph.width(node) > 64 {
                self.place(node);
            }
        }
        // What a function of ours computes is there already.
        let stored: Vec<(NodeId, usize)> = self
            .places
            .iter()
            .map(|(&node, &at)| (node, at))
            .filter(|&(node, _)| !self.needs_help(node))
            .collect();
        for (node, at) in stored {
            self.sink(node, Sink::Store(at));
        }
    }

    fn lay_out_probes(&mut self, probes: &[NodeId]) {
        let first = self.layout.env;
        let bits = probes.iter().filter(|&&node| self.graph.width(node) == 1);
        let mut next_word = first + bits.count().div_ceil(64);
        let mut next_bit = 0;
        for &node in probes {
            let place = if self.graph.width(node) == 1 {
                let bit = u32::try_from(next_bit % 64).expect("it is below 64");
                next_bit += 1;
                (first + (next_bit - 1) / 64, Some(bit))
            } else {
                next_word += 1;
                (next_word - 1, None)
            };
            self.layout.probe.push(place);
            self.sink(node, Sink::Add(place.0, place.1.unwrap_or(0)));
        }
        self.layout.env = next_word;
        self.layout.probes = first..next_word;
    }

    /// Gives a computed node a place in the environment.
    fn place(&mut self, node: NodeId) {
        if self.chunk_of.contains_key(&node) && !self.places.contains_key(&node) {
            let at = self.reserve(self.graph.width(node));
            self.places.insert(node, at);
        }
    }

    /// Whether a function of ours computes the node.
    fn needs_help(&self, node: NodeId) -> bool {
        let node = self.graph.node(node);
        match node.kind {
            Kind::Op(..) | Kind::Read(..) => {
                let operands = node.operands();
                node.width > 64 || operands.iter().any(|&id| self.graph.width(id) > 64)
            }
            _ => false,
        }
    }

    /// The nodes with sinks that are not computed.
    fn leaves(&self) -> Vec<NodeId> {
        let sinks = self.sinks.keys().copied();
        let mut leaves: Vec<NodeId> = sinks
            .filter(|node| !self.chunk_of.contains_key(node))
            .collect();
        leaves.sort_unstable();
        leaves
    }

    fn run(mut self) -> Result<Code, Error> {
        let mut ids = Vec::new();
        for leaves in self.leaves().chunks(CHUNK) {
            ids.push(self.function(|function| {
                for &node in leaves {
                    function.drain(node);
                }
                function.add();
            })?);
        }
        for chunk in 0..self.order.len().div_ceil(CHUNK) {
            let nodes: Vec<NodeId> = self
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
                function.add();
            })?);
        }
        let graph = self.graph;
        let commit = self.function(|function| {
            for write in &graph.writes {
                function.write(write);
            }
        })?;
        self.module
            .finalize_definitions()
            .map_err(|error| Error::Compile(error.to_string()))?;
        let address = |id: FuncId| {
            let code = self.module.get_finalized_function(id);
            // SAFETY: the function was compiled with this signature.
            unsafe { std::mem::transmute::<*const u8, Chunk>(code) }
        };
        Ok(Code {
            chunks: ids.into_iter().map(address).collect(),
            commit: address(commit),
            module: Some(self.module),
            _calls: self.calls,
            memories: self.memories,
            layout: self.layout,
        })
    }

    /// Compiles one function.
    fn function(&mut self, build: impl FnOnce(&mut Function<'_, '_>)) -> Result<FuncId, Error> {
        let failed = |error: &dyn std::fmt::Display| Error::Compile(error.to_string());
        let signature = signature(&self.module);
        let id = self
            .module
            .declare_anonymous_function(&signature)
            .map_err(|error| failed(&error))?;
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
        let mut function = Function {
            perform: self.module.declare_func_in_func(self.perform, builder.func),
            compiler: self,
            builder,
            state,
            next,
            env,
            values: HashMap::new(),
            added: HashMap::new(),
        };
        build(&mut function);
        function.builder.ins().return_(&[]);
        function.builder.seal_all_blocks();
        function.builder.finalize();
        self.module
            .define_function(id, &mut context)
            .map_err(|error| failed(&error))?;
        Ok(id)
    }
}

fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    let pointer = module.target_config().pointer_type();
    signature.params = vec![AbiParam::new(pointer); 3];
    signature
}

/// The computed nodes that `roots` need, operands first.
fn live(graph: &Graph, roots: Vec<NodeId>) -> Vec<NodeId> {
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut open = roots;
    while let Some(node) = open.pop() {
        let computed = matches!(graph.node(node).kind, Kind::Op(..) | Kind::Read(..));
        if computed && seen.insert(node) {
            open.extend(graph.node(node).operands());
        }
    }
    let mut order: Vec<NodeId> = seen.into_iter().collect();
    order.sort_unstable();
    order
}

/// A function that is being built.
struct Function<'a, 'b> {
    compiler: &'b mut Compiler<'a>,
    builder: FunctionBuilder<'b>,
    perform: cranelift_codegen::ir::FuncRef,
    state: Value,
    next: Value,
    env: Value,
    values: HashMap<NodeId, Value>,
    /// What is added to each word.
    added: HashMap<usize, Value>,
}

fn byte_offset(word: usize) -> i32 {
    i32::try_from(word * 8).expect("designs need less than 2 GiB of state")
}

const WORD: Type = types::I64;

impl Function<'_, '_> {
    fn load(&mut self, base: Value, word: usize) -> Value {
        self.builder
            .ins()
            .load(WORD, MemFlags::trusted(), base, byte_offset(word))
    }

    fn store(&mut self, value: Value, base: Value, word: usize) {
        self.builder
            .ins()
            .store(MemFlags::trusted(), value, base, byte_offset(word));
    }

    fn number(&mut self, number: u64) -> Value {
        self.builder.ins().iconst(WORD, number.cast_signed())
    }

    fn masked(&mut self, value: Value, width: u32) -> Value {
        if width >= 64 {
            return value;
        }
        let mask = self.number((1 << width) - 1);
        self.builder.ins().band(value, mask)
    }

    /// A value of `width` bits with copies of its highest bit above.
    fn extended(&mut self, value: Value, width: u32) -> Value {
        let by = i64::from(64 - width);
        let shifted = self.builder.ins().ishl_imm(value, by);
        self.builder.ins().sshr_imm(shifted, by)
    }

    fn compare(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let bit = self.builder.ins().icmp(condition, a, b);
        self.builder.ins().uextend(WORD, bit)
    }

    /// The words of a node that is there already.
    fn words(&mut self, node: NodeId) -> Vec<Value> {
        let width = self.compiler.graph.width(node);
        let count = words(width);
        if count == 1 {
            return vec![self.value(node)];
        }
        match &self.compiler.graph.node(node).kind {
            Kind::Const(value) => {
                let mut digits = vec![0; count];
                store(value, &mut digits);
                digits.into_iter().map(|digit| self.number(digit)).collect()
            }
            Kind::Reg(reg) => {
                let at = self.compiler.layout.regs[reg.index()];
                (at..at + count)
                    .map(|word| self.load(self.state, word))
                    .collect()
            }
            Kind::Wire(wire) => {
                let at = self.compiler.layout.wires[wire.index()];
                (at..at + count)
                    .map(|word| self.load(self.env, word))
                    .collect()
            }
            _ => {
                let at = self.compiler.places[&node];
                (at..at + count)
                    .map(|word| self.load(self.env, word))
                    .collect()
            }
        }
    }

    /// The value of a node of up to 64 bits.
    fn value(&mut self, node: NodeId) -> Value {
        if let Some(&value) = self.values.get(&node) {
            return value;
        }
        let compiler = &self.compiler;
        let value = match &compiler.graph.node(node).kind {
            Kind::Const(value) => {
                let number = value.iter_u64_digits().next().unwrap_or(0);
                // Not kept: a constant in an instruction is better than one in a register.
                return self.number(number);
            }
            Kind::Reg(reg) => {
                let at = compiler.layout.regs[reg.index()];
                self.load(self.state, at)
            }
            Kind::Input(Input::Clock) => return self.number(0),
            Kind::Input(Input::Go) => self.load(self.env, word::GO),
            Kind::Input(Input::Reset) => self.load(self.env, word::RESET),
            Kind::Wire(wire) => {
                let at = compiler.layout.wires[wire.index()];
                self.load(self.env, at)
            }
            Kind::Op(..) | Kind::Read(..) => {
                let at = compiler.places[&node];
                self.load(self.env, at)
            }
        };
        self.values.insert(node, value);
        value
    }

    /// Computes a node and does what is to be done with its value.
    fn compute(&mut self, node: NodeId) {
        let graph = self.compiler.graph;
        let width = graph.width(node);
        if self.compiler.needs_help(node) {
            let at = self.compiler.places[&node];
            let what = match graph.node(node).kind {
                Kind::Op(op, _) => What::Op(op),
                Kind::Read(memory, _) => What::Read(
                    self.compiler.memories[memory.index()].as_ptr(),
                    graph.mems[memory.index()].size,
                ),
                _ => return,
            };
            self.call(what, graph.node(node).operands(), (at, width));
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

    fn drain(&mut self, node: NodeId) {
        let Some(sinks) = self.compiler.sinks.get(&node).cloned() else {
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
                    Sink::Add(word, by) => {
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

    fn raise(&mut self, word: usize, value: Value) {
        let value = match self.added.get(&word) {
            Some(&known) => self.builder.ins().bor(known, value),
            None => {
                if self.added.len() == MOST_ADDED {
                    self.add();
                }
                value
            }
        };
        self.added.insert(word, value);
    }

    /// Adds what this function found to the words of the environment.
    fn add(&mut self) {
        let mut added: Vec<(usize, Value)> = self.added.drain().collect();
        added.sort_unstable_by_key(|&(word, _)| word);
        for (word, value) in added {
            let old = self.load(self.env, word);
            let value = self.builder.ins().bor(old, value);
            self.store(value, self.env, word);
        }
    }

    fn call(&mut self, what: What, operands: &[NodeId], result: (usize, u32)) {
        let graph = self.compiler.graph;
        let layout = &self.compiler.layout;
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
                    Kind::Op(..) | Kind::Read(..) => Arg::Env(self.compiler.places[&node]),
                };
                (arg, graph.width(node))
            })
            .collect();
        let call = Box::new(Call { what, args, result });
        let address = std::ptr::from_ref::<Call>(&call) as usize as u64;
        self.compiler.calls.push(call);
        let call = self.number(address);
        self.builder
            .ins()
            .call(self.perform, &[call, self.state, self.env]);
    }

    fn read(&mut self, memory: usize, address: NodeId) -> Value {
        let size = self.compiler.graph.mems[memory].size;
        let width = self.compiler.graph.width(address);
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

    /// Writes to a memory what a cycle writes.
    fn write(&mut self, write: &Write) {
        let graph = self.compiler.graph;
        let memory = self.compiler.memories[write.memory.index()].as_mut_ptr();
        let operands = [write.enable, write.address, write.data];
        if operands.iter().any(|&node| graph.width(node) > 64) {
            self.call(What::Write(memory), &operands, (0, 1));
            return;
        }
        let enable = self.value(write.enable);
        let (store, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(enable, store, &[], after, &[]);
        self.builder.switch_to_block(store);
        // What is loaded in one branch is not there in the others.
        let known = self.values.clone();
        let address = self.value(write.address);
        let data = self.value(write.data);
        let base = self.number(memory as usize as u64);
        let offset = self.builder.ins().ishl_imm(address, 3);
        let at = self.builder.ins().iadd(base, offset);
        self.store(data, at, 0);
        self.values = known;
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    /// An operation on values of up to 64 bits.
    fn operation(&mut self, op: Op, width: u32, operands: &[NodeId]) -> Value {
        let widths: Vec<u32> = operands
            .iter()
            .map(|&node| self.compiler.graph.width(node))
            .collect();
        let args: Vec<Value> = operands.iter().map(|&node| self.value(node)).collect();
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        let ins = |function: &mut Self, act: &dyn Fn(&mut FunctionBuilder<'_>) -> Value| {
            let value = act(&mut function.builder);
            function.masked(value, width)
        };
        match op {
            Op::And => self.builder.ins().band(a, b),
            Op::Or => self.builder.ins().bor(a, b),
            Op::Xor => self.builder.ins().bxor(a, b),
            Op::Not => ins(self, &|builder| builder.ins().bnot(a)),
            Op::Add => ins(self, &|builder| builder.ins().iadd(a, b)),
            Op::Sub => ins(self, &|builder| builder.ins().isub(a, b)),
            Op::Mul => ins(self, &|builder| builder.ins().imul(a, b)),
            Op::Div | Op::Rem | Op::SDiv | Op::SRem => self.division(op, width, a, b),
            Op::Eq => self.compare(IntCC::Equal, a, b),
            Op::Lt => self.compare(IntCC::UnsignedLessThan, a, b),
            Op::SLt => {
                let (a, b) = (self.extended(a, widths[0]), self.extended(b, widths[1]));
                self.compare(IntCC::SignedLessThan, a, b)
            }
            Op::Shl | Op::Shr | Op::Sar => self.shift(op, width, a, b),
            Op::Mux => self.builder.ins().select(a, b, args[2]),
            Op::Slice(low) if low >= 64 => self.number(0),
            Op::Slice(low) => ins(self, &|builder| builder.ins().ushr_imm(a, i64::from(low))),
            Op::Pad => a,
            Op::SignExtend => {
                let extended = self.extended(a, widths[0]);
                self.masked(extended, width)
            }
            Op::Cat => {
                let high = self.builder.ins().ishl_imm(a, i64::from(widths[1]));
                self.builder.ins().bor(high, b)
            }
            Op::NotSqrt => {
                let builder = &mut self.builder;
                let root = builder.ins().fcvt_from_uint(types::F64, b);
                let root = builder.ins().sqrt(root);
                let root = builder.ins().floor(root);
                let value = builder.ins().fcvt_from_uint(types::F64, a);
                let bit = builder.ins().fcmp(FloatCC::NotEqual, value, root);
                builder.ins().uextend(WORD, bit)
            }
        }
    }

    fn division(&mut self, op: Op, width: u32, a: Value, b: Value) -> Value {
        let zero = self.number(0);
        let one = self.number(1);
        let is_zero = self.builder.ins().icmp(IntCC::Equal, b, zero);
        let signed = matches!(op, Op::SDiv | Op::SRem);
        let (a, b) = if signed {
            (self.extended(a, width), self.extended(b, width))
        } else {
            (a, b)
        };
        let by = self.builder.ins().select(is_zero, one, b);
        let result = if signed {
            // The least number by -1 would trap.
            let minus_one = self.number(u64::MAX);
            let negates = self.builder.ins().icmp(IntCC::Equal, by, minus_one);
            let by = self.builder.ins().select(negates, one, by);
            if op == Op::SDiv {
                let quotient = self.builder.ins().sdiv(a, by);
                let negative = self.builder.ins().ineg(a);
                self.builder.ins().select(negates, negative, quotient)
            } else {
                self.builder.ins().srem(a, by)
            }
        } else if op == Op::Div {
            self.builder.ins().udiv(a, by)
        } else {
            self.builder.ins().urem(a, by)
        };
        let result = self.builder.ins().select(is_zero, zero, result);
        self.masked(result, width)
    }

    fn shift(&mut self, op: Op, width: u32, a: Value, by: Value) -> Value {
        let limit = self.number(u64::from(width));
        let fits = self.builder.ins().icmp(IntCC::UnsignedLessThan, by, limit);
        if op == Op::Sar {
            let most = self.number(u64::from(width - 1));
            let by = self.builder.ins().select(fits, by, most);
            let a = self.extended(a, width);
            let shifted = self.builder.ins().sshr(a, by);
            return self.masked(shifted, width);
        }
        let shifted = if op == Op::Shl {
            let shifted = self.builder.ins().ishl(a, by);
            self.masked(shifted, width)
        } else {
            self.builder.ins().ushr(a, by)
        };
        let zero = self.number(0);
        self.builder.ins().select(fits, shifted, zero)
    }
}
