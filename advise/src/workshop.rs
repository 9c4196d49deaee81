//! What a search needs of those who can run programs.
//!
//! Owns what they are asked, and the forms of their answers.

use std::borrow::Cow;

use serde::Serialize;

use crate::change::{Change, Class};
use crate::hardware::Hardware;
use crate::pipeline::Passes;
use crate::proof::Piece;
use crate::rewrites::{Observed, Rewrite, RewriteKind};
use crate::variant::Variant;

/// Why a search ended without a result: a message for the user.
pub type Failure = String;

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Cycles with each of the data sets.
    pub cycles: Vec<u64>,
    /// What it is made of; states are not counted.
    pub hardware: Hardware,
}

/// What a program costs on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The device.
    pub device: String,
    /// Look-up tables.
    pub luts: u64,
    /// Flip-flops.
    pub ffs: u64,
    /// The period of the clock with the seed in the middle, in picoseconds; `None` where nobody tells.
    pub period_ps: Option<u64>,
    /// The same for each seed of place and route, shortest first.
    pub periods_ps: Vec<u64>,
}

impl Cost {
    /// How long so many cycles take with the seed in the middle, in nanoseconds; 0 where nobody tells the period.
    pub fn time_ns(&self, cycles: u64) -> u64 {
        let time = u128::from(cycles) * u128::from(self.period_ps.unwrap_or(0));
        u64::try_from((time + 500) / 1000).unwrap_or(u64::MAX)
    }
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// It came to its end, and computed what the design computes.
    Ran(Ran),
    /// It took more cycles than it might.
    TooLong,
    /// It computed something else with one of the data sets: what.
    Differs(String),
    /// The compiler refused it, or it came to no end: why.
    Failed(String),
}

/// Where a change is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdvisedStatement {
    /// What it is about, without its line: `main.while`.
    pub name: Option<String>,
    /// Its line and column in the text, from 1 on.
    pub at: Option<(u32, u32)>,
    /// The line of the front end's files.
    pub front_end: Option<String>,
}

/// What is known of a run of a program.
pub trait Profile {
    /// What edits need to know.
    fn observed(&self) -> &Observed;
    /// Cycles that a change could save at most, as far as the profile can tell; 0 if it is of no use.
    fn potential(&self, rewrite: &Rewrite) -> u64;
    /// Where an edit is.
    fn place(&self, rewrite: &Rewrite) -> AdvisedStatement;
}

/// Where programs are compiled and run.
pub trait Workshop: Sync {
    /// A profile of a program.
    type Profile: Profile;

    /// The names of the data sets.
    fn data(&self) -> Vec<String>;

    /// The run of the program as it is with all data sets.
    fn as_it_is(&self) -> Ran;

    /// Whether programs are held against the one with each cell apart rather than the one as it is.
    fn hold_against_apart(&self, is_apart: bool);

    /// Compiles and runs a program with all data sets; `limit` is how many cycles it may take with all of them together.
    fn try_out(&self, variant: &Variant, limit: u64) -> Trial;

    /// The edits that there are of a program.
    ///
    /// # Errors
    /// When it is no program.
    fn rewrites(&self, variant: &Variant, observed: &Observed) -> Result<Vec<Rewrite>, Failure>;

    /// The pieces of a program that are others after an edit of this kind, and whether they come to the same.
    ///
    /// # Errors
    /// When one is no program.
    fn pieces(&self, both: [&Variant; 2], kind: RewriteKind) -> Result<Vec<Piece>, Failure>;

    /// Profiles a program with all data sets.
    ///
    /// # Errors
    /// When it can't be compiled or run.
    fn profile(&self, variant: &Variant) -> Result<Self::Profile, Failure>;

    /// The states of all state machines of a program.
    ///
    /// # Errors
    /// When it can't be compiled.
    fn states(&self, variant: &Variant) -> Result<u64, Failure>;

    /// What a program costs on a device; `None` if nobody asked for that.
    ///
    /// # Errors
    /// When it can't be synthesised.
    fn cost(&self, _variant: &Variant) -> Result<Option<Cost>, Failure> {
        Ok(None)
    }

    /// Other ways to compile the program.
    fn pipelines(&self) -> Vec<Passes>;

    /// Is told how far the search is: runs done, and cycles of the best program so far.
    fn progress(&self, runs: usize, best: u64);

    /// Whether the user wants it to end.
    fn is_interrupted(&self) -> bool;
}

/// After so many cycles more, a run that does the same over and over is known to.
const TIME_TO_REPEAT: u64 = 10_000;

/// A program to be tried.
pub(crate) struct Try<'a> {
    variant: &'a Variant,
    /// What is changed of it first. It is not before it is tried: there may be thousands.
    change: Option<&'a Change>,
    /// How many cycles it may take with all data sets together.
    pub limit: u64,
}

impl<'a> Try<'a> {
    /// This program, with a change already made, if it takes at most `limit` cycles.
    pub fn of(change: &Change, variant: &'a Variant, limit: u64) -> Self {
        // A proved one that never ends is not taken for a slow one: there is time to see it.
        let limit = match change.class() {
            Class::Proved => limit.saturating_mul(2).saturating_add(TIME_TO_REPEAT),
            Class::Checked => limit,
        };
        Self::plain(variant, limit)
    }

    /// This program, and a change of it.
    pub fn with(change: &'a Change, variant: &'a Variant, limit: u64) -> Self {
        Self {
            change: Some(change),
            ..Self::of(change, variant, limit)
        }
    }

    /// This program as it is.
    pub fn plain(variant: &'a Variant, limit: u64) -> Self {
        Self {
            variant,
            change: None,
            limit,
        }
    }

    /// The program with its change.
    pub fn variant(&self) -> Cow<'a, Variant> {
        match self.change {
            Some(change) => Cow::Owned(change.apply(self.variant)),
            None => Cow::Borrowed(self.variant),
        }
    }
}
