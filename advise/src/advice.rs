//! What came out: the changes that save cycles, with what each saves and costs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::change::{Change, Class};
use crate::front::Point;
use crate::patch::{hunks, patch};
use crate::search::{Kept, Outcome, Search, total};
use crate::variant::Variant;
use crate::workshop::{Failure, Ran, Workshop};

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
    /// What else was tried.
    pub tried: Tried,
    /// The patch of all that is proved.
    #[serde(skip)]
    pub proved_patch: String,
    /// The patch of all advice.
    #[serde(skip)]
    pub all_patch: String,
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
    /// The hardware as it is.
    pub hardware: Hardware,
    /// The hardware with all advice.
    pub hardware_with_all: Hardware,
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
    /// Cycles that it saves on top of all advice before it.
    pub on_top: u64,
    /// The same in percent of the run as it is.
    pub percent: f64,
    /// What it costs in hardware, on top of all advice before it.
    pub hardware: HardwareChange,
    /// The same in words.
    pub cost: String,
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

/// The hardware of a lowered design, in all of its instances, but for the multiplexers that assignments become.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Registers.
    pub registers: u64,
    /// Their bits, each with its `done`.
    pub register_bits: u64,
    /// States of state machines.
    pub states: u64,
    /// Other cells: how many there are of each primitive and width, such as `std_add(32)`.
    pub cells: BTreeMap<String, u64>,
}

/// How hardware changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HardwareChange {
    /// Registers more.
    pub registers: i64,
    /// Bits of registers more.
    pub register_bits: i64,
    /// States of state machines more.
    pub states: i64,
    /// Other cells more, by primitive and width; those that are as many as before are left out.
    pub cells: BTreeMap<String, i64>,
}

fn difference(before: u64, after: u64) -> i64 {
    i64::try_from(after).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(i64::MAX)
}

impl HardwareChange {
    pub(crate) fn between(before: &Hardware, after: &Hardware) -> Self {
        let names = before.cells.keys().chain(after.cells.keys());
        let count = |of: &Hardware, name: &String| of.cells.get(name).copied().unwrap_or(0);
        let cells = names.map(|name| {
            let change = difference(count(before, name), count(after, name));
            (name.clone(), change)
        });
        Self {
            registers: difference(before.registers, after.registers),
            register_bits: difference(before.register_bits, after.register_bits),
            states: difference(before.states, after.states),
            cells: cells.filter(|(_, change)| *change != 0).collect(),
        }
    }

    /// In words: `2 registers (9 bits) and 1 state less, std_add(8) +1`.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |count: i64, what: &str| {
            if count != 0 {
                let plural = if count.abs() == 1 { "" } else { "s" };
                parts.push(format!("{count:+} {what}{plural}"));
            }
        };
        part(self.registers, "register");
        part(self.register_bits, "register bit");
        part(self.states, "state");
        parts.extend(
            self.cells
                .iter()
                .map(|(name, count)| format!("{count:+} {name}")),
        );
        if parts.is_empty() {
            return "the same hardware".to_owned();
        }
        parts.join(", ")
    }
}

impl Advice {
    /// Cycles that all advice saves, in percent.
    pub fn percent(&self) -> f64 {
        percent(self.cycles - self.with_all, self.cycles)
    }

    /// Cycles that the advice saves that is proved, in percent.
    pub fn proved_percent(&self) -> f64 {
        percent(self.cycles - self.with_proved, self.cycles)
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
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

impl<W: Workshop> Search<'_, W> {
    /// The advice that the search came to.
    pub(crate) fn advice(
        self,
        design: &str,
        file: &OsStr,
        original: &Variant,
        before: &Ran,
        kept: Vec<Kept>,
    ) -> Result<Advice, Failure> {
        let with_states = |variant: &Variant, ran: &Ran| {
            let states = self.workshop.states(variant)?;
            Ok::<Hardware, Failure>(Hardware {
                states,
                ..ran.hardware.clone()
            })
        };
        let cycles = total(before);
        let hardware = with_states(original, before)?;
        let mut items = Vec::new();
        let mut last = (original.clone(), before.clone(), hardware.clone());
        let mut proved = (original.text().to_owned(), cycles);
        let mut only_proved = true;
        for (at, step) in kept.into_iter().enumerate() {
            let Kept {
                change,
                key,
                place,
                after,
                ran,
            } = step;
            let hardware = with_states(&after, &ran)?;
            let number = at + 1;
            let alone = self.alone.get(&key);
            let (from, to) = match alone {
                Some((change, _)) => (original, &change.apply(original)),
                None => (&last.0, &after),
            };
            let diff = patch(file, from.text(), to.text());
            let hunks = hunks(from.text(), to.text());
            let class = change.class();
            only_proved &= class == Class::Proved;
            if only_proved {
                proved = (after.text().to_owned(), total(&ran));
            }
            let on_top = total(&last.1) - total(&ran);
            let arguments = match &change {
                Change::Compile(passes) => passes.arguments(),
                Change::Edit(_) => Vec::new(),
            };
            let line = place.line;
            let how = place.front_end.as_deref().and_then(|line| change.how(line));
            let cost = HardwareChange::between(&last.2, &hardware);
            items.push(Item {
                number,
                kind: change.kind(),
                class,
                place: place.name.map(|name| match line {
                    Some(line) => format!("{name}@L{line}"),
                    None => name,
                }),
                line,
                front_end: place.front_end,
                what: change.what(),
                why: format!("{} {}", change.why(), change.premise()),
                how,
                alone: alone.map(|(_, saved)| *saved),
                on_top,
                percent: percent(on_top, cycles),
                cost: cost.text(),
                hardware: cost,
                patch: (!diff.is_empty()).then(|| format!("{number:02}-{}.patch", change.kind())),
                diff,
                hunks,
                arguments,
            });
            last = (after, ran, hardware);
        }
        let (after, ran, hardware_with_all) = last;
        let data = self.workshop.data().into_iter().enumerate();
        let data = data.map(|(at, name)| DataSet {
            name,
            cycles: before.cycles[at],
            with_all: ran.cycles[at],
        });
        Ok(Advice {
            design: design.to_owned(),
            file: file.to_string_lossy().into_owned(),
            data: data.collect(),
            cycles,
            with_proved: proved.1,
            with_all: total(&ran),
            advice: items,
            tried: self.tried(),
            proved_patch: patch(file, original.text(), &proved.0),
            all_patch: patch(file, original.text(), after.text()),
            text: after.text().to_owned(),
            arguments: after.passes().arguments(),
            defects: self.defects,
            interrupted: false,
            front: Vec::new(),
            hardware,
            hardware_with_all,
        })
    }

    /// What was tried.
    fn tried(&self) -> Tried {
        let count = |wanted| {
            let outcomes = self.outcomes.values();
            outcomes.filter(|outcome| **outcome == wanted).count()
        };
        Tried {
            changes: self.outcomes.len(),
            runs: self.runs.load(Ordering::Relaxed),
            without_effect: count(Outcome::WithoutEffect),
            failed: count(Outcome::Failed),
            different: count(Outcome::Different),
            not_tried: self.not_tried.len(),
        }
    }
}
