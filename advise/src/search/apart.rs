//! The program with hardware of its own for each cell, where more of that can be proved.
//!
//! Owns when a search begins with it. All programs are held against it then.

use super::{ChangePlace, Kept, Search, total};
use crate::change::Change;
use crate::pipeline::Passes;
use crate::rewrites::{Certainty, RewriteKind};
use crate::variant::Variant;
use crate::workshop::{Failure, Profile as _, Ran, Trial, Workshop};

impl<W: Workshop> Search<'_, W> {
    /// That each cell is apart, if more changes are proved then.
    pub(super) fn apart(&mut self, before: &Ran) -> Result<Option<Kept>, Failure> {
        let change = Change::Apart;
        let mut pipelines = self.workshop.pipelines().into_iter();
        if !pipelines.any(|passes| passes == Passes::apart()) {
            return Ok(None);
        }
        let after = change.apply(self.original);
        let [Some(proved), Some(proved_apart)] =
            [self.proved(self.original)?, self.proved(&after)?]
        else {
            return Ok(None);
        };
        if proved_apart <= proved {
            return Ok(None);
        }
        self.workshop.hold_against_apart(true);
        let Trial::Ran(ran) = self.workshop.try_out(&after, u64::MAX) else {
            self.workshop.hold_against_apart(false);
            return Ok(None);
        };
        let key = change.key(self.original);
        if let Some(saved) = total(before).checked_sub(total(&ran)) {
            self.alone.insert(key.clone(), (change.clone(), saved));
        }
        self.base = after.clone();
        Ok(Some(Kept {
            key,
            change,
            place: ChangePlace::default(),
            after,
            ran,
            cost: None,
        }))
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
            self.base = self.original.clone();
            self.alone.clear();
            self.workshop.hold_against_apart(false);
        }
    }
}
