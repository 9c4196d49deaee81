//! The cycles of a run added up piece by piece: what follows one another in turn, the arms of a `par` each on its own until it ends, and for
//! whoever asks for them the steps of a `seq`, too.
//!
//! Owns when a `par` or `seq` begins and ends. What its parts come to, whoever adds them up tells by [`Tally`].

use std::collections::BTreeMap;

use petal_metadata::ControlId;

use crate::plans::{PathId, Plan, Work};

/// What is made of the cycles of a run, or of a part of it.
pub(crate) trait Tally: Default {
    /// What all of a run have in common.
    type Common;

    /// Whether steps of a `seq` are added up each on its own; else they count as what they are around.
    const HAS_STEPS: bool = false;

    /// Takes in cycles that belong to a path.
    fn take(&mut self, path: PathId, work: Work, cycles: u64, common: &mut Self::Common);

    /// Takes in a `par` that has ended, after so many cycles.
    fn take_par(&mut self, par: Par<Self>, common: &mut Self::Common);

    /// Takes in a `seq` that has ended.
    fn take_seq(&mut self, _seq: Seq<Self>, _common: &mut Self::Common) {}

    /// Nothing more comes.
    fn end(&mut self, _common: &mut Self::Common) {}
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

/// A `seq` that has ended, or not yet.
#[derive(Debug)]
pub(crate) struct Seq<T> {
    pub path: PathId,
    /// The cycles in which no step was active.
    pub own: BTreeMap<Work, u64>,
    pub steps: BTreeMap<ControlId, Sum<T>>,
    last: Option<ControlId>,
}

/// The cycles so far.
#[derive(Debug, Default)]
pub(crate) struct Sum<T> {
    pub tally: T,
    /// One of these is open at most.
    par: Option<Box<Par<T>>>,
    seq: Option<Box<Seq<T>>>,
}

impl<T: Tally> Sum<T> {
    /// Adds cycles with this plan, up to `end`.
    pub fn add(&mut self, plan: &Plan, cycles: u64, end: u64, common: &mut T::Common) {
        match plan {
            Plan::AtSeq(path, work) if T::HAS_STEPS => {
                let seq = self.seq(*path, None, common);
                *seq.own.entry(*work).or_default() += cycles;
            }
            Plan::At(path, work) | Plan::AtSeq(path, work) => {
                self.close(common);
                self.tally.take(*path, *work, cycles, common);
            }
            Plan::Seq(path, step, plan) if T::HAS_STEPS => {
                let seq = self.seq(*path, Some(*step), common);
                let part = seq.steps.entry(*step).or_default();
                part.add(plan, cycles, end, common);
            }
            Plan::Seq(_, _, plan) => self.add(plan, cycles, end, common),
            Plan::Par(path, arms) => {
                let par = self.par(*path, common);
                par.cycles += cycles;
                for (arm, plan) in arms {
                    let arm = par.arms.entry(*arm).or_default();
                    arm.cycles += cycles;
                    arm.end = end;
                    arm.sum.add(plan, cycles, end, common);
                }
            }
        }
    }

    /// The `par` at this path, which goes on or begins; what else is open ends.
    fn par(&mut self, path: PathId, common: &mut T::Common) -> &mut Par<T> {
        if self.par.as_ref().is_none_or(|open| open.path != path) {
            self.close(common);
        }
        self.par.get_or_insert_with(|| {
            Box::new(Par {
                path,
                cycles: 0,
                arms: BTreeMap::new(),
            })
        })
    }

    /// The `seq` at this path, which goes on with this step, if any, or begins; what else is open ends.
    fn seq(
        &mut self,
        path: PathId,
        step: Option<ControlId>,
        common: &mut T::Common,
    ) -> &mut Seq<T> {
        let goes_on = |seq: &Seq<T>| seq.path == path && (step.is_none() || seq.last <= step);
        if !self.seq.as_deref().is_some_and(goes_on) {
            self.close(common);
        }
        let seq = self.seq.get_or_insert_with(|| {
            Box::new(Seq {
                path,
                own: BTreeMap::new(),
                steps: BTreeMap::new(),
                last: None,
            })
        });
        seq.last = seq.last.max(step);
        seq
    }

    /// Ends what is open, as nothing more comes.
    pub fn end(&mut self, common: &mut T::Common) {
        self.close(common);
        self.tally.end(common);
    }

    /// Ends the `par` or `seq` that is open, and what is open in its parts.
    fn close(&mut self, common: &mut T::Common) {
        if let Some(mut par) = self.par.take() {
            for arm in par.arms.values_mut() {
                arm.sum.end(common);
            }
            self.tally.take_par(*par, common);
        }
        if let Some(mut seq) = self.seq.take() {
            for step in seq.steps.values_mut() {
                step.end(common);
            }
            self.tally.take_seq(*seq, common);
        }
    }
}
