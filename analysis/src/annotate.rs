//! The source with what each line cost in its margin.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use petal_metadata::{ControlId, FileId, Id, Metadata, Span};

use crate::activations::Activations;
use crate::elements::ElementKind;
use crate::ledger::Ledger;
use petal_table::Screen;
use petal_table::text::{printable, thousands};

/// What costs this share of the run stands out.
const MUCH: f64 = 0.05;

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number, counted from 1.
    pub number: u32,
    /// What the statements, groups and components that begin here cost; `None` if none does.
    pub cost: Option<Cost>,
    /// The source.
    pub text: &'a str,
}

/// What a line cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Cycles in which the outermost of what begins on the line was active, summed over the
    /// instances of the component.
    pub cycles: u64,
    /// The part of them in which something useful ran inside of it, conditions included.
    pub useful: u64,
    /// Overhead of the run that is charged to the statements that begin on the line.
    pub overhead: u64,
    /// They and the statements' own conditions: what the list of what costs has of these statements.
    pub listed: u64,
}

/// Code is not folded into fewer columns.
const LEAST_CODE: usize = 16;

/// The lines of a source file. Over all files, `overhead` adds up to what the ledger charges to
/// statements.
pub fn annotate<'a>(
    metadata: &'a Metadata,
    ledger: &Ledger,
    activations: &Activations<'_>,
    file: FileId,
) -> Vec<Line<'a>> {
    let mut costs: BTreeMap<u32, Cost> = BTreeMap::new();
    let mut add = |span: Option<Span>, cycles: u64, useful: u64, [overhead, listed]: [u64; 2]| {
        let Some(span) = span.filter(|span| span.file == file) else {
            return;
        };
        let cost = costs.entry(span.line).or_default();
        cost.overhead += overhead;
        cost.listed += listed;
        if cycles > cost.cycles {
            cost.cycles = cycles;
            cost.useful = useful;
        }
    };
    // Groups first: where one is defined on the line of a statement, the statement is meant.
    let mut groups: BTreeMap<_, u64> = BTreeMap::new();
    for (element, durations) in activations.durations() {
        if let ElementKind::Group(run) = element.kind {
            let id = activations.component_of(element);
            let group = metadata.component(id).run(run).group;
            *groups.entry((id, group)).or_default() += durations.total;
        }
    }
    for id in metadata.component_ids() {
        let component = metadata.component(id);
        for (at, group) in component.groups.iter().enumerate() {
            let cycles = groups.get(&(id, Id::from_index(at))).copied().unwrap_or(0);
            add(group.span, cycles, cycles, [0, 0]);
        }
        for (at, node) in component.control.iter().enumerate() {
            let statement = ledger
                .statements
                .get(&(id, ControlId::from_index(at)))
                .copied()
                .unwrap_or_default();
            add(
                node.span,
                statement.cycles,
                statement.useful,
                [statement.charged(), statement.cost()],
            );
        }
    }
    metadata.files[file.index()]
        .text
        .lines()
        .zip(1..)
        .map(|(text, number)| Line {
            number,
            cost: costs.get(&number).copied(),
            text,
        })
        .collect()
}

/// A column of the margin that is not of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Margin {
    /// Its heading.
    pub title: &'static str,
    /// What stands in it, by line.
    pub lines: BTreeMap<u32, String>,
}

/// The lines of a source file with their costs in the margin, for a terminal: lines that cost much stand
/// out by colour, and code that is wider is folded. The run took `cycles` cycles. `margins` come after the columns of the run.
pub fn listing(lines: &[Line<'_>], cycles: u64, margins: &[Margin], screen: Screen) -> String {
    let number = lines.len().to_string().len();
    let more: Vec<usize> = margins
        .iter()
        .map(|margin| {
            let widest = margin.lines.values().map(|text| text.chars().count()).max();
            widest.unwrap_or(0).max(margin.title.len())
        })
        .collect();
    let all = lines.iter().filter_map(|line| line.cost);
    let mut columns: Vec<(usize, &Column)> = COLUMNS
        .iter()
        .map(|column| {
            let widest = all.clone().map(|cost| (column.1)(cost).len()).max();
            (widest.unwrap_or(0).max(column.0.len()), column)
        })
        .collect();
    let beside = |columns: &[(usize, &Column)]| {
        let widths = columns.iter().map(|(width, _)| width).chain(&more);
        widths.map(|width| width + 2).sum::<usize>() - 2
    };
    let left = |beside: usize| screen.width.saturating_sub(beside + 3 + number + 3);
    // Where the code has too little room, what can be told from the other columns goes.
    while columns.len() > 2 && left(beside(&columns)) < LEAST_CODE {
        columns.remove(1);
    }
    let beside = beside(&columns);
    let code = Screen {
        width: left(beside),
        ..screen
    };
    let cells = |of: &dyn Fn(&Column) -> String| {
        let cells = columns
            .iter()
            .map(|(width, column)| format!("{:>width$}", of(column)));
        cells.collect::<Vec<_>>().join("  ")
    };
    let beyond = |of: &dyn Fn(&Margin) -> &str| {
        let cells = margins.iter().zip(&more);
        let cells = cells.map(|(margin, width)| format!("  {:>width$}", of(margin)));
        cells.collect::<String>()
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}{} | {:number$} |",
        cells(&|column| column.0.to_owned()),
        beyond(&|margin| margin.title),
        ""
    );
    for line in lines {
        let margin = cells(&|column| line.cost.map(column.1).unwrap_or_default());
        let style = line.cost.map_or(Style::new(), |cost| style(cost, cycles));
        let shown = printable(line.text);
        let folded = if code.width < LEAST_CODE {
            shown
        } else {
            let indent = shown.len() - shown.trim_start().len();
            code.folded(&shown, indent + 4)
        };
        let _ = write!(
            text,
            "{style}{margin}{style:#}{} | {:>number$} | ",
            beyond(&|margin| margin.lines.get(&line.number).map_or("", String::as_str)),
            line.number
        );
        let next = format!("\n{:beside$} | {:number$} | ", "", "");
        text.push_str(&folded.replace('\n', &next));
        text.push('\n');
    }
    text
}

/// A column of the run: its heading, and what stands in it.
type Column = (&'static str, fn(Cost) -> String);

/// The columns of the run. Those in the middle go where there is no room.
const COLUMNS: [Column; 4] = [
    ("cycles", |cost| thousands(cost.cycles)),
    ("useful %", share),
    ("overhead", |cost| unless_none(cost.overhead)),
    ("costs", |cost| unless_none(cost.listed)),
];

fn unless_none(cycles: u64) -> String {
    match cycles {
        0 => String::new(),
        cycles => thousands(cycles),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn share(cost: Cost) -> String {
    if cost.cycles == 0 {
        String::new()
    } else {
        format!("{:.1}", cost.useful as f64 * 100.0 / cost.cycles as f64)
    }
}

#[expect(clippy::cast_precision_loss, reason = "only a colour depends on it")]
fn style(cost: Cost, cycles: u64) -> Style {
    if cost.cycles == 0 {
        Style::new().dimmed()
    } else if cost.listed as f64 >= MUCH * cycles as f64 {
        AnsiColor::Red.on_default().bold()
    } else if cost.listed > 0 {
        AnsiColor::Yellow.on_default()
    } else {
        Style::new()
    }
}
