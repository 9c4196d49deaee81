//! From tapes to one function of machine code.
//!
//! Each tape has a block that computes a cycle. Where nothing is odd in it, what changes is told: the number of the edge that led to it, and
//! the probes that are no constants; then the clock rises, and the block of the next tape follows. The function returns where it was asked
//! to, where something is odd, and where no edge is known. What it computes is what [`Tape`] does.

use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, UserFuncName, Value};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::{Change, Id as _, ListNumber};

use super::tape::{Code, Edge, Place, Tape, Values, Write};
use crate::code::{Operations, WEIGHT, WORD, failed, first_weight, module};
use crate::error::Error;
use crate::graph::Op;

/// Words that the code and its caller share.
pub(super) mod shared {
    /// Where the cycles end that the code may write; where those end that it wrote.
    pub const END: usize = 0;
    pub const OUT: usize = 1;
    /// The number of a tape before whose cycle the code returns if this is the digest of the memories, and the register at this distance has
    /// this value.
    pub const KEPT: usize = 2;
    pub const KEPT_DIGEST: usize = 3;
    pub const REGISTER: usize = 4;
    pub const VALUE: usize = 5;
    /// The digest of the memories.
    pub const DIGEST: usize = 6;
    /// The number of the tape of the latest cycle.
    pub const START: usize = 7;
    /// The bytes of the changes before those that the code writes.
    pub const OWN: usize = 8;
    pub const COUNT: usize = 9;

    /// How the code returns, below the number of a tape: its cycle was told, or the edge of the clock after it was. Anything else: below the
    /// number of an edge that was begun.
    pub const AFTER_CYCLE: u64 = 0;
    pub const AFTER_EDGE: u64 = 1;
    pub const BEGUN: u64 = 2;
}

/// Of a tape, edges and changes that depend on data, at most.
const MAX_EDGES: usize = 16;
const MAX_OWN: usize = 64;

/// The edge of the cycle that was told before the call.
const NO_EDGE: i64 = u32::MAX as i64;

/// A function, and what its numbers mean.
pub(super) struct Made {
    pub module: JITModule,
    pub function: FuncId,
    pub tapes: Vec<usize>,
    pub from: Vec<usize>,
    pub lists: Vec<Arc<[Change]>>,
    /// Changes of a cycle that are no list's, at most.
    pub own: usize,
}

/// Makes the function for those of the tapes that it can have. `first`: the number of the first edge.
pub(super) fn make(
    tapes: &[Tape],
    values: &Values,
    memories: &[u64],
    first: ListNumber,
) -> Result<Made, Error> {
    let fit: Vec<usize> = (0..tapes.len()).filter(|&at| is_fit(&tapes[at])).collect();
    let mut module = module()?;
    let pointer = module.target_config().pointer_type();
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(pointer); 5];
    signature.returns = vec![AbiParam::new(WORD)];
    let function = module
        .declare_anonymous_function(&signature)
        .map_err(failed)?;
    let mut context = module.make_context();
    context.func.signature = signature;
    context.func.name = UserFuncName::user(0, function.as_u32());
    let mut variables = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut variables);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let params = builder.block_params(entry).to_vec();
    let [edge, out, own] = [(); 3].map(|()| builder.declare_var(WORD));
    let blocks = tapes.iter().map(|_| builder.create_block()).collect();
    let mut maker = Maker {
        tapes,
        constants: values,
        memories,
        fit: &fit,
        shared: params[0],
        registers: params[1],
        told: params[2],
        changes: params[4],
        edge,
        out,
        own,
        blocks,
        odd: builder.create_block(),
        first,
        from: Vec::new(),
        lists: Vec::new(),
        builder,
    };
    maker.begin(params[3]);
    for &at in &fit {
        maker.tape(at);
    }
    maker.end();
    let Maker {
        mut builder,
        from,
        lists,
        ..
    } = maker;
    builder.seal_all_blocks();
    builder.finalize();
    module
        .define_function(function, &mut context)
        .map_err(failed)?;
    module.finalize_definitions().map_err(failed)?;
    // The edge may lead from any of them to any other.
    let own = fit.iter().map(|&at| own_changes(&tapes[at]));
    let [moving, ends] = own.fold([0, 0], |[a, b], [c, d]| [a.max(c), b.max(d)]);
    Ok(Made {
        module,
        function,
        own: moving + ends,
        tapes: fit,
        from,
        lists,
    })
}

/// Changes at most that are no list's: of a cycle of this tape, and of the edges that lead on from it.
fn own_changes(tape: &Tape) -> [usize; 2] {
    let ends = tape.edges.iter().map(|edge| edge.end.len());
    [tape.moving.len(), ends.max().unwrap_or(0)]
}

