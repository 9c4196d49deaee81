//! Windows: the parts of a run that are kept, each from one event to another.

use std::ops::Range;

use petal_metadata::SiteId;
use petal_reconstruct::Marks;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent};
use serde::{Deserialize, Serialize};

use super::latency::alone;
use crate::builder::{Builder, refuse};
use crate::checker::Checker;
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::{Problem, Refused};
use crate::syntax::{self, Kind, Syntax};
use crate::tables::{ResultTable, or_empty, site};
use crate::text::Text;

/// Parts of a run, each from one event to another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRequest {
    /// What it is called [default: the expressions].
    pub name: Option<String>,
    /// An event, or how many cycles before the end; or both ends as `A..B`.
    pub from: Text,
    /// An event, or how many cycles.
    pub to: Option<Text>,
    /// How many windows are kept at most.
    pub most: Option<u64>,
}

/// Parts of the run, each from one event to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// The expressions.
    pub when: String,
    /// `reset` if nothing has been kept, `sample` if the last part had not ended when the run was over, `stop` otherwise.
    pub state: String,
    /// The first cycle of each, and how many cycles it has.
    pub parts: Vec<(u64, u64)>,
}

impl WindowRequest {
    /// With as many windows as there are; `from` tells both ends.
    pub fn new(name: Option<String>, from: Text) -> Self {
        Self {
            name,
            from,
            to: None,
            most: None,
        }
    }
}

/// Parts of the run, each with both of the cycles in which it begins and ends.
struct WindowCollector {
    name: String,
    when: String,
    from: Edge,
    to: Edge,
    most: Option<u64>,
    /// Where the one that has begun did.
    open: Option<u64>,
    /// First cycle and length of each.
    parts: Vec<(u64, u64)>,
    /// Who hears at once what is kept.
    marks: Option<Marks>,
    outlet: Outlet<Window>,
}

/// An end of a window.
#[derive(Debug, Clone, Copy)]
enum Edge {
    /// The cycles in which this is high.
    Event(usize),
    /// So many cycles from the other end.
    Cycles(u64),
}

impl Edge {
    fn node(self) -> Option<usize> {
        match self {
            Self::Event(node) => Some(node),
            Self::Cycles(_) => None,
        }
    }
}

/// Makes windows ready.
pub(super) fn build(
    requests: &[WindowRequest],
    outlet: &Outlet<Window>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    requests.iter().try_for_each(|of| add(of, outlet, builder))
}

fn add(
    of: &WindowRequest,
    outlet: &Outlet<Window>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    let text = match &of.to {
        Some(to) => format!("{}..{}", of.from.text, to.text),
        None => of.from.text.clone(),
    };
    let (from, to) = match &of.to {
        Some(to) => (
            builder.checked(&of.from, syntax::expression, border)?,
            builder.checked(to, syntax::expression, border)?,
        ),
        None => builder.checked(&of.from, syntax::interval, |checker, (from, to)| match to {
            Some(to) => Ok((border(checker, from)?, border(checker, to)?)),
            None => {
                let (from, to, _) = alone(checker, from)?;
                Ok((Border::Event(from), Border::Event(to)))
            }
        })?,
    };
    if let (Border::Cycles(_), Border::Cycles(_)) = (&from, &to) {
        return refuse(
            &of.from,
            "a window needs an event, at which it begins or ends",
        );
    }
    if of.most == Some(0) {
        return refuse(&of.from, "`most` is at least one window");
    }
    let mut edge = |border| match border {
        Border::Event(event) => Edge::Event(builder.program.add(&event)),
        Border::Cycles(cycles) => Edge::Cycles(cycles),
    };
    let window = WindowCollector {
        name: of.name.clone().unwrap_or_else(|| text.clone()),
        from: edge(from),
        to: edge(to),
        when: text,
        most: of.most,
        open: None,
        parts: Vec::new(),
        marks: None,
        outlet: outlet.clone(),
    };
    builder.collect(window);
    Ok(())
}

/// An end of a window, as it is asked for.
enum Border {
    Event(Expression),
    Cycles(u64),
}

/// A number of cycles, or an event.
fn border(checker: &Checker<'_>, syntax: &Syntax) -> Result<Border, Problem> {
    match syntax.kind {
        Kind::Number(cycles, None) => Ok(Border::Cycles(cycles)),
        _ => checker.event(syntax).map(Border::Event),
    }
}

impl WindowCollector {
    fn begin(&self, start: u64) {
        if let Some(marks) = &self.marks {
            marks.begin(start);
        }
    }

    fn end(&mut self, start: u64, end: u64) {
        self.parts.push((start, end - start));
        if let Some(marks) = &self.marks {
            marks.end(end);
        }
    }

    fn is_full(&self) -> bool {
        self.most
            .is_some_and(|most| self.parts.len() as u64 >= most)
    }
}

