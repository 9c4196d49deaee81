//! Which runs are best: of each family of designs and each data set, the shortest, and those that none beats.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::row::{Row, Sweep};
use petal_table::text::thousands;

/// How many rows each list has on a terminal.
const ROWS: usize = 20;

/// How many bytes of an error or a warning are on a terminal.
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

impl Sweep {
    /// What a terminal shows of the rows.
    pub fn text(&self, rows: &[Row]) -> String {
        let mut text = String::new();
        let failed: Vec<&Row> = rows.iter().filter(|row| row.error.is_some()).collect();
        let warned = rows.iter().filter(|row| !row.warnings.is_empty());
        let warned = match warned.count() {
            0 => String::new(),
            count => format!(", {count} with warnings"),
        };
        let _ = writeln!(
            text,
            "{}: {} runs, {} done, {} failed{warned}",
            self.name,
            rows.len(),
            rows.len() - failed.len(),
            failed.len()
        );
        let [first, second] = &self.pareto;
        let figure = |row: &Row, name: &String| row.figures[name].to_string();
        let groups = groups(self, rows);
        let line = |row: &Row| {
            let name = &row.name;
            let texts = [&name.design, &name.passes, &name.data].map(Clone::clone);
            let mut cells = texts.to_vec();
            cells.extend([figure(row, first), figure(row, second)]);
            cells
        };
        self.matrix(&mut text, rows);
        let head = |title: &str| {
            let head = [title, "passes", "data", first, second];
            head.map(str::to_owned).to_vec()
        };
        let best = groups.iter().filter_map(|group| group.front.first());
        let best: Vec<_> = best.map(|row| line(row)).collect();
        list(&mut text, &head(&format!("least {first}")), &best, 3);
        let fronts = groups.iter().filter(|group| group.front.len() > 1);
        let fronts: Vec<_> = fronts
            .flat_map(|group| group.front.iter().map(|row| line(row)))
            .collect();
        let title = format!("Pareto front: {first} against {second}");
        list(&mut text, &head(&title), &fronts, 3);
        let message = |row: &Row, message: &str| {
            let mut line = message.lines().next().unwrap_or_default().to_owned();
            if line.len() > TOLD {
                let mut ends = (0..=TOLD).rev();
                let end = ends.find(|at| line.is_char_boundary(*at));
                line.truncate(end.unwrap_or(0));
                line.push('…');
            }
            let name = &row.name;
            let mut cells = [&name.design, &name.passes, &name.data]
                .map(Clone::clone)
                .to_vec();
            cells.push(line);
            cells
        };
        let failed = failed.into_iter();
        let failed: Vec<_> = failed
            .map(|row| message(row, row.error.as_deref().unwrap_or_default()))
            .collect();
        let head = ["failed", "passes", "data", "why"].map(str::to_owned);
        list(&mut text, &head, &failed, 4);
        let warned: Vec<_> = rows
            .iter()
            .flat_map(|row| {
                row.warnings
                    .iter()
                    .map(move |warning| message(row, warning))
            })
            .collect();
        let head = ["warnings", "passes", "data", "of what"].map(str::to_owned);
        list(&mut text, &head, &warned, 4);
        text
    }
}

/// A design and a data set, with the figure of each pipeline.
type MatrixLine<'a> = ((&'a str, &'a str), BTreeMap<&'a str, u64>);

/// The widest matrix, in pipelines.
const COLUMNS: usize = 6;

impl Sweep {
    /// Adds the first figure of each design by pipeline, with how much it differs from that of `no-opt`, or of the first one: unless there is
    /// but one pipeline, or a line would be too long.
    fn matrix(&self, text: &mut String, rows: &[Row]) {
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
            return;
        }
        let is_stock = |passes: &&&str| **passes == "no-opt";
        let base = *pipelines.iter().find(is_stock).unwrap_or(&pipelines[0]);
        let has_data = lines.iter().any(|((_, data), _)| *data != lines[0].0.1);
        let title = if has_data { "design, data" } else { "design" };
        let mut head = vec![format!("{first}: {title}")];
        head.extend(pipelines.iter().map(|&passes| {
            let mark = if passes == base { " (=)" } else { "" };
            format!("{passes}{mark}  ")
        }));
        let cells = lines.iter().map(|((design, data), figures)| {
            let name = if has_data {
                format!("{design}, {data}")
            } else {
                (*design).to_owned()
            };
            let base = figures.get(base).copied();
            let cells = pipelines.iter().map(|passes| {
                let Some(&figure) = figures.get(passes) else {
                    return "–".to_owned();
                };
                let percent = base.filter(|&base| base > 0 && base != figure);
                let percent = percent.map(|base| format!("  {:>6} %", change(base, figure)));
                format!("{}{:>11}", thousands(figure), percent.unwrap_or_default())
            });
            std::iter::once(name).chain(cells).collect::<Vec<String>>()
        });
        let cells: Vec<Vec<String>> = cells.collect();
        list(text, &head, &cells, 1);
    }
}

/// By how many percent `to` is more than `from`, with one decimal.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn change(from: u64, to: u64) -> String {
    format!("{:+.1}", (to as f64 / from as f64 - 1.0) * 100.0)
}

/// Adds a list, unless it is empty: texts to the left, figures to the right.
fn list(text: &mut String, head: &[String], rows: &[Vec<String>], texts: usize) {
    if rows.is_empty() {
        return;
    }
    let shown = &rows[..rows.len().min(ROWS)];
    let shown_rows = shown.iter().map(Vec::as_slice);
    let lines: Vec<&[String]> = std::iter::once(head).chain(shown_rows).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    text.push('\n');
    for line in &lines {
        let mut told = String::from(" ");
        for (column, cell) in line.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            let is_figure = column >= texts;
            let _ = if is_figure {
                write!(told, " {cell:>width$} ")
            } else {
                write!(told, " {cell:<width$} ")
            };
        }
        let _ = writeln!(text, "{}", told.trim_end());
    }
    if rows.len() > ROWS {
        let _ = writeln!(text, "  … and {} more", rows.len() - ROWS);
    }
}
