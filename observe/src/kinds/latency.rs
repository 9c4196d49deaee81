//! Latencies: from one event to another, in the order of the beginnings or by a tag.
//!
//! Whatever happens in a run is looked at a fixed number of times, however many intervals are open.

mod found;
pub(super) mod open;

use std::collections::BTreeMap;

use petal_metadata::SiteId;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent};
use serde::{Deserialize, Serialize};

use crate::collector::{Collector, Finished, Outlet};
use found::Found;

use crate::activity::{Aspect, Subject, SubjectKind};
use crate::blame::{Blame, blame};
use crate::builder::{Builder, refuse};
use crate::checker::{Checker, Named};
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::{Problem, Refused};
use crate::program::Program;
use crate::recorded::{HasValues, Recorded, Recording, arguments, with_values};
use crate::stats::quantile;
use crate::syntax::{self, Kind, Syntax};
use crate::tables::{Forms, ResultTable, or_empty, site};
use crate::text::Text;
use crate::work::Work;

/// A latency. `from` alone is something with a handshake, or that is active.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LatencyRequest {
    /// What it is called [default: the expressions].
    pub name: Option<String>,
    /// An event, or both as `A..B`.
    pub from: Text,
    /// An event.
    pub to: Option<Text>,
    /// What tells which end belongs to which beginning [default: the first to begin is the first to end].
    pub tag: Option<Text>,
    /// The same at the end, if it is another expression there.
    pub tag_to: Option<Text>,
}

/// How long it took from one event to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// The expressions.
    pub when: String,
    /// How many there were.
    pub count: u64,
    /// Cycles of the shortest, the middle, the 99th of 100, and the longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// The middle one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<u64>,
    /// At least 99 of 100 are not longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// The longest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Cycles of all.
    pub total: u64,
    /// How many took how many cycles.
    pub histogram: BTreeMap<u64, u64>,
    /// Of a monitor on the chip: how many took at least so many cycles, 0 or a power of two, and fewer than twice that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub powers: BTreeMap<u64, u64>,
    /// Each, in the order in which they ended: the cycle in which it began, and how many cycles it took.
    pub intervals: Vec<(u64, u64)>,
    /// What checkpoints at its ends recorded for each, as `from_NAME` and `to_NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Recorded>,
    /// How many began and had not ended when the run was over.
    pub unfinished: u64,
    /// How many ends belong to no beginning.
    pub unmatched: u64,
    /// When those began that did not end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished_since: Vec<u64>,
    /// When something ended that had not begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched_at: Vec<u64>,
    /// What all took longer than the shortest one.
    pub over_shortest: u64,
    /// What they have more than as many of the shortest one, most first.
    pub blame: Vec<Blame>,
    /// Cycles of all in which nothing of their own work was active; no monitor on the chip tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<u64>,
}

impl Latency {
    /// How many there are of each class of a monitor's histogram, if one is kept.
    pub(crate) fn by_powers(&self) -> Option<BTreeMap<u64, u64>> {
        let mut powers = self.powers.clone();
        for (&cycles, &count) in &self.histogram {
            *powers.entry(power_of(cycles)).or_default() += count;
        }
        (!powers.is_empty() || self.count == 0).then_some(powers)
    }
}

impl LatencyRequest {
    /// Without tags; `from` tells both ends.
    pub fn new(name: Option<String>, from: Text) -> Self {
        Self {
            name,
            from,
            to: None,
            tag: None,
            tag_to: None,
        }
    }

    /// The expressions.
    fn text(&self) -> String {
        match &self.to {
            Some(to) => format!("{}..{}", self.from.text, to.text),
            None => self.from.text.clone(),
        }
    }
}

/// What a latency has seen so far.
struct LatencyCollector {
    name: String,
    when: String,
    from: usize,
    to: usize,
    matching: Matching,
    /// Whether it ends with the run, if that comes to its end: something that is active does.
    ends_with_run: bool,
    /// Whether ends without a beginning are nothing to tell: `done` may be high longer than it needs to.
    is_handshake: bool,
    /// Its number among the latencies.
    number: usize,
    found: Found,
    outlet: Outlet<Latency>,
}

