//! What observations gave, as JSON and as tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// The version of `observations.json`.
pub const VERSION: u32 = 1;

/// All results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`VERSION`].
    pub version: u32,
    /// Cycles of the run.
    pub cycles: u64,
    /// The observation that ended the run, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Points in time.
    pub checkpoints: Vec<Checkpoint>,
    /// Times from one event to another.
    pub latencies: Vec<Latency>,
    /// Changes of values.
    pub watches: Vec<Watch>,
    /// What must never, or always, be.
    pub rules: Vec<Rule>,
    /// Sums over all cycles.
    pub counters: Vec<Counter>,
    /// How many cycles each sample of a counter has, if there are samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}

/// Each time at which something happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What it is called.
    pub name: String,
    /// The expression.
    pub when: String,
    /// All cycles in which it happened, ascending.
    pub cycles: Vec<u64>,
    /// The median distance between two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_distance: Option<u64>,
    /// The initiation interval in cycles, if one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<u64>,
}

/// How long it took from one event to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// What it is called.
    pub name: String,
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
    /// Each, in the order in which they ended: the cycle in which it began, and how many cycles it took.
    pub intervals: Vec<(u64, u64)>,
    /// How many began and had not ended when the run was over.
    pub unfinished: u64,
    /// How many ends belong to no beginning.
    pub unmatched: u64,
    /// Cycles beyond the shortest one, of all.
    pub stall: u64,
    /// What else was active in those cycles, most first; adds up to `stall`.
    pub stalls: Vec<Stall>,
}

/// What was active while something took longer than it can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Stall cycles.
    pub cycles: u64,
    /// The innermost of what was active, as paths through the call tree.
    pub active: Vec<String>,
}

/// The changes of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// What it is called.
    pub name: String,
    /// What is watched.
    pub value: String,
    /// Whether it is a register or memory, which has its new value in the cycle after it was written.
    pub is_written: bool,
    /// All changes.
    pub changes: Vec<ChangeOf>,
}

/// A change of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOf {
    /// The cycle at whose end a register or a word of a memory gets its new value; the first cycle with the new value for
    /// anything else.
    pub cycle: u64,
    /// The word of a memory, in row-major order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// The value before; none where a waveform does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    /// The value after.
    pub new: u64,
    /// Who wrote it, as paths through the call tree; empty if no group did, or if it is no register or memory.
    pub by: Vec<String>,
}

/// What must never be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// What it is called.
    pub name: String,
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

/// How many rows of a table are printed, and how many the report shows.
const PRINTED: usize = 10;
const SHOWN: usize = 200;

/// How many points of a series the report shows.
const POINTS: usize = 200;

/// What the report shows.
#[derive(Serialize)]
struct Page<'a> {
    tables: Vec<Shown>,
    histograms: Vec<Series<'a>>,
    samples: Vec<Series<'a>>,
}

/// The beginning of a table.
#[derive(Serialize)]
struct Shown {
    title: String,
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// How many rows there are.
    all: usize,
}

/// Values by a number.
#[derive(Serialize)]
struct Series<'a> {
    name: &'a str,
    /// What the number is.
    unit: &'static str,
    points: Vec<(u64, u64)>,
}

impl Series<'_> {
    /// With so many neighbours added up that all fit.
    fn thinned(mut self) -> Self {
        let each = self.points.len().div_ceil(POINTS).max(1);
        let sums = self.points.chunks(each);
        self.points = sums
            .map(|part| (part[0].0, part.iter().map(|(_, value)| value).sum()))
            .collect();
        self
    }
}

impl Shown {
    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "{}", self.title);
        let header: Vec<String> = self.header.iter().map(ToString::to_string).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&header).chain(&self.rows).collect();
        let width_of = |column: usize| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..header.len()).map(width_of).collect();
        // A column of numbers is flush right, with its heading.
        let is_number = |cell: &String| cell.is_empty() || cell.parse::<f64>().is_ok();
        let numbers: Vec<bool> = (0..header.len())
            .map(|column| self.rows.iter().all(|row| is_number(&row[column])))
            .collect();
        for line in lines {
            let cells: Vec<String> = line
                .iter()
                .zip(widths.iter().zip(&numbers))
                .map(|(cell, (width, is_number))| {
                    if *is_number {
                        format!("{cell:>width$}")
                    } else {
                        format!("{cell:width$}")
                    }
                })
                .collect();
            let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
        }
        if self.rows.len() < self.all {
            let _ = writeln!(text, "  … and {} more", self.all - self.rows.len());
        }
    }
}

