//! What was observed in two runs, for people: listings, the order of stamps, and how long latencies took.

use std::fmt::Write as _;

use super::listing::{Listing, Row, Style, write};
use super::observations::{LatencyRow, Measure, Observations, Order, Runs};
use super::rows::Change;
use petal_table::text::{markdown, printable, signed, thousands};
use petal_table::{Column, Table, Value};

/// How many rows a histogram has, and how wide its longest bar is.
const BARS: usize = 12;
const LONGEST: u64 = 24;

impl Measure {
    fn is_changed(self) -> bool {
        self.before != self.after
    }

    fn text(self) -> Value {
        let one = |number: Option<u64>| number.map_or("–".to_owned(), thousands);
        match (self.before, self.after) {
            (None, None) => Value::Empty,
            (before, after) if before == after => one(after).into(),
            (before, after) => format!("{} → {}", one(before), one(after)).into(),
        }
    }

    fn delta(self) -> Value {
        match self.change().map(Change::delta) {
            None | Some(0) => Value::Empty,
            Some(delta) => signed(delta).into(),
        }
    }

    fn percent(self) -> Value {
        self.change().map_or(Value::Empty, Change::percent_text)
    }
}

impl Runs {
    fn text(self) -> Value {
        match self {
            Self::Both => Value::Empty,
            Self::Before => "only before".into(),
            Self::After => "only after".into(),
        }
    }
}

impl Order {
    fn text(&self, style: Style) -> String {
        let Some(first) = self.first_difference else {
            return format!(
                "order of stamps: the same, {} stamps\n",
                thousands(self.stamps.after)
            );
        };
        let mut text = format!(
            "order of stamps: not the same from stamp {first} on (`-` only before, `+` only after)\n"
        );
        let (open, indent, close) = match style {
            Style::Text(_) => ("", "  ", ""),
            Style::Markdown => ("\n```diff\n", "", "```\n"),
        };
        text.push_str(open);
        for (sign, name) in &self.alignment {
            let line = format!("{indent}{sign} {}", printable(name));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        if self.is_cut {
            let _ = writeln!(text, "{indent}…");
        }
        text.push_str(close);
        text
    }
}

impl Observations {
    pub(super) fn latency_rows(&self) -> Listing {
        let rows = self.latencies.iter().map(|row| {
            let measures = [row.count, row.median, row.p99, row.max, row.over_shortest];
            let mut values = vec![row.name.as_str().into()];
            values.extend(measures.map(Measure::text));
            values.extend([row.p99.delta(), row.p99.percent(), row.runs.text()]);
            Row {
                changed: measures.into_iter().any(Measure::is_changed),
                rank: rank(row.p99, row.over_shortest),
                values,
            }
        });
        let mut columns = vec![Column::text("latency")];
        let numbers = [
            "count",
            "median",
            "p99",
            "max",
            "over shortest",
            "delta of p99",
            "%",
        ];
        columns.extend(numbers.map(|name| match name {
            "delta of p99" | "%" => Column::change(name),
            name => Column::number(name),
        }));
        columns.push(Column::text("what changed"));
        Listing::new(["latency", "latencies"], columns, rows)
    }

    pub(super) fn counter_rows(&self) -> Listing {
        let rows = self.counters.iter().map(|row| Row {
            changed: row.total.is_changed(),
            rank: rank(row.total, Measure::default()),
            values: vec![
                row.name.as_str().into(),
                row.total.text(),
                row.total.delta(),
                row.total.percent(),
                row.runs.text(),
            ],
        });
        let mut columns = vec![Column::text("counter")];
        columns.extend(["total", "delta", "%"].map(Column::number));
        columns.push(Column::text("what changed"));
        Listing::new(["counter", "counters"], columns, rows)
    }

    pub(super) fn access_rows(&self) -> Listing {
        let rows = self.accesses.iter().map(|row| {
            let measures = [row.reads, row.words_read, row.writes, row.words_written];
            let mut values = vec![row.name.as_str().into()];
            values.extend(measures.map(Measure::text));
            values.push(row.runs.text());
            Row {
                changed: measures.into_iter().any(Measure::is_changed),
                rank: rank(row.reads, row.writes),
                values,
            }
        });
        let mut columns = vec![Column::text("memory")];
        let numbers = ["reads", "words read", "writes", "words written"];
        columns.extend(numbers.map(Column::number));
        columns.push(Column::text("what changed"));
        Listing::new(["memory", "memories"], columns, rows)
    }

    pub(super) fn checkpoint_rows(&self) -> Listing {
        let rows = self.checkpoints.iter().map(|row| Row {
            changed: row.stamps.is_changed() || row.median_distance.is_changed(),
            rank: rank(row.stamps, row.median_distance),
            values: vec![
                row.name.as_str().into(),
                row.stamps.text(),
                row.median_distance.text(),
                row.runs.text(),
            ],
        });
        let mut columns = vec![Column::text("checkpoint")];
        columns.extend(["stamps", "median distance"].map(Column::number));
        columns.push(Column::text("what changed"));
        Listing::new(["checkpoint", "checkpoints"], columns, rows)
    }

    /// The order of stamps, and the histograms of latencies that changed.
    pub(super) fn details(&self, style: Style) -> String {
        let mut parts = Vec::new();
        parts.extend(self.order.iter().map(|order| order.text(style)));
        let latencies = self.latencies.iter();
        for row in latencies.filter(|row| row.histogram.values().any(|(was, is)| was != is)) {
            let table = write(&histogram(row), style);
            parts.push(match style {
                Style::Text(_) => table,
                Style::Markdown => format!("How long {} took:\n\n{table}", markdown(&row.name)),
            });
        }
        parts.join("\n")
    }
}

fn rank(first: Measure, second: Measure) -> (u64, u64) {
    let grown = |measure: Measure| {
        let (before, after) = (measure.before.unwrap_or(0), measure.after.unwrap_or(0));
        before.abs_diff(after)
    };
    (grown(first), grown(second))
}

/// How often a latency was how long, before and after, side by side.
fn histogram(row: &LatencyRow) -> Table {
    let all: Vec<(u64, (u64, u64))> = row.histogram.iter().map(|(&at, &of)| (at, of)).collect();
    let buckets: Vec<(u64, u64, u64, u64)> = all
        .chunks(all.len().div_ceil(BARS).max(1))
        .map(|part| {
            let sum = |of: fn(&(u64, u64)) -> u64| {
                let counts = part.iter().map(|(_, counts)| of(counts));
                counts.fold(0, u64::saturating_add)
            };
            let (first, last) = (part[0].0, part[part.len() - 1].0);
            (first, last, sum(|of| of.0), sum(|of| of.1))
        })
        .collect();
    let most = buckets.iter().map(|&(_, _, was, is)| was.max(is)).max();
    let bar = |count: u64| {
        let width = u128::from(count) * u128::from(LONGEST);
        let width = width.div_ceil(u128::from(most.unwrap_or(0).max(1)));
        "█".repeat(usize::try_from(width).unwrap_or(0))
    };
    let mut table = Table::new(vec![
        Column::text(format!("cycles of {}", row.name)),
        Column::number("before"),
        Column::text(""),
        Column::number("after"),
        Column::text(""),
    ]);
    for (first, last, was, is) in buckets {
        let cycles = if first == last {
            thousands(first)
        } else {
            format!("{}–{}", thousands(first), thousands(last))
        };
        table.push(vec![
            cycles.into(),
            was.into(),
            bar(was).into(),
            is.into(),
            bar(is).into(),
        ]);
    }
    table
}
