//! Expressions whose names and widths are right.

use petal_reconstruct::{Value, ValueOp};

use crate::activity::{Aspect, Subject, SubjectKind};

/// An expression, of 1 to 64 bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expression {
    /// Computed by the design.
    Value(Value),
    /// Of one bit.
    Subject(Subject, Aspect),
    Op(ValueOp, u32, Vec<Expression>),
    /// What the operand was in the cycle before; 0 in the first cycle.
    Past(Box<Expression>),
    /// How many bits of the operand are high, as 7 bits.
    Ones(Box<Expression>),
}

impl Expression {
    /// Its width in bits.
    pub fn width(&self) -> u32 {
        match self {
            Self::Value(value) => value.width(),
            Self::Subject(..) => 1,
            Self::Op(_, width, _) => *width,
            Self::Past(of) => of.width(),
            Self::Ones(_) => 7,
        }
    }

    /// How many parts it has.
    pub fn parts(&self) -> usize {
        match self {
            Self::Value(value) => value.parts(),
            Self::Subject(..) => 1,
            Self::Op(_, _, operands) => 1 + operands.iter().map(Self::parts).sum::<usize>(),
            Self::Past(of) | Self::Ones(of) => 1 + of.parts(),
        }
    }

    /// How many cycles it goes back.
    pub fn depth(&self) -> u32 {
        match self {
            Self::Value(_) | Self::Subject(..) => 0,
            Self::Op(_, _, operands) => operands.iter().map(Self::depth).max().unwrap_or(0),
            Self::Past(of) => 1 + of.depth(),
            Self::Ones(of) => of.depth(),
        }
    }

    pub fn op(op: ValueOp, width: u32, operands: Vec<Self>) -> Self {
        let values: Option<Vec<Value>> = operands
            .iter()
            .map(|operand| match operand {
                Self::Value(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        match values {
            Some(values) => Self::Value(Value::Op(op, width, values)),
            None => Self::Op(op, width, operands),
        }
    }

    pub fn constant(value: u64, width: u32) -> Self {
        Self::Value(Value::Constant(value, width))
    }

    /// Whether it is the end of something that is active.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Subject(_, Aspect::End))
    }

    /// The same of a component cell's calls, if it is about the cell.
    #[must_use]
    pub fn of_each_call(self) -> Self {
        match self {
            Self::Subject(mut subject, aspect) if subject.kind == SubjectKind::Instance => {
                subject.kind = SubjectKind::Calls;
                Self::Subject(subject, aspect)
            }
            other => other,
        }
    }

    /// 0 in the first cycle, which has none before it, and then 1.
    pub fn has_past() -> Self {
        Self::constant(1, 1).past()
    }

    #[must_use]
    pub fn not(self) -> Self {
        let width = self.width();
        Self::op(ValueOp::Not, width, vec![self])
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::op(ValueOp::And, 1, vec![self, other])
    }

    #[must_use]
    pub fn past(self) -> Self {
        Self::Past(Box::new(self))
    }
}
