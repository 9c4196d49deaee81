//! What a watchpoint looks at: a value, or the writes to a register or memory.

use std::ops::Range;

use petal_reconstruct::{Signal, Value, ValueOp};

use crate::activity::Aspect;
use crate::checker::{Checker, Named, memory_path};
use crate::directory::{Directory, Memory};
use crate::expression::Expression;
use crate::problem::Problem;
use crate::syntax::{Kind, Syntax};

/// What can be watched.
pub(crate) enum Watchable {
    /// A value.
    Value(Expression),
    /// A register, by its cell and its output.
    Register(Signal, Value),
    /// Words of a memory.
    Memory {
        signal: Signal,
        memory: Memory,
        words: Range<u64>,
    },
}

/// What an expression asks to be watched, of a memory these words if they are given.
pub(crate) fn watchable(
    checker: &Checker<'_>,
    syntax: &Syntax,
    range: Option<Range<u64>>,
) -> Result<Watchable, Problem> {
    let problem = |span: Range<usize>, message: String| Problem {
        text: checker.text.to_owned(),
        span,
        message,
        help: None,
    };
    // A register is its value, as a memory is its words.
    let output = checker.output(syntax);
    let syntax = output.as_ref().unwrap_or(syntax);
    // The indices of one word, from the last one on.
    let (mut base, mut indices) = (syntax, Vec::new());
    while let Kind::Index(of, at) = &base.kind
        && let Kind::Number(index, _) = at.kind
    {
        indices.push(index);
        base = of;
    }
    indices.reverse();
    if matches!(base.kind, Kind::Path(_))
        && let Named::Memory(signal, memory) = checker.named(base)?
    {
        let all = memory.words();
        let words = match range {
            Some(words) if words.start >= words.end || words.end > all => {
                let message = format!("the memory has the words 0..{all}, in row-major order");
                return Err(problem(0..checker.text.len(), message));
            }
            Some(words) => words,
            None if indices.is_empty() => 0..all,
            None if indices.len() != memory.dims.len()
                || indices
                    .iter()
                    .zip(&memory.dims)
                    .any(|(index, dim)| index >= dim) =>
            {
                let path = memory_path(&checker.text[syntax.span.clone()]);
                let word = if let [word] = indices[..] { word } else { 0 };
                return Err(Problem {
                    help: Some(format!(
                        "name a word as `{path}{}`, or all of them as `{path}`",
                        memory.indices(word)
                    )),
                    ..problem(
                        syntax.span.clone(),
                        format!("the memory has the sizes {}", memory.sizes()),
                    )
                });
            }
            None => {
                let dims = indices.iter().zip(&memory.dims);
                // The sizes may not be known, of which there is more to say later.
                let index = dims.fold(0_u64, |flat, (index, dim)| {
                    flat.saturating_mul(*dim).saturating_add(*index)
                });
                index..index.saturating_add(1)
            }
        };
        return Ok(Watchable::Memory {
            signal,
            memory,
            words,
        });
    }
    if range.is_some() {
        let message = "this is no memory; bits are taken as `[7:0]`".to_owned();
        return Err(problem(syntax.span.clone(), message));
    }
    if let Named::Subject(subject) = checker.named(syntax)? {
        return Ok(Watchable::Value(Expression::Subject(
            subject,
            Aspect::Active,
        )));
    }
    Ok(match checker.expression(syntax)? {
        Expression::Value(Value::Signal(signal, width)) => {
            match checker.directory.register(&signal) {
                Some(cell) => Watchable::Register(cell, Value::Signal(signal, width)),
                None => Watchable::Value(Expression::Value(Value::Signal(signal, width))),
            }
        }
        expression => Watchable::Value(expression),
    })
}

/// The writes to a register or to some words of a memory.
pub(crate) struct Writes {
    /// High when there is one to look at.
    pub event: Value,
    /// The word of a memory in row-major order.
    pub index: Option<Value>,
    /// The value before if that can be known, and after.
    pub old: Option<Value>,
    pub new: Value,
}