fn is_fit(tape: &Tape) -> bool {
    let needs_help = |code: &Code| matches!(code, Code::Op(Op::Float(..)));
    tape.edges.len() <= MAX_EDGES
        && own_changes(tape).iter().sum::<usize>() <= MAX_OWN
        && !tape.steps.iter().any(|step| needs_help(&step.code))
}

/// A function that is being made.
struct Maker<'a> {
    tapes: &'a [Tape],
    constants: &'a Values,
    memories: &'a [u64],
    fit: &'a [usize],
    builder: FunctionBuilder<'a>,
    /// What the function is given.
    shared: Value,
    registers: Value,
    told: Value,
    changes: Value,
    /// The edge that leads to the cycle, where the next cycle is written, and the bytes before the next change.
    edge: Variable,
    out: Variable,
    own: Variable,
    /// Where the cycle of each tape begins, and where the function returns after an edge that was begun.
    blocks: Vec<Block>,
    odd: Block,
    first: ListNumber,
    from: Vec<usize>,
    lists: Vec<Arc<[Change]>>,
}

/// The values of a cycle.
type Known = HashMap<Place, Value>;

impl<'a> Maker<'a> {
    fn number(&mut self, number: u64) -> Value {
        self.make().number(number)
    }

    fn load(&mut self, base: Value, word: usize) -> Value {
        self.make().load(base, word)
    }

    fn store(&mut self, value: Value, base: Value, word: usize) {
        self.make().store(value, base, word);
    }

    /// Goes to the tape of the latest cycle, whose values are computed once more.
    fn begin(&mut self, out: Value) {
        let no_edge = self.builder.ins().iconst(WORD, NO_EDGE);
        let own = self.load(self.shared, shared::OWN);
        let start = self.load(self.shared, shared::START);
        self.builder.def_var(self.edge, no_edge);
        self.builder.def_var(self.out, out);
        self.builder.def_var(self.own, own);
        let mut switch = Switch::new();
        for (number, &tape) in (0..).zip(self.fit) {
            switch.set_entry(number, self.blocks[tape]);
        }
        switch.emit(&mut self.builder, start, self.odd);
    }

    fn end(&mut self) {
        self.builder.switch_to_block(self.odd);
        let edge = self.builder.use_var(self.edge);
        let edge = self.builder.ins().ishl_imm(edge, 2);
        let exit = self
            .builder
            .ins()
            .bor_imm(edge, shared::BEGUN.cast_signed());
        self.leave(exit);
    }

    fn leave(&mut self, exit: Value) {
        let out = self.builder.use_var(self.out);
        self.store(out, self.shared, shared::OUT);
        self.builder.ins().return_(&[exit]);
    }

    /// A cycle of a tape, and the edges that lead on from it.
    fn tape(&mut self, at: usize) {
        let tape = &self.tapes[at];
        self.builder.switch_to_block(self.blocks[at]);
        let known = self.compute(tape);
        if let Some(odd) = self.odd(tape, &known) {
            let goes_on = self.builder.create_block();
            self.builder.ins().brif(odd, self.odd, &[], goes_on, &[]);
            self.builder.switch_to_block(goes_on);
        }
        let (tells, rises) = (self.builder.create_block(), self.builder.create_block());
        let edge = self.builder.use_var(self.edge);
        let was_told = self.builder.ins().icmp_imm(IntCC::Equal, edge, NO_EDGE);
        self.builder.ins().brif(was_told, rises, &[], tells, &[]);
        self.builder.switch_to_block(tells);
        self.look(at);
        self.tell(tape, &known);
        let stays = self.builder.create_block();
        let out = self.builder.use_var(self.out);
        let end = self.load(self.shared, shared::END);
        let is_full = self.builder.ins().icmp(IntCC::Equal, out, end);
        self.builder.ins().brif(is_full, stays, &[], rises, &[]);
        self.builder.switch_to_block(stays);
        self.exit(at, shared::AFTER_CYCLE);
        self.builder.switch_to_block(rises);
        self.commit(tape, &known);
        self.go_on(at, &known);
    }

    /// Returns at a tape.
    fn exit(&mut self, at: usize, how: u64) {
        let number = self.fit.binary_search(&at).expect("it is one of them");
        let exit = self.number((number as u64) << 2 | how);
        self.leave(exit);
    }

