//! What the source says of a statement or group, in a form that survives edits elsewhere.

use std::hash::Hasher as _;

use petal_metadata::{Id, Metadata, SourceFile, Span};
use siphasher::sip::SipHasher13;

/// The source files, by line.
pub struct Sources<'a> {
    files: Vec<Vec<&'a str>>,
}

impl<'a> Sources<'a> {
    /// The source files of a design.
    pub fn new(metadata: &'a Metadata) -> Self {
        let lines = |file: &'a SourceFile| file.text.lines().collect();
        Self {
            files: metadata.files.iter().map(lines).collect(),
        }
    }

    /// The head of a statement: its text up to the brace or semicolon that ends it, in one line.
    pub fn head(&self, span: Span) -> String {
        let text = self.from(span);
        let end = text.find(['{', ';']).unwrap_or(text.len());
        one_line(&text[..end])
    }

    /// What a statement with this keyword says besides it and what computes its condition: `lt.out` of
    /// `while lt.out with cond {`. `None` if that is nothing.
    pub fn words(&self, span: Span, keyword: &str) -> Option<String> {
        const LONGEST: usize = 40;
        let head = self.head(span);
        let words: Vec<&str> = head
            .split(' ')
            .skip_while(|word| *word != keyword)
            .skip(1)
            .take_while(|word| *word != "with")
            .collect();
        let words = words.join(" ");
        let words = words.split(['(', '[']).next()?.trim_end();
        let words: String = words.chars().take(LONGEST).collect();
        (!words.is_empty()).then_some(words)
    }

    /// A digest of the text of a group up to its closing brace, which is the same whatever its name,
    /// place and layout.
    pub fn digest_of_body(&self, span: Span, name: &str) -> String {
        let text = self.from(span);
        let end = text.find('}').unwrap_or(text.len());
        // No name of Calyx is empty.
        digest(&rename(&one_line(&text[..end]), |word| {
            (word == name).then_some("")
        }))
    }

    /// The text from the beginning of a span to the end of its last line.
    fn from(&self, span: Span) -> String {
        let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let lines = index(span.end_line.saturating_sub(span.line)).saturating_add(1);
        let lines = self.files[span.file.index()]
            .iter()
            .skip(index(span.line.saturating_sub(1)))
            .take(lines);
        let mut text = String::new();
        let mut before = index(span.column.saturating_sub(1));
        for line in lines {
            text.extend(line.chars().skip(before));
            text.push('\n');
            before = 0;
        }
        without_positions(&text)
    }
}

/// `text` without the sets of positions that a front end writes (`@pos{3}`, `<"pos"={3}>`): they are other ones
/// whenever it runs.
fn without_positions(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    let sets = ["@pos", "\"pos\""];
    while let Some((at, set)) = sets
        .iter()
        .filter_map(|set| Some((rest.find(set)?, set)))
        .min()
    {
        let (before, after) = rest.split_at(at);
        kept.push_str(before);
        let ids = after[set.len()..].trim_start_matches([' ', '=']);
        rest = match ids.strip_prefix('{').and_then(|ids| ids.split_once('}')) {
            Some((_, after)) => after,
            None => {
                kept.push_str(set);
                &after[set.len()..]
            }
        };
    }
    kept.push_str(rest);
    kept.replace("<>", "")
}

/// A digest that is the same on every machine and with every compiler.
pub fn digest(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

/// `text` with those of its identifiers changed that `to` gives another name.
pub fn rename<'a>(text: &'a str, to: impl Fn(&'a str) -> Option<&'a str>) -> String {
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
    fn statements_have_words() {
        for (text, keyword, words) in [
            ("if eq.out with cond {", "if", Some("eq.out")),
            ("@bound(3) while\n  lt.out {", "while", Some("lt.out")),
            ("static<4> repeat 10 { a; }", "repeat", Some("10")),
            ("invoke f[m = mem](x = a.out)();", "invoke", Some("f")),
            ("seq { a; }", "seq", None),
            ("", "if", None),
        ] {
            let sources = Sources {
                files: vec![text.lines().collect()],
            };
            let span = Span {
                file: Id::from_index(0),
                line: 1,
                column: 1,
                end_line: 2,
            };
            assert_eq!(sources.words(span, keyword).as_deref(), words, "{text}");
        }
    }

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
        let text = "seq { ä; while lt.out\n    with cond { a; }\n}\n";
        let sources = Sources {
            files: vec![text.lines().collect()],
        };
        let span = Span {
            file: Id::from_index(0),
            line: 1,
            column: 10,
            end_line: 2,
        };
        assert_eq!(sources.from(span), "while lt.out\n    with cond { a; }\n");
        assert_eq!(sources.head(span), "while lt.out with cond");
        assert_eq!(
            one_line(" while  lt.out\n\twith\u{1b}cond "),
            "while lt.out withcond"
        );
    }

    #[test]
    fn positions_are_no_part_of_what_a_group_says() {
        let plain = "group g {\n r.in = 8'd1; }";
        for placed in [
            "group g<\"pos\"={7}> {\n r.in = 8'd1; }",
            "group g<\"pos\" = {7, 12}> {\n r.in = 8'd1; }",
        ] {
            assert_eq!(without_positions(placed), plain);
        }
        assert_eq!(without_positions("@pos{1} g;"), " g;");
        assert_eq!(without_positions("group \"pos\" {"), "group \"pos\" {");
    }
}
