//! What observations gave, as tables: the one list of their columns that files, printed texts, the report and databases are made from.

use petal_table::{Column, Columns, Value};

use crate::results::{
    Blame, ChangeOf, Counter, Derived, Latency, Results, Violation, Window, ratio,
};

/// A table of results.
pub struct ResultTable<'a> {
    /// What it is called: its file, and its table in databases.
    pub name: &'static str,
    /// What stands above it, where it is shown.
    pub title: String,
    /// Which forms it has.
    pub forms: Forms,
    columns: Vec<Column>,
    rows: RowIterator<'a>,
}

/// The forms that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// A file and a table of databases; and it is shown after a run and in the report.
    All,
    /// All, but it is not shown.
    FileAndDatabase,
    /// All but a table of databases.
    FileAndShown,
    /// A table of databases alone.
    Database,
}

impl Forms {
    /// Whether it has a file.
    pub fn has_file(self) -> bool {
        self != Self::Database
    }

    /// Whether it is shown.
    pub fn is_shown(self) -> bool {
        matches!(self, Self::All | Self::FileAndShown)
    }

    /// Whether databases have it.
    pub fn is_of_databases(self) -> bool {
        self != Self::FileAndShown
    }
}

/// The rows of a table. There may be more of them than cycles, so nobody has all at once.
type RowIterator<'a> = Box<dyn Iterator<Item = Vec<Value>> + 'a>;

impl<'a> ResultTable<'a> {
    fn new<R: 'a>(
        name: &'static str,
        title: impl Into<String>,
        columns: Columns<R>,
        rows: impl Iterator<Item = R> + 'a,
    ) -> Self {
        Self {
            name,
            title: title.into(),
            forms: Forms::All,
            columns: columns.list().cloned().collect(),
            rows: Box::new(rows.map(move |row| columns.values(&row))),
        }
    }

    fn with(self, forms: Forms) -> Self {
        Self { forms, ..self }
    }

    /// Its columns, and its rows, each with a value for every column.
    pub fn into_parts(self) -> (Vec<Column>, impl Iterator<Item = Vec<Value>> + 'a) {
        (self.columns, self.rows)
    }
}

