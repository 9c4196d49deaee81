//! What is not advised although it may save cycles, and why not.

use std::collections::HashSet;
use std::time::Duration;

use super::{ChangePlace, Outcome, Search, total};
use crate::advice::NotAdvised;
use crate::change::{Change, Class, Key};
use crate::variant::Variant;
use crate::workshop::{Failure, Ran, Trial, Try, Workshop};

/// How many are told, those that save or could save most.
const MOST: usize = 5;
/// How many are tried for that, and how long, if there is time at all.
const TRIED: usize = 40;
const TIME: Duration = Duration::from_secs(5);

impl<W: Workshop> Search<'_, W> {
    /// What was found, on top of the program with all advice, that leaves something else in the memories or, if only that is wanted, is not
    /// proved.
    pub(super) fn not_advised(
        &mut self,
        only_proved: bool,
        current: &Variant,
        ran: &Ran,
    ) -> Result<Vec<NotAdvised>, Failure> {
        let differing = self.different.iter();
        let differing = differing.map(|(change, place, what)| refused(change, place, Err(what)));
        let mut all: Vec<NotAdvised> = differing.flatten().take(MOST).collect();
        if only_proved && !self.is_over() {
            all.extend(self.unproved(current, ran)?);
        }
        all.sort_by_key(|of| std::cmp::Reverse(of.saves));
        // One that says more of the same place is told by the better one.
        let mut told = HashSet::new();
        all.retain(|of| told.insert((of.kind, of.place.clone())));
        all.truncate(MOST);
        Ok(all)
    }

    /// What is not proved, as far as it saves.
    fn unproved(&mut self, current: &Variant, ran: &Ran) -> Result<Vec<NotAdvised>, Failure> {
        let Some(profile) = self.profile(current)? else {
            return Ok(Vec::new());
        };
        let candidates = self.candidates(Class::Checked, current, &profile)?;
        let unproved = candidates.into_iter().filter(|(_, change, _)| {
            matches!(change, Change::Edit(_)) && change.class() == Class::Checked
        });
        let unproved: Vec<(Key, Change, ChangePlace)> = unproved.take(TRIED).collect();
        let best = total(ran);
        let tries = unproved.iter();
        let tries = tries.map(|(_, change, _)| Try::with(change, current, best));
        let end = self.end.within(TIME);
        let trials = self.try_all(&tries.collect::<Vec<_>>(), best, end)?;
        let mut told = Vec::new();
        for ((key, change, place), trial) in unproved.into_iter().zip(trials) {
            // Nobody has asked for it.
            let Some(trial) = trial else { continue };
            let outcome = Outcome::of(&trial, best);
            if let (Trial::Ran(after), Outcome::Saves) = (&trial, outcome) {
                told.extend(refused(&change, &place, Ok(best - total(after))));
            }
            self.outcomes.insert(key, outcome);
        }
        Ok(told)
    }
}

/// That a change is not advised, which saves so much, or leaves this in the memories.
fn refused(
    change: &Change,
    place: &ChangePlace,
    outcome: Result<u64, &String>,
) -> Option<NotAdvised> {
    let Change::Edit(rewrite) = change else {
        return None;
    };
    let why = match outcome {
        Ok(_) => format!("not proved: {}", rewrite.premise),
        Err(what) => format!("{what}: {}", rewrite.premise),
    };
    Some(NotAdvised {
        kind: change.kind(),
        place: place.named(),
        line: place.line,
        front_end: place.front_end.clone(),
        what: change.what(),
        why,
        saves: outcome.ok(),
    })
}
