//! The graph in Graphviz's language: all of it, each component cell as a cluster.

use std::fmt::Write as _;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef as _;

use super::{ControlGraph, Step, StepKind};
use petal_table::text::{printable, share, thousands};

impl ControlGraph {
    /// The graph as DOT. Nodes have `cycles`, `critical` and `site`, edges `taken` as attributes of their own.
    pub fn dot(&self) -> String {
        let mut dot = format!(
            "digraph {} {{\n  node [shape=box, fontname=monospace, fontsize=11];\n  edge [fontname=monospace, fontsize=10];\n",
            quoted(&self.design)
        );
        for &(cell, _) in &self.cells {
            let _ = writeln!(
                dot,
                "  subgraph cluster_{} {{",
                self.statements[&cell].step.index()
            );
            let _ = writeln!(dot, "    label={};", quoted(&self.step(cell).label));
            for step in self.graph.node_indices() {
                if self.graph[step].site.instance == cell.instance {
                    self.node(&mut dot, step);
                }
            }
            dot.push_str("  }\n");
        }
        for edge in self.graph.edge_references() {
            let way = edge.weight();
            let taken = way
                .taken
                .map_or(String::new(), |taken| format!(", taken={taken}"));
            let _ = writeln!(
                dot,
                "  n{} -> n{} [label={}{taken}, penwidth={:.1}{}];",
                edge.source().index(),
                edge.target().index(),
                quoted(&way.label()),
                way.width(),
                match (way.way, way.critical) {
                    (super::Way::Calls, true) =>
                        ", color=\"#b3261e\", style=dashed, constraint=false",
                    (super::Way::Calls, false) => ", style=dashed, constraint=false",
                    (_, true) => ", color=\"#b3261e\"",
                    (_, false) => "",
                }
            );
        }
        dot.push_str("}\n");
        dot
    }

    fn node(&self, dot: &mut String, id: NodeIndex) {
        let step = &self.graph[id];
        if step.kind == StepKind::Join {
            let _ = writeln!(
                dot,
                "    n{} [label=\"\", shape=box, height=0.08, style=filled];",
                id.index()
            );
            return;
        }
        let Step {
            label,
            place,
            cycles,
            critical,
            ..
        } = step;
        let part = |cycles: u64| {
            let share = share(cycles.into(), self.cycles.into());
            format!("{}  {share}", thousands(cycles))
        };
        let text = format!(
            "{}\ncycles {}\ncritical {}",
            format!("{label}  {place}").trim_end(),
            part(*cycles),
            part(*critical)
        );
        let look = match self.through(step.site) {
            0 => "",
            _ => ", color=\"#b3261e\", penwidth=2",
        };
        let site = step
            .id
            .map_or(String::new(), |id| format!(", site=\"{id}\""));
        let _ = writeln!(
            dot,
            "    n{} [label={}, cycles={cycles}, critical={critical}{site}{look}];",
            id.index(),
            quoted(&text)
        );
    }
}

/// A text as DOT's strings write it.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(printable);
    let lines = lines.map(|line| line.replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", lines.collect::<Vec<String>>().join("\\n"))
}
