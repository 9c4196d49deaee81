//! From a syntax tree to an expression whose names and widths are right.
//!
//! What is computed of signals of one cycle alone becomes a value of the design, which the simulator computes; what
//! has to do with activity or with other cycles stays.

use petal_metadata::{CellKind, Metadata};
use petal_reconstruct::{Signal, Value, ValueOp};

use crate::activity::{Aspect, Subject, SubjectKind};
use crate::directory::{Directory, Memory};
use crate::expression::Expression;
use crate::problem::Problem;
use crate::resolve::{Names, Target};
use crate::syntax::{Binary, Kind, Syntax};

/// The most parts of what a function is taken of: some have it twice.
const MAX_PARTS: usize = 10_000;

/// What an expression is.
pub(crate) enum Named {
    /// Something to compute.
    Value,
    Subject(Subject),
    Memory(Signal, Memory),
}

/// Looks the names of an expression up, and checks its widths.
pub(crate) struct Checker<'a> {
    pub text: &'a str,
    pub metadata: &'a Metadata,
    pub directory: &'a Directory,
}

/// A part of an expression while it is checked: what is not wider than 64 bits, unless it is sliced.
enum Operand {
    Expression(Expression),
    /// A number whose width follows from what it stands beside.
    Number(u64),
    /// A signal of more than 64 bits.
    Wide(Value),
    /// A memory with the first indices.
    Memory(Signal, Memory, Vec<Expression>),
}

/// The path of a memory at the beginning of a text that has indices of it.
pub(crate) fn memory_path(text: &str) -> &str {
    text.split('[').next().unwrap_or(text).trim()
}

