//! Cells that only the new program has.

use calyx_ir as ir;

use crate::proof::Assignment;
use crate::rewrites::state::port_of;

/// A multiplier that takes operands in each cycle.
pub(super) const PIPELINED: &str = "pipelined_mult";

/// The ports of a register.
pub(super) const REGISTER: [&str; 6] = ["clk", "reset", "in", "write_en", "out", "done"];

/// A cell that only the new program has.
#[derive(Clone)]
pub(super) struct New {
    pub cell: ir::RRC<ir::Cell>,
    /// The declared one behind which it stands.
    pub behind: ir::RRC<ir::Cell>,
    /// Its primitive with what that is given.
    pub of: String,
}

impl New {
    /// A cell like this one, with these ports as wide: inputs and outputs.
    pub fn of(
        name: String,
        primitive: &str,
        (width, behind): (u64, ir::RRC<ir::Cell>),
        ports: [&[&str]; 2],
    ) -> Self {
        let cell = ir::Cell::new(
            name.into(),
            ir::CellType::Primitive {
                name: primitive.into(),
                param_binding: Box::default(),
                is_comb: false,
                latency: None,
            },
        );
        let cell = ir::rrc(cell);
        let directions = [ir::Direction::Input, ir::Direction::Output];
        for (names, direction) in ports.into_iter().zip(directions) {
            for name in names {
                let port = ir::Port {
                    name: (*name).into(),
                    width: if *name == "write_en" { 1 } else { width },
                    direction: direction.clone(),
                    parent: ir::PortParent::Cell(ir::WRC::from(&cell)),
                    attributes: ir::Attributes::default(),
                };
                cell.borrow_mut().ports.push(ir::rrc(port));
            }
        }
        let of = format!("{primitive}({width})");
        Self { cell, behind, of }
    }

    /// Logic like that of a declared cell.
    pub fn like(name: String, behind: &ir::RRC<ir::Cell>) -> Option<Self> {
        let ir::CellType::Primitive {
            name: primitive,
            param_binding,
            ..
        } = &behind.borrow().prototype
        else {
            return None;
        };
        let given: Vec<String> = param_binding.iter().map(|(_, of)| of.to_string()).collect();
        let cell = ir::rrc(ir::Cell::new(
            name.into(),
            behind.borrow().prototype.clone(),
        ));
        for port in &behind.borrow().ports {
            let mut port = port.borrow().clone();
            port.parent = ir::PortParent::Cell(ir::WRC::from(&cell));
            cell.borrow_mut().ports.push(ir::rrc(port));
        }
        Some(Self {
            cell,
            behind: behind.clone(),
            of: format!("{primitive}({})", given.join(", ")),
        })
    }

    pub fn register(name: String, width: u64, behind: ir::RRC<ir::Cell>) -> Self {
        Self::of(
            name,
            "std_reg",
            (width, behind),
            [&["in", "write_en"], &["out"]],
        )
    }

    pub fn name(&self) -> ir::Id {
        self.cell.borrow().name()
    }

    pub fn port(&self, name: &str) -> ir::RRC<ir::Port> {
        self.cell.borrow().get(name)
    }

    pub fn is_product(&self) -> bool {
        self.cell.borrow().is_primitive(Some(PIPELINED))
    }

    /// The assignments of a step that starts the multiplier of which this one takes the place, if it starts it in each of its cycles.
    pub fn fed(&self, assignments: Vec<Assignment>) -> Option<Vec<Assignment>> {
        let name = self.behind.borrow().name();
        let mut fed = Vec::new();
        for mut to in assignments {
            let Some((_, port)) = port_of(&to.dst).filter(|(cell, _)| *cell == name) else {
                fed.push(to);
                continue;
            };
            to.guard.is_true().then_some(())?;
            match port.as_ref() {
                "left" | "right" => {
                    to.dst = self.port(port.as_ref());
                    fed.push(to);
                }
                "go" => to.src.borrow().is_constant(1, 1).then_some(())?,
                _ => return None,
            }
        }
        let operands = fed
            .iter()
            .filter(|to| port_of(&to.dst).is_some_and(|(cell, _)| cell == self.name()));
        (operands.count() == 2).then_some(fed)
    }
}
