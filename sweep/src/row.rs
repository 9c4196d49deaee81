//! What is kept of each run, and of a sweep as a whole.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::job::{Job, Name};

/// The version of the files of a sweep.
pub const VERSION: u32 = 1;

/// All that a run depends on: a digest of each thing, by what it is called, such as the path of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inputs(BTreeMap<String, String>);

impl Inputs {
    /// Adds one of them. What several are called is told apart by numbers.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        self.add_digest(name, short(&Sha256::digest(content)));
    }

    /// Adds one with this [`digest`](digest()).
    pub fn add_digest(&mut self, name: &str, digest: String) {
        let names = (1..).map(|number| match number {
            1 => name.to_owned(),
            _ => format!("{name} ({number})"),
        });
        for name in names {
            if let Entry::Vacant(free) = self.0.entry(name) {
                free.insert(digest);
                return;
            }
        }
    }

    /// Adds one that is not there.
    pub fn add_absent(&mut self, name: &str) {
        self.add_digest(name, "absent".to_owned());
    }

    /// Adds all of `others`.
    pub fn extend(&mut self, others: &Self) {
        for (name, digest) in &others.0 {
            self.add_digest(name, digest.clone());
        }
    }

    /// The digest of all of them.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for part in self.0.iter().flat_map(|(name, digest)| [name, digest]) {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        hexadecimal(&digest.finalize())
    }

    /// The things in which they differ from those of an earlier run: first what is not the same, then what only one of them has.
    pub fn changes<'a>(&'a self, earlier: &'a Self) -> impl Iterator<Item = &'a str> {
        let both = self.0.iter().filter_map(|(name, digest)| {
            let other = earlier.0.get(name)?;
            (other != digest).then_some(name)
        });
        let new = self.0.keys().filter(|name| !earlier.0.contains_key(*name));
        let gone = earlier.0.keys().filter(|name| !self.0.contains_key(*name));
        both.chain(new).chain(gone).map(String::as_str)
    }
}

/// The digest of a thing that is read.
///
/// # Errors
/// Those of reading.
pub fn digest(mut content: impl io::Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut content, &mut digest)?;
    Ok(short(&digest.finalize()))
}

fn short(digest: &[u8]) -> String {
    hexadecimal(&digest[..8])
}

/// What has different digests in two of these inputs; `None` if they go together.
pub fn conflict<'a>(all: impl IntoIterator<Item = &'a Inputs>) -> Option<&'a str> {
    let mut digests: HashMap<&str, &str> = HashMap::new();
    let parts = all.into_iter().flat_map(|inputs| &inputs.0);
    parts
        .filter(|(name, digest)| *digests.entry(name).or_insert(digest) != *digest)
        .map(|(name, _)| name.as_str())
        .next()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A run that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What it is called.
    #[serde(flatten)]
    pub name: Name,
    /// All that it depends on; less where that could not be found out.
    #[serde(default)]
    pub inputs: Inputs,
    /// Why there is no result, as petal or the generator told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was measured, by name: cycles, unless the name says something else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, u64>,
    /// What `summary.json` warns of, such as results that may be wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A row as its file has it.
#[derive(Serialize, Deserialize)]
struct Sealed<R> {
    #[serde(flatten)]
    row: R,
    /// The digest of the text without it.
    seal: String,
}

impl Row {
    /// The row of a run that failed.
    pub fn failed(job: &Job, inputs: Inputs, error: impl Into<String>) -> Self {
        Self {
            name: job.name.clone(),
            inputs,
            error: Some(error.into()),
            figures: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether it is the result of a run with these inputs. One that failed is none: it may have been for lack of something.
    pub fn is_of(&self, inputs: &Inputs) -> bool {
        self.error.is_none() && self.inputs == *inputs
    }

    /// The text of its file.
    pub fn json(&self) -> String {
        let sealed = Sealed {
            row: self,
            seal: self.seal(),
        };
        let mut text = serde_json::to_string_pretty(&sealed).expect("the keys are texts");
        text.push('\n');
        text
    }

    /// The row in the text of a file; `None` if nobody wrote it so.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let Sealed { row, seal } = serde_json::from_slice::<Sealed<Self>>(text).ok()?;
        (row.seal() == seal).then_some(row)
    }

    fn seal(&self) -> String {
        let text = serde_json::to_string(self).expect("the keys are texts");
        hexadecimal(&Sha256::digest(text)[..8])
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
const FIRST: [&str; 14] = [
    "cycles",
    "useful_cycles",
    "computation_cycles",
    "condition_cycles",
    "overhead_cycles",
    "register_bits",
    "cells",
    "time_ns",
    "period_ps",
    "luts",
    "ffs",
    "brams",
    "dsps",
    "carries",
];
