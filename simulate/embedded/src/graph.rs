//! A design as a graph of values: what every wire is, as a function of registers, memories and
//! inputs, and what registers and memories become at the clock's edge.
//!
//! Equal values are one node, and what is constant is computed here. Nodes are numbered so that
//! operands come before the nodes that use them.

mod float;
mod op;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use num_bigint::BigUint;
use petal_reconstruct::{Id as _, ids};

pub(crate) use self::float::{FloatOp, Format};
pub(crate) use self::op::Op;
use self::op::ones;

ids! {
    /// A value of the graph.
    pub(crate) NodeId,
    /// A register of the graph.
    pub(crate) RegId,
    /// A memory of the graph.
    pub(crate) MemId,
    /// A wire on a combinational loop: what it was when the loop was evaluated the last time.
    pub(crate) WireId,
}

/// What drives the design from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Input {
    /// The clock. Values are looked at while it is low.
    Clock,
    /// High while the design runs.
    Go,
    /// High before the design runs.
    Reset,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Const(BigUint),
    Input(Input),
    Reg(RegId),
    Wire(WireId),
    /// A word of a memory; 0 beyond its end.
    Read(MemId, NodeId),
    Op(Op, [NodeId; 3]),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub kind: Kind,
    pub width: u32,
}

impl Node {
    /// The nodes that it is computed from.
    pub fn operands(&self) -> &[NodeId] {
        match &self.kind {
            Kind::Read(_, address) => std::slice::from_ref(address),
            Kind::Op(op, operands) => match op {
                Op::Mux => operands,
                Op::Float(op, _) => &operands[..op.operands()],
                Op::Not | Op::Slice(_) | Op::Pad | Op::SignExtend => &operands[..1],
                _ => &operands[..2],
            },
            _ => &[],
        }
    }
}

/// What a register becomes at the edge; it is 0 at first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reg {
    pub width: u32,
    pub next: NodeId,
}

/// What happens to a memory at the edge, while `enable` is high.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write {
    pub memory: MemId,
    pub enable: NodeId,
    pub address: NodeId,
    pub data: NodeId,
    /// Low where an index is beyond its dimension, in a memory that goes by the address alone.
    pub within: Option<NodeId>,
}

/// A memory; its words are 0 at first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mem {
    pub width: u32,
    /// Number of words.
    pub size: u64,
}

/// Something that must not happen. When it does, the design stops.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// High when it happens.
    pub fails: NodeId,
    /// What to say, and the values to say after it.
    pub message: String,
    pub values: Vec<(&'static str, NodeId)>,
    /// Whether it is looked at on the clock's edge only.
    pub at_edge: bool,
    /// The path of the cell that looks; `None` if it is no cell.
    pub cell: Option<String>,
}

/// The graph of a design.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: IndexSet<Node, RandomState>,
    /// The constants of up to 64 bits, by value and width.
    constants: foldhash::HashMap<(u64, u32), NodeId>,
    pub regs: Vec<Reg>,
    pub mems: Vec<Mem>,
    pub writes: Vec<Write>,
    /// Width and value of each wire on a loop.
    pub wires: Vec<(u32, NodeId)>,
    pub checks: Vec<Check>,
}

impl Graph {
    /// The graph of the run: `go` is high and `reset` low in all of its cycles. Registers, memories and wires have
    /// the numbers that they have here. Returns the node of each of this graph's, too.
    pub fn running(&self) -> (Self, Vec<NodeId>) {
        self.in_state(|_| None)
    }

