//! The flame graph of area: look-up tables by copy of a component, kind, and part of the program.

use std::collections::HashMap;
use std::io;

use petal_synth::{Kind, Synthesis};
use petal_visualize::picture::{Frame, Picture};

/// The SVG image.
pub fn svg(name: &str, synthesis: &Synthesis) -> io::Result<Vec<u8>> {
    let total = synthesis.area.total.luts;
    let folded = synthesis.folded();
    let mut frames: Vec<Frame> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut sums: HashMap<String, f64> = HashMap::new();
    let stacks = || folded.lines().filter_map(|line| line.rsplit_once(' '));
    for (stack, weight) in stacks() {
        let luts: f64 = weight.parse::<f64>().unwrap_or_default() / 100.0;
        for prefix in prefixes(stack) {
            *sums.entry(prefix.to_owned()).or_default() += luts;
        }
    }
    for (stack, weight) in stacks() {
        let mut above = None;
        let all = prefixes(stack);
        for prefix in &all {
            let at = *places.entry((*prefix).to_owned()).or_insert_with(|| {
                let shown = prefix.rsplit(';').next().unwrap_or_default();
                let luts = sums.get(*prefix).copied().unwrap_or_default();
                frames.push(Frame {
                    above,
                    name: petal_visualize::picture::shown(shown),
                    detail: format!("{luts:.1} LUT, {:.1} %", 100.0 * luts / total.max(1.0)),
                    fill: fill(prefix).to_owned(),
                    outline: None,
                    striped: false,
                    overhead: false,
                    weight: 0,
                });
                frames.len() - 1
            });
            above = Some(at);
        }
        if let Some(at) = above {
            frames[at].weight += weight.parse::<u64>().unwrap_or_default();
        }
    }
    if frames.is_empty() {
        frames.push(Frame {
            above: None,
            name: name.to_owned(),
            detail: "no look-up tables".to_owned(),
            fill: fill("").to_owned(),
            outline: None,
            striped: false,
            overhead: false,
            weight: 1,
        });
    }
    let legend = [Kind::Cell, Kind::Group, Kind::Control];
    let legend = legend.map(|kind| (of_kind(kind.name()).to_owned(), kind.name()));
    let picture = Picture {
        units: 100,
        stroke: 255,
        title: format!("{name}: {total:.0} LUT"),
        subtitle: format!("{}; adds up to what yosys counts", synthesis.device),
        legend: legend.into(),
        frames,
    };
    let mut bytes = Vec::new();
    picture.svg(&mut bytes)?;
    Ok(bytes)
}

/// `a`, `a;b`, `a;b;c`.
fn prefixes(stack: &str) -> Vec<&str> {
    let ends = stack.match_indices(';').map(|(at, _)| at);
    ends.chain([stack.len()]).map(|end| &stack[..end]).collect()
}

/// The colour of the innermost kind in a stack.
fn fill(stack: &str) -> &'static str {
    let kinds = stack.split(';').rev().map(of_kind);
    kinds
        .into_iter()
        .find(|fill| *fill != OTHERS)
        .unwrap_or(OTHERS)
}

const OTHERS: &str = "#d9dce3";

fn of_kind(kind: &str) -> &'static str {
    match kind {
        "cell" => "#8fc7a4",
        "group" => "#9dbbe8",
        "control" => "#e9a58c",
        _ => OTHERS,
    }
}
