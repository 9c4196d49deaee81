//! A comparison for people: as text, and as Markdown for the summary of a CI job.

use std::fmt::Write as _;

use petal_reconstruct::Overhead;

use super::Comparison;
use super::listing::{Listing, Row, Style, write};
use super::matching::Fate;
use super::rows::{Change, Subject};
use petal_table::style::BOLD;
use petal_table::text::{markdown, printable, signed, thousands};
use petal_table::{Column, Table, Value};

/// How many causes are named.
const CAUSES: usize = 5;

impl Comparison {
    /// The comparison as tables. Rows in which nothing changed are left out and counted, and so are
    /// the smaller changes of a long table, unless `all` is asked for.
    pub fn report(&self, style: Style, all: bool) -> String {
        let title = printable(&self.title());
        let mut text = match style {
            Style::Text(screen) => format!("{}\n\n", screen.styled(BOLD, title)),
            Style::Markdown => format!("## {}\n\n", markdown(&title)),
        };
        for note in &self.notes {
            let note = printable(note);
            match style {
                Style::Text(screen) => {
                    let note = screen.wrapped(&format!("note: {note}"), 0);
                    let _ = writeln!(text, "{note}");
                }
                Style::Markdown => {
                    let _ = writeln!(text, "> {}\n", markdown(&note));
                }
            }
        }
        text.push_str(&write(&self.totals(), style));
        if let Some(clock) = &self.clock {
            text.push_str(match style {
                Style::Text(_) => "\n",
                Style::Markdown => "\n### Time\n\n",
            });
            text.push_str(&write(&clock.table(), style));
        }
        if let Some(synthesis) = &self.synthesis {
            text.push_str(match style {
                Style::Text(_) => "\n",
                Style::Markdown => "\n### Area and time\n\n",
            });
            text.push_str(&write(&synthesis.table(), style));
            let spread = synthesis.spread();
            match style {
                Style::Text(screen) => text.push_str(&screen.wrapped(&spread, 0)),
                Style::Markdown => {
                    let _ = writeln!(text, "\n{}", markdown(&spread));
                }
            }
        }
        if let Some((causes, hidden)) = self.causes(all) {
            text.push_str(match style {
                Style::Text(_) => "\n",
                Style::Markdown => "\n### Changed by themselves\n\n",
            });
            text.push_str(&write(&causes, style));
            if let Some(hidden) = hidden {
                let before = match style {
                    Style::Text(_) => "",
                    Style::Markdown => "\n",
                };
                let _ = writeln!(text, "{before}{hidden}");
            }
        }
        let observed = [
            self.observations.latency_rows(),
            self.observations.counter_rows(),
            self.observations.access_rows(),
            self.observations.checkpoint_rows(),
        ];
        let observed = observed.into_iter().filter(|of| !of.is_empty());
        let tables = [self.statement_rows(), self.group_rows(), self.cell_rows()];
        for listing in tables.into_iter().chain(observed) {
            let many = listing.many();
            let (table, hidden) = listing.table(all);
            match style {
                Style::Text(_) => text.push('\n'),
                Style::Markdown => {
                    let _ = writeln!(text, "\n### {}{}\n", many[..1].to_uppercase(), &many[1..]);
                }
            }
            let mut parts = Vec::new();
            if !table.rows().is_empty() {
                parts.push(write(&table, style));
            }
            parts.extend(hidden.iter().map(|line| format!("{line}\n")));
            text.push_str(&parts.join(match style {
                Style::Text(_) => "",
                Style::Markdown => "\n",
            }));
        }
        let details = self.observations.details(style);
        if !details.is_empty() {
            text.push('\n');
            text.push_str(&details);
        }
        text
    }

    fn title(&self) -> String {
        let designs = &self.designs;
        if designs.before == designs.after {
            designs.after.clone()
        } else {
            format!("{} → {}", designs.before, designs.after)
        }
    }

    fn totals(&self) -> Table {
        let mut table = Table::new(vec![
            Column::text("run"),
            Column::number("before"),
            Column::number("after"),
            Column::change("delta"),
            Column::change("%"),
        ]);
        let mut line = |name: &str, change: Change| {
            table.push(vec![
                name.into(),
                change.before.into(),
                change.after.into(),
                delta(change),
                change.percent_text(),
            ]);
        };
        line("cycles", self.cycles);
        line("useful", self.useful);
        line("  computation", self.computation);
        line("  conditions", self.conditions);
        line("overhead", self.overhead);
        for kind in Overhead::ALL {
            let change = self.overhead_by_kind.get(&kind.to_string());
            if let Some(&change) = change.filter(|change| **change != Change::default()) {
                line(&format!("  {}", kind.title()), change);
            }
        }
        table
    }

    /// What changed most by itself, without what is inside: the causes of what the other tables tell, and what is said of those that are
    /// left out. `None` if nothing did.
    fn causes(&self, all: bool) -> Option<(Table, Option<String>)> {
        let cycles = |thousandths: u64| (thousandths + 500) / 1000;
        let mut table = Table::new(vec![
            Column::text("changed by itself"),
            Column::number("cycles"),
            Column::change("delta"),
            Column::prose("what changed").folding(),
        ]);
        let changed = || self.own.iter().filter(|row| row.shift() > 0);
        let shown = if all { usize::MAX } else { CAUSES };
        for row in changed().take(shown) {
            let change = Change {
                before: cycles(row.own.0),
                after: cycles(row.own.1),
            };
            let parts = row.parts.iter().filter(|(_, (was, is))| was != is);
            let mut parts: Vec<(&String, &(u64, u64))> = parts.collect();
            parts.sort_by_key(|(_, (was, is))| std::cmp::Reverse(was.abs_diff(*is)));
            let parts = parts.into_iter().map(|(what, &(was, is))| {
                let (was, is) = (thousands(cycles(was)), thousands(cycles(is)));
                format!("{what} {was} → {is}")
            });
            table.push(vec![
                row.name.as_str().into(),
                arrow(change),
                delta(change),
                parts.collect::<Vec<String>>().join(", ").into(),
            ]);
        }
        let hidden = match changed().count().saturating_sub(shown) {
            0 => None,
            1 => Some("1 smaller one (`--all` shows it)".to_owned()),
            more => Some(format!("{more} smaller ones (`--all` shows them)")),
        };
        (!table.rows().is_empty()).then_some((table, hidden))
    }

