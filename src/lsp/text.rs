//! The text of a document, whose lines keep their identities while it is edited.
//!
//! Owns what a position means, and which lines of an earlier text are still there. Knows nothing of what they cost.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How many earlier texts are remembered.
const REMEMBERED: usize = 64;

/// In what the characters of a position are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16, which is what every client knows.
    #[default]
    Utf16,
}

impl Encoding {
    /// What the protocol calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }

    /// How long a text is.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
        }
    }

    /// The byte of a text at which so much of it has passed; never within a character, nor beyond its end.
    pub fn byte(self, text: &str, length: usize) -> usize {
        let mut passed = 0;
        for (at, c) in text.char_indices() {
            if passed >= length {
                return at;
            }
            passed += match self {
                Self::Utf8 => c.len_utf8(),
                Self::Utf16 => c.len_utf16(),
            };
        }
        text.len()
    }
}

/// A place in a document: line and character, counted from 0.
pub type Position = (usize, usize);

/// What is known of a text, by which it is recognised.
pub fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A text without its line end.
pub fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

#[derive(Debug, Clone)]
struct Line {
    /// No other line has it, in no text of the document.
    id: u64,
    /// With its end.
    text: String,
}

/// A text that the document had.
#[derive(Debug)]
struct Earlier {
    digest: u64,
    lines: Vec<u64>,
    /// Whether a profile may be of it for long.
    is_kept: bool,
}

/// The text of a document.
#[derive(Debug)]
pub struct Text {
    lines: Vec<Line>,
    next: u64,
    /// The texts up to now, this one last.
    earlier: VecDeque<Earlier>,
}

impl Text {
    /// A new one.
    pub fn new(text: &str) -> Self {
        let mut this = Self {
            lines: Vec::new(),
            next: 0,
            earlier: VecDeque::new(),
        };
        this.replace(0..0, text);
        this.remember();
        this
    }

    /// How many lines it has; the one behind the last line end is one, too.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// A line without its end; empty beyond the last one.
    pub fn line(&self, number: usize) -> &str {
        self.lines
            .get(number)
            .map_or("", |line| without_end(&line.text))
    }

    /// All of it.
    pub fn whole(&self) -> String {
        self.lines.iter().map(|line| &*line.text).collect()
    }

    /// Whether everybody counts its lines alike: some take a carriage return alone for the end of one.
    pub fn is_countable(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.all(|line| !without_end(&line.text).contains('\r'))
    }

    /// What it is recognised by.
    pub fn digest(&self) -> u64 {
        self.earlier.back().map_or(0, |text| text.digest)
    }

    /// Whether it is, or was, the text with this digest.
    pub fn was(&self, digest: u64) -> bool {
        self.earlier.iter().any(|text| text.digest == digest)
    }

    /// Puts another text in the place of all.
    pub fn set(&mut self, text: &str) {
        self.replace(0..self.lines.len(), text);
        self.remember();
    }

    /// Puts another text in the place of what is between two positions.
    pub fn edit(&mut self, [from, to]: [Position; 2], text: &str, encoding: Encoding) {
        let last = self.lines.len() - 1;
        let place = |(line, character): Position| match self.lines.get(line) {
            Some(of) => (line, encoding.byte(without_end(&of.text), character)),
            None => (last, self.lines[last].text.len()),
        };
        let from = place(from);
        let to = place(to).max(from);
        let before = &self.lines[from.0].text[..from.1];
        let after = &self.lines[to.0].text[to.1..];
        let new = format!("{before}{text}");
        if to.1 == 0 && (new.is_empty() || new.ends_with('\n')) {
            // The last one of the lines is as it was: an equal one before it is not mistaken for it.
            self.replace(from.0..to.0, &new);
        } else {
            let new = new + after;
            self.replace(from.0..to.0 + 1, &new);
        }
    }

