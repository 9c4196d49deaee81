//! From the text of an expression to its syntax tree.
//!
//! Owns the grammar and the precedence of operators. Knows no design: names and widths are looked at in `checker.rs`.

use std::ops::Range;
use std::sync::LazyLock;

use pest::Parser as _;
use pest::error::{Error, InputLocation};
use pest::iterators::Pair;
use pest::pratt_parser::{Assoc, Op, PrattParser};

use crate::problem::Problem;

#[derive(pest_derive::Parser)]
#[grammar = "grammar.pest"]
struct Grammar;

/// The longest expression, in bytes: what is nested is read recursively.
const MAX_LENGTH: usize = 4096;

/// A part of an expression, with its bytes in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number, with its width if that is written.
    Number(u64, Option<u32>),
    /// Names, from main on.
    Path(Vec<String>),
    Not(Box<Syntax>),
    Complement(Box<Syntax>),
    Binary(Binary, Box<Syntax>, Box<Syntax>),
    Index(Box<Syntax>, Box<Syntax>),
    Slice(Box<Syntax>, Box<Syntax>, Box<Syntax>),
    Call(String, Vec<Syntax>),
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitOr,
    BitXor,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

static PRECEDENCE: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let left = |rule| Op::infix(rule, Assoc::Left);
    let comparisons = [Rule::ne, Rule::lt, Rule::le, Rule::gt, Rule::ge];
    let comparisons = comparisons.into_iter().map(left);
    PrattParser::new()
        .op(left(Rule::or))
        .op(left(Rule::and))
        .op(comparisons.fold(left(Rule::eq), |all, next| all | next))
        .op(left(Rule::bit_or))
        .op(left(Rule::bit_xor))
        .op(left(Rule::bit_and))
        .op(left(Rule::shl) | left(Rule::shr))
        .op(left(Rule::add) | left(Rule::sub))
        .op(left(Rule::mul) | left(Rule::div) | left(Rule::rem))
        .op(Op::prefix(Rule::not) | Op::prefix(Rule::complement))
        .op(Op::postfix(Rule::index))
});

/// The expression in `text`.
pub(crate) fn expression(text: &str) -> Result<Syntax, Problem> {
    let mut all = parse(text, Rule::whole_expression)?;
    all.next()
        .map_or_else(|| Err(nothing(text)), |pair| tree(text, pair))
}

/// The expression in `text`, or the two on both sides of `..`.
pub(crate) fn interval(text: &str) -> Result<(Syntax, Option<Syntax>), Problem> {
    let mut all = parse(text, Rule::whole_interval)?;
    let first = all.next().ok_or_else(|| nothing(text))?;
    let second = all.next().filter(|pair| pair.as_rule() == Rule::expression);
    let second = second.map(|pair| tree(text, pair)).transpose()?;
    Ok((tree(text, first)?, second))
}

/// `path[a..b]`, or an expression.
pub(crate) fn range(text: &str) -> Result<(Syntax, Option<Range<u64>>), Problem> {
    let Ok(mut all) = parse(text, Rule::whole_range) else {
        return Ok((expression(text)?, None));
    };
    let mut next = || all.next().ok_or_else(|| nothing(text));
    let (path, first, last) = (next()?, next()?, next()?);
    let number = |pair: Pair<'_, Rule>| number(text, &pair).map(|(value, _)| value);
    let path = Syntax {
        span: bytes(&path),
        kind: names(path),
    };
    Ok((path, Some(number(first)?..number(last)?)))
}

fn parse(text: &str, rule: Rule) -> Result<pest::iterators::Pairs<'_, Rule>, Problem> {
    if text.len() > MAX_LENGTH {
        return Err(Problem {
            text: text.chars().take(60).collect(),
            span: 0..text.len(),
            message: format!("an expression has at most {MAX_LENGTH} characters"),
            help: None,
        });
    }
    Grammar::parse(rule, text).map_err(|error| problem(text, error))
}

fn nothing(text: &str) -> Problem {
    Problem {
        text: text.to_owned(),
        span: 0..text.len(),
        message: "an expression is missing".to_owned(),
        help: None,
    }
}

fn problem(text: &str, error: Error<Rule>) -> Problem {
    let span = match error.location {
        InputLocation::Pos(at) => at..at + text[at..].chars().next().map_or(0, char::len_utf8),
        InputLocation::Span((start, end)) => start..end,
    };
    let is_single = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.starts_with('=') && !rest.starts_with("==")
    };
    let help = is_single(span.start).then(|| "`==` compares".to_owned());
    let error = error.renamed_rules(|rule| match rule {
        Rule::EOI => "the end".to_owned(),
        Rule::number | Rule::sized => "a number".to_owned(),
        Rule::path | Rule::segment | Rule::name | Rule::label => "a path".to_owned(),
        Rule::call | Rule::function => "a function".to_owned(),
        Rule::not => "`!`".to_owned(),
        Rule::complement => "`~`".to_owned(),
        Rule::index => "`[`".to_owned(),
        Rule::expression | Rule::operand | Rule::primary => "an expression".to_owned(),
        _ => "an operator".to_owned(),
    });
    let message = error.variant.message().into_owned();
    let (start, list) = message.split_once(' ').unwrap_or(("expected", &message));
    let mut wanted: Vec<&str> = list
        .split(", ")
        .flat_map(|part| part.split(" or "))
        .map(|part| part.trim_start_matches("or "))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    Problem {
        text: text.to_owned(),
        span,
        message: format!("{start} {}", wanted.join(" or ")),
        help,
    }
}

