//! The functions of expressions: their names, their arguments, and what they are made of.

use petal_reconstruct::ValueOp;

use crate::activity::{Aspect, Subject, SubjectKind};
use crate::checker::{Checker, Named};
use crate::expression::Expression;
use crate::problem::Problem;
use crate::syntax::{Kind, Syntax};

/// The most cycles that `past` goes back.
const MAX_PAST: u64 = 1024;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Rose,
    Fell,
    Changed,
    Past,
    Toggles,
    Begin,
    End,
    Useful,
    Overhead,
    Pad,
    Slt,
}

impl Function {
    const ALL: [Self; 11] = [
        Self::Rose,
        Self::Fell,
        Self::Changed,
        Self::Past,
        Self::Toggles,
        Self::Begin,
        Self::End,
        Self::Useful,
        Self::Overhead,
        Self::Pad,
        Self::Slt,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Rose => "rose",
            Self::Fell => "fell",
            Self::Changed => "changed",
            Self::Past => "past",
            Self::Toggles => "toggles",
            Self::Begin => "begin",
            Self::End => "end",
            Self::Useful => "useful",
            Self::Overhead => "overhead",
            Self::Pad => "pad",
            Self::Slt => "slt",
        }
    }

    /// How many arguments it takes.
    fn arguments(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Past => 1..=2,
            Self::Pad | Self::Slt => 2..=2,
            Self::Rose
            | Self::Fell
            | Self::Changed
            | Self::Toggles
            | Self::Begin
            | Self::End
            | Self::Useful
            | Self::Overhead => 1..=1,
        }
    }
}

impl Checker<'_> {
    /// What a function gives.
    pub(crate) fn call(
        &self,
        syntax: &Syntax,
        name: &str,
        arguments: &[Syntax],
    ) -> Result<Expression, Problem> {
        let Some(function) = Function::ALL.into_iter().find(|of| of.name() == name) else {
            let names = Function::ALL.map(Function::name).join(", ");
            let help = format!("there are {names}");
            let message = format!("there is no function `{name}`");
            return Err(self.problem(syntax, message, Some(help)));
        };
        let counts = function.arguments();
        if !counts.contains(&arguments.len()) {
            let count = counts.start();
            let message = format!(
                "`{name}` takes {count} argument{}",
                if *count == 1 { "" } else { "s" }
            );
            return Err(self.problem(syntax, message, None));
        }
        let first = &arguments[0];
        let number = |at: &Syntax, range: std::ops::RangeInclusive<u64>| match at.kind {
            Kind::Number(value, _) if range.contains(&value) => Ok(value),
            _ => {
                let message = format!(
                    "this has to be a number from {} to {}",
                    range.start(),
                    range.end()
                );
                Err(self.problem(at, message, None))
            }
        };
        match function {
            Function::Rose => {
                let of = self.small(first, self.condition(first)?)?;
                Ok(of.clone().and(of.past().not()))
            }
            Function::Fell => {
                let of = self.small(first, self.condition(first)?)?;
                Ok(of.clone().not().and(of.past()))
            }
            Function::Changed => {
                let of = self.small(first, self.expression(first)?)?;
                let same = Expression::op(ValueOp::Eq, 1, vec![of.clone(), of.past()]);
                Ok(same.not().and(Expression::has_past()))
            }
            Function::Past => {
                let cycles = match arguments.get(1) {
                    Some(cycles) => number(cycles, 1..=MAX_PAST)?,
                    None => 1,
                };
                let of = self.small(first, self.expression(first)?)?;
                if u64::from(of.depth()) + cycles > MAX_PAST {
                    let message = format!("this goes back more than {MAX_PAST} cycles");
                    return Err(self.problem(syntax, message, None));
                }
                Ok((0..cycles).fold(of, |of, _| of.past()))
            }
            Function::Toggles => {
                let of = self.small(first, self.expression(first)?)?;
                let width = of.width();
                let differ = Expression::op(ValueOp::Xor, width, vec![of.clone(), of.past()]);
                let none = Expression::constant(0, width);
                let differ = vec![Expression::has_past(), differ, none];
                let differ = Expression::op(ValueOp::Mux, width, differ);
                Ok(Expression::Ones(Box::new(differ)))
            }
            Function::Pad => {
                let of = self.expression(first)?;
                let width = number(&arguments[1], u64::from(of.width())..=64)?;
                let width = u32::try_from(width).unwrap_or(u64::BITS);
                Ok(Expression::op(ValueOp::Pad, width, vec![of]))
            }
            Function::Slt => self.less_signed(first, &arguments[1]),
            Function::Useful | Function::Overhead => self.of_cell(function, first),
            Function::Begin => {
                let subject = self.subject(function, "rose", first)?;
                Ok(Expression::Subject(subject, Aspect::Begin))
            }
            Function::End => {
                let subject = self.subject(function, "fell", first)?;
                self.end(first, subject)
            }
        }
    }

    /// Something that can be active; `other` is the function for values.
    fn subject(&self, function: Function, other: &str, at: &Syntax) -> Result<Subject, Problem> {
        if let Named::Subject(subject) = self.named(at)? {
            return Ok(subject);
        }
        let message = format!("`{}` takes a cell, a group or a statement", function.name());
        let help = format!("for a value there is `{other}`");
        Err(self.problem(at, message, Some(help)))
    }

    /// Whether the first is less, both taken as signed.
    fn less_signed(&self, first: &Syntax, second: &Syntax) -> Result<Expression, Problem> {
        let (a, b) = self.alike(first, second)?;
        // With their signs turned, numbers are in the order of unsigned ones.
        let sign = Expression::constant(1 << (a.width() - 1), a.width());
        let turned =
            |of: Expression| Expression::op(ValueOp::Xor, of.width(), vec![of, sign.clone()]);
        Ok(Expression::op(ValueOp::Lt, 1, vec![turned(a), turned(b)]))
    }

    /// What a cell of a component does while it is active.
    fn of_cell(&self, function: Function, at: &Syntax) -> Result<Expression, Problem> {
        let subject = match self.named(at) {
            Ok(Named::Subject(subject)) if subject.kind == SubjectKind::Instance => subject,
            _ => {
                let message = format!("`{}` takes a cell of a component", function.name());
                return Err(self.problem(at, message, None));
            }
        };
        let overhead = Expression::Subject(subject.clone(), Aspect::Overhead);
        if function == Function::Overhead {
            return Ok(overhead);
        }
        Ok(Expression::Subject(subject, Aspect::Active).and(overhead.not()))
    }
}
