//! Calyx as its front ends write it today, for the parser of Calyx 0.7.1.
//!
//! Owns the differences between the two grammars: what the parser can't read is blanked or replaced by
//! as many bytes that it can, so that all offsets, lines and columns stay those of the user's file, and
//! kept aside. [`restore`] puts it back into the parsed program. Strings, comments and Verilog are
//! never touched. What is no Calyx at all is left for the parser to tell.

pub mod lexer;
pub(crate) mod restore;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use lexer::{Kind, Lexer, Token};

/// A Calyx file for the parser of Calyx 0.7.1.
#[derive(Debug, Default)]
pub(crate) struct Translation {
    /// As long as the file, with the same lines.
    pub text: String,
    /// The ids of positions, by the offset at which the parser sees begin what they are of.
    pub positions: BTreeMap<usize, Vec<u64>>,
    /// Cells that the parser reads as others, by the offset at which they begin.
    cells: HashMap<usize, Cell>,
    /// What is in the `sourceinfo` tables.
    pub source_info: Vec<Range<usize>>,
    /// What is in the `metadata` table.
    pub metadata: Option<Range<usize>>,
}

impl Translation {
    /// That of a file which the parser may be given as it is, and which says no more than the parser learns.
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// Whether it is [`Self::plain`] of this file.
    pub fn is_plain(&self, text: &str) -> bool {
        let Self {
            text: translated,
            positions,
            cells,
            source_info,
            metadata,
        } = self;
        let says_no_more = positions.is_empty() && cells.is_empty() && source_info.is_empty();
        says_no_more && metadata.is_none() && translated == text
    }
}

/// What the parser does not learn of a cell.
#[derive(Debug, Default)]
struct Cell {
    /// Its name, if that begins with `ref`.
    name: Option<String>,
    /// The bits of a floating-point constant.
    constant: Option<u64>,
}

/// Why a file can't be read.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The offset at which it is.
    pub at: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

/// The number of the line that the byte `offset` is in, counted from 1.
pub(crate) fn line(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.split(|byte| *byte == b'\n').count()
}

/// The offsets in `range` at which the word `word` stands.
pub(crate) fn find_word(
    text: &str,
    word: &str,
    range: Range<usize>,
) -> impl Iterator<Item = usize> {
    let words = Lexer::new(text).filter(|token| token.kind == Kind::Word);
    let words = words.filter(move |token| &text[token.start..token.end] == word);
    words
        .map(|token| token.start)
        .filter(move |at| range.contains(at))
}

/// The name of the component that the byte `offset` is in.
pub(crate) fn component_at(text: &str, offset: usize) -> Option<&str> {
    let words = Lexer::new(text).filter(|token| token.kind == Kind::Word);
    let before: Vec<&str> = words
        .take_while(|token| token.start <= offset)
        .map(|token| &text[token.start..token.end])
        .collect();
    let keyword = before.iter().rposition(|word| *word == "component")?;
    before.get(keyword + 1).copied()
}

/// Translates a file.
///
/// # Errors
/// When it has a construct that Calyx 0.7.1 has nothing for.
pub(crate) fn translate(text: &str) -> Result<Translation, Problem> {
    let mut translator = Translator {
        text,
        lexer: Lexer::new(text),
        written: text.as_bytes().to_owned(),
        result: Translation::default(),
        depth: 0,
        in_component: false,
        in_cells: false,
        in_primitive: false,
        statement: Statement::default(),
    };
    while let Some(token) = translator.lexer.next() {
        translator.token(token)?;
    }
    let Translator {
        written,
        mut result,
        ..
    } = translator;
    result.text = String::from_utf8(written).expect("only whole tokens are replaced, by ASCII");
    Ok(result)
}

struct Translator<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    written: Vec<u8>,
    result: Translation,
    /// Open braces.
    depth: usize,
    in_component: bool,
    in_cells: bool,
    in_primitive: bool,
    statement: Statement,
}

/// What came since the last `;`, `{` or `}`.
#[derive(Debug, Default)]
struct Statement {
    /// Where the parser sees it begin.
    start: Option<usize>,
    /// How many words it has, without those of attributes.
    words: usize,
    /// Open parentheses.
    parentheses: usize,
    /// The ids of its positions.
    positions: Vec<u64>,
}

