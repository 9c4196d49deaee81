//! What is wrong with an observation, and where.

use std::fmt;
use std::ops::Range;

use crate::text::Text;

/// What is wrong with an expression, with the place in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The text of the expression.
    pub text: String,
    /// The bytes of the text that are wrong.
    pub span: Range<usize>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut start, mut line) = (0, "");
        for next in self.text.split_inclusive('\n') {
            line = next.trim_end();
            if self.span.start < start + next.len() {
                break;
            }
            start += next.len();
        }
        let before = self.span.start.saturating_sub(start).min(line.len());
        let end = self
            .span
            .end
            .saturating_sub(start)
            .clamp(before, line.len());
        let indent = line[..before].chars().count();
        let carets = line[before..end].chars().count().max(1);
        write!(
            f,
            "{}\n  {line}\n  {:indent$}{}",
            self.message,
            "",
            "^".repeat(carets)
        )?;
        match &self.help {
            Some(help) => write!(f, "\n  {help}"),
            None => Ok(()),
        }
    }
}

/// What is wrong with a request: the text that it is in, and the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Refused {
    /// The text of the request, which tells whether it is from a file.
    pub text: Text,
    /// What is wrong.
    pub problem: Problem,
}
