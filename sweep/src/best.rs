//! Which runs are best: of each family of designs and each data set, the shortest, and those that none beats.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::row::{Row, Sweep};
use petal_table::style::BOLD;
use petal_table::text::{cut, printable};
use petal_table::{Column, Screen, Table, Value};

/// How many rows each list has on a terminal.
const ROWS: usize = 20;

/// How much of an error or a warning is on a terminal.
const TOLD: usize = 160;

/// Runs that one compares with one another: one family of designs on one data set.
#[derive(Debug)]
pub struct Group<'a> {
    /// The family.
    pub family: &'a str,
    /// The data set.
    pub data: &'a str,
    /// Those that no other one beats in both figures, the best in the first one first.
    pub front: Vec<&'a Row>,
}

/// The groups of a sweep with results, in the order of their first runs.
///
/// `rows` belong to the runs of the sweep, in the same order, where they were tried.
pub fn groups<'a>(sweep: &'a Sweep, rows: &'a [Row]) -> Vec<Group<'a>> {
    let [first, second] = &sweep.pareto;
    let costs = |row: &Row| Some((*row.figures.get(first)?, *row.figures.get(second)?));
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut rows = rows.iter().peekable();
    for run in &sweep.runs {
        let Some(row) = rows.next_if(|row| row.name == run.name) else {
            continue;
        };
        if costs(row).is_none() {
            continue;
        }
        let (family, data) = (&*run.family, &*run.name.data);
        let at = groups
            .iter()
            .position(|group| group.family == family && group.data == data);
        let at = at.unwrap_or_else(|| {
            groups.push(Group {
                family,
                data,
                front: Vec::new(),
            });
            groups.len() - 1
        });
        groups[at].front.push(row);
    }
    for group in &mut groups {
        group.front.sort_by_key(|row| costs(row));
        let mut least = u64::MAX;
        // Of equals, the first in the sweep stays.
        group.front.retain(|row| {
            let (_, cost) = costs(row).unwrap_or((0, u64::MAX));
            let beats = cost < least;
            least = least.min(cost);
            beats
        });
    }
    groups
}

/// What runs say, a line of each.
fn messages<'a>(title: &str, what: &str, all: impl Iterator<Item = (&'a Row, &'a str)>) -> Table {
    let names = [title, "passes", "data"].map(Column::text);
    let columns = names.into_iter().chain([Column::prose(what).folding()]);
    let mut table = Table::new(columns.collect());
    for (row, message) in all {
        let mut cells = named(row);
        cells.push(cut(message.lines().next().unwrap_or_default(), TOLD).into());
        table.push(cells);
    }
    table
}

impl Sweep {
    /// What a screen shows of the rows.
    pub fn text(&self, rows: &[Row], screen: Screen) -> String {
        let failed: Vec<&Row> = rows.iter().filter(|row| row.error.is_some()).collect();
        let warned = rows.iter().filter(|row| !row.warnings.is_empty());
        let warned = match warned.count() {
            0 => String::new(),
            count => format!(", {count} with warnings"),
        };
        let mut text = format!(
            "{}: {} runs, {} done, {} failed{warned}\n",
            screen.styled(BOLD, printable(&self.name)),
            rows.len(),
            rows.len() - failed.len(),
            failed.len()
        );
        let [first, second] = &self.pareto;
        let groups = groups(self, rows);
        let of_runs = |title: String| {
            let texts = [title, "passes".to_owned(), "data".to_owned()].map(Column::text);
            let figures = [first, second].map(Column::number);
            Table::new(texts.into_iter().chain(figures).collect())
        };
        let push = |table: &mut Table, row: &Row| {
            let mut cells = named(row);
            cells.extend([first, second].map(|figure| row.figures[figure].into()));
            table.push(cells);
        };
        if let Some(matrix) = self.matrix(rows) {
            list(&mut text, &matrix, screen);
        }
        let mut best = of_runs(format!("least {first}"));
        let shortest = groups.iter().filter_map(|group| group.front.first());
        shortest.for_each(|row| push(&mut best, row));
        list(&mut text, &best, screen);
        let mut fronts = of_runs(format!("Pareto front: {first} against {second}"));
        let several = groups.iter().filter(|group| group.front.len() > 1);
        let of_fronts = several.flat_map(|group| &group.front);
        of_fronts.for_each(|row| push(&mut fronts, row));
        list(&mut text, &fronts, screen);
        let failures = failed.into_iter().map(|row| {
            let error = row.error.as_deref().unwrap_or_default();
            (row, error)
        });
        list(&mut text, &messages("failed", "why", failures), screen);
        let warnings = rows.iter().flat_map(|row| {
            let of_row = row.warnings.iter();
            of_row.map(move |warning| (row, warning.as_str()))
        });
        list(
            &mut text,
            &messages("warnings", "of what", warnings),
            screen,
        );
        text
    }
}

