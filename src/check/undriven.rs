//! The reads of ports that nothing drove, with who made them.

use petal_metadata::{ComponentId, ControlId, Id as _, Metadata, Reads};
use petal_observe::{Site, Undriven};
use petal_reconstruct::FrameLabels;

/// A read of a port that nothing drove.
pub struct UndrivenRead {
    /// The path of the port.
    pub port: String,
    /// Who read it; of a condition that several statements have, each of these.
    pub by: Vec<Site>,
    /// What was active in the first cycle.
    pub active: Vec<String>,
    /// The first cycle, and in how many it was read.
    pub cycle: u64,
    pub times: u64,
}

/// The reads in the order of time, and the ports of which it can't be told whether they were read.
pub fn undriven(
    all: &[Undriven],
    metadata: &Metadata,
    reads: &Reads,
) -> (Vec<UndrivenRead>, Vec<String>) {
    let labels = FrameLabels::new(metadata);
    let mut found: Vec<UndrivenRead> = Vec::new();
    let mut unknown = Vec::new();
    for of in all {
        let Some((cycle, times)) = of.cycles else {
            unknown.push(of.port.clone());
            continue;
        };
        let mut by = of.by.clone();
        if by.is_empty() {
            by = statements(of, metadata, reads, &labels);
        }
        found.push(UndrivenRead {
            port: of.port.clone(),
            by,
            active: of.active.clone(),
            cycle,
            times,
        });
    }
    found.sort_by(|one, other| (one.cycle, &one.port).cmp(&(other.cycle, &other.port)));
    unknown.sort_unstable();
    unknown.dedup();
    (found, unknown)
}

/// The statements whose condition is what was taken.
fn statements(
    of: &Undriven,
    metadata: &Metadata,
    reads: &Reads,
    labels: &FrameLabels,
) -> Vec<Site> {
    let mut components = metadata.components.iter();
    let Some(at) = components.position(|component| component.name == of.component) else {
        return Vec::new();
    };
    let id = ComponentId::from_index(at);
    let component = metadata.component(id);
    let ports = reads.ports.iter();
    let ports = ports.filter(|((name, _), port)| {
        *name == of.component && port.replacen('.', "_", 1) == of.takes
    });
    let site = |control: ControlId| {
        let label = labels.control(id, control);
        let span = component.node(control).span;
        let file = span.map(|span| &metadata.files[span.file.index()]);
        Site {
            path: format!("{}.{label}", of.component),
            statement: label.to_owned(),
            line: span.map(|span| span.line),
            file: file.filter(|of| !of.root).map(|of| of.name.clone()),
            ..Site::default()
        }
    };
    ports.map(|((_, control), _)| site(*control)).collect()
}
