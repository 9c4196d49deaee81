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
    include_str!("whatif.js"),
    include_str!("area.js"),
    include_str!("observations.js"),
    include_str!("main.js"),
);

/// What follows if the design has variables of a front end.
const VARIABLES: &str = include_str!("variables.js");

/// The page with this data, and trees and runs as they were packed.
pub(crate) fn write(
    summary: &Summary,
    data: &impl Serialize,
    trees: &[u8],
    runs: &[u8],
    has_variables: bool,
) -> String {
    let script = format!("{SCRIPT}{VARIABLES}");
    let page = Page {
        kind: "report",
        body: BODY,
        style: STYLE,
        script: if has_variables { &script } else { SCRIPT },
    };
    let texts = [
        ("design", &*summary.design),
        ("figures", &*summary.text(Screen::PLAIN)),
    ];
    let packed = [("trees", trees), ("runs", runs)];
    page.render(&summary.design, data, &texts, &packed)
}
