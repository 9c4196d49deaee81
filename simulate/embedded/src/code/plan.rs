//! Decides where the values of a machine are, and what happens to each.
//!
//! Knows the graph and its parts; knows nothing of Cranelift or of addresses.

use std::collections::HashSet;
use std::ops::Range;

use petal_reconstruct::Id as _;

use super::layout::{
    ByBit, Layout, MemoryWrite, More, Register, Wake, WordSpan, offset, push_bit, word, words,
};
use super::partition;
use super::probes::{Probed, ProbedWord, Probes};
use crate::graph::{Graph, Kind, NodeId, Op, RegId};

/// What happens to a node's value once it is there.
#[derive(Debug, Clone)]
pub(super) enum Sink {
    /// It is stored. If it is another one than before, that is made known.
    Store(usize, Vec<Wake>),
    /// It is that of a wire on a loop: stored, and compared with what was there.
    Wire(usize),
    /// It is a bit of this word.
    Bit(usize, u32),
    /// If it is high, this word is not 0 any more.
    Raise(usize),
}

/// A bit of these words.
fn bit(words: &Range<usize>, at: usize) -> Wake {
    (words.start + at / 64, 1 << (at % 64))
}

/// The layout of a design, and the order in which its values are computed.
pub(super) struct Plan<'a> {
    pub graph: &'a Graph,
    pub layout: Layout,
    /// The parts of each function: the nodes to compute or to do something with, in order.
    pub functions: Vec<Vec<Vec<NodeId>>>,
    /// What happens to each node.
    sinks: Vec<Vec<Sink>>,
    /// Where each node is that is not computed where it is used.
    slots: Vec<Option<usize>>,
    /// Who is told when a value that a helper stores has changed.
    wakes: Vec<Vec<Wake>>,
}

impl<'a> Plan<'a> {
    /// Decides for a graph of which `done`, `probes` and `watched` are to be seen from outside.
    pub fn of(graph: &'a Graph, done: NodeId, probes: &[NodeId], watched: &[NodeId]) -> Self {
        let probed = Probed::of(graph, probes);
        let mut roots: Vec<NodeId> = [watched, &[done]].concat();
        let computed = probed.bits.iter().chain(&probed.words);
        roots.extend(computed.map(|(node, _)| *node));
        roots.extend(graph.wires.iter().map(|(_, node)| *node));
        roots.extend(graph.regs.iter().map(|reg| reg.next));
        roots.extend(graph.checks.iter().map(|check| check.fails));
        let writes = graph.writes.iter();
        roots.extend(writes.flat_map(|write| {
            let operands = [write.enable, write.address, write.data];
            operands.into_iter().chain(write.within)
        }));
        let (leaves, live) = live(graph, roots);
        let functions = partition::functions(graph, &leaves, &live);
        let flags = word::COUNT..word::COUNT + functions.len();
        let mut plan = Self {
            graph,
            layout: Layout {
                size: flags.end,
                flags,
                changing: 0..0,
                registers: ByBit::default(),
                rare: Vec::new(),
                more: Vec::new(),
                of_rare: ByBit::default(),
                writing: 0..0,
                writes: Vec::new(),
                regs: Vec::new(),
                state: 0..0,
                probes: Probes::default(),
                watched: 0..0,
                changed: 0..0,
                wires: Vec::new(),
                all_wires: 0..0,
                memories: 0..0,
            },
            functions,
            sinks: vec![Vec::new(); graph.len()],
            slots: vec![None; graph.len()],
            wakes: vec![Vec::new(); graph.len()],
        };
        plan.lay_out(done, probed, watched);
        plan
    }

    fn reserve(&mut self, words: usize) -> Range<usize> {
        let first = self.layout.size;
        self.layout.size += words;
        first..self.layout.size
    }

    fn sink(&mut self, node: NodeId, sink: Sink) {
        self.sinks[node.index()].push(sink);
    }

    /// Gives everything its words.
    fn lay_out(&mut self, done: NodeId, mut probed: Probed, watched: &[NodeId]) {
        let graph = self.graph;
        let users = Users::of(graph, &self.functions, self.layout.flags.start);
        self.lay_out_updates(&users, &mut probed);
        self.lay_out_probes(probed);
        self.layout.changed = self.reserve(watched.len().div_ceil(64));
        let first = self.layout.size;
        for (number, &node) in watched.iter().enumerate() {
            let at = self.reserve(words(graph.width(node))).start;
            let change = bit(&self.layout.changed, number);
            self.sink(node, Sink::Store(at, vec![change]));
        }
        self.layout.watched = first..self.layout.size;
        let first = self.layout.size;
        for &(width, node) in &graph.wires {
            let at = self.reserve(words(width)).start;
            self.layout.wires.push(WordSpan { at, width });
            self.sink(node, Sink::Wire(at));
        }
        self.layout.all_wires = first..self.layout.size;
        self.sink(done, Sink::Store(word::DONE, Vec::new()));
        for check in &graph.checks {
            let flag = if check.at_edge {
                word::FAILED_AT_EDGE
            } else {
                word::FAILED
            };
            self.sink(check.fails, Sink::Raise(flag));
        }
        self.layout.memories = self.reserve(graph.mems.len());
        self.lay_out_slots(users);
    }