    /// The same, while some registers have these values.
    pub fn in_state(&self, value: impl Fn(RegId) -> Option<u64>) -> (Self, Vec<NodeId>) {
        let mut graph = Self::default();
        for mem in &self.mems {
            graph.mem(mem.width, mem.size);
        }
        let mut nodes: Vec<NodeId> = Vec::with_capacity(self.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let mut operands = [NodeId::from_index(0); 3];
            let count = node.operands().len();
            for (to, from) in operands.iter_mut().zip(node.operands()) {
                *to = nodes[from.index()];
            }
            let operands = &operands[..count];
            let id = match &node.kind {
                Kind::Const(_) => match self.word_value(NodeId::from_index(index)) {
                    Some(value) => graph.word(value, node.width),
                    None => graph.intern(node.clone()),
                },
                Kind::Input(Input::Go) => graph.word(1, 1),
                Kind::Input(Input::Reset) => graph.word(0, 1),
                Kind::Op(op, _) => graph.op(*op, node.width, operands),
                Kind::Read(memory, _) => graph.read(*memory, operands[0]),
                Kind::Reg(reg) => match value(*reg) {
                    Some(value) => graph.word(value, node.width),
                    None => graph.intern(node.clone()),
                },
                Kind::Input(Input::Clock) | Kind::Wire(_) => graph.intern(node.clone()),
            };
            nodes.push(id);
        }
        let new = |id: NodeId| nodes[id.index()];
        graph.regs = self
            .regs
            .iter()
            .map(|reg| Reg {
                next: new(reg.next),
                ..*reg
            })
            .collect();
        graph.wires = self
            .wires
            .iter()
            .map(|(width, id)| (*width, new(*id)))
            .collect();
        graph.writes = self
            .writes
            .iter()
            .map(|write| Write {
                memory: write.memory,
                enable: new(write.enable),
                address: new(write.address),
                data: new(write.data),
                within: write.within.map(new),
            })
            .collect();
        graph.checks = self
            .checks
            .iter()
            .map(|check| Check {
                fails: new(check.fails),
                ..check.clone()
            })
            .collect();
        (graph, nodes)
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn width(&self, id: NodeId) -> u32 {
        self.node(id).width
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    fn intern(&mut self, node: Node) -> NodeId {
        assert!(node.width > 0, "a value has bits");
        let (index, _) = self.nodes.insert_full(node);
        NodeId::from_index(index)
    }

    pub fn constant(&mut self, value: impl Into<BigUint>, width: u32) -> NodeId {
        let value = value.into();
        if width <= 64 {
            let word = value.iter_u64_digits().next().unwrap_or(0);
            return self.word(word, width);
        }
        self.intern(Node {
            kind: Kind::Const(value & ones(width)),
            width,
        })
    }

    /// A constant of up to 64 bits.
    fn word(&mut self, value: u64, width: u32) -> NodeId {
        let value = value & (u64::MAX >> (64 - width));
        if let Some(&id) = self.constants.get(&(value, width)) {
            return id;
        }
        let id = self.intern(Node {
            kind: Kind::Const(value.into()),
            width,
        });
        self.constants.insert((value, width), id);
        id
    }

    pub fn input(&mut self, input: Input) -> NodeId {
        self.intern(Node {
            kind: Kind::Input(input),
            width: 1,
        })
    }

    /// A new register. It keeps its value until [`set`](Self::set) gives it another one.
    pub fn reg(&mut self, width: u32) -> NodeId {
        let reg = RegId::from_index(self.regs.len());
        let next = self.intern(Node {
            kind: Kind::Reg(reg),
            width,
        });
        self.regs.push(Reg { width, next });
        next
    }

    /// What the register `reg` becomes at the edge.
    pub fn set(&mut self, reg: NodeId, next: NodeId) {
        let Kind::Reg(id) = self.node(reg).kind else {
            unreachable!("only registers are set");
        };
        let next = self.resize(next, self.width(reg));
        self.regs[id.index()].next = next;
    }

    /// What is written to a memory at the edge.
    pub fn write(&mut self, write: Write) {
        let data = self.resize(write.data, self.mems[write.memory.index()].width);
        self.writes.push(Write { data, ..write });
    }

    pub fn mem(&mut self, width: u32, size: u64) -> MemId {
        self.mems.push(Mem { width, size });
        MemId::from_index(self.mems.len() - 1)
    }

    pub fn read(&mut self, memory: MemId, address: NodeId) -> NodeId {
        let width = self.mems[memory.index()].width;
        self.intern(Node {
            kind: Kind::Read(memory, address),
            width,
        })
    }

    /// A new wire on a loop. Its value is set later.
    pub fn wire(&mut self, width: u32) -> (WireId, NodeId) {
        let wire = WireId::from_index(self.wires.len());
        let node = self.intern(Node {
            kind: Kind::Wire(wire),
            width,
        });
        self.wires.push((width, node));
        (wire, node)
    }

    /// The value of a constant.
    pub fn value(&self, id: NodeId) -> Option<&BigUint> {
        match &self.node(id).kind {
            Kind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a constant of up to 64 bits.
    pub fn word_value(&self, id: NodeId) -> Option<u64> {
        let value = self.value(id).filter(|_| self.width(id) <= 64)?;
        Some(value.iter_u64_digits().next().unwrap_or(0))
    }

    pub fn is(&self, id: NodeId, number: u8) -> bool {
        // Zero has no digits.
        let digits = (number > 0).then_some(u64::from(number));
        self.value(id)
            .is_some_and(|value| value.iter_u64_digits().eq(digits))
    }

    fn is_ones(&self, id: NodeId) -> bool {
        let width = self.width(id);
        match self.word_value(id) {
            Some(word) => word == u64::MAX >> (64 - width),
            None => self.value(id).is_some_and(|value| *value == ones(width)),
        }
    }

    /// The result of an operation, `width` bits wide.
    pub fn op(&mut self, op: Op, width: u32, operands: &[NodeId]) -> NodeId {
        // Machine code cuts no result that its operands can't make too wide.
        let wide = op.of_result(operands).iter().map(|&id| self.width(id));
        if let Some(wide) = wide.max().filter(|&wide| wide > width) {
            let result = match op {
                Op::Pad => operands[0],
                _ => self.op(op, wide, operands),
            };
            return self.slice(result, 0, width);
        }
        let mut args = [operands[0]; 3];
        args[..operands.len()].copy_from_slice(operands);
        if op.commutes() && args[1] < args[0] {
            args.swap(0, 1);
        }
        if let Some(constant) = self.computed(op, width, operands) {
            return constant;
        }
        if let Some(same) = self.simpler(op, width, args) {
            if self.width(same) == width {
                return same;
            }
            return self.resize(same, width);
        }
        self.intern(Node {
            kind: Kind::Op(op, args),
            width,
        })
    }

    /// The result if all operands are constants.
    fn computed(&mut self, op: Op, width: u32, operands: &[NodeId]) -> Option<NodeId> {
        if operands.iter().any(|&id| self.value(id).is_none()) {
            return None;
        }
        if width > 64 || operands.iter().any(|&id| self.width(id) > 64) {
            let values = operands.iter().map(|&id| {
                let value = self.value(id).expect("all are constants");
                (value.clone(), self.width(id))
            });
            let values: Vec<(BigUint, u32)> = values.collect();
            return Some(self.constant(op.eval(width, &values), width));
        }
        let (mut words, mut widths) = ([0; 3], [1; 3]);
        for (at, &id) in operands.iter().enumerate() {
            words[at] = self.word_value(id)?;
            widths[at] = self.width(id);
        }
        Some(self.word(op.eval_word(width, words, widths), width))
    }

    /// A node that is there already, or simpler, and has the same value.
    fn simpler(&mut self, op: Op, width: u32, [a, b, c]: [NodeId; 3]) -> Option<NodeId> {
        match op {
            Op::And if a == b || self.is_ones(b) => Some(a),
            Op::And if self.is_ones(a) => Some(b),
            Op::And if self.is(a, 0) || self.is(b, 0) => Some(self.constant(0u8, width)),
            Op::Or if a == b || self.is(b, 0) => Some(a),
            Op::Or if self.is(a, 0) => Some(b),
            Op::Or if self.is_ones(a) || self.is_ones(b) => Some(self.constant(ones(width), width)),
            Op::Not => match self.node(a).kind {
                Kind::Op(Op::Not, [inner, ..]) => Some(inner),
                _ => None,
            },
            Op::Eq if a == b => Some(self.constant(1u8, 1)),
            Op::Eq if self.width(a) == 1 && self.is(b, 1) => Some(a),
            Op::Eq if self.width(a) == 1 && self.is(a, 1) => Some(b),
            Op::Eq if self.width(a) == 1 && self.is(b, 0) => Some(self.not(a)),
            Op::Eq if self.width(a) == 1 && self.is(a, 0) => Some(self.not(b)),
            Op::Slice(0) | Op::Pad | Op::SignExtend if self.width(a) == width => Some(a),
            Op::Mux if b == c => Some(b),
            Op::Mux => match self.value(a) {
                Some(condition) if *condition == BigUint::ZERO => Some(c),
                Some(_) => Some(b),
                None if self.width(a) > 1 => None,
                None if width == 1 && self.is(b, 1) => Some(self.or(a, c)),
                None if width == 1 && self.is(c, 0) => Some(self.and(a, b)),
                None => None,
            },
            _ => None,
        }
    }

    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::And, self.width(a), &[a, b])
    }

    pub fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::Or, self.width(a), &[a, b])
    }

