//! What advice is worth in time and area: of the changes that save cycles, those that serve the goal.

use serde::Serialize;

use super::{Kept, Search, total};
use crate::advice::Synthesized;
use crate::variant::Variant;
use crate::workshop::{Cost, Failure, Profile as _, Ran, Trial, Workshop};

/// What advice is to save.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Cycles.
    Cycles,
    /// Cycles times the period of the clock.
    Time,
    /// Look-up tables and flip-flops.
    Area,
}

impl Goal {
    /// Whether a program is worse than another one.
    fn is_worse(self, (cost, cycles): (&Cost, u64), (other, fewer): (&Cost, u64)) -> bool {
        match self {
            Self::Cycles => false,
            Self::Time => cost.time_ns(cycles) > other.time_ns(fewer),
            Self::Area => cost.luts + cost.ffs > other.luts + other.ffs,
        }
    }
}

impl<W: Workshop> Search<'_, W> {
    /// Synthesises the program and what came out, and leaves out changes that do not serve the goal. `None` if nobody asked for synthesis, or
    /// the user wants no more: then nothing is left out.
    pub(crate) fn weigh(
        &mut self,
        goal: Goal,
        before: &Ran,
        kept: Vec<Kept>,
    ) -> Result<(Vec<Kept>, Option<Synthesized>), Failure> {
        let Some(first) = self.cost(self.original)? else {
            return Ok((kept, None));
        };
        if goal == Goal::Cycles {
            let with_all = match kept.last() {
                Some(step) => self.cost(&step.after)?,
                None => Some(first.clone()),
            };
            let synthesized = with_all.map(|with_all| Synthesized {
                goal,
                before: first,
                with_all,
                left_out: Vec::new(),
            });
            return Ok((kept, synthesized));
        }
        let mut now = (self.original.clone(), before.clone(), first.clone());
        let (mut served, mut left_out): (Vec<Kept>, Vec<String>) = (Vec::new(), Vec::new());
        for step in kept.clone() {
            let step = if left_out.is_empty() {
                Some(step)
            } else {
                self.on_top(&now.0, &now.1, step)?
            };
            let Some(step) = step else { continue };
            let cost = match self.workshop.cost(&step.after) {
                Ok(Some(cost)) => cost,
                _ if self.workshop.is_interrupted() => return Ok((kept, None)),
                // It may not fit the device.
                Ok(None) | Err(_) => {
                    left_out.push(step.change.what());
                    continue;
                }
            };
            let (cycles, fewer) = (total(&step.ran), total(&now.1));
            if goal.is_worse((&cost, cycles), (&now.2, fewer)) {
                left_out.push(step.change.what());
                continue;
            }
            now = (step.after.clone(), step.ran.clone(), cost.clone());
            let cost = Some(cost);
            served.push(Kept { cost, ..step });
        }
        let synthesized = Synthesized {
            goal,
            before: first,
            with_all: now.2,
            left_out,
        };
        Ok((served, Some(synthesized)))
    }

    /// What a program costs; `None` also if the user wants no more.
    pub(crate) fn cost(&self, variant: &Variant) -> Result<Option<Cost>, Failure> {
        if self.workshop.is_interrupted() {
            return Ok(None);
        }
        match self.workshop.cost(variant) {
            Err(_) if self.workshop.is_interrupted() => Ok(None),
            cost => cost,
        }
    }

    /// A change on top of other changes than those that it was found with, if it still saves cycles there.
    fn on_top(&self, current: &Variant, ran: &Ran, step: Kept) -> Result<Option<Kept>, Failure> {
        let Some(profile) = self.profile(current)? else {
            return Ok(None);
        };
        let (class, observed) = (step.change.class(), profile.observed());
        let change = self.again(current, &step.key, step.change, class, observed)?;
        let Some(change) = change else {
            return Ok(None);
        };
        let after = change.apply(current);
        Ok(match self.workshop.try_out(&after, total(ran)) {
            Trial::Ran(new) if total(&new) < total(ran) => Some(Kept {
                change,
                after,
                ran: new,
                ..step
            }),
            _ => None,
        })
    }
}
