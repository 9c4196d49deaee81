//! Division in several cycles, one bit of the quotient in each: `std_div_pipe` and its signed and
//! fixed-point variants, with the checks that the library's Verilog makes of its own results.

use num_bigint::BigUint;

use super::unit::{
    Cell, Inputs, Unit, begins, check, clog2, count, keep, set_or_reset, set_running,
};
use crate::graph::{Check, Graph, NodeId, Op};

/// `std_div_pipe`.
pub(super) fn divider(cell: &Cell<'_>, graph: &mut Graph, width: u32) -> Unit {
    let core = Divider::new(graph, width);
    let test = SelfTest::of(cell);
    Unit {
        outputs: core.outputs(),
        edge: Some(Box::new(move |g, i| {
            let inputs = Operands::of(g, i);
            core.edge(g, inputs);
            let operands = latched(g, inputs);
            let quotient = g.op(Op::Div, width, &operands);
            let remainder = g.op(Op::Rem, width, &operands);
            test.add(
                g,
                "Remainder",
                core.done,
                operands,
                [remainder, core.remainder],
            );
            test.add(
                g,
                "Quotient",
                core.done,
                operands,
                [quotient, core.quotient_out],
            );
        })),
        ..Unit::default()
    }
}

/// `std_sdiv_pipe`.
pub(super) fn signed_divider(cell: &Cell<'_>, graph: &mut Graph, width: u32) -> Unit {
    let core = Divider::new(graph, width);
    let signs = Signs::new(graph, width, core.quotient_out, core.remainder);
    let test = SelfTest::of(cell);
    Unit {
        outputs: vec![
            ("out_quotient", signs.quotient),
            ("out_remainder", signs.remainder),
            ("done", core.done),
        ],
        edge: Some(Box::new(move |g, i| {
            let inputs = Operands::of(g, i);
            let absolute = signs.edge(g, inputs);
            core.edge(g, absolute);
            let operands = latched(g, inputs);
            let quotient = g.op(Op::SDiv, width, &operands);
            let remainder = g.op(Op::SRem, width, &operands);
            let above = g.add(remainder, operands[1]);
            let modulo = g.op(Op::SRem, width, &[above, operands[1]]);
            test.add(
                g,
                "Quotient",
                core.done,
                operands,
                [quotient, signs.quotient],
            );
            test.add(
                g,
                "Remainder",
                core.done,
                operands,
                [modulo, signs.remainder],
            );
        })),
        ..Unit::default()
    }
}

/// `std_fp_div_pipe`.
pub(super) fn fixed_divider(graph: &mut Graph, width: u32, frac: u32) -> Unit {
    let core = FixedDivider::new(graph, width, frac);
    Unit {
        outputs: vec![
            ("out_quotient", core.quotient_out),
            ("out_remainder", core.remainder),
            ("done", core.done),
        ],
        edge: Some(Box::new(move |g, i| {
            let inputs = Operands::of(g, i);
            core.edge(g, inputs);
        })),
        ..Unit::default()
    }
}

/// `std_fp_sdiv_pipe`.
pub(super) fn fixed_signed_divider(graph: &mut Graph, width: u32, frac: u32) -> Unit {
    let core = FixedDivider::new(graph, width, frac);
    let signs = Signs::new(graph, width, core.quotient_out, core.remainder);
    Unit {
        outputs: vec![
            ("out_quotient", signs.quotient),
            ("out_remainder", signs.remainder),
            ("done", core.done),
        ],
        edge: Some(Box::new(move |g, i| {
            let inputs = Operands::of(g, i);
            let absolute = signs.edge(g, inputs);
            core.edge(g, absolute);
        })),
        ..Unit::default()
    }
}

/// The check of a divider against the operator.
struct SelfTest {
    path: String,
    primitive: String,
}

impl SelfTest {
    fn of(cell: &Cell<'_>) -> Self {
        Self {
            path: cell.path.clone(),
            primitive: cell.primitive.to_owned(),
        }
    }

    /// Adds the check of an output: its expected and its computed value.
    fn add(
        &self,
        graph: &mut Graph,
        output: &str,
        done: NodeId,
        [left, right]: [NodeId; 2],
        [expected, computed]: [NodeId; 2],
    ) {
        let differs = graph.ne(expected, computed);
        let fails = graph.and(done, differs);
        let message = format!("{output}: computed and golden outputs do not match");
        let values = [
            ("left", left),
            ("right", right),
            ("expected", expected),
            ("computed", computed),
        ];
        graph.checks.push(Check {
            at_edge: true,
            ..check(&self.path, &self.primitive, fails, &message, &values)
        });
    }
}