    /// Puts the lines of a text in the place of others; those that are equal stay the same.
    fn replace(&mut self, range: std::ops::Range<usize>, text: &str) {
        let mut new: Vec<&str> = text.split_inclusive('\n').collect();
        if range.end == self.lines.len() && (new.is_empty() || text.ends_with('\n')) {
            new.push("");
        }
        let old = &self.lines[range.clone()];
        let texts: Vec<&str> = old.iter().map(|line| &*line.text).collect();
        let mut ids = vec![None; new.len()];
        for op in capture_diff_slices(Algorithm::Patience, &texts, &new) {
            if let DiffOp::Equal {
                old_index,
                new_index,
                len,
            } = op
            {
                for at in 0..len {
                    ids[new_index + at] = Some(old[old_index + at].id);
                }
            }
        }
        let mut lines = Vec::with_capacity(new.len());
        for (text, id) in new.into_iter().zip(ids) {
            let id = id.unwrap_or_else(|| {
                self.next += 1;
                self.next
            });
            let text = text.to_owned();
            lines.push(Line { id, text });
        }
        self.lines.splice(range, lines);
    }

    /// Remembers the text as it is now.
    pub fn remember(&mut self) {
        let digest = digest(&self.whole());
        let is_kept = self
            .earlier
            .iter()
            .any(|text| text.digest == digest && text.is_kept);
        self.earlier.retain(|text| text.digest != digest);
        self.earlier.push_back(Earlier {
            digest,
            lines: self.lines.iter().map(|line| line.id).collect(),
            is_kept,
        });
        self.forget(false);
    }

    /// Keeps a text that the document had, since it lies in a file, or a profile is of it.
    pub fn keep(&mut self, digest: u64) {
        let mut earlier = self.earlier.iter_mut();
        if let Some(text) = earlier.find(|text| text.digest == digest) {
            text.is_kept = true;
            self.forget(true);
        }
    }

    /// Forgets the first of the texts that are kept, or of the others, if there are too many.
    fn forget(&mut self, is_kept: bool) {
        let alike = self.earlier.iter().filter(|text| text.is_kept == is_kept);
        if alike.count() > REMEMBERED {
            let first = self.earlier.iter().position(|text| text.is_kept == is_kept);
            if let Some(first) = first {
                self.earlier.remove(first);
            }
        }
    }

    /// Which line, counted from 0, of the text with this digest each line still is, without a change. The lines of that text are `of`.
    pub fn unchanged(&self, digest: u64, of: &[&str]) -> Vec<Option<usize>> {
        let Some(was) = self.earlier.iter().find(|text| text.digest == digest) else {
            return vec![None; self.lines.len()];
        };
        let places: std::collections::HashMap<u64, usize> =
            was.lines.iter().copied().zip(0..).collect();
        let mut lines: Vec<Option<usize>> = self
            .lines
            .iter()
            .map(|line| places.get(&line.id).copied())
            .collect();
        self.mend(&mut lines, of);
        lines
    }