/// Which end belongs to which beginning.
#[derive(Debug, Clone, Copy)]
pub(super) enum Matching {
    /// The first to begin is the first to end.
    InOrder,
    /// Those that have the same tag, at the beginning and at the end.
    Tags(usize, usize),
    /// Those of one activation of this subject.
    Sites(usize),
}

impl Matching {
    /// By the tags that are asked for, if they are.
    pub fn asked(
        of: &LatencyRequest,
        builder: &mut Builder<'_>,
    ) -> Result<Option<Self>, Box<Refused>> {
        let (tag, tag_to) = match (&of.tag, &of.tag_to) {
            (None, None) => return Ok(None),
            (None, Some(tag_to)) => return refuse(tag_to, "`tag-to` needs `tag`"),
            (Some(tag), tag_to) => (tag, tag_to.as_ref().unwrap_or(tag)),
        };
        let mut value = |text: &Text| {
            let value = builder.checked(text, syntax::expression, |checker, syntax| {
                checker.expression(syntax)
            });
            value.map(|value| builder.program.add(&value))
        };
        Ok(Some(Self::Tags(value(tag)?, value(tag_to)?)))
    }

    /// That of two events without tags.
    pub fn of(from: &Expression, to: &Expression, program: &Program) -> Self {
        match (from, to) {
            (Expression::Subject(of, Aspect::Begin), Expression::Subject(other, Aspect::End))
                if of == other =>
            {
                program.subject(from).map_or(Self::InOrder, Self::Sites)
            }
            _ => Self::InOrder,
        }
    }

    /// The tags of what begins, or ends, in a cycle in which something does.
    pub fn tags(self, look: &Look<'_, '_>, begins: bool) -> Vec<u64> {
        match self {
            Self::InOrder => vec![0],
            Self::Tags(from, to) => vec![look.values[if begins { from } else { to }]],
            Self::Sites(subject) => {
                let edges = look.edges.iter();
                let own = edges.filter(|edge| edge.subject == subject && edge.begins == begins);
                own.map(|edge| edge.site).collect()
            }
        }
    }
}

/// Makes latencies ready.
pub(super) fn build(
    requests: &[LatencyRequest],
    outlet: &Outlet<Latency>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    requests.iter().try_for_each(|of| add(of, outlet, builder))
}

/// An event, with what is recorded when it happens.
type Stamped = (Expression, Vec<Recording>);

/// The beginning and the end of a latency, and whether they are a handshake.
fn ends(
    of: &LatencyRequest,
    builder: &Builder<'_>,
) -> Result<(Stamped, Stamped, bool), Box<Refused>> {
    let stamped = |checker: &Checker<'_>, syntax: &Syntax| builder.stamped(checker, syntax);
    if let Some(to) = &of.to {
        let end = |text| builder.checked(text, syntax::expression, stamped);
        return Ok((end(&of.from)?, end(to)?, false));
    }
    builder.checked(&of.from, syntax::interval, |checker, (from, to)| match to {
        Some(to) => Ok((stamped(checker, from)?, stamped(checker, to)?, false)),
        None => {
            let (from, to, is_handshake) = alone(checker, from)?;
            let values = [&from, &to].map(|event| builder.values_at(event));
            let [at_start, at_end] = values;
            let (from, to) = (from.of_each_call(), to.of_each_call());
            Ok(((from, at_start), (to, at_end), is_handshake))
        }
    })
}

/// A latency as a monitor adds it up: its name and text, its events, and whether they are a handshake.
pub(crate) struct Sums {
    pub name: String,
    pub text: String,
    pub from: Expression,
    pub to: Expression,
    pub is_handshake: bool,
}

