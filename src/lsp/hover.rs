//! What is shown of a line, or of what is called as the word under the cursor: what it cost, why, how often and how long.

use std::fmt::Write as _;

use petal_table::text::markdown;
use petal_table::thousands;
use serde_json::{Value, json};

use super::document::{Document, View};
use super::parts::{Kind, Part, Place};
use super::text::{Encoding, Position};

/// How many parts of a line are told, those with most cycles.
const MOST: usize = 6;

/// What is shown at a place; nothing if nothing is known.
pub fn hover(document: &Document, (line, character): Position, encoding: Encoding) -> Value {
    let Some(view) = &document.view else {
        return Value::Null;
    };
    if view.profiled(line).is_none() {
        return Value::Null;
    }
    let word = word(document.text.line(line), character, encoding);
    let parts = chosen(view, line, word);
    let begin = match parts[..] {
        [part] => view.place_of(part).map(|(line, _)| line),
        _ => None,
    };
    let about = text(view, parts, begin.unwrap_or(line));
    if about.is_empty() {
        return Value::Null;
    }
    json!({
        "contents": { "kind": "markdown", "value": about },
        "range": document.line_range(line, encoding),
    })
}

/// What has the name under the cursor: a part of the line, or else the only component, group or cell with that name, in the component around
/// the line or in the file; without one all parts of the line.
fn chosen<'a>(view: &'a View, line: usize, word: &str) -> Vec<&'a Part> {
    let called = |part: &&Part| {
        let name = part.name.rsplit('.').next().unwrap_or_default();
        name.split('@').next() == Some(word)
    };
    let parts = view.parts(line);
    let named: Vec<&Part> = parts.iter().copied().filter(called).collect();
    if !named.is_empty() {
        return named;
    }
    let all = view.figures.parts.iter();
    let all = all.filter(|part| matches!(part.kind, Kind::Component | Kind::Group | Kind::Cell));
    let named: Vec<&Part> = all
        .filter(called)
        .filter(|part| view.place_of(part).is_some())
        .collect();
    let around = component(view, line);
    let near = named.iter().copied().filter(|part| {
        let component = part.name.split('.').next();
        around.is_some_and(|around| component == Some(&*around.name))
    });
    let near: Vec<&Part> = near.collect();
    match (&near[..], &named[..]) {
        (&[part], _) | (_, &[part]) => vec![part],
        _ => parts,
    }
}

/// The component that a line is in.
fn component(view: &View, line: usize) -> Option<&Part> {
    let line = view.profiled(line)?;
    let mut parts = view.figures.parts.iter();
    parts.find(|part| {
        let is_here = |place: &Place| {
            place.file == view.file && (place.line..=place.end_line).contains(&line)
        };
        part.kind == Kind::Component && part.places.iter().any(is_here)
    })
}

/// The word at a character of a line.
fn word(line: &str, character: usize, encoding: Encoding) -> &str {
    let at = encoding.byte(line, character);
    let is_other = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
    let begin = line[..at].rfind(is_other);
    let begin = begin.map_or(0, |at| {
        at + line[at..].chars().next().map_or(0, char::len_utf8)
    });
    let end = line[at..].find(is_other).map_or(line.len(), |end| at + end);
    // A port is not what else has its name.
    if line[..begin].ends_with('.') {
        ""
    } else {
        &line[begin..end]
    }
}

/// These parts of a line, in Markdown.
pub fn text(view: &View, parts: Vec<&Part>, line: usize) -> String {
    let mut text = String::new();
    let source = view.source();
    let line = view.profiled(line);
    let cost = line.and_then(|line| source.costs.get(&line));
    if let Some(cost) = cost.filter(|_| parts.len() > 1) {
        let _ = writeln!(
            text,
            "This line: {} cycles{}, {} of the run; {} of them useful; {} charged to it\n",
            thousands(cost.cycles),
            if view.figures.has(cost.cycles) {
                ""
            } else {
                " in several instances at once"
            },
            view.figures.share(cost.cycles),
            thousands(cost.useful),
            thousands(cost.listed),
        );
    }
    let more = parts.len().saturating_sub(MOST);
    for part in parts.into_iter().take(MOST) {
        text.push_str(&part.about);
    }
    if more > 0 {
        let _ = writeln!(text, "and {more} more\n");
    }
    if let Some(area) = line.and_then(|line| source.area.get(&line)) {
        let _ = writeln!(text, "Area: {}\n", markdown(area));
    }
    text
}

/// What is known of a part, in Markdown.
pub fn about(part: &Part) -> String {
    let mut text = format!("**{}** ({})\n\n", markdown(&part.name), part.keyword);
    for fact in part.facts.iter().chain(&part.why) {
        // What they have between backquotes is code there, too.
        let _ = writeln!(text, "- {}", markdown(fact).replace("\\`", "`"));
    }
    text.push('\n');
    text
}
