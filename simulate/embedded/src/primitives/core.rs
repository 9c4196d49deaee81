//! The prelude (`compile.futil`) and `core.futil`: constants, wires, registers, what takes values apart
//! and puts them together, and unsigned operators.

use super::unit::{Cell, Comb, Order, Unit, binary, comb, order, set_or_reset, unary, unequal};
use crate::graph::{Graph, NodeId, Op};

/// The unit of a cell, if its primitive is of these files.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let width = cell.width("WIDTH");
    let (input, out) = (cell.width("IN_WIDTH"), cell.width("OUT_WIDTH"));
    let constant = |node: NodeId| Unit {
        outputs: vec![("out", node)],
        ..Unit::default()
    };
    Some(match cell.primitive {
        "undef" => constant(graph.constant(0u8, width)),
        "std_const" => constant(graph.constant(cell.parameter("VALUE"), width)),
        "std_add" => binary(Op::Add, width),
        "std_reg" => register(graph, width),
        "init_one_reg" => register_from_one(graph, width),
        "std_bypass_reg" => bypass_register(graph, width),
        "std_skid_buffer" => skid_buffer(graph, width),
        "std_wire" => comb(|g, i| i.get(g, "in")),
        "std_not" => unary(Op::Not, width),
        "std_and" => binary(Op::And, width),
        "std_or" => binary(Op::Or, width),
        "std_xor" => binary(Op::Xor, width),
        "std_sub" => binary(Op::Sub, width),
        "std_lsh" => binary(Op::Shl, width),
        "std_rsh" => binary(Op::Shr, width),
        "std_eq" => binary(Op::Eq, 1),
        "std_neq" => unequal(),
        "std_lt" => order(Op::Lt, Order::Less),
        "std_gt" => order(Op::Lt, Order::Greater),
        "std_le" => order(Op::Lt, Order::LessOrEqual),
        "std_ge" => order(Op::Lt, Order::GreaterOrEqual),
        "std_mux" => comb(|g, i| {
            let condition = i.get(g, "cond");
            let (then, otherwise) = (i.get(g, "tru"), i.get(g, "fal"));
            g.mux(condition, then, otherwise)
        }),
        "std_slice" => {
            cell.never(graph, input < out, "Input width less than output width");
            comb(move |g, i| {
                let value = i.get(g, "in");
                g.resize(value, out)
            })
        }
        "std_pad" => extension(cell, graph, Op::Pad),
        "std_cat" => {
            let both = cell.width("LEFT_WIDTH") + cell.width("RIGHT_WIDTH");
            let message = "Output width must equal sum of input widths";
            cell.never(graph, both != out, message);
            comb(move |g, i| {
                let (left, right) = (i.get(g, "left"), i.get(g, "right"));
                g.cat(left, right)
            })
        }
        "std_bit_slice" => {
            let (low, high) = (cell.width("START_IDX"), cell.width("END_IDX"));
            cell.never(graph, high >= input, "Slice range out of bounds");
            comb(move |g, i| {
                let value = i.get(g, "in");
                g.slice(value, low, (high + 1).saturating_sub(low).max(1))
            })
        }
        _ => return None,
    })
}

/// A wider copy of the input `in`, made by `op`: zeros or copies of the sign above.
pub(super) fn extension(cell: &Cell<'_>, graph: &mut Graph, op: Op) -> Unit {
    let (input, out) = (cell.width("IN_WIDTH"), cell.width("OUT_WIDTH"));
    cell.never(graph, input > out, "Output width less than input width");
    unary(op, out.max(input))
}

/// A register that begins with 1. All registers of a graph begin with 0, so its lowest bit is kept inverted.
fn register_from_one(graph: &mut Graph, width: u32) -> Unit {
    let (value, done) = (graph.reg(width), graph.reg(1));
    let one = graph.constant(1u8, width);
    let out = graph.xor(value, one);
    Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, enable) = (i.get(g, "reset"), i.get(g, "write_en"));
            let input = i.get(g, "in");
            let inverted = g.xor(input, one);
            let next = g.mux(enable, inverted, value);
            set_or_reset(g, reset, value, next);
            set_or_reset(g, reset, done, enable);
        })),
        ..Unit::default()
    }
}

/// A register that shows what is written to it in the same cycle.
fn bypass_register(graph: &mut Graph, width: u32) -> Unit {
    let (value, done) = (graph.reg(width), graph.reg(1));
    Unit {
        outputs: vec![("done", done)],
        combs: vec![Comb {
            output: "out",
            inputs: Some(vec!["in".to_owned(), "write_en".to_owned()]),
            build: Box::new(move |g, i| {
                let (enable, input) = (i.get(g, "write_en"), i.get(g, "in"));
                g.mux(enable, input, value)
            }),
        }],
        edge: Some(Box::new(move |g, i| {
            let (reset, enable) = (i.get(g, "reset"), i.get(g, "write_en"));
            let input = i.get(g, "in");
            let next = g.mux(enable, input, value);
            set_or_reset(g, reset, value, next);
            set_or_reset(g, reset, done, enable);
        })),
        ..Unit::default()
    }
}

/// Keeps the value that is under way while its receiver is not ready.
fn skid_buffer(graph: &mut Graph, width: u32) -> Unit {
    let (value, held) = (graph.reg(width), graph.reg(1));
    let ready = graph.not(held);
    Unit {
        outputs: vec![("o_ready", ready)],
        combs: vec![
            Comb {
                output: "out",
                inputs: Some(vec!["in".to_owned()]),
                build: Box::new(move |g, i| {
                    let input = i.get(g, "in");
                    g.mux(held, value, input)
                }),
            },
            Comb {
                output: "o_valid",
                inputs: Some(vec!["i_valid".to_owned()]),
                build: Box::new(move |g, i| {
                    let valid = i.get(g, "i_valid");
                    g.or(held, valid)
                }),
            },
        ],
        edge: Some(Box::new(move |g, i| {
            let (reset, input) = (i.get(g, "reset"), i.get(g, "in"));
            let (is_valid, is_ready) = (i.get(g, "i_valid"), i.get(g, "i_ready"));
            let waits = g.not(is_ready);
            let any = g.or(held, is_valid);
            let next = g.and(waits, any);
            set_or_reset(g, reset, held, next);
            let arrives = g.and(ready, is_valid);
            let keeps = g.and(arrives, waits);
            let next = g.mux(keeps, input, value);
            set_or_reset(g, reset, value, next);
        })),
        ..Unit::default()
    }
}

fn register(graph: &mut Graph, width: u32) -> Unit {
    let (out, done) = (graph.reg(width), graph.reg(1));
    Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, enable) = (i.get(g, "reset"), i.get(g, "write_en"));
            let value = i.get(g, "in");
            let next = g.mux(enable, value, out);
            set_or_reset(g, reset, out, next);
            let running = g.not(reset);
            let writes = g.and(running, enable);
            g.set(done, writes);
        })),
        ..Unit::default()
    }
}
