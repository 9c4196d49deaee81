//! Which guards can't be high together, as far as their form tells: one needs a register to have one value, the
//! other another one. Most assignments of compiled control are like that, and need no check.
//!
//! Owns the proof only. What it can't prove may still be so.

use num_bigint::BigUint;

use crate::graph::{Graph, Kind, NodeId, Op};

/// Alternatives of a guard, and what is to be high in each, at most: beyond that nothing is proved.
const MAX: usize = 24;

/// Alternatives of all guards of a port at most: every pair is looked at.
const MAX_PORT: usize = 512;

/// One way for a guard to be high: all that has to be.
#[derive(Default, Clone)]
struct Term {
    /// Values of one bit, each with what it is.
    bits: Vec<(NodeId, bool)>,
    /// Values that are equal to a number.
    numbers: Vec<(NodeId, BigUint)>,
}

impl Term {
    fn excludes(&self, other: &Self) -> bool {
        let bits = self.bits.iter();
        let mut bits = bits.map(|(node, bit)| other.bits.contains(&(*node, !bit)));
        let numbers = self.numbers.iter();
        let mut numbers = numbers.map(|(node, number)| {
            let mut others = other.numbers.iter();
            others.any(|(same, another)| node == same && number != another)
        });
        bits.any(|excludes| excludes) || numbers.any(|excludes| excludes)
    }
}

/// The ways for a guard to be high; `None` if there are too many.
fn terms(graph: &Graph, guard: NodeId) -> Option<Vec<Term>> {
    match graph.node(guard).kind {
        Kind::Op(Op::Or, [a, b, _]) => {
            let all = [terms(graph, a)?, terms(graph, b)?].concat();
            (all.len() <= MAX).then_some(all)
        }
        Kind::Op(Op::And, [a, b, _]) => {
            let (left, right) = (terms(graph, a)?, terms(graph, b)?);
            if left.len() * right.len() > MAX {
                return None;
            }
            let both = left.iter().flat_map(|a| {
                right.iter().map(|b| Term {
                    bits: [&a.bits[..], &b.bits].concat(),
                    numbers: [&a.numbers[..], &b.numbers].concat(),
                })
            });
            let both: Vec<Term> = both.collect();
            let short = |term: &Term| term.bits.len() + term.numbers.len() <= MAX;
            both.iter().all(short).then_some(both)
        }
        _ => Some(vec![literal(graph, guard)]),
    }
}

fn literal(graph: &Graph, guard: NodeId) -> Term {
    let number = |node: NodeId| match &graph.node(node).kind {
        Kind::Const(value) => Some(value.clone()),
        _ => None,
    };
    match graph.node(guard).kind {
        Kind::Op(Op::Not, [inner, ..]) => Term {
            bits: vec![(inner, false)],
            ..Term::default()
        },
        Kind::Op(Op::Eq, [a, b, _]) => {
            let compared = number(b).map(|number| (a, number));
            let compared = compared.or_else(|| number(a).map(|number| (b, number)));
            Term {
                bits: vec![(guard, true)],
                numbers: compared.into_iter().collect(),
            }
        }
        _ => Term {
            bits: vec![(guard, true)],
            ..Term::default()
        },
    }
}

/// Those of the guards that may be high together with another one of them.
pub(crate) fn not_exclusive(graph: &Graph, guards: &[NodeId]) -> Vec<NodeId> {
    let terms: Vec<Option<Vec<Term>>> = guards.iter().map(|&g| terms(graph, g)).collect();
    if terms.iter().flatten().map(Vec::len).sum::<usize>() > MAX_PORT {
        return guards.to_vec();
    }
    let exclude = |a: &Option<Vec<Term>>, b: &Option<Vec<Term>>| match (a, b) {
        (Some(a), Some(b)) => a.iter().all(|a| b.iter().all(|b| a.excludes(b))),
        _ => false,
    };
    let all = guards.iter().enumerate();
    let some = all.filter(|(at, _)| {
        let mut others = terms.iter().enumerate();
        others.any(|(other, others)| other != *at && !exclude(&terms[*at], others))
    });
    some.map(|(_, guard)| *guard).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_exclude_one_another_by_numbers_and_negations() {
        let mut graph = Graph::default();
        let (state, bit, free) = (graph.reg(4), graph.reg(1), graph.reg(1));
        let is: Vec<NodeId> = (0..4_u8)
            .map(|number| {
                let number = graph.constant(number, 4);
                graph.eq(state, number)
            })
            .collect();
        let low = graph.not(bit);
        let either = graph.or(is[0], is[1]);
        let first = graph.and(either, free);
        let second = graph.and(is[2], bit);
        let third = graph.and(is[2], low);
        assert!(not_exclusive(&graph, &[first, second, third, is[3]]).is_empty());
        assert_eq!(
            not_exclusive(&graph, &[first, second, is[2]]),
            [second, is[2]]
        );
        assert_eq!(
            not_exclusive(&graph, &[is[1], first, is[3]]),
            [is[1], first]
        );
        // One guard twice.
        assert_eq!(not_exclusive(&graph, &[is[1], is[1]]), [is[1], is[1]]);
    }
}
