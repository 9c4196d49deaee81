//! The report: one page that shows a whole profile in a browser, without a network.
//!
//! Owns the data that the page gets and the page around it. What the page does with them is in
//! the scripts of this folder. Names and sources of a design only ever reach the page as data: in
//! JSON that no tag can end, or escaped.

mod area;
mod frames;
mod page;
mod place;
mod tables;

use std::collections::BTreeMap;

use petal_metadata::{FileId, FrontEndFileId, Id};
use petal_reconstruct::Overhead;
use serde::Serialize;

pub use self::area::Area;
use self::frames::{Frame, Frames, LineOfFrame, Nodes, Reason};
use self::tables::{PageTable, Tables};
use crate::colors::{Paint, paints};
use petal_analysis::Analysis;
use petal_analysis::annotate::Line;
use petal_analysis::front_end::front_end_file;
use petal_analysis::hotspots::HotspotKind;
use petal_analysis::order::Bins;
use petal_analysis::summary::{Summary, Verified};
use petal_table::RowId;
use petal_table::terms;

/// Lines of a file beyond this one are not shown: positions may name any.
const MAX_LINES: u32 = 100_000;

/// How many hotspots of a kind stand beside the views; the table has all.
const MOST_LISTED: usize = 20;

/// What a report is made of.
struct Report<'a, 'd> {
    analysis: &'a Analysis<'d>,
    summary: &'a Summary,
    area: Option<&'a Area>,
}

/// The text of the report: one page of HTML, which shows `summary`, what is known of the area, and all the rest.
pub fn report(analysis: &Analysis<'_>, summary: &Summary, area: Option<&Area>) -> String {
    let report = Report {
        analysis,
        summary,
        area,
    };
    report.html()
}

/// What the page knows.
#[derive(Debug, Serialize)]
struct Data<'a> {
    design: &'a str,
    /// Why the run ended before the design was done, and what it waited for; empty if it was done.
    stopped: Vec<&'a str>,
    verified: Verified,
    /// What that means.
    verification: &'a str,
    warnings: &'a [String],
    versions: &'a BTreeMap<String, String>,
    /// What headings and other words of the page mean.
    terms: BTreeMap<&'a str, String>,
    cycles: u64,
    /// How long the run took, if its clock is known; then with the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<[String; 2]>,
    /// Names and cycles of the classes of cycles, which add up to `cycles`.
    classes: Vec<(&'static str, u64)>,
    /// What colours mean: first those of the classes.
    paints: Vec<Paint>,
    files: Vec<File<'a>>,
    hotspots: Vec<HotspotRow>,
    /// What `petal advise` found.
    advice: Option<&'a serde_json::Value>,
    what_if: Option<&'a serde_json::Value>,
    /// What was observed.
    observations: Option<serde_json::Value>,
    /// What its front end's variables hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<serde_json::Value>,
    /// Area and clock of the whole design; the tables have those of its parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    area: Option<&'a Area>,
    tables: &'a [PageTable],
    /// The lines of the front end that frames stand for.
    lines: &'a [LineOfFrame],
    frames: &'a [Frame],
    reasons: &'a [Reason],
    nodes: &'a Nodes,
    /// There if trees and runs do not fit into the page.
    bins: Option<Bins>,
}

/// What costs cycles, and why.
#[derive(Debug, Serialize)]
struct HotspotRow {
    /// The heading of the list that it is on.
    list: &'static str,
    /// The row of the statement in the table of control.
    row: usize,
    name: String,
    source: String,
    /// The front end's lines that it comes from, with their texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    front: Option<String>,
    cost: u64,
    /// The part of it that is the statement's own condition.
    conditions: u64,
    times: Option<u64>,
    why: String,
    guide: &'static str,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    name: &'a str,
    /// Whether it is the front end's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    front: bool,
    lines: Vec<&'a str>,
    /// Number, cycles, useful cycles and overhead of the lines that cost something or could.
    costs: Vec<(u32, u64, u64, u64)>,
}

impl<'a> File<'a> {
    fn new(name: &'a str, front: bool, lines: &[Line<'a>]) -> Self {
        // Those whose text is not known are there only if they have costs.
        let count = lines.last().map_or(0, |line| line.number.min(MAX_LINES));
        let mut texts = vec![""; usize::try_from(count).unwrap_or(usize::MAX)];
        for line in lines {
            let at = usize::try_from(line.number - 1).unwrap_or(usize::MAX);
            if let Some(text) = texts.get_mut(at) {
                *text = line.text;
            }
        }
        Self {
            name,
            front,
            lines: texts,
            costs: lines
                .iter()
                .filter(|line| line.number <= count)
                .filter_map(|line| {
                    let cost = line.cost?;
                    Some((line.number, cost.cycles, cost.useful, cost.overhead))
                })
                .collect(),
        }
    }
}

