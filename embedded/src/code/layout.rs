//! Where the values of a machine are, and which function computes what.
//!
//! Knows the graph; knows nothing of Cranelift or of addresses.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use num_bigint::BigUint;

use crate::graph::{Graph, Kind, NodeId};

/// Nodes in a function. The code is cut into functions of that size, because the time to compile one
/// grows faster than its length.
pub(super) const CHUNK: usize = 1000;

/// Words of the environment with a meaning of their own, all but the digest 0 or not 0.
pub(crate) mod word {
    /// A check fails in the settled cycle.
    pub const FAILED: usize = 0;
    /// A check fails on the clock's edge.
    pub const FAILED_AT_EDGE: usize = 1;
    /// A wire on a loop differs from the last evaluation.
    pub const UNSETTLED: usize = 2;
    /// The design has run.
    pub const DONE: usize = 3;
    /// The inputs.
    pub const GO: usize = 4;
    pub const RESET: usize = 5;
    /// A digest of all that was written to memories.
    pub const DIGEST: usize = 6;
    pub const COUNT: usize = 7;
}

/// The digest of memories is the sum of what was added to their words, each times its weight: it depends on their
/// contents alone. A memory with this number, its word with this address:
/// `(address + first_weight(memory)) * WEIGHT | 1`.
pub(super) const WEIGHT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Before the first weight of a memory are those of the memories before it.
pub(super) fn first_weight(memory: usize) -> u64 {
    (memory as u64) << 48
}

/// Words that a value takes.
pub(crate) fn words(width: u32) -> usize {
    usize::try_from(width.div_ceil(64)).unwrap_or(usize::MAX)
}

/// Reads a value from its words, the lowest first.
pub(crate) fn load(words: &[u64]) -> BigUint {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

/// Writes a value to its words.
pub(crate) fn store(value: &BigUint, words: &mut [u64]) {
    let mut digits = value.iter_u64_digits();
    for word in words {
        *word = digits.next().unwrap_or(0);
    }
}

/// Where the values of a machine are.
#[derive(Debug)]
pub(crate) struct Layout {
    /// First word of each register, in the state before and after a cycle.
    pub regs: Vec<usize>,
    /// Words of a state.
    pub state: usize,
    /// The words of the environment that hold the probes: one bit each, 64 in a word, and a word
    /// for each of those that are wider.
    pub probes: Range<usize>,
    /// Word and bit of each probe; without a bit it has the word to itself.
    pub probe: Vec<(usize, Option<u32>)>,
    /// The words of the environment that hold the watched values.
    pub watched: Range<usize>,
    /// First word of each wire on a loop in the environment, and the words of all of them.
    pub wires: Vec<usize>,
    pub all_wires: Range<usize>,
    /// Words of the environment.
    pub env: usize,
}

/// What happens to a node's value once it is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sink {
    /// It is a register's next value.
    Next(usize),
    /// It is that of a wire on a loop: stored in the environment, and compared with what was there.
    Wire(usize),
    /// Its bits are set in this word, shifted to the left.
    SetBits(usize, u32),
    /// It is used elsewhere.
    Store(usize),
}

/// The layout of a design, and the order in which its values are computed.
pub(super) struct Plan<'a> {
    pub graph: &'a Graph,
    pub layout: Layout,
    /// The nodes to compute, in order: [`CHUNK`] of them in a function.
    pub order: Vec<NodeId>,
    /// The function of each.
    chunk_of: HashMap<NodeId, usize>,
    pub sinks: HashMap<NodeId, Vec<Sink>>,
    /// First word of each node that is in the environment.
    pub slots: HashMap<NodeId, usize>,
}

impl<'a> Plan<'a> {
    /// Decides for a graph of which `done`, `probes` and `watched` are to be seen from outside.
    pub fn of(graph: &'a Graph, done: NodeId, probes: &[NodeId], watched: &[NodeId]) -> Self {
        let mut plan = Self {
            graph,
            layout: Layout {
                regs: Vec::new(),
                state: 0,
                probes: 0..0,
                probe: Vec::new(),
                watched: 0..0,
                wires: Vec::new(),
                all_wires: 0..0,
                env: word::COUNT,
            },
            order: Vec::new(),
            chunk_of: HashMap::new(),
            sinks: HashMap::new(),
            slots: HashMap::new(),
        };
        plan.lay_out(done, probes, watched);
        plan
    }

    fn reserve(&mut self, width: u32) -> usize {
        let at = self.layout.env;
        self.layout.env += words(width);
        at
    }

    fn sink(&mut self, node: NodeId, sink: Sink) {
        self.sinks.entry(node).or_default().push(sink);
    }

