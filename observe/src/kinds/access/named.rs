//! Which memories a request names: one, what a `ref` cell stands for, or all that a pattern matches.

use petal_metadata::{CellKind, ComponentId};

use super::AccessRequest;
use crate::builder::{Builder, refuse};
use crate::checker::memory_path;
use crate::countable::{matches, quoted};
use crate::problem::Refused;
use crate::readers::stands_for;
use crate::syntax::{self, Kind};
use crate::text::Text;

/// How many memories an error lists.
const LISTED: usize = 8;

/// The memories that are asked for, each with its name.
pub(super) fn named(
    of: &AccessRequest,
    builder: &Builder<'_>,
) -> Result<Vec<(String, Text)>, Box<Refused>> {
    let text = &of.memory;
    if !text.text.contains('*') {
        let name = text.name(of.name.as_ref());
        return Ok(vec![(name, actual(text, builder)?)]);
    }
    let all = memories(builder).into_iter();
    let all: Vec<String> = all.filter(|path| matches(&text.text, path)).collect();
    // All there are may be none.
    if all.is_empty() && text.text != "*" {
        let message = format!("no memory has such a name; {}", there_are(builder));
        return refuse(text, &message);
    }
    let named = all.into_iter().map(|path| {
        let name = match &of.name {
            Some(name) => format!("{name}: {path}"),
            None => path.clone(),
        };
        let text = Text {
            text: path,
            ..text.clone()
        };
        (name, text)
    });
    Ok(named.collect())
}

/// The same text, with the memory that a `ref` cell stands for.
fn actual(text: &Text, builder: &Builder<'_>) -> Result<Text, Box<Refused>> {
    let path = memory_path(&text.text);
    let stands_for = match syntax::expression(path).map(|of| of.kind) {
        Ok(Kind::Path(names)) => stands_for(builder.metadata, &names),
        _ => None,
    };
    let Some(actual) = stands_for else {
        return Ok(text.clone());
    };
    let actual: Vec<String> = actual
        .iter()
        .map(|path| {
            let path: Vec<String> = path.iter().map(|name| quoted(name)).collect();
            path.join(".")
        })
        .collect();
    match &actual[..] {
        [only] => Ok(Text {
            text: text.text.replacen(path, only, 1),
            ..text.clone()
        }),
        [] => refuse(text, "this is a `ref` cell, which no invoke hands over"),
        several => {
            let message = format!(
                "this is a `ref` cell, which stands for several memories: name one of `{}`",
                several.join("`, `")
            );
            refuse(text, &message)
        }
    }
}

/// What is wrong with a name, and which memories there are.
pub(super) fn unknown<T>(
    text: &Text,
    mut refused: Box<Refused>,
    builder: &Builder<'_>,
) -> Result<T, Box<Refused>> {
    let path = memory_path(&text.text);
    if !memories(builder).iter().any(|of| of == path) {
        let problem = &mut refused.problem;
        let help = problem.help.take().into_iter();
        let all: Vec<String> = help.chain([there_are(builder)]).collect();
        problem.help = Some(all.join("; "));
    }
    Err(refused)
}

/// Which memories there are.
pub(super) fn there_are(builder: &Builder<'_>) -> String {
    let all = memories(builder);
    let shown = all.iter().take(LISTED).map(|path| format!("`{path}`"));
    let shown: Vec<String> = shown.collect();
    match (shown.is_empty(), all.len().saturating_sub(LISTED)) {
        (true, _) => "the compiled design has no memories".to_owned(),
        (false, 0) => format!("the memories are {}", shown.join(", ")),
        (false, more) => format!("the memories are {} and {more} more", shown.join(", ")),
    }
}

/// The paths of all memories that something uses.
fn memories(builder: &Builder<'_>) -> Vec<String> {
    let metadata = builder.metadata;
    let main = quoted(&metadata.component(metadata.main).name);
    let mut all = Vec::new();
    let mut waiting: Vec<(ComponentId, String)> = vec![(metadata.main, main)];
    while let Some((id, path)) = waiting.pop() {
        let component = metadata.component(id);
        for cell in &component.cells {
            let is_memory = match &cell.kind {
                CellKind::Primitive(name) => name.contains("_mem_d"),
                CellKind::Component(_) => false,
            };
            if is_memory && !cell.is_reference() {
                all.push(format!("{path}.{}", quoted(&cell.name)));
            }
        }
        waiting.extend(component.instances().map(|(cell, id)| {
            let name = quoted(&component.cell(cell).name);
            (id, format!("{path}.{name}"))
        }));
    }
    all.sort_unstable();
    all
}