/// Those of a memory's cell. They are quiet as long as nothing is written.
pub(crate) fn writes(
    directory: &Directory,
    cell: &Signal,
    memory: &Memory,
    words: Range<u64>,
) -> Result<Writes, String> {
    if memory.width > u64::BITS {
        return Err(format!(
            "its words have {} bits, and at most 64 can be looked at",
            memory.width
        ));
    }
    let port = |name: &str| port(directory, cell, name);
    let op = |op, width, operands| Value::Op(op, width, operands);
    let number = |number| Value::Constant(number, 64);
    if !memory.is_sized() && memory.dims.len() > 1 {
        return Err(
            "a waveform does not tell the sizes of a memory; watch its ports, or let petal's own simulator run the design"
                .to_owned(),
        );
    }
    let mut index = number(0);
    let mut event = port("write_en")?;
    if let Ok(enable) = port("content_en") {
        event = op(ValueOp::And, 1, vec![event, enable]);
    }
    let dims = &memory.dims;
    for (at, &size) in dims.iter().enumerate() {
        let name = format!("addr{at}");
        let address = op(ValueOp::Pad, 64, vec![port(&name)?]);
        let is_inside = op(ValueOp::Lt, 1, vec![address.clone(), number(size)]);
        event = op(ValueOp::And, 1, vec![event, is_inside]);
        let before = op(ValueOp::Mul, 64, vec![index, number(size)]);
        index = op(ValueOp::Add, 64, vec![before, address]);
    }
    if words.start > 0 {
        let is_below = op(ValueOp::Lt, 1, vec![index.clone(), number(words.start)]);
        let is_above = op(ValueOp::Not, 1, vec![is_below]);
        event = op(ValueOp::And, 1, vec![event, is_above]);
    }
    if words.end < memory.words() {
        let is_below = op(ValueOp::Lt, 1, vec![index.clone(), number(words.end)]);
        event = op(ValueOp::And, 1, vec![event, is_below]);
    }
    let new = port("write_data")?;
    let old = directory.has_memories().then(|| Value::Word {
        memory: cell.clone(),
        index: Box::new(index.clone()),
        width: memory.width,
    });
    if let Some(old) = &old {
        let same = op(ValueOp::Eq, 1, vec![old.clone(), new.clone()]);
        let differ = op(ValueOp::Not, 1, vec![same]);
        event = op(ValueOp::And, 1, vec![event, differ]);
    }
    // Quiet as long as nothing is written.
    let quiet = |value: Value| {
        let width = value.width();
        let nothing = Value::Constant(0, width);
        op(ValueOp::Mux, width, vec![event.clone(), value, nothing])
    };
    Ok(Writes {
        index: Some(quiet(index)),
        old: old.map(quiet),
        new: quiet(new),
        event,
    })
}

/// Those of a register's cell that change it.
pub(crate) fn register_writes(
    directory: &Directory,
    cell: &Signal,
    out: Value,
) -> Result<Writes, String> {
    let op = |op, operands| Value::Op(op, 1, operands);
    let new = port(directory, cell, "in")?;
    let same = op(ValueOp::Eq, vec![out.clone(), new.clone()]);
    let differ = op(ValueOp::Not, vec![same]);
    Ok(Writes {
        event: op(
            ValueOp::And,
            vec![port(directory, cell, "write_en")?, differ],
        ),
        index: None,
        old: Some(out),
        new,
    })
}

/// Of a condition about registers and words of memories alone, the writes to them, each with its cell; `None` of any other one.
pub(crate) fn writes_of(
    directory: &Directory,
    condition: &Expression,
) -> Option<Vec<(Value, Signal)>> {
    match condition {
        Expression::Value(value) => writes_of_value(directory, value),
        Expression::Subject(..) => None,
        Expression::Op(_, _, operands) => {
            let all = operands.iter().map(|operand| writes_of(directory, operand));
            all.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        Expression::Past(of) | Expression::Ones(of) => writes_of(directory, of),
    }
}

fn writes_of_value(directory: &Directory, value: &Value) -> Option<Vec<(Value, Signal)>> {
    match value {
        Value::Constant(..) => Some(Vec::new()),
        Value::Signal(signal, _) => {
            let cell = directory.register(signal)?;
            let writes = register_writes(directory, &cell, value.clone()).ok()?;
            Some(vec![(writes.event, cell)])
        }
        Value::Word { memory, index, .. } => {
            let mut all = writes_of_value(directory, index)?;
            let of = directory.memory(memory)?;
            let words = 0..of.words();
            let writes = writes(directory, memory, &of, words).ok()?;
            all.push((writes.event, memory.clone()));
            Some(all)
        }
        Value::Op(_, _, operands) => {
            let all = operands
                .iter()
                .map(|operand| writes_of_value(directory, operand));
            all.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
    }
}

/// The value of a cell's port.
pub(crate) fn port(directory: &Directory, cell: &Signal, name: &str) -> Result<Value, String> {
    match directory.port(cell, name) {
        Some((signal, width)) => Ok(Value::Signal(signal, width)),
        None => Err(format!(
            "`{}` has no port `{name}` in the compiled design",
            cell.name
        )),
    }
}
