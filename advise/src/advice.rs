//! What came out: the changes that save cycles, with what each saves and costs.

use serde::Serialize;

use crate::change::Class;
use crate::hardware::{Hardware, HardwareChange};
use crate::proof::Looked;
use crate::search::Goal;
use crate::workshop::Cost;

/// What a design was advised.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// The name of the design.
    pub design: String,
    /// The file that patches are of.
    pub file: String,
    /// The data that everything was tried on, with the cycles as it is.
    pub data: Vec<DataSet>,
    /// Cycles of all data sets together, as it is.
    pub cycles: u64,
    /// The same with all advice that is proved.
    pub with_proved: u64,
    /// The same with all advice.
    pub with_all: u64,
    /// The advice: what is proved first, then what is checked; in each the best first.
    pub advice: Vec<Item>,
    /// What is not advised although it may save cycles, that which saves most first.
    pub not_advised: Vec<NotAdvised>,
    /// What else was tried.
    pub tried: Tried,
    /// The patch of all that is proved.
    #[serde(skip)]
    pub proved_patch: String,
    /// The patch of all advice.
    #[serde(skip)]
    pub all_patch: String,
    /// What is shown of all that is proved, piece by piece.
    #[serde(skip)]
    pub proof: String,
    /// The text with all advice.
    #[serde(skip)]
    pub text: String,
    /// The arguments of the command that compile it as advised.
    pub arguments: Vec<String>,
    /// Proved changes that were none: each is a defect of petal.
    pub defects: Vec<Defect>,
    /// Whether the user ended the search, so that this is what was found until then.
    pub interrupted: bool,
    /// With a search of combinations: the programs that none beats in cycles, bits of registers and cells, by cycles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front: Vec<Point>,
    /// What it costs on a device, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized: Option<Synthesized>,
    /// The hardware as it is.
    pub hardware: Hardware,
    /// The hardware with all advice.
    pub hardware_with_all: Hardware,
}

/// What a design costs on a device, as it is and as advised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Synthesized {
    /// What the advice is to save.
    pub goal: Goal,
    /// As it is.
    pub before: Cost,
    /// With all advice.
    pub with_all: Cost,
    /// Changes that save cycles, but do not serve the goal.
    pub left_out: Vec<String>,
}

/// A program that no other one beats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Cycles with all data sets together.
    pub cycles: u64,
    /// Bits of registers.
    pub register_bits: u64,
    /// Other cells.
    pub cells: u64,
    /// What was changed, in order.
    pub changes: Vec<String>,
    /// Whether all of that is proved.
    pub proved: bool,
    /// What it costs on a device; `None` if nobody asked, or it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized: Option<Cost>,
    /// The arguments of the command that compile it so.
    pub arguments: Vec<String>,
    /// The name of its patch; `None` for the file as it is.
    pub patch: Option<String>,
    /// The patch of the file as it is.
    pub diff: String,
}

/// A change that is not advised, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotAdvised {
    /// What kind of change it is.
    pub kind: &'static str,
    /// What it is about: a statement such as `main.while@L12`, or a component.
    pub place: Option<String>,
    /// Its line in the file.
    pub line: Option<u32>,
    /// The line of the front end's files that it comes from.
    pub front_end: Option<String>,
    /// What it would do.
    pub what: String,
    /// What nobody knows to be so, or is not.
    pub why: String,
    /// Cycles that it saves on top of the advice; `None` where it leaves something else in the memories, or nobody tried.
    pub saves: Option<u64>,
}

/// A change that petal took for proved although the design is not the same with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Defect {
    /// What to do.
    pub what: String,
    /// What came of it.
    pub problem: String,
    /// The program with it.
    #[serde(skip)]
    pub text: String,
}

impl Defect {
    /// The name of the file with the program, for the defect at an index.
    pub fn file(at: usize) -> String {
        format!("defect-{:02}.futil", at + 1)
    }
}

/// Data that a design was tried on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DataSet {
    /// The file, as it was given; `zeros` without one.
    pub name: String,
    /// Cycles of the design as it is.
    pub cycles: u64,
    /// Cycles with all advice.
    pub with_all: u64,
}

/// A piece of advice.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// From 1 on, in order.
    pub number: usize,
    /// What kind of change it is.
    pub kind: &'static str,
    /// How certain it is that the design computes the same.
    pub class: Class,
    /// What it is about: a statement such as `main.while@L12`, or a component.
    pub place: Option<String>,
    /// Its line in the file.
    pub line: Option<u32>,
    /// The line of the front end's files that it comes from.
    pub front_end: Option<String>,
    /// What to do.
    pub what: String,
    /// Why, in two sentences.
    pub why: String,
    /// How to do it in the language of the front end, if petal knows.
    pub how: Option<&'static str>,
    /// Cycles that it saves without any other advice; `None` if it was tried only on top of what stands before it.
    pub alone: Option<u64>,
    /// Cycles that it saves on top of all advice before it; below 0 if it costs some.
    pub on_top: i64,
    /// The same in percent of the run as it is.
    pub percent: f64,
    /// Cycles with all advice up to this.
    pub cycles: u64,
    /// What the design with all advice up to this costs on a device, if each was synthesised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesized: Option<Cost>,
    /// What it costs in hardware, on top of all advice before it.
    pub hardware: HardwareChange,
    /// The same in words.
    pub cost: String,
    /// Of a proved edit: how many pieces it makes others, and how many of them come to the same when run with unknown values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Looked>,
    /// The name of its patch; `None` if it is about the command line.
    pub patch: Option<String>,
    /// The patch: for the file as it is, or if it was tried on top of others, for the file with these.
    pub diff: String,
    /// The same in short: the lines that change.
    #[serde(skip)]
    pub(crate) hunks: String,
    /// The arguments of the command, if it is about that.
    pub arguments: Vec<String>,
}

/// How many changes were tried, and what came of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// All that were.
    pub changes: usize,
    /// Programs that were compiled and run for it.
    pub runs: usize,
    /// Those that saved nothing.
    pub without_effect: usize,
    /// Those that were refused by the compiler, or did not come to an end.
    pub failed: usize,
    /// Those after which the design computed something else. None of them is advised.
    pub different: usize,
    /// Changes that there was no time to try.
    pub not_tried: usize,
}

impl Advice {
    /// Cycles that all advice saves, in percent.
    pub fn percent(&self) -> f64 {
        percent(saved(self.cycles, self.with_all), self.cycles)
    }

    /// Cycles that the advice saves that is proved, in percent.
    pub fn proved_percent(&self) -> f64 {
        percent(saved(self.cycles, self.with_proved), self.cycles)
    }
}

/// What is saved by that.
pub(crate) fn saved(before: u64, after: u64) -> i64 {
    let [before, after] = [before, after].map(|cycles| i64::try_from(cycles).unwrap_or(i64::MAX));
    before - after
}

#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
pub(crate) fn percent(part: i64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        (part as f64 * 10_000.0 / whole as f64).round() / 100.0
    }
}

impl Advice {
    /// As JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
