//! Hotspots: the statements that cost a run cycles, and why.
//!
//! Owns the reasons in words, which section of the guide tells more of each, and the next step. A further kind of row is a variant of
//! [`HotspotKind`] and a function that lists its rows.

use std::collections::BTreeMap;

use petal_metadata::{Component, Contention, ControlKind, Id, Metadata, SiteId};
use petal_reconstruct::Overhead;
use serde::{Deserialize, Serialize};

use crate::activations::Activations;
use crate::control::Counts;
use crate::front_end::{FrontEndLine, FrontEndLines, PartNames, ProgramPart};
use crate::guide::GuideSection;
use crate::independence::{Independence, independences};
use crate::ledger::{Ledger, Statement, StatementId};
use crate::sites::{self, Sites};
use crate::waits::Wait;
use petal_table::Columns;
use petal_table::selection::SITE;
use petal_table::text::{amount, share};
use petal_table::{RowId, Table, Value, thousands};
use serde_json::Value as Json;

/// Why cycles are on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HotspotKind {
    /// They are no computation: the statement's own condition and its overhead. All such rows, and what no statement is charged for,
    /// add up to the run without its computation.
    Cost,
    /// Arms of a `par` had ended, and waited for its slowest one. The run lost nothing else by that.
    ParWait,
    /// Steps of a `seq` run one after the other, though they do not depend on one another.
    Independent,
    /// Such steps could not run at once, because they have the same hardware.
    SharedHardware,
}

impl HotspotKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Cost,
        Self::ParWait,
        Self::Independent,
        Self::SharedHardware,
    ];

    /// The headings of a list of such rows, and of what they cost.
    pub fn titles(self) -> [&'static str; 2] {
        match self {
            Self::Cost => ["what costs", "cycles"],
            Self::ParWait => ["longest waits in par", "waits"],
            Self::Independent => ["steps that could run at once", "saves at most"],
            Self::SharedHardware => ["steps that share hardware", "saves at most"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::ParWait => "par-wait",
            Self::Independent => "independent",
            Self::SharedHardware => "shared-hardware",
        }
    }
}

/// A statement that costs cycles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hotspot {
    /// In which way.
    pub kind: HotspotKind,
    /// Which.
    pub statement: StatementId,
    /// Component and label: `main.while@L12`.
    pub name: String,
    /// Its first line.
    pub source: String,
    /// The line of the front end's files that it comes from: `queue.py:12` and the text, if they are known.
    pub front_end: Option<String>,
    /// Cycles that it costs, in all instances of its component together: not those in which it was active.
    pub cost: u64,
    /// Those of them that are the statement's own condition; the rest of a [`HotspotKind::Cost`] is overhead.
    pub conditions: u64,
    /// Cycles of the run.
    pub run: u64,
    /// Times that it was entered, if that is known.
    pub times: Option<u64>,
    /// Why, in words.
    pub why: String,
    /// The section of the guide that tells more.
    pub section: GuideSection,
}

impl Hotspot {
    /// What it costs each time that it was entered.
    pub fn each(&self) -> Value {
        self.times
            .map_or(Value::Unknown, |times| Value::average(self.cost, times))
    }

    /// What it costs in percent of the run.
    pub fn percent(&self) -> Value {
        Value::percent(self.cost, self.run)
    }
}

/// A hotspot as `summary.json` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedHotspot {
    /// In which way it costs.
    pub kind: HotspotKind,
    /// Component and label: `main.while@L12`.
    pub name: String,
    /// Its first line.
    pub source: String,
    /// The line of the front end's files that it comes from: `queue.py:12` and the text, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_end: Option<String>,
    /// Cycles that it costs, in all instances of its component together.
    pub cost: u64,
    /// Those of them that are the statement's own condition; the rest of a [`HotspotKind::Cost`] is overhead.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub conditions: u64,
    /// They in percent of the run, with two decimals; `None` of a run without cycles.
    pub percent: Option<f64>,
    /// Times that it was entered, if that is known.
    pub times: Option<u64>,
    /// Cycles that it costs each time, with two decimals.
    pub each: Option<f64>,
    /// Why, in words.
    pub why: String,
    /// The section of the guide that tells more, from the folder of the project.
    pub guide: String,
    /// What to do about it, or what was found already, in words; `None` where petal knows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The next step where nobody has asked `petal advise`.
pub(crate) const TRIED: &str = "`petal advise` tries this kind";

/// The next step where it was asked whether steps may run at once, and found none that save.
pub(crate) const NONE: &str = "`petal advise` found none that saves on top of its advice";

