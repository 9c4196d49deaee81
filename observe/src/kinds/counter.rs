//! Counters: the sum of a value over all cycles, asked for by an expression or by the name of something that can be counted.

use petal_table::{Columns, Track, TrackContent, Value};
use serde::{Deserialize, Serialize};

use crate::builder::{Builder, refuse};
use crate::collector::{Collector, Finished, Outlet};
use crate::countable::{Countable, countable, matching};
use crate::look::Look;
use crate::problem::Refused;
use crate::stats::ratio;
use crate::syntax;
use crate::tables::{Forms, ResultTable};
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
}

impl CounterRequest {
    /// Of a text.
    pub fn new(name: Option<String>, value: Text) -> Self {
        Self { name, value }
    }
}

/// A sum over all cycles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// What it is called.
    pub name: String,
    /// What is added up.
    pub value: String,
    /// The sum.
    pub total: u64,
    /// The sum divided by the cycles of the run.
    pub per_cycle: f64,
    /// The sums of successive parts of the run, if they are asked for; add up to `total`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u64>,
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
    /// How many cycles a sample has.
    sample: Option<u64>,
    samples: Vec<u64>,
    outlet: Outlet<Counter>,
}

/// Makes counters ready.
pub(super) fn build(
    requests: &[CounterRequest],
    sample: Option<u64>,
    outlet: &Outlet<Counter>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    if sample == Some(0) {
        let text = Text::from("0");
        return refuse(&text, "a sample has at least one cycle");
    }
    for of in requests {
        for counter in named(of, builder)? {
            add(counter, &of.value, sample, outlet, builder)?;
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
    sample: Option<u64>,
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
    // Two patterns may mean the same counter.
    if counters(builder).any(|other| other.name() == of.name && other.nodes() == nodes) {
        return Ok(());
    }
    builder.collect(CounterCollector {
        value: of.text(asked),
        name: of.name,
        nodes,
        latest: (0, 0),
        total: 0,
        sample,
        samples: Vec::new(),
        outlet: outlet.clone(),
    });
    Ok(())
}

/// A counter: what it is called, and what is added up.
pub(crate) struct Counted {
    pub name: String,
    pub values: Vec<Text>,
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
            name,
            value,
            total,
            per_cycle: ratio(total, cycles),
            samples: Vec::new(),
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
        self.nodes.clone()
    }

    fn kept(&self) -> usize {
        self.samples.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let (mut since, value) = self.latest;
        let new = self.nodes.iter().map(|&node| look.values[node]).sum();
        if new != value && look.tree.is_some() {
            look.tell(None, new);
        }
        let sum = |cycles: u64| value.saturating_mul(cycles);
        self.total = self.total.saturating_add(sum(look.cycle - since));
        while let Some(sample) = self.sample
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
        false
    }

    fn finish(self: Box<Self>, run: &Finished<'_>) {
        self.outlet.leave(Counter {
            samples: self.samples,
            ..Counted::counter(self.name, self.value, self.total, run.cycles)
        });
    }
}

/// Their tables.
pub(super) fn tables(all: &[Counter], sample: Option<u64>, cycles: u64) -> Vec<ResultTable<'_>> {
    vec![
        counter_table(all),
        sample_table(all, sample.unwrap_or(1), cycles),
    ]
}

fn counter_table(all: &[Counter]) -> ResultTable<'_> {
    let columns = Columns::default()
        .text("counter", |of: &&Counter| of.name.as_str().into())
        .bits("total", |of| of.total.into())
        .decimal("per_cycle", |of| Value::Fraction(of.per_cycle))
        .titled("per cycle");
    ResultTable::new("counters", "counters", columns, all.iter())
}

fn sample_table(all: &[Counter], each: u64, cycles: u64) -> ResultTable<'_> {
    struct Row<'a> {
        counter: &'a str,
        start: u64,
        cycles: u64,
        sum: u64,
    }
    let columns = Columns::default()
        .text("counter", |row: &Row<'_>| row.counter.into())
        .number("start", |row| row.start.into())
        .number("cycles", |row| row.cycles.into())
        .bits("sum", |row| row.sum.into());
    let rows = all.iter().flat_map(move |of| {
        let samples = starts(each).zip(&of.samples);
        samples.map(move |(start, &sum)| Row {
            counter: &of.name,
            start,
            cycles: each.min(cycles.saturating_sub(start)),
            sum,
        })
    });
    ResultTable::new("samples", "", columns, rows).with(Forms::FileAndDatabase)
}

/// Their tracks.
#[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
pub(super) fn tracks(all: &[Counter], sample: Option<u64>) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        let samples = starts(sample.unwrap_or(1)).zip(&of.samples);
        let values = samples.map(|(cycle, &sum)| (cycle, sum as f64));
        Track {
            name: of.name.clone(),
            content: TrackContent::Samples(values.collect()),
            arguments: Vec::new(),
        }
    });
    tracks.collect()
}

/// The first cycle of each sample of so many cycles.
pub(super) fn starts(sample: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |at| at * sample)
}

/// What a run is compared by.
pub(super) fn figures(all: &[Counter]) -> impl Iterator<Item = (String, u64)> {
    all.iter()
        .map(|of| (format!("count:{}", of.name), of.total))
}
