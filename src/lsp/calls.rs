//! The hierarchy of calls: who runs a group, a statement or a component, and what each caller costs.

use std::collections::BTreeMap;

use petal_table::counted;
use serde_json::{Value, json};

use super::document::{Document, View};
use super::parameters::text;
use super::parts::{Caller, Kind, Part};
use super::text::Encoding;
use crate::json_rpc::Problem;

/// The parts that begin on a line; nothing if there are none.
pub fn prepare(document: &Document, line: usize, encoding: Encoding) -> Value {
    let Some(view) = &document.view else {
        return Value::Null;
    };
    let here = view.profiled(line);
    let parts = here.and_then(|line| view.source().parts.get(&line));
    let parts = parts.into_iter().flatten();
    let runs = |part: &&usize| view.figures.parts[**part].kind != Kind::Cell;
    let items: Vec<Value> = parts
        .filter(runs)
        .filter_map(|&part| item(document, view, part, None, encoding))
        .collect();
    if items.is_empty() {
        Value::Null
    } else {
        items.into()
    }
}

/// Who runs a part.
pub fn incoming(
    documents: &BTreeMap<String, Document>,
    params: &Value,
    encoding: Encoding,
) -> Result<Value, Problem> {
    let Some((document, view, part)) = meant(documents, params)? else {
        return Ok(Value::Null);
    };
    let callers = view.figures.parts[part].callers.iter();
    let calls = callers.filter_map(|caller| {
        let from = item(document, view, caller.part, Some(caller), encoding)?;
        let ranges = json!([from["range"]]);
        Some(json!({ "from": from, "fromRanges": ranges }))
    });
    Ok(calls.collect())
}

/// What a part runs.
pub fn outgoing(
    documents: &BTreeMap<String, Document>,
    params: &Value,
    encoding: Encoding,
) -> Result<Value, Problem> {
    let Some((document, view, part)) = meant(documents, params)? else {
        return Ok(Value::Null);
    };
    let Some(from) = item(document, view, part, None, encoding) else {
        return Ok(Value::Null);
    };
    let all = view.figures.parts.iter().enumerate();
    let calls = all.filter_map(|(at, other)| {
        let caller = other.callers.iter().find(|caller| caller.part == part)?;
        let to = item(document, view, at, Some(caller), encoding)?;
        Some(json!({ "to": to, "fromRanges": [from["range"]] }))
    });
    Ok(calls.collect())
}

/// The part that the client means, if its document still shows it.
fn meant<'a>(
    documents: &'a BTreeMap<String, Document>,
    params: &Value,
) -> Result<Option<(&'a Document, &'a View, usize)>, Problem> {
    let document = documents.get(text(params, "/item/uri")?);
    let name = text(params, "/item/name")?;
    let part = params.pointer("/item/data").and_then(Value::as_u64);
    let part = part.and_then(|part| usize::try_from(part).ok());
    let part = part.ok_or_else(|| Problem::params("`item/data` is no whole number"))?;
    let shown = document.and_then(|document| Some((document, document.view.as_ref()?)));
    Ok(shown.and_then(|(document, view)| {
        let is_it = view.figures.parts.get(part)?.name == name;
        is_it.then_some((document, view, part))
    }))
}

/// A part, where it stands in a document, with what a caller costs, or the part itself.
fn item(
    document: &Document,
    view: &View,
    at: usize,
    caller: Option<&Caller>,
    encoding: Encoding,
) -> Option<Value> {
    let part: &Part = &view.figures.parts[at];
    let (line, place) = view.place_of(part)?;
    let selection = document.line_range(line, encoding);
    let mut range = selection.clone();
    if let Some(end) = view.place(place.end_line).filter(|end| *end > line) {
        range["end"] = document.line_range(end, encoding)["end"].take();
    }
    let (cycles, times) = match caller {
        Some(caller) => (caller.cycles, caller.times),
        None => (Some(part.cycles), None),
    };
    let cycles = cycles.map(|cycles| {
        let share = view.figures.share(cycles);
        format!("{}, {share}", counted(cycles, "cycle"))
    });
    let times = times.map(|times| counted(times, "time"));
    let detail: Vec<String> = cycles.into_iter().chain(times).collect();
    // Numbers of the protocol: a module, a field, a function and an event.
    let kind = match part.kind {
        Kind::Component => 2,
        Kind::Cell => 8,
        Kind::Group => 12,
        Kind::Statement | Kind::OutermostLoop => 24,
    };
    Some(json!({
        "name": part.name,
        "kind": kind,
        "detail": detail.join(", "),
        "uri": document.uri,
        "range": range,
        "selectionRange": selection,
        "data": at,
    }))
}
