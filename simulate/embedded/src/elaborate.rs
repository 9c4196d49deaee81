//! From a program to a graph: instances are unfolded, and every port gets its value.
//!
//! Assignments mean what Calyx's Verilog backend writes for them. `program.rs` reads the program;
//! `primitives` describes what a cell of a primitive does; `values.rs` gives the ports their values.

mod undriven;
mod values;

use std::collections::BTreeMap;

use petal_reconstruct::{Id as _, ids};

use crate::error::Error;
use crate::graph::{Graph, Input, MemId, NodeId};
use crate::library::Definition;
use crate::primitives::{self, Unit, WIDTHS};
use crate::program::{
    Cell, CellKind, Component, ComponentId, Port as OwnPort, Primitive, Program, Role, Target,
};

pub use undriven::undriven;

/// What can be seen in an instance of a component, by the names that the Verilog backend gives.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub name: String,
    /// Name and value of every port of the component and its cells.
    pub signals: Vec<(String, NodeId)>,
    /// The memories of its cells.
    pub memories: Vec<(String, MemId)>,
    pub children: Vec<Scope>,
}

/// A design that can be simulated.
#[derive(Debug)]
pub(crate) struct Design {
    pub graph: Graph,
    /// High when the design has run.
    pub done: NodeId,
    /// The instance of the entry point.
    pub main: Scope,
    /// The path of each memory's cell.
    pub memory_paths: Vec<String>,
    /// The external memories: the entry point may be a wrapper that the compiler made.
    pub memories: Vec<(String, MemId)>,
    /// The ports on each combinational loop.
    pub loops: Vec<Vec<String>>,
}

/// After how many cycles primitives are done, by their names.
pub type Latencies = BTreeMap<String, Latency>;

/// A primitive of another latency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// Which of [`TIMED`](crate::TIMED) it is otherwise.
    pub primitive: String,
    /// After how many cycles it is done.
    pub cycles: u32,
}

/// Unfolds a lowered program, with these latencies of primitives that are not to have the library's.
///
/// # Errors
/// [`Error::Unsupported`] for cells of primitives that are not the standard library's.
pub(crate) fn elaborate(program: &Program, latencies: &Latencies) -> Result<Design, Error> {
    let (mut elaborator, main) = Elaborator::new(program, latencies)?;
    let loops = elaborator.resolve();
    elaborator.finish_units();
    let memories = elaborator.memories();
    let done = elaborator.done(main);
    Ok(Design {
        done,
        main: elaborator.scope(main, "main".to_owned()),
        memories,
        memory_paths: elaborator.memory_paths,
        loops,
        graph: elaborator.graph,
    })
}

ids! {
    /// A port of the design. A port of a component's cell and the port of the instance behind it are one.
    PortId,
    /// A cell of a primitive in an instance.
    UnitId,
    /// An instance of a component.
    InstanceId,
}

/// Where the value of a port comes from.
#[derive(Clone, Copy)]
enum Driver<'a> {
    Nothing,
    Node(NodeId),
    /// What is assigned to it in an instance.
    Assigned(InstanceId, &'a Target),
    /// A combinational output of a unit.
    Unit(UnitId, &'static str),
}

struct Port<'a> {
    width: u32,
    driver: Driver<'a>,
    node: Option<NodeId>,
}

/// A cell of a primitive.
struct UnitCell<'a> {
    unit: Unit,
    primitive: &'a Primitive,
    /// The instance that it is in, and its name there.
    holder: InstanceId,
    cell: &'a str,
    /// What is known of its ports.
    ports: &'a [OwnPort],
    /// Its inputs by name.
    inputs: Vec<(&'a str, PortId)>,
}

struct Instance<'a> {
    component: &'a Component,
    path: String,
    /// The design's port behind each port of the component.
    ports: Vec<PortId>,
    children: Vec<(String, InstanceId)>,
    /// The memories of its cells, each with whether it is external.
    memories: Vec<(String, MemId, bool)>,
}

