//! Whether a trace fits the metadata, and whether its trees keep the rules of call trees.

use foldhash::HashMap;
use petal_metadata::{CellKind, ComponentId, Id, Metadata, RegisterId};
use thiserror::Error;

use crate::again::{Again, Item};
use crate::model::{Activity, CallTree, Charge, Cycle, Event, Instance, InstanceId, Node, NodeId};

/// What is wrong with a trace.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Violation {
    /// A handle leads out of the metadata's tables.
    #[error(
        "the trace refers to a {0} that the metadata does not have; profile the design again with `petal run`"
    )]
    Dangling(&'static str),
    /// A tree breaks a rule (paper, section 4), or an update one.
    #[error("the trace breaks a rule: {0}; please report this")]
    Rule(&'static str),
}

/// Checks the events of a trace one by one.
#[derive(Debug)]
pub struct Checker<'a> {
    metadata: &'a Metadata,
    instances: Vec<Instance>,
    /// The cycle of the latest update, and of that of each register.
    updated: Option<Cycle>,
    registers: HashMap<(InstanceId, RegisterId), Cycle>,
}

fn within(id: impl Id, len: usize, what: &'static str) -> Result<(), Violation> {
    if id.index() < len {
        Ok(())
    } else {
        Err(Violation::Dangling(what))
    }
}

fn rule(kept: bool, rule: &'static str) -> Result<(), Violation> {
    if kept {
        Ok(())
    } else {
        Err(Violation::Rule(rule))
    }
}

impl<'a> Checker<'a> {
    /// A checker for a trace of this design.
    pub fn new(metadata: &'a Metadata) -> Self {
        Self {
            metadata,
            instances: Vec::new(),
            updated: None,
            registers: HashMap::default(),
        }
    }

    /// Checks the next event.
    ///
    /// # Errors
    /// The first violation in it.
    pub fn event(&mut self, event: &Event) -> Result<(), Violation> {
        match event {
            Event::Instance(instance) => self.instance(*instance),
            Event::Tree(tree) => self.tree(tree),
            Event::Update(update) => {
                within(update.instance, self.instances.len(), "component cell")?;
                let component = self.instances[update.instance.index()].component;
                let registers = self.metadata.component(component).registers.len();
                within(update.register, registers, "control register")?;
                let key = (update.instance, update.register);
                let before = self.registers.insert(key, update.cycle);
                let latest = self.updated.replace(update.cycle);
                let in_order = latest.is_none_or(|latest| latest <= update.cycle)
                    && before.is_none_or(|before| before < update.cycle);
                rule(in_order, "control registers change in the order of time")?;
                self.ends_after(u64::MAX)
            }
            Event::End { cycles } => self.ends_after(*cycles),
            Event::Run(_) | Event::Gap(_) | Event::Warning(_) | Event::Figures(_) => Ok(()),
        }
    }

    /// Checks the next event, or what comes again.
    ///
    /// # Errors
    /// The first violation in it.
    #[inline]
    pub fn item(&mut self, item: &Item) -> Result<(), Violation> {
        match item {
            Item::Event(event) => self.event(event),
            Item::Again(again) => self.again(again),
        }
    }

    /// Checks what comes again: if it keeps the rules the first time and the last one, it does so each time.
    fn again(&mut self, again: &Again) -> Result<(), Violation> {
        let last = (1..again.times()).next_back();
        let last = last.into_iter().flat_map(|number| again.time(number));
        let mut events = again.first().chain(last);
        events.try_for_each(|event| self.event(&event))
    }

    /// Checks that a run of `cycles` cycles has all updates so far.
    fn ends_after(&self, cycles: u64) -> Result<(), Violation> {
        let inside = self.updated.is_none_or(|cycle| cycle.cycles() < cycles);
        rule(inside, "control registers change within the run")
    }

    fn instance(&mut self, instance: Instance) -> Result<(), Violation> {
        within(
            instance.component,
            self.metadata.components.len(),
            "component",
        )?;
        if let Some((parent, cell)) = instance.parent {
            within(parent, self.instances.len(), "component cell")?;
            let holder = self.instances[parent.index()].component;
            let holder = self.metadata.component(holder);
            within(cell, holder.cells.len(), "cell")?;
            rule(
                holder.cell(cell).kind == CellKind::Component(instance.component),
                "a component cell is a cell of its component",
            )?;
        }
        self.instances.push(instance);
        Ok(())
    }

    fn tree(&self, tree: &CallTree) -> Result<(), Violation> {
        for (id, node) in tree.nodes() {
            self.handles(node)?;
            let Some(parent) = tree.parent(id) else {
                let main = Node::Cell {
                    instance: InstanceId::from_index(0),
                    formal: None,
                    activity: match node {
                        Node::Cell { activity, .. } => activity,
                        _ => return Err(Violation::Rule("the root is the main cell")),
                    },
                };
                rule(node == main, "the root is the main cell")?;
                continue;
            };
            self.edge(tree, parent, tree.node(parent), node)?;
        }
        Ok(())
    }