/// What a row is of.
fn named(row: &Row) -> Vec<Value> {
    let name = &row.name;
    let texts = [&name.design, &name.passes, &name.data];
    texts.map(|text| text.as_str().into()).to_vec()
}

/// A design and a data set, with the figure of each pipeline.
type MatrixLine<'a> = ((&'a str, &'a str), BTreeMap<&'a str, u64>);

/// The widest matrix, in pipelines.
const COLUMNS: usize = 6;

impl Sweep {
    /// The first figure of each design by pipeline, with by how many percent it differs from that of `no-opt`, or of the first one; `None` if
    /// there is but one pipeline, or a line would be too long.
    fn matrix(&self, rows: &[Row]) -> Option<Table> {
        let first = &self.pareto[0];
        let mut pipelines: Vec<&str> = Vec::new();
        let mut lines: Vec<MatrixLine<'_>> = Vec::new();
        for row in rows {
            let Some(&figure) = row.figures.get(first) else {
                continue;
            };
            let (passes, key) = (&*row.name.passes, (&*row.name.design, &*row.name.data));
            if !pipelines.contains(&passes) {
                pipelines.push(passes);
            }
            match lines.iter_mut().find(|(other, _)| *other == key) {
                Some((_, figures)) => {
                    figures.insert(passes, figure);
                }
                None => lines.push((key, BTreeMap::from([(passes, figure)]))),
            }
        }
        if !(2..=COLUMNS).contains(&pipelines.len()) {
            return None;
        }
        let is_stock = |passes: &&&str| **passes == "no-opt";
        let base = *pipelines.iter().find(is_stock).unwrap_or(&pipelines[0]);
        let others = pipelines.iter().copied().filter(|&passes| passes != base);
        let others: Vec<&str> = others.collect();
        let has_data = lines.iter().any(|((_, data), _)| *data != lines[0].0.1);
        let mut columns = vec![Column::text(format!("{first}: design"))];
        columns.extend(has_data.then(|| Column::text("data")));
        columns.push(Column::number(base));
        for &passes in &others {
            columns.extend([Column::number(passes), Column::change("%")]);
        }
        let mut table = Table::new(columns);
        for ((design, data), figures) in &lines {
            let figure = |passes| Value::or_unknown(figures.get(passes).copied());
            let mut cells: Vec<Value> = vec![(*design).into()];
            cells.extend(has_data.then(|| (*data).into()));
            cells.push(figure(base));
            for passes in &others {
                let pair = figures.get(base).zip(figures.get(passes));
                let pair = pair.filter(|(was, is)| **was > 0 && was != is);
                let percent = pair.map_or(Value::Empty, |(&was, &is)| change(was, is).into());
                cells.extend([figure(passes), percent]);
            }
            table.push(cells);
        }
        Some(table)
    }
}

/// By how many percent `to` is more than `from`, with one decimal.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn change(from: u64, to: u64) -> String {
    format!("{:+.1}", (to as f64 / from as f64 - 1.0) * 100.0)
}

/// Adds the first rows of a table, unless it is empty.
fn list(text: &mut String, table: &Table, screen: Screen) {
    let rows: Vec<usize> = (0..table.rows().len().min(ROWS)).collect();
    if rows.is_empty() {
        return;
    }
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    text.push('\n');
    text.push_str(&table.part(&rows, &columns).shown(screen, 2));
    if table.rows().len() > ROWS {
        let _ = writeln!(text, "  … and {} more", table.rows().len() - ROWS);
    }
}
