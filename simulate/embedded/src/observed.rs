//! Observed values as nodes of the design: what nobody observes costs nothing.

use petal_reconstruct::{Signal, Value, ValueOp};

use crate::elaborate::{Design, Scope};
use crate::error::Error;
use crate::graph::{Graph, NodeId, Op};

/// Adds the nodes that compute `values`; returns the node of each.
///
/// # Errors
/// [`Error::NoSignal`] if there is no such signal or memory, [`Error::Value`] if a value is wider than 64 bits or can't be computed.
pub(crate) fn add(design: &mut Design, values: &[Value]) -> Result<Vec<NodeId>, Error> {
    let Design { graph, main, .. } = design;
    let value = |value| {
        let node = node(graph, main, value)?;
        width(graph.width(node)).map(|_| node)
    };
    values.iter().map(value).collect()
}

/// The bits of a value that can be computed or looked at.
fn width(bits: u32) -> Result<u32, Error> {
    if (1..=64).contains(&bits) {
        Ok(bits)
    } else {
        Err(Error::Value(format!("it has {bits} bits")))
    }
}

fn node(graph: &mut Graph, main: &Scope, value: &Value) -> Result<NodeId, Error> {
    match value {
        Value::Signal(signal, _) => {
            let scope = scope(main, signal)?;
            let mut signals = scope.signals.iter();
            let signal = signals.find(|(name, _)| *name == signal.name).ok_or(signal);
            let (_, node) = signal.map_err(missing)?;
            Ok(*node)
        }
        Value::Constant(value, bits) => Ok(graph.constant(*value, width(*bits)?)),
        Value::Word { memory, index, .. } => {
            let index = node(graph, main, index)?;
            let scope = scope(main, memory)?;
            let mut memories = scope.memories.iter();
            let memory = memories
                .find(|(name, _)| *name == memory.name)
                .ok_or(memory);
            let (_, memory) = memory.map_err(missing)?;
            Ok(graph.read(*memory, index))
        }
        Value::Op(op, bits, operands) => {
            let count = match op {
                ValueOp::Not | ValueOp::Slice(_) | ValueOp::Pad => 1,
                ValueOp::Mux => 3,
                _ => 2,
            };
            if operands.len() != count {
                let given = operands.len();
                return Err(Error::Value(format!("{op:?} has {given} operands")));
            }
            let operands: Vec<NodeId> = operands
                .iter()
                .map(|operand| node(graph, main, operand))
                .collect::<Result<_, _>>()?;
            let op = match op {
                ValueOp::And => Op::And,
                ValueOp::Or => Op::Or,
                ValueOp::Xor => Op::Xor,
                ValueOp::Not => Op::Not,
                ValueOp::Add => Op::Add,
                ValueOp::Sub => Op::Sub,
                ValueOp::Mul => Op::Mul,
                ValueOp::Div => Op::Div,
                ValueOp::Rem => Op::Rem,
                ValueOp::Eq => Op::Eq,
                ValueOp::Lt => Op::Lt,
                ValueOp::Shl => Op::Shl,
                ValueOp::Shr => Op::Shr,
                ValueOp::Slice(low) => Op::Slice(*low),
                ValueOp::Pad => Op::Pad,
                ValueOp::Mux => Op::Mux,
            };
            Ok(graph.op(op, width(*bits)?, &operands))
        }
    }
}

/// The scope of a signal: below the testbench is the main component.
fn scope<'a>(main: &'a Scope, signal: &Signal) -> Result<&'a Scope, Error> {
    let mut names = signal.scope.iter().skip(1);
    if names.next() != Some(&main.name) {
        return Err(missing(signal));
    }
    names.try_fold(main, |scope, name| {
        let child = scope.children.iter().find(|child| child.name == *name);
        child.ok_or_else(|| missing(signal))
    })
}

fn missing(signal: &Signal) -> Error {
    Error::NoSignal(signal.to_string())
}
