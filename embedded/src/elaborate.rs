//! From a lowered Calyx program to a graph: instances are unfolded, and every port gets its value.
//!
//! Assignments mean what Calyx's Verilog backend writes for them.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use calyx_frontend::{LibrarySignatures, PrimitiveInfo};
use calyx_ir::{self as ir, RRC};
use calyx_stdlib::{COMPILE_LIB, KNOWN_LIBS};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::error::Error;
use crate::graph::{Check, Graph, Input, MemId, NodeId, Op};
use crate::primitives::{Cell, Comb, Inputs, Unit};

/// What can be seen in an instance of a component, by the names that the Verilog backend gives.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub name: String,
    /// Name and value of every port of the component and its cells.
    pub signals: Vec<(String, NodeId)>,
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
    /// The external memories: the entry point may be a wrapper that the compiler made.
    pub memories: Vec<(String, MemId)>,
    /// The ports on each combinational loop.
    pub loops: Vec<Vec<String>>,
}

/// Unfolds a lowered program.
pub(crate) fn elaborate(ctx: &ir::Context) -> Result<Design, Error> {
    let mut elaborator = Elaborator {
        library: Library::of(&ctx.lib),
        templates: ctx
            .components
            .iter()
            .map(|component| (component.name, Template::of(component)))
            .collect(),
        graph: Graph::default(),
        ports: Vec::new(),
        units: Vec::new(),
        instances: Vec::new(),
    };
    let entry = ctx.entrypoint();
    let main = elaborator.enter(entry)?;
    let loops = elaborator.resolve();
    elaborator.finish_units();
    let memories = elaborator.memories();
    let done = elaborator.output(main, ir::NumAttr::Done.into());
    Ok(Design {
        done,
        main: elaborator.scope(main, "main".to_owned()),
        memories,
        loops,
        graph: elaborator.graph,
    })
}

/// Tells which primitives are those of the standard library.
struct Library<'a> {
    bodies: HashMap<ir::Id, &'a str>,
    externs: HashMap<ir::Id, &'a std::path::Path>,
    /// The known files among the extern ones.
    known: HashMap<&'a std::path::Path, bool>,
}

/// How wide ports may be.
const WIDTHS: RangeInclusive<u64> = 1..=65_536;

/// Primitives that the standard library has in a file that cannot be imported as it is.
const UNSYNTHESIZABLE: [(&str, &str); 6] = [
    ("std_unsyn_mult", "assign out = left * right;"),
    ("std_unsyn_div", "assign out = left / right;"),
    ("std_unsyn_mod", "assign out = left % right;"),
    ("std_unsyn_smult", "assign out = $signed(left * right);"),
    ("std_unsyn_sdiv", "assign out = $signed(left / right);"),
    ("std_unsyn_smod", "assign out = $signed(left % right);"),
];

impl<'a> Library<'a> {
    fn of(lib: &'a LibrarySignatures) -> Self {
        let mut library = Self {
            bodies: HashMap::new(),
            externs: HashMap::new(),
            known: HashMap::new(),
        };
        for info in lib.prim_infos() {
            match info {
                PrimitiveInfo::Extern {
                    path, primitives, ..
                } => {
                    for primitive in primitives.keys() {
                        library.externs.insert(*primitive, path);
                    }
                }
                PrimitiveInfo::Inline { primitive, .. } => {
                    let body = primitive.body.as_deref().unwrap_or_default();
                    library.bodies.insert(primitive.name, body);
                }
            }
        }
        library
    }

    /// Checks that `primitive` is what its name says.
    fn check(&mut self, primitive: ir::Id) -> Result<(), String> {
        if let Some(body) = self.bodies.get(&primitive) {
            let body = body.trim();
            let stock = COMPILE_LIB.1.contains(body)
                || UNSYNTHESIZABLE.contains(&(primitive.as_ref(), body));
            return if stock {
                Ok(())
            } else {
                Err("it is Verilog of the design's own".to_owned())
            };
        }
        let Some(&path) = self.externs.get(&primitive) else {
            return Err("nobody defines it".to_owned());
        };
        let known = self.known.entry(path).or_insert_with(|| {
            std::fs::read_to_string(path).is_ok_and(|text| {
                KNOWN_LIBS
                    .iter()
                    .any(|(_, [_, (_, verilog)])| *verilog == text)
            })
        });
        if *known {
            Ok(())
        } else {
            Err(format!("it is Verilog from {}", path.display()))
        }
    }

