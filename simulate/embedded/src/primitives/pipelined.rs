//! `pipelined.futil` and `stallable.futil`: multipliers that take new operands in every cycle.

use super::unit::{Cell, Unit, set_or_reset};
use crate::graph::{Graph, NodeId, Op};

/// The unit of a cell, if its primitive is of these files.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let width = cell.width("WIDTH");
    Some(match cell.primitive {
        "pipelined_mult" => pipelined(graph, width),
        "pipelined_fp_smult" => pipelined_fixed(graph, width, cell.width("INT_WIDTH")),
        "stallable_mult" => stallable(graph, width),
        _ => return None,
    })
}

/// Registers in a row, each of which takes the value of the one before it.
fn delay(g: &mut Graph, first: NodeId, row: &[NodeId], reset: NodeId, holds: NodeId) {
    let mut next = first;
    for &reg in row {
        let kept = g.mux(holds, reg, next);
        set_or_reset(g, reset, reg, kept);
        next = reg;
    }
}

fn pipelined(graph: &mut Graph, width: u32) -> Unit {
    let row = [(); 4].map(|()| graph.reg(width));
    Unit {
        outputs: vec![("out", row[3])],
        edge: Some(Box::new(move |g, i| {
            let (left, right) = (i.get(g, "left"), i.get(g, "right"));
            let product = g.op(Op::Mul, width, &[left, right]);
            let (reset, never) = (i.get(g, "reset"), g.constant(0u8, 1));
            delay(g, product, &row, reset, never);
        })),
        ..Unit::default()
    }
}

fn pipelined_fixed(graph: &mut Graph, width: u32, int: u32) -> Unit {
    let (left, right) = (graph.reg(width), graph.reg(width));
    let row = [(); 3].map(|()| graph.reg(width));
    Unit {
        outputs: vec![("out", row[2])],
        edge: Some(Box::new(move |g, i| {
            let (reset, never) = (i.get(g, "reset"), g.constant(0u8, 1));
            for (reg, input) in [(left, "left"), (right, "right")] {
                let value = i.get(g, input);
                set_or_reset(g, reset, reg, value);
            }
            let l = g.op(Op::SignExtend, 2 * width, &[left]);
            let r = g.op(Op::SignExtend, 2 * width, &[right]);
            let product = g.op(Op::Mul, 2 * width, &[l, r]);
            let product = g.slice(product, width - int.min(width), width);
            delay(g, product, &row, reset, never);
        })),
        ..Unit::default()
    }
}

fn stallable(graph: &mut Graph, width: u32) -> Unit {
    let (left, right) = (graph.reg(width), graph.reg(width));
    let row = [(); 3].map(|()| graph.reg(width));
    Unit {
        outputs: vec![("out", row[2])],
        edge: Some(Box::new(move |g, i| {
            let (reset, stall) = (i.get(g, "reset"), i.get(g, "stall"));
            for (reg, input) in [(left, "left"), (right, "right")] {
                let value = i.get(g, input);
                let next = g.mux(stall, reg, value);
                set_or_reset(g, reset, reg, next);
            }
            let product = g.op(Op::Mul, width, &[left, right]);
            delay(g, product, &row, reset, stall);
        })),
        ..Unit::default()
    }
}
