//! What is kept of each run, and of a sweep as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::expand::{Job, Name};

/// The version of the files of a sweep.
pub const VERSION: u32 = 1;

/// All that a run depends on, as a number that another run has only if it depends on the same.
#[derive(Debug, Clone)]
pub struct Inputs(Sha256);

impl Inputs {
    /// The inputs of a run by this version of petal.
    pub fn new(petal: &str) -> Self {
        let mut inputs = Self(Sha256::new());
        inputs.add("petal", petal.as_bytes());
        inputs
    }

    /// Adds one of them, such as the text of the `design`.
    pub fn add(&mut self, what: &str, content: &[u8]) {
        for part in [what.as_bytes(), content] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    /// The number, in hexadecimal.
    pub fn digest(self) -> String {
        let mut text = String::new();
        for byte in self.0.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

/// A run that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What it is called.
    #[serde(flatten)]
    pub name: Name,
    /// Of all that it depends on; none where that could not be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Why there is no result, as petal or the generator told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was measured, by name: cycles, unless the name says something else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, u64>,
}

impl Row {
    /// The row of a run that failed.
    pub fn failed(job: &Job, digest: Option<String>, error: impl Into<String>) -> Self {
        Self {
            name: job.name.clone(),
            digest,
            error: Some(error.into()),
            figures: BTreeMap::new(),
        }
    }

    /// Whether it is the result of a run with these inputs. One that failed is none: it may have been for lack of something.
    pub fn is_of(&self, digest: &str) -> bool {
        self.error.is_none() && self.digest.as_deref() == Some(digest)
    }

    /// The text of its file.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the keys are texts");
        text.push('\n');
        text
    }
}

/// A run that belongs to a sweep, whether or not it was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// What it is called.
    #[serde(flatten)]
    pub name: Name,
    /// The designs that one compares with one another.
    pub family: String,
    /// Whether its profile is kept.
    pub profile: bool,
}

/// A sweep as its folder describes it: the same for all parts of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// [`VERSION`].
    pub version: u32,
    /// The version of petal.
    pub petal: String,
    /// What it is called: the name of its file.
    pub name: String,
    /// The figures that are weighed against each other: less is better.
    pub pareto: [String; 2],
    /// All its runs, in order.
    pub runs: Vec<Run>,
}

impl Sweep {
    /// The sweep with these runs.
    pub fn new(petal: &str, name: &str, pareto: [String; 2], jobs: &[Job]) -> Self {
        let runs = jobs.iter().map(|job| Run {
            name: job.name.clone(),
            family: job.family.clone(),
            profile: job.keeps_profile,
        });
        Self {
            version: VERSION,
            petal: petal.to_owned(),
            name: name.to_owned(),
            pareto,
            runs: runs.collect(),
        }
    }

    /// The text of its file.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("the keys are texts");
        text.push('\n');
        text
    }

    /// The names of all figures in `rows`: those that every profile has first, in the order in which one reads them.
    pub fn figures(rows: &[Row]) -> Vec<String> {
        let there: BTreeSet<&String> = rows.iter().flat_map(|row| row.figures.keys()).collect();
        let rank = |name: &str| FIRST.iter().position(|first| *first == name);
        let mut names: Vec<String> = there.into_iter().cloned().collect();
        names.sort_by_key(|name| (rank(name).unwrap_or(FIRST.len()), name.clone()));
        names
    }
}

/// The figures that come first.
const FIRST: [&str; 7] = [
    "cycles",
    "useful_cycles",
    "computation_cycles",
    "condition_cycles",
    "overhead_cycles",
    "register_bits",
    "cells",
];
