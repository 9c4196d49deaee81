//! Rules: what must never be, or always.

use petal_metadata::SiteId;
use petal_reconstruct::Signal;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent, Value, thousands};
use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::Refused;
use crate::syntax;
use crate::tables::{ResultTable, or_empty, site};
use crate::text::Text;
use crate::watched::writes_of;

/// A rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// A condition.
    pub when: Text,
}

impl RuleRequest {
    /// Of a text.
    pub fn new(name: Option<String>, when: Text) -> Self {
        Self { name, when }
    }
}

/// What must never be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// The condition.
    pub when: String,
    /// Whether it must hold in every cycle, rather than in none.
    pub always: bool,
    /// Cycles in which the rule is broken.
    pub cycles: u64,
    /// When it is broken.
    pub violations: Vec<Violation>,
}

/// Cycles without a break in which a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The first one.
    pub cycle: u64,
    /// How many.
    pub cycles: u64,
    /// What was active in the first one, as paths through the call tree.
    pub active: Vec<String>,
    /// The writes by which it is broken, of a rule about registers and words of memories alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

/// Writes to registers or memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The cycle at whose end the new values are there.
    pub cycle: u64,
    /// Who wrote, as paths through the call tree.
    pub by: Vec<String>,
}

/// The kind of one that must hold always, or never, as in a request.
pub(crate) fn kind(always: bool) -> &'static str {
    if always { "always" } else { "never" }
}

/// What is known of a rule so far.
struct RuleCollector {
    name: String,
    when: String,
    always: bool,
    node: usize,
    /// Of a rule about registers and words of memories alone: what is high when one of them is written, and its cell.
    writes: Vec<(usize, Signal)>,
    /// The latest writes.
    written: Option<Written>,
    violations: Vec<Violation>,
    /// Whether the last violation goes on.
    is_broken: bool,
    outlet: Outlet<Rule>,
}

/// Makes rules ready.
pub(super) fn build(
    requests: &[RuleRequest],
    always: bool,
    outlet: &Outlet<Rule>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    for of in requests {
        let condition = builder.checked(&of.when, syntax::expression, |checker, syntax| {
            checker.condition(syntax)
        })?;
        let node = builder.program.add(&condition);
        let writes = writes_of(builder.directory, &condition).unwrap_or_default();
        let writes = writes.into_iter().map(|(event, cell)| {
            let event = builder.program.add(&Expression::Value(event));
            (event, cell)
        });
        let writes = writes.collect();
        builder.collect(RuleCollector {
            name: of.when.name(of.name.as_ref()),
            when: of.when.text.clone(),
            always,
            node,
            writes,
            written: None,
            violations: Vec::new(),
            is_broken: false,
            outlet: outlet.clone(),
        });
    }
    Ok(())
}

impl RuleCollector {
    /// Remembers who writes in this cycle. Returns whether somebody does.
    fn follow_writes(&mut self, look: &mut Look<'_, '_>) -> bool {
        let high = |(event, _): &&(usize, Signal)| look.values[*event] != 0;
        let cells: Vec<&Signal> = self
            .writes
            .iter()
            .filter(high)
            .map(|(_, cell)| cell)
            .collect();
        let Some(tree) = look.tree.filter(|_| !cells.is_empty()) else {
            return false;
        };
        let writers = cells.iter();
        let writers = writers.flat_map(|cell| look.trees.writers(tree, cell, look.instances));
        let mut by: Vec<String> = writers.collect();
        by.sort();
        by.dedup();
        let cycle = look.cycle;
        self.written = Some(Written { cycle, by });
        true
    }
}

impl Collector for RuleCollector {
    fn kind(&self) -> &'static str {
        kind(self.always)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn known_as(&self) -> Option<(&'static str, &str)> {
        Some(("rule", &self.name))
    }

    fn nodes(&self) -> Vec<usize> {
        let writes = self.writes.iter().map(|(event, _)| *event);
        writes.chain([self.node]).collect()
    }

    fn kept(&self) -> usize {
        self.violations.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let broken = look.tree.is_some() && (look.values[self.node] != 0) != self.always;
        if broken != self.is_broken && look.tree.is_some() {
            look.tell(None, u64::from(broken));
        }
        if let Some(violation) = self.violations.last_mut().filter(|_| self.is_broken) {
            violation.cycles = look.cycle - violation.cycle;
        }
        if let Some(tree) = look.tree.filter(|_| broken && !self.is_broken) {
            let written = self.written.take();
            self.violations.push(Violation {
                cycle: look.cycle,
                cycles: 0,
                active: look.trees.active(tree, look.instances),
                written: written.filter(|written| written.cycle + 1 == look.cycle),
            });
        }
        self.is_broken = broken;
        self.follow_writes(look)
    }

    fn finish(self: Box<Self>, _run: &Finished<'_>) {
        self.outlet.leave(Rule {
            site: self.site(),
            name: self.name,
            when: self.when,
            always: self.always,
            cycles: self.violations.iter().map(|of| of.cycles).sum(),
            violations: self.violations,
        });
    }
}

/// How many cycles rules were broken in.
pub(super) fn broken(all: &[Rule]) -> u64 {
    all.iter().map(|rule| rule.cycles).sum()
}

/// Their table.
pub(super) fn tables(all: &[Rule]) -> Vec<ResultTable<'_>> {
    type Row<'a> = (&'a Rule, &'a Violation);
    let columns = Columns::default()
        .text("rule", |(of, _): &Row<'_>| of.name.as_str().into())
        .number("cycle", |(_, of)| of.cycle.into())
        .number("cycles", |(_, of)| of.cycles.into())
        .number("written", |(_, of)| {
            or_empty(of.written.as_ref().map(|written| written.cycle))
        })
        .optional()
        .texts("by", |(_, of)| {
            let by = of.written.as_ref().map(|written| written.by.clone());
            Value::Texts(by.unwrap_or_default())
        })
        .texts("active", |(_, of)| Value::Texts(of.active.clone()))
        .aside(SITE, |(of, _)| site(of.site));
    let title = match broken(all) {
        1 => "rules broken in 1 cycle".to_owned(),
        cycles => format!("rules broken in {} cycles", thousands(cycles)),
    };
    let rows = all.iter();
    let rows = rows.flat_map(|of| of.violations.iter().map(move |at| (of, at)));
    vec![ResultTable::new("violations", title, columns, rows)]
}

/// Their tracks.
pub(super) fn tracks(all: &[Rule]) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        let slices = of.violations.iter().map(|at| (at.cycle, at.cycles));
        Track {
            name: of.name.clone(),
            site: Some(of.site),
            content: TrackContent::Slices(slices.collect()),
            arguments: Vec::new(),
        }
    });
    tracks.collect()
}

/// What a run is compared by.
pub(super) fn figures(all: &[Rule]) -> impl Iterator<Item = (String, u64)> {
    all.iter()
        .map(|of| (format!("broken:{}", of.name), of.cycles))
}