    pub fn xor(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::Xor, self.width(a), &[a, b])
    }

    pub fn not(&mut self, a: NodeId) -> NodeId {
        self.op(Op::Not, self.width(a), &[a])
    }

    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::Add, self.width(a), &[a, b])
    }

    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::Sub, self.width(a), &[a, b])
    }

    pub fn eq(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::Eq, 1, &[a, b])
    }

    pub fn ne(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let same = self.eq(a, b);
        self.not(same)
    }

    pub fn lt(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.op(Op::Lt, 1, &[a, b])
    }

    pub fn le(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let greater = self.lt(b, a);
        self.not(greater)
    }

    pub fn mux(&mut self, condition: NodeId, then: NodeId, otherwise: NodeId) -> NodeId {
        self.op(Op::Mux, self.width(then), &[condition, then, otherwise])
    }

    pub fn slice(&mut self, a: NodeId, low: u32, width: u32) -> NodeId {
        self.op(Op::Slice(low), width, &[a])
    }

    pub fn cat(&mut self, high: NodeId, low: NodeId) -> NodeId {
        let width = self.width(high) + self.width(low);
        self.op(Op::Cat, width, &[high, low])
    }

    /// Zeros above, or the lowest bits: what Verilog does when widths differ.
    pub fn resize(&mut self, a: NodeId, width: u32) -> NodeId {
        if self.width(a) < width {
            self.op(Op::Pad, width, &[a])
        } else {
            self.slice(a, 0, width)
        }
    }
}
