//! Counters: the sum of a value over all cycles, asked for by an expression or by the name of something that can be counted.

use petal_metadata::SiteId;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent, Value};
use serde::{Deserialize, Serialize};

use super::Request;
use super::sample::Sampling;
use super::split::Splitter;
use crate::builder::{Builder, refuse};
use crate::collector::{Collector, Finished, Outlet};
use crate::countable::{Countable, countable, matching};
use crate::look::Look;
use crate::problem::Refused;
use crate::stats::{Spread, ratio};
use crate::syntax;
use crate::tables::{ResultTable, site};
use crate::text::Text;

/// The widest values that are added up, in bits: sums of 2^32 of them fit into 64 bits.
const MAX_COUNTED: u32 = 32;

/// A counter: the sum of a value over all cycles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// The value; a condition counts the cycles in which it holds.
    pub value: Text,
    /// Something that is active, two events `A..B`, or the name of a latency or window: only what is in these counts, each for
    /// itself.
    pub during: Option<Text>,
}

impl CounterRequest {
    /// Of a text, in the whole run.
    pub fn new(name: Option<String>, value: Text) -> Self {
        Self {
            name,
            value,
            during: None,
        }
    }
}

/// A sum over all cycles, or over those of some parts of the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Counter {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// What is added up.
    pub value: String,
    /// The sum.
    pub total: u64,
    /// The sum divided by the cycles that it is of.
    pub per_cycle: f64,
    /// The sums of the samples, or of the parts that it is of, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u64>,
    /// In what alone it counts, if not in the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<String>,
    /// The first cycle of each of these parts, and how many cycles it has; `samples` add up to `total`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(u64, u64)>,
    /// How many of these parts had not ended when the run was over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfinished: u64,
    /// How the sums are spread; where a sample has a number of cycles, those of all that have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a counter has added up so far.
struct CounterCollector {
    name: String,
    value: String,
    /// What is added up, in every cycle.
    nodes: Vec<usize>,
    /// The value since a cycle.
    latest: (u64, u64),
    total: u64,
    sampling: Sampling,
    /// The sums of samples of a number of cycles.
    samples: Vec<u64>,
    /// In what alone it counts, if not in the whole run.
    during: Option<String>,
    outlet: Outlet<Counter>,
}

/// Makes counters ready.
pub(super) fn build(
    request: &Request,
    sampling: &Sampling,
    outlet: &Outlet<Counter>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    for of in &request.counters {
        let during = of.during.as_ref();
        let parts = during
            .map(|of| Splitter::during(of, &request.latencies, &request.windows, builder))
            .transpose()?;
        for mut counter in named(of, builder)? {
            counter.during = during.map(|during| during.text.clone());
            if let (Some(during), None) = (&counter.during, &of.name) {
                counter.name = format!("{} during {during}", counter.name);
            }
            let parts = parts.clone().map(Sampling::Parts);
            let sampling = parts.unwrap_or_else(|| sampling.clone());
            add(counter, &of.value, sampling, outlet, builder)?;
        }
    }
    Ok(())
}

/// The counters that are asked for.
pub(super) fn counters<'a>(builder: &'a Builder<'_>) -> impl Iterator<Item = &'a dyn Collector> {
    let all = builder.collectors.iter().map(|of| &**of);
    all.filter(|of| of.kind() == "count")
}

/// The counters of the design that are meant by a name or pattern; any other text is an expression.
pub(crate) fn named(
    of: &CounterRequest,
    builder: &Builder<'_>,
) -> Result<Vec<Counted>, Box<Refused>> {
    let text = &of.value.text;
    let expression = || Counted {
        name: of.name.clone().unwrap_or_else(|| text.clone()),
        values: vec![of.value.clone()],
        during: None,
    };
    // What has a meaning of its own is no name of a counter.
    let is_expression = builder.checked(&of.value, syntax::expression, |checker, syntax| {
        checker.expression(syntax)
    });
    if is_expression.is_ok() {
        return Ok(vec![expression()]);
    }
    let counters = countable(builder.metadata, builder.directory);
    let mut named: Vec<Counted> = matching(text, &counters).map(Counted::of).collect();
    let is_kind = text.starts_with('[');
    match (&mut named[..], &of.name) {
        // A star beside a dot multiplies nothing, and no expression begins with a bracket.
        ([], _) if text.contains(".*") || text.contains("*.") || is_kind => {
            let message =
                "nothing that can be counted has such a name; `petal counters` lists what there is";
            return refuse(&of.value, message);
        }
        ([], _) => named.push(expression()),
        ([one], Some(name)) => one.name.clone_from(name),
        (several, Some(name)) => {
            for one in several {
                one.name = format!("{name}: {}", one.name);
            }
        }
        (_, None) => {}
    }
    Ok(named)
}

/// Adds a counter, which was asked for by this text.
pub(super) fn add(
    of: Counted,
    asked: &Text,
    sampling: Sampling,
    outlet: &Outlet<Counter>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    let mut nodes = Vec::new();
    for text in &of.values {
        let value = builder.checked(text, syntax::expression, |checker, syntax| {
            checker.expression(syntax)
        })?;
        if value.width() > MAX_COUNTED {
            let message = format!(
                "this has {} bits, and values of at most {MAX_COUNTED} are added up",
                value.width()
            );
            return refuse(text, &message);
        }
        nodes.push(builder.program.add(&value));
    }
    let collector = CounterCollector {
        value: of.text(asked),
        name: of.name,
        nodes,
        latest: (0, 0),
        total: 0,
        sampling,
        samples: Vec::new(),
        during: of.during,
        outlet: outlet.clone(),
    };
    let is_same = |other: &dyn Collector| {
        other.name() == collector.name && other.nodes() == collector.nodes()
    };
    // Two patterns may mean the same counter.
    if !counters(builder).any(is_same) {
        builder.collect(collector);
    }
    Ok(())
}