    /// The registers, in the order in which the machine code comes to what they become.
    fn lay_out_updates(&mut self, users: &Users, probed: &mut Probed) {
        let graph = self.graph;
        let place = |node: NodeId| users.place[node.index()];
        let mut writes: Vec<usize> = (0..graph.writes.len()).collect();
        writes.sort_by_key(|&write| place(graph.writes[write].enable));
        let mut regs: Vec<usize> = (0..graph.regs.len()).collect();
        regs.sort_by_key(|&reg| place(graph.regs[reg].next));
        self.layout.changing = self.reserve(regs.len().div_ceil(64));
        self.layout.writing = self.reserve(writes.len().div_ceil(64));
        let state = self.layout.size;
        self.layout.regs = vec![WordSpan::default(); regs.len()];
        for &reg in &regs {
            let width = graph.regs[reg].width;
            let at = self.reserve(words(width)).start;
            self.layout.regs[reg] = WordSpan { at, width };
        }
        self.layout.state = state..self.layout.size;
        for reg in regs {
            let slots = probed.regs.remove(&RegId::from_index(reg));
            let before = slots.map_or(word::NOTHING, |_| self.reserve(1).start);
            self.layout.probes.add(ProbedWord {
                at: offset(self.layout.regs[reg].at),
                before: offset(before),
                slots: slots.unwrap_or_default(),
            });
            let words = words(graph.regs[reg].width);
            let next = self.reserve(words).start;
            let wakes = vec![bit(&self.layout.changing, self.layout.registers.len())];
            self.sink(graph.regs[reg].next, Sink::Store(next, wakes));
            let mut wakes = users.of_regs[reg].wakes().into_iter();
            let first = [(); 2].map(|()| wakes.next().unwrap_or((word::NOTHING, 0)));
            let wakes: Vec<Wake> = wakes.collect();
            let number = self.layout.registers.len();
            let is_rare = words > 1 || !wakes.is_empty();
            push_bit(&mut self.layout.rare, number, is_rare);
            self.layout.of_rare.push(offset(self.layout.more.len()));
            if is_rare {
                self.layout.more.push(More { words, wakes });
            }
            self.layout.registers.push(Register {
                offsets: [self.layout.regs[reg].at, next, first[0].0, first[1].0].map(offset),
                wakes: first.map(|(_, bits)| bits),
            });
        }
        for write in writes {
            let write = graph.writes[write];
            let mut store = |node: NodeId| {
                let at = self.reserve(words(graph.width(node)));
                let wakes = vec![bit(&self.layout.writing, self.layout.writes.len())];
                self.sink(node, Sink::Store(at.start, wakes));
                at
            };
            let [enable, address, data] = [write.enable, write.address, write.data].map(&mut store);
            let within = write.within.map(|node| store(node).start);
            self.layout.writes.push(MemoryWrite {
                memory: write.memory,
                enable: enable.start,
                address,
                data,
                within,
                wakes: users.of_memories[write.memory.index()].wakes(),
            });
        }
    }

    /// Those of registers have their places already.
    fn lay_out_probes(&mut self, probed: Probed) {
        let words = self.graph.regs.len().div_ceil(64) + probed.words.len().div_ceil(64);
        self.layout.probes.changed = self.reserve(words);
        self.layout.probes.slots = probed.slots;
        self.layout.probes.of_words.end_word();
        for (node, slots) in probed.words {
            let at = self.reserve(1).start;
            let change = bit(
                &self.layout.probes.changed,
                self.layout.probes.of_words.len(),
            );
            self.sink(node, Sink::Store(at, vec![change]));
            let before = self.reserve(1).start;
            let [at, before] = [at, before].map(offset);
            self.layout.probes.add(ProbedWord { at, before, slots });
        }
        let words = probed.bits.len().div_ceil(64);
        self.layout.probes.bits = self.reserve(words);
        self.layout.probes.bits_before = self.reserve(words).start;
        for (node, slots) in probed.bits {
            let number = self.layout.probes.of_bits.len();
            let by = u32::try_from(number % 64).expect("it is below 64");
            self.sink(
                node,
                Sink::Bit(self.layout.probes.bits.start + number / 64, by),
            );
            self.layout.probes.of_bits.push(slots);
        }
    }

    /// Gives room to the nodes that are used by other parts or by helpers.
    fn lay_out_slots(&mut self, users: Users) {
        let graph = self.graph;
        let nodes: Vec<NodeId> = self.functions.iter().flatten().flatten().copied().collect();
        for &node in &nodes {
            if self.needs_help(node) {
                for &operand in graph.node(node).operands() {
                    self.store(operand);
                }
                self.store(node);
            }
        }
        for (node, users) in nodes.iter().zip(users.of_nodes(&nodes)) {
            let wakes = users.wakes();
            if !wakes.is_empty() {
                self.store(*node);
            }
            let Some(at) = self.slots[node.index()] else {
                continue;
            };
            if self.needs_help(*node) {
                self.wakes[node.index()] = wakes;
            } else {
                self.sink(*node, Sink::Store(at, wakes));
            }
        }
    }