    fn statement_rows(&self) -> Listing {
        let has_front_end = self.statements.iter().any(|row| row.front_end.is_some());
        let rows = self.statements.iter().map(|row| {
            let mut values = vec![row.subject.name.as_str().into()];
            values.extend(figures(row.subject.cycles));
            values.push(arrow(row.overhead));
            values.push(delta(row.overhead));
            values.push(fate(&row.subject).into());
            values.push(shortened(&row.source).into());
            if has_front_end {
                let line = row.front_end.as_deref().unwrap_or_default();
                values.push(shortened(line).into());
            }
            Row {
                changed: changed(&row.subject) || row.overhead.delta() != 0,
                rank: rank(row.overhead, row.subject.cycles),
                values,
            }
        });
        let mut columns = columns("statement", &["overhead", "delta"]);
        columns.push(Column::prose("what changed").folding());
        columns.push(Column::prose("source"));
        if has_front_end {
            columns.push(Column::prose("front end"));
        }
        Listing::new(["statement", "statements"], columns, rows)
    }

    fn group_rows(&self) -> Listing {
        let rows = self.groups.iter().map(|row| {
            let mut values = vec![row.subject.name.as_str().into()];
            values.extend(figures(row.subject.cycles));
            values.push(arrow(row.subject.times));
            let mut told = vec![fate(&row.subject)];
            told.retain(|text| !text.is_empty());
            let listed = |word: &str, effects: &[String]| {
                let effects = effects.iter().map(|effect| format!("{word} {effect}"));
                effects.collect::<Vec<String>>().join(", ")
            };
            if !row.now.is_empty() {
                told.push(listed("now", &row.now));
            }
            if !row.no_longer.is_empty() {
                told.push(listed("no longer", &row.no_longer));
            }
            values.push(told.join("; ").into());
            Row {
                changed: changed(&row.subject) || !told.is_empty(),
                rank: rank(row.subject.cycles, row.subject.times),
                values,
            }
        });
        let mut columns = columns("group", &["times active"]);
        columns.push(Column::prose("what changed").folding());
        Listing::new(["group", "groups"], columns, rows)
    }

    fn cell_rows(&self) -> Listing {
        let rows = self.cells.iter().map(|row| {
            let mut values = vec![row.subject.name.as_str().into()];
            values.extend(figures(row.subject.cycles));
            values.push(arrow(row.busy));
            values.push(arrow(row.control));
            values.push(arrow(row.subject.times));
            values.push(fate(&row.subject).into());
            Row {
                changed: changed(&row.subject) || row.control.delta() != 0,
                rank: rank(row.subject.cycles, row.control),
                values,
            }
        });
        let mut columns = columns("cell", &["busy", "control", "times active"]);
        columns.push(Column::prose("what changed").folding());
        Listing::new(["component cell", "component cells"], columns, rows)
    }
}

/// Columns for a name, a change of cycles, and further figures.
fn columns(name: &str, further: &[&str]) -> Vec<Column> {
    let columns = ["cycles", "delta", "%"].iter().chain(further);
    let columns = columns.map(|name| match *name {
        "delta" | "%" => Column::change(*name),
        name => Column::number(name),
    });
    std::iter::once(Column::text(name)).chain(columns).collect()
}

fn figures(change: Change) -> [Value; 3] {
    [arrow(change), delta(change), change.percent_text()]
}

fn delta(change: Change) -> Value {
    match change.delta() {
        0 => Value::Empty,
        delta => signed(delta).into(),
    }
}

fn arrow(change: Change) -> Value {
    if change.delta() == 0 {
        change.after.into()
    } else {
        format!("{} → {}", thousands(change.before), thousands(change.after)).into()
    }
}

fn changed(subject: &Subject) -> bool {
    subject.fate != Fate::Same || subject.cycles.delta() != 0 || subject.times.delta() != 0
}

fn rank(first: Change, second: Change) -> (u64, u64) {
    (first.delta().unsigned_abs(), second.delta().unsigned_abs())
}

fn fate(subject: &Subject) -> String {
    let was = |what: &str| match &subject.was {
        Some(was) => format!("{what} {}", shortened(was)),
        None => String::new(),
    };
    match (subject.fate, subject.alike) {
        (Fate::Same, _) => String::new(),
        (Fate::Edited, _) if subject.was.is_none() => "edited".to_owned(),
        (Fate::Edited, _) => was("edited, was"),
        (Fate::Renamed, _) => was("renamed from"),
        (Fate::Moved, _) => was("moved from"),
        (Fate::Alike, alike) => {
            let (before, after) = alike.unwrap_or_default();
            format!("{before} before, {after} after, alike")
        }
        (Fate::Vanished, _) => "vanished".to_owned(),
        (Fate::New, _) => "new".to_owned(),
    }
}

/// A piece of the source that leaves room for the rest of the line.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
