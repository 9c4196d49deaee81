//! How a table fits a screen: what is broken, cut or left out where there is no room.

use textwrap::wrap;
use unicode_width::UnicodeWidthStr;

use super::Table;
use crate::style::{BOLD, DIM};
use crate::text::cut;
use crate::{Prose, Screen, Value};

/// Texts of at least this many columns are not shortened further.
const SHORTEST: usize = 12;
/// Prose is folded into at least this many columns.
const FOLDED: usize = 16;
/// Between two columns of text.
const GAP: &str = "  ";

/// How headings stand above their columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headings {
    /// In one line.
    Whole,
    /// Broken between words where they are wider than what is below them.
    Broken,
}

impl Table {
    /// Aligned columns, `room` of the screen's wide. If they do not fit, columns of
    /// numbers that hold nothing but zeros are left out, prose is cut or folded, headings are broken, prose goes below the row if it may be
    /// folded, and is left out if not, and then columns from the right on. Names are whole, and last lines say what is left out.
    pub(super) fn text_on(&self, screen: Screen, room: usize) -> String {
        let all = self.of_people();
        let mut text = String::new();
        if self.width(&all, Headings::Whole) <= room {
            self.write_text(&mut text, (&all, &[]), Headings::Whole, screen, room);
            return text;
        }
        let (mut shown, zeros): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|&at| {
            !self.columns[at].is_number() || self.rows.iter().any(|row| !row[at].is_nothing())
        });
        let (mut no_room, mut below) = (Vec::new(), Vec::new());
        while self.least_width(&shown, Headings::Broken) > room && shown.len() > 1 {
            let prose = shown
                .iter()
                .rposition(|&at| self.columns[at].prose.is_some());
            let last = prose.filter(|&last| last > 0).unwrap_or(shown.len() - 1);
            let gone = shown.remove(last);
            if self.columns[gone].prose == Some(Prose::Folded) {
                below.insert(0, gone);
            } else {
                no_room.insert(0, gone);
            }
        }
        let headings = if self.least_width(&shown, Headings::Whole) <= room {
            Headings::Whole
        } else {
            Headings::Broken
        };
        self.write_text(&mut text, (&shown, &below), headings, screen, room);
        for (why, columns) in [("0 or empty in all rows", zeros), ("no room for", no_room)] {
            // A share goes with the figure before it.
            let names = columns.iter().map(|&at| self.columns[at].heading());
            let mut names: Vec<&str> = names.filter(|&name| name != "%").collect();
            names.dedup();
            if !names.is_empty() {
                let told = format!("{why}: {}", names.join("; "));
                let told = Screen {
                    width: room,
                    ..screen
                }
                .wrapped(&told, 0);
                text.push_str(&screen.styled_lines(DIM, &told));
            }
        }
        text
    }

    /// How wide these columns are side by side once prose is cut, and long names at the beginning have a line of their own.
    fn least_width(&self, columns: &[usize], headings: Headings) -> usize {
        let gives = |&(nth, &at): &(usize, &usize)| nth == 0 || self.columns[at].prose.is_some();
        let cut = columns.iter().enumerate().filter(gives);
        let cut = cut.map(|(_, &at)| self.column_width(at, headings).saturating_sub(SHORTEST));
        self.width(columns, headings) - cut.sum::<usize>()
    }

    /// The values of a column as people read them, all with decimals or none: with none where some are so large that they mean nothing, and
    /// none is so small that they tell much.
    pub(super) fn values(&self, at: usize) -> Vec<String> {
        let values = || self.rows.iter().map(|row| &row[at]);
        let is_whole = values().any(Value::is_large) && !values().any(Value::is_small);
        let pretty = if is_whole {
            Value::pretty_whole
        } else {
            Value::pretty
        };
        values().map(pretty).collect()
    }

    /// How wide a column is.
    fn column_width(&self, at: usize, headings: Headings) -> usize {
        let heading = self.columns[at].heading();
        let heading = match headings {
            Headings::Whole => heading.width(),
            Headings::Broken => heading
                .split(' ')
                .map(UnicodeWidthStr::width)
                .max()
                .unwrap_or(0),
        };
        let values = self.values(at);
        values
            .iter()
            .map(|value| value.width())
            .fold(heading, usize::max)
    }

    /// How wide these columns are side by side.
    fn width(&self, columns: &[usize], headings: Headings) -> usize {
        let widths = columns.iter().map(|&at| self.column_width(at, headings));
        widths.sum::<usize>() + GAP.len() * columns.len().saturating_sub(1)
    }

    /// Writes these columns side by side, and others `below` each row, with prose cut or folded to get to `room` columns. If that is not enough, names at the beginning of a
    /// line that are too long for the figures behind them have a line of their own.
    fn write_text(
        &self,
        text: &mut String,
        (columns, below): (&[usize], &[usize]),
        headings: Headings,
        screen: Screen,
        room: usize,
    ) {
        let widths = columns.iter().map(|&at| self.column_width(at, headings));
        let mut widths: Vec<usize> = widths.collect();
        let mut excess = self.width(columns, headings).saturating_sub(room);
        for (width, &at) in widths.iter_mut().zip(columns).rev() {
            let shorter = width.saturating_sub(excess).max(SHORTEST);
            if self.columns[at].prose.is_some() && shorter < *width {
                excess -= *width - shorter;
                *width = shorter;
            }
        }
        if let Some(names) = widths.first_mut() {
            *names = names.saturating_sub(excess).max(SHORTEST.min(*names));
        }
        let lines_of = |cell: &str, width: usize| -> Vec<String> {
            wrap(cell, width).into_iter().map(Into::into).collect()
        };
        let heads = columns
            .iter()
            .zip(&widths)
            .map(|(&at, &width)| match headings {
                Headings::Whole => vec![self.columns[at].heading().to_owned()],
                Headings::Broken => lines_of(self.columns[at].heading(), width),
            });
        let heads: Vec<Vec<String>> = heads.collect();
        let highest = heads.iter().map(Vec::len).max().unwrap_or(0);
        for nth in 0..highest {
            let cells = heads.iter().map(|lines| {
                (nth + lines.len())
                    .checked_sub(highest)
                    .map_or("", |nth| &lines[nth])
            });
            self.write_line(text, columns, &widths, cells, |_, _| Some(BOLD), screen);
        }
        let values: Vec<Vec<String>> = columns.iter().map(|&at| self.values(at)).collect();
        for row in 0..self.rows.len() {
            let cells = columns
                .iter()
                .zip(&values)
                .zip(&widths)
                .map(|((&at, values), &width)| {
                    let (cell, column) = (&values[row], &self.columns[at]);
                    match column.prose.is_some() && cell.width() > width {
                        true if column.prose == Some(Prose::Folded) && width >= FOLDED => {
                            lines_of(cell, width)
                        }
                        true => vec![cut(cell, width)],
                        false => vec![cell.clone()],
                    }
                });
            let cells: Vec<Vec<String>> = cells.collect();
            for nth in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let line = cells
                    .iter()
                    .map(|lines| lines.get(nth).map_or("", |line| line));
                let style = |at: usize, cell: &str| self.columns[at].style(cell);
                self.write_line(text, columns, &widths, line, style, screen);
            }
            for &at in below {
                let cell = self.rows[row][at].pretty();
                let screen = Screen {
                    width: room,
                    ..screen
                };
                if !cell.is_empty() {
                    text.push_str(&screen.wrapped(&cell, 4));
                }
            }
        }
    }

    /// Writes a line of cells. The first, if it is too long for the figures behind it, gets a line of its own.
    fn write_line<'c>(
        &self,
        text: &mut String,
        columns: &[usize],
        widths: &[usize],
        cells: impl Iterator<Item = &'c str>,
        style: impl Fn(usize, &str) -> Option<anstyle::Style>,
        screen: Screen,
    ) {
        let mut line = String::new();
        for ((cell, &at), width) in cells.zip(columns).zip(widths) {
            if cell.width() > *width {
                line.push_str(cell);
                line.push('\n');
                line.push_str(&" ".repeat(*width));
                line.push_str(GAP);
                continue;
            }
            let space = " ".repeat(width - cell.width());
            let styled = match style(at, cell).filter(|_| !cell.is_empty()) {
                Some(style) => screen.styled(style, cell),
                None => cell.to_owned(),
            };
            let parts = if self.columns[at].is_number() {
                [&space, &styled]
            } else {
                [&styled, &space]
            };
            line.extend(parts.map(String::as_str));
            line.push_str(GAP);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;
    use crate::table::tests::table;
    use expect_test::expect;

    #[test]
    fn a_narrow_terminal_gets_shorter_names_and_no_columns_of_zeros() {
        let table = table(vec![
            ("a", 7, 0.5, 0),
            ("the_first_of_the_two_very_long_names", 1_234_567, 1.0, 0),
            ("the_first_of_the_two_very_long_other", 1_234_567, 1.0, 0),
        ]);
        expect![[r#"
            name                                     cycles   avg  other
            a                                             7  0.50      0
            the_first_of_the_two_very_long_names  1,234,567  1.00      0
            the_first_of_the_two_very_long_other  1,234,567  1.00      0
        "#]]
        .assert_eq(&table.text_on(Screen::PLAIN, 100));
        expect![[r#"
            name                        cycles   avg
            a                                7  0.50
            the_first_of_the_two_very_long_names
                                     1,234,567  1.00
            the_first_of_the_two_very_long_other
                                     1,234,567  1.00
            0 or empty in all rows: other
        "#]]
        .assert_eq(&table.text_on(Screen::PLAIN, 40));
        expect![[r#"
            name
            a
            the_first_of_the_two_very_long_names
            the_first_of_the_two_very_long_other
            0 or empty in all rows: other
            no room for: cycles; avg
        "#]]
        .assert_eq(&table.text_on(Screen::PLAIN, 3));
    }

    #[test]
    fn headings_are_broken_before_columns_go_and_what_folds_is_whole() {
        let mut table = Table::new(vec![
            Column::text("name"),
            Column::number("shortest iteration"),
            Column::number("average"),
            Column::prose("what changed").folding(),
        ]);
        table.push(vec![
            "loop".into(),
            3.into(),
            70_000.into(),
            "edited, was while x.out".into(),
        ]);
        expect![[r#"
            name  shortest iteration  average  what changed
            loop                   3   70,000  edited, was while x.out
        "#]]
        .assert_eq(&table.text_on(Screen::PLAIN, 60));
        expect![[r#"
                   shortest
            name  iteration  average  what changed
            loop          3   70,000  edited, was
                                      while x.out
        "#]]
        .assert_eq(&table.text_on(Screen::PLAIN, 42));
        expect![[r#"
                   shortest
            name  iteration  average
            loop          3   70,000
                edited, was while x.out
        "#]]
        .assert_eq(&table.text_on(Screen::PLAIN, 26));
    }
}
