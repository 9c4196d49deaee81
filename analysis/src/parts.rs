//! Parts of a run that people look at by themselves: loops, and the cells of components.

use petal_metadata::{ComponentId, Metadata};
use petal_reconstruct::{FrameLabels, Instance, InstanceId, instance_path};

use crate::critical::Site;
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