/// A counter: what it is called, and what is added up.
pub(crate) struct Counted {
    pub name: String,
    pub values: Vec<Text>,
    /// In what alone it counts, if not in the whole run.
    pub during: Option<String>,
}

impl Counted {
    /// What is added up, if it was asked for by this text.
    pub fn text(&self, asked: &Text) -> String {
        match &self.values[..] {
            [one] => one.text.clone(),
            _ => asked.text.clone(),
        }
    }

    /// The counter after a run in which it has come to this sum.
    pub fn counter(name: String, value: String, total: u64, cycles: u64) -> Counter {
        Counter {
            site: SiteId::observed("count", &name),
            name,
            value,
            total,
            per_cycle: ratio(total, cycles),
            ..Counter::default()
        }
    }

    /// One of the design.
    pub(super) fn of(counter: &Countable) -> Self {
        Self {
            name: counter.name.clone(),
            values: counter
                .values
                .iter()
                .map(|value| Text::from(value.as_str()))
                .collect(),
            during: None,
        }
    }
}

impl Counter {
    /// Of these parts alone, in each of which it has come to one of its samples.
    fn within(self, during: Option<String>, parts: Vec<(u64, u64)>, unfinished: u64) -> Self {
        let total = self.samples.iter().sum();
        let cycles = parts.iter().map(|(_, cycles)| cycles).sum();
        Self {
            total,
            per_cycle: ratio(total, cycles),
            during,
            parts,
            unfinished,
            ..self
        }
    }
}

impl Collector for CounterCollector {
    fn kind(&self) -> &'static str {
        "count"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn nodes(&self) -> Vec<usize> {
        let mut nodes = self.nodes.clone();
        if let Sampling::Parts(splitter) = &self.sampling {
            nodes.extend(splitter.nodes());
        }
        nodes
    }

    fn kept(&self) -> usize {
        match &self.sampling {
            Sampling::Parts(splitter) => splitter.parts.len(),
            _ => self.samples.len(),
        }
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let (mut since, value) = self.latest;
        let new = self.nodes.iter().map(|&node| look.values[node]).sum();
        if new != value && look.tree.is_some() {
            look.tell(None, new);
        }
        let sum = |cycles: u64| value.saturating_mul(cycles);
        self.total = self.total.saturating_add(sum(look.cycle - since));
        while let Sampling::Every(sample) = self.sampling
            && since < look.cycle
        {
            let at = usize::try_from(since / sample).unwrap_or(usize::MAX);
            let end = (since - since % sample)
                .saturating_add(sample)
                .min(look.cycle);
            self.samples.resize((at + 1).max(self.samples.len()), 0);
            self.samples[at] = self.samples[at].saturating_add(sum(end - since));
            since = end;
        }
        self.latest = (look.cycle, new);
        match &mut self.sampling {
            Sampling::Parts(splitter) => splitter.look(look, self.total),
            _ => false,
        }
    }

    fn finish(self: Box<Self>, run: &Finished<'_>) {
        let whole = Counted::counter(self.name, self.value, self.total, run.cycles);
        self.outlet.leave(match self.sampling {
            Sampling::Whole => whole,
            Sampling::Every(each) => {
                let parts: Vec<(u64, u64)> = starts(each)
                    .map(|start| (start, each))
                    .take(self.samples.len())
                    .collect();
                let whole_samples = usize::try_from(run.cycles / each).unwrap_or(usize::MAX);
                let full = &self.samples[..whole_samples.min(self.samples.len())];
                Counter {
                    spread: Spread::of(&parts, full),
                    samples: self.samples,
                    ..whole
                }
            }
            Sampling::Parts(splitter) => {
                let unfinished = splitter.unfinished();
                let Splitter { parts, sums, .. } = splitter;
                let of_all = Counter {
                    spread: Spread::of(&parts, &sums),
                    samples: sums,
                    ..whole
                };
                match self.during {
                    None => of_all,
                    Some(_) => of_all.within(self.during, parts, unfinished),
                }
            }
        });
    }
}

/// Their table.
pub(super) fn tables(all: &[Counter]) -> Vec<ResultTable<'_>> {
    let columns = Columns::default()
        .text("counter", |of: &&Counter| of.name.as_str().into())
        .bits("total", |of| of.total.into())
        .decimal("per_cycle", |of| Value::Fraction(of.per_cycle))
        .titled("per cycle")
        .aside(SITE, |of| site(of.site));
    vec![ResultTable::new(
        "counters",
        "counters",
        columns,
        all.iter(),
    )]
}

/// Their tracks, where they have samples that begin with these.
#[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
pub(super) fn tracks(all: &[Counter], parts: &[(u64, u64)]) -> Vec<Track> {
    let all = all.iter().filter(|of| of.during.is_none());
    let tracks = all.map(|of| {
        let samples = parts.iter().zip(&of.samples);
        let values = samples.map(|(&(cycle, _), &sum)| (cycle, sum as f64));
        Track {
            name: of.name.clone(),
            site: Some(of.site),
            content: TrackContent::Samples(values.collect()),
            arguments: Vec::new(),
        }
    });
    tracks.collect()
}

/// The first cycle of each sample of so many cycles.
fn starts(sample: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |at| at * sample)
}

/// What a run is compared by.
pub(super) fn figures(all: &[Counter]) -> impl Iterator<Item = (String, u64)> {
    all.iter()
        .map(|of| (format!("count:{}", of.name), of.total))
}