/// The inputs of a divider.
#[derive(Clone, Copy)]
struct Operands {
    reset: NodeId,
    go: NodeId,
    left: NodeId,
    right: NodeId,
}

impl Operands {
    fn of(graph: &mut Graph, inputs: &Inputs<'_>) -> Self {
        Self {
            reset: inputs.get(graph, "reset"),
            go: inputs.get(graph, "go"),
            left: inputs.get(graph, "left"),
            right: inputs.get(graph, "right"),
        }
    }
}

/// The operands of a divider's self test.
fn latched(graph: &mut Graph, inputs: Operands) -> [NodeId; 2] {
    [inputs.left, inputs.right].map(|value| keep(graph, inputs.go, value))
}

/// The state of `std_div_pipe`.
#[derive(Clone, Copy)]
struct Divider {
    width: u32,
    dividend: NodeId,
    divisor: NodeId,
    quotient: NodeId,
    mask: NodeId,
    running: NodeId,
    done: NodeId,
    quotient_out: NodeId,
    remainder: NodeId,
}

impl Divider {
    fn new(graph: &mut Graph, width: u32) -> Self {
        Self {
            width,
            dividend: graph.reg(width),
            divisor: graph.reg(2 * width - 1),
            quotient: graph.reg(width),
            mask: graph.reg(width),
            running: graph.reg(1),
            done: graph.reg(1),
            quotient_out: graph.reg(width),
            remainder: graph.reg(width),
        }
    }

    fn outputs(&self) -> Vec<(&'static str, NodeId)> {
        vec![
            ("out_quotient", self.quotient_out),
            ("out_remainder", self.remainder),
            ("done", self.done),
        ]
    }

    fn edge(
        &self,
        g: &mut Graph,
        Operands {
            reset,
            go,
            left,
            right,
        }: Operands,
    ) {
        let width = self.width;
        let zero = g.constant(0u8, width);
        let start = begins(g, self.running, go);
        let mask_empty = g.eq(self.mask, zero);
        let finished = g.and(mask_empty, self.running);
        let nothing = g.eq(left, zero);
        let dividend_is_zero = g.and(start, nothing);
        let ends = g.or(finished, dividend_is_zero);
        g.set(self.done, ends);

        set_running(g, self.running, reset, start, ends);

        for (out, value) in [
            (self.quotient_out, self.quotient),
            (self.remainder, self.dividend),
        ] {
            let next = g.mux(finished, value, out);
            let next = g.mux(start, zero, next);
            g.set(out, next);
        }

        let high = g.constant(BigUint::from(1u8) << (width - 1), width);
        let by_one = g.constant(1u8, 1);
        let shifted = g.op(Op::Shr, width, &[self.mask, by_one]);
        let next = g.mux(self.running, shifted, self.mask);
        let next = g.mux(start, high, next);
        g.set(self.mask, next);

        let long = 2 * width - 1;
        let dividend = g.resize(self.dividend, long);
        let fits = g.le(self.divisor, dividend);
        let with_bit = g.or(self.quotient, self.mask);
        let next = g.mux(fits, with_bit, self.quotient);
        let next = g.mux(start, zero, next);
        g.set(self.quotient, next);

        let rest = g.sub(dividend, self.divisor);
        let rest = g.resize(rest, width);
        let next = g.mux(fits, rest, self.dividend);
        let next = g.mux(start, left, next);
        g.set(self.dividend, next);

        let first = g.resize(right, long);
        let by = g.constant(width - 1, 32);
        let first = g.op(Op::Shl, long, &[first, by]);
        let nothing = g.constant(0u8, long);
        let next = g.op(Op::Shr, long, &[self.divisor, by_one]);
        let next = g.mux(finished, nothing, next);
        let next = g.mux(start, first, next);
        g.set(self.divisor, next);
    }
}

fn negate(graph: &mut Graph, value: NodeId) -> NodeId {
    let zero = graph.constant(0u8, graph.width(value));
    graph.sub(zero, value)
}

fn negate_if(graph: &mut Graph, condition: NodeId, value: NodeId) -> NodeId {
    let negated = negate(graph, value);
    graph.mux(condition, negated, value)
}

/// What makes a signed divider out of an unsigned one.
#[derive(Clone, Copy)]
struct Signs {
    width: u32,
    left: NodeId,
    right: NodeId,
    right_save: NodeId,
    quotient: NodeId,
    remainder: NodeId,
}