    /// Gives a computed node room.
    fn store(&mut self, node: NodeId) {
        let graph = self.graph;
        if is_computed(graph, node) && self.slots[node.index()].is_none() {
            let at = self.reserve(words(graph.width(node))).start;
            self.slots[node.index()] = Some(at);
        }
    }

    /// Whether a helper computes the node.
    pub fn needs_help(&self, node: NodeId) -> bool {
        let graph = self.graph;
        let operands = graph.node(node).operands();
        let is_float = matches!(graph.node(node).kind, Kind::Op(Op::Float(..), _));
        is_computed(graph, node)
            && (is_float
                || graph.width(node) > 64
                || operands.iter().any(|&id| graph.width(id) > 64))
    }

    /// What happens to a node.
    pub fn sinks(&self, node: NodeId) -> &[Sink] {
        &self.sinks[node.index()]
    }

    /// First word of a computed node that is not computed where it is used.
    pub fn slot(&self, node: NodeId) -> usize {
        self.slots[node.index()].expect("it has room, since others use it")
    }

    /// Who is told when a value that a helper stores has changed.
    pub fn wakes(&self, node: NodeId) -> &[Wake] {
        &self.wakes[node.index()]
    }
}

fn is_computed(graph: &Graph, node: NodeId) -> bool {
    matches!(graph.node(node).kind, Kind::Op(..) | Kind::Read(..))
}

/// The parts that use something, in order.
#[derive(Debug, Default, Clone)]
struct Parts(Vec<(usize, usize)>);

impl Parts {
    /// Adds a part: the word of its function, and its bit. Parts are added in order.
    fn add(&mut self, part: (usize, usize)) {
        if self.0.last() != Some(&part) {
            self.0.push(part);
        }
    }

    /// The bits of these parts.
    fn wakes(&self) -> Vec<Wake> {
        let words = self.0.chunk_by(|a, b| a.0 == b.0);
        words
            .map(|parts| {
                let bits = parts.iter().map(|(_, bit)| 1 << bit);
                (parts[0].0, bits.fold(0, |all, bit: u64| all | bit))
            })
            .collect()
    }
}

/// Who uses what in another part than the one where it is.
struct Users {
    of_regs: Vec<Parts>,
    of_memories: Vec<Parts>,
    of_nodes: Vec<Parts>,
    /// The part in which something happens to each node.
    place: Vec<(usize, usize)>,
}

impl Users {
    fn of(graph: &Graph, functions: &[Vec<Vec<NodeId>>], first: usize) -> Self {
        let mut users = Self {
            of_regs: vec![Parts::default(); graph.regs.len()],
            of_memories: vec![Parts::default(); graph.mems.len()],
            of_nodes: vec![Parts::default(); graph.len()],
            place: vec![(0, 0); graph.len()],
        };
        for (function, parts) in (first..).zip(functions) {
            for (bit, nodes) in parts.iter().enumerate() {
                let part = (function, bit);
                for &node in nodes {
                    users.place[node.index()] = part;
                    let described = graph.node(node);
                    match described.kind {
                        Kind::Reg(reg) => users.of_regs[reg.index()].add(part),
                        Kind::Read(memory, _) => users.of_memories[memory.index()].add(part),
                        _ => {}
                    }
                    for &operand in described.operands() {
                        match graph.node(operand).kind {
                            Kind::Reg(reg) => users.of_regs[reg.index()].add(part),
                            Kind::Op(..) | Kind::Read(..)
                                if users.place[operand.index()] != part =>
                            {
                                users.of_nodes[operand.index()].add(part);
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        users
    }

    fn of_nodes(self, nodes: &[NodeId]) -> impl Iterator<Item = Parts> {
        let mut all = self.of_nodes;
        nodes
            .iter()
            .map(move |node| std::mem::take(&mut all[node.index()]))
    }
}

/// The computed nodes that `roots` need, operands first, after those of the roots that are not computed.
fn live(graph: &Graph, roots: Vec<NodeId>) -> (Vec<NodeId>, Vec<NodeId>) {
    let leaves = roots.iter().filter(|node| !is_computed(graph, **node));
    let leaves: HashSet<NodeId> = leaves.copied().collect();
    let mut seen: HashSet<NodeId> = HashSet::new();
    let mut open = roots;
    while let Some(node) = open.pop() {
        if is_computed(graph, node) && seen.insert(node) {
            open.extend(graph.node(node).operands());
        }
    }
    let sorted = |nodes: HashSet<NodeId>| {
        let mut nodes: Vec<NodeId> = nodes.into_iter().collect();
        nodes.sort_unstable();
        nodes
    };
    (sorted(leaves), sorted(seen))
}
