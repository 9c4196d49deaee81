//! What observations gave, in files, printed and in the report.

use std::fmt::Write as _;

use serde::Serialize;

use petal_table::style::BOLD;
use petal_table::{Column, Screen, Table, Value, thousands};

use crate::kinds::{Heat, Results};
use crate::variables::Variables;

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
    /// How many samples, or parts, have how many cycles, or how much of a counter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spreads: Vec<Series<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heat: Vec<Heat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<&'a Variables>,
}

/// The beginning of a table.
#[derive(Serialize)]
struct Shown {
    title: String,
    header: Vec<String>,
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
    pub fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        for (title, table, all) in self.first_rows(PRINTED) {
            let _ = writeln!(text, "{}", screen.styled(BOLD, title));
            text.push_str(&table.shown(screen, 2));
            if table.rows().len() < all {
                let _ = writeln!(
                    text,
                    "  … and {} more",
                    thousands((all - table.rows().len()) as u64)
                );
            }
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
        let parts = self.parts();
        let counters = self
            .counters
            .iter()
            .filter(|of| of.during.is_none() && !of.samples.is_empty());
        let samples = counters.map(|of| Series {
            name: &of.name,
            unit: "cycle",
            points: parts
                .iter()
                .map(|(start, _)| *start)
                .zip(of.samples.iter().copied())
                .collect(),
        });
        let page = Page {
            tables: self.first_rows(SHOWN).map(Shown::new).collect(),
            histograms: histograms.map(Series::thinned).collect(),
            samples: samples.map(Series::thinned).collect(),
            spreads: self.spreads().map(Series::thinned).collect(),
            heat: Heat::all(&self.accesses, self.cycles),
            variables: self.variables.as_ref(),
        };
        serde_json::to_value(page).expect("results can be written")
    }

    /// How cycles and counters are spread over samples and other parts of the run.
    fn spreads(&self) -> impl Iterator<Item = Series<'_>> {
        let samples = self.samples.iter();
        let cycles = samples.map(|of| ("cycles", "cycles", &of.spread));
        let counters = self.counters.iter();
        let counters = counters.map(|of| (&*of.name, "sum", &of.spread));
        let all = cycles.chain(counters);
        all.filter_map(|(name, unit, spread)| {
            let points = spread.as_ref()?.histogram.iter();
            Some(Series {
                name,
                unit,
                points: points.map(|(&at, &value)| (at, value)).collect(),
            })
        })
    }

    /// The first rows of each table that has some, with its title and how many there are.
    fn first_rows(&self, most: usize) -> impl Iterator<Item = (String, Table, usize)> {
        let tables = self.tables().into_iter();
        let tables = tables.filter(|table| table.forms.is_shown());
        let shown = tables.map(move |table| {
            let title = table.title.clone();
            let (columns, mut rows) = table.into_parts();
            let mut first = Table::new(columns);
            for row in rows.by_ref().take(most) {
                first.push(row);
            }
            let all = first.rows().len() + rows.count();
            (title, first, all)
        });
        shown.filter(|(_, _, all)| *all > 0)
    }
}

impl Shown {
    fn new((title, table, all): (String, Table, usize)) -> Self {
        let heading = table.columns().iter().map(Column::heading);
        let rows = table.rows().iter();
        Self {
            title,
            header: heading.map(str::to_owned).collect(),
            rows: rows
                .map(|row| row.iter().map(Value::plain).collect())
                .collect(),
            all,
        }
    }
}
