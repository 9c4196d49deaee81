//! The slices that the borders of a section cut: from where to where the whole of each goes.
//!
//! What goes on behind a section is written when it has ended: only then its length is known.

use std::io;

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::TreeId;

use super::format::{Changes, End, Format, Pattern, Whole};
use super::lines::LineId;
use super::{SliceId, Timeline};
use petal_analysis::elements::ElementId;

/// The slices that a section cuts.
#[derive(Debug)]
pub(super) struct Cuts {
    /// The first cycles of those that are open and began before the section.
    since: HashMap<SliceId, u64>,
    /// The slices that were open where the section ended, as long as one of them is.
    leaving: Option<Leaving>,
}

/// The end of a section.
#[derive(Debug)]
struct Leaving {
    pattern: Pattern,
    numbers: Vec<u64>,
    /// What the pattern's slices show, from which cycle on, and to which, once that is known.
    open: Vec<(Shown, u64, Option<u64>)>,
}

#[derive(Debug, Clone, Copy)]
enum Shown {
    Element(ElementId),
    Line(LineId),
}

impl Cuts {
    /// None yet.
    pub fn new() -> Self {
        Self {
            since: HashMap::new(),
            leaving: None,
        }
    }

    /// A slice that began in the cycle `since` is open where the section begins.
    pub fn enter(&mut self, slice: SliceId, since: u64) {
        self.since.insert(slice, since);
    }

    /// The changes of the cycle `now`, if slices end in it that are cut; `numbers` are those of `pattern`, and then of the
    /// changes.
    pub fn end(&mut self, pattern: &Pattern, now: u64, numbers: &mut Vec<u64>) -> Option<Pattern> {
        let is_cut = |end: &End| self.since.contains_key(&end.slice);
        if self.since.is_empty() || !pattern.ends.iter().any(is_cut) {
            return None;
        }
        let mut pattern = pattern.clone();
        let wholes = pattern.ends.iter().map(|end| {
            let start = self.since.remove(&end.slice)?;
            let cycles = now - start;
            Some(Whole { start, cycles })
        });
        let wholes = wholes.collect();
        pattern.cut(numbers, wholes);
        Some(pattern)
    }
}

impl<F: Format> Timeline<'_, F> {
    /// The section ends: what is open ends on the timeline, whether or not it goes on.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        self.catch_up();
        let before = self.transitions.now().tree;
        let id = match self.transitions.repeat(None) {
            Some(id) => id,
            None => self.new_transition(None),
        };
        let pattern = self.pattern(id, before, None)?;
        let transition = self.transitions.get(id);
        let mut numbers = Vec::new();
        for &element in &transition.closes {
            self.numbers.close(element, self.cycles.end, &mut numbers);
        }
        let elements = transition.ends.iter().map(|slice| slice.element);
        let lines = self.lines.of(before).iter();
        let elements = elements.map(|id| (Shown::Element(id), self.numbers.since(id)));
        let lines = lines.map(|&line| (Shown::Line(line), self.lines.since(line)));
        let open = elements.chain(lines).zip(&pattern.ends);
        let open = open.map(|((shown, since), end)| {
            let cut = self.cuts.since.get(&end.slice);
            (shown, cut.copied().unwrap_or(since), None)
        });
        let open = open.collect();
        self.cuts.leaving = Some(Leaving {
            pattern,
            numbers,
            open,
        });
        Ok(())
    }

    /// Goes on behind the section where nothing is known: what goes on there has no known end.
    pub(super) fn go_on_unseen(&mut self) -> io::Result<()> {
        match self.cuts.leaving.take() {
            Some(leaving) => self.write_end(leaving),
            None => Ok(()),
        }
    }

    /// Goes on behind the section: `tree` is active from the cycle `now` on.
    pub(super) fn follow(&mut self, tree: Option<TreeId>, now: u64) -> io::Result<()> {
        let Some(Leaving { open, .. }) = &mut self.cuts.leaving else {
            return Ok(());
        };
        let (elements, lines) = (self.elements.of(tree), self.lines.of(tree));
        let mut goes_on = false;
        for (shown, _, end) in open.iter_mut().filter(|(_, _, end)| end.is_none()) {
            let is_active = match shown {
                Shown::Element(element) => elements.binary_search(element).is_ok(),
                Shown::Line(line) => lines.binary_search(line).is_ok(),
            };
            goes_on |= is_active;
            *end = (!is_active).then_some(now);
        }
        match self.cuts.leaving.take_if(|_| !goes_on) {
            Some(leaving) => self.write_end(leaving),
            None => Ok(()),
        }
    }

    fn write_end(&mut self, leaving: Leaving) -> io::Result<()> {
        let Leaving {
            mut pattern,
            mut numbers,
            open,
        } = leaving;
        let (first, last) = (self.start.unwrap_or(0), self.cycles.end);
        let wholes = open.into_iter().map(|(_, start, end)| {
            let end = end.filter(|_| self.is_known(start))?;
            let cycles = end - start;
            (start < first || end > last).then_some(Whole { start, cycles })
        });
        pattern.cut(&mut numbers, wholes.collect());
        let changes = Changes::new(None, &pattern, &numbers);
        self.format.changes(last, changes)
    }
}