impl<'a> Translator<'a> {
    fn token(&mut self, token: Token) -> Result<(), Problem> {
        if token.kind == Kind::Mark(b'@') {
            return self.attribute(token);
        }
        if token.kind == Kind::Word && self.depth == 0 && self.table(token)? {
            return Ok(());
        }
        let begins = self.statement.start.is_none();
        let start = *self.statement.start.get_or_insert(token.start);
        match token.kind {
            Kind::Word => self.word(token, begins, start)?,
            Kind::Mark(b'<') if self.peek(|kind| kind == Kind::Text) => self.attributes(token)?,
            Kind::Mark(b'(') => self.statement.parentheses += 1,
            Kind::Mark(b')') => {
                self.statement.parentheses = self.statement.parentheses.saturating_sub(1);
            }
            Kind::Mark(b'{') => {
                self.finish(start);
                if self.in_primitive {
                    // Verilog, which ends at the first brace.
                    let rest = &self.text[token.end..];
                    let length = rest.find('}').map_or(rest.len(), |at| at + 1);
                    self.lexer.jump(token.end + length);
                    self.in_primitive = false;
                } else {
                    self.depth += 1;
                }
            }
            Kind::Mark(b'}') => {
                self.statement = Statement::default();
                self.depth = self.depth.saturating_sub(1);
                self.in_cells = false;
                self.in_component &= self.depth > 0;
            }
            Kind::Mark(b';') => {
                self.finish(start);
                self.in_primitive = false;
            }
            Kind::Text | Kind::Block | Kind::Mark(_) => {}
        }
        Ok(())
    }

    /// The end of what a statement's positions are before: they are its own.
    fn finish(&mut self, start: usize) {
        let Statement { positions, .. } = std::mem::take(&mut self.statement);
        if !positions.is_empty() {
            self.result.positions.insert(start, positions);
        }
    }

    fn word(&mut self, token: Token, begins: bool, start: usize) -> Result<(), Problem> {
        self.statement.words += 1;
        let first = self.statement.words == 1;
        match self.of(token) {
            // The `if` behind it is a statement of its own.
            "else" if begins => self.statement = Statement::default(),
            "component" if self.depth == 0 => self.in_component = true,
            "primitive" if !self.in_component => self.in_primitive = true,
            "cells" if first && self.depth == 1 => {
                self.in_cells = self.peek(|kind| kind == Kind::Mark(b'{'));
            }
            "fsm" if first && self.in_component && self.peek(|kind| kind == Kind::Word) => {
                let name = self.lexer.peek().map_or("", |name| self.of(name));
                return Err(Problem {
                    at: token.start,
                    message: format!(
                        "`fsm {name}` is a state machine that passes of newer Calyx compilers make, and petal cannot \
                         tell what runs in one; profile the program from before these passes, as its front end writes it"
                    ),
                });
            }
            name if self.in_cells
                && first
                && name.starts_with("ref")
                && self.peek(|kind| kind == Kind::Mark(b'=')) =>
            {
                // The parser takes the beginning for the keyword.
                self.written[token.start] = b'_';
                let cell = self.result.cells.entry(start).or_default();
                cell.name = Some(name.to_owned());
            }
            restore::FLOAT_CONSTANT
                if self.in_cells && self.peek(|kind| kind == Kind::Mark(b'(')) =>
            {
                let constant = self.float_constant(token.end)?;
                let cell = self.result.cells.entry(start).or_default();
                cell.constant = Some(constant);
            }
            _ => {}
        }
        Ok(())
    }

    /// A table behind the components. Whether there is one.
    fn table(&mut self, token: Token) -> Result<bool, Problem> {
        let word = self.of(token);
        let is_source_info = word.eq_ignore_ascii_case("sourceinfo");
        if !is_source_info && !word.eq_ignore_ascii_case("metadata") {
            return Ok(false);
        }
        let Some(block) = self.lexer.peek().filter(|next| next.kind == Kind::Block) else {
            return Ok(false);
        };
        if !self.of(block).ends_with("}#") || block.end - block.start < "#{}#".len() {
            return Err(Problem {
                at: token.start,
                message: format!("`{word} #{{` has no `}}#` at its end"),
            });
        }
        self.lexer.jump(block.end);
        self.statement = Statement::default();
        let inside = block.start + 2..block.end - 2;
        if is_source_info {
            self.blank(token.start..block.end);
            self.result.source_info.push(inside);
        } else {
            self.result.metadata = Some(inside);
        }
        Ok(true)
    }

    /// An attribute with `@`: `@name`, `@name(1)`, or the set `@name{1, 2}`.
    fn attribute(&mut self, at: Token) -> Result<(), Problem> {
        let mut ahead = self.lexer.clone();
        let name = ahead.next().filter(|name| name.kind == Kind::Word);
        let value = ahead.next();
        match (name, value.map(|value| value.kind)) {
            (Some(name), Some(Kind::Mark(b'{'))) => {
                self.lexer = ahead;
                let (numbers, end) = self.numbers(self.of(name))?;
                self.blank(at.start..end);
                self.positions_of(self.of(name), numbers);
            }
            (Some(_), Some(Kind::Mark(b'('))) => {
                self.statement.start.get_or_insert(at.start);
                // Only a number can be in it.
                let behind = ahead.find(|token| matches!(token.kind, Kind::Mark(b')' | b';')));
                self.lexer
                    .jump(behind.map_or(self.text.len(), |token| match token.kind {
                        Kind::Mark(b')') => token.end,
                        _ => token.start,
                    }));
            }
            (name, _) => {
                self.statement.start.get_or_insert(at.start);
                self.lexer.jump(name.map_or(at.end, |name| name.end));
            }
        }
        Ok(())
    }

