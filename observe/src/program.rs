//! Computes expressions while a run goes by: only what depends on something that changes.

use std::collections::HashMap;

use petal_metadata::Id as _;
use petal_reconstruct::{Change, Value, ValueOp};

use crate::activity::{Aspect, Aspects, Subject};
use crate::expression::Expression;

/// A node of the program. Operands have lower numbers.
#[derive(Debug)]
enum Node {
    /// An observed value, or what a subject does.
    Input,
    Op(ValueOp, u32, Vec<usize>),
    Past(usize),
    Ones(usize),
}

/// All expressions of some observations. Equal parts are one node.
#[derive(Debug, Default)]
pub(crate) struct Program {
    nodes: Vec<Node>,
    numbers: HashMap<Expression, usize>,
    /// The nodes that are computed from each.
    users: Vec<Vec<usize>>,
    /// The values that the design has to deliver, and the node of each.
    values: Vec<Value>,
    value_nodes: Vec<usize>,
    /// The subjects to follow, and what is asked of them, with its node.
    subjects: Vec<Subject>,
    aspects: Vec<(usize, Aspect, usize)>,
    /// Nodes that are what another one was.
    pasts: Vec<(usize, usize)>,
    now: Vec<u64>,
    is_dirty: Vec<bool>,
    /// The lowest dirty node.
    first_dirty: usize,
    /// Whether a cycle has been.
    has_begun: bool,
    changed: Vec<usize>,
}

impl Program {
    /// The node of an expression.
    pub fn add(&mut self, expression: &Expression) -> usize {
        if let Some(&number) = self.numbers.get(expression) {
            return number;
        }
        let mut value = 0;
        let node = match expression {
            Expression::Value(Value::Constant(constant, _)) => {
                value = *constant;
                Node::Input
            }
            Expression::Value(value) => {
                self.values.push(value.clone());
                self.value_nodes.push(self.nodes.len());
                Node::Input
            }
            Expression::Subject(subject, aspect) => {
                let at = self.subjects.iter().position(|of| of == subject);
                let at = at.unwrap_or_else(|| {
                    self.subjects.push(subject.clone());
                    self.subjects.len() - 1
                });
                self.aspects.push((at, *aspect, self.nodes.len()));
                Node::Input
            }
            Expression::Op(op, width, operands) => {
                let operands = operands.iter().map(|operand| self.add(operand));
                Node::Op(*op, *width, operands.collect())
            }
            Expression::Past(of) => Node::Past(self.add(of)),
            Expression::Ones(of) => Node::Ones(self.add(of)),
        };
        let number = self.nodes.len();
        match &node {
            Node::Input => {}
            Node::Op(_, _, operands) => {
                for &operand in operands {
                    self.users[operand].push(number);
                }
            }
            Node::Past(of) => self.pasts.push((number, *of)),
            Node::Ones(of) => self.users[*of].push(number),
        }
        self.nodes.push(node);
        self.users.push(Vec::new());
        self.now.push(value);
        self.is_dirty.push(true);
        self.numbers.insert(expression.clone(), number);
        number
    }

    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The number of a subject that an expression is about.
    pub fn subject(&self, of: &Expression) -> Option<usize> {
        let Expression::Subject(subject, _) = of else {
            return None;
        };
        self.subjects.iter().position(|other| other == subject)
    }

    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The values of all nodes.
    pub fn now(&self) -> &[u64] {
        &self.now
    }

    /// The nodes that differ from the cycle before.
    pub fn changed(&self) -> &[usize] {
        &self.changed
    }

    fn set(&mut self, node: usize, value: u64) {
        if self.now[node] == value {
            return;
        }
        self.now[node] = value;
        self.changed.push(node);
        for at in 0..self.users[node].len() {
            let user = self.users[node][at];
            self.is_dirty[user] = true;
            self.first_dirty = self.first_dirty.min(user);
        }
    }

    /// Goes on to the next cycle that matters. `states` are those of the subjects, `changes` those of the values.
    pub fn go_on(&mut self, states: &[Aspects], changes: &[Change]) {
        self.changed.clear();
        // First of all, since they are of the cycle before.
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let before: Vec<(usize, u64)> = self
            .pasts
            .iter()
            .filter(|_| has_begun)
            .filter(|(past, of)| self.now[*past] != self.now[*of])
            .map(|&(past, of)| (past, self.now[of]))
            .collect();
        for (past, value) in before {
            self.set(past, value);
        }
        for change in changes {
            self.set(self.value_nodes[change.slot.index()], change.value);
        }
        for at in 0..self.aspects.len() {
            let (subject, aspect, node) = self.aspects[at];
            self.set(node, u64::from(states[subject].is(aspect)));
        }
        let mut at = self.first_dirty;
        self.first_dirty = self.nodes.len();
        while at < self.nodes.len() {
            if std::mem::take(&mut self.is_dirty[at]) {
                let value = match &self.nodes[at] {
                    Node::Input | Node::Past(_) => None,
                    Node::Op(op, width, operands) => {
                        let mut args = [0; 3];
                        for (arg, &operand) in args.iter_mut().zip(operands) {
                            *arg = self.now[operand];
                        }
                        Some(op.eval(*width, &args[..operands.len()]))
                    }
                    Node::Ones(of) => Some(u64::from(self.now[*of].count_ones())),
                };
                if let Some(value) = value {
                    self.set(at, value);
                }
            }
            at += 1;
        }
        self.first_dirty = self.nodes.len();
    }

    /// Whether a value of the next cycle differs, though nothing may change in the design.
    pub fn is_unsettled(&self) -> bool {
        self.pasts
            .iter()
            .any(|&(past, of)| self.now[past] != self.now[of])
    }
}