    /// All values that the cycle of a tape needs: what the registers are later is something else.
    fn compute(&mut self, tape: &Tape) -> Known {
        let mut known = Known::new();
        for step in &tape.steps {
            let args = &step.args[..step.operands];
            let args: Vec<Value> = args
                .iter()
                .map(|&place| self.place(place, &mut known))
                .collect();
            let widths = step.widths;
            let value = match step.code {
                Code::Op(op) => self.make().operation(op, step.width, &args, &widths),
                Code::Read(memory, size) => {
                    let base = self.number(self.memories[memory.index()]);
                    self.make().read(base, size, args[0], widths[0])
                }
            };
            known.insert(step.to, value);
        }
        let writes = tape.writes.iter();
        let writes = writes.flat_map(|write| {
            let places = [write.enable, write.address, write.data];
            places.into_iter().chain(write.within)
        });
        let sets = tape.sets.iter().map(|&(_, from)| from);
        let moving = tape.moving.iter().map(|&(_, place)| place);
        let stops = tape.stops.iter().copied();
        for place in writes.chain(sets).chain(moving).chain(stops) {
            self.place(place, &mut known);
        }
        known
    }

    fn make(&mut self) -> Operations<'_, 'a> {
        Operations(&mut self.builder)
    }

    /// The value at a place: of what is computed only where it is known.
    fn place(&mut self, place: Place, known: &mut Known) -> Value {
        if let Some(constant) = self.constants.constant_at(place) {
            return self.number(constant);
        }
        if let Some(&value) = known.get(&place) {
            return value;
        }
        let value = self.load(self.registers, place as usize);
        known.insert(place, value);
        value
    }

    /// The value at a place of which all are known.
    fn known(&mut self, place: Place, known: &Known) -> Value {
        match self.constants.constant_at(place) {
            Some(constant) => self.number(constant),
            None => known[&place],
        }
    }

    /// Whether the cycle has to be left to the general code, if it may have to be.
    fn odd(&mut self, tape: &Tape, known: &Known) -> Option<Value> {
        let mut odd: Vec<Value> = Vec::new();
        for &place in &tape.stops {
            let value = self.known(place, known);
            odd.push(self.builder.ins().icmp_imm(IntCC::NotEqual, value, 0));
        }
        for write in &tape.writes {
            odd.extend(self.strays(write, known));
        }
        let all = odd.into_iter();
        all.reduce(|all, odd| self.builder.ins().bor(all, odd))
    }

    /// Whether a write goes beyond its memory, if it may.
    fn strays(&mut self, write: &Write, known: &Known) -> Option<Value> {
        let address = self.constants.constant_at(write.address);
        if write.within.is_none() && address.is_some_and(|address| address < write.size) {
            return None;
        }
        let [enable, address] = [write.enable, write.address].map(|place| self.known(place, known));
        let size = self.number(write.size);
        let beyond = IntCC::UnsignedGreaterThanOrEqual;
        let mut strays = self.builder.ins().icmp(beyond, address, size);
        if let Some(within) = write.within {
            let within = self.known(within, known);
            let beyond = self.builder.ins().icmp_imm(IntCC::Equal, within, 0);
            strays = self.builder.ins().bor(strays, beyond);
        }
        let writes = self.builder.ins().icmp_imm(IntCC::NotEqual, enable, 0);
        Some(self.builder.ins().band(strays, writes))
    }

    /// Returns before the cycle of a tape whose state may have been there before.
    fn look(&mut self, at: usize) {
        let number = self.fit.binary_search(&at).expect("it is one of them");
        let number = i64::try_from(number).expect("tapes are few");
        let (looks, differs) = (self.builder.create_block(), self.builder.create_block());
        let kept = self.load(self.shared, shared::KEPT);
        let is_kept = self.builder.ins().icmp_imm(IntCC::Equal, kept, number);
        self.builder.ins().brif(is_kept, looks, &[], differs, &[]);
        self.builder.switch_to_block(looks);
        let register = self.load(self.shared, shared::REGISTER);
        let register = self.builder.ins().iadd(self.registers, register);
        let now = self.load(register, 0);
        let before = self.load(self.shared, shared::VALUE);
        let is_same = self.builder.ins().icmp(IntCC::Equal, now, before);
        let [digest, kept] =
            [shared::DIGEST, shared::KEPT_DIGEST].map(|at| self.load(self.shared, at));
        let has_same = self.builder.ins().icmp(IntCC::Equal, digest, kept);
        let is_same = self.builder.ins().band(is_same, has_same);
        self.builder
            .ins()
            .brif(is_same, self.odd, &[], differs, &[]);
        self.builder.switch_to_block(differs);
    }

    /// Tells a cycle: its edge, and which of the probes that are no constants have changed.
    fn tell(&mut self, tape: &Tape, known: &Known) {
        for &(slot, place) in &tape.moving {
            let value = self.known(place, known);
            let before = self.load(self.told, slot.index());
            let differs = self.builder.ins().icmp(IntCC::NotEqual, value, before);
            self.store(value, self.told, slot.index());
            self.change(slot.index(), value, differs);
        }
        let own = self.builder.use_var(self.own);
        // 16 bytes each: their number goes above the edge's.
        let end = self.builder.ins().ishl_imm(own, 32 - 4);
        let edge = self.builder.use_var(self.edge);
        let cycle = self.builder.ins().bor(end, edge);
        let out = self.builder.use_var(self.out);
        self.store(cycle, out, 0);
        let out = self.builder.ins().iadd_imm(out, 8);
        self.builder.def_var(self.out, out);
    }