    /// Attributes in angle brackets, of which the opening one is `open`: `<"name"=1, "name"={1, 2}>`.
    fn attributes(&mut self, open: Token) -> Result<(), Problem> {
        let mut sets: Vec<Range<usize>> = Vec::new();
        let mut kept = false;
        loop {
            let key = self.lexer.next();
            let equals = self.lexer.next();
            let value = self.lexer.next();
            let (Some(key), Some(equals), Some(value)) = (key, equals, value) else {
                return Ok(());
            };
            if key.kind != Kind::Text || equals.kind != Kind::Mark(b'=') {
                // The parser tells what is wrong.
                self.lexer.jump(key.end);
                return Ok(());
            }
            let is_set = value.kind == Kind::Mark(b'{');
            let mut end = value.end;
            if is_set {
                let name = self.of(key).trim_matches('"');
                let (numbers, behind) = self.numbers(name)?;
                self.positions_of(name, numbers);
                end = behind;
            }
            kept |= !is_set;
            let mut next = self.lexer.peek();
            if let Some(comma) = next.filter(|next| next.kind == Kind::Mark(b',')) {
                self.lexer.jump(comma.end);
                end = comma.end;
                next = self.lexer.peek();
            }
            if is_set {
                sets.push(key.start..end);
            }
            match next.map(|next| next.kind) {
                Some(Kind::Text) => {}
                Some(Kind::Mark(b'>')) => {
                    let close = next.map_or(end, |next| next.end);
                    self.lexer.jump(close);
                    if kept {
                        for set in sets {
                            self.blank(set);
                        }
                    } else {
                        self.blank(open.start..close);
                    }
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// The numbers of the set `name`, of which the brace was read, and the offset behind it.
    fn numbers(&mut self, name: &str) -> Result<(Vec<u64>, usize), Problem> {
        let mut numbers = Vec::new();
        let mut last = self.lexer.peek().map_or(self.text.len(), |next| next.start);
        while let Some(token) = self.lexer.next() {
            last = token.start;
            match token.kind {
                Kind::Mark(b'}') => return Ok((numbers, token.end)),
                Kind::Mark(b',') => {}
                Kind::Word if self.of(token).parse::<u64>().is_ok() => {
                    numbers.extend(self.of(token).parse::<u64>());
                }
                _ => break,
            }
        }
        Err(Problem {
            at: last,
            message: format!(
                "the set of the attribute `{name}` must be numbers with commas, such as `{{1, 2}}`"
            ),
        })
    }

    fn positions_of(&mut self, name: &str, numbers: Vec<u64>) {
        // Those of a port belong to nothing that is profiled.
        if name == "pos" && self.statement.parentheses == 0 {
            self.statement.positions.extend(numbers);
        }
    }

    /// The bits of the constant whose arguments begin at `open`; writes 0 for its value.
    fn float_constant(&mut self, open: usize) -> Result<u64, Problem> {
        let wrong = |message: String| {
            Err(Problem {
                at: open,
                message: format!("`{}`: {message}", restore::FLOAT_CONSTANT),
            })
        };
        let rest = &self.text[open..];
        let Some(close) = rest
            .find([')', ';'])
            .filter(|at| rest[*at..].starts_with(')'))
        else {
            return wrong("there is no `)` behind its arguments".to_owned());
        };
        let arguments = &rest[rest.find('(').map_or(0, |at| at + 1)..close];
        let parts: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let &[representation, width, value] = parts.as_slice() else {
            return wrong(format!(
                "it takes a representation, a width and a value, but has `{arguments}`"
            ));
        };
        if representation != "0" {
            return wrong(format!(
                "the representation is `{representation}`, and only 0 (IEEE 754) has a meaning"
            ));
        }
        let is_decimal = {
            let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
            digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        };
        let bits = match width {
            "32" => value
                .parse::<f32>()
                .ok()
                .filter(|value| value.is_finite())
                .map(|value| u64::from(value.to_bits())),
            "64" => value
                .parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .map(f64::to_bits),
            _ => return wrong(format!("the width is `{width}`, but must be 32 or 64")),
        };
        let Some(bits) = bits.filter(|_| is_decimal) else {
            return wrong(format!(
                "`{value}` is no decimal number of {width} bits, such as -2.01"
            ));
        };
        let from = open + close
            - rest[..close]
                .rsplit(',')
                .next()
                .map_or(0, |last| last.trim_start().len());
        self.blank(from..open + close);
        self.written[from] = b'0';
        self.lexer.jump(open + close + 1);
        Ok(bits)
    }

    fn blank(&mut self, range: Range<usize>) {
        for byte in &mut self.written[range] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    fn of(&self, token: Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    fn peek(&self, is: impl FnOnce(Kind) -> bool) -> bool {
        self.lexer.peek().is_some_and(|next| is(next.kind))
    }
}
