//! What is wrong with a run, and, as hints, what costs it most.

use serde_json::{Value, json};

use super::document::{Document, View, range};
use super::parts::Kind;
use super::settings::Settings;
use super::text::Encoding;

pub const ERROR: u8 = 1;
pub const WARNING: u8 = 2;
const HINT: u8 = 4;

/// The diagnostics of a document.
pub fn diagnostics(document: &Document, settings: &Settings, encoding: Encoding) -> Value {
    let check = document.check.as_ref();
    let mut all = check.map_or(Vec::new(), |check| check.diagnostics(document, encoding));
    let Some(view) = &document.view else {
        return all.into();
    };
    let figures = &view.figures;
    if view.source().is_root {
        let main = main(document, view, encoding);
        let stopped = figures.stopped.iter();
        all.extend(stopped.map(|why| {
            let mut stopped = diagnostic(&main, ERROR, why);
            stopped["relatedInformation"] = waits(document, view, encoding);
            stopped
        }));
        let broken = figures.broken.iter();
        all.extend(broken.map(|rule| diagnostic(&main, WARNING, rule)));
    }
    let hotspots = hotspots(view, settings.least);
    for line in hotspots.into_iter().filter(|_| settings.hotspots) {
        let parts = view.parts(line);
        let why: Vec<&str> = parts
            .iter()
            .flat_map(|part| part.why.iter().map(String::as_str))
            .collect();
        let cost: u64 = parts.iter().map(|part| part.cost).sum();
        let mut hotspot = diagnostic(&document.line_range(line, encoding), HINT, &why.join("\n"));
        hotspot["data"] = json!({ "cost": cost, "cycles": figures.cycles });
        all.push(hotspot);
    }
    all.into()
}

/// Where the groups begin that a run waits for.
fn waits(document: &Document, view: &View, encoding: Encoding) -> Value {
    let parts = view.figures.parts.iter();
    let parts =
        parts.filter(|part| part.kind == Kind::Group && view.figures.waits.contains(&part.name));
    let related = parts.filter_map(|part| {
        let (line, _) = view.place_of(part)?;
        let range = document.line_range(line, encoding);
        let location = json!({ "uri": document.uri, "range": range });
        Some(json!({ "location": location, "message": format!("{} waits", part.name) }))
    });
    related.collect()
}

/// A diagnostic of petal's.
pub fn diagnostic(range: &Value, severity: u8, message: &str) -> Value {
    json!({ "range": range, "severity": severity, "source": "petal", "message": message })
}

/// The lines of a document that cost at least so many percent of the run, from its beginning to its end.
pub fn hotspots(view: &View, least: f64) -> Vec<usize> {
    let parts = view.figures.parts.iter();
    let parts = parts.filter(|part| part.cost > 0 && view.figures.is_at_least(part.cost, least));
    let mut lines: Vec<usize> = parts
        .filter_map(|part| Some(view.place_of(part)?.0))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Where the component stands that runs as the whole design; the beginning if that line is another one by now.
fn main(document: &Document, view: &View, encoding: Encoding) -> Value {
    let mut parts = view.figures.parts.iter();
    let main =
        parts.find(|part| part.kind == Kind::Component && part.cycles == view.figures.cycles);
    match main.and_then(|main| view.place_of(main)) {
        Some((line, _)) => document.line_range(line, encoding),
        None => range([(0, 0), (0, 0)]),
    }
}