impl Results {
    /// All tables, also those without rows.
    pub fn tables(&self) -> Vec<ResultTable<'_>> {
        vec![
            self.checkpoint_table(),
            self.latency_table(),
            self.interval_table(),
            self.blame_table(),
            self.change_table(),
            self.violation_table(),
            self.counter_table(),
            self.sample_table(),
            self.derived_table(),
            self.window_table(),
        ]
    }

    fn checkpoint_table(&self) -> ResultTable<'_> {
        struct Row<'a> {
            i: u64,
            name: &'a str,
            cycle: u64,
            from_first: u64,
            distance: u64,
            interval: Option<u64>,
        }
        let in_intervals = |cycles: u64, row: &Row<'_>| {
            let interval = row.interval.filter(|interval| *interval > 0);
            interval.map_or(Value::Empty, |interval| {
                Value::Fraction(ratio(cycles, interval))
            })
        };
        let columns = Columns::default()
            .number("i", |row: &Row<'_>| row.i.into())
            .text("checkpoint", |row| row.name.into())
            .titled("id")
            .number("cycle", |row| row.cycle.into())
            .titled("t(i)")
            .number("from_first", |row| row.from_first.into())
            .titled("t(i)-t(0)")
            .number("distance", |row| row.distance.into())
            .titled("t(i)-t(i-1)")
            .decimal("from_first_in_intervals", move |row| {
                in_intervals(row.from_first, row)
            })
            .titled("(t(i)-t(0))/II")
            .optional()
            .decimal("distance_in_intervals", move |row| {
                in_intervals(row.distance, row)
            })
            .titled("(t(i)-t(i-1))/II")
            .optional();
        let stamps = self.stamps();
        let first = stamps.first().map_or(0, |&(cycle, _)| cycle);
        let title = format!("checkpoints: {} stamps, none lost", stamps.len());
        let mut before = first;
        let rows = (0..).zip(stamps).map(move |(i, (cycle, at))| Row {
            i,
            name: &self.checkpoints[at].name,
            cycle,
            from_first: cycle - first,
            distance: cycle - std::mem::replace(&mut before, cycle),
            interval: self.checkpoints[at].interval,
        });
        ResultTable::new("checkpoints", title, columns, rows)
    }

    fn latency_table(&self) -> ResultTable<'_> {
        let columns = Columns::default()
            .text("latency", |of: &&Latency| of.name.as_str().into())
            .number("count", |of| of.count.into())
            .number("min", |of| or_empty(of.min))
            .number("median", |of| or_empty(of.median))
            .number("p99", |of| or_empty(of.p99))
            .number("max", |of| or_empty(of.max))
            .number("total", |of| of.total.into())
            .number("over_shortest", |of| of.over_shortest.into())
            .titled("over shortest")
            .number("stall", |of| of.stall.into())
            .number("unfinished", |of| of.unfinished.into())
            .number("unmatched", |of| of.unmatched.into());
        let title = "latencies, in cycles";
        ResultTable::new("latencies", title, columns, self.latencies.iter())
            .with(Forms::FileAndShown)
    }

    fn interval_table(&self) -> ResultTable<'_> {
        type Row<'a> = (&'a Latency, (u64, u64));
        let columns = Columns::default()
            .text("latency", |(of, _): &Row<'_>| of.name.as_str().into())
            .number("start", |(_, (start, _))| (*start).into())
            .number("cycles", |(_, (_, cycles))| (*cycles).into());
        let rows = self.latencies.iter();
        let rows = rows.flat_map(|of| of.intervals.iter().map(move |&interval| (of, interval)));
        ResultTable::new("latencies", "", columns, rows).with(Forms::Database)
    }

    fn blame_table(&self) -> ResultTable<'_> {
        type Row<'a> = (&'a Latency, &'a Blame);
        let columns = Columns::default()
            .text("latency", |(of, _): &Row<'_>| of.name.as_str().into())
            .number("cycles", |(_, blame)| blame.cycles.into())
            .number("in_parallel", |(_, blame)| blame.in_parallel.into())
            .titled("in parallel")
            .text("active", |(_, blame)| blame.active.as_str().into());
        let rows = self.latencies.iter();
        let rows = rows.flat_map(|of| of.blame.iter().map(move |blame| (of, blame)));
        let title = "over the shortest, by what had more cycles";
        ResultTable::new("blame", title, columns, rows)
    }

    fn change_table(&self) -> ResultTable<'_> {
        type Row<'a> = (&'a str, &'a ChangeOf);
        let columns = Columns::default()
            .text("watch", |(name, _): &Row<'_>| (*name).into())
            .number("cycle", |(_, change)| change.cycle.into())
            .number("index", |(_, change)| or_empty(change.index))
            .optional()
            .bits("old", |(_, change)| or_empty(change.old))
            .optional()
            .bits("new", |(_, change)| change.new.into())
            .texts("by", |(_, change)| Value::Texts(change.by.clone()));
        let changes: usize = self.watches.iter().map(|watch| watch.changes.len()).sum();
        let rows = self.watches.iter();
        let rows = rows.flat_map(|of| of.changes.iter().map(|change| (of.name.as_str(), change)));
        ResultTable::new("changes", format!("changes: {changes}"), columns, rows)
    }

    fn violation_table(&self) -> ResultTable<'_> {
        type Row<'a> = (&'a str, &'a Violation);
        let columns = Columns::default()
            .text("rule", |(name, _): &Row<'_>| (*name).into())
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
            .texts("active", |(_, of)| Value::Texts(of.active.clone()));
        let title = format!("rules broken in {} cycles", self.violations());
        let rows = self.rules.iter();
        let rows = rows.flat_map(|of| of.violations.iter().map(|at| (of.name.as_str(), at)));
        ResultTable::new("violations", title, columns, rows)
    }

    fn counter_table(&self) -> ResultTable<'_> {
        let columns = Columns::default()
            .text("counter", |of: &&Counter| of.name.as_str().into())
            .bits("total", |of| of.total.into())
            .decimal("per_cycle", |of| Value::Fraction(of.per_cycle))
            .titled("per cycle");
        ResultTable::new("counters", "counters", columns, self.counters.iter())
    }

    fn sample_table(&self) -> ResultTable<'_> {
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
        let each = self.sample.unwrap_or(1);
        let rows = self.counters.iter().flat_map(move |of| {
            let samples = (0..).map(move |at| at * each).zip(&of.samples);
            samples.map(move |(start, &sum)| Row {
                counter: &of.name,
                start,
                cycles: each.min(self.cycles.saturating_sub(start)),
                sum,
            })
        });
        ResultTable::new("samples", "", columns, rows).with(Forms::FileAndDatabase)
    }

    fn derived_table(&self) -> ResultTable<'_> {
        let columns = Columns::default()
            .text("figure", |of: &&Derived| of.name.as_str().into())
            .decimal("value", |of| of.value.map_or(Value::Empty, Value::Fraction))
            .optional()
            .text("formula", |of| of.formula.as_str().into());
        let title = "computed from counters";
        ResultTable::new("derived", title, columns, self.derived.iter())
    }

    fn window_table(&self) -> ResultTable<'_> {
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
            });
        let windows: usize = self.windows.iter().map(|window| window.parts.len()).sum();
        let kept: u64 = self.kept().iter().map(|part| part.end - part.start).sum();
        let of = self.cycles;
        let title = format!("windows: {windows}, which keep {kept} of {of} cycles");
        let rows = self.windows.iter().flat_map(|window| {
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
        ResultTable::new("windows", title, columns, rows)
    }
}

fn or_empty(number: Option<u64>) -> Value {
    number.map_or(Value::Empty, Value::Count)
}
