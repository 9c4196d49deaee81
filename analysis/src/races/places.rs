//! Where a node of a call tree stands: in which arms, in which cells, and on which line.

use std::rc::Rc;

use petal_metadata::{ComponentId, ControlId, ControlKind, Id as _, Span};
use petal_reconstruct::{InstanceId, Node, NodeId};

use super::Accessor;
use super::acts::{Arm, Builder, Stands};
use super::statements::arm_of;

impl Builder<'_> {
    pub fn path(&self, id: NodeId) -> String {
        let nodes = self.tree.path(id).into_iter();
        let nodes = nodes.map(|id| self.labels.label(self.tree.node(id), self.instances));
        nodes.collect::<Vec<&str>>().join(" > ")
    }

    pub fn stands(&mut self, id: NodeId) -> Stands {
        let node = self.tree.node(id);
        Stands {
            site: match node {
                Node::Control { component, control } => {
                    self.site_of_statement(id, component, control)
                }
                _ => self.site_of_group(id, node),
            },
            arms: self.arms(id),
            cells: self.cells(id),
            is_continuous: matches!(node, Node::Continuous { .. }),
        }
    }

    /// The component cells that a node is in.
    fn cells(&self, id: NodeId) -> Rc<[InstanceId]> {
        let path = self.tree.path(id).into_iter();
        let cells = path.filter_map(|id| match self.tree.node(id) {
            Node::Cell { instance, .. } => Some(instance),
            _ => None,
        });
        cells.collect()
    }

    /// The arms that a node is in.
    fn arms(&mut self, id: NodeId) -> Rc<[Arm]> {
        let path = self.tree.path(id);
        let mut arms = Vec::new();
        for pair in path.windows(2) {
            let Node::Control { component, control } = self.tree.node(pair[0]) else {
                continue;
            };
            let of = self.metadata.component(component);
            let below = match self.tree.node(pair[1]) {
                Node::Control { control, .. } => Some(control),
                Node::Group { run, .. } => of.run(run).control,
                _ => None,
            };
            if of.node(control).kind == ControlKind::Par
                && let Some(instance) = self.holders[pair[0].index()]
                && let Some(arm) = below.and_then(|below| arm_of(of, below, control))
            {
                let par = self.names.pars.number((instance, control));
                arms.push(Arm { par, arm });
            }
        }
        arms.into()
    }

    pub fn site_of_statement(
        &mut self,
        id: NodeId,
        component: ComponentId,
        control: ControlId,
    ) -> usize {
        let label = self.labels.control(component, control).to_owned();
        let of = self.metadata.component(component);
        let path = self.path(id);
        let site = Accessor {
            path: match self.tree.node(id) {
                Node::Control { control: own, .. } if own == control => path,
                _ => format!("{path} > {label}"),
            },
            group: None,
            statement: Some(label),
            ..self.at(of.node(control).span)
        };
        self.names.sites.number(site)
    }

    fn site_of_group(&mut self, id: NodeId, node: Node) -> usize {
        let span = match node {
            Node::Group {
                component,
                group,
                run,
            } => {
                let of = self.metadata.component(component);
                let enable = of.run(run).control.and_then(|node| of.node(node).span);
                enable.or(of.group(group).span)
            }
            _ => None,
        };
        let above = self.tree.path(id).into_iter().rev();
        let mut above = above.map(|above| self.tree.node(above));
        let statement = above.find(|of| matches!(of, Node::Control { .. }));
        let label = |node| self.labels.label(node, self.instances).to_owned();
        let site = Accessor {
            path: self.path(id),
            group: Some(label(node)),
            statement: statement.map(label),
            ..self.at(span)
        };
        self.names.sites.number(site)
    }

    /// An accessor of which nothing but its place is known.
    fn at(&self, span: Option<Span>) -> Accessor {
        let file = span.map(|span| &self.metadata.files[span.file.index()]);
        let file = file.filter(|file| !file.root);
        Accessor {
            path: String::new(),
            group: None,
            statement: None,
            line: span.map(|span| span.line),
            file: file.map(|file| file.name.clone()),
        }
    }
}
