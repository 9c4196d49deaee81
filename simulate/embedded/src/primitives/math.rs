//! `math.futil`: square roots, two bits of the operand in each cycle.

use super::unit::{Cell, Unit, begins, check, clog2, count, keep, set_running};
use crate::graph::{Check, Graph, NodeId, Op};

/// The unit of a cell, if its primitive is of this file.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let width = cell.width("WIDTH");
    let (int, frac) = (cell.width("INT_WIDTH"), cell.width("FRAC_WIDTH"));
    Some(match cell.primitive {
        "fp_sqrt" => square_root(graph, width, int, frac).0,
        "sqrt" => whole_square_root(cell, graph, width),
        _ => return None,
    })
}

/// `sqrt`: the square root of a whole number, with the check that its Verilog makes of the result.
fn whole_square_root(cell: &Cell<'_>, graph: &mut Graph, width: u32) -> Unit {
    let (unit, out, done) = square_root(graph, width, width, 0);
    let (path, primitive) = (cell.path.clone(), cell.primitive.to_owned());
    let inner = unit.edge;
    Unit {
        outputs: unit.outputs,
        edge: Some(Box::new(move |g, i| {
            if let Some(edge) = inner {
                edge(g, i);
            }
            let (go, value) = (i.get(g, "go"), i.get(g, "in"));
            let radicand = keep(g, go, value);
            let differs = g.op(Op::NotSqrt, 1, &[out, radicand]);
            let fails = g.and(done, differs);
            let values = [("input", radicand), ("computed", out)];
            let message = "computed and golden outputs do not match";
            g.checks.push(Check {
                at_edge: true,
                ..check(&path, &primitive, fails, message, &values)
            });
        })),
        ..Unit::default()
    }
}

/// The unit, and its registers `out` and `done`.
fn square_root(graph: &mut Graph, width: u32, int: u32, frac: u32) -> (Unit, NodeId, NodeId) {
    let odd = int & 1;
    let ext = width + odd;
    let iterations = (ext + frac) >> 1;
    let index = graph.reg(clog2(iterations));
    let (x, quotient) = (graph.reg(ext), graph.reg(ext));
    let acc = graph.reg(ext + 2);
    let running = graph.reg(1);
    let (out, done) = (graph.reg(width), graph.reg(1));
    let unit = Unit {
        outputs: vec![("out", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, go) = (i.get(g, "reset"), i.get(g, "go"));
            let start = begins(g, running, go);
            let (finished, next_index) = count(g, index, running, iterations);
            g.set(index, next_index);
            set_running(g, running, reset, start, finished);

            let (one_of_two, none_of_two) = (g.constant(1u8, 2), g.constant(0u8, 2));
            let trial = g.cat(quotient, one_of_two);
            let tmp = g.sub(acc, trial);
            let negative = g.slice(tmp, ext + 1, 1);
            let kept = g.mux(negative, acc, tmp);
            let kept = g.slice(kept, 0, ext);
            let pair = g.cat(kept, x);
            let pair = g.cat(pair, none_of_two);
            let acc_next = g.slice(pair, ext, ext + 2);
            let x_next = g.slice(pair, 0, ext);
            let bit = g.not(negative);
            let quotient_next = g.cat(quotient, bit);
            let quotient_next = g.slice(quotient_next, 0, ext);

            // {acc, x} <= {{EXT_WIDTH + (INT_WIDTH & 1){1'b0}}, in, 2'b0}
            let value = i.get(g, "in");
            let first = g.cat(value, none_of_two);
            let first = g.resize(first, 2 * ext + 2);
            let first_acc = g.slice(first, ext, ext + 2);
            let first_x = g.slice(first, 0, ext);
            let zero = g.constant(0u8, ext);
            for (reg, first, next) in [
                (quotient, zero, quotient_next),
                (acc, first_acc, acc_next),
                (x, first_x, x_next),
            ] {
                let next = g.mux(start, first, next);
                g.set(reg, next);
            }

            g.set(done, finished);
            let nothing = g.constant(0u8, width);
            let result = g.resize(quotient_next, width);
            let next = g.mux(reset, nothing, out);
            let next = g.mux(finished, result, next);
            g.set(out, next);
        })),
        ..Unit::default()
    };
    (unit, out, done)
}