impl Results {
    /// As JSON.
    ///
    /// # Panics
    /// Never: all keys are texts or numbers.
    pub fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("results can be written");
        json.push('\n');
        json
    }

    /// All stamps in one order, that of time: what happens in one cycle stands in the order of the request. Each row has the
    /// number of its checkpoint there.
    pub fn stamps(&self) -> Vec<(u64, usize)> {
        let all = self.checkpoints.iter().enumerate();
        let mut stamps: Vec<(u64, usize)> = all
            .flat_map(|(at, of)| of.cycles.iter().map(move |&cycle| (cycle, at)))
            .collect();
        stamps.sort_unstable();
        stamps
    }

    /// How many cycles rules were broken in.
    pub fn violations(&self) -> u64 {
        self.rules.iter().map(|rule| rule.cycles).sum()
    }

    /// The tables, each with the name of its file. One of which there is nothing is left out.
    ///
    /// # Panics
    /// Never: memory takes all bytes.
    pub fn tables(&self) -> Vec<(&'static str, String)> {
        let tables = [
            (
                "checkpoints.csv",
                "i,id,cycle,from_first,distance,from_first_in_intervals,distance_in_intervals",
                self.checkpoint_rows(usize::MAX),
            ),
            (
                "latencies.csv",
                "latency,count,min,median,p99,max,total,stall,unfinished,unmatched",
                self.latency_rows(),
            ),
            ("stalls.csv", "latency,cycles,active", self.stall_rows()),
            (
                "changes.csv",
                "watch,cycle,index,old,new,by",
                self.change_rows(usize::MAX),
            ),
            (
                "violations.csv",
                "rule,cycle,cycles,active",
                self.violation_rows(usize::MAX),
            ),
            (
                "counters.csv",
                "counter,total,per_cycle",
                self.counter_rows(),
            ),
            (
                "samples.csv",
                "counter,first_cycle,cycles,sum",
                self.sample_rows(),
            ),
        ];
        let filled = tables.into_iter().filter(|(_, _, rows)| !rows.is_empty());
        let csv = |header: &str, rows: &[Vec<String>]| {
            let mut writer = csv::Writer::from_writer(Vec::new());
            let written = writer.write_record(header.split(','));
            let written = rows.iter().fold(written, |so_far, row| {
                so_far.and_then(|()| writer.write_record(row))
            });
            written.expect("memory takes all bytes");
            let bytes = writer.into_inner().expect("memory takes all bytes");
            String::from_utf8(bytes).expect("texts are written")
        };
        filled
            .map(|(name, header, rows)| (name, csv(header, &rows)))
            .collect()
    }

    /// What is printed after a run: the first rows of each table.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for table in self.shown(PRINTED) {
            table.write(&mut text);
        }
        text
    }

    /// What the report shows: the first rows of each table, how often each latency was how long, and the samples of counters.
    ///
    /// # Panics
    /// Never: all keys are texts.
    pub fn page(&self) -> serde_json::Value {
        let latencies = self.latencies.iter().filter(|of| of.count > 0);
        let histograms = latencies.map(|of| Series {
            name: &of.name,
            unit: "cycles",
            points: of
                .histogram
                .iter()
                .map(|(&at, &value)| (at, value))
                .collect(),
        });
        let sample = self.sample.unwrap_or(1);
        let counters = self.counters.iter().filter(|of| !of.samples.is_empty());
        let samples = counters.map(|of| Series {
            name: &of.name,
            unit: "cycle",
            points: (0..)
                .map(|at| at * sample)
                .zip(of.samples.iter().copied())
                .collect(),
        });
        let page = Page {
            tables: self.shown(SHOWN),
            histograms: histograms.map(Series::thinned).collect(),
            samples: samples.map(Series::thinned).collect(),
        };
        serde_json::to_value(page).expect("results can be written")
    }

    /// The first rows of each table that has some.
    fn shown(&self, most: usize) -> Vec<Shown> {
        let stamps: usize = self.checkpoints.iter().map(|of| of.cycles.len()).sum();
        let changes = self.watches.iter().map(|watch| watch.changes.len()).sum();
        let violations = self.rules.iter().map(|rule| rule.violations.len()).sum();
        let shown = |title: String,
                     header: &'static str,
                     mut rows: Vec<Vec<String>>,
                     all: Option<usize>| {
            let all = all.unwrap_or(rows.len());
            rows.truncate(most);
            let header = header.split(',').collect();
            Shown {
                title,
                header,
                rows,
                all,
            }
        };
        let tables = [
            shown(
                format!("checkpoints: {stamps} stamps, none lost"),
                "i,id,t(i),t(i)-t(0),t(i)-t(i-1),(t(i)-t(0))/II,(t(i)-t(i-1))/II",
                self.checkpoint_rows(most),
                Some(stamps),
            ),
            shown(
                "latencies, in cycles".to_owned(),
                "latency,count,min,median,p99,max,total,stall,unfinished,unmatched",
                self.latency_rows(),
                None,
            ),
            shown(
                "stall cycles, by what else was active".to_owned(),
                "latency,cycles,active",
                self.stall_rows(),
                None,
            ),
            shown(
                format!("changes: {changes}"),
                "watch,cycle,index,old,new,by",
                self.change_rows(most),
                Some(changes),
            ),
            shown(
                format!("rules broken in {} cycles", self.violations()),
                "rule,cycle,cycles,active",
                self.violation_rows(most),
                Some(violations),
            ),
            shown(
                "counters".to_owned(),
                "counter,total,per cycle",
                self.counter_rows(),
                None,
            ),
        ];
        tables.into_iter().filter(|table| table.all > 0).collect()
    }

    fn checkpoint_rows(&self, most: usize) -> Vec<Vec<String>> {
        let stamps = self.stamps();
        let first = stamps.first().map_or(0, |&(cycle, _)| cycle);
        let mut before = first;
        let mut rows = Vec::new();
        for (i, &(cycle, at)) in stamps.iter().take(most).enumerate() {
            let checkpoint = &self.checkpoints[at];
            let in_intervals = |cycles: u64| {
                let interval = checkpoint.interval.filter(|interval| *interval > 0);
                interval.map_or(String::new(), |interval| decimal(ratio(cycles, interval)))
            };
            rows.push(vec![
                i.to_string(),
                checkpoint.name.clone(),
                cycle.to_string(),
                (cycle - first).to_string(),
                (cycle - before).to_string(),
                in_intervals(cycle - first),
                in_intervals(cycle - before),
            ]);
            before = cycle;
        }
        rows
    }

    fn latency_rows(&self) -> Vec<Vec<String>> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let rows = self.latencies.iter().map(|of| {
            vec![
                of.name.clone(),
                of.count.to_string(),
                number(of.min),
                number(of.median),
                number(of.p99),
                number(of.max),
                of.total.to_string(),
                of.stall.to_string(),
                of.unfinished.to_string(),
                of.unmatched.to_string(),
            ]
        });
        rows.collect()
    }

    fn stall_rows(&self) -> Vec<Vec<String>> {
        let rows = self.latencies.iter().flat_map(|of| {
            of.stalls.iter().map(|stall| {
                vec![
                    of.name.clone(),
                    stall.cycles.to_string(),
                    stall.active.join(" | "),
                ]
            })
        });
        rows.collect()
    }

    fn change_rows(&self, most: usize) -> Vec<Vec<String>> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let rows = self.watches.iter().flat_map(|watch| {
            watch.changes.iter().map(move |change| {
                vec![
                    watch.name.clone(),
                    change.cycle.to_string(),
                    number(change.index),
                    number(change.old),
                    change.new.to_string(),
                    change.by.join(" | "),
                ]
            })
        });
        rows.take(most).collect()
    }

    fn violation_rows(&self, most: usize) -> Vec<Vec<String>> {
        let rows = self.rules.iter().flat_map(|rule| {
            rule.violations.iter().map(|violation| {
                vec![
                    rule.name.clone(),
                    violation.cycle.to_string(),
                    violation.cycles.to_string(),
                    violation.active.join(" | "),
                ]
            })
        });
        rows.take(most).collect()
    }

    fn counter_rows(&self) -> Vec<Vec<String>> {
        let rows = self.counters.iter().map(|counter| {
            vec![
                counter.name.clone(),
                counter.total.to_string(),
                decimal(counter.per_cycle),
            ]
        });
        rows.collect()
    }

    fn sample_rows(&self) -> Vec<Vec<String>> {
        let Some(sample) = self.sample else {
            return Vec::new();
        };
        let rows = self.counters.iter().flat_map(|counter| {
            counter
                .samples
                .iter()
                .zip((0..).step_by(usize::try_from(sample).unwrap_or(usize::MAX)))
                .map(move |(sum, first): (&u64, u64)| {
                    let cycles = sample.min(self.cycles - first);
                    vec![
                        counter.name.clone(),
                        first.to_string(),
                        cycles.to_string(),
                        sum.to_string(),
                    ]
                })
        });
        rows.collect()
    }
}

/// A quotient with four digits after the point.
fn decimal(number: f64) -> String {
    format!("{number:.4}")
}

/// A quotient; of 0 if nothing is there to divide by.
pub(crate) fn ratio(number: u64, by: u64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio is shown with a few digits"
    )]
    let (number, by) = (number as f64, by as f64);
    if by == 0.0 { 0.0 } else { number / by }
}