impl Sums {
    /// Those of what is asked for.
    pub fn of(of: &LatencyRequest, builder: &Builder<'_>) -> Result<Self, Box<Refused>> {
        let ((from, _), (to, _), is_handshake) = ends(of, builder)?;
        let text = of.text();
        Ok(Self {
            name: of.name.clone().unwrap_or_else(|| text.clone()),
            text,
            from,
            to,
            is_handshake,
        })
    }
}

fn add(
    of: &LatencyRequest,
    outlet: &Outlet<Latency>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    let ((from, at_start), (to, at_end), is_handshake) = ends(of, builder)?;
    let called = |end: &str, values: Vec<Recording>| -> Vec<Recording> {
        values.into_iter().map(|of| of.called_at(end)).collect()
    };
    let tags = Matching::asked(of, builder)?;
    let text = of.text();
    let program = &mut builder.program;
    let (from_node, to_node) = (program.add(&from), program.add(&to));
    let latency = LatencyCollector {
        name: of.name.clone().unwrap_or_else(|| text.clone()),
        when: text,
        from: from_node,
        to: to_node,
        matching: tags.unwrap_or_else(|| Matching::of(&from, &to, program)),
        ends_with_run: to.is_end(),
        is_handshake,
        number: builder.own.len(),
        found: Found {
            at_start: called("from", at_start),
            at_end: called("to", at_end),
            ..Found::default()
        },
        outlet: outlet.clone(),
    };
    builder.own.push(match (&from, &to) {
        (Expression::Subject(from, _), Expression::Subject(to, _)) => {
            Subject::around(builder.metadata, from, to)
        }
        _ => Subject {
            holder: Vec::new(),
            kind: SubjectKind::Instance,
        },
    });
    builder.collect(latency);
    Ok(())
}

/// What a latency or window is of that is told by one name: a handshake, or something that is active.
pub(super) fn alone(
    checker: &Checker<'_>,
    syntax: &Syntax,
) -> Result<(Expression, Expression, bool), Problem> {
    if let Kind::Path(path) = &syntax.kind {
        let port = |name: &str| {
            let mut path = path.clone();
            path.push(name.to_owned());
            let kind = Kind::Path(path);
            let span = syntax.span.clone();
            checker.condition(&Syntax { span, kind }).ok()
        };
        // Whether the end is one only while the beginning is asked for: `go` may be low again when `done` comes.
        let pairs = [("go", "done", false), ("valid", "ready", true)];
        let is_subject = matches!(checker.named(syntax), Ok(Named::Subject(Subject { kind, .. })) if !matches!(kind, SubjectKind::Primitive(_)));
        let pair = pairs
            .iter()
            .find_map(|(start, end, both)| Some((port(start)?, port(end)?, *both)));
        if let Some((start, end, both)) = pair.filter(|_| !is_subject) {
            // It begins when it is asked for, and again after each end.
            let ends = if both { start.clone().and(end) } else { end };
            let goes_on = start.clone().past().and(ends.clone().past().not());
            let begins = start.and(goes_on.not());
            return Ok((begins, ends, true));
        }
    }
    match checker.named(syntax)? {
        Named::Subject(subject) => {
            let end = Expression::Subject(subject.clone(), Aspect::End);
            Ok((Expression::Subject(subject, Aspect::Begin), end, false))
        }
        _ => Err(Problem {
            text: checker.text.to_owned(),
            span: syntax.span.clone(),
            message: "two events are needed".to_owned(),
            help: Some(
                "write `FROM..TO`, or name a group, a statement, a cell of a component, or one with the ports `go` and `done`"
                    .to_owned(),
            ),
        }),
    }
}

impl Collector for LatencyCollector {
    fn kind(&self) -> &'static str {
        "latency"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn nodes(&self) -> Vec<usize> {
        vec![self.from, self.to]
    }