/// The next step where it was asked, had no time for all, and found nothing here.
pub(crate) const NO_TIME: &str = "`petal advise` had no time for all of this kind (`--budget`)";

impl RankedHotspot {
    /// A hotspot, with what `petal advise` found in the run if it was asked.
    pub fn new(hotspot: Hotspot, advice: Option<&Json>) -> Self {
        let mut row = Self {
            percent: hotspot.percent().json().as_f64(),
            each: hotspot.each().json().as_f64(),
            guide: hotspot.section.link().to_owned(),
            kind: hotspot.kind,
            name: hotspot.name,
            source: hotspot.source,
            front_end: hotspot.front_end,
            cost: hotspot.cost,
            conditions: hotspot.conditions,
            times: hotspot.times,
            why: hotspot.why,
            next: None,
        };
        row.next = row.next_step(advice);
        row
    }

    /// The next step: what `petal advise` found for this statement if it looked, else whether it would look. Only what it ran is a saving.
    pub(crate) fn next_step(&self, advice: Option<&Json>) -> Option<String> {
        let is_tried = self.conditions > 0
            || matches!(
                self.kind,
                HotspotKind::Independent | HotspotKind::SharedHardware
            );
        let Some(advice) = advice else {
            return is_tried.then(|| TRIED.to_owned());
        };
        let items = advice["advice"].as_array()?.iter();
        let mut here = items.filter(|item| {
            let is_meant = match self.kind {
                HotspotKind::Cost => true,
                // What else it found at such a statement is told there.
                HotspotKind::Independent => item["kind"] == "parallel-steps",
                HotspotKind::ParWait | HotspotKind::SharedHardware => false,
            };
            is_meant && item["place"] == self.name.as_str()
        });
        let Some(item) = here.next() else {
            return match self.kind {
                _ if is_tried && is_unfinished(advice) => Some(NO_TIME.to_owned()),
                HotspotKind::Independent => Some(NONE.to_owned()),
                _ => None,
            };
        };
        let (class, saved) = (item["class"].as_str()?, item["on_top"].as_u64()?);
        Some(format!(
            "`petal advise`: {class}, saves {}",
            thousands(saved)
        ))
    }
}

/// Whether `petal advise` had no time to try all changes.
pub fn is_unfinished(advice: &Json) -> bool {
    let count = advice["tried"]["not_tried"].as_u64();
    count.is_some_and(|count| count > 0)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_zero(cycles: &u64) -> bool {
    *cycles == 0
}

/// The most expensive hotspots of each kind: so many.
pub(crate) fn ranked(all: &[Hotspot], most: usize) -> Vec<Hotspot> {
    let ranked = HotspotKind::ALL.map(|kind| {
        let rows = all.iter().filter(|row| row.kind == kind);
        rows.take(most).cloned().collect::<Vec<Hotspot>>()
    });
    ranked.into_iter().flatten().collect()
}

/// The hotspots of a run of `run` cycles, by kind, and the most expensive first.
pub fn hotspots(
    metadata: &Metadata,
    ledger: &Ledger,
    activations: &Activations<'_>,
    run: u64,
) -> Vec<Hotspot> {
    let names = metadata.components.iter();
    let names = names.map(|component| PartNames::new(metadata, component));
    let list = List {
        metadata,
        names: names.collect(),
        counts: Counts::of(metadata, activations),
        lines: FrontEndLines::new(metadata),
        run,
    };
    let statements = ledger.statements.iter();
    let charged = statements.filter(|(_, statement)| statement.cost() > 0);
    let costs = charged.map(|(&id, statement)| list.cost(id, statement));
    let waits = activations.waits();
    let waits = waits.iter().filter(|(_, wait)| wait.cycles > 0);
    let waits = waits.map(|(&id, wait)| list.wait(id, wait));
    let independent = independences(metadata, ledger);
    let independent = independent.iter().map(|steps| list.independent(steps));
    let mut all: Vec<Hotspot> = costs.chain(waits).chain(independent).collect();
    all.sort_by_key(|hotspot| (hotspot.kind, std::cmp::Reverse(hotspot.cost)));
    all
}

/// The table of hotspots. `cost` of those of the kind `cost`, and what no statement is charged for, add up to
/// the run without its computation.
pub fn table(sites: &Sites<'_>, hotspots: &[Hotspot]) -> Table {
    let metadata = sites.metadata();
    let rows = hotspots.iter().map(|hotspot| {
        let (component, statement) = hotspot.statement;
        let span = metadata.component(component).node(statement).span;
        let row = HotspotRow {
            hotspot,
            file: span.map(|span| &*metadata.files[span.file.index()].name),
            line: span.map(|span| span.line),
            site: sites.only_statement(component, statement),
        };
        (RowId::Statement(component, statement), row)
    });
    columns().table_of(rows)
}

/// A hotspot, and where it is.
struct HotspotRow<'a> {
    hotspot: &'a Hotspot,
    file: Option<&'a str>,
    line: Option<u32>,
    site: Option<SiteId>,
}

