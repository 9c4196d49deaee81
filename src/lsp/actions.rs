//! Advice as edits: each is offered where all of its lines are as they were when it was tried.

use std::ops::RangeInclusive;

use petal_table::thousands;
use serde_json::{Value, json};

use super::client::Abilities;
use super::commands::{ADVISE, COMPARE, OPEN_REPORT, OPEN_TIMELINE, RUN};
use super::document::{Document, View, range};

/// What kinds of actions there are.
pub const KINDS: [&str; 2] = [REWRITE, COMMAND];

const REWRITE: &str = "refactor.rewrite";
const COMMAND: &str = "source.petal";

/// The protocol's number of what a user asks for, and not the editor by itself.
const INVOKED: u64 = 1;

/// Lines of a document, from the first to the one behind the last, that others take the place of.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// The actions on some lines.
pub fn actions(
    document: &Document,
    lines: RangeInclusive<usize>,
    params: &Value,
    abilities: Abilities,
) -> Value {
    let only = params.pointer("/context/only").and_then(Value::as_array);
    let is_wanted = |kind: &str| {
        only.is_none_or(|all| {
            let mut kinds = all.iter().filter_map(Value::as_str);
            kinds.any(|only| {
                let rest = kind.strip_prefix(only);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    let mut actions = Vec::new();
    if is_wanted(REWRITE)
        && let Some(view) = &document.view
    {
        actions.extend(rewrites(document, view, &lines, abilities));
    }
    // Wherever the cursor is, they are the same: only who asks for them, or for all, gets them.
    let trigger = params
        .pointer("/context/triggerKind")
        .and_then(Value::as_u64);
    if (only.is_some() || trigger == Some(INVOKED)) && is_wanted(COMMAND) {
        let arguments = json!([document.uri, lines.start()]);
        actions.extend(
            [
                (RUN, "profile this design"),
                (ADVISE, "find advice for this design"),
                (COMPARE, "compare with the run before"),
                (OPEN_REPORT, "open the report here"),
                (OPEN_TIMELINE, "open the timeline here"),
            ]
            .map(|(command, title)| {
                let title = format!("petal: {title}");
                json!({
                    "title": title,
                    "kind": COMMAND,
                    "command": { "title": title, "command": command, "arguments": arguments },
                })
            }),
        );
    }
    actions.into()
}

/// The edits that advice makes on some lines.
fn rewrites(
    document: &Document,
    view: &View,
    lines: &RangeInclusive<usize>,
    abilities: Abilities,
) -> Vec<Value> {
    let advice = view
        .figures
        .advice
        .as_ref()
        .filter(|_| view.source().is_root);
    let advice = advice.and_then(|advice| advice["advice"].as_array());
    let items = advice.into_iter().flatten();
    let actions = items.filter_map(|item| {
        // Without it, the change is of a text that others have changed already.
        let saved = item["alone"].as_u64()?;
        let edits = edits(item["diff"].as_str()?, view)?;
        let line = item["line"].as_u64().and_then(|line| u32::try_from(line).ok());
        let line = line.and_then(|line| view.place(line));
        let is_here = |edit: &Edit| *lines.start() < edit.to.max(edit.from + 1) && edit.from <= *lines.end();
        if !(line.is_some_and(|line| lines.contains(&line)) || edits.iter().any(is_here)) {
            return None;
        }
        let (what, class) = (item["what"].as_str()?, item["class"].as_str()?);
        let percent = view.figures.share(saved);
        let title = format!("petal: {what} (saves {} cycles, {percent}; {class})", thousands(saved));
        let edits: Vec<Value> = edits
            .iter()
            .map(|edit| json!({ "range": range([(edit.from, 0), (edit.to, 0)]), "newText": edit.text }))
            .collect();
        let edit = if abilities.knows_versions {
            let of = json!({ "uri": document.uri, "version": document.version });
            json!({ "documentChanges": [{ "textDocument": of, "edits": edits }] })
        } else {
            let uri = &document.uri;
            json!({ "changes": { uri: edits } })
        };
        Some(json!({
            "title": title,
            "kind": REWRITE,
            "isPreferred": class == "proved",
            "edit": edit,
        }))
    });
    actions.collect()
}

/// The edits of a patch; `None` unless all lines that it is about are as they were, one behind the other.
fn edits(diff: &str, view: &View) -> Option<Vec<Edit>> {
    let old = &view.source().lines;
    let mut edits: Vec<Edit> = Vec::new();
    // The next line of the profiled text, from 1, and of the document.
    let mut next: Option<(u32, usize)> = None;
    let mut is_edit = false;
    for line in diff.lines() {
        if let Some(header) = line.strip_prefix("@@ -") {
            let first = header.split([',', ' ']).next()?.parse().ok()?;
            next = Some((first, view.place(first)?));
            is_edit = false;
            continue;
        }
        // The names of the file.
        let Some((was, at)) = next else { continue };
        let mark = line.chars().next()?;
        let text = &line[mark.len_utf8()..];
        match mark {
            ' ' | '-' => {
                let known = old.get(usize::try_from(was).ok()?.checked_sub(1)?)?;
                if view.place(was) != Some(at) || known != text {
                    return None;
                }
                next = Some((was + 1, at + 1));
            }
            '+' => {}
            // The last line has no end.
            _ => return None,
        }
        if mark == ' ' {
            is_edit = false;
            continue;
        }
        if !is_edit {
            let text = String::new();
            edits.push(Edit {
                from: at,
                to: at,
                text,
            });
            is_edit = true;
        }
        let edit = edits.last_mut()?;
        if mark == '-' {
            edit.to = at + 1;
        } else {
            edit.text.push_str(text);
            edit.text.push('\n');
        }
    }
    (!edits.is_empty()).then_some(edits)
}
