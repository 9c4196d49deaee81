//! What the source says of a statement or group, in a form that survives edits elsewhere.

use std::hash::Hasher as _;

use petal_metadata::{Id, Metadata, SourceFile, Span};
use siphasher::sip::SipHasher13;

/// The head of a statement: its text up to the brace or semicolon that ends it, in one line.
pub(super) fn head(metadata: &Metadata, span: Span) -> String {
    let text = from(&metadata.files[span.file.index()], span);
    let end = text.find(['{', ';']).unwrap_or(text.len());
    one_line(&text[..end])
}

/// A digest of the text of a group or component from its first to its last brace, which is the same
/// whatever its name, place and layout.
pub(super) fn digest_of_body(metadata: &Metadata, span: Span, name: &str) -> String {
    let text = from(&metadata.files[span.file.index()], span);
    let end = text.find('}').unwrap_or(text.len());
    // No name of Calyx is empty.
    digest(&rename(&one_line(&text[..end]), |word| {
        (word == name).then_some("")
    }))
}

/// A digest that is the same on every machine and with every compiler.
pub(super) fn digest(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

/// `text` with those of its identifiers changed that `to` gives another name.
pub(crate) fn rename<'a>(text: &'a str, to: impl Fn(&'a str) -> Option<&'a str>) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| part(c) != part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        renamed.push_str(to(word).unwrap_or(word));
        rest = after;
    }
    renamed
}

/// The text from the beginning of a span to the end of its last line.
fn from(file: &SourceFile, span: Span) -> String {
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let lines = index(span.end_line.saturating_sub(span.line)).saturating_add(1);
    let mut text = String::new();
    for (at, line) in file
        .text
        .lines()
        .skip(index(span.line.saturating_sub(1)))
        .take(lines)
        .enumerate()
    {
        let before = if at == 0 {
            index(span.column.saturating_sub(1))
        } else {
            0
        };
        text.extend(line.chars().skip(before));
        text.push('\n');
    }
    text
}

/// All white space as single spaces, and without control characters.
fn one_line(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|c| !c.is_control()).collect())
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_identifiers_are_renamed() {
        let to = |word: &str| (word == "put").then_some("set");
        assert_eq!(
            rename("put[done] = put_it.out & put; put-2 put", to),
            "set[done] = put_it.out & set; put-2 set"
        );
    }

    #[test]
    fn a_digest_is_the_same_everywhere() {
        assert_eq!(digest(""), "d1fba762150c532c");
    }

    #[test]
    fn the_text_begins_at_the_column_and_ends_with_the_span() {
        let file = SourceFile {
            name: "d.futil".to_owned(),
            root: true,
            text: "seq { ä; while lt.out\n    with cond { a; }\n}\n".to_owned(),
        };
        let span = Span {
            file: Id::from_index(0),
            line: 1,
            column: 10,
            end_line: 2,
        };
        assert_eq!(from(&file, span), "while lt.out\n    with cond { a; }\n");
        assert_eq!(
            one_line(" while  lt.out\n\twith\u{1b}cond "),
            "while lt.out withcond"
        );
    }
}
