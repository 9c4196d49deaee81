//! Samples: parts of a run from one event to the next, and how what was added up in them is spread.
//!
//! Owns how samples are asked for, their table and their tracks; counters tell what is added up in each.

use petal_metadata::SiteId;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent, Value, counted, thousands};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::counter::Counter;
use super::split::Splitter;
use crate::builder::{Builder, refuse};
use crate::collector::{Collector, Finished, Outlet};
use crate::look::Look;
use crate::problem::Refused;
use crate::stats::Spread;
use crate::tables::{Forms, ResultTable, site};
use crate::text::Text;

/// Where samples end.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Spanned<toml::Value>")]
pub enum SampleRequest {
    /// After so many cycles each.
    Cycles(u64),
    /// With this event, with which the next one begins.
    Event(Text),
}

impl TryFrom<Spanned<toml::Value>> for SampleRequest {
    type Error = &'static str;

    fn try_from(value: Spanned<toml::Value>) -> Result<Self, Self::Error> {
        let at = Some(value.span().start);
        match value.into_inner() {
            toml::Value::Integer(cycles) if cycles >= 0 => Ok(Self::Cycles(cycles.unsigned_abs())),
            toml::Value::String(text) => Ok(Self::Event(Text {
                text,
                at,
                option: None,
            })),
            _ => Err("a sample is a number of cycles, or an event such as \"main.next\""),
        }
    }
}

/// The samples of a run that end with an event.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Samples {
    /// The event.
    pub when: String,
    /// The first cycle of each, and how many cycles it has.
    pub parts: Vec<(u64, u64)>,
    /// The cycles before the first sample, between samples and after the last one: with those of all samples they are the cycles of
    /// the run.
    pub before: u64,
    /// Those between iterations of a loop that is entered again.
    pub between: u64,
    /// Those of what had not ended when the run was over, too.
    pub after: u64,
    /// How many cycles the samples have, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// What samples have been so far.
struct SampleCollector {
    when: String,
    splitter: Splitter,
    outlet: Outlet<Samples>,
}

/// How the values of a run are parted.
#[derive(Clone)]
pub(super) enum Sampling {
    Whole,
    Every(u64),
    Parts(Splitter),
}

/// Makes samples ready: tells how counters are parted.
pub(super) fn build(
    request: Option<&SampleRequest>,
    outlet: &Outlet<Samples>,
    builder: &mut Builder<'_>,
) -> Result<Sampling, Box<Refused>> {
    match request {
        None => Ok(Sampling::Whole),
        Some(SampleRequest::Cycles(0)) => {
            refuse(&Text::from("0"), "a sample has at least one cycle")
        }
        Some(SampleRequest::Cycles(cycles)) => Ok(Sampling::Every(*cycles)),
        Some(SampleRequest::Event(text)) => {
            let splitter = Splitter::to_next(text, builder)?;
            builder.collect(SampleCollector {
                when: text.text.clone(),
                splitter: splitter.clone(),
                outlet: outlet.clone(),
            });
            Ok(Sampling::Parts(splitter))
        }
    }
}

impl Collector for SampleCollector {
    fn kind(&self) -> &'static str {
        "sample"
    }

    fn name(&self) -> &str {
        &self.when
    }

    fn nodes(&self) -> Vec<usize> {
        self.splitter.nodes().collect()
    }

    fn kept(&self) -> usize {
        self.splitter.parts.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        self.splitter.look(look, look.cycle)
    }

    fn finish(self: Box<Self>, run: &Finished<'_>) {
        let Splitter { parts, sums, .. } = self.splitter;
        let before = parts.first().map_or(0, |(start, _)| *start);
        let end = parts.last().map_or(0, |(start, cycles)| start + cycles);
        let spread = Spread::of(&parts, &sums);
        let within = spread.as_ref().map_or(0, |spread| spread.total);
        self.outlet.leave(Samples {
            when: self.when,
            before,
            between: end - before - within,
            after: run.cycles - end,
            parts,
            spread,
        });
    }
}

/// The samples of a run: the first cycle of each, and how many cycles it has.
pub(super) fn parts(
    sample: Option<u64>,
    samples: Option<&Samples>,
    cycles: u64,
) -> Vec<(u64, u64)> {
    match (sample, samples) {
        (Some(each), _) => {
            let starts = (0..cycles.div_ceil(each)).map(|at| at * each);
            let parts = starts.map(|start| (start, each.min(cycles - start)));
            parts.collect()
        }
        (None, Some(samples)) => samples.parts.clone(),
        (None, None) => Vec::new(),
    }
}

/// How something is spread over samples.
struct Row<'a> {
    counter: &'a str,
    site: Option<SiteId>,
    per: String,
    spread: &'a Spread,
    /// What of the run is in no sample.
    rest: Option<u64>,
    unfinished: u64,
}

/// Their tables: how cycles and counters are spread over samples and activations, and each.
pub(super) fn tables<'a>(
    samples: Option<&'a Samples>,
    sample: Option<u64>,
    counters: &'a [Counter],
    cycles: u64,
) -> Vec<ResultTable<'a>> {
    vec![
        spread_table(samples, sample, counters),
        part_table(samples, sample, counters, cycles),
    ]
}

