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
    let mut text = String::new();
    let costs = || lines.iter().filter_map(|line| line.cost);
    let width = |of: fn(Cost) -> u64, title: &str| {
        let widest = costs().map(|cost| thousands(of(cost)).len()).max();
        widest.unwrap_or(0).max(title.len())
    };
    let active = width(|cost| cost.cycles, "cycles");
    let lost = width(|cost| cost.overhead, "overhead");
    let listed = width(|cost| cost.listed, "costs");
    let number = lines.len().to_string().len();
    let more = |of: &dyn Fn(&Margin) -> &str| {
        let cells = margins.iter().map(|margin| {
            let widest = margin.lines.values().map(|text| text.chars().count()).max();
            let width = widest.unwrap_or(0).max(margin.title.len());
            format!("  {:>width$}", of(margin))
        });
        cells.collect::<String>()
    };
    let _ = writeln!(
        text,
        "{:>active$}  {:>8}  {:>lost$}  {:>listed$}{} | {:number$} |",
        "cycles",
        "useful %",
        "overhead",
        "costs",
        more(&|margin| margin.title),
        ""
    );
    let beside = active + 2 + 8 + 2 + lost + 2 + listed + more(&|_| "").chars().count();
    let code = Screen {
        width: screen.width.saturating_sub(beside + 3 + number + 3),
        ..screen
    };
    for line in lines {
        let margin = match line.cost {
            None => " ".repeat(active + 2 + 8 + 2 + lost + 2 + listed),
            Some(cost) => {
                let [overhead, costs] = [cost.overhead, cost.listed].map(|cycles| match cycles {
                    0 => String::new(),
                    cycles => thousands(cycles),
                });
                format!(
                    "{:>active$}  {:>8}  {overhead:>lost$}  {costs:>listed$}",
                    thousands(cost.cycles),
                    share(cost)
                )
            }
        };
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
            more(&|margin| margin.lines.get(&line.number).map_or("", String::as_str)),
            line.number
        );
        let next = format!("\n{:beside$} | {:number$} | ", "", "");
        text.push_str(&folded.replace('\n', &next));
        text.push('\n');
    }
    text
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
