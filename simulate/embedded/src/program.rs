//! A lowered Calyx program, read once: the components with their ports, cells and guarded assignments.
//!
//! With `library.rs` the only file that knows `calyx_ir` and its neighbours: what the simulator needs of a program is
//! here in types of its own. Does not unfold instances and computes no values.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub(crate) use calyx_ir::Context;
use calyx_ir::{self as ir, RRC};
use petal_reconstruct::{Id as _, ids};

use crate::library::{Definition, Library};

ids! {
    /// A component of the program.
    pub(crate) ComponentId,
}

/// A lowered program.
#[derive(Debug)]
pub(crate) struct Program {
    components: Vec<Component>,
    /// The entry point.
    pub entry: ComponentId,
}

/// A component. Its ports are numbered: those of its signature first, then those of each cell.
#[derive(Debug)]
pub(crate) struct Component {
    pub ports: Vec<Port>,
    /// How many of them are the signature's.
    pub signature: usize,
    pub cells: Vec<Cell>,
    /// What is assigned to ports, in the order of the first assignment of each.
    pub targets: Vec<Target>,
}

/// A port of a component or of one of its cells.
#[derive(Debug)]
pub(crate) struct Port {
    /// Its name in the Verilog.
    pub name: String,
    /// Its name in its cell or signature.
    pub own_name: String,
    /// Bits.
    pub width: u32,
    /// Whether values flow into the cell, or the component, by this port.
    pub is_input: bool,
    /// What it is for, as its attributes tell.
    pub role: Option<Role>,
    /// Whether its library says that it may have any value when nothing drives it.
    pub is_data: bool,
}

/// What a port is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Go,
    Done,
    Reset,
    Clock,
}

/// A cell that holds something.
#[derive(Debug)]
pub(crate) struct Cell {
    pub name: String,
    /// The number of its first port.
    pub first_port: usize,
    /// How many ports it has.
    pub ports: usize,
    pub kind: CellKind,
}

/// What a cell is an instance of.
#[derive(Debug)]
pub(crate) enum CellKind {
    Component {
        component: ComponentId,
        /// For each port of that component's signature, the number of the port here.
        signature: Vec<Option<usize>>,
    },
    Primitive(Primitive),
}

/// A primitive with its parameters.
#[derive(Debug)]
pub(crate) struct Primitive {
    pub name: String,
    pub parameters: Vec<(String, u64)>,
    pub definition: Definition,
    /// Whether its contents are read and written from outside.
    pub is_external: bool,
    /// Whether a pass made the cell.
    pub is_generated: bool,
}

/// All that is assigned to a port.
#[derive(Debug)]
pub(crate) struct Target {
    pub port: usize,
    /// Whether the port may have any value when no guard is high.
    pub is_data: bool,
    pub assignments: Vec<(Guard, Operand)>,
}

/// What an assignment reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand {
    /// A port of the component, by number.
    Port(usize),
    /// A value and its width.
    Constant(u64, u32),
}

/// When an assignment is made.
#[derive(Debug)]
pub(crate) enum Guard {
    True,
    Or(Box<Guard>, Box<Guard>),
    And(Box<Guard>, Box<Guard>),
    Not(Box<Guard>),
    Port(Operand),
    Compare(Comparison, Operand, Operand),
}

/// A comparison of unsigned numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Comparison {
    Eq,
    Neq,
    Lt,
    Gt,
    Leq,
    Geq,
}

impl Guard {
    /// Hands all that it reads to `take`.
    pub fn operands(&self, take: &mut impl FnMut(Operand)) {
        match self {
            Self::True => {}
            Self::Or(left, right) | Self::And(left, right) => {
                left.operands(take);
                right.operands(take);
            }
            Self::Not(inner) => inner.operands(take),
            Self::Port(operand) => take(*operand),
            Self::Compare(_, left, right) => {
                take(*left);
                take(*right);
            }
        }
    }
}

impl Program {
    /// Reads a program that has gone through all passes of the compiler.
    pub fn of(ctx: &Context) -> Self {
        let by_name: HashMap<ir::Id, ComponentId> = ctx
            .components
            .iter()
            .enumerate()
            .map(|(at, component)| (component.name, ComponentId::from_index(at)))
            .collect();
        let mut reader = Reader {
            ctx,
            by_name,
            library: Library::of(&ctx.lib),
        };
        let components = ctx.components.iter().map(|c| reader.component(c)).collect();
        Self {
            components,
            entry: reader.by_name[&ctx.entrypoint().name],
        }
    }

    pub fn component(&self, id: ComponentId) -> &Component {
        &self.components[id.index()]
    }
}

/// Reads the components of a program.
struct Reader<'a> {
    ctx: &'a Context,
    by_name: HashMap<ir::Id, ComponentId>,
    library: Library<'a>,
}

