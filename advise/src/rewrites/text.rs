//! The text of a Calyx file as tokens: where statements begin and end, and how to put something around them.

use std::ops::Range;

use petal_program::lexer::{Kind, Lexer, Token};

use super::edit::Edit;

/// A Calyx file.
pub(super) struct Text<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Text<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            tokens: Lexer::new(text).collect(),
        }
    }

    pub fn of(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    fn word(&self, token: Token) -> Option<&'a str> {
        (token.kind == Kind::Word).then(|| &self.text[token.start..token.end])
    }

    /// The tokens in a part of the text.
    pub fn tokens(&self, range: Range<usize>) -> &[Token] {
        let from = self
            .tokens
            .partition_point(|token| token.start < range.start);
        let to = self.tokens.partition_point(|token| token.start < range.end);
        &self.tokens[from..to.max(from)]
    }

    /// A part of the text without white space and comments at its ends, and without the attributes of what follows.
    pub fn without_space(&self, range: Range<usize>) -> Range<usize> {
        let first = self
            .tokens
            .partition_point(|token| token.start < range.start);
        let mut end = self.tokens.partition_point(|token| token.start < range.end);
        while let Some(before) = self.attribute_before(end).filter(|before| *before > first) {
            end = before;
        }
        match self.tokens.get(first..end) {
            Some([first, .., last]) => first.start..last.end,
            Some([only]) => only.start..only.end,
            _ => range.start..range.start,
        }
    }

    /// What a statement begins with, up to its first bracket: without attributes and comments, on one line.
    pub fn head(&self, statement: Range<usize>) -> String {
        let mut tokens = self.tokens(statement);
        while let [at, name, rest @ ..] = tokens
            && at.kind == Kind::Mark(b'@')
            && name.kind == Kind::Word
        {
            let value = rest.first().map(|token| token.kind);
            let closing = match value {
                Some(Kind::Mark(b'(')) => Some(b')'),
                Some(Kind::Mark(b'{')) => Some(b'}'),
                _ => None,
            };
            let end = closing.and_then(|closing| {
                let mut rest = rest.iter();
                rest.position(|token| token.kind == Kind::Mark(closing))
            });
            tokens = end.map_or(rest, |end| &rest[end + 1..]);
        }
        let mut head = String::new();
        let mut end = None;
        for token in tokens {
            if matches!(token.kind, Kind::Mark(b'{' | b';' | b'(' | b'[')) {
                break;
            }
            if end.is_some_and(|end| end < token.start) {
                head.push(' ');
            }
            head += &self.text[token.start..token.end];
            end = Some(token.end);
        }
        head
    }

    /// The first of these words in a part of the text.
    pub fn find(&self, range: Range<usize>, word: &str) -> Option<Range<usize>> {
        let mut tokens = self.tokens(range).iter();
        let token = tokens.find(|token| self.word(**token) == Some(word))?;
        Some(token.start..token.end)
    }

    /// The first of these bytes in a part of the text, outside of words, strings and comments.
    pub fn mark(&self, range: Range<usize>, byte: u8) -> Option<usize> {
        let mut tokens = self.tokens(range).iter();
        Some(tokens.find(|token| token.kind == Kind::Mark(byte))?.start)
    }

    /// The `{` with which the body of a group begins: not one in its attributes.
    pub fn body(&self, group: Range<usize>) -> Option<usize> {
        let mut in_attributes = false;
        for token in self.tokens(group) {
            match token.kind {
                Kind::Mark(b'<') => in_attributes = true,
                Kind::Mark(b'>') => in_attributes = false,
                Kind::Mark(b'{') if !in_attributes => return Some(token.start),
                _ => {}
            }
        }
        None
    }

    /// An attribute of a group in the text before its body, with what is around it if there is no other one.
    pub fn attribute(&self, head: Range<usize>, name: &str) -> Option<Range<usize>> {
        let tokens = self.tokens(head);
        let quoted = format!("\"{name}\"");
        let is_it = |token: &Token| self.text[token.start..token.end] == quoted;
        let at = tokens.iter().position(is_it)?;
        let is_mark = |at: Option<usize>, byte: u8| {
            at.and_then(|at| tokens.get(at))
                .is_some_and(|token| token.kind == Kind::Mark(byte))
        };
        let (before, value, after) = (at.checked_sub(1)?, at + 2, at + 3);
        let [before, after] = if is_mark(Some(after), b',') && !is_mark(Some(after + 1), b'>') {
            // The next one takes its place.
            return Some(tokens[at].start..tokens.get(after + 1)?.start);
        } else if is_mark(Some(before), b',') {
            [before, value]
        } else if is_mark(Some(after), b',') {
            [before, after + 1]
        } else {
            [before, after]
        };
        Some(tokens[before].start..tokens.get(after)?.end)
    }

    /// The `with NAME` in a part of the text, with the white space before it.
    pub fn with(&self, range: Range<usize>) -> Option<Range<usize>> {
        let tokens = self.tokens(range);
        let at = tokens
            .iter()
            .position(|token| self.word(*token) == Some("with"))?;
        let start = at
            .checked_sub(1)
            .map_or(tokens[at].start, |before| tokens[before].end);
        Some(start..tokens.get(at + 1)?.end)
    }

    /// Where the attributes of a statement begin that is at `start` without them.
    pub fn with_attributes(&self, start: usize) -> usize {
        let mut at = self.tokens.partition_point(|token| token.start < start);
        while let Some(before) = self.attribute_before(at) {
            at = before;
        }
        self.tokens.get(at).map_or(start, |token| token.start)
    }

    /// The token at which an attribute begins that ends before the token `at`: `@name`, `@name(…)` or `@name{…}`.
    fn attribute_before(&self, at: usize) -> Option<usize> {
        let kind = |at: usize| self.tokens.get(at).map(|token| token.kind);
        let mut at = at.checked_sub(1)?;
        let open = match kind(at)? {
            Kind::Mark(b')') => Some(b'('),
            Kind::Mark(b'}') => Some(b'{'),
            _ => None,
        };
        if let Some(open) = open {
            while kind(at)? != Kind::Mark(open) {
                at = at.checked_sub(1)?;
                if !matches!(kind(at)?, Kind::Word | Kind::Mark(b',' | b'(' | b'{')) {
                    return None;
                }
            }
            at = at.checked_sub(1)?;
        }
        let mark = at.checked_sub(1)?;
        (kind(at)? == Kind::Word && kind(mark)? == Kind::Mark(b'@')).then_some(mark)
    }

    /// The white space that the line of an offset begins with.
    pub fn indent(&self, offset: usize) -> &'a str {
        let begin = self.line(offset);
        let line = &self.text[begin..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The offset at which the line of an offset begins.
    fn line(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |end| end + 1)
    }

    /// The offsets at which lines begin in a part of the text, but for the one that it begins in.
    fn lines(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        let breaks = self.text[range.clone()].match_indices('\n');
        breaks.map(move |(at, _)| range.start + at + 1)
    }

    /// The comments in a part of the text.
    pub fn comments(&self, range: Range<usize>) -> Vec<&'a str> {
        let tokens = self.tokens(range.clone()).iter();
        let mut ends = vec![range.start];
        ends.extend(tokens.clone().map(|token| token.end));
        let starts = tokens.map(|token| token.start).chain([range.end]);
        let between = ends.into_iter().zip(starts);
        let lines = between.flat_map(|(end, start)| self.text[end..start.max(end)].lines());
        let lines = lines.map(str::trim);
        lines.filter(|line| !line.is_empty()).collect()
    }

    /// The text between the braces behind the first of these words in a part of the text.
    pub fn section(&self, range: Range<usize>, word: &str) -> Option<usize> {
        let word = self.find(range.clone(), word)?;
        Some(self.mark(word.end..range.end, b'{')? + 1)
    }

    /// Puts `head { … }` around a part of the text.
    pub fn wrap(&self, range: Range<usize>, head: &str, edits: &mut Vec<Edit>) {
        let Range { start, end } = range;
        let indent = self.indent(start);
        if self.is_first(start) {
            edits.push(Edit::insert(start, format!("{head} {{\n{indent}  ")));
            edits.extend(self.lines(range).map(|line| Edit::insert(line, "  ")));
            edits.push(Edit::insert(end, format!("\n{indent}}}")));
        } else {
            edits.push(Edit::insert(start, format!("{head} {{ ")));
            edits.push(Edit::insert(end, " }"));
        }
    }

    /// Takes away what is around a part of the text: all of `around` but `inner`. Comments there stay.
    pub fn unwrap(&self, around: Range<usize>, inner: Range<usize>, edits: &mut Vec<Edit>) {
        let same_line = self.line(around.start) == self.line(inner.start);
        let deeper = if same_line {
            0
        } else {
            let by = self.indent(inner.start).len();
            by.saturating_sub(self.indent(around.start).len())
        };
        for range in [around.start..inner.start, inner.end..around.end] {
            if self.has_comment(&range) {
                let tokens = self.tokens(range).iter();
                edits.extend(tokens.map(|token| Edit::replace(token.start..token.end, "")));
            } else {
                edits.push(Edit::replace(range, ""));
            }
        }
        for line in self.lines(inner) {
            let spaces = self.indent(line).len().min(deeper);
            if spaces > 0 {
                edits.push(Edit::replace(line..line + spaces, ""));
            }
        }
    }

    /// Where the ports of a cell are named in a part of the text: its name, each time.
    pub fn references(&self, range: Range<usize>, cell: &str) -> Vec<Range<usize>> {
        let pairs = self.tokens(range).windows(2);
        let named = pairs
            .filter(|pair| self.word(pair[0]) == Some(cell) && pair[1].kind == Kind::Mark(b'.'));
        named.map(|pair| pair[0].start..pair[0].end).collect()
    }

    /// The first place in a part of the text where a port of a cell is named: the cell, the port.
    pub fn port(&self, range: Range<usize>, cell: &str, port: &str) -> Option<Range<usize>> {
        let mut names = self.tokens(range).windows(3);
        let named = names.find(|names| {
            self.word(names[0]) == Some(cell)
                && names[1].kind == Kind::Mark(b'.')
                && self.word(names[2]) == Some(port)
        })?;
        Some(named[0].start..named[2].end)
    }

    /// The assignments to the `done` of a group in a part of the text: its name, and the whole with its `;`.
    pub fn dones(&self, range: Range<usize>, group: &str) -> Vec<[Range<usize>; 2]> {
        let tokens = self.tokens(range);
        let begins = tokens.windows(5).enumerate().filter(|(_, tokens)| {
            self.word(tokens[0]) == Some(group)
                && tokens[1].kind == Kind::Mark(b'[')
                && self.word(tokens[2]) == Some("done")
                && tokens[3].kind == Kind::Mark(b']')
                && tokens[4].kind == Kind::Mark(b'=')
        });
        let whole = begins.filter_map(|(at, begin)| {
            let mut rest = tokens[at..].iter();
            let end = rest.find(|token| token.kind == Kind::Mark(b';'))?;
            Some([begin[0].start..begin[0].end, begin[0].start..end.end])
        });
        whole.collect()
    }

    /// What a port of a cell is given in a part of the text, each time: behind the `=` up to the `;`, and the whole.
    pub fn given(&self, range: Range<usize>, cell: &str, port: &str) -> Vec<[Range<usize>; 2]> {
        let tokens = self.tokens(range);
        let begins = tokens.windows(5).enumerate().filter(|(_, tokens)| {
            self.word(tokens[0]) == Some(cell)
                && tokens[1].kind == Kind::Mark(b'.')
                && self.word(tokens[2]) == Some(port)
                && tokens[3].kind == Kind::Mark(b'=')
                && tokens[4].kind != Kind::Mark(b'=')
        });
        let whole = begins.filter_map(|(at, begin)| {
            let mut rest = tokens[at..].iter();
            let end = rest.find(|token| token.kind == Kind::Mark(b';'))?;
            Some([begin[4].start..end.start, begin[0].start..end.end])
        });
        whole.collect()
    }

    /// The end of a declaration with its `;`.
    pub fn with_semicolon(&self, declaration: &Range<usize>) -> usize {
        let next = self
            .tokens
            .partition_point(|token| token.start < declaration.end);
        let next = self.tokens.get(next);
        let next = next.filter(|token| token.kind == Kind::Mark(b';'));
        next.map_or(declaration.end, |token| token.end)
    }

    /// Where the import of a file ends.
    pub fn import(&self, path: &str) -> Option<usize> {
        let mut parts = self.tokens.windows(3);
        parts.find_map(|parts| {
            let file = &self.text[parts[1].start..parts[1].end];
            let is_it = self.word(parts[0]) == Some("import")
                && file.trim_matches('"') == path
                && parts[2].kind == Kind::Mark(b';');
            is_it.then_some(parts[2].end)
        })
    }

    /// What puts something behind a declaration: on a line of its own if the declaration has one.
    pub fn behind(&self, declaration: &Range<usize>, text: &str) -> Edit {
        let end = self.with_semicolon(declaration);
        let rest = self.text[end..].lines().next().unwrap_or_default();
        let indent = self.indent(declaration.start);
        if rest.trim().is_empty() && self.is_first(declaration.start) {
            Edit::insert(end, format!("\n{indent}{text}"))
        } else {
            Edit::insert(end, format!(" {text}"))
        }
    }

    /// What puts something behind the `{` that ends at an offset: on a line of its own if what follows is on another one.
    pub fn within(&self, open: usize, text: &str) -> Edit {
        let next = self.tokens.partition_point(|token| token.start < open);
        let next = self.tokens.get(next).map_or(open, |token| token.start);
        if self.line(next) > open {
            Edit::insert(open, format!("\n{}{text}", self.indent(next)))
        } else {
            Edit::insert(open, format!(" {text}"))
        }
    }

    /// What stands before a statement at an offset: a new line with its white space, or a space if it is not the first one on its line.
    pub fn lead(&self, offset: usize) -> String {
        if self.is_first(offset) {
            format!("\n{}", self.indent(offset))
        } else {
            " ".to_owned()
        }
    }

    /// What ends the line of an offset, or if it is the last one the line before it.
    pub fn line_end(&self, offset: usize) -> &'static str {
        let after = self.text[offset..].find('\n').map(|at| offset + at);
        let end = after.or_else(|| self.text[..offset].rfind('\n'));
        let has_return = end.is_some_and(|end| self.text[..end].ends_with('\r'));
        if has_return { "\r\n" } else { "\n" }
    }

    /// Whether there is nothing before an offset on its line.
    fn is_first(&self, offset: usize) -> bool {
        self.line(offset) + self.indent(offset).len() == offset
    }

    /// A part of the text with the white space before it: a whole line, if it has that for itself. What stands behind it on its
    /// line, such as a comment, takes its place.
    pub fn with_space(&self, range: Range<usize>) -> Range<usize> {
        let after = &self.text[range.end..];
        let rest = after.lines().next().unwrap_or_default();
        if self.is_first(range.start) {
            if rest.trim().is_empty() {
                let end =
                    range.end + rest.len() + usize::from(after[rest.len()..].starts_with('\r'));
                return self.line(range.start).saturating_sub(1)..end;
            }
            return range.start..range.end + rest.len() - rest.trim_start().len();
        }
        let before = self.text[..range.start].trim_end_matches([' ', '\t']);
        before.len()..range.end
    }

    /// Takes away statements, in the order of the text, with the white space that they leave.
    pub fn without(&self, statements: &[Range<usize>]) -> Vec<Edit> {
        let mut gone: Vec<Range<usize>> = Vec::new();
        for statement in statements {
            let range = self.with_space(statement.clone());
            match gone.last_mut() {
                Some(last) if range.start <= last.end => last.end = range.end,
                _ => gone.push(range),
            }
        }
        gone.into_iter()
            .map(|range| Edit::replace(range, ""))
            .collect()
    }

    /// Whether there is a comment between two statements or around them.
    pub fn has_comment(&self, range: &Range<usize>) -> bool {
        let text = &self.text[range.clone()];
        text.contains("//") || text.contains("/*")
    }
}
