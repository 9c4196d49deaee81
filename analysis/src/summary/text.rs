//! The summary as a text.

use std::fmt::Write as _;

use anstyle::Style;
use petal_reconstruct::Overhead;
use petal_table::style::{BOLD, COMPUTATION, CONDITIONS, DIM, NEXT, style_of};
use petal_table::text::{cut, printable};
use petal_table::{Column, Screen, Table, Value, thousands};

use super::Summary;
use crate::hotspots::{HotspotKind, NO_TIME, NONE, RankedHotspot, TRIED};

/// How wide the bars of shares are at most, and those of a list.
const BAR: usize = 40;
const LIST_BAR: usize = 10;

/// The least room in which a part of the source is worth showing.
const SOURCE: usize = 12;

impl Summary {
    /// The summary for a screen, without its warnings.
    pub fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        if let Some(stopped) = &self.stopped {
            let partial = format!("partial profile: {stopped}");
            let _ = writeln!(text, "{}", screen.wrapped(&partial, 2));
        }
        self.write_kinds(&mut text, screen);
        if let Some(clock) = self.clock {
            let time = format!("{:<27}{}", "time", clock.text());
            text.push_str(&screen.wrapped(&time, 2));
        }
        if !self.hotspots.is_empty() {
            text.push('\n');
            text.push_str(&lists(&self.hotspots, self.cycles, screen));
        }
        let mut groups = Table::new(vec![
            Column::text("most expensive groups"),
            Column::number("cycles"),
            Column::number("times"),
        ]);
        for entry in &self.groups {
            groups.push(vec![
                entry.name.as_str().into(),
                entry.cycles.into(),
                entry.times.into(),
            ]);
        }
        if !self.groups.is_empty() {
            text.push('\n');
            text.push_str(&groups.shown(screen, 2));
        }
        text
    }

    /// What the cycles went to, with a bar for each kind.
    fn write_kinds(&self, text: &mut String, screen: Screen) {
        let width = thousands(self.cycles).len();
        let room = screen.width.saturating_sub(2 + 27 + width + 2 + 7 + 2);
        let mut line = |name: &str, cycles: u64, style: Option<Style>| {
            // What is a part of something else, and none of it, would only make it longer.
            if cycles == 0 && name.starts_with(' ') {
                return;
            }
            let bar = style.map(|style| {
                let bar = screen.bar(cycles, self.cycles, room.min(BAR));
                format!("  {}", screen.styled(style, bar))
            });
            let figures = format!(
                "  {name:<27}{:>width$}  {}{}",
                thousands(cycles),
                share(cycles, self.cycles),
                bar.unwrap_or_default()
            );
            let _ = writeln!(text, "{}", figures.trim_end());
        };
        line("cycles", self.cycles, None);
        line("useful", self.useful_cycles, None);
        line("  computation", self.computation_cycles, Some(COMPUTATION));
        line("  conditions", self.condition_cycles, Some(CONDITIONS));
        line("overhead", self.overhead_cycles, None);
        for kind in Overhead::ALL {
            let cycles = self.overhead.get(&kind.to_string());
            let name = format!("  {}", kind.title());
            line(&name, cycles.copied().unwrap_or(0), Some(style_of(kind)));
        }
    }
}

/// What costs cycles of a run: a list for each kind.
pub fn lists(rows: &[RankedHotspot], run: u64, screen: Screen) -> String {
    let lists = HotspotKind::ALL.into_iter().filter_map(|kind| {
        let rows: Vec<&RankedHotspot> = rows.iter().filter(|row| row.kind == kind).collect();
        (!rows.is_empty()).then(|| list(kind, &rows, run, screen))
    });
    lists.collect::<Vec<String>>().join("\n")
}

/// Statements that cost cycles of a run: each with its share as a bar and its source, and below why, and what to do next.
fn list(kind: HotspotKind, rows: &[&RankedHotspot], run: u64, screen: Screen) -> String {
    let mut text = String::new();
    let [title, cost] = kind.titles();
    let most = rows.iter().map(|row| row.cost).max().unwrap_or(0);
    let number = thousands(most).len().max(cost.len());
    // Longer names have a line of their own.
    let longest = screen.width.saturating_sub(2 + 2 + number + 2 + SHARE);
    let names = rows.iter().map(|row| row.name.chars().count());
    let name = names.filter(|&name| name <= longest).max();
    let name = name.unwrap_or(0).max(title.len());
    let heading = format!("{title:<name$}  {cost:>number$}   of run");
    let _ = writeln!(text, "  {}", screen.styled(BOLD, heading));
    for row in rows {
        let is_long = row.name.chars().count() > name;
        if is_long {
            let _ = writeln!(text, "  {}", screen.styled(BOLD, &row.name));
        }
        let shown = if is_long { "" } else { &row.name };
        let space = " ".repeat(name - shown.chars().count());
        let figures = format!(
            "  {:>number$}  {}",
            thousands(row.cost),
            share(row.cost, run)
        );
        let mut line = format!("{}{space}{figures}", screen.styled(BOLD, shown));
        let room = screen
            .width
            .saturating_sub(2 + name + figures.chars().count() + 2);
        if room >= LIST_BAR {
            let style = match kind {
                HotspotKind::Cost if row.conditions * 2 > row.cost => CONDITIONS,
                HotspotKind::Cost => style_of(Overhead::FsmUpdate),
                _ => DIM,
            };
            let bar = screen.bar(row.cost, most, LIST_BAR);
            let space = " ".repeat(LIST_BAR - bar.chars().count());
            let room = room.saturating_sub(LIST_BAR + 2);
            let source = match row.front_end.as_deref().unwrap_or(&row.source) {
                _ if room < SOURCE => String::new(),
                text => cut(&printable(text), room),
            };
            let bar = screen.styled(style, bar);
            let _ = write!(line, "  {bar}");
            if !source.is_empty() {
                let _ = write!(line, "{space}  {}", screen.styled(DIM, source));
            }
        }
        let _ = writeln!(text, "  {}", line.trim_end());
        match row.next.as_deref() {
            Some(next @ (TRIED | NO_TIME | NONE)) => {
                let why = format!("{}; {next}", row.why);
                text.push_str(&screen.wrapped(&why, 4));
            }
            found => {
                text.push_str(&screen.wrapped(&row.why, 4));
                let found = found.map(|found| screen.wrapped(found, 4));
                text.push_str(&screen.styled_lines(NEXT, &found.unwrap_or_default()));
            }
        }
    }
    text
}

/// Columns of a share.
const SHARE: usize = 7;

fn share(cycles: u64, run: u64) -> String {
    match Value::percent(cycles, run) {
        Value::Decimal(percent) => format!("{percent:5.1} %"),
        _ => String::new(),
    }
}
