//! `memories/comb.futil`, `memories/seq.futil` and `memories/dyn.futil`: memories of one to four dimensions, with the checks of
//! their addresses.

use super::unit::{Cell, Comb, Inputs, Unit, check};
use crate::graph::{Graph, NodeId, Op, Write};

/// The unit of a cell, if its primitive is of these files.
pub(super) fn unit(cell: &Cell<'_>, graph: &mut Graph) -> Option<Unit> {
    let (kind, dims) = cell.primitive.split_once("_mem_d")?;
    let dims: usize = dims.parse().ok().filter(|dims| (1..=4).contains(dims))?;
    let sizes: Vec<(u64, u32)> = if dims == 1 {
        vec![(cell.parameter("SIZE"), cell.width("IDX_SIZE"))]
    } else {
        (0..dims)
            .map(|dim| {
                let size = cell.parameter(&format!("D{dim}_SIZE"));
                (size, cell.width(&format!("D{dim}_IDX_SIZE")))
            })
            .collect()
    };
    match kind {
        "comb" => Some(comb_memory(cell, graph, sizes)),
        // The same hardware, of which Calyx does not assume that it takes one cycle.
        "seq" | "dyn" => Some(seq_memory(cell, graph, sizes)),
        _ => None,
    }
}

/// A memory that is read in the same cycle.
fn comb_memory(cell: &Cell<'_>, graph: &mut Graph, sizes: Vec<(u64, u32)>) -> Unit {
    let words = words(&sizes);
    let memory = graph.mem(cell.width("WIDTH"), words);
    let done = graph.reg(1);
    let addresses: Vec<String> = (0..sizes.len()).map(|dim| format!("addr{dim}")).collect();
    let (path, primitive) = (cell.path.clone(), cell.primitive.to_owned());
    let for_write = sizes.clone();
    Unit {
        outputs: vec![("done", done)],
        combs: vec![Comb {
            output: "read_data",
            inputs: Some(addresses),
            build: Box::new(move |g, i| {
                let (address, inside) = comb_address(g, i, &sizes);
                for (dim, &(size, _)) in sizes.iter().enumerate() {
                    let index = i.get(g, &format!("addr{dim}"));
                    let fits = below(g, index, size);
                    let fails = g.not(fits);
                    let values = [("index", index)];
                    let message =
                        format!("Out of bounds access: addr{dim} must be less than {size}");
                    g.checks
                        .push(check(&path, &primitive, fails, &message, &values));
                }
                let word = g.read(memory, address);
                let nothing = g.constant(0u8, g.width(word));
                g.mux(inside, word, nothing)
            }),
        }],
        edge: Some(Box::new(move |g, i| {
            let (reset, write) = (i.get(g, "reset"), i.get(g, "write_en"));
            let running = g.not(reset);
            let writes = g.and(running, write);
            g.set(done, writes);
            let (address, inside) = comb_address(g, i, &for_write);
            let write = Write {
                memory,
                enable: g.and(writes, inside),
                address,
                data: i.get(g, "write_data"),
                within: None,
            };
            g.write(write);
        })),
        memory: Some(memory),
    }
}

/// A memory that is read at the edge.
fn seq_memory(cell: &Cell<'_>, graph: &mut Graph, sizes: Vec<(u64, u32)>) -> Unit {
    let words = words(&sizes);
    let width = cell.width("WIDTH");
    let memory = graph.mem(width, words);
    let (done, out) = (graph.reg(1), graph.reg(width));
    let (path, primitive) = (cell.path.clone(), cell.primitive.to_owned());
    Unit {
        outputs: vec![("read_data", out), ("done", done)],
        edge: Some(Box::new(move |g, i| {
            let (reset, enable) = (i.get(g, "reset"), i.get(g, "content_en"));
            let write = i.get(g, "write_en");
            let running = g.not(reset);
            let active = g.and(running, enable);
            g.set(done, active);
            let address = seq_address(g, i, &sizes);
            let word = g.read(memory, address);
            let nothing = g.constant(0u8, width);
            // What a write leaves in the output is undefined.
            let accessed = g.mux(write, nothing, word);
            let next = g.mux(enable, accessed, out);
            let next = g.mux(reset, nothing, next);
            g.set(out, next);
            let writes = g.and(active, write);
            let several = sizes.len() > 1;
            let written = Write {
                memory,
                enable: writes,
                address,
                data: i.get(g, "write_data"),
                within: several.then(|| comb_address(g, i, &sizes).1),
            };
            g.write(written);
            let reading = g.not(write);
            let reads = g.and(enable, reading);
            let fits = below(g, address, words);
            let misses = g.not(fits);
            let fails = g.and(reads, misses);
            let values = [("address", address)];
            let message = format!("Out of bounds access: the address must be less than {words}");
            g.checks
                .push(check(&path, &primitive, fails, &message, &values));
        })),
        memory: Some(memory),
        ..Unit::default()
    }
}

/// The words of a memory, or the largest number there is: there is no room for so many.
fn words(sizes: &[(u64, u32)]) -> u64 {
    sizes
        .iter()
        .fold(1, |words, (size, _)| words.saturating_mul(*size))
}

/// Whether an address is less than `size`.
fn below(graph: &mut Graph, address: NodeId, size: u64) -> NodeId {
    let width = graph.width(address);
    if width < 64 && size >> width > 0 {
        return graph.constant(1u8, 1);
    }
    let size = graph.constant(size, width);
    graph.lt(address, size)
}

/// The number of the word, and whether all indices are in range.
fn comb_address(graph: &mut Graph, inputs: &Inputs<'_>, sizes: &[(u64, u32)]) -> (NodeId, NodeId) {
    let mut word = graph.constant(0u8, 64);
    let mut inside = graph.constant(1u8, 1);
    for (dim, &(size, _)) in sizes.iter().enumerate() {
        let index = inputs.get(graph, &format!("addr{dim}"));
        let fits = below(graph, index, size);
        inside = graph.and(inside, fits);
        let index = graph.resize(index, 64);
        let size = graph.constant(size, 64);
        word = graph.op(Op::Mul, 64, &[word, size]);
        word = graph.add(word, index);
    }
    (word, inside)
}

/// The address as the flat memory inside gets it, with as many bits as all indices have.
fn seq_address(graph: &mut Graph, inputs: &Inputs<'_>, sizes: &[(u64, u32)]) -> NodeId {
    let bits: u32 = sizes.iter().map(|(_, bits)| bits).sum();
    if sizes.len() == 1 {
        return inputs.get(graph, "addr0");
    }
    let wide = bits.max(64);
    let mut word = graph.constant(0u8, wide);
    for (dim, &(size, _)) in sizes.iter().enumerate() {
        let index = inputs.get(graph, &format!("addr{dim}"));
        let index = graph.resize(index, wide);
        let size = graph.constant(size, wide);
        word = graph.op(Op::Mul, wide, &[word, size]);
        word = graph.add(word, index);
    }
    graph.resize(word, bits)
}
