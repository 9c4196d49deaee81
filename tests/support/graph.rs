//! What must hold of the control-flow graph of any run that its design ended.

use petal_analysis::{Analysis, CriticalPath};
use petal_metadata::Metadata;
use petal_reconstruct::Event;
use petal_visualize::{ControlGraph, Detail, StepKind, Way};

use super::sums::same;

/// The graph of a run.
pub fn of(metadata: &Metadata, events: &[Event], analysis: &Analysis<'_>) -> ControlGraph {
    let mut path = CriticalPath::new(metadata);
    for event in events {
        path.event(event);
    }
    let graph = ControlGraph::new(analysis, &path.finish(), "design", false, None);
    graph.expect("the run has cells")
}

/// Every cycle is on the critical path once, and control leaves every statement as often as it enters it.
pub fn check(
    metadata: &Metadata,
    events: &[Event],
    analysis: &Analysis<'_>,
    cycles: u64,
) -> Result<(), String> {
    let control = of(metadata, events, analysis);
    let graph = control.graph();
    let critical: u64 = graph.node_weights().map(|step| step.critical).sum();
    same("the critical path", &critical, &cycles)?;
    for id in graph.node_indices() {
        let step = &graph[id];
        let what = format!("{} {} of the graph", step.label, step.place);
        let sum = |ways: &[Way], of: petgraph::Direction| -> Option<u64> {
            let edges = graph.edges_directed(id, of);
            let edges = edges.filter(|edge| ways.contains(&edge.weight().way));
            edges.map(|edge| edge.weight().taken).sum()
        };
        if step.critical > step.cycles && step.kind != StepKind::Join {
            return Err(format!(
                "{what} is on the critical path when it is not active"
            ));
        }
        let others = [Way::Next, Way::Then, Way::Else, Way::Arm, Way::Body];
        let entered = sum(&others, petgraph::Incoming);
        if let (StepKind::Leaf | StepKind::If | StepKind::Seq, Some(entered), Some(times)) =
            (step.kind, entered, step.times)
        {
            same(&format!("{what}: entered"), &entered, &times)?;
        }
        let branches = sum(&[Way::Then, Way::Else], petgraph::Outgoing);
        let has = |way: Way| graph.edges(id).any(|edge| edge.weight().way == way);
        if let (StepKind::If, Some(left), Some(times)) = (step.kind, branches, step.times) {
            if has(Way::Then) && has(Way::Else) {
                same(&format!("{what}: left"), &left, &times)?;
            } else if left > times {
                // What ends a cell's control goes nowhere.
                return Err(format!("{what}: left {left} times, entered {times}"));
            }
        }
        let again = sum(&[Way::Again], petgraph::Incoming);
        let body = sum(&[Way::Body], petgraph::Outgoing);
        if let (StepKind::Loop, Some(again), Some(body)) = (step.kind, again, body) {
            same(&format!("{what}: iterations"), &again, &body)?;
        }
    }
    for detail in [Detail::Fitting, Detail::All] {
        let image = control.svg(detail);
        roxmltree::Document::parse(&image).map_err(|error| error.to_string())?;
    }
    Ok(())
}
