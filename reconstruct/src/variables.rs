//! Which variables of a front end hold in a cycle.
//!
//! Owns the rule: those of the innermost places that are active, as the front end's table has them for these places. A place that is
//! active in one cell says nothing of a variable that lies in another cell of the same component.

use std::collections::BTreeSet;

use petal_metadata::{
    CellId, CellKind, ComponentId, FrontEnd, FrontEndFileId, Holder, Id as _, Metadata, PositionId,
    VariableId,
};

use crate::model::{CallTree, Instance, InstanceId, Node};

/// Tells which variables hold.
#[derive(Debug)]
pub struct LiveVariables<'a> {
    metadata: &'a Metadata,
}

/// A place with variables that is active.
struct Place {
    instance: InstanceId,
    file: FrontEndFileId,
    position: PositionId,
    is_innermost: bool,
}

impl<'a> LiveVariables<'a> {
    /// Of a design; `None` if its front end tells of no variables.
    pub fn of_design(metadata: &'a Metadata) -> Option<Self> {
        let FrontEnd { variables, .. } = &metadata.front_end;
        (!variables.is_empty()).then_some(Self { metadata })
    }

    /// The variables that hold in a cycle with this call tree, ascending.
    pub fn of(&self, tree: &CallTree, instances: &[Instance]) -> Vec<VariableId> {
        let front_end = &self.metadata.front_end;
        let mut places: Vec<Place> = Vec::new();
        // The places of the nodes above the current one, by depth.
        let mut above: Vec<(usize, usize)> = Vec::new();
        for (depth, node, holder) in tree.with_holders() {
            above.retain(|(of, _)| *of < depth);
            let (instance, positions) = match node {
                Node::Cell { instance, .. } => {
                    let component = instances[instance.index()].component;
                    let positions = &self.metadata.component(component).positions;
                    (Some(instance), positions.clone())
                }
                _ => (holder, self.positions(node)),
            };
            let Some(instance) = instance else {
                continue;
            };
            let inner: Vec<Place> = positions
                .into_iter()
                .filter(|&id| front_end.position(id).variables.is_some())
                .map(|id| Place {
                    instance,
                    file: front_end.position(id).file,
                    position: id,
                    is_innermost: true,
                })
                .collect();
            for of in &inner {
                for &(_, outer) in &above {
                    let outer = &mut places[outer];
                    outer.is_innermost &= outer.instance != instance || outer.file != of.file;
                }
            }
            for of in inner {
                above.push((depth, places.len()));
                places.push(of);
            }
        }
        let innermost = places.iter().filter(|place| place.is_innermost);
        let live = innermost.flat_map(|place| {
            let variables = front_end.variables_at(front_end.position(place.position));
            let variables = variables.iter().copied();
            variables.filter(|&id| self.is_of(id, place.instance, instances))
        });
        live.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The places of a statement or group: where it is used, and where a group is defined.
    fn positions(&self, node: Node) -> Vec<PositionId> {
        match node {
            Node::Control { component, control } => {
                let node = self.metadata.component(component).node(control);
                node.positions.clone()
            }
            Node::Group {
                component,
                group,
                run,
            } => {
                let component = self.metadata.component(component);
                let by = component.run(run).control;
                let used = by.map_or(&[][..], |id| &component.node(id).positions);
                [used, &component.group(group).positions].concat()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a variable is that of the component cell `instance`, or lies elsewhere than in cells of its component.
    fn is_of(&self, id: VariableId, instance: InstanceId, instances: &[Instance]) -> bool {
        let front_end = &self.metadata.front_end;
        let component = instances[instance.index()].component;
        let path = cells_to(instance, instances);
        let mut parts = front_end.variable(id).parts.iter();
        parts.all(|part| {
            let Holder { cells, .. } = &front_end.holders[part.holder.index()];
            self.holders(cells)
                .all(|(depth, of)| of != component || cells[..depth] == path)
        })
    }

    /// The component cells around a register or memory that these cells lead to, main first: each with its depth.
    fn holders(&self, cells: &[CellId]) -> impl Iterator<Item = (usize, ComponentId)> {
        let mut next = Some(self.metadata.main);
        let mut depth = 0;
        let cells = cells.to_vec();
        let metadata = self.metadata;
        std::iter::from_fn(move || {
            let component = next?;
            let holder = metadata.component(component);
            let at = depth;
            next = match holder.cell(*cells.get(at)?).kind {
                CellKind::Component(of) => Some(of),
                CellKind::Primitive(_) => None,
            };
            depth += 1;
            Some((at, component))
        })
    }
}

/// The cells that lead to a component cell from main on.
pub fn cells_to(instance: InstanceId, instances: &[Instance]) -> Vec<CellId> {
    let parent = |of: InstanceId| instances[of.index()].parent;
    let above = std::iter::successors(Some(instance), |&of| Some(parent(of)?.0));
    let mut cells: Vec<_> = above.filter_map(|of| Some(parent(of)?.1)).collect();
    cells.reverse();
    cells
}
