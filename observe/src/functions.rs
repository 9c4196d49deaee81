//! The functions of expressions: their names, their arguments, and what they are made of.

use petal_data::Format;
use petal_reconstruct::ValueOp;
use petal_table::counted;

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
    Iteration,
    Useful,
    Overhead,
    Pad,
    Slt,
    Signed,
    Fixed,
    Sfixed,
    Float,
}

impl Function {
    const ALL: [Self; 16] = [
        Self::Rose,
        Self::Fell,
        Self::Changed,
        Self::Past,
        Self::Toggles,
        Self::Begin,
        Self::End,
        Self::Iteration,
        Self::Useful,
        Self::Overhead,
        Self::Pad,
        Self::Slt,
        Self::Signed,
        Self::Fixed,
        Self::Sfixed,
        Self::Float,
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
            Self::Iteration => "iteration",
            Self::Useful => "useful",
            Self::Overhead => "overhead",
            Self::Pad => "pad",
            Self::Slt => "slt",
            Self::Signed => "signed",
            Self::Fixed => "fixed",
            Self::Sfixed => "sfixed",
            Self::Float => "float",
        }
    }

    /// How many arguments it takes.
    fn arguments(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Past => 1..=2,
            Self::Pad | Self::Slt | Self::Fixed | Self::Sfixed => 2..=2,
            Self::Rose
            | Self::Fell
            | Self::Changed
            | Self::Toggles
            | Self::Begin
            | Self::End
            | Self::Iteration
            | Self::Useful
            | Self::Overhead
            | Self::Signed
            | Self::Float => 1..=1,
        }
    }

    /// Whether it tells how a value is shown.
    fn is_shown(self) -> bool {
        matches!(
            self,
            Self::Signed | Self::Fixed | Self::Sfixed | Self::Float
        )
    }
}

impl Checker<'_> {
    /// The function of this name, if it takes so many arguments.
    fn function(
        &self,
        syntax: &Syntax,
        name: &str,
        arguments: &[Syntax],
    ) -> Result<Function, Problem> {
        let Some(function) = Function::ALL.into_iter().find(|of| of.name() == name) else {
            let names = Function::ALL.map(Function::name).join(", ");
            let help = format!("there are {names}");
            let message = format!("there is no function `{name}`");
            return Err(self.problem(syntax, message, Some(help)));
        };
        let counts = function.arguments();
        if !counts.contains(&arguments.len()) {
            let count = counted(*counts.start() as u64, "argument");
            let message = format!("`{name}` takes {count}");
            return Err(self.problem(syntax, message, None));
        }
        Ok(function)
    }

    /// A number in a range.
    fn number(&self, at: &Syntax, range: std::ops::RangeInclusive<u64>) -> Result<u64, Problem> {
        match at.kind {
            Kind::Number(value, _) if range.contains(&value) => Ok(value),
            _ => {
                let message = format!(
                    "this has to be a number from {} to {}",
                    range.start(),
                    range.end()
                );
                Err(self.problem(at, message, None))
            }
        }
    }

    /// A value that is recorded, and which numbers its bits are.
    pub(crate) fn shown(&self, syntax: &Syntax) -> Result<(Expression, Format), Problem> {
        let call = match &syntax.kind {
            Kind::Call(name, arguments) => {
                Some((self.function(syntax, name, arguments)?, arguments))
            }
            _ => None,
        };
        if let Some((function, arguments)) = call.filter(|(function, _)| function.is_shown()) {
            let of = self.expression(&arguments[0])?;
            let whole = Format::unsigned(of.width());
            let fixed = |whole: Format| {
                let fraction = self.number(&arguments[1], 0..=u64::from(of.width()))?;
                Ok(u32::try_from(fraction).ok().and_then(|of| whole.fixed(of)))
            };
            let format = match function {
                Function::Fixed => fixed(whole)?,
                Function::Sfixed => fixed(whole.signed())?,
                Function::Float => whole.float(),
                _ => Some(whole.signed()),
            };
            let format = format.ok_or_else(|| {
                let message = format!(
                    "this has {} bits, and floating-point numbers have 32 or 64",
                    of.width()
                );
                self.problem(&arguments[0], message, None)
            });
            return Ok((of, format?));
        }
        let of = self.expression(syntax)?;
        let format = match &of {
            Expression::Value(value) => self.directory.format(value),
            _ => Format::unsigned(of.width()),
        };
        Ok((of, format))
    }

    /// What a function gives.
    pub(crate) fn call(
        &self,
        syntax: &Syntax,
        name: &str,
        arguments: &[Syntax],
    ) -> Result<Expression, Problem> {
        let function = self.function(syntax, name, arguments)?;
        let first = &arguments[0];
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
                    Some(cycles) => self.number(cycles, 1..=MAX_PAST)?,
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
                let width = self.number(&arguments[1], u64::from(of.width())..=64)?;
                let width = u32::try_from(width).unwrap_or(u64::BITS);
                Ok(Expression::op(ValueOp::Pad, width, vec![of]))
            }
            Function::Slt => self.less_signed(first, &arguments[1]),
            Function::Useful | Function::Overhead => self.of_cell(function, first),
            Function::Iteration => {
                let subject = self.iterations_of(first)?;
                Ok(Expression::Subject(subject, Aspect::Active))
            }
            Function::Begin => {
                let subject = self.subject(function, "rose", first)?;
                Ok(Expression::Subject(subject, Aspect::Begin))
            }
            Function::End => {
                let subject = self.subject(function, "fell", first)?;
                Ok(Expression::Subject(subject, Aspect::End))
            }
            Function::Signed | Function::Fixed | Function::Sfixed | Function::Float => {
                let message =
                    format!("`{name}` tells how a value is shown that a checkpoint records");
                let help = "it stands around the whole value".to_owned();
                Err(self.problem(syntax, message, Some(help)))
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

    /// The iterations of a loop, if that is what is written.
    pub(crate) fn iterations(&self, syntax: &Syntax) -> Result<Option<Subject>, Problem> {
        match &syntax.kind {
            Kind::Call(name, arguments) if name == Function::Iteration.name() => {
                self.function(syntax, name, arguments)?;
                self.iterations_of(&arguments[0]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The iterations of the loop of this name.
    fn iterations_of(&self, at: &Syntax) -> Result<Subject, Problem> {
        let subject = self.subject(Function::Iteration, "changed", at)?;
        match subject.iterations(self.metadata) {
            Some(iterations) => Ok(iterations),
            None => {
                let message = "`iteration` takes a loop whose iterations the compiled design tells";
                let help = "such as `main.while@L12`".to_owned();
                Err(self.problem(at, message, Some(help)))
            }
        }
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