fn spread_table<'a>(
    samples: Option<&'a Samples>,
    sample: Option<u64>,
    counters: &'a [Counter],
) -> ResultTable<'a> {
    let columns = Columns::default()
        .text("counter", |row: &Row<'_>| row.counter.into())
        .text("per", |row| row.per.as_str().into())
        .number("count", |row| row.spread.count.into())
        .bits("min", |row| row.spread.min.into())
        .decimal("mean", |row| Value::Decimal(row.spread.mean))
        .bits("median", |row| row.spread.median.into())
        .bits("p99", |row| row.spread.p99.into())
        .bits("max", |row| row.spread.max.into())
        .number("max_at", |row| row.spread.max_at.into())
        .titled("max at")
        .bits("total", |row| row.spread.total.into())
        .bits("rest", |row| row.rest.map_or(Value::Empty, Value::Count))
        .optional()
        .number("unfinished", |row| match row.unfinished {
            0 => Value::Empty,
            unfinished => unfinished.into(),
        })
        .optional()
        .aside(SITE, |row| row.site.map_or(Value::Empty, site))
        .optional();
    let of_cycles = samples.into_iter().filter_map(|of| {
        Some(Row {
            counter: CYCLES,
            site: None,
            per: of.when.clone(),
            spread: of.spread.as_ref()?,
            rest: Some(of.before + of.between + of.after),
            unfinished: 0,
        })
    });
    let of_counters = counters.iter().filter_map(move |of| {
        let spread = of.spread.as_ref()?;
        let every = || sample.map(|cycles| counted(cycles, "cycle"));
        let per = of.during.clone().or_else(every);
        let per = per.or_else(|| samples.map(|samples| samples.when.clone()));
        Some(Row {
            counter: &of.name,
            site: Some(of.site),
            per: per?,
            spread,
            rest: of.during.is_none().then(|| of.total - spread.total),
            unfinished: of.unfinished,
        })
    });
    let title = match samples {
        None => "samples".to_owned(),
        Some(of) => format!(
            "samples up to {}: {}; {} cycles before the first, {} after the last, {} between",
            of.when,
            thousands(of.parts.len() as u64),
            thousands(of.before),
            thousands(of.after),
            thousands(of.between)
        ),
    };
    ResultTable::new("spreads", title, columns, of_cycles.chain(of_counters))
}

/// What the cycles of samples are called among counters.
const CYCLES: &str = "cycles";

fn part_table<'a>(
    samples: Option<&'a Samples>,
    sample: Option<u64>,
    counters: &'a [Counter],
    cycles: u64,
) -> ResultTable<'a> {
    struct Row<'a> {
        counter: &'a str,
        site: Option<SiteId>,
        part: (u64, u64),
        sum: u64,
    }
    let columns = Columns::default()
        .text("counter", |row: &Row<'_>| row.counter.into())
        .number("start", |row| row.part.0.into())
        .number("cycles", |row| row.part.1.into())
        .bits("sum", |row| row.sum.into())
        .aside(SITE, |row| row.site.map_or(Value::Empty, site))
        .optional();
    let parts = parts(sample, samples, cycles);
    let of_cycles = samples.into_iter().flat_map(|of| &of.parts);
    let of_cycles = of_cycles.map(|&part| Row {
        counter: CYCLES,
        site: None,
        part,
        sum: part.1,
    });
    let of_counters = counters.iter().flat_map(move |of| {
        let parts = match of.during {
            Some(_) => of.parts.clone(),
            None => parts.clone(),
        };
        let rows = parts.into_iter().zip(&of.samples);
        rows.map(|(part, &sum)| Row {
            counter: &of.name,
            site: Some(of.site),
            part,
            sum,
        })
    });
    let rows = of_cycles.chain(of_counters);
    ResultTable::new("samples", "", columns, rows).with(Forms::FileAndDatabase)
}

/// Their tracks: the samples with what was counted in each, and the activations that something was counted in.
pub(super) fn tracks(samples: Option<&Samples>, counters: &[Counter]) -> Vec<Track> {
    let of_samples = samples.map(|samples| {
        let counters = counters.iter().filter(|of| of.during.is_none());
        let sums = counters.map(|of| (&*of.name, &*of.samples)).collect();
        track(
            format!("samples up to {}", samples.when),
            None,
            &samples.parts,
            sums,
        )
    });
    let during = counters.iter().filter(|of| of.during.is_some());
    let of_counters = during.map(|of| {
        let sums = vec![("sum", &*of.samples)];
        track(of.name.clone(), Some(of.site), &of.parts, sums)
    });
    of_samples.into_iter().chain(of_counters).collect()
}

fn track(
    name: String,
    site: Option<SiteId>,
    parts: &[(u64, u64)],
    sums: Vec<(&str, &[u64])>,
) -> Track {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_unstable_by_key(|&at| parts[at]);
    let arguments = sums.into_iter().map(|(name, sums)| {
        let values = order.iter().map(|&at| Value::Count(sums[at]));
        (name.to_owned(), values.collect())
    });
    Track {
        name,
        site,
        arguments: arguments.collect(),
        content: TrackContent::Slices(order.iter().map(|&at| parts[at]).collect()),
    }
}

/// What a run is compared by.
pub(super) fn figures(samples: Option<&Samples>) -> impl Iterator<Item = (String, u64)> {
    let spread = samples.and_then(|of| of.spread.as_ref());
    let all = spread.map(|of| [("median", of.median), ("max", of.max)]);
    let all = all.into_iter().flatten();
    all.map(|(what, cycles)| (format!("sample:{what}"), cycles))
}
