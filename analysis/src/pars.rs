//! The cycles of a run added up `par` by `par`: what follows one another in turn, and the arms of a `par` each on its own until it ends.
//!
//! Owns when a `par` begins and ends. What its arms come to, whoever adds them up tells by [`Tally`].

use std::collections::BTreeMap;

use petal_metadata::ControlId;

use crate::plans::{PathId, Plan, Work};

/// What is made of the cycles of a run, or of an arm.
pub(crate) trait Tally: Default {
    /// What all of a run have in common.
    type Common;

    /// Takes in cycles that belong to a path.
    fn take(&mut self, path: PathId, work: Work, cycles: u64, common: &mut Self::Common);

    /// Takes in a `par` that has ended, after so many cycles.
    fn take_par(&mut self, par: Par<Self>, common: &mut Self::Common);
}

/// A `par` that has ended, or not yet.
#[derive(Debug)]
pub(crate) struct Par<T> {
    pub path: PathId,
    pub cycles: u64,
    pub arms: BTreeMap<ControlId, Arm<T>>,
}

/// An arm of a `par`.
#[derive(Debug, Default)]
pub(crate) struct Arm<T> {
    /// In which it was active.
    pub cycles: u64,
    /// The cycle after the last of them.
    pub end: u64,
    pub sum: Sum<T>,
}

/// The cycles so far.
#[derive(Debug, Default)]
pub(crate) struct Sum<T> {
    pub tally: T,
    open: Option<Box<Par<T>>>,
}

impl<T: Tally> Sum<T> {
    /// Adds cycles with this plan, up to `end`.
    pub fn add(&mut self, plan: &Plan, cycles: u64, end: u64, common: &mut T::Common) {
        match plan {
            Plan::At(path, work) => {
                self.close(common);
                self.tally.take(*path, *work, cycles, common);
            }
            Plan::Par(path, arms) => {
                if self.open.as_ref().is_some_and(|open| open.path != *path) {
                    self.close(common);
                }
                let open = self.open.get_or_insert_with(|| {
                    Box::new(Par {
                        path: *path,
                        cycles: 0,
                        arms: BTreeMap::new(),
                    })
                });
                open.cycles += cycles;
                for (arm, plan) in arms {
                    let arm = open.arms.entry(*arm).or_default();
                    arm.cycles += cycles;
                    arm.end = end;
                    arm.sum.add(plan, cycles, end, common);
                }
            }
        }
    }

    /// Ends the `par` that is open, and what is open in its arms.
    pub fn close(&mut self, common: &mut T::Common) {
        if let Some(mut par) = self.open.take() {
            for arm in par.arms.values_mut() {
                arm.sum.close(common);
            }
            self.tally.take_par(*par, common);
        }
    }
}
