//! What observations gave, in files, printed and in the report.

use std::fmt::Write as _;

use serde::Serialize;

use petal_table::{Column, Value};

use crate::kinds::Results;

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
    header: Vec<String>,
    /// Which columns have numbers, which are flush right.
    #[serde(skip)]
    numbers: Vec<bool>,
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
        let lines: Vec<&Vec<String>> = std::iter::once(&self.header).chain(&self.rows).collect();
        let width_of = |column: usize| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width_of).collect();
        for line in lines {
            let cells: Vec<String> = line
                .iter()
                .zip(widths.iter().zip(&self.numbers))
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
    /// The files of tables, each with its name. One of which there is nothing is left out.
    pub fn files(&self) -> impl Iterator<Item = (String, String)> {
        let tables = self.tables().into_iter();
        let tables = tables.filter(|table| table.forms.has_file());
        tables.filter_map(|table| {
            let name = format!("{}.csv", table.name);
            let (columns, rows) = table.into_parts();
            let mut rows = rows.peekable();
            rows.peek()?;
            let heading = columns.iter().map(|column| column.name.as_str());
            Some((name, petal_table::csv(heading, rows)))
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
        let tables = self.tables().into_iter();
        let tables = tables.filter(|table| table.forms.is_shown());
        let shown = tables.map(|table| {
            let title = table.title.clone();
            let (columns, mut rows) = table.into_parts();
            let plain = |row: Vec<Value>| row.iter().map(Value::plain).collect();
            let first: Vec<Vec<String>> = rows.by_ref().take(most).map(plain).collect();
            Shown {
                title,
                all: first.len() + rows.count(),
                header: columns
                    .iter()
                    .map(|column| column.heading().to_owned())
                    .collect(),
                numbers: columns.iter().map(Column::is_number).collect(),
                rows: first,
            }
        });
        shown.filter(|table| table.all > 0).collect()
    }
}
