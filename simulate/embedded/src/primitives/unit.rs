//! What the units of all primitives are made of: their inputs, outputs and edges, and what several of them have.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::graph::{Check, Graph, MemId, NodeId, Op};

/// How wide ports may be.
pub(crate) const WIDTHS: RangeInclusive<u32> = 1..=65_536;

/// What a cell of a primitive does.
#[derive(Default)]
pub(crate) struct Unit {
    /// The outputs that depend on state alone.
    pub outputs: Vec<(&'static str, NodeId)>,
    /// The outputs that depend on inputs in the same cycle.
    pub combs: Vec<Comb>,
    /// What happens at the edge.
    pub edge: Option<Edge>,
    /// Its memory.
    pub memory: Option<MemId>,
}

/// The values of a cell's inputs.
pub(crate) struct Inputs<'a> {
    pub values: HashMap<&'a str, NodeId>,
}

impl Inputs<'_> {
    /// The value at an input. One that the cell does not have is not connected: 0.
    pub(super) fn get(&self, graph: &mut Graph, name: &str) -> NodeId {
        match self.values.get(name) {
            Some(&node) => node,
            None => graph.constant(0u8, 1),
        }
    }
}

pub(super) type Build<T> = Box<dyn FnOnce(&mut Graph, &Inputs<'_>) -> T>;

/// An output that depends on inputs.
pub(crate) struct Comb {
    pub output: &'static str,
    /// The inputs that it depends on; `None`: all.
    pub inputs: Option<Vec<String>>,
    pub build: Build<NodeId>,
}

impl Comb {
    /// Whether the output depends on this input.
    pub fn reads(&self, input: &str) -> bool {
        let inputs = self.inputs.as_ref();
        inputs.is_none_or(|inputs| inputs.iter().any(|name| name == input))
    }
}

pub(super) type Edge = Build<()>;

/// A cell of a primitive, with the path that messages name it by.
pub(crate) struct Cell<'a> {
    pub primitive: &'a str,
    pub path: String,
    pub parameters: &'a [(String, u64)],
    /// After how many cycles it is to be done, if not as the library's.
    pub cycles: Option<u32>,
}

impl Cell<'_> {
    pub(super) fn parameter(&self, name: &str) -> u64 {
        self.parameters
            .iter()
            .find(|(parameter, _)| parameter == name)
            // As in Verilog, where all parameters have defaults.
            .map_or(0, |&(_, value)| value)
    }

    /// A parameter that is a number of bits. Ports have no more.
    pub(super) fn width(&self, name: &str) -> u32 {
        let bits = u32::try_from(self.parameter(name)).unwrap_or(u32::MAX);
        bits.min(*WIDTHS.end())
    }

    /// A check that depends on parameters alone.
    pub(super) fn never(&self, graph: &mut Graph, fails: bool, message: &str) {
        if fails {
            let fails = graph.constant(1u8, 1);
            let check = check(&self.path, self.primitive, fails, message, &[]);
            graph.checks.push(check);
        }
    }
}

/// A unit whose output `out` depends on all inputs, and on no state.
pub(super) fn comb(build: impl FnOnce(&mut Graph, &Inputs<'_>) -> NodeId + 'static) -> Unit {
    Unit {
        combs: vec![Comb {
            output: "out",
            inputs: None,
            build: Box::new(build),
        }],
        ..Unit::default()
    }
}

/// An operation on the inputs `left` and `right` with a result of `width` bits.
pub(super) fn binary(op: Op, width: u32) -> Unit {
    comb(move |g, i| {
        let (left, right) = (i.get(g, "left"), i.get(g, "right"));
        g.op(op, width, &[left, right])
    })
}

/// Whether `left` and `right` are different.
pub(super) fn unequal() -> Unit {
    comb(|g, i| {
        let (left, right) = (i.get(g, "left"), i.get(g, "right"));
        g.ne(left, right)
    })
}

/// Which operands a comparison compares, and whether its result is negated: all four comparisons are
/// made of `<`.
#[derive(Clone, Copy)]
pub(super) enum Order {
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
}

/// The comparison of `left` with `right` by `less`, which is signed or not.
pub(super) fn order(less: Op, order: Order) -> Unit {
    comb(move |g, i| {
        let (left, right) = (i.get(g, "left"), i.get(g, "right"));
        let operands = match order {
            Order::Less | Order::GreaterOrEqual => [left, right],
            Order::Greater | Order::LessOrEqual => [right, left],
        };
        let result = g.op(less, 1, &operands);
        match order {
            Order::Less | Order::Greater => result,
            Order::LessOrEqual | Order::GreaterOrEqual => g.not(result),
        }
    })
}

/// An operation on the input `in` with a result of `width` bits.
pub(super) fn unary(op: Op, width: u32) -> Unit {
    comb(move |g, i| {
        let value = i.get(g, "in");
        g.op(op, width, &[value])
    })
}

/// A check of a cell; the message ends with `values` when it fails.
pub(super) fn check(
    path: &str,
    primitive: &str,
    fails: NodeId,
    message: &str,
    values: &[(&'static str, NodeId)],
) -> Check {
    Check {
        fails,
        message: format!("{path} ({primitive}): {message}"),
        values: values.to_vec(),
        at_edge: false,
        cell: Some(path.to_owned()),
    }
}

/// A register that takes `value` while `enable` is high.
pub(super) fn keep(graph: &mut Graph, enable: NodeId, value: NodeId) -> NodeId {
    let reg = graph.reg(graph.width(value));
    let next = graph.mux(enable, value, reg);
    graph.set(reg, next);
    reg
}

/// Sets `reg`, to 0 while `reset` is high.
pub(super) fn set_or_reset(graph: &mut Graph, reset: NodeId, reg: NodeId, next: NodeId) {
    let zero = graph.constant(0u8, graph.width(reg));
    let next = graph.mux(reset, zero, next);
    graph.set(reg, next);
}

/// Whether a unit that takes several cycles starts: `go` is high, and it does not run yet.
pub(super) fn begins(graph: &mut Graph, running: NodeId, go: NodeId) -> NodeId {
    let idle = graph.not(running);
    graph.and(go, idle)
}

/// Sets the register that is high while a unit runs.
pub(super) fn set_running(
    graph: &mut Graph,
    running: NodeId,
    reset: NodeId,
    start: NodeId,
    ends: NodeId,
) {
    let stops = graph.or(reset, ends);
    let continues = graph.not(stops);
    let runs = graph.or(start, running);
    let next = graph.and(continues, runs);
    graph.set(running, next);
}

/// A counter that runs while `running`: whether it is at its last step, and its next value.
pub(super) fn count(
    g: &mut Graph,
    index: NodeId,
    running: NodeId,
    iterations: u32,
) -> (NodeId, NodeId) {
    let width = g.width(index);
    let last = g.constant(iterations - 1, 32);
    let wide = g.resize(index, 32.max(width));
    let at_last = g.eq(wide, last);
    let finished = g.and(at_last, running);
    let one = g.constant(1u8, width);
    let more = g.add(index, one);
    let zero = g.constant(0u8, width);
    (finished, g.mux(running, more, zero))
}

/// Bits to count to `count`, at least one.
pub(super) fn clog2(count: u32) -> u32 {
    count.next_power_of_two().trailing_zeros().max(1)
}