impl Signs {
    fn new(graph: &mut Graph, width: u32, quotient: NodeId, remainder: NodeId) -> Self {
        let (left, right) = (graph.reg(1), graph.reg(1));
        let right_save = graph.reg(width);
        let differ = graph.xor(left, right);
        let zero = graph.constant(0u8, width);
        let even = graph.eq(remainder, zero);
        let odd = graph.not(even);
        let other = graph.and(differ, odd);
        let complement = graph.sub(right_save, remainder);
        let rest = graph.mux(other, complement, remainder);
        Self {
            width,
            left,
            right,
            right_save,
            quotient: negate_if(graph, differ, quotient),
            remainder: negate_if(graph, right, rest),
        }
    }

    /// The absolute operands.
    fn edge(&self, graph: &mut Graph, inputs: Operands) -> Operands {
        let top = self.width - 1;
        let left_sign = graph.slice(inputs.left, top, 1);
        let right_sign = graph.slice(inputs.right, top, 1);
        let left = negate_if(graph, left_sign, inputs.left);
        let right = negate_if(graph, right_sign, inputs.right);
        for (reg, value) in [
            (self.left, left_sign),
            (self.right, right_sign),
            (self.right_save, right),
        ] {
            let next = graph.mux(inputs.go, value, reg);
            graph.set(reg, next);
        }
        Operands {
            left,
            right,
            ..inputs
        }
    }
}

/// The state of `std_fp_div_pipe`.
#[derive(Clone, Copy)]
struct FixedDivider {
    width: u32,
    iterations: u32,
    quotient: NodeId,
    acc: NodeId,
    index: NodeId,
    running: NodeId,
    done: NodeId,
    quotient_out: NodeId,
    remainder: NodeId,
}

impl FixedDivider {
    fn new(graph: &mut Graph, width: u32, frac: u32) -> Self {
        let iterations = width + frac;
        Self {
            width,
            iterations,
            quotient: graph.reg(width),
            acc: graph.reg(width + 1),
            index: graph.reg(clog2(iterations)),
            running: graph.reg(1),
            done: graph.reg(1),
            quotient_out: graph.reg(width),
            remainder: graph.reg(width),
        }
    }

    fn edge(
        &self,
        g: &mut Graph,
        Operands {
            reset,
            go,
            left,
            right,
        }: Operands,
    ) {
        let width = self.width;
        let zero = g.constant(0u8, width);
        let start = begins(g, self.running, go);
        let nothing = g.eq(left, zero);
        let dividend_is_zero = g.and(start, nothing);
        let (finished, next_index) = count(g, self.index, self.running, self.iterations);
        g.set(self.index, next_index);
        let ends = g.or(finished, dividend_is_zero);
        g.set(self.done, ends);
        set_running(g, self.running, reset, start, ends);

        let wide_right = g.resize(right, width + 1);
        let fits = g.le(wide_right, self.acc);
        let rest = g.sub(self.acc, wide_right);
        let acc = g.mux(fits, rest, self.acc);
        let acc = g.slice(acc, 0, width);
        let pair = g.cat(acc, self.quotient);
        let pair = g.cat(pair, fits);
        let acc_next = g.slice(pair, width, width + 1);
        let quotient_next = g.slice(pair, 0, width);

        let next = g.mux(finished, quotient_next, self.quotient_out);
        let next = g.mux(go, next, self.quotient_out);
        let next = g.mux(start, zero, next);
        set_or_reset(g, reset, self.quotient_out, next);

        let less = g.le(right, self.remainder);
        let rest = g.sub(self.remainder, right);
        let next = g.mux(less, rest, self.remainder);
        let next = g.mux(finished, self.remainder, next);
        let next = g.mux(go, next, self.remainder);
        let next = g.mux(start, left, next);
        set_or_reset(g, reset, self.remainder, next);

        // {acc, quotient} <= {{WIDTH{1'b0}}, left, 1'b0}
        let first = g.resize(left, 2 * width);
        let no = g.constant(0u8, 1);
        let first = g.cat(first, no);
        let first_acc = g.slice(first, width, width + 1);
        let first_quotient = g.slice(first, 0, width);
        let next = g.mux(start, first_acc, acc_next);
        set_or_reset(g, reset, self.acc, next);
        let next = g.mux(start, first_quotient, quotient_next);
        set_or_reset(g, reset, self.quotient, next);
    }
}
