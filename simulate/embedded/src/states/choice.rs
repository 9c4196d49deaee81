//! Which registers a state is made of.
//!
//! Control registers have few values together; a counter beside them has as many as it counts. So registers are left out, one after the
//! other, where that leaves the fewest different tuples in a sample of the run. Knows the graph's registers; knows nothing of tapes.

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};
use petal_reconstruct::Id as _;

use super::Subject;
use super::tape::at;
use crate::graph::{Graph, Kind, NodeId, Op, RegId};

/// Bits of a register that may be part of a state, which is a byte.
const MAX_WIDTH: u32 = 8;

/// Registers that move; with more of them, too much runs on its own.
const MAX_MOVING: usize = 64;

/// Different tuples in a sample at most.
const MAX_TUPLES: usize = 160;

/// So many states at most have nearly all cycles.
const MAX_HOT: usize = 96;

/// How often a register changes in a sample that is not slow.
const SLOW: usize = 8;

/// Words of a table with a bit for each hash of a tuple.
const BITS: usize = 1 << 11;

/// The values of registers in some cycles.
pub(super) struct Samples {
    regs: Vec<RegId>,
    /// Where each is among all registers.
    places: Vec<usize>,
    /// All values of a cycle, then those of the next one.
    values: Vec<u8>,
}

impl Samples {
    /// None yet.
    pub fn new(subject: &Subject<'_>) -> Self {
        let regs = subject.graph.regs.iter().enumerate();
        let regs = regs.filter(|(_, reg)| reg.width <= MAX_WIDTH);
        let regs: Vec<RegId> = regs.map(|(at, _)| RegId::from_index(at)).collect();
        Self {
            places: regs.iter().map(|&reg| at(subject.layout, reg)).collect(),
            regs,
            values: Vec::new(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.regs.len()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// Whether no register can be part of a state.
    pub fn is_hopeless(&self) -> bool {
        self.regs.is_empty()
    }

    /// Takes in a cycle, in which the registers have these values.
    pub fn take(&mut self, registers: &[u64]) {
        let values = self.places.iter().map(|&at| registers[at].to_le_bytes()[0]);
        self.values.extend(values);
    }

    /// The registers of a state; `None` if there are too many states for it to be worth while.
    pub fn choose(&self, graph: &Graph) -> Option<Vec<RegId>> {
        let cycles = self.values.chunks_exact(self.regs.len());
        let mut changes = vec![0; self.regs.len()];
        for (before, now) in cycles.clone().zip(cycles.skip(1)) {
            for (changes, (before, now)) in changes.iter_mut().zip(before.iter().zip(now)) {
                *changes += usize::from(before != now);
            }
        }
        let mut chosen: Vec<usize> = (0..self.regs.len())
            .filter(|&at| changes[at] >= SLOW || !is_counter(graph, self.regs[at]))
            .collect();
        let moving = chosen.iter().filter(|&&at| changes[at] > 0);
        let mut moving: Vec<usize> = moving.copied().collect();
        if moving.len() > MAX_MOVING {
            return None;
        }
        let mut hashes = vec![0; self.len()];
        for &at in &moving {
            self.turn(at, &mut hashes);
        }
        let mut table = vec![0; BITS];
        while count(hashes.iter().copied(), &mut table) > MAX_TUPLES {
            let without = |at: usize, table: &mut [u64]| {
                let hashes = hashes.iter().zip(self.column(at));
                count(hashes.map(|(all, value)| all ^ hash(at, value)), table)
            };
            let best = moving.iter().copied();
            let best = best.min_by_key(|&at| without(at, &mut table))?;
            self.turn(best, &mut hashes);
            moving.retain(|&at| at != best);
            chosen.retain(|&at| at != best);
        }
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for &hash in &hashes {
            *counts.entry(hash).or_default() += 1;
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hot: usize = counts.iter().take(MAX_HOT).sum();
        let is_worth = !moving.is_empty() && hot * 10 >= self.len() * 9;
        is_worth.then(|| chosen.iter().map(|&at| self.regs[at]).collect())
    }

    /// Takes a register into the hashes of tuples, or out of them.
    fn turn(&self, at: usize, hashes: &mut [u64]) {
        for (all, value) in hashes.iter_mut().zip(self.column(at)) {
            *all ^= hash(at, value);
        }
    }

    /// The values of a register.
    fn column(&self, at: usize) -> impl Iterator<Item = u8> {
        let values = self.values.iter().skip(at);
        values.step_by(self.regs.len()).copied()
    }
}

fn hash(register: usize, value: u8) -> u64 {
    let mixed = (register as u64 * 256 + u64::from(value) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 32
}

/// About how many different hashes there are.
fn count(hashes: impl Iterator<Item = u64>, table: &mut [u64]) -> usize {
    table.fill(0);
    hashes
        .filter(|hash| {
            let at = usize::try_from(hash >> 6).unwrap_or(usize::MAX) % BITS;
            let is_new = table[at] >> (hash & 63) & 1 == 0;
            table[at] |= 1 << (hash & 63);
            is_new
        })
        .count()
}

/// Whether a register is computed from itself by a sum or a difference.
fn is_counter(graph: &Graph, reg: RegId) -> bool {
    let mut seen: HashSet<(NodeId, bool)> = HashSet::new();
    let mut open = vec![(graph.regs[reg.index()].next, false)];
    while let Some((node, counts)) = open.pop() {
        if !seen.insert((node, counts)) {
            continue;
        }
        let operands = graph.node(node).operands();
        match graph.node(node).kind {
            Kind::Reg(other) if other == reg && counts => return true,
            Kind::Op(Op::Mux, _) => open.extend(operands[1..].iter().map(|&id| (id, counts))),
            Kind::Op(Op::Add | Op::Sub, _) => open.extend(operands.iter().map(|&id| (id, true))),
            Kind::Op(Op::And | Op::Or | Op::Slice(_) | Op::Pad, _) if graph.width(node) > 1 => {
                open.extend(operands.iter().map(|&id| (id, counts)));
            }
            _ => {}
        }
    }
    false
}
