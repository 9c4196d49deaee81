//! What is proved of what a rule calls so: what the pieces that a change makes others are shown to come to.

use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use super::Search;
use crate::change::{Change, Class, Key};
use crate::proof::{Piece, why_open};
use crate::rewrites::{Certainty, Rewrite, RewriteKind};
use crate::variant::Variant;
use crate::workshop::{Failure, Workshop};

impl<W: Workshop> Search<'_, W> {
    /// A change as it is kept among those of a class. What a rule calls proved is so if all that it changes comes to the same, run with unknown
    /// values; where nothing shows that, runs have to.
    pub(crate) fn kept_as(
        &mut self,
        class: Class,
        key: &Key,
        change: Change,
        both: [&Variant; 2],
    ) -> Result<Option<Change>, Failure> {
        let Change::Edit(rewrite) = change else {
            return Ok(Some(change));
        };
        if rewrite.certainty == Certainty::Proved
            && let Some(why) = why_open(&self.pieces(both, rewrite.kind)?)
        {
            self.unshown.insert(key.clone(), why);
        }
        let (_, change) = self.edit(rewrite, both[0]);
        let is_one = change.class() == class || class == Class::Checked;
        Ok(is_one.then_some(change))
    }

    /// The pieces that are others after an edit of this kind.
    pub(crate) fn pieces(
        &mut self,
        both: [&Variant; 2],
        kind: RewriteKind,
    ) -> Result<Rc<[Piece]>, Failure> {
        let mut hasher = DefaultHasher::new();
        (both.map(Variant::text), kind).hash(&mut hasher);
        let pieces = match self.pieces.entry(hasher.finish()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.workshop.pieces(both, kind)?.into()),
        };
        Ok(Rc::clone(pieces))
    }

    /// An edit as a change, which is only checked where nothing showed it before.
    pub(super) fn edit(&self, rewrite: Rewrite, variant: &Variant) -> (Key, Change) {
        let change = Change::Edit(rewrite);
        let key = change.key(variant);
        match (change, self.unshown.get(&key)) {
            (Change::Edit(rewrite), Some(why)) => (key, Change::Edit(rewrite.unshown(why))),
            (change, _) => (key, change),
        }
    }
}