    /// Whether cells of `primitive` do nothing.
    fn is_idle(&self, primitive: ir::Id) -> bool {
        self.bodies
            .get(&primitive)
            .is_some_and(|body| body.trim().is_empty())
    }
}

/// A port of a component or of one of its cells, by number; or a constant.
#[derive(Clone, Copy)]
enum Source {
    Port(usize),
    Constant(u64, u32),
}

/// What is assigned to a port.
struct Target {
    port: usize,
    /// Whether it may be anything when no guard is high.
    data: bool,
    assignments: Vec<(ir::Guard<ir::Nothing>, Source)>,
}

/// A component, prepared for unfolding.
struct Template<'a> {
    component: &'a ir::Component,
    /// The number of each port, in the order of `widths`.
    numbers: HashMap<*const std::cell::RefCell<ir::Port>, usize>,
    widths: Vec<u32>,
    /// The name of each port in the Verilog.
    names: Vec<String>,
    targets: Vec<Target>,
}

fn width_of(port: &ir::Port) -> u32 {
    u32::try_from(port.width).unwrap_or(u32::MAX)
}

impl<'a> Template<'a> {
    fn of(component: &'a ir::Component) -> Self {
        let mut template = Self {
            component,
            numbers: HashMap::new(),
            widths: Vec::new(),
            names: Vec::new(),
            targets: Vec::new(),
        };
        template.add_ports(&component.signature, "");
        for cell in component.cells.iter() {
            let prefix = format!("{}_", cell.borrow().name());
            template.add_ports(cell, &prefix);
        }
        let mut by_port: HashMap<usize, usize> = HashMap::new();
        for assignment in &component.continuous_assignments {
            let Source::Port(port) = template.source(&assignment.dst) else {
                continue;
            };
            let at = *by_port.entry(port).or_insert_with(|| {
                template.targets.push(Target {
                    port,
                    data: is_data(&assignment.dst.borrow()),
                    assignments: Vec::new(),
                });
                template.targets.len() - 1
            });
            let source = template.source(&assignment.src);
            let guard = (*assignment.guard).clone();
            template.targets[at].assignments.push((guard, source));
        }
        template
    }

    fn add_ports(&mut self, cell: &RRC<ir::Cell>, prefix: &str) {
        for port in &cell.borrow().ports {
            self.numbers.insert(Rc::as_ptr(port), self.widths.len());
            self.names.push(format!("{prefix}{}", port.borrow().name));
            self.widths.push(width_of(&port.borrow()));
        }
    }

    fn number(&self, port: &RRC<ir::Port>) -> usize {
        self.numbers[&Rc::as_ptr(port)]
    }

    fn source(&self, port: &RRC<ir::Port>) -> Source {
        if let ir::PortParent::Cell(cell) = &port.borrow().parent
            && let ir::CellType::Constant { val, width } = cell.upgrade().borrow().prototype
        {
            return Source::Constant(val, u32::try_from(width).unwrap_or(u32::MAX));
        }
        Source::Port(self.number(port))
    }
}

/// As in the Verilog backend: what such a port gets when no guard is high is undefined.
fn is_data(port: &ir::Port) -> bool {
    let ir::PortParent::Cell(cell) = &port.parent else {
        return false;
    };
    port.attributes.has(ir::BoolAttr::Data)
        && cell.upgrade().borrow().attributes.has(ir::BoolAttr::Data)
}

/// Where the value of a port comes from.
#[derive(Clone, Copy)]
enum Driver {
    Nothing,
    Known(NodeId),
    /// Instance and target.
    Assigned(usize, usize),
    /// The combinational output of a unit.
    Unit(usize),
}

