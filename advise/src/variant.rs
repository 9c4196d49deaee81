//! A program as it is to be tried: its text, where each byte of that comes from, and how it is compiled.

use crate::pipeline::Passes;
use crate::rewrites::Rewrite;

/// What was inserted.
const NEW: usize = usize::MAX;

/// A program as it is to be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    text: String,
    /// For each byte, where it is in the original.
    origins: Vec<usize>,
    passes: Passes,
}

impl Variant {
    /// The program as it is.
    pub fn original(text: String) -> Self {
        Self {
            origins: (0..text.len()).collect(),
            text,
            passes: Passes::default(),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How it is compiled.
    pub fn passes(&self) -> &Passes {
        &self.passes
    }

    /// The same program, compiled in another way as well.
    pub(crate) fn compiled(&self, passes: &Passes) -> Self {
        let mut variant = self.clone();
        variant.passes.add(passes);
        variant
    }

    /// The program with an edit of this text.
    pub(crate) fn edited(&self, rewrite: &Rewrite) -> Self {
        let mut text = String::with_capacity(self.text.len());
        let mut origins = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for edit in &rewrite.edits {
            let start = edit.range.start.max(at);
            text.push_str(&self.text[at..start]);
            origins.extend(&self.origins[at..start]);
            text.push_str(&edit.text);
            origins.extend(std::iter::repeat_n(NEW, edit.text.len()));
            at = edit.range.end.max(start);
        }
        text.push_str(&self.text[at..]);
        origins.extend(&self.origins[at..]);
        Self {
            text,
            origins,
            passes: self.passes.clone(),
        }
    }

    /// The line in the original of what is at a line and column of the text, or right after it.
    pub(crate) fn original_line(&self, (line, column): (u32, u32), original: &str) -> Option<u32> {
        let mut lines = self.text.split_inclusive('\n');
        let before: usize = lines
            .by_ref()
            .take(line.checked_sub(1)? as usize)
            .map(str::len)
            .sum();
        let within: usize = lines
            .next()?
            .chars()
            .take(column.checked_sub(1)? as usize)
            .map(char::len_utf8)
            .sum();
        let mut origins = self.origins[before + within..].iter();
        let origin = *origins.find(|origin| **origin != NEW)?;
        u32::try_from(original[..origin].matches('\n').count() + 1).ok()
    }

    /// The first and last bytes of the original that are still in a part of the text.
    pub(crate) fn origin(&self, range: std::ops::Range<usize>) -> Option<(usize, usize)> {
        let origins = &self.origins[range];
        let kept = |origin: &&usize| **origin != NEW;
        let first = origins.iter().find(kept)?;
        let last = origins.iter().rev().find(kept)?;
        Some((*first, *last))
    }
}