    fn kept(&self) -> usize {
        let values = self.found.at_start.len() + self.found.at_end.len();
        self.found.intervals.len() * (1 + values) + self.found.unmatched.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let begins = look.tree.is_some() && look.values[self.from] != 0;
        let may_end = look.tree.is_some() || (self.ends_with_run && look.is_done);
        let ends = may_end && look.values[self.to] != 0;
        let found = &mut self.found;
        if begins || ends || look.tree.is_none() {
            found.count_to(look.cycle, look.work);
        }
        if begins {
            for tag in self.matching.tags(look, true) {
                let values = found.at_start.iter().map(|of| of.now(look));
                let beginning = (look.cycle, values.collect());
                found.open.begin(beginning, tag);
            }
        }
        if ends {
            for tag in self.matching.tags(look, false) {
                match found.open.end(tag) {
                    Some(beginning) => found.end(beginning, look),
                    None if look.tree.is_some() && !self.is_handshake => {
                        found.unmatched.push(look.cycle);
                    }
                    None => {}
                }
            }
        }
        begins || ends
    }

    /// If somebody else knows of the shortest interval.
    fn needs_since(&self) -> Option<u64> {
        self.found.open.starts().next()
    }

    fn keep(&mut self, before: u64, work: &Work) {
        self.found.count_to(before.max(self.found.counted), work);
        let shortest = self.found.shortest.as_mut();
        if let Some(shortest) = shortest.filter(|of| of.parts.is_none() && of.start < before) {
            shortest.parts = Some(shortest.parts(work));
        }
    }

    fn finish(mut self: Box<Self>, run: &Finished<'_>) {
        let site = self.site();
        self.found.leave_unfinished(run.work);
        let Found {
            open,
            intervals,
            at_start,
            at_end,
            histogram,
            unmatched,
            cycles,
            shortest,
            ..
        } = self.found;
        let values = at_start.into_iter().chain(at_end);
        let count = intervals.len() as u64;
        let total: u64 = intervals.iter().map(|(_, cycles)| cycles).sum();
        let min = shortest.as_ref().map(|of| of.cycles);
        let shortest = shortest.map(|of| match of.parts {
            Some(parts) => parts,
            None => of.parts(run.work),
        });
        let is_stall = |shape: usize| run.work.is_stall(shape, self.number);
        let stall = cycles.iter().filter(|(shape, _)| is_stall(**shape));
        self.outlet.leave(Latency {
            site,
            name: self.name,
            when: self.when,
            count,
            min,
            median: quantile(&histogram, 1, 2),
            p99: quantile(&histogram, 99, 100),
            max: histogram.keys().next_back().copied(),
            total,
            unfinished: open.count,
            unmatched: unmatched.len() as u64,
            unfinished_since: open.starts().collect(),
            unmatched_at: unmatched,
            over_shortest: total - min.unwrap_or(0) * count,
            stall: Some(stall.map(|(_, cycles)| cycles).sum()),
            blame: blame(
                run.work,
                self.number,
                &cycles,
                &shortest.unwrap_or_default(),
                count,
            ),
            histogram,
            powers: BTreeMap::new(),
            intervals,
            values: values.map(|of| of.so_far).collect(),
        });
    }
}

/// Their tables.
pub(super) fn tables(all: &[Latency]) -> Vec<ResultTable<'_>> {
    vec![
        latency_table(all),
        power_table(all),
        interval_table(all, "latencies", Forms::Database),
        interval_table(all, "intervals", Forms::FileAndShown),
        unmatched_table(all),
        Blame::table(all.iter().map(|of| ((&*of.name, of.site), &*of.blame))),
    ]
}

/// What began and did not end, and what ended and did not begin.
fn unmatched_table(all: &[Latency]) -> ResultTable<'_> {
    struct Row<'a> {
        of: &'a Latency,
        cycle: u64,
        lacks: &'static str,
    }
    let columns = Columns::default()
        .text("latency", |row: &Row<'_>| row.of.name.as_str().into())
        .number("cycle", |row| row.cycle.into())
        .text("lacks", |row| row.lacks.into())
        .aside(SITE, |row| site(row.of.site));
    let rows = all.iter().flat_map(|of| {
        let row = |lacks| move |&cycle: &u64| Row { of, cycle, lacks };
        let unfinished = of.unfinished_since.iter().map(row("an end"));
        unfinished.chain(of.unmatched_at.iter().map(row("a beginning")))
    });
    let title = "latencies without an end or a beginning";
    ResultTable::new("unmatched", title, columns, rows)
}

