//! What is missing where the parser stops: a `;` or a `}`, at its own place, which the parser does not tell.
//!
//! Owns the guesses. Each is tried: one is told only if the parser gets further with it.

use crate::refusal::Told;
use crate::syntax;

/// The byte at which the parser stops; `None` if it reads all of the text.
type Stop = Option<usize>;

/// What is missing in `text`, the file `path`, which the parser reads as far as `stop`. `parse` tries another text.
pub(crate) fn missing(
    path: &str,
    text: &str,
    stop: usize,
    parse: impl Fn(&str) -> Stop,
) -> Option<String> {
    // What is inserted has no line of its own: places are compared by their lines.
    let helps = |at: usize, insert: &str| {
        let tried = [&text[..at], insert, &text[at..]].concat();
        let line = |text: &str, at: usize| syntax::line(text, at.min(text.len()));
        parse(&tried).is_none_or(|next| line(&tried, next) > line(text, stop.max(at)))
    };
    let told = |at: usize, message: String| {
        // The place is behind what stands before it.
        let last = text[..at].chars().next_back().map_or(0, char::len_utf8);
        Some(Told::at(path, text, at - last, last, message).to_string())
    };
    let line_end = text[stop..].find('\n').map_or(text.len(), |end| stop + end);
    let block_end = text[stop..].find('}').map_or(text.len(), |end| stop + end);
    let ends = [stop, line_end, block_end].map(|end| end_of_code(&text[..end]));
    for end in ends.into_iter().flatten() {
        if !text[..end].ends_with([';', '{', '}']) && helps(end, ";") {
            return told(end, "a `;` is missing behind this".to_owned());
        }
    }
    let Unclosed { open, before } = unclosed(text)?;
    let end = end_of_code(&text[..before])?;
    helps(before, "} ").then_some(())?;
    let line = syntax::line(text, open);
    told(
        end,
        format!("a `}}` is missing behind this: the `{{` of line {line} has none"),
    )
}

/// Where the last code of a text ends: without blanks and comments to the end of a line.
fn end_of_code(text: &str) -> Option<usize> {
    let mut end = text.len();
    for line in text.split_inclusive('\n').rev() {
        let begin = end - line.len();
        let code = line.split("//").next().unwrap_or_default().trim_end();
        if !code.is_empty() {
            return Some(begin + code.len());
        }
        end = begin;
    }
    None
}

/// A `{` that has no `}`, if the text is indented.
struct Unclosed {
    /// Where it is.
    open: usize,
    /// The beginning of the line before which its `}` should be.
    before: usize,
}

/// The first `{` before whose `}` a line is indented less than what is inside of it may be.
fn unclosed(text: &str) -> Option<Unclosed> {
    let mut stack: Vec<(usize, usize)> = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        let rest = code.trim_start();
        let indent = code.len() - rest.len();
        if !rest.trim_end().is_empty() {
            let closes = rest.starts_with('}');
            if let Some(&(open, outer)) = stack.last()
                && (indent < outer || (indent == outer && !closes))
            {
                return Some(Unclosed {
                    open,
                    before: begin,
                });
            }
        }
        for (at, c) in code.char_indices() {
            match c {
                '{' => stack.push((begin + at, indent)),
                '}' => drop(stack.pop()),
                _ => {}
            }
        }
        begin += line.len();
    }
    let (open, _) = stack.pop()?;
    Some(Unclosed {
        open,
        before: text.len(),
    })
}