    fn handles(&self, node: Node) -> Result<(), Violation> {
        let component = |id: ComponentId| {
            within(id, self.metadata.components.len(), "component")?;
            Ok(self.metadata.component(id))
        };
        match node {
            Node::Cell {
                instance,
                formal,
                activity,
            } => {
                within(instance, self.instances.len(), "component cell")?;
                if let Some((holder, cell)) = formal {
                    let holder = component(holder)?;
                    within(cell, holder.cells.len(), "cell")?;
                    let (formal, called) = (holder.cell(cell), self.instances[instance.index()]);
                    rule(
                        formal.is_reference()
                            && formal.kind == CellKind::Component(called.component),
                        "a `ref` cell stands for a cell of its type",
                    )?;
                }
                match activity {
                    Activity::Overhead(Charge {
                        statement: Some(statement),
                        ..
                    }) => {
                        let id = self.instances[instance.index()].component;
                        within(statement, component(id)?.control.len(), "control node")
                    }
                    _ => Ok(()),
                }
            }
            Node::Control {
                component: id,
                control,
            } => within(control, component(id)?.control.len(), "control node"),
            Node::Group {
                component: id,
                group,
                run,
            } => {
                within(group, component(id)?.groups.len(), "group")?;
                within(run, component(id)?.runs.len(), "group run")
            }
            Node::Continuous { component: id } => component(id).map(drop),
            Node::Primitive {
                component: id,
                cell,
                actual,
            } => {
                let primitive = |id: ComponentId, cell| {
                    let holder = component(id)?;
                    within(cell, holder.cells.len(), "cell")?;
                    let cell = holder.cell(cell);
                    let is_primitive = matches!(cell.kind, CellKind::Primitive(_));
                    rule(is_primitive, "a primitive is a cell of a primitive")?;
                    Ok(cell)
                };
                let cell = primitive(id, cell)?;
                let Some((holder, actual)) = actual else {
                    return Ok(());
                };
                within(holder, self.instances.len(), "component cell")?;
                let actual = primitive(self.instances[holder.index()].component, actual)?;
                rule(
                    cell.is_reference() && !actual.is_reference(),
                    "only a `ref` cell stands for another one",
                )
            }
        }
    }

    fn edge(
        &self,
        tree: &CallTree,
        parent_id: NodeId,
        parent: Node,
        node: Node,
    ) -> Result<(), Violation> {
        let component = self.component(node);
        // A cell's children are of its component, and so is what calls it.
        let around = match node {
            Node::Cell {
                formal: Some((component, _)),
                ..
            } => component,
            Node::Cell { instance, .. } => {
                let (holder, _) = self.instances[instance.index()]
                    .parent
                    .ok_or(Violation::Rule("main is only at the root"))?;
                self.instances[holder.index()].component
            }
            _ => component,
        };
        rule(
            self.component(parent) == around,
            "a node is of the component of its cell",
        )?;
        rule(
            !matches!(parent, Node::Primitive { .. }),
            "primitives are leaves",
        )?;
        let is_group = matches!(parent, Node::Group { .. } | Node::Continuous { .. });
        match node {
            Node::Cell { .. } => rule(is_group, "a cell's parent is a group"),
            Node::Primitive { .. } => rule(is_group, "a primitive's parent is a group"),
            Node::Control { control, .. } => {
                let component = self.metadata.component(component);
                let framed = component
                    .ancestry(control)
                    .skip(1)
                    .find(|&above| !component.node(above).kind.is_enable());
                match parent {
                    Node::Control { control: above, .. } => rule(
                        framed == Some(above),
                        "a control node's parent is the statement around it",
                    ),
                    Node::Cell { .. } => rule(
                        framed.is_none(),
                        "a control node hangs below those around it",
                    ),
                    _ => Err(Violation::Rule(
                        "a control node's parent is a cell or control node",
                    )),
                }
            }
            Node::Group { .. } => {
                let cell = matches!(parent, Node::Cell { .. } | Node::Control { .. });
                rule(
                    cell || is_group,
                    "a group's parent is a cell, control node or group",
                )
            }
            Node::Continuous { .. } => {
                let is_cell = matches!(tree.node(parent_id), Node::Cell { .. });
                rule(is_cell, "continuous assignments hang below their cell")
            }
        }
    }

    fn component(&self, node: Node) -> ComponentId {
        match node {
            Node::Cell { instance, .. } => self.instances[instance.index()].component,
            Node::Control { component, .. }
            | Node::Group { component, .. }
            | Node::Continuous { component }
            | Node::Primitive { component, .. } => component,
        }
    }
}
