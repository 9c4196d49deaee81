//! The tokens of a Calyx file, as far as it takes to tell code from strings, comments and tables.
//!
//! Owns where a token begins and ends. Knows no grammar.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier, a keyword or a number.
    Word,
    /// A string with its quotes.
    Text,
    /// A table: `#{ … }#`.
    Block,
    /// Any other byte.
    Mark(u8),
}

/// A token, as a half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset behind its last one.
    pub end: usize,
}

/// Reads tokens one by one. What is never closed reaches to the end of the file.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Reads a text from its beginning.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The token after the one that was read last.
    pub fn peek(&self) -> Option<Token> {
        self.clone().next()
    }

    /// Goes on at this offset.
    pub fn jump(&mut self, offset: usize) {
        self.at = offset;
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The offset behind the next `end`, looked for `skipped` bytes from here on.
    fn behind(&self, skipped: usize, end: &[u8]) -> usize {
        let from = self.at + skipped;
        let bytes = &self.text.as_bytes()[from..];
        let place = bytes.windows(end.len()).position(|window| window == end);
        place.map_or(self.text.len(), |place| from + place + end.len())
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = self.rest();
            let start = self.at;
            let (kind, end) = match *rest.first()? {
                byte if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                b'/' if rest.starts_with(b"//") => {
                    self.at = self.behind(2, b"\n");
                    continue;
                }
                b'/' if rest.starts_with(b"/*") => {
                    self.at = self.behind(2, b"*/");
                    continue;
                }
                b'"' => (Kind::Text, self.behind(1, b"\"")),
                b'#' if rest.starts_with(b"#{") => (Kind::Block, self.behind(2, b"}#")),
                byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                    let of_word = |byte: &&u8| {
                        byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'-' | b'\'')
                    };
                    let length = rest.iter().take_while(of_word).count();
                    (Kind::Word, start + length)
                }
                byte => (Kind::Mark(byte), start + 1),
            };
            self.at = end;
            return Some(Token { kind, start, end });
        }
    }
}