struct Port {
    width: u32,
    driver: Driver,
    node: Option<NodeId>,
}

/// A cell of a primitive.
struct UnitCell {
    unit: Unit,
    /// Its inputs by name.
    inputs: Vec<(String, usize)>,
}

struct Instance {
    template: ir::Id,
    path: String,
    /// The design's port behind each port of the template.
    ports: Vec<usize>,
    children: Vec<(String, usize)>,
    memories: Vec<(String, MemId)>,
}

struct Elaborator<'a> {
    library: Library<'a>,
    templates: HashMap<ir::Id, Template<'a>>,
    graph: Graph,
    ports: Vec<Port>,
    units: Vec<UnitCell>,
    instances: Vec<Instance>,
}

impl Elaborator<'_> {
    fn port(&mut self, width: u32, driver: Driver) -> usize {
        self.ports.push(Port {
            width,
            driver,
            node: None,
        });
        self.ports.len() - 1
    }

    /// Unfolds the entry point.
    fn enter(&mut self, entry: &ir::Component) -> Result<usize, Error> {
        let mut signature = Vec::new();
        for port in &entry.signature.borrow().ports {
            let port = port.borrow();
            let is_input = port.direction == ir::Direction::Output;
            let driver = if !is_input {
                Driver::Nothing
            } else if port.attributes.has(ir::NumAttr::Go) {
                Driver::Known(self.graph.input(Input::Go))
            } else if port.attributes.has(ir::BoolAttr::Reset) {
                Driver::Known(self.graph.input(Input::Reset))
            } else if port.attributes.has(ir::BoolAttr::Clk) {
                Driver::Known(self.graph.input(Input::Clock))
            } else {
                Driver::Nothing
            };
            signature.push(self.port(width_of(&port), driver));
        }
        self.unfold(entry.name, "main", signature)
    }

    /// Adds an instance whose own ports are `signature`, and all below it.
    fn unfold(&mut self, name: ir::Id, path: &str, signature: Vec<usize>) -> Result<usize, Error> {
        let component = self.templates[&name].component;
        let own = signature.len();
        let mut ports = signature;
        for at in own..self.templates[&name].widths.len() {
            let width = self.templates[&name].widths[at];
            ports.push(self.port(width, Driver::Nothing));
        }
        let index = self.instances.len();
        for (target, port) in self.templates[&name]
            .targets
            .iter()
            .enumerate()
            .map(|(at, target)| (at, ports[target.port]))
        {
            self.ports[port].driver = Driver::Assigned(index, target);
        }
        self.instances.push(Instance {
            template: name,
            path: path.to_owned(),
            ports,
            children: Vec::new(),
            memories: Vec::new(),
        });
        let mut at = own;
        for cell in component.cells.iter() {
            let cell = cell.borrow();
            let first = at;
            at += cell.ports.len();
            match &cell.prototype {
                ir::CellType::Component { name } => {
                    let outer = &self.instances[index].ports[first..at];
                    let by_name: HashMap<ir::Id, usize> = cell
                        .ports
                        .iter()
                        .zip(outer)
                        .map(|(port, &number)| (port.borrow().name, number))
                        .collect();
                    let signature = self.templates[name].component.signature.borrow();
                    let inner: Vec<Option<usize>> = signature
                        .ports
                        .iter()
                        .map(|port| by_name.get(&port.borrow().name).copied())
                        .collect();
                    let widths: Vec<u32> = signature
                        .ports
                        .iter()
                        .map(|p| width_of(&p.borrow()))
                        .collect();
                    drop(signature);
                    let inner = inner
                        .into_iter()
                        .zip(widths)
                        .map(|(port, width)| {
                            port.unwrap_or_else(|| self.port(width, Driver::Nothing))
                        })
                        .collect();
                    let child = self.unfold(*name, &format!("{path}.{}", cell.name()), inner)?;
                    self.instances[index]
                        .children
                        .push((cell.name().to_string(), child));
                }
                ir::CellType::Primitive { .. } => self.add_unit(index, &cell, first)?,
                ir::CellType::ThisComponent | ir::CellType::Constant { .. } => {}
            }
        }
        Ok(index)
    }

    fn add_unit(&mut self, instance: usize, cell: &ir::Cell, first: usize) -> Result<(), Error> {
        let ir::CellType::Primitive {
            name,
            param_binding,
            ..
        } = &cell.prototype
        else {
            return Ok(());
        };
        if self.library.is_idle(*name) {
            return Ok(());
        }
        let path = format!("{}.{}", self.instances[instance].path, cell.name());
        let unsupported = |reason: String| Error::Unsupported {
            primitive: name.to_string(),
            cell: path.clone(),
            reason,
        };
        self.library.check(*name).map_err(unsupported)?;
        let widths = cell.ports.iter().map(|port| port.borrow().width);
        if let Some(width) = widths.into_iter().find(|width| !WIDTHS.contains(width)) {
            return Err(unsupported(format!("a port of it has {width} bits")));
        }
        let described = Cell {
            primitive: name.as_ref(),
            path: path.clone(),
            parameters: param_binding
                .iter()
                .map(|(name, value)| (name.to_string(), *value))
                .collect(),
        };
        let unit = described
            .unit(&mut self.graph)
            .ok_or_else(|| unsupported("petal does not know it".to_owned()))?;
        if let Some(memory) = unit.memory {
            let external = cell.attributes.has(ir::BoolAttr::External);
            if external {
                let name = cell.name().to_string();
                self.instances[instance].memories.push((name, memory));
            }
        }
        let number = self.units.len();
        let mut inputs = Vec::new();
        for (at, port) in cell.ports.iter().enumerate() {
            let port = port.borrow();
            let id = self.instances[instance].ports[first + at];
            if port.direction == ir::Direction::Input {
                inputs.push((port.name.to_string(), id));
                continue;
            }
            let known = unit.outputs.iter().find(|(name, _)| port.name == *name);
            let comb = unit
                .comb
                .as_ref()
                .is_some_and(|comb| port.name == comb.output);
            if let Some(&(_, node)) = known {
                self.ports[id].driver = Driver::Known(node);
            } else if comb {
                self.ports[id].driver = Driver::Unit(number);
            }
        }
        self.units.push(UnitCell { unit, inputs });
        Ok(())
    }

    /// The ports that a port is computed from in the same cycle.
    fn dependencies(&self, port: usize) -> Vec<usize> {
        match self.ports[port].driver {
            Driver::Nothing | Driver::Known(_) => Vec::new(),
            Driver::Unit(unit) => {
                let cell = &self.units[unit];
                let Some(comb) = &cell.unit.comb else {
                    return Vec::new();
                };
                cell.inputs
                    .iter()
                    .filter(|(name, _)| comb.inputs.as_ref().is_none_or(|all| all.contains(name)))
                    .map(|&(_, port)| port)
                    .collect()
            }
            Driver::Assigned(instance, target) => {
                let instance = &self.instances[instance];
                let template = &self.templates[&instance.template];
                let mut all = Vec::new();
                for (guard, source) in &template.targets[target].assignments {
                    if let Source::Port(port) = source {
                        all.push(instance.ports[*port]);
                    }
                    for port in guard.all_ports() {
                        if let Source::Port(port) = template.source(&port) {
                            all.push(instance.ports[port]);
                        }
                    }
                }
                all
            }
        }
    }

    /// Computes the nodes of all ports; returns the ports on each loop.
    fn resolve(&mut self) -> Vec<Vec<String>> {
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(self.ports.len(), 0);
        for _ in 0..self.ports.len() {
            graph.add_node(());
        }
        for port in 0..self.ports.len() {
            for dependency in self.dependencies(port) {
                let (from, to) = (
                    petgraph::graph::NodeIndex::new(port),
                    petgraph::graph::NodeIndex::new(dependency),
                );
                graph.update_edge(from, to, ());
            }
        }
        let mut loops = Vec::new();
        // Dependencies first.
        for group in kosaraju_scc(&graph) {
            let ports: Vec<usize> = group.iter().map(|node| node.index()).collect();
            let looped = ports.len() > 1 || graph.contains_edge(group[0], group[0]);
            let wires: Vec<_> = if looped {
                ports
                    .iter()
                    .map(|&port| {
                        let (wire, node) = self.graph.wire(self.ports[port].width);
                        self.ports[port].node = Some(node);
                        wire
                    })
                    .collect()
            } else {
                Vec::new()
            };
            let values: Vec<NodeId> = ports.iter().map(|&port| self.value(port)).collect();
            if looped {
                for (wire, &value) in wires.iter().zip(&values) {
                    self.graph.wires[wire.index()].1 = value;
                }
                loops.push(ports.iter().map(|&port| self.describe(port)).collect());
            }
            for (&port, value) in ports.iter().zip(values) {
                self.ports[port].node = Some(value);
            }
        }
        loops
    }

    /// A port's name, as the Verilog has it, with the path of its instance.
    fn describe(&self, port: usize) -> String {
        let named = self.instances.iter().find_map(|instance| {
            let at = instance.ports.iter().position(|&known| known == port)?;
            let name = &self.templates[&instance.template].names[at];
            Some(format!("{}.{name}", instance.path))
        });
        named.unwrap_or_default()
    }

    fn node(&mut self, port: usize) -> NodeId {
        let width = self.ports[port].width;
        match self.ports[port].node {
            Some(node) => node,
            None => self.graph.constant(0u8, width),
        }
    }

    /// The value of a port whose dependencies have theirs.
    fn value(&mut self, port: usize) -> NodeId {
        let width = self.ports[port].width;
        match self.ports[port].driver {
            Driver::Nothing => self.graph.constant(0u8, width),
            Driver::Known(node) => node,
            Driver::Unit(unit) => {
                let Some(Comb { build, inputs, .. }) = self.units[unit].unit.comb.take() else {
                    return self.graph.constant(0u8, width);
                };
                let values = self.inputs(unit, inputs.as_deref());
                let node = build(&mut self.graph, &Inputs { values: &values });
                self.graph.resize(node, width)
            }
            Driver::Assigned(instance, target) => self.assigned(instance, target, width),
        }
    }

    fn inputs(&mut self, unit: usize, only: Option<&[String]>) -> HashMap<String, NodeId> {
        let ports: Vec<(String, usize)> = self.units[unit]
            .inputs
            .iter()
            .filter(|(name, _)| only.is_none_or(|only| only.contains(name)))
            .cloned()
            .collect();
        ports
            .into_iter()
            .map(|(name, port)| (name, self.node(port)))
            .collect()
    }

    fn read(&mut self, instance: usize, source: Source) -> NodeId {
        match source {
            Source::Port(port) => self.node(self.instances[instance].ports[port]),
            Source::Constant(value, width) => self.graph.constant(value, width),
        }
    }

    fn assigned(&mut self, instance: usize, target: usize, width: u32) -> NodeId {
        let template = self.instances[instance].template;
        let count = self.templates[&template].targets[target].assignments.len();
        let data = self.templates[&template].targets[target].data;
        let mut pairs = Vec::with_capacity(count);
        for at in 0..count {
            // Cheap: guards are trees of shared ports.
            let (guard, source) = self.templates[&template].targets[target].assignments[at].clone();
            let guard = self.guard(instance, &guard);
            let source = self.read(instance, source);
            pairs.push((guard, self.graph.resize(source, width)));
        }
        if let [(_, source)] = pairs[..]
            && data
        {
            return source;
        }
        self.check_conflicts(instance, target, &pairs);
        // Undefined values are 0, so data ports get no more than others.
        let nothing = self.graph.constant(0u8, width);
        pairs
            .into_iter()
            .rev()
            .fold(nothing, |otherwise, (guard, source)| {
                self.graph.mux(guard, source, otherwise)
            })
    }

    /// No two guards of a port may be high together.
    fn check_conflicts(&mut self, instance: usize, target: usize, pairs: &[(NodeId, NodeId)]) {
        let graph = &mut self.graph;
        let no = graph.constant(0u8, 1);
        let (mut seen, mut conflict) = (no, no);
        for &(guard, _) in pairs {
            let both = graph.and(seen, guard);
            conflict = graph.or(conflict, both);
            seen = graph.or(seen, guard);
        }
        if conflict == no {
            return;
        }
        let port = {
            let instance = &self.instances[instance];
            let template = &self.templates[&instance.template];
            let name = &template.names[template.targets[target].port];
            format!("{}.{name}", instance.path)
        };
        self.graph.checks.push(Check {
            fails: conflict,
            message: format!("multiple assignments to port `{port}`"),
            values: Vec::new(),
            at_edge: false,
        });
    }

    fn guard(&mut self, instance: usize, guard: &ir::Guard<ir::Nothing>) -> NodeId {
        match guard {
            ir::Guard::True | ir::Guard::Info(_) => self.graph.constant(1u8, 1),
            ir::Guard::Or(left, right) => {
                let (left, right) = (self.guard(instance, left), self.guard(instance, right));
                self.graph.or(left, right)
            }
            ir::Guard::And(left, right) => {
                let (left, right) = (self.guard(instance, left), self.guard(instance, right));
                self.graph.and(left, right)
            }
            ir::Guard::Not(inner) => {
                let inner = self.guard(instance, inner);
                self.graph.not(inner)
            }
            ir::Guard::Port(port) => {
                let node = self.read_port(instance, port);
                self.graph.resize(node, 1)
            }
            ir::Guard::CompOp(op, left, right) => {
                let (left, right) = (
                    self.read_port(instance, left),
                    self.read_port(instance, right),
                );
                let graph = &mut self.graph;
                let width = graph.width(left).max(graph.width(right));
                let (left, right) = (graph.resize(left, width), graph.resize(right, width));
                match op {
                    ir::PortComp::Eq => graph.eq(left, right),
                    ir::PortComp::Neq => graph.ne(left, right),
                    ir::PortComp::Lt => graph.op(Op::Lt, 1, &[left, right]),
                    ir::PortComp::Gt => graph.op(Op::Lt, 1, &[right, left]),
                    ir::PortComp::Leq => graph.le(left, right),
                    ir::PortComp::Geq => graph.le(right, left),
                }
            }
        }
    }

    fn read_port(&mut self, instance: usize, port: &RRC<ir::Port>) -> NodeId {
        let source = self.templates[&self.instances[instance].template].source(port);
        self.read(instance, source)
    }

    /// What all units do at the edge.
    fn finish_units(&mut self) {
        for unit in 0..self.units.len() {
            if let Some(edge) = self.units[unit].unit.edge.take() {
                let values = self.inputs(unit, None);
                edge(&mut self.graph, &Inputs { values: &values });
            }
        }
    }

    fn memories(&mut self) -> Vec<(String, MemId)> {
        self.instances
            .iter_mut()
            .flat_map(|instance| std::mem::take(&mut instance.memories))
            .collect()
    }

    /// The value of the entry point's output with this attribute.
    fn output(&mut self, instance: usize, attribute: ir::Attribute) -> NodeId {
        let component = self.templates[&self.instances[instance].template].component;
        let signature = component.signature.borrow();
        let at = signature
            .ports
            .iter()
            .position(|port| port.borrow().attributes.has(attribute));
        match at {
            Some(at) => self.node(self.instances[instance].ports[at]),
            None => self.graph.constant(0u8, 1),
        }
    }

    fn scope(&mut self, instance: usize, name: String) -> Scope {
        let names = self.templates[&self.instances[instance].template]
            .names
            .clone();
        let children = std::mem::take(&mut self.instances[instance].children);
        let ports = self.instances[instance].ports.clone();
        Scope {
            name,
            signals: names
                .into_iter()
                .zip(ports)
                .map(|(name, port)| (name, self.node(port)))
                .collect(),
            children: children
                .into_iter()
                .map(|(name, child)| self.scope(child, name))
                .collect(),
        }
    }
}