impl Collector for WindowCollector {
    fn kind(&self) -> &'static str {
        "window"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn nodes(&self) -> Vec<usize> {
        let edges = [self.from, self.to].into_iter();
        edges.filter_map(Edge::node).collect()
    }

    fn kept(&self) -> usize {
        self.parts.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let is_over = look.tree.is_none();
        let happens = |edge: Edge| match edge {
            Edge::Event(node) => !is_over && look.values[node] != 0,
            Edge::Cycles(_) => false,
        };
        let is_full = self.is_full();
        match (self.from, self.to) {
            // The last cycles before something happens.
            (Edge::Cycles(before), to) => {
                if !is_full && happens(to) {
                    let start = look.cycle.saturating_sub(before);
                    self.begin(start);
                    self.end(start, look.cycle + 1);
                }
                happens(to)
            }
            (from, to) => {
                if self.open.is_none() && !is_full && happens(from) {
                    self.open = Some(look.cycle);
                    self.begin(look.cycle);
                }
                let Some(start) = self.open else {
                    return happens(from);
                };
                // The end of the run ends no window: it is kept up to there.
                let end = match to {
                    Edge::Cycles(cycles) if !is_over && look.cycle - start == cycles => {
                        Some(look.cycle)
                    }
                    Edge::Event(_) if happens(to) => Some(look.cycle),
                    _ => None,
                };
                if let Some(end) = end {
                    self.end(start, end + 1);
                    self.open = None;
                }
                true
            }
        }
    }

    fn keeps(&self) -> Option<u64> {
        Some(match self.from {
            Edge::Cycles(cycles) => cycles,
            Edge::Event(_) => 0,
        })
    }

    fn mark(&mut self, marks: &Marks) {
        self.marks = Some(marks.clone());
    }

    /// One that has begun and did not end is kept up to the end of the run.
    fn finish(mut self: Box<Self>, run: &Finished<'_>) {
        let state = match (self.open, self.parts.is_empty()) {
            (Some(_), _) => "sample",
            (None, true) => "reset",
            (None, false) => "stop",
        };
        let open = self.open.filter(|start| *start < run.cycles);
        self.parts
            .extend(open.map(|start| (start, run.cycles - start)));
        self.outlet.leave(Window {
            site: self.site(),
            name: self.name,
            when: self.when,
            state: state.to_owned(),
            parts: self.parts,
        });
    }
}

/// The cycles that windows keep, ascending and disjoint.
pub(super) fn kept(all: &[Window]) -> Vec<Range<u64>> {
    let parts = all.iter().flat_map(|window| &window.parts);
    let mut parts: Vec<Range<u64>> = parts
        .map(|&(start, cycles)| start..start + cycles)
        .collect();
    parts.sort_unstable_by_key(|part| part.start);
    let mut kept: Vec<Range<u64>> = Vec::new();
    for part in parts {
        match kept.last_mut().filter(|last| part.start <= last.end) {
            Some(last) => last.end = last.end.max(part.end),
            None => kept.push(part),
        }
    }
    kept
}

/// Their table.
pub(super) fn tables(all: &[Window], cycles: u64) -> Vec<ResultTable<'_>> {
    struct Row<'a> {
        window: &'a Window,
        /// `None` of one that never began, which has a row, too.
        part: Option<(u64, u64)>,
        is_last: bool,
    }
    let columns = Columns::default()
        .text("window", |row: &Row<'_>| row.window.name.as_str().into())
        .number("start", |row| or_empty(row.part.map(|(start, _)| start)))
        .titled("first cycle")
        .optional()
        .number("cycles", |row| {
            row.part.map_or(0, |(_, cycles)| cycles).into()
        })
        .text("state", |row| {
            let state = if row.is_last {
                &*row.window.state
            } else {
                "stop"
            };
            state.into()
        })
        .aside(SITE, |row| site(row.window.site));
    let windows: usize = all.iter().map(|window| window.parts.len()).sum();
    let kept: u64 = kept(all).iter().map(|part| part.end - part.start).sum();
    let title = format!("windows: {windows}, which keep {kept} of {cycles} cycles");
    let rows = all.iter().flat_map(|window| {
        let parts = window.parts.iter().enumerate();
        let parts = parts.map(move |(at, &part)| Row {
            window,
            part: Some(part),
            is_last: at + 1 == window.parts.len(),
        });
        let none = window.parts.is_empty().then_some(Row {
            window,
            part: None,
            is_last: true,
        });
        none.into_iter().chain(parts)
    });
    vec![ResultTable::new("windows", title, columns, rows)]
}

/// Their tracks.
pub(super) fn tracks(all: &[Window]) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        let mut parts = of.parts.clone();
        parts.sort_unstable();
        Track {
            name: of.name.clone(),
            site: Some(of.site),
            content: TrackContent::Slices(parts),
            arguments: Vec::new(),
        }
    });
    tracks.collect()
}