impl Report<'_, '_> {
    fn html(&self) -> String {
        let (analysis, metadata) = (self.analysis, self.analysis.metadata());
        let profile = analysis.profile();
        let mut tables = Tables::new(analysis);
        if let Some(area) = self.area {
            area.add_to(&mut tables.views);
        }
        let (frames, trees) = Frames::new(metadata, &tables, profile, analysis.shown());
        let (observations, variables) = self.observed();
        let heat = observations.as_ref().and_then(|all| all.get("heat"));
        let more = [
            variables.as_ref().map(|_| page::VARIABLES),
            heat.map(|_| page::HEAT),
        ];
        let more: Vec<&str> = more.into_iter().flatten().collect();
        let whole = trees.as_deref().zip(analysis.order().runs());
        let data = Data {
            design: &self.summary.design,
            stopped: self.stopped(),
            verified: self.summary.verified,
            verification: self.summary.verified.text(),
            warnings: &self.summary.warnings,
            versions: &self.summary.versions,
            terms: terms::hints(tables.headings()),
            cycles: profile.total(),
            time: self.summary.clock.map(|clock| [clock.time(), clock.text()]),
            classes: self.classes(),
            paints: paints(),
            files: (0..metadata.files.len())
                .map(|at| {
                    let name = &metadata.files[at].name;
                    File::new(name, false, &analysis.annotate(FileId::from_index(at)))
                })
                .chain((0..metadata.front_end.files.len()).map(|at| {
                    let id = FrontEndFileId::from_index(at);
                    let name = front_end_file(metadata, id);
                    File::new(name, true, &analysis.annotate_front_end(id))
                }))
                .collect(),
            hotspots: self.hotspots(&tables),
            advice: self.summary.advice.as_ref(),
            what_if: self.summary.what_if.as_ref(),
            observations,
            variables,
            area: self.area,
            tables: &tables.views,
            lines: &frames.lines,
            frames: &frames.list,
            reasons: &frames.reasons,
            nodes: &frames.nodes,
            bins: whole.is_none().then(|| analysis.order().bins()),
        };
        let (trees, runs) = whole.unwrap_or_default();
        page::write(self.summary, &data, trees, runs, &more)
    }

    /// What was observed, if there is something to show of it, and the front end's variables, which have a place of their own.
    fn observed(&self) -> (Option<serde_json::Value>, Option<serde_json::Value>) {
        let Some(mut observed) = self.summary.observations.clone() else {
            return (None, None);
        };
        let all = observed.as_object_mut();
        let Some(variables) = all.and_then(|all| all.remove("variables")) else {
            return (Some(observed), None);
        };
        let tables = observed["tables"].as_array();
        let is_shown = tables.is_some_and(|tables| !tables.is_empty());
        (is_shown.then_some(observed), Some(variables))
    }

    /// The most expensive of each kind.
    fn hotspots(&self, tables: &Tables) -> Vec<HotspotRow> {
        let mut listed: BTreeMap<HotspotKind, usize> = BTreeMap::new();
        let rows = self.analysis.hotspots().into_iter();
        let rows = rows.filter(|hotspot| {
            let count = listed.entry(hotspot.kind).or_default();
            *count += 1;
            *count <= MOST_LISTED
        });
        let rows = rows.filter_map(|hotspot| {
            let (component, statement) = hotspot.statement;
            // The table of control comes before that of hotspots.
            let (_, row) = *tables
                .rows(RowId::Statement(component, statement))
                .first()?;
            Some(HotspotRow {
                list: hotspot.kind.titles()[0],
                row,
                name: hotspot.name,
                source: hotspot.source,
                front: hotspot.front_end,
                cost: hotspot.cost,
                conditions: hotspot.conditions,
                times: hotspot.times,
                why: hotspot.why,
                guide: hotspot.section.link(),
            })
        });
        rows.collect()
    }

    fn stopped(&self) -> Vec<&str> {
        let waits = self.summary.ending.iter().flat_map(|ending| &ending.waits);
        let all = self.summary.stopped.iter().chain(waits);
        all.map(String::as_str).collect()
    }

    fn classes(&self) -> Vec<(&'static str, u64)> {
        let ledger = self.analysis.ledger();
        let kinds = Overhead::ALL.iter().map(|kind| kind.title());
        [
            ("computation", ledger.computation),
            ("conditions", ledger.conditions),
        ]
        .into_iter()
        .chain(kinds.zip(ledger.overhead))
        .collect()
    }
}
