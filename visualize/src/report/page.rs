//! The page around the data of a report: markup, style and script.

use serde::Serialize;

use crate::page::Page;
use petal_analysis::summary::Summary;
use petal_table::Screen;

const BODY: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// One module; each file is about one part of the page.
const SCRIPT: &str = concat!(
    include_str!("model.js"),
    include_str!("selection.js"),
    include_str!("ranks.js"),
    include_str!("source.js"),
    include_str!("tables.js"),
    include_str!("stacks.js"),
    include_str!("flame.js"),
    include_str!("timeline.js"),
    include_str!("tracks.js"),
    include_str!("advice.js"),
    include_str!("area.js"),
    include_str!("observations.js"),
    include_str!("editor.js"),
    include_str!("main.js"),
);

/// What follows if the design has variables of a front end.
pub(crate) const VARIABLES: &str = include_str!("variables.js");
/// What follows if accesses of memories were observed.
pub(crate) const HEAT: &str = include_str!("heat.js");
/// What follows if somebody has asked what the run would gain.
const WHAT_IF: &str = include_str!("whatif.js");

/// The page with this data, and trees and runs as they were packed; `more` is what follows beside.
pub(crate) fn write(
    summary: &Summary,
    data: &impl Serialize,
    trees: &[u8],
    runs: &[u8],
    more: &[&str],
) -> String {
    let mut script = SCRIPT.to_owned();
    script.extend(more.iter().copied());
    if summary.what_if.is_some() {
        script.push_str(WHAT_IF);
    }
    let page = Page {
        kind: "report",
        body: BODY,
        style: STYLE,
        script: &script,
    };
    let texts = [
        ("design", &*summary.design),
        ("figures", &*summary.text(Screen::PLAIN)),
    ];
    let packed = [("trees", trees), ("runs", runs)];
    page.render(&summary.design, data, &texts, &packed)
}
