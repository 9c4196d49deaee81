//! What observations gave, as tables: in files, on paper and in the report.

use std::fmt::Write as _;

use serde::Serialize;

use crate::results::{Results, ratio};

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

/// The rows of a table. There may be more of them than cycles, so nobody has all at once.
type Rows<'a> = Box<dyn Iterator<Item = Vec<String>> + 'a>;

impl Results {
    /// The tables, each with the name of its file. One of which there is nothing is left out.
    ///
    /// # Panics
    /// Never: memory takes all bytes.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let tables = [
            (
                "checkpoints.csv",
                "i,id,cycle,from_first,distance,from_first_in_intervals,distance_in_intervals",
                self.checkpoint_rows(),
            ),
            (
                "latencies.csv",
                "latency,count,min,median,p99,max,total,over_shortest,stall,unfinished,unmatched",
                self.latency_rows(),
            ),
            (
                "blame.csv",
                "latency,cycles,in_parallel,active",
                self.blame_rows(),
            ),
            (
                "changes.csv",
                "watch,cycle,index,old,new,by",
                self.change_rows(),
            ),
            (
                "violations.csv",
                "rule,cycle,cycles,written,by,active",
                self.violation_rows(),
            ),
            (
                "counters.csv",
                "counter,total,per_cycle",
                self.counter_rows(),
            ),
            ("derived.csv", "figure,value,formula", self.derived_rows()),
            (
                "samples.csv",
                "counter,first_cycle,cycles,sum",
                self.sample_rows(),
            ),
            (
                "windows.csv",
                "window,first_cycle,cycles,state",
                self.window_rows(),
            ),
        ];
        tables.into_iter().filter_map(|(name, header, rows)| {
            let mut rows = rows.peekable();
            rows.peek()?;
            let mut writer = csv::Writer::from_writer(Vec::new());
            let written = writer.write_record(header.split(','));
            let written = rows.fold(written, |so_far, row| {
                let row = row.iter().map(|cell| for_spreadsheets(cell));
                so_far.and_then(|()| writer.write_record(row))
            });
            written.expect("memory takes all bytes");
            let bytes = writer.into_inner().expect("memory takes all bytes");
            Some((name, String::from_utf8(bytes).expect("texts are written")))
        })
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
        let windows: usize = self.windows.iter().map(|window| window.parts.len()).sum();
        let kept: u64 = self.kept().iter().map(|part| part.end - part.start).sum();
        let violations = self.rules.iter().map(|rule| rule.violations.len()).sum();
        let shown =
            |title: String, header: &'static str, mut rows: Rows<'_>, all: Option<usize>| {
                let first: Vec<_> = rows.by_ref().take(most).collect();
                let all = all.unwrap_or_else(|| first.len() + rows.count());
                let header = header.split(',').collect();
                Shown {
                    title,
                    header,
                    rows: first,
                    all,
                }
            };
        let tables = [
            shown(
                format!("checkpoints: {stamps} stamps, none lost"),
                "i,id,t(i),t(i)-t(0),t(i)-t(i-1),(t(i)-t(0))/II,(t(i)-t(i-1))/II",
                self.checkpoint_rows(),
                Some(stamps),
            ),
            shown(
                "latencies, in cycles".to_owned(),
                "latency,count,min,median,p99,max,total,over shortest,stall,unfinished,unmatched",
                self.latency_rows(),
                None,
            ),
            shown(
                "over the shortest, by what had more cycles".to_owned(),
                "latency,cycles,in parallel,active",
                self.blame_rows(),
                None,
            ),
            shown(
                format!("changes: {changes}"),
                "watch,cycle,index,old,new,by",
                self.change_rows(),
                Some(changes),
            ),
            shown(
                format!("rules broken in {} cycles", self.violations()),
                "rule,cycle,cycles,written,by,active",
                self.violation_rows(),
                Some(violations),
            ),
            shown(
                "counters".to_owned(),
                "counter,total,per cycle",
                self.counter_rows(),
                None,
            ),
            shown(
                "computed from counters".to_owned(),
                "figure,value,formula",
                self.derived_rows(),
                None,
            ),
            shown(
                format!(
                    "windows: {windows}, which keep {kept} of {} cycles",
                    self.cycles
                ),
                "window,first cycle,cycles,state",
                self.window_rows(),
                None,
            ),
        ];
        tables.into_iter().filter(|table| table.all > 0).collect()
    }

    fn checkpoint_rows(&self) -> Rows<'_> {
        let stamps = self.stamps();
        let first = stamps.first().map_or(0, |&(cycle, _)| cycle);
        let mut before = first;
        let rows = stamps.into_iter().enumerate().map(move |(i, (cycle, at))| {
            let checkpoint = &self.checkpoints[at];
            let in_intervals = |cycles: u64| {
                let interval = checkpoint.interval.filter(|interval| *interval > 0);
                interval.map_or(String::new(), |interval| decimal(ratio(cycles, interval)))
            };
            let distance = cycle - std::mem::replace(&mut before, cycle);
            vec![
                i.to_string(),
                checkpoint.name.clone(),
                cycle.to_string(),
                (cycle - first).to_string(),
                distance.to_string(),
                in_intervals(cycle - first),
                in_intervals(distance),
            ]
        });
        Box::new(rows)
    }

    fn latency_rows(&self) -> Rows<'_> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let rows = self.latencies.iter().map(move |of| {
            vec![
                of.name.clone(),
                of.count.to_string(),
                number(of.min),
                number(of.median),
                number(of.p99),
                number(of.max),
                of.total.to_string(),
                of.over_shortest.to_string(),
                of.stall.to_string(),
                of.unfinished.to_string(),
                of.unmatched.to_string(),
            ]
        });
        Box::new(rows)
    }

    fn blame_rows(&self) -> Rows<'_> {
        let rows = self.latencies.iter().flat_map(move |of| {
            of.blame.iter().map(|blame| {
                vec![
                    of.name.clone(),
                    blame.cycles.to_string(),
                    blame.in_parallel.to_string(),
                    blame.active.clone(),
                ]
            })
        });
        Box::new(rows)
    }

    fn change_rows(&self) -> Rows<'_> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let rows = self.watches.iter().flat_map(move |watch| {
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
        Box::new(rows)
    }

    fn violation_rows(&self) -> Rows<'_> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let rows = self.rules.iter().flat_map(move |rule| {
            rule.violations.iter().map(move |violation| {
                let written = violation.written.as_ref();
                vec![
                    rule.name.clone(),
                    violation.cycle.to_string(),
                    violation.cycles.to_string(),
                    number(written.map(|written| written.cycle)),
                    written.map_or(String::new(), |written| written.by.join(" | ")),
                    violation.active.join(" | "),
                ]
            })
        });
        Box::new(rows)
    }

    fn counter_rows(&self) -> Rows<'_> {
        let rows = self.counters.iter().map(|counter| {
            vec![
                counter.name.clone(),
                counter.total.to_string(),
                decimal(counter.per_cycle),
            ]
        });
        Box::new(rows)
    }

    fn derived_rows(&self) -> Rows<'_> {
        let rows = self.derived.iter().map(|of| {
            let value = of.value.map_or(String::new(), decimal);
            vec![of.name.clone(), value, of.formula.clone()]
        });
        Box::new(rows)
    }

    fn window_rows(&self) -> Rows<'_> {
        let rows = self.windows.iter().flat_map(move |window| {
            let last = window.parts.len().saturating_sub(1);
            let row = move |first: String, cycles: String, state: &str| {
                vec![window.name.clone(), first, cycles, state.to_owned()]
            };
            // One that never began has a row, too.
            let none = window.parts.is_empty();
            let none = none.then(|| row(String::new(), "0".to_owned(), &window.state));
            let parts = window.parts.iter().enumerate();
            let parts = parts.map(move |(at, (start, cycles))| {
                let state = if at == last { &window.state } else { "stop" };
                row(start.to_string(), cycles.to_string(), state)
            });
            none.into_iter().chain(parts)
        });
        Box::new(rows)
    }

    fn sample_rows(&self) -> Rows<'_> {
        let Some(sample) = self.sample else {
            return Box::new(std::iter::empty());
        };
        let rows = self.counters.iter().flat_map(move |counter| {
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
        Box::new(rows)
    }
}

/// A cell that no spreadsheet takes for a formula.
fn for_spreadsheets(cell: &str) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        return format!("'{cell}");
    }
    cell.to_owned()
}

/// A quotient with four digits after the point.
fn decimal(number: f64) -> String {
    format!("{number:.4}")
}
