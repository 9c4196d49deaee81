//! Multipliers and dividers that take another number of cycles than the library's: what a run would take with them.

use super::unit::{Cell, Inputs, Unit, count, set_or_reset};
use crate::graph::{Graph, NodeId, Op};

/// The primitives that may take another number of cycles.
pub const TIMED: [&str; 6] = [
    "std_mult_pipe",
    "std_smult_pipe",
    "std_fp_mult_pipe",
    "std_fp_smult_pipe",
    "std_div_pipe",
    "std_sdiv_pipe",
];

/// The results of an operation, by the names of the outputs.
type Results = Vec<(&'static str, NodeId)>;

/// The unit of a cell that is done so many cycles after it is started, at least 1; `None` if its primitive is not of [`TIMED`].
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph, cycles: u32) -> Option<Unit> {
    let width = cell.width("WIDTH");
    let int = cell.width("INT_WIDTH");
    Some(match cell.primitive {
        "std_mult_pipe" => multiplier(graph, cycles, width, width, Op::Pad),
        "std_smult_pipe" => multiplier(graph, cycles, width, width, Op::SignExtend),
        "std_fp_mult_pipe" => multiplier(graph, cycles, width, int, Op::Pad),
        "std_fp_smult_pipe" => multiplier(graph, cycles, width, int, Op::SignExtend),
        "std_div_pipe" => divider(graph, cycles, width, move |g, [left, right]| {
            let quotient = g.op(Op::Div, width, &[left, right]);
            vec![
                ("out_quotient", quotient),
                ("out_remainder", g.op(Op::Rem, width, &[left, right])),
            ]
        }),
        "std_sdiv_pipe" => divider(graph, cycles, width, move |g, [left, right]| {
            let quotient = g.op(Op::SDiv, width, &[left, right]);
            let remainder = g.op(Op::SRem, width, &[left, right]);
            let above = g.add(remainder, right);
            vec![
                ("out_quotient", quotient),
                ("out_remainder", g.op(Op::SRem, width, &[above, right])),
            ]
        }),
        _ => return None,
    })
}

fn multiplier(graph: &mut Graph, cycles: u32, width: u32, int: u32, extend: Op) -> Unit {
    timed(graph, cycles, &[("out", width)], move |g, operands| {
        let wide = operands.map(|value| g.op(extend, 2 * width, &[value]));
        let product = g.op(Op::Mul, 2 * width, &wide);
        vec![("out", g.slice(product, width - int.min(width), width))]
    })
}

fn divider(
    graph: &mut Graph,
    cycles: u32,
    width: u32,
    compute: impl FnOnce(&mut Graph, [NodeId; 2]) -> Results + 'static,
) -> Unit {
    let outputs = [("out_quotient", width), ("out_remainder", width)];
    timed(graph, cycles, &outputs, compute)
}

/// A unit whose outputs take their values, and whose `done` is high, so many cycles after it is started.
fn timed(
    graph: &mut Graph,
    cycles: u32,
    outputs: &[(&'static str, u32)],
    compute: impl FnOnce(&mut Graph, [NodeId; 2]) -> Results + 'static,
) -> Unit {
    let outs = outputs.iter();
    let outs: Results = outs
        .map(|&(name, width)| (name, graph.reg(width)))
        .collect();
    let (index, done) = (graph.reg(32), graph.reg(1));
    let mut outputs = outs.clone();
    outputs.push(("done", done));
    Unit {
        outputs,
        edge: Some(Box::new(move |g, i: &Inputs<'_>| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            let operands = ["left", "right"].map(|input| i.get(g, input));
            let (ends, more) = count(g, index, go, cycles.max(1));
            let zero = g.constant(0u8, 32);
            let next = g.mux(ends, zero, more);
            set_or_reset(g, reset, index, next);
            set_or_reset(g, reset, done, ends);
            for ((_, out), (_, value)) in outs.into_iter().zip(compute(g, operands)) {
                let next = g.mux(ends, value, out);
                set_or_reset(g, reset, out, next);
            }
        })),
        ..Unit::default()
    }
}