fn bytes(pair: &Pair<'_, Rule>) -> Range<usize> {
    pair.as_span().start()..pair.as_span().end()
}

fn tree(text: &str, pair: Pair<'_, Rule>) -> Result<Syntax, Problem> {
    PRECEDENCE
        .map_primary(|pair| primary(text, pair))
        .map_prefix(|op, operand| {
            let operand = operand?;
            let span = bytes(&op).start..operand.span.end;
            let operand = Box::new(operand);
            let kind = match op.as_rule() {
                Rule::not => Kind::Not(operand),
                _ => Kind::Complement(operand),
            };
            Ok(Syntax { span, kind })
        })
        .map_postfix(|operand, op| {
            let operand = operand?;
            let span = operand.span.start..bytes(&op).end;
            let mut inner = op.into_inner().map(|pair| tree(text, pair));
            let first = Box::new(inner.next().unwrap_or_else(|| Err(nothing(text)))?);
            let operand = Box::new(operand);
            let kind = match inner.next() {
                None => Kind::Index(operand, first),
                Some(second) => Kind::Slice(operand, first, Box::new(second?)),
            };
            Ok(Syntax { span, kind })
        })
        .map_infix(|left, op, right| {
            let (left, right) = (left?, right?);
            let span = left.span.start..right.span.end;
            let op = binary(op.as_rule());
            let kind = Kind::Binary(op, Box::new(left), Box::new(right));
            Ok(Syntax { span, kind })
        })
        .parse(pair.into_inner())
}

fn primary(text: &str, pair: Pair<'_, Rule>) -> Result<Syntax, Problem> {
    let span = bytes(&pair);
    let kind = match pair.as_rule() {
        Rule::number => {
            let (value, width) = number(text, &pair)?;
            Kind::Number(value, width)
        }
        Rule::path => names(pair),
        Rule::call => {
            let mut inner = pair.into_inner();
            let name = inner.next().map(|name| name.as_str().to_owned());
            let arguments: Result<_, _> = inner.map(|pair| tree(text, pair)).collect();
            Kind::Call(name.unwrap_or_default(), arguments?)
        }
        _ => return tree(text, pair),
    };
    Ok(Syntax { span, kind })
}

fn names(path: Pair<'_, Rule>) -> Kind {
    let segments = path.into_inner().filter_map(|segment| {
        let inner = segment.into_inner().next()?;
        let name = inner.as_str();
        // One space in `static seq@L7`, as labels have it.
        Some(match inner.as_rule() {
            Rule::label => name.split_whitespace().collect::<Vec<_>>().join(" "),
            _ => name.to_owned(),
        })
    });
    Kind::Path(segments.collect())
}

fn number(text: &str, pair: &Pair<'_, Rule>) -> Result<(u64, Option<u32>), Problem> {
    let written = pair.as_str().replace('_', "");
    let wrong = |message: &str| Problem {
        text: text.to_owned(),
        span: bytes(pair),
        message: format!("{} {message}", pair.as_str()),
        help: None,
    };
    let (width, digits, radix) = if let Some((width, value)) = written.split_once('\'') {
        let radix = match value.as_bytes()[0] {
            b'b' => 2,
            b'o' => 8,
            b'd' => 10,
            _ => 16,
        };
        (Some(width.to_owned()), value[1..].to_owned(), radix)
    } else if let Some(hex) = written.strip_prefix("0x") {
        (None, hex.to_owned(), 16)
    } else if let Some(binary) = written.strip_prefix("0b") {
        (None, binary.to_owned(), 2)
    } else {
        (None, written, 10)
    };
    let value = u64::from_str_radix(&digits, radix);
    let value = value.map_err(|_| wrong("is no number of up to 64 bits"))?;
    let width: Option<u32> = match width {
        None => None,
        Some(width) => match width.parse() {
            Ok(width @ 1..=64) => Some(width),
            _ => return Err(wrong("has a width that is not from 1 to 64")),
        },
    };
    match width {
        Some(width) if width < u64::BITS && value >> width != 0 => {
            Err(wrong(&format!("does not fit into {width} bits")))
        }
        _ => Ok((value, width)),
    }
}

fn binary(rule: Rule) -> Binary {
    match rule {
        Rule::or => Binary::Or,
        Rule::and => Binary::And,
        Rule::eq => Binary::Eq,
        Rule::ne => Binary::Ne,
        Rule::lt => Binary::Lt,
        Rule::le => Binary::Le,
        Rule::gt => Binary::Gt,
        Rule::ge => Binary::Ge,
        Rule::bit_or => Binary::BitOr,
        Rule::bit_xor => Binary::BitXor,
        Rule::bit_and => Binary::BitAnd,
        Rule::shl => Binary::Shl,
        Rule::shr => Binary::Shr,
        Rule::add => Binary::Add,
        Rule::sub => Binary::Sub,
        Rule::mul => Binary::Mul,
        Rule::div => Binary::Div,
        _ => Binary::Rem,
    }
}