    /// Tells a change if it is one.
    fn change(&mut self, slot: usize, value: Value, differs: Value) {
        let own = self.builder.use_var(self.own);
        let at = self.builder.ins().iadd(self.changes, own);
        let slot = self.number(slot as u64);
        self.store(slot, at, 0);
        self.store(value, at, 1);
        let one = self.builder.ins().uextend(WORD, differs);
        let more = self.builder.ins().ishl_imm(one, 4);
        let own = self.builder.ins().iadd(own, more);
        self.builder.def_var(self.own, own);
    }

    /// The rising edge of the clock.
    fn commit(&mut self, tape: &Tape, known: &Known) {
        for write in &tape.writes {
            if self.constants.constant_at(write.enable).is_some() {
                self.write(write, known);
                continue;
            }
            let (writes, after) = (self.builder.create_block(), self.builder.create_block());
            let enable = self.known(write.enable, known);
            self.builder.ins().brif(enable, writes, &[], after, &[]);
            self.builder.switch_to_block(writes);
            self.write(write, known);
            self.builder.ins().jump(after, &[]);
            self.builder.switch_to_block(after);
        }
        for &(to, from) in &tape.sets {
            let value = self.known(from, known);
            self.store(value, self.registers, to as usize);
        }
    }

    /// Writes a word, and what that adds to the digest.
    fn write(&mut self, write: &Write, known: &Known) {
        let memory = write.memory.index();
        let [address, data] = [write.address, write.data].map(|place| self.known(place, known));
        let base = self.number(self.memories[memory]);
        let word = self.builder.ins().ishl_imm(address, 3);
        let at = self.builder.ins().iadd(base, word);
        let before = self.load(at, 0);
        self.store(data, at, 0);
        let [first, factor] = [first_weight(memory), WEIGHT].map(|number| self.number(number));
        let weight = self.builder.ins().iadd(address, first);
        let weight = self.builder.ins().imul(weight, factor);
        let weight = self.builder.ins().bor_imm(weight, 1);
        let more = self.builder.ins().isub(data, before);
        let more = self.builder.ins().imul(more, weight);
        let digest = self.load(self.shared, shared::DIGEST);
        let digest = self.builder.ins().iadd(digest, more);
        self.store(digest, self.shared, shared::DIGEST);
    }

    /// Takes the edge to the next tape, if it is known.
    fn go_on(&mut self, at: usize, known: &Known) {
        let tape = &self.tapes[at];
        let branches = tape.branches.iter().map(|branch| {
            let set = tape.sets.iter().find(|(to, _)| to == branch);
            set.expect("what depends on data is set").1
        });
        let branches: Vec<Place> = branches.collect();
        let edges = tape.edges.iter();
        for edge in edges.filter(|edge| self.fit.binary_search(&edge.to).is_ok()) {
            let mut conditions = Vec::new();
            for (&place, &value) in branches.iter().zip(&edge.branch) {
                let now = self.known(place, known);
                let value = value.cast_signed();
                conditions.push(self.builder.ins().icmp_imm(IntCC::Equal, now, value));
            }
            let all = conditions.into_iter();
            let is_taken = all.reduce(|all, one| self.builder.ins().band(all, one));
            let (takes, other) = (self.builder.create_block(), self.builder.create_block());
            match is_taken {
                Some(is_taken) => self.builder.ins().brif(is_taken, takes, &[], other, &[]),
                None => self.builder.ins().jump(takes, &[]),
            };
            self.builder.switch_to_block(takes);
            self.take(at, edge);
            self.builder.switch_to_block(other);
        }
        self.exit(at, shared::AFTER_EDGE);
    }

    fn take(&mut self, from: usize, edge: &Edge) {
        for change in &edge.begin {
            let value = self.number(change.value);
            self.store(value, self.told, change.slot.index());
        }
        for change in &edge.end {
            let value = self.number(change.value);
            let before = self.load(self.told, change.slot.index());
            let differs = self.builder.ins().icmp(IntCC::NotEqual, value, before);
            self.change(change.slot.index(), value, differs);
        }
        let number = self.first as usize + self.from.len();
        self.from.push(from);
        self.lists.push(Arc::from(&*edge.fixed));
        let number = self.number(number as u64);
        self.builder.def_var(self.edge, number);
        self.builder.ins().jump(self.blocks[edge.to], &[]);
    }
}
