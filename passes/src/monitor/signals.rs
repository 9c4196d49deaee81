//! Leads signals of any instance up to the main component, where the monitor is.
//!
//! What a component reads, such as the output of a cell, is read there. What it drives, such as the input of a cell or a probe, no
//! program can read: a wire is driven as that is.

use std::collections::HashMap;
use std::rc::Rc;

use calyx_ir as ir;
use petal_metadata::{CircuitPart, ProbePrefix};

use super::WIRE;

pub(super) struct Signals<'a> {
    ctx: &'a mut ir::Context,
    lib: &'a ir::LibrarySignatures,
    prefix: &'a ProbePrefix,
    /// By component and name: where it is read there.
    read: HashMap<(ir::Id, String), ir::RRC<ir::Port>>,
    /// By component and the name of a signal there: the output that leads it out.
    outputs: HashMap<(ir::Id, String), ir::Id>,
}

impl<'a> Signals<'a> {
    pub fn new(
        ctx: &'a mut ir::Context,
        lib: &'a ir::LibrarySignatures,
        prefix: &'a ProbePrefix,
    ) -> Self {
        Self {
            ctx,
            lib,
            prefix,
            read: HashMap::new(),
            outputs: HashMap::new(),
        }
    }

    /// The port of main that has a signal; `None` for another part.
    pub fn port(&mut self, part: &CircuitPart) -> Option<ir::RRC<ir::Port>> {
        let CircuitPart::Signal { scope, name, .. } = part else {
            return None;
        };
        // The first two are the top of the simulation and main.
        let cells = scope.iter().skip(2).map(|of| ir::Id::from(of.as_str()));
        let cells: Vec<ir::Id> = cells.collect();
        let main = self.ctx.entrypoint;
        Some(self.lead(main, &cells, name))
    }

    /// The `done` of main.
    pub fn done(&mut self) -> ir::RRC<ir::Port> {
        let name = {
            let main = self.ctx.entrypoint();
            let done = main
                .signature
                .borrow()
                .get_unique_with_attr(ir::NumAttr::Done);
            let done = done.expect("main has a done");

            done.borrow().name.to_string()
        };
        self.here(self.ctx.entrypoint, &name)
    }

    /// The port of a component that has a signal of an instance in it.
    fn lead(&mut self, component: ir::Id, cells: &[ir::Id], name: &str) -> ir::RRC<ir::Port> {
        let Some((first, rest)) = cells.split_first() else {
            return self.here(component, name);
        };
        let cell = self.component(component).find_cell(*first);
        let cell = cell.expect("an instance is a cell");
        let inner = cell.borrow().type_name().expect("it is of a component");
        let port = self.lead(inner, rest, name);
        let signal = {
            let port = port.borrow();
            format!("{}.{}", port.get_parent_name(), port.name)
        };
        let output = match self.outputs.get(&(inner, signal.clone())) {
            Some(output) => *output,
            None => {
                let output = self.add_output(inner, &port);
                self.outputs.insert((inner, signal), output);
                output
            }
        };
        cell.borrow().get(output)
    }

    /// Where a component reads one of its signals.
    fn here(&mut self, component: ir::Id, name: &str) -> ir::RRC<ir::Port> {
        let key = (component, name.to_owned());
        if let Some(port) = self.read.get(&key) {
            return Rc::clone(port);
        }
        let port = find(self.component(component), name);
        let is_read = port.borrow().direction != ir::Direction::Input;
        let port = if is_read {
            port
        } else {
            self.copy(component, &port)
        };
        self.read.insert(key, Rc::clone(&port));
        port
    }

    /// A wire that is driven as a port is: by 0 where nothing drives it, if somebody cares, since whoever compiles the design again may
    /// take a wire for one that nobody cares for.
    fn copy(&mut self, component: ir::Id, port: &ir::RRC<ir::Port>) -> ir::RRC<ir::Port> {
        let (lib, name) = (self.lib, self.prefix.named("copy"));
        let component = self.component(component);
        let mut builder = ir::Builder::new(component, lib);
        let width = port.borrow().width;
        let wire = builder.add_primitive(name, WIRE, &[width, width]);
        let (input, output) = (wire.borrow().get("in"), wire.borrow().get("out"));
        let assignments = &builder.component.continuous_assignments;
        let copies = assignments.iter().filter(|of| Rc::ptr_eq(&of.dst, port));
        let mut copies: Vec<_> = copies
            .map(|of| ir::Assignment {
                dst: Rc::clone(&input),
                ..of.clone()
            })
            .collect();
        if is_data(port) {
            wire.borrow_mut().add_attribute(ir::BoolAttr::Data, 1);
        } else if width <= u64::BITS.into() {
            let zero = builder.add_constant(0, width);
            let driven = copies.iter().map(|of| (*of.guard).clone());
            let driven = driven.reduce(std::ops::BitOr::bitor);
            let idle = driven.map_or(ir::Guard::True, |driven| !driven);
            let zero = zero.borrow().get("out");
            if !idle.is_false() {
                copies.push(builder.build_assignment(input, zero, idle));
            }
        }
        component.continuous_assignments.extend(copies);
        output
    }

    /// Adds an output to a component, and to all cells of it.
    fn add_output(&mut self, component: ir::Id, source: &ir::RRC<ir::Port>) -> ir::Id {
        let width = source.borrow().width;
        let number = self.outputs.len();
        let name = ir::Id::new(self.prefix.named(&format!("out_{number}")));
        let add = |cell: &ir::RRC<ir::Cell>, direction| {
            let port = ir::rrc(ir::Port {
                name,
                width,
                direction,
                parent: ir::PortParent::Cell(ir::WRC::from(cell)),
                attributes: ir::Attributes::default(),
            });
            cell.borrow_mut().ports.push(Rc::clone(&port));
            port
        };
        let inside = self.component(component);
        let output = add(&inside.signature, ir::Direction::Input);
        let assignment = ir::Assignment::new(output, Rc::clone(source));
        inside.continuous_assignments.push(assignment);
        for user in &self.ctx.components {
            for cell in user.cells.iter() {
                let is_of = matches!(
                    cell.borrow().prototype,
                    ir::CellType::Component { name } if name == component
                );
                if is_of {
                    add(cell, ir::Direction::Output);
                }
            }
        }
        name
    }

    fn component(&mut self, name: ir::Id) -> &mut ir::Component {
        let mut components = self.ctx.components.iter_mut();
        let component = components.find(|of| of.name == name);
        component.expect("a cell's component is there")
    }
}

/// The port of a component, or of one of its cells as `cell_port`.
fn find(component: &ir::Component, name: &str) -> ir::RRC<ir::Port> {
    if let Some(port) = component.signature.borrow().find(name) {
        return port;
    }
    let mut cells = component.cells.iter();
    let port = cells.find_map(|cell| {
        let cell = cell.borrow();
        let port = name.strip_prefix(cell.name().as_ref())?.strip_prefix('_')?;
        cell.find(port)
    });
    port.expect("a signal of the design is a port of a cell")
}

/// Whether nobody cares for the value of a port that nothing drives.
fn is_data(port: &ir::RRC<ir::Port>) -> bool {
    let port = port.borrow();
    let cell = port.cell_parent();
    let cell = cell.borrow();
    port.has_attribute(ir::BoolAttr::Data) && cell.get_attribute(ir::BoolAttr::Data).is_some()
}