fn latency_table(all: &[Latency]) -> ResultTable<'_> {
    let columns = Columns::default()
        .text("latency", |of: &&Latency| of.name.as_str().into())
        .number("count", |of| of.count.into())
        .number("min", |of| or_empty(of.min))
        .number("median", |of| or_empty(of.median))
        .number("p99", |of| or_empty(of.p99))
        .number("max", |of| or_empty(of.max))
        .number("total", |of| of.total.into())
        .number("over_shortest", |of| of.over_shortest.into())
        .titled("over shortest")
        .number("stall", |of| or_empty(of.stall))
        .number("unfinished", |of| of.unfinished.into())
        .number("unmatched", |of| of.unmatched.into())
        .aside(SITE, |of| site(of.site));
    let title = "latencies, in cycles";
    ResultTable::new("latencies", title, columns, all.iter()).with(Forms::FileAndShown)
}

/// The histograms of monitors.
fn power_table(all: &[Latency]) -> ResultTable<'_> {
    let columns = Columns::default()
        .text("latency", |row: &(&str, u64, u64)| row.0.into())
        .number("min", |row| row.1.into())
        .number("max", |row| (2 * row.1).saturating_sub(1).into())
        .number("count", |row| row.2.into());
    let rows = all.iter().flat_map(|of| {
        let powers = of.powers.iter();
        powers.map(|(&least, &count)| (of.name.as_str(), least, count))
    });
    let title = "how many took so many cycles";
    ResultTable::new("powers", title, columns, rows).with(Forms::Shown)
}

/// The class of a length in a monitor's histogram: its highest bit.
pub(crate) fn power_of(cycles: u64) -> u64 {
    cycles.checked_ilog2().map_or(0, |bit| 1 << bit)
}

/// Each interval: for databases all, and where they have values, in a file of their own and shown.
fn interval_table<'a>(all: &'a [Latency], name: &'static str, forms: Forms) -> ResultTable<'a> {
    let columns = Columns::default()
        .text("latency", |row: &Row<'_>| row.of.name.as_str().into())
        .number("start", |row| row.of.intervals[row.at].0.into())
        .number("cycles", |row| row.of.intervals[row.at].1.into());
    let columns = columns.aside(SITE, |row| site(row.of.site));
    let columns = with_values(columns, "", all.iter().flat_map(|of| &of.values));
    let all = all.iter();
    let all = all.filter(move |of| forms == Forms::Database || !of.values.is_empty());
    let rows = all.flat_map(|of| (0..of.intervals.len()).map(move |at| Row { of, at }));
    ResultTable::new(
        name,
        "intervals, with the values at their ends",
        columns,
        rows,
    )
    .with(forms)
}

/// A row of their table.
struct Row<'a> {
    of: &'a Latency,
    at: usize,
}

impl HasValues for Row<'_> {
    fn values(&self) -> (&[Recorded], usize) {
        (&self.of.values, self.at)
    }
}

/// Their tracks.
pub(super) fn tracks(all: &[Latency]) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        let mut order: Vec<usize> = (0..of.intervals.len()).collect();
        order.sort_unstable_by_key(|&at| of.intervals[at]);
        Track {
            name: of.name.clone(),
            site: Some(of.site),
            content: TrackContent::Slices(order.iter().map(|&at| of.intervals[at]).collect()),
            arguments: arguments(&of.values, &order),
        }
    });
    tracks.collect()
}

/// What a run is compared by.
pub(super) fn figures(all: &[Latency]) -> impl Iterator<Item = (String, u64)> {
    all.iter().flat_map(|of| {
        let figures = [("median", of.median), ("max", of.max)].into_iter();
        figures.filter_map(|(what, value)| Some((format!("latency:{}:{what}", of.name), value?)))
    })
}