impl Reader<'_> {
    fn component(&mut self, component: &ir::Component) -> Component {
        let mut ports = Ports::default();
        let signature = ports.add(&component.signature, "");
        for port in &mut ports.ports {
            // In a component its inputs are outputs of the signature.
            port.is_input = !port.is_input;
        }
        let mut cells = Vec::new();
        for cell in component.cells.iter() {
            let first_port = ports.ports.len();
            let count = ports.add(cell, &format!("{}_", cell.borrow().name()));
            let cell = cell.borrow();
            if let Some(kind) = self.kind(&cell, first_port) {
                cells.push(Cell {
                    name: cell.name().to_string(),
                    first_port,
                    ports: count,
                    kind,
                });
            }
        }
        Component {
            targets: targets(component, &ports),
            ports: ports.ports,
            signature,
            cells,
        }
    }

    /// What a cell is an instance of; `None` for constants and the component itself.
    fn kind(&mut self, cell: &ir::Cell, first_port: usize) -> Option<CellKind> {
        match &cell.prototype {
            ir::CellType::Component { name } => {
                let by_name: HashMap<ir::Id, usize> = cell
                    .ports
                    .iter()
                    .zip(first_port..)
                    .map(|(port, number)| (port.borrow().name, number))
                    .collect();
                let component = self.by_name[name];
                let inner = self.ctx.components[component.index()].signature.borrow();
                let signature = inner
                    .ports
                    .iter()
                    .map(|port| by_name.get(&port.borrow().name).copied())
                    .collect();
                Some(CellKind::Component {
                    component,
                    signature,
                })
            }
            ir::CellType::Primitive {
                name,
                param_binding,
                ..
            } => Some(CellKind::Primitive(Primitive {
                name: name.to_string(),
                parameters: param_binding
                    .iter()
                    .map(|(name, value)| (name.to_string(), *value))
                    .collect(),
                definition: self.library.definition(*name),
                is_external: cell.attributes.has(ir::BoolAttr::External),
                is_generated: cell.attributes.has(ir::BoolAttr::Generated),
            })),
            ir::CellType::ThisComponent | ir::CellType::Constant { .. } => None,
        }
    }
}

/// The ports of a component while it is read.
#[derive(Default)]
struct Ports {
    ports: Vec<Port>,
    numbers: HashMap<*const RefCell<ir::Port>, usize>,
}

impl Ports {
    /// Adds the ports of a cell; returns how many.
    fn add(&mut self, cell: &RRC<ir::Cell>, prefix: &str) -> usize {
        let cell = cell.borrow();
        for port in &cell.ports {
            self.numbers.insert(Rc::as_ptr(port), self.ports.len());
            let port = port.borrow();
            let role = if port.attributes.has(ir::NumAttr::Go) {
                Some(Role::Go)
            } else if port.attributes.has(ir::NumAttr::Done) {
                Some(Role::Done)
            } else if port.attributes.has(ir::BoolAttr::Reset) {
                Some(Role::Reset)
            } else if port.attributes.has(ir::BoolAttr::Clk) {
                Some(Role::Clock)
            } else {
                None
            };
            self.ports.push(Port {
                name: format!("{prefix}{}", port.name),
                own_name: port.name.to_string(),
                width: width(port.width),
                is_input: port.direction == ir::Direction::Input,
                role,
                is_data: port.attributes.has(ir::BoolAttr::Data),
            });
        }
        cell.ports.len()
    }

    fn operand(&self, port: &RRC<ir::Port>) -> Operand {
        if let ir::PortParent::Cell(cell) = &port.borrow().parent
            && let ir::CellType::Constant { val, width: bits } = cell.upgrade().borrow().prototype
        {
            return Operand::Constant(val, width(bits));
        }
        Operand::Port(self.numbers[&Rc::as_ptr(port)])
    }

    fn guard(&self, guard: &ir::Guard<ir::Nothing>) -> Guard {
        let inner = |guard: &ir::Guard<ir::Nothing>| Box::new(self.guard(guard));
        match guard {
            ir::Guard::True | ir::Guard::Info(_) => Guard::True,
            ir::Guard::Or(left, right) => Guard::Or(inner(left), inner(right)),
            ir::Guard::And(left, right) => Guard::And(inner(left), inner(right)),
            ir::Guard::Not(guard) => Guard::Not(inner(guard)),
            ir::Guard::Port(port) => Guard::Port(self.operand(port)),
            ir::Guard::CompOp(op, left, right) => {
                let comparison = match op {
                    ir::PortComp::Eq => Comparison::Eq,
                    ir::PortComp::Neq => Comparison::Neq,
                    ir::PortComp::Lt => Comparison::Lt,
                    ir::PortComp::Gt => Comparison::Gt,
                    ir::PortComp::Leq => Comparison::Leq,
                    ir::PortComp::Geq => Comparison::Geq,
                };
                Guard::Compare(comparison, self.operand(left), self.operand(right))
            }
        }
    }
}

fn width(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}

/// The continuous assignments of a component, by port.
fn targets(component: &ir::Component, ports: &Ports) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    let mut by_port: HashMap<usize, usize> = HashMap::new();
    for assignment in &component.continuous_assignments {
        let Operand::Port(port) = ports.operand(&assignment.dst) else {
            continue;
        };
        let at = *by_port.entry(port).or_insert_with(|| {
            targets.push(Target {
                port,
                is_data: is_data(&assignment.dst.borrow()),
                assignments: Vec::new(),
            });
            targets.len() - 1
        });
        let guard = ports.guard(&assignment.guard);
        let source = ports.operand(&assignment.src);
        targets[at].assignments.push((guard, source));
    }
    targets
}

/// As in the Verilog backend: such a port is undefined when no guard is high.
fn is_data(port: &ir::Port) -> bool {
    let ir::PortParent::Cell(cell) = &port.parent else {
        return false;
    };
    port.attributes.has(ir::BoolAttr::Data)
        && cell.upgrade().borrow().attributes.has(ir::BoolAttr::Data)
}