/// The columns of the table of hotspots.
fn columns<'a>() -> Columns<HotspotRow<'a>> {
    Columns::default()
        .text("kind", |row: &HotspotRow<'_>| {
            row.hotspot.kind.name().into()
        })
        .text("statement", |row| row.hotspot.name.as_str().into())
        .text("file", |row| row.file.map_or(Value::Empty, Value::from))
        .number("line", |row| {
            row.line.map_or(Value::Empty, |line| u64::from(line).into())
        })
        .prose("front end", |row| {
            let line = row.hotspot.front_end.as_deref();
            line.map_or(Value::Empty, Value::from)
        })
        .number("cost", |row| row.hotspot.cost.into())
        .decimal("% of run", |row| row.hotspot.percent())
        .number("times entered", |row| Value::or_unknown(row.hotspot.times))
        .decimal("each", |row| row.hotspot.each())
        .prose("why", |row| row.hotspot.why.as_str().into())
        .prose("guide", |row| row.hotspot.section.link().into())
        .aside(SITE, |row| sites::cell(row.site))
}

/// What rows are made of.
struct List<'a> {
    metadata: &'a Metadata,
    names: Vec<PartNames<'a>>,
    counts: Counts<petal_metadata::ComponentId>,
    lines: FrontEndLines<'a>,
    run: u64,
}

impl List<'_> {
    fn label(&self, (id, statement): StatementId) -> String {
        self.names[id.index()].name(ProgramPart::Statement(statement))
    }

    fn row(
        &self,
        kind: HotspotKind,
        statement: StatementId,
        cost: u64,
        (why, section): (String, GuideSection),
    ) -> Hotspot {
        let component = self.metadata.component(statement.0);
        let node = component.node(statement.1);
        let source = node.span.map_or("", |span| {
            self.metadata.files[span.file.index()].line(span.line)
        });
        let lines = self.lines.of_statement(component, statement.1).into_iter();
        let lines = lines.filter_map(|line| match line {
            FrontEndLine::At(file, line) => Some(self.lines.with_text(file, line)),
            FrontEndLine::Untold | FrontEndLine::Compiler => None,
        });
        let lines: Vec<String> = lines.collect();
        Hotspot {
            kind,
            statement,
            name: format!("{}.{}", component.name, self.label(statement)),
            source: source.to_owned(),
            front_end: (!lines.is_empty()).then(|| lines.join("; ")),
            cost,
            conditions: 0,
            run: self.run,
            times: self.counts.times(statement.0, statement.1),
            why,
            section,
        }
    }

    /// The own condition and the overhead of a statement.
    fn cost(&self, id: StatementId, statement: &Statement) -> Hotspot {
        let component = self.metadata.component(id.0);
        let mut reasons: BTreeMap<GuideSection, (&str, u64)> = BTreeMap::new();
        if statement.own_conditions > 0 {
            let reason = (
                "checks its condition in cycles of its own",
                statement.own_conditions,
            );
            reasons.insert(GuideSection::Conditions, reason);
        }
        for (kind, cycles) in Overhead::ALL.into_iter().zip(statement.overhead) {
            if cycles > 0 {
                let (section, reason) = reason(component.node(id.1).kind, kind);
                reasons.entry(section).or_insert((reason, 0)).1 += cycles;
            }
        }
        let mut reasons: Vec<(GuideSection, (&str, u64))> = reasons.into_iter().collect();
        reasons.sort_by_key(|&(_, (_, cycles))| std::cmp::Reverse(cycles));
        let told = reasons.iter().map(|&(section, (reason, cycles))| {
            let each = self.each(component, id, section, cycles);
            format!("{reason}{each}")
        });
        let why = told.collect::<Vec<String>>().join("; ");
        let section = reasons
            .first()
            .map_or(GuideSection::Unknown, |first| first.0);
        Hotspot {
            conditions: statement.own_conditions,
            ..self.row(HotspotKind::Cost, id, statement.cost(), (why, section))
        }
    }

    /// What the arms of a `par` waited.
    fn wait(&self, id: StatementId, wait: &Wait) -> Hotspot {
        let slowest = wait.slowest.iter().rev().max_by_key(|(_, cycles)| **cycles);
        let why = slowest.map_or(String::new(), |(&arm, &cycles)| {
            let arm = self.label((id.0, arm));
            if cycles == wait.cycles {
                format!("its arms wait for {arm}")
            } else {
                let share = share(cycles.into(), wait.cycles.into());
                let others = match wait.slowest.len() - 1 {
                    1 => "for another arm".to_owned(),
                    others => format!("for {others} other arms"),
                };
                format!("its arms wait for {arm} in {share} of these cycles, {others} in the rest")
            }
        });
        let component = self.metadata.component(id.0);
        let each = self.each(component, id, GuideSection::ArmsThatWait, wait.cycles);
        let why = (format!("{why}{each}"), GuideSection::ArmsThatWait);
        self.row(HotspotKind::ParWait, id, wait.cycles, why)
    }

    /// Steps that could run at once.
    fn independent(&self, independence: &Independence<'_>) -> Hotspot {
        let label = |statement| self.label((independence.statement.0, statement));
        let (longer, shorter) = independence.pair;
        let pair = format!(
            "{} and {} do not depend on one another",
            label(longer),
            label(shorter)
        );
        let (kind, why, section) = match independence.contention {
            None => (
                HotspotKind::Independent,
                pair,
                GuideSection::IndependentSteps,
            ),
            Some(Contention { cell, other, .. }) => {
                let shared = if cell == other {
                    format!("{pair}, but both use {cell}")
                } else {
                    format!("{pair}, but {cell} and {other} are one in hardware")
                };
                (
                    HotspotKind::SharedHardware,
                    shared,
                    GuideSection::StepsThatShare,
                )
            }
        };
        self.row(
            kind,
            independence.statement,
            independence.cycles,
            (why, section),
        )
    }

    /// `: 2 cycles each time`; `: 1 cycle each iteration` for loops of which it is told how often they went round.
    fn each(
        &self,
        component: &Component,
        (id, statement): StatementId,
        section: GuideSection,
        cycles: u64,
    ) -> String {
        let iterations = self.counts.iterations(component, id, statement);
        if section == GuideSection::Conditions {
            return match cycles {
                1 => ", once".to_owned(),
                _ => format!(", {} times", thousands(cycles)),
            };
        }
        let times = self.counts.times(id, statement);
        let (count, unit) = match iterations.filter(|_| section == GuideSection::Loops) {
            Some(_) if times == Some(cycles) => (times, "time it is entered"),
            Some(iterations) => (Some(iterations), "iteration"),
            None => (times, "time"),
        };
        match count {
            None | Some(0) => String::new(),
            Some(count) => {
                let each = amount(cycles.into(), count.into());
                let cycles = if each == "1" { "cycle" } else { "cycles" };
                format!(": {each} {cycles} each {unit}")
            }
        }
    }
}