struct Elaborator<'a> {
    program: &'a Program,
    latencies: &'a Latencies,
    graph: Graph,
    ports: Vec<Port<'a>>,
    units: Vec<UnitCell<'a>>,
    instances: Vec<Instance<'a>>,
    /// The path of each memory's cell.
    memory_paths: Vec<String>,
}

impl<'a> Elaborator<'a> {
    /// Unfolds a program; also returns the instance of the entry point. No port has a value yet.
    fn new(program: &'a Program, latencies: &'a Latencies) -> Result<(Self, InstanceId), Error> {
        let mut elaborator = Self {
            program,
            latencies,
            graph: Graph::default(),
            ports: Vec::new(),
            units: Vec::new(),
            instances: Vec::new(),
            memory_paths: Vec::new(),
        };
        let main = elaborator.enter()?;
        Ok((elaborator, main))
    }

    fn port(&mut self, width: u32, driver: Driver<'a>) -> PortId {
        self.ports.push(Port {
            width,
            driver,
            node: None,
        });
        PortId::from_index(self.ports.len() - 1)
    }

    /// Unfolds the entry point.
    fn enter(&mut self) -> Result<InstanceId, Error> {
        let component = self.program.component(self.program.entry);
        let mut signature = Vec::new();
        for port in &component.ports[..component.signature] {
            let input = match port.role.filter(|_| port.is_input) {
                Some(Role::Go) => Some(Input::Go),
                Some(Role::Reset) => Some(Input::Reset),
                Some(Role::Clock) => Some(Input::Clock),
                Some(Role::Done) | None => None,
            };
            let driver = match input {
                Some(input) => Driver::Node(self.graph.input(input)),
                None => Driver::Nothing,
            };
            signature.push(self.port(port.width, driver));
        }
        self.unfold(self.program.entry, "main", signature)
    }

    /// Adds an instance whose signature are the ports `signature`, and all below it.
    fn unfold(
        &mut self,
        component: ComponentId,
        path: &str,
        signature: Vec<PortId>,
    ) -> Result<InstanceId, Error> {
        let component = self.program.component(component);
        let mut ports = signature;
        for port in &component.ports[component.signature..] {
            ports.push(self.port(port.width, Driver::Nothing));
        }
        let instance = InstanceId::from_index(self.instances.len());
        for target in &component.targets {
            self.ports[ports[target.port].index()].driver = Driver::Assigned(instance, target);
        }
        self.instances.push(Instance {
            component,
            path: path.to_owned(),
            ports,
            children: Vec::new(),
            memories: Vec::new(),
        });
        for cell in &component.cells {
            match &cell.kind {
                CellKind::Component {
                    component: inner,
                    signature,
                } => {
                    let inner_ports = &self.program.component(*inner).ports;
                    let signature = signature
                        .iter()
                        .zip(inner_ports)
                        .map(|(outer, port)| match outer {
                            Some(number) => self.instances[instance.index()].ports[*number],
                            None => self.port(port.width, Driver::Nothing),
                        })
                        .collect();
                    let child = self.unfold(*inner, &format!("{path}.{}", cell.name), signature)?;
                    self.instances[instance.index()]
                        .children
                        .push((cell.name.clone(), child));
                }
                CellKind::Primitive(primitive) => self.add_unit(instance, cell, primitive)?,
            }
        }
        Ok(instance)
    }

