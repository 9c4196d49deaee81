//! `sync.futil`: the register that two writers and two readers take turns at.

use super::unit::{Cell, Unit, set_or_reset};
use crate::graph::{Graph, NodeId};

/// The unit of a cell, if its primitive is of this file.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let width = cell.width("WIDTH");
    (cell.primitive == "std_sync_reg").then(|| sync_register(graph, width))
}

fn sync_register(graph: &mut Graph, width: u32) -> Unit {
    let full = graph.reg(1);
    let state = graph.reg(width);
    let peek = graph.reg(width);
    let arbiters = [(); 2].map(|()| graph.reg(1));
    let outs = [(); 2].map(|()| graph.reg(width));
    let write_done = [(); 2].map(|()| graph.reg(1));
    let read_done = [(); 2].map(|()| graph.reg(1));
    Unit {
        outputs: vec![
            ("out_0", outs[0]),
            ("out_1", outs[1]),
            ("write_done_0", write_done[0]),
            ("write_done_1", write_done[1]),
            ("read_done_0", read_done[0]),
            ("read_done_1", read_done[1]),
            ("peek", peek),
        ],
        edge: Some(Box::new(move |g, i| {
            let reset = i.get(g, "reset");
            let empty = g.not(full);
            // Who takes its turn, given who asks, while `ready`: both ports, and whether either.
            let arbitrate = |g: &mut Graph, names: [&str; 2], ready: NodeId, arbiter: NodeId| {
                let asks = names.map(|name| i.get(g, name));
                let asks = asks.map(|ask| g.and(ready, ask));
                let both = g.and(asks[0], asks[1]);
                let first_turn = g.not(arbiter);
                let others = [g.not(asks[1]), g.not(asks[0])];
                let free = [g.or(others[0], first_turn), g.or(others[1], arbiter)];
                let taken = [g.and(asks[0], free[0]), g.and(asks[1], free[1])];
                let next = g.xor(arbiter, both);
                set_or_reset(g, reset, arbiter, next);
                let any = g.or(asks[0], asks[1]);
                (taken, any)
            };
            let (writes, any_write) =
                arbitrate(g, ["write_en_0", "write_en_1"], empty, arbiters[0]);
            let (reads, any_read) = arbitrate(g, ["read_en_0", "read_en_1"], full, arbiters[1]);

            let still = g.not(any_read);
            let kept = g.and(full, still);
            let next = g.or(any_write, kept);
            set_or_reset(g, reset, full, next);

            let inputs = [i.get(g, "in_0"), i.get(g, "in_1")];
            // What nobody may look at is undefined.
            let nothing = g.constant(0u8, width);
            for (reg, kept) in [(state, g.mux(any_read, nothing, state)), (peek, peek)] {
                let next = g.mux(writes[1], inputs[1], kept);
                let next = g.mux(writes[0], inputs[0], next);
                set_or_reset(g, reset, reg, next);
            }
            for port in 0..2 {
                let next = g.mux(reads[port], state, nothing);
                set_or_reset(g, reset, outs[port], next);
                set_or_reset(g, reset, write_done[port], writes[port]);
                set_or_reset(g, reset, read_done[port], reads[port]);
            }
        })),
        ..Unit::default()
    }
}
