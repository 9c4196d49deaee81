//! Parts of a run that people look at by themselves: loops, and the cells of components.

use std::collections::BTreeMap;

use petal_metadata::{ComponentId, GroupRunId, Id as _, Metadata};
use petal_reconstruct::{CallTree, FrameLabels, Instance, InstanceId, instance_path};

use crate::critical::Site;
use crate::elements::{Element, ElementKind};
use crate::ledger::StatementId;

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A loop, in all instances of its component.
    Loop(StatementId),
    /// A cell of a component.
    Cell(InstanceId),
}

impl Part {
    /// What a site of this component is, if that is a part.
    pub(crate) fn of(site: Site, component: ComponentId, metadata: &Metadata) -> Option<Self> {
        let Some(statement) = site.statement else {
            return Some(Self::Cell(site.instance));
        };
        let kind = metadata.component(component).node(statement).kind;
        kind.is_loop().then_some(Self::Loop((component, statement)))
    }

    /// Such as `main.while@L12`.
    #[must_use]
    pub fn name(self, metadata: &Metadata, labels: &FrameLabels, instances: &[Instance]) -> String {
        match self {
            Self::Loop((component, of)) => {
                let name = &metadata.component(component).name;
                format!("{name}.{}", labels.control(component, of))
            }
            Self::Cell(cell) => instance_path(metadata, instances, cell),
        }
    }
}

/// The parts of a run that are active in a tree, each with the groups that run for it, by the component cells that these are in.
pub(crate) fn parts_of(
    tree: &CallTree,
    instances: &[Instance],
    metadata: &Metadata,
) -> BTreeMap<Part, Vec<(InstanceId, GroupRunId)>> {
    let holders: Vec<Option<InstanceId>> = tree.with_holders().map(|of| of.2).collect();
    let mut parts: BTreeMap<Part, Vec<_>> = BTreeMap::new();
    // The parts that each node is in, itself too.
    let mut inside: Vec<Vec<Part>> = Vec::new();
    for (id, node) in tree.nodes() {
        let mut of = tree
            .parent(id)
            .map_or_else(Vec::new, |above| inside[above.index()].clone());
        if let Some(Element { instance, kind }) = Element::of(node, holders[id.index()]) {
            let statement = match kind {
                ElementKind::Cell => Some(None),
                ElementKind::Control(control) => Some(Some(control)),
                ElementKind::Group(_) | ElementKind::Primitive(..) => None,
            };
            let part = statement.and_then(|statement| {
                let component = instances[instance.index()].component;
                Part::of(
                    Site {
                        instance,
                        statement,
                    },
                    component,
                    metadata,
                )
            });
            of.extend(part);
            if let Some(part) = part {
                parts.entry(part).or_default();
            }
            if let ElementKind::Group(run) = kind {
                for part in &of {
                    parts.entry(*part).or_default().push((instance, run));
                }
            }
        }
        inside.push(of);
    }
    parts
}
