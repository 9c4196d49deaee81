//! The search beyond single changes: which combinations are the best, if hardware counts as well as cycles.
//!
//! Owns the Pareto front: programs of which none is beaten by another one in cycles, bits of registers and other cells alike.
//! From a program of the front the next ones are made by one change more, or one less.

use std::ffi::OsStr;

use crate::advice::Point;
use crate::change::{Change, Class, Key};
use crate::hardware::Hardware;
use crate::patch::patch;
use crate::search::{Search, total};
use crate::variant::Variant;
use crate::workshop::{Failure, Profile as _, Ran, Trial, Try, Workshop};

/// After so many batches of programs that do not change the front, the search ends.
const PATIENCE: usize = 12;
/// How many are tried before it looks what came of them.
const BATCH: usize = 8;

/// What was changed, in order.
type Steps = Vec<(Key, Change)>;

/// A program that was tried.
#[derive(Clone)]
struct Tried {
    variant: Variant,
    steps: Steps,
    ran: Ran,
}

fn cells(hardware: &Hardware) -> u64 {
    hardware.cells.values().sum()
}

impl Tried {
    fn costs(&self) -> [u64; 3] {
        let hardware = &self.ran.hardware;
        [total(&self.ran), hardware.register_bits, cells(hardware)]
    }

    /// Whether this one is at least as good in everything.
    fn beats(&self, other: &Self) -> bool {
        let pairs = self.costs().into_iter().zip(other.costs());
        pairs.into_iter().all(|(mine, theirs)| mine <= theirs)
    }
}

/// Takes in a program, if none of the front is as good; returns whether it did.
fn add(front: &mut Vec<Tried>, new: Tried) -> bool {
    if front.iter().any(|known| known.beats(&new)) {
        return false;
    }
    front.retain(|known| !new.beats(known));
    front.push(new);
    true
}

/// Numbers that look random and are the same in every search.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count.max(1) as u64).unwrap_or(0)
    }
}

impl<W: Workshop> Search<'_, W> {
    /// Searches combinations until the time is over, or nothing new comes of it. `known` are programs that were tried already,
    /// each with what was changed.
    pub(crate) fn front(
        &mut self,
        file: &OsStr,
        original: &Variant,
        only_proved: bool,
        known: Vec<(Steps, Variant, Ran)>,
    ) -> Result<Vec<Point>, Failure> {
        let mut front = Vec::new();
        for (steps, variant, ran) in known {
            add(
                &mut front,
                Tried {
                    variant,
                    steps,
                    ran,
                },
            );
        }
        let class = if only_proved {
            Class::Proved
        } else {
            Class::Checked
        };
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        let mut seen: Vec<Variant> = front.iter().map(|tried| tried.variant.clone()).collect();
        let mut idle = 0;
        while idle < PATIENCE && !self.is_over() {
            let mut batch = Vec::new();
            for _ in 0..BATCH {
                let from = front[dice.below(front.len())].clone();
                let Some((steps, variant)) = self.neighbour(original, class, &from, &mut dice)?
                else {
                    continue;
                };
                if !seen.contains(&variant) {
                    seen.push(variant.clone());
                    batch.push((steps, variant));
                }
            }
            let best = front
                .iter()
                .map(|tried| total(&tried.ran))
                .min()
                .unwrap_or(0);
            let most = front
                .iter()
                .map(|tried| total(&tried.ran))
                .max()
                .unwrap_or(0);
            let tries = batch.iter().map(|(_, variant)| Try::plain(variant, most));
            let tries: Vec<Try> = tries.collect();
            let trials = self.try_all(&tries, best, self.end)?;
            let mut grew = false;
            for ((steps, variant), trial) in batch.into_iter().zip(trials) {
                let is_proved = |(_, change): &(Key, Change)| change.class() == Class::Proved;
                if let (Some(trial), Some((_, change))) = (&trial, steps.last())
                    && steps.iter().all(is_proved)
                {
                    self.check_proved(change, || variant.text().to_owned(), trial);
                }
                if let Some(Trial::Ran(ran)) = trial {
                    grew |= add(
                        &mut front,
                        Tried {
                            variant,
                            steps,
                            ran,
                        },
                    );
                }
            }
            idle = if grew { 0 } else { idle + 1 };
        }
        front.sort_by_key(Tried::costs);
        let mut points = Vec::new();
        for tried in front {
            let is_proved = self.is_proved(original, &tried.steps)?;
            if is_proved || !only_proved {
                points.push(self.point(file, original, (points.len(), is_proved), &tried));
            }
        }
        Ok(points)
    }

    /// Whether each of some steps is proved on top of those before it.
    fn is_proved(&mut self, original: &Variant, steps: &Steps) -> Result<bool, Failure> {
        let mut before = original.clone();
        for (key, change) in steps {
            let after = change.apply(&before);
            let both = [&before, &after];
            let kept = self.kept_as(Class::Proved, key, change.clone(), both)?;
            if kept.is_none() || change.class() != Class::Proved {
                return Ok(false);
            }
            before = after;
        }
        Ok(true)
    }

    /// What is told of a program of the front.
    fn point(
        &self,
        file: &OsStr,
        original: &Variant,
        (at, proved): (usize, bool),
        tried: &Tried,
    ) -> Point {
        let diff = patch(file, original.text(), tried.variant.text());
        let [cycles, register_bits, cells] = tried.costs();
        let changes = tried.steps.iter().map(|(_, change)| change.what());
        Point {
            cycles,
            register_bits,
            cells,
            changes: changes.collect(),
            proved,
            // It may not fit the device.
            synthesized: self.cost(&tried.variant).unwrap_or_default(),
            arguments: tried.variant.passes().arguments(),
            patch: (!diff.is_empty()).then(|| format!("front-{:02}.patch", at + 1)),
            diff,
        }
    }

    /// A program that differs by one change; `None` if that can't be made.
    fn neighbour(
        &self,
        original: &Variant,
        class: Class,
        from: &Tried,
        dice: &mut Dice,
    ) -> Result<Option<(Steps, Variant)>, Failure> {
        let mut steps = from.steps.clone();
        if !steps.is_empty() && dice.below(3) == 0 {
            steps.remove(dice.below(steps.len()));
            let mut variant = original.clone();
            let mut kept = Vec::new();
            for (key, change) in steps {
                let class = change.class();
                let Some(profile) = self.profile(&variant)? else {
                    return Ok(None);
                };
                let again = self.again(&variant, &key, change, class, profile.observed())?;
                if let Some(change) = again {
                    variant = change.apply(&variant);
                    kept.push((key, change));
                }
            }
            return Ok(Some((kept, variant)));
        }
        let Some(profile) = self.profile(&from.variant)? else {
            return Ok(None);
        };
        let candidates = self.candidates(class, &from.variant, &profile)?;
        let mut fit = candidates;
        fit.retain(|(key, ..)| !self.is_hopeless(key));
        if fit.is_empty() {
            return Ok(None);
        }
        let (key, change, _) = fit.swap_remove(dice.below(fit.len()));
        let variant = change.apply(&from.variant);
        steps.push((key, change));
        Ok(Some((steps, variant)))
    }
}