    /// Lines that were changed, and changed back, between others that are still there.
    fn mend(&self, lines: &mut [Option<usize>], of: &[&str]) {
        let (mut at, mut expected) = (0, 0);
        while at < lines.len() {
            if let Some(line) = lines[at] {
                (at, expected) = (at + 1, line + 1);
                continue;
            }
            let end = lines[at..].iter().position(Option::is_some);
            let end = end.map_or(lines.len(), |length| at + length);
            let next = lines.get(end).copied().flatten();
            if next.unwrap_or(of.len()) == expected + (end - at) {
                for (line, was) in (at..end).zip(expected..) {
                    if of.get(was).is_some_and(|text| *text == self.line(line)) {
                        lines[line] = Some(was);
                    }
                }
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the lines of a text are after it was edited.
    fn moved(before: &str, edit: impl FnOnce(&mut Text)) -> Vec<Option<usize>> {
        let mut text = Text::new(before);
        edit(&mut text);
        text.remember();
        let of: Vec<&str> = before.lines().collect();
        text.unchanged(digest(before), &of)
    }

    #[test]
    fn positions_are_counted_in_units() {
        for (encoding, at) in [(Encoding::Utf8, 4), (Encoding::Utf16, 2)] {
            let mut text = Text::new("\u{1d11e}x\ny");
            text.edit([(0, at), (0, at)], "-", encoding);
            assert_eq!(text.whole(), "\u{1d11e}-x\ny");
            text.edit([(7, 7), (9, 9)], "z", encoding);
            assert_eq!(text.whole(), "\u{1d11e}-x\nyz");
            text.edit([(0, 99), (1, 0)], "", encoding);
            assert_eq!(text.whole(), "\u{1d11e}-xyz");
            // Backwards, and within a character.
            text.edit([(0, 9), (0, 1)], "", encoding);
            assert_eq!(text.whole(), "\u{1d11e}-xyz");
            text.edit([(0, 1), (0, 1)], "+", encoding);
            assert_eq!(text.whole(), "\u{1d11e}+-xyz");
        }
    }

    #[test]
    fn lines_move_with_what_stands_before_them() {
        let four = "a\nb\nb\nc\n";
        let insert = moved(four, |text| {
            text.edit([(1, 0), (1, 0)], "x\n", Encoding::Utf8);
        });
        assert_eq!(insert[..5], [Some(0), None, Some(1), Some(2), Some(3)]);
        // The first of two equal lines goes, and the other one is still itself.
        let cut = moved(four, |text| text.edit([(1, 0), (2, 0)], "", Encoding::Utf8));
        assert_eq!(cut[..3], [Some(0), Some(2), Some(3)]);
        let cut = moved(four, |text| text.edit([(0, 1), (1, 1)], "", Encoding::Utf8));
        assert_eq!(cut[..3], [Some(0), Some(2), Some(3)]);
        let change = moved(four, |text| {
            text.edit([(2, 1), (2, 1)], "!", Encoding::Utf8);
        });
        assert_eq!(change[..4], [Some(0), Some(1), None, Some(3)]);
        let joined = moved(four, |text| text.edit([(2, 1), (3, 0)], "", Encoding::Utf8));
        assert_eq!(joined[..3], [Some(0), Some(1), None]);
        let whole = moved(four, |text| text.set("a\nx\nc\n"));
        assert_eq!(whole[..3], [Some(0), None, Some(3)]);
    }

    #[test]
    fn what_is_changed_back_is_there_again() {
        let lines = moved("a\nb\nc\n", |text| {
            text.edit([(1, 1), (1, 1)], "!", Encoding::Utf8);
            text.edit([(1, 1), (1, 2)], "", Encoding::Utf8);
            text.edit([(2, 0), (2, 0)], "x", Encoding::Utf8);
        });
        assert_eq!(lines[..3], [Some(0), Some(1), None]);
    }

    #[test]
    fn a_text_that_it_never_had_has_no_lines() {
        let text = Text::new("a\nb\n");
        assert_eq!(text.unchanged(digest("a\n"), &["a"]), [None; 3]);
        assert!(!text.was(digest("a\n")));
        assert!(text.is_countable() && Text::new("a\r\n").is_countable());
        assert!(!Text::new("a\rb\n").is_countable());
    }

    #[test]
    fn any_edit_leaves_the_lines_of_its_text() {
        let mut random = 1_u32;
        let mut next = |below: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) as usize % below
        };
        let mut text = Text::new("");
        for _ in 0..2000 {
            let new = ["", "a", "\n", "b\n", "a\nb", "\r\n", "\n\n"][next(7)];
            let [from, to] = [(next(6), next(4)), (next(6), next(4))];
            text.edit([from, to], new, Encoding::Utf16);
            let whole = text.whole();
            assert_eq!(text.len(), whole.matches('\n').count() + 1, "{whole:?}");
        }
    }
}