/// Why a statement costs cycles of a kind, and where the guide tells more.
pub fn reason(statement: ControlKind, overhead: Overhead) -> (GuideSection, &'static str) {
    match (overhead, statement.dynamic()) {
        (Overhead::FsmUpdate | Overhead::FsmAndParDone, ControlKind::If) => {
            (GuideSection::Branches, "enters and leaves its branch")
        }
        (
            Overhead::FsmUpdate | Overhead::FsmAndParDone,
            ControlKind::While | ControlKind::Repeat,
        ) => (GuideSection::Loops, "enters its body and goes round"),
        (Overhead::FsmUpdate | Overhead::FsmAndParDone, ControlKind::Par)
        | (Overhead::ParDone, _) => (
            GuideSection::EndsOfArms,
            "sets and clears the done registers of arms",
        ),
        (Overhead::FsmUpdate | Overhead::FsmAndParDone, _) => {
            (GuideSection::Steps, "moves from step to step")
        }
        (Overhead::StaticWait, ControlKind::If) => (
            GuideSection::StaticWaits,
            "pads the shorter branch of a static program",
        ),
        (Overhead::StaticWait, ControlKind::Par) => (
            GuideSection::StaticWaits,
            "waits for the longest arm of a static program",
        ),
        (Overhead::StaticWait, ControlKind::Enable) => (
            GuideSection::StaticWaits,
            "keeps the time of a group of which the compiler has left nothing",
        ),
        (Overhead::StaticWait, _) => (GuideSection::StaticWaits, "counter of a static program"),
        (Overhead::Barrier, _) => (GuideSection::Barriers, "waits at a barrier"),
        (Overhead::StartFinish, _) => (
            GuideSection::StartAndFinish,
            "starts and ends its component",
        ),
        (Overhead::Other, _) => (GuideSection::Unknown, "nothing that petal sees changes"),
    }
}