impl Checker<'_> {
    pub fn problem(
        &self,
        at: &Syntax,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Problem {
        Problem {
            text: self.text.to_owned(),
            span: at.span.clone(),
            message: message.into(),
            help,
        }
    }

    /// Whether an expression is a path to something that is no value.
    pub fn named(&self, syntax: &Syntax) -> Result<Named, Problem> {
        if let Some(subject) = self.iterations(syntax)? {
            return Ok(Named::Subject(subject));
        }
        if let Kind::Path(path) = &syntax.kind {
            match self.find(syntax, path)? {
                Target::Subject(subject) => return Ok(Named::Subject(subject)),
                Target::Memory(signal, memory) => return Ok(Named::Memory(signal, memory)),
                Target::Signal(..) => {}
            }
        }
        Ok(Named::Value)
    }

    /// The output of the register that a path names, as if it was asked for.
    pub fn output(&self, syntax: &Syntax) -> Option<Syntax> {
        let Kind::Path(path) = &syntax.kind else {
            return None;
        };
        let path = [&path[..], &["out".to_owned()]].concat();
        let Target::Signal(signal, _) = self.find(syntax, &path).ok()? else {
            return None;
        };
        let is_register = match self.named(syntax) {
            Ok(Named::Subject(subject)) => self.is_register(&subject),
            // What nothing writes or the compiler has made is nothing that may be active.
            Err(_) => self.directory.register(&signal).is_some(),
            Ok(_) => false,
        };
        is_register.then(|| Syntax {
            span: syntax.span.clone(),
            kind: Kind::Path(path),
        })
    }

    fn is_register(&self, subject: &Subject) -> bool {
        let SubjectKind::Primitive(cell) = subject.kind else {
            return false;
        };
        let component = subject.component(self.metadata);
        let kind = component.map(|component| &component.cell(cell).kind);
        matches!(kind, Some(CellKind::Primitive(name)) if name == "std_reg")
    }

    /// An expression of one bit.
    pub fn condition(&self, syntax: &Syntax) -> Result<Expression, Problem> {
        let expression = self.expression(syntax)?;
        self.one_bit(syntax, &expression)?;
        Ok(expression)
    }

    /// An event: something that begins to be active, or a cycle in which a condition holds.
    pub fn event(&self, syntax: &Syntax) -> Result<Expression, Problem> {
        match self.named(syntax)? {
            Named::Subject(subject) => Ok(Expression::Subject(subject, Aspect::Begin)),
            _ => self.condition(syntax),
        }
    }

    /// An expression of any width up to 64 bits.
    pub fn expression(&self, syntax: &Syntax) -> Result<Expression, Problem> {
        let part = self.part(syntax)?;
        self.settle(syntax, part, None)
    }

    fn find(&self, syntax: &Syntax, path: &[String]) -> Result<Target, Problem> {
        let names = Names {
            metadata: self.metadata,
            directory: self.directory,
        };
        names.find(path).map_err(|unknown| {
            // The names that are right are left out, if they can be told in the text.
            let right: usize = path[..unknown.right]
                .iter()
                .map(|name| name.len() + 1)
                .sum();
            let is_plain = syntax.span.len() == path.join(".").len();
            let mut at = syntax.clone();
            if is_plain && right < at.span.len() {
                at.span.start += right;
            }
            self.problem(&at, unknown.message, unknown.help)
        })
    }

    fn part(&self, syntax: &Syntax) -> Result<Operand, Problem> {
        let expression = match &syntax.kind {
            Kind::Number(value, None) => return Ok(Operand::Number(*value)),
            Kind::Number(value, Some(width)) => Expression::constant(*value, *width),
            Kind::Path(path) => match self.find(syntax, path)? {
                Target::Signal(signal, width) if width > u64::BITS => {
                    return Ok(Operand::Wide(Value::Signal(signal, width)));
                }
                Target::Signal(signal, width) => Expression::Value(Value::Signal(signal, width)),
                Target::Memory(signal, memory) => {
                    return Ok(Operand::Memory(signal, memory, Vec::new()));
                }
                Target::Subject(subject) => Expression::Subject(subject, Aspect::Active),
            },
            Kind::Not(operand) => self.condition(operand)?.not(),
            Kind::Complement(operand) => self.expression(operand)?.not(),
            Kind::Binary(op, left, right) => self.binary(*op, left, right)?,
            Kind::Index(of, at) => return self.index(syntax, of, at),
            Kind::Slice(of, high, low) => self.slice(of, high, low)?,
            Kind::Call(name, arguments) => self.call(syntax, name, arguments)?,
        };
        Ok(Operand::Expression(expression))
    }

    /// What has a width, or gets it here.
    fn settle(
        &self,
        syntax: &Syntax,
        part: Operand,
        width: Option<u32>,
    ) -> Result<Expression, Problem> {
        match part {
            Operand::Expression(expression) => Ok(expression),
            Operand::Number(value) => {
                let needed = (u64::BITS - value.leading_zeros()).max(1);
                let width = width.unwrap_or(needed);
                if needed > width {
                    let message = format!("{value} does not fit into {width} bits");
                    return Err(self.problem(syntax, message, None));
                }
                Ok(Expression::constant(value, width))
            }
            Operand::Wide(value) => {
                let message = format!(
                    "this has {} bits, and at most 64 can be looked at",
                    value.width()
                );
                let help = "take some of them, such as `[63:0]`".to_owned();
                Err(self.problem(syntax, message, Some(help)))
            }
            Operand::Memory(_, memory, indices) => {
                let dims = memory.dims.len();
                let message = match indices.len() {
                    0 => "this is a memory, which is no value".to_owned(),
                    some => format!(
                        "this memory has {dims} dimensions, {}, and not {some}",
                        memory.sizes()
                    ),
                };
                // An index alone may be meant for all dimensions together.
                let word = match &indices[..] {
                    [Expression::Value(Value::Constant(word, _))] => *word,
                    _ => 0,
                };
                let help = format!(
                    "name one of its words, such as `{}{}`, or one of its ports",
                    memory_path(&self.text[syntax.span.clone()]),
                    memory.indices(word)
                );
                Err(self.problem(syntax, message, Some(help)))
            }
        }
    }

    fn one_bit(&self, syntax: &Syntax, expression: &Expression) -> Result<(), Problem> {
        let width = expression.width();
        if width == 1 {
            return Ok(());
        }
        let message = format!("this has {width} bits, and one bit is wanted");
        let help = "compare it with something".to_owned();
        Err(self.problem(syntax, message, Some(help)))
    }

    fn binary(&self, op: Binary, left: &Syntax, right: &Syntax) -> Result<Expression, Problem> {
        if let Binary::And | Binary::Or = op {
            let operands = vec![self.condition(left)?, self.condition(right)?];
            let op = if op == Binary::And {
                ValueOp::And
            } else {
                ValueOp::Or
            };
            return Ok(Expression::op(op, 1, operands));
        }
        if let Binary::Shl | Binary::Shr = op {
            let operands = vec![self.expression(left)?, self.expression(right)?];
            let op = if op == Binary::Shl {
                ValueOp::Shl
            } else {
                ValueOp::Shr
            };
            return Ok(Expression::op(op, operands[0].width(), operands));
        }
        let (a, b) = self.alike(left, right)?;
        let width = a.width();
        let bit = |op, operands| Expression::op(op, 1, operands);
        let same = |op, operands| Expression::op(op, width, operands);
        Ok(match op {
            Binary::Eq => bit(ValueOp::Eq, vec![a, b]),
            Binary::Ne => bit(ValueOp::Eq, vec![a, b]).not(),
            Binary::Lt => bit(ValueOp::Lt, vec![a, b]),
            Binary::Gt => bit(ValueOp::Lt, vec![b, a]),
            Binary::Le => bit(ValueOp::Lt, vec![b, a]).not(),
            Binary::Ge => bit(ValueOp::Lt, vec![a, b]).not(),
            Binary::BitOr => same(ValueOp::Or, vec![a, b]),
            Binary::BitXor => same(ValueOp::Xor, vec![a, b]),
            Binary::BitAnd => same(ValueOp::And, vec![a, b]),
            Binary::Add => same(ValueOp::Add, vec![a, b]),
            Binary::Sub => same(ValueOp::Sub, vec![a, b]),
            Binary::Mul => same(ValueOp::Mul, vec![a, b]),
            Binary::Div => same(ValueOp::Div, vec![a, b]),
            Binary::Rem => same(ValueOp::Rem, vec![a, b]),
            Binary::And | Binary::Or | Binary::Shl | Binary::Shr => unreachable!("they are above"),
        })
    }

    /// Both sides of an operator, which have to be equally wide.
    pub fn alike(
        &self,
        left: &Syntax,
        right: &Syntax,
    ) -> Result<(Expression, Expression), Problem> {
        let (first, second) = (self.part(left)?, self.part(right)?);
        let width_of = |part: &Operand| match part {
            Operand::Expression(expression) => Some(expression.width()),
            _ => None,
        };
        let width = width_of(&first).or(width_of(&second));
        let numbers = [&first, &second].map(|part| match part {
            Operand::Number(value) => u64::BITS - value.leading_zeros(),
            _ => 1,
        });
        let width = width.unwrap_or(numbers[0].max(numbers[1]).max(1));
        let a = self.settle(left, first, Some(width))?;
        let b = self.settle(right, second, Some(width))?;
        if a.width() != b.width() {
            let mut both = left.clone();
            both.span.end = right.span.end;
            let message = format!("the widths differ: {} and {} bits", a.width(), b.width());
            let wide = a.width().max(b.width());
            let help = format!("take some bits of the wider one, or `pad(…, {wide})` the other");
            return Err(self.problem(&both, message, Some(help)));
        }
        Ok((a, b))
    }

    fn index(&self, syntax: &Syntax, of: &Syntax, at: &Syntax) -> Result<Operand, Problem> {
        match self.part(of)? {
            Operand::Memory(signal, memory, mut indices) => {
                let dim = memory.dims[indices.len()];
                if let Operand::Number(value) = self.part(at)?
                    && value >= dim
                {
                    let message = format!("the index {value} is beyond the end: the size is {dim}");
                    let help = (memory.dims.len() > 1).then(|| {
                        let path = memory_path(&self.text[of.span.clone()]);
                        let sizes = memory.sizes();
                        let word = memory.indices(value);
                        format!("the memory has the sizes {sizes}: name a word as `{path}{word}`")
                    });
                    return Err(self.problem(at, message, help));
                }
                indices.push(self.expression(at)?);
                if indices.len() < memory.dims.len() {
                    return Ok(Operand::Memory(signal, memory, indices));
                }
                self.word(syntax, signal, &memory, indices)
            }
            of => {
                // A number is a bit; anything else is one that is computed.
                if let Operand::Number(bit) = self.part(at)? {
                    return self.bits(syntax, of, bit, bit).map(Operand::Expression);
                }
                let by = self.expression(at)?;
                let of = self.settle(syntax, of, None)?;
                let shifted = Expression::op(ValueOp::Shr, of.width(), vec![of, by]);
                let bit = Expression::op(ValueOp::Slice(0), 1, vec![shifted]);
                Ok(Operand::Expression(bit))
            }
        }
    }

    /// A word of a memory.
    fn word(
        &self,
        syntax: &Syntax,
        signal: Signal,
        memory: &Memory,
        indices: Vec<Expression>,
    ) -> Result<Operand, Problem> {
        if !self.directory.has_memories() {
            let message = "a waveform has no words of memories";
            let help =
                "observe its ports, or let petal's own simulator run the design: `petal run`";
            return Err(self.problem(syntax, message, Some(help.to_owned())));
        }
        let mut flat = Value::Constant(0, 64);
        for (index, &dim) in indices.into_iter().zip(&memory.dims) {
            let Expression::Value(index) = index else {
                let message =
                    "the index of a memory's word is a value of the same cycle, without activity";
                return Err(self.problem(syntax, message, None));
            };
            let index = Value::Op(ValueOp::Pad, 64, vec![index]);
            let size = Value::Constant(dim, 64);
            let before = Value::Op(ValueOp::Mul, 64, vec![flat, size]);
            flat = Value::Op(ValueOp::Add, 64, vec![before, index]);
        }
        let word = Value::Word {
            memory: signal,
            index: Box::new(flat),
            width: memory.width,
        };
        Ok(if memory.width > u64::BITS {
            Operand::Wide(word)
        } else {
            Operand::Expression(Expression::Value(word))
        })
    }

    fn slice(&self, of: &Syntax, high: &Syntax, low: &Syntax) -> Result<Expression, Problem> {
        let bit = |syntax: &Syntax| match syntax.kind {
            Kind::Number(value, _) => Ok(value),
            _ => Err(self.problem(syntax, "the bounds of a slice are numbers", None)),
        };
        let (high_bit, low_bit) = (bit(high)?, bit(low)?);
        let mut both = high.clone();
        both.span.end = low.span.end;
        if low_bit > high_bit {
            let help = Some(format!("write `[{low_bit}:{high_bit}]`"));
            return Err(self.problem(&both, "the highest bit comes first", help));
        }
        let part = self.part(of)?;
        self.bits(&both, part, high_bit, low_bit)
    }

    /// Some bits of a part.
    fn bits(&self, at: &Syntax, of: Operand, high: u64, low: u64) -> Result<Expression, Problem> {
        let of = match of {
            Operand::Wide(_) if high >= u64::from(u64::BITS) && !self.directory.has_memories() => {
                let message = "of a waveform, only the lowest 64 bits of a signal can be looked at";
                let help = "let petal's own simulator run the design: `petal run`";
                return Err(self.problem(at, message, Some(help.to_owned())));
            }
            Operand::Wide(value) => Expression::Value(value),
            other => self.settle(at, other, None)?,
        };
        let width = of.width();
        if high >= u64::from(width) {
            let message = format!("there is no bit {high}: this has {width} bits");
            return Err(self.problem(at, message, None));
        }
        let (Ok(low), Ok(count @ 1..=64)) = (u32::try_from(low), u32::try_from(high - low + 1))
        else {
            let message = "at most 64 bits can be looked at";
            return Err(self.problem(at, message, None));
        };
        Ok(Expression::op(ValueOp::Slice(low), count, vec![of]))
    }

    /// Refuses what is too large.
    pub fn small(&self, at: &Syntax, expression: Expression) -> Result<Expression, Problem> {
        if expression.parts() <= MAX_PARTS {
            return Ok(expression);
        }
        let help = "observe parts of it for themselves".to_owned();
        Err(self.problem(at, "this is too large", Some(help)))
    }
}
