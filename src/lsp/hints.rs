//! Hints at the ends of lines, and lenses above components and loops: what each cost.

use petal_analysis::Cost;
use petal_table::{counted, thousands};
use serde_json::{Value, json};

use super::commands::OPEN_REPORT;
use super::document::{Document, View, range};
use super::hover;
use super::parts::Kind;
use super::settings::{Settings, Shown};
use super::text::Encoding;

/// The hints of some lines.
pub fn hints(
    document: &Document,
    lines: std::ops::RangeInclusive<usize>,
    settings: &Settings,
    encoding: Encoding,
) -> Value {
    let Some(view) = document.view.as_ref().filter(|_| settings.hints) else {
        return json!([]);
    };
    let last = (*lines.end()).min(document.text.len().saturating_sub(1));
    let hints = (*lines.start()..=last).filter_map(|line| {
        let cost = view.source().costs.get(&view.profiled(line)?)?;
        let label = label(view, *cost, settings)?;
        let text = document.text.line(line);
        let about = hover::text(view, view.parts(line), line);
        let tooltip = json!({ "kind": "markdown", "value": about });
        Some(json!({
            "position": { "line": line, "character": encoding.length(text) },
            "label": label,
            "tooltip": tooltip,
            "paddingLeft": true,
        }))
    });
    hints.collect()
}

/// What a hint says; `None` if the line is not worth one.
fn label(view: &View, cost: Cost, settings: &Settings) -> Option<String> {
    let figures = &view.figures;
    let most = cost.cycles.max(cost.listed);
    if most == 0 || !figures.is_at_least(most, settings.least) {
        return None;
    }
    let parts = settings.shown.iter().filter_map(|shown| {
        Some(match shown {
            Shown::Cycles => counted(cost.cycles, "cycle"),
            Shown::Share => figures.share(cost.cycles),
            Shown::Overhead if cost.overhead > 0 => {
                format!("+{} overhead", thousands(cost.overhead))
            }
            Shown::Costs if cost.listed > 0 => format!("costs {}", thousands(cost.listed)),
            Shown::Overhead | Shown::Costs => return None,
        })
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(" \u{b7} "))
}

/// The lenses of a document: of its components and their outermost loops.
pub fn lenses(document: &Document, settings: &Settings) -> Value {
    let Some(view) = document.view.as_ref().filter(|_| settings.lenses) else {
        return json!([]);
    };
    let parts = view.figures.parts.iter().filter(|part| {
        matches!(part.kind, Kind::Component | Kind::OutermostLoop) && part.cycles > 0
    });
    let lenses = parts.filter_map(|part| {
        let (line, _) = view.place_of(part)?;
        let title = format!("{}: {}", part.name, part.facts.first()?);
        let arguments = json!([document.uri, line]);
        Some(json!({
            "range": range([(line, 0), (line, 0)]),
            "command": { "title": title, "command": OPEN_REPORT, "arguments": arguments },
        }))
    });
    lenses.collect()
}