    fn add_unit(
        &mut self,
        instance: InstanceId,
        cell: &'a Cell,
        primitive: &'a Primitive,
    ) -> Result<(), Error> {
        let holder = &self.instances[instance.index()];
        let path = format!("{}.{}", holder.path, cell.name);
        let unsupported = |reason: String| Error::Unsupported {
            primitive: primitive.name.clone(),
            cell: path.clone(),
            reason,
        };
        let other = self.latencies.get(&primitive.name);
        match &primitive.definition {
            Definition::Empty => return Ok(()),
            Definition::Other(reason) if other.is_none() => {
                return Err(unsupported(reason.clone()));
            }
            Definition::Standard | Definition::Other(_) => {}
        }
        let numbers = cell.first_port..cell.first_port + cell.ports;
        let ports = &holder.component.ports[numbers.clone()];
        if let Some(port) = ports.iter().find(|port| !WIDTHS.contains(&port.width)) {
            return Err(unsupported(format!("a port of it has {} bits", port.width)));
        }
        let unit = primitives::Cell {
            primitive: other.map_or(&primitive.name, |other| &other.primitive),
            path: path.clone(),
            parameters: &primitive.parameters,
            cycles: other.map(|other| other.cycles),
        }
        .unit(&mut self.graph)
        .ok_or_else(|| unsupported("petal does not know it".to_owned()))?;
        let holder = &mut self.instances[instance.index()];
        if let Some(memory) = unit.memory {
            let memory = (cell.name.clone(), memory, primitive.is_external);
            holder.memories.push(memory);
            self.memory_paths.push(path.clone());
        }
        let number = UnitId::from_index(self.units.len());
        let mut inputs = Vec::new();
        for (port, &id) in ports.iter().zip(&holder.ports[numbers]) {
            if port.is_input {
                inputs.push((port.own_name.as_str(), id));
                continue;
            }
            let name = port.own_name.as_str();
            let output = unit.outputs.iter().find(|(output, _)| *output == name);
            let comb = unit.combs.iter().find(|comb| comb.output == name);
            if let Some(&(_, node)) = output {
                self.ports[id.index()].driver = Driver::Node(node);
            } else if let Some(comb) = comb {
                self.ports[id.index()].driver = Driver::Unit(number, comb.output);
            }
        }
        self.units.push(UnitCell {
            unit,
            primitive,
            holder: instance,
            cell: &cell.name,
            ports,
            inputs,
        });
        Ok(())
    }

    /// Adds what all units do at the clock's edge.
    fn finish_units(&mut self) {
        for unit in (0..self.units.len()).map(UnitId::from_index) {
            if let Some(edge) = self.units[unit.index()].unit.edge.take() {
                let inputs = self.inputs(unit, |_| true);
                edge(&mut self.graph, &inputs);
            }
        }
    }

    /// The external memories.
    fn memories(&self) -> Vec<(String, MemId)> {
        let memories = self.instances.iter().flat_map(|of| &of.memories);
        let external = memories.filter(|(_, _, is_external)| *is_external);
        external
            .map(|(name, memory, _)| (name.clone(), *memory))
            .collect()
    }

    /// The value of the entry point's `done`.
    fn done(&mut self, main: InstanceId) -> NodeId {
        let instance = &self.instances[main.index()];
        let signature = &instance.component.ports[..instance.component.signature];
        let at = signature
            .iter()
            .position(|port| port.role == Some(Role::Done));
        match at {
            Some(at) => self.node(instance.ports[at]),
            None => self.graph.constant(0u8, 1),
        }
    }

    fn scope(&mut self, instance: InstanceId, name: String) -> Scope {
        let Instance {
            component,
            ports,
            children,
            memories,
            ..
        } = &mut self.instances[instance.index()];
        let (component, ports) = (*component, ports.clone());
        let children = std::mem::take(children);
        let memories = std::mem::take(memories);
        let memories = memories.into_iter().map(|(name, memory, _)| (name, memory));
        Scope {
            name,
            memories: memories.collect(),
            signals: component
                .ports
                .iter()
                .zip(ports)
                .map(|(port, id)| (port.name.clone(), self.node(id)))
                .collect(),
            children: children
                .into_iter()
                .map(|(name, child)| self.scope(child, name))
                .collect(),
        }
    }
}

impl Instance<'_> {
    /// The path and name of the port with this number.
    fn name(&self, port: usize) -> String {
        format!("{}.{}", self.path, self.component.ports[port].name)
    }
}
