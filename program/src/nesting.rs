//! How deep a source nests. The Calyx compiler calls itself for every level, and a stack is finite.

use crate::error::ProgramError;

/// Levels of blocks and parentheses: more than people write.
const MAX_LEVELS: usize = 1000;

/// Operators of one guard, which the compiler takes for as many levels, and links of one chain of
/// `else if`.
const MAX_OPERATORS: usize = 20_000;

/// Refuses a source for which no stack is deep enough; `error` makes an error of its line, counted
/// from 1, and of the problem.
pub(crate) fn check(
    source: &[u8],
    error: impl FnOnce(usize, String) -> ProgramError,
) -> Result<(), ProgramError> {
    // For each open level, the operators and `else`s since the statement began.
    let mut levels = vec![0usize];
    let mut at = 0;
    // Whether a block was closed just before.
    let mut closed = false;
    while let Some(&byte) = source.get(at) {
        let rest = &source[at..];
        let length = match byte {
            b'"' => past(&rest[1..], b"\"") + 1,
            b'/' if rest.starts_with(b"//") => past(rest, b"\n"),
            b'/' if rest.starts_with(b"/*") => past(rest, b"*/"),
            _ => {
                let word = rest.iter().take_while(|byte| is_of_word(**byte)).count();
                word.max(1)
            }
        };
        at += length;
        let token = &rest[..length];
        let in_statement = levels.last_mut();
        match (token, in_statement) {
            (b"{" | b"(", _) => levels.push(0),
            // The parser reports what is closed too often.
            (b"}" | b")", _) => {
                levels.pop();
            }
            (b"&" | b"|" | b"!", Some(count)) => *count += 1,
            (b"else", Some(count)) if closed => *count += 1,
            (b";", Some(count)) => *count = 0,
            (word, Some(count)) if closed && is_of_word(word[0]) => *count = 0,
            _ => {}
        }
        if !byte.is_ascii_whitespace() && byte != b'/' {
            closed = byte == b'}';
        }
        let problem = if levels.len() > MAX_LEVELS + 1 {
            format!("more than {MAX_LEVELS} levels of blocks or parentheses")
        } else if levels.last().is_some_and(|count| *count > MAX_OPERATORS) {
            format!("more than {MAX_OPERATORS} operators or `else`s in one statement")
        } else {
            continue;
        };
        let before = &source[..at];
        let line = before.split(|byte| *byte == b'\n').count();
        return Err(error(line, problem));
    }
    Ok(())
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'\'')
}

/// The length of `text` up to the end of `end`.
fn past(text: &[u8], end: &[u8]) -> usize {
    let position = text.windows(end.len()).position(|window| window == end);
    position.map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn line_of(source: &str) -> Option<usize> {
        let mut refused = None;
        let _ = check(source.as_bytes(), |line, problem| {
            refused = Some(line);
            ProgramError::Nested {
                path: PathBuf::new(),
                line,
                problem,
            }
        });
        refused
    }

    #[test]
    fn what_nests_too_deep() {
        let blocks = |count| format!("{}{}", "seq {\n".repeat(count), "}".repeat(count));
        assert_eq!(line_of(&blocks(MAX_LEVELS)), None);
        assert_eq!(line_of(&blocks(MAX_LEVELS + 1)), Some(MAX_LEVELS + 1));
        assert_eq!(line_of(&"(".repeat(MAX_LEVELS + 1)), Some(1));
        assert_eq!(line_of(&"{}".repeat(MAX_LEVELS + 1)), None);
        assert_eq!(line_of(&"// {\n/* { */ \"{\"".repeat(MAX_LEVELS + 1)), None);
    }

    #[test]
    fn what_is_too_long() {
        assert_eq!(line_of(&"a & b | ".repeat(MAX_OPERATORS / 2)), None);
        assert_eq!(
            line_of(&"a & b |\n".repeat(MAX_OPERATORS)),
            Some(MAX_OPERATORS / 2 + 1)
        );
        assert_eq!(line_of(&"a & b;".repeat(MAX_OPERATORS + 1)), None);
        assert_eq!(
            line_of(&"if a { b; } else ".repeat(MAX_OPERATORS + 1)),
            Some(1)
        );
        let separate = "if a { b; } else { c; } ".repeat(MAX_OPERATORS + 1);
        assert_eq!(line_of(&separate), None);
    }
}
