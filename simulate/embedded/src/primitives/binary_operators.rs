//! `binary_operators.futil` and `unsynthesizable.futil`: signed and fixed-point operators, multipliers and
//! dividers that take several cycles (the dividers are in `division.rs`), and multiplication and division
//! in one.

use super::core::extension;
use super::division::{divider, fixed_divider, fixed_signed_divider, signed_divider};
use super::unit::{Cell, Order, Unit, binary, comb, order, set_or_reset, unequal};
use crate::graph::{Graph, Op};

/// The unit of a cell, if its primitive is of these files.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let width = cell.width("WIDTH");
    let (int, frac) = (cell.width("INT_WIDTH"), cell.width("FRAC_WIDTH"));
    Some(match cell.primitive {
        "std_sadd" | "std_fp_add" | "std_fp_sadd" => binary(Op::Add, width),
        "std_ssub" | "std_fp_sub" | "std_fp_ssub" => binary(Op::Sub, width),
        "std_unsyn_mult" | "std_unsyn_smult" => binary(Op::Mul, width),
        "std_unsyn_div" | "std_unsyn_sdiv" => binary(Op::Div, width),
        "std_unsyn_mod" | "std_unsyn_smod" => binary(Op::Rem, width),
        "std_const_mult" => {
            let factor = graph.constant(cell.parameter("VALUE"), width);
            comb(move |g, i| {
                let value = i.get(g, "in");
                g.op(Op::Mul, width, &[value, factor])
            })
        }
        "std_slsh" => binary(Op::Shl, width),
        "std_srsh" => binary(Op::Sar, width),
        "std_seq" => binary(Op::Eq, 1),
        "std_sneq" => unequal(),
        "std_fp_gt" => order(Op::Lt, Order::Greater),
        "std_slt" | "std_fp_slt" => order(Op::SLt, Order::Less),
        "std_sgt" | "std_fp_sgt" => order(Op::SLt, Order::Greater),
        "std_sle" => order(Op::SLt, Order::LessOrEqual),
        "std_sge" => order(Op::SLt, Order::GreaterOrEqual),
        "std_signext" => extension(cell, graph, Op::SignExtend),
        "std_mult_pipe" => multiplier(graph, width, width, Op::Pad),
        "std_smult_pipe" => multiplier(graph, width, width, Op::SignExtend),
        "std_fp_mult_pipe" => multiplier(graph, width, int, Op::Pad),
        "std_fp_smult_pipe" => multiplier(graph, width, int, Op::SignExtend),
        "std_div_pipe" => divider(cell, graph, width),
        "std_sdiv_pipe" => signed_divider(cell, graph, width),
        "std_fp_div_pipe" => fixed_divider(graph, width, frac),
        "std_fp_sdiv_pipe" => fixed_signed_divider(graph, width, frac),
        _ => return None,
    })
}

/// A multiplier of numbers of `width` bits, `int` of them before the point; `extend` makes the operands
/// as wide as the product.
fn multiplier(graph: &mut Graph, width: u32, int: u32, extend: Op) -> Unit {
    let (left, right) = (graph.reg(width), graph.reg(width));
    let product = graph.reg(2 * width);
    let started = graph.reg(1);
    let done = graph.reg(1);
    let out = graph.slice(product, width - int.min(width), width);
    Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            g.set(started, go);
            let ends = g.and(go, started);
            g.set(done, ends);
            let zero = g.constant(0u8, width);
            for (reg, input) in [(left, "left"), (right, "right")] {
                let value = i.get(g, input);
                let next = g.mux(go, value, zero);
                set_or_reset(g, reset, reg, next);
            }
            let (l, r) = (
                g.op(extend, 2 * width, &[left]),
                g.op(extend, 2 * width, &[right]),
            );
            let next = g.op(Op::Mul, 2 * width, &[l, r]);
            let next = g.mux(go, next, product);
            set_or_reset(g, reset, product, next);
        })),
        ..Unit::default()
    }
}
