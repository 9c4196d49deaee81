//! Observed values of a waveform, computed from its signals.
//!
//! A waveform has signals; this has the values that are computed of them. In the embedded simulator they are nodes of the
//! design instead.

use std::collections::HashMap;

use petal_metadata::Id as _;

use crate::model::Warning;
use crate::signals::{Signal, SignalTable, SlotId};
use crate::source::{Change, ProbeSource, SourceError};
use crate::value::{Value, ValueOp};

/// The values to compute, and what of the waveform they need.
#[derive(Debug, Clone, Default)]
pub struct Computation {
    leaves: Vec<Signal>,
    /// The node of each leaf.
    leaf_nodes: Vec<usize>,
    nodes: Vec<Node>,
    /// The node of each value.
    values: Vec<usize>,
    /// The nodes that are computed from each leaf.
    users: Vec<Vec<usize>>,
}

/// A value or a part of one. Operands come first.
#[derive(Debug, Clone)]
enum Node {
    Leaf(usize),
    Constant(u64),
    Op(ValueOp, u32, Vec<usize>),
}

impl Computation {
    /// Prepares the computation of `values`, which must not have words of memories: no waveform has those.
    pub fn of(values: &[Value]) -> Self {
        let mut computation = Self::default();
        let mut numbers = HashMap::new();
        for value in values {
            let node = computation.add(value, &mut numbers);
            computation.values.push(node);
        }
        computation.users = vec![Vec::new(); computation.leaves.len()];
        let mut from: Vec<Vec<usize>> = Vec::with_capacity(computation.nodes.len());
        for (at, node) in computation.nodes.iter().enumerate() {
            let mut leaves = match node {
                Node::Leaf(leaf) => vec![*leaf],
                Node::Constant(_) => Vec::new(),
                Node::Op(_, _, operands) => {
                    operands.iter().flat_map(|&of| from[of].clone()).collect()
                }
            };
            leaves.sort_unstable();
            leaves.dedup();
            for &leaf in &leaves {
                computation.users[leaf].push(at);
            }
            from.push(leaves);
        }
        computation
    }

    fn add(&mut self, value: &Value, numbers: &mut HashMap<Value, usize>) -> usize {
        if let Some(&number) = numbers.get(value) {
            return number;
        }
        let node = match value {
            Value::Signal(signal, _) => {
                self.leaves.push(signal.clone());
                self.leaf_nodes.push(self.nodes.len());
                Node::Leaf(self.leaves.len() - 1)
            }
            Value::Constant(number, _) => Node::Constant(*number),
            Value::Word { .. } => unreachable!("no waveform has words of memories"),
            Value::Op(op, width, operands) => {
                let operands = operands.iter().map(|value| self.add(value, numbers));
                Node::Op(*op, *width, operands.collect())
            }
        };
        self.nodes.push(node);
        numbers.insert(value.clone(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// `table` with what the waveform has to have for these values.
    #[must_use]
    pub fn signals(&self, table: &SignalTable) -> SignalTable {
        let mut table = table.clone();
        table.watched.extend(self.leaves.iter().cloned());
        table
    }
}

/// A [`ProbeSource`] with observed values, over one that delivers [`Computation::signals`].
pub struct Computed<S> {
    source: S,
    computation: Computation,
    /// Probes, which come before the leaves.
    probes: usize,
    now: Vec<u64>,
    /// The values as they were delivered last.
    told: Vec<u64>,
    is_dirty: Vec<bool>,
    changes: Vec<Change>,
    is_first: bool,
}

impl<S: ProbeSource> Computed<S> {
    /// `table` is the one without the leaves.
    pub fn new(source: S, computation: Computation, table: &SignalTable) -> Self {
        let nodes = computation.nodes.len();
        Self {
            source,
            probes: table.watched.len(),
            now: vec![0; nodes],
            told: vec![0; computation.values.len()],
            is_dirty: vec![true; nodes],
            computation,
            changes: Vec::new(),
            is_first: true,
        }
    }

    fn compute(&mut self) {
        self.changes.clear();
        let mut any = std::mem::take(&mut self.is_first);
        let Computation {
            nodes,
            leaf_nodes,
            users,
            values,
            ..
        } = &self.computation;
        for change in self.source.changes() {
            match change.slot.index().checked_sub(self.probes) {
                None => self.changes.push(*change),
                Some(leaf) => {
                    any = true;
                    self.now[leaf_nodes[leaf]] = change.value;
                    for &node in &users[leaf] {
                        self.is_dirty[node] = true;
                    }
                }
            }
        }
        if !any {
            return;
        }
        for (at, node) in nodes.iter().enumerate() {
            if !std::mem::take(&mut self.is_dirty[at]) {
                continue;
            }
            match node {
                Node::Leaf(_) => {}
                Node::Constant(value) => self.now[at] = *value,
                Node::Op(op, width, operands) => {
                    let args: Vec<u64> = operands.iter().map(|&of| self.now[of]).collect();
                    self.now[at] = op.eval(*width, &args);
                }
            }
        }
        for (number, (&node, told)) in values.iter().zip(&mut self.told).enumerate() {
            let value = self.now[node];
            if std::mem::replace(told, value) != value {
                let slot = SlotId::from_index(self.probes + number);
                self.changes.push(Change { slot, value });
            }
        }
    }
}

impl<S: ProbeSource> ProbeSource for Computed<S> {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        let running = self.source.next_cycle()?;
        self.compute();
        Ok(running)
    }

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn is_done(&self) -> bool {
        self.source.is_done()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.source.take_warnings()
    }
}