    /// Gives everything its words, and decides what is computed where.
    fn lay_out(&mut self, done: NodeId, probes: &[NodeId], watched: &[NodeId]) {
        let graph = self.graph;
        self.lay_out_probes(probes);
        let first = self.layout.env;
        for &node in watched {
            let at = self.reserve(graph.width(node));
            self.sink(node, Sink::Store(at));
        }
        self.layout.watched = first..self.layout.env;
        let first = self.layout.env;
        for &(width, node) in &graph.wires {
            let at = self.reserve(width);
            self.layout.wires.push(at);
            self.sink(node, Sink::Wire(at));
        }
        self.layout.all_wires = first..self.layout.env;
        for reg in &graph.regs {
            let at = self.layout.state;
            self.layout.state += words(reg.width);
            self.layout.regs.push(at);
            self.sink(reg.next, Sink::Next(at));
        }
        self.sink(done, Sink::SetBits(word::DONE, 0));
        for check in &graph.checks {
            let flag = if check.at_edge {
                word::FAILED_AT_EDGE
            } else {
                word::FAILED
            };
            self.sink(check.fails, Sink::SetBits(flag, 0));
        }
        let mut roots: Vec<NodeId> = self.sinks.keys().copied().collect();
        let committed: Vec<NodeId> = graph
            .writes
            .iter()
            .flat_map(|write| [write.enable, write.address, write.data])
            .collect();
        roots.extend(&committed);
        self.order = live(graph, roots);
        self.chunk_of = self
            .order
            .iter()
            .enumerate()
            .map(|(at, &node)| (node, at / CHUNK))
            .collect();
        for node in committed {
            self.store(node);
        }
        for at in 0..self.order.len() {
            let node = self.order[at];
            let helped = self.needs_help(node);
            for &operand in graph.node(node).operands() {
                let far = self
                    .chunk_of
                    .get(&operand)
                    .is_some_and(|chunk| *chunk != at / CHUNK);
                if helped || far {
                    self.store(operand);
                }
            }
            if helped || graph.width(node) > 64 {
                self.store(node);
            }
        }
        // What a helper computes is there already.
        let stored: Vec<(NodeId, usize)> = self
            .slots
            .iter()
            .map(|(&node, &at)| (node, at))
            .filter(|&(node, _)| !self.needs_help(node))
            .collect();
        for (node, at) in stored {
            self.sink(node, Sink::Store(at));
        }
    }

    fn lay_out_probes(&mut self, probes: &[NodeId]) {
        let first = self.layout.env;
        let bits = probes.iter().filter(|&&node| self.graph.width(node) == 1);
        let mut next_word = first + bits.count().div_ceil(64);
        let mut next_bit = 0;
        for &node in probes {
            let (word, bit) = if self.graph.width(node) == 1 {
                let bit = u32::try_from(next_bit % 64).expect("it is below 64");
                next_bit += 1;
                (first + (next_bit - 1) / 64, Some(bit))
            } else {
                next_word += 1;
                (next_word - 1, None)
            };
            self.layout.probe.push((word, bit));
            self.sink(node, Sink::SetBits(word, bit.unwrap_or(0)));
        }
        self.layout.env = next_word;
        self.layout.probes = first..next_word;
    }

    /// Gives a computed node room in the environment.
    fn store(&mut self, node: NodeId) {
        if self.chunk_of.contains_key(&node) && !self.slots.contains_key(&node) {
            let at = self.reserve(self.graph.width(node));
            self.slots.insert(node, at);
        }
    }

    /// Whether a helper computes the node.
    pub fn needs_help(&self, node: NodeId) -> bool {
        let node = self.graph.node(node);
        match node.kind {
            Kind::Op(..) | Kind::Read(..) => {
                let operands = node.operands();
                node.width > 64 || operands.iter().any(|&id| self.graph.width(id) > 64)
            }
            _ => false,
        }
    }

    /// The nodes with sinks that are not computed.
    pub fn leaves(&self) -> Vec<NodeId> {
        let sinks = self.sinks.keys().copied();
        let mut leaves: Vec<NodeId> = sinks
            .filter(|node| !self.chunk_of.contains_key(node))
            .collect();
        leaves.sort_unstable();
        leaves
    }
}

/// The computed nodes that `roots` need, operands first.
fn live(graph: &Graph, roots: Vec<NodeId>) -> Vec<NodeId> {
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut open = roots;
    while let Some(node) = open.pop() {
        let computed = matches!(graph.node(node).kind, Kind::Op(..) | Kind::Read(..));
        if computed && seen.insert(node) {
            open.extend(graph.node(node).operands());
        }
    }
    let mut order: Vec<NodeId> = seen.into_iter().collect();
    order.sort_unstable();
    order
}
