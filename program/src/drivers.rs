//! What starts the cells of a program: for each input by which a cell is told to work, what drives it.
//!
//! Owns what a group that never ends waits for, as far as the program as written tells. Knows no values.

use std::collections::HashMap;

use calyx_ir as ir;

/// What drives an input of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// The input, as Calyx writes it: `r.write_en`.
    pub input: String,
    /// What it is driven with, guard included: `mem.done`, `go.out ? 1'd1`.
    pub value: String,
    /// The cell and its port that this is, where nothing else plays a part.
    pub port: Option<(String, String)>,
    /// The cell whose `done` this is.
    done_of: Option<String>,
}

/// The drivers of a component: those of each group, and continuous ones.
type OfComponent = HashMap<Option<ir::Id>, HashMap<ir::Id, Vec<Driver>>>;

/// What starts the cells of a program.
#[derive(Debug, Clone, Default)]
pub struct Drivers(HashMap<ir::Id, OfComponent>);

impl Drivers {
    /// Those of a program as it is written.
    pub fn new(ctx: &ir::Context) -> Self {
        let components = ctx.components.iter();
        Self(
            components
                .map(|component| (component.name, of_component(component)))
                .collect(),
        )
    }

    /// What a group waits for whose `done` is that of the cell `cell`: what drives the input that starts the cell, and where that is the `done` of
    /// another cell, what starts that one, and so on. Ends where nothing or several things drive an input.
    pub fn chain(&self, component: &str, group: &str, cell: &str) -> Vec<&Driver> {
        let mut chain: Vec<&Driver> = Vec::new();
        let Some(drivers) = self.0.get(&ir::Id::from(component)) else {
            return chain;
        };
        let of = |group: Option<ir::Id>, cell: &str| drivers.get(&group)?.get(&ir::Id::from(cell));
        let mut cell = cell.to_owned();
        loop {
            let here = of(Some(group.into()), &cell).or_else(|| of(None, &cell));
            let Some([driver]) = here.map(Vec::as_slice) else {
                return chain;
            };
            if chain.contains(&driver) {
                return chain;
            }
            chain.push(driver);
            match &driver.done_of {
                Some(next) => cell.clone_from(next),
                None => return chain,
            }
        }
    }
}

fn of_component(component: &ir::Component) -> OfComponent {
    let mut drivers = OfComponent::new();
    let mut add = |group: Option<ir::Id>, assignments: &[ir::Assignment<ir::Nothing>]| {
        for assignment in assignments {
            let port = assignment.dst.borrow();
            if port.attributes.has(ir::NumAttr::Go) && !port.is_hole() {
                let cell = drivers.entry(group).or_default();
                let cell = cell.entry(port.get_parent_name()).or_default();
                cell.push(driver(assignment));
            }
        }
    };
    add(None, &component.continuous_assignments);
    for group in component.get_groups().iter() {
        let group = group.borrow();
        add(Some(group.name()), &group.assignments);
    }
    drivers
}

fn driver(assignment: &ir::Assignment<ir::Nothing>) -> Driver {
    let (input, source) = (assignment.dst.borrow(), assignment.src.borrow());
    let value = ir::Printer::port_to_str(&source);
    let guard = &assignment.guard;
    // `port ? 1'd1` is the port.
    let alone = match &**guard {
        ir::Guard::True => Some(assignment.src.clone()),
        ir::Guard::Port(port) if source.is_constant(1, 1) => Some(port.clone()),
        _ => None,
    };
    let of_cell = alone.filter(|port| {
        let port = port.borrow();
        !port.is_hole() && matches!(&port.parent, ir::PortParent::Cell(cell) if {
            let cell = cell.upgrade();
            let cell = cell.borrow();
            !matches!(cell.prototype, ir::CellType::Constant { .. } | ir::CellType::ThisComponent)
        })
    });
    let port = of_cell.as_ref().map(|port| {
        let port = port.borrow();
        (port.get_parent_name().to_string(), port.name.to_string())
    });
    let is_done = of_cell.is_some_and(|port| port.borrow().attributes.has(ir::NumAttr::Done));
    Driver {
        input: ir::Printer::port_to_str(&input),
        value: if guard.is_true() {
            value
        } else {
            format!("{} ? {value}", ir::Printer::guard_str(guard))
        },
        done_of: port
            .as_ref()
            .filter(|_| is_done)
            .map(|(cell, _)| cell.clone()),
        port,
    }
}
