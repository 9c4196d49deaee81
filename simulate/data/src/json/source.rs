//! The text of a data file that is being read, and the places of its parts in it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use serde::de::Deserialize;

use crate::Error;
use crate::problem::Position;

/// The numbers that JSON has no words for, as Python's `json` module writes them.
const SPECIAL: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The text of a data file with a string as long for each [`SPECIAL`] value in a list, or in an object where only the
/// words of a memory can be. Anywhere else they stay what JSON refuses.
pub(super) fn quote_special(text: &str) -> Cow<'_, str> {
    /// The braces around the words of a memory that is given by indices.
    const AROUND_WORDS: usize = 4;
    if !SPECIAL.iter().any(|special| text.contains(special)) {
        return Cow::Borrowed(text);
    }
    let of_word = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    let mut quoted = String::with_capacity(text.len());
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            c if of_word(c) => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        match first {
            '[' | '{' => open.push(first),
            ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
        let can_be_value = match open.last() {
            Some('[') => true,
            _ => open.len() >= AROUND_WORDS,
        };
        if can_be_value && SPECIAL.contains(&token) {
            // Writing to a String cannot fail.
            let _ = write!(quoted, "\"{}\"", "_".repeat(token.len() - 2));
        } else {
            quoted.push_str(token);
        }
        rest = behind;
    }
    Cow::Owned(quoted)
}

/// How long the string is that `text` begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text[1..].find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The text of a data file, of which all parts are slices.
pub(super) struct Source<'a> {
    pub text: &'a str,
    /// As the user has it: as long, but with [`SPECIAL`] values.
    pub user: &'a str,
    pub origin: &'a Path,
}

impl<'a> Source<'a> {
    /// Reads a part of the text.
    pub fn read<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, Error> {
        self.read_or(part, |message| message)
    }

    /// Reads a part of the text, with a message of one's own if it is not of the right form.
    pub fn read_or<T: Deserialize<'a>>(
        &self,
        part: &'a str,
        explain: impl FnOnce(String) -> String,
    ) -> Result<T, Error> {
        serde_json::from_str(part).map_err(|error| {
            let start = self.position(part);
            let position = match error.line() {
                // An error without a place is about the part as a whole.
                0 => start,
                1 => Position {
                    line: start.line,
                    column: start.column + error.column().saturating_sub(1),
                },
                line => Position {
                    line: start.line + line - 1,
                    column: error.column().max(1),
                },
            };
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(message, _)| message);
            let special = SPECIAL.into_iter().find(|special| {
                let line = self.text.lines().nth(position.line - 1);
                line.and_then(|line| line.get(position.column - 1..))
                    .is_some_and(|rest| rest.starts_with(special))
            });
            let message = match special {
                Some(special) => format!("`{special}` can only be a value of a memory"),
                None => message.to_owned(),
            };
            self.error(position, explain(message))
        })
    }

    /// The bytes of the text that a part of it is.
    pub fn range(&self, part: &str) -> Range<usize> {
        let offset = part.as_ptr().addr() - self.text.as_ptr().addr();
        offset..offset + part.len()
    }

    /// Where a part of the text begins.
    pub fn position(&self, part: &str) -> Position {
        Position::of(self.text, self.range(part).start)
    }

    pub fn error(&self, position: Position, message: String) -> Error {
        Error::Json {
            path: self.origin.to_owned(),
            line: position.line,
            column: position.column,
            message,
        }
    }
}
