//! The program with hardware of its own for each cell, where more of that can be proved.
//!
//! Owns when a search begins with it. All programs are held against it then.

use super::{ChangePlace, Kept, Search, total};
use crate::change::{Change, Class};
use crate::pipeline::Passes;
use crate::rewrites::{Certainty, RewriteKind};
use crate::variant::Variant;
use crate::workshop::{Failure, Profile as _, Ran, Trial, Workshop};

impl<W: Workshop> Search<'_, W> {
    /// That each cell is apart, if more changes are proved then.
    pub(super) fn apart(&mut self, before: &Ran) -> Result<Option<Kept>, Failure> {
        let is_better = self.proves_more_apart(self.original)?;
        Ok(is_better.then(|| self.hold_apart(before)).flatten())
    }

    /// Whether more changes of a program are proved with each cell apart.
    fn proves_more_apart(&self, variant: &Variant) -> Result<bool, Failure> {
        let mut pipelines = self.workshop.pipelines().into_iter();
        if !pipelines.any(|passes| passes == Passes::apart()) {
            return Ok(false);
        }
        let proved = self.proved(variant)?;
        let proved_apart = self.proved(&Change::Apart.apply(variant))?;
        Ok(proved
            .zip(proved_apart)
            .is_some_and(|(one, other)| one < other))
    }

    /// Has all programs held against the one with each cell apart.
    fn hold_apart(&mut self, before: &Ran) -> Option<Kept> {
        let change = Change::Apart;
        let after = change.apply(self.original);
        self.workshop.hold_against_apart(true);
        let Trial::Ran(ran) = self.workshop.try_out(&after, u64::MAX) else {
            self.workshop.hold_against_apart(false);
            return None;
        };
        let key = change.key(self.original);
        if let Some(saved) = total(before).checked_sub(total(&ran)) {
            self.alone.insert(key.clone(), (change.clone(), saved));
        }
        self.base = after.clone();
        Some(Kept {
            key,
            change,
            place: ChangePlace::default(),
            after,
            ran,
            cost: None,
        })
    }

    /// Searches what is proved once more with each cell apart, if more is proved so of what came out; keeps what takes fewer cycles.
    pub(super) fn apart_later(
        &mut self,
        before: &Ran,
        kept: &mut Vec<Kept>,
    ) -> Result<(), Failure> {
        let Some(last) = kept.last().filter(|_| kept[0].change != Change::Apart) else {
            return Ok(());
        };
        if self.is_over() || !self.proves_more_apart(&last.after)? {
            return Ok(());
        }
        let alone = std::mem::take(&mut self.alone);
        let mut others: Vec<Kept> = self.hold_apart(before).into_iter().collect();
        if !others.is_empty() {
            self.of_class(Class::Proved, before, &mut others)?;
        }
        let cycles = total(&last.ran);
        if others.last().is_some_and(|last| total(&last.ran) < cycles) {
            *kept = others;
        } else {
            self.not_apart();
            self.alone = alone;
        }
        Ok(())
    }

    /// How many changes of a program are proved, but for those that only keep cells apart; `None` if the user wants no more.
    fn proved(&self, variant: &Variant) -> Result<Option<usize>, Failure> {
        let Some(profile) = self.profile(variant)? else {
            return Ok(None);
        };
        let rewrites = self.workshop.rewrites(variant, profile.observed())?;
        let proved = rewrites.iter().filter(|rewrite| {
            rewrite.certainty == Certainty::Proved && rewrite.kind != RewriteKind::UnsharedCell
        });
        Ok(Some(proved.count()))
    }

    /// Takes it back if nothing came of it.
    pub(super) fn leave_alone(&mut self, kept: &mut Vec<Kept>, before: &Ran) {
        if let Some(last) = kept.last()
            && kept[0].change == Change::Apart
            && total(&last.ran) >= total(before)
        {
            kept.clear();
            self.not_apart();
            self.alone.clear();
        }
    }

    fn not_apart(&mut self) {
        self.base = self.original.clone();
        self.workshop.hold_against_apart(false);
    }
}
