//! How deep a source nests. The Calyx compiler calls itself for every level, and a stack is finite.

use crate::error::PassesError;

/// Levels of blocks and parentheses: more than people write.
const DEEPEST: usize = 1000;

/// Operators of one guard, which the compiler takes for as many levels, and links of one chain of
/// `else if`.
const LONGEST: usize = 20_000;

/// Refuses a source for which no stack is deep enough; `told` makes the error of its line, counted
/// from 1, and of what is wrong.
pub(crate) fn check(
    source: &[u8],
    told: impl FnOnce(usize, String) -> PassesError,
) -> Result<(), PassesError> {
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
            // What is closed too often is the parser's to tell.
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
        let problem = if levels.len() > DEEPEST + 1 {
            format!("more than {DEEPEST} levels of blocks or parentheses")
        } else if levels.last().is_some_and(|count| *count > LONGEST) {
            format!("more than {LONGEST} operators or `else`s in one statement")
        } else {
            continue;
        };
        let before = &source[..at];
        let line = before.split(|byte| *byte == b'\n').count();
        return Err(told(line, problem));
    }
    Ok(())
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'\'')
}

/// The length of `text` up to the end of `end`.
fn past(text: &[u8], end: &[u8]) -> usize {
    let found = text.windows(end.len()).position(|window| window == end);
    found.map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(source: &str) -> Option<usize> {
        let mut found = None;
        let _ = check(source.as_bytes(), |line, problem| {
            found = Some(line);
            PassesError::Pipeline(problem)
        });
        found
    }

    #[test]
    fn what_nests_too_deep() {
        let blocks = |count| format!("{}{}", "seq {\n".repeat(count), "}".repeat(count));
        assert_eq!(line_of(&blocks(DEEPEST)), None);
        assert_eq!(line_of(&blocks(DEEPEST + 1)), Some(DEEPEST + 1));
        assert_eq!(line_of(&"(".repeat(DEEPEST + 1)), Some(1));
        assert_eq!(line_of(&"{}".repeat(DEEPEST + 1)), None);
        assert_eq!(line_of(&"// {\n/* { */ \"{\"".repeat(DEEPEST + 1)), None);
    }

    #[test]
    fn what_is_too_long() {
        assert_eq!(line_of(&"a & b | ".repeat(LONGEST / 2)), None);
        assert_eq!(line_of(&"a & b |\n".repeat(LONGEST)), Some(LONGEST / 2 + 1));
        assert_eq!(line_of(&"a & b;".repeat(LONGEST + 1)), None);
        assert_eq!(line_of(&"if a { b; } else ".repeat(LONGEST + 1)), Some(1));
        let separate = "if a { b; } else { c; } ".repeat(LONGEST + 1);
        assert_eq!(line_of(&separate), None);
    }
}
