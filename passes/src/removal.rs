//! A program without one of its groups.
//!
//! Owns which groups can be left out, and what is left out with one: its assignments and every statement that enables it, as if the user had
//! deleted both. What only they used, synthesis finds out.

use std::collections::BTreeSet;

use calyx_ir as ir;

/// A group of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupName {
    /// Its component.
    pub component: String,
    /// Its own name.
    pub group: String,
}

/// The groups that can be left out: those that the control enables, and that nothing else names.
pub(crate) fn removable(ctx: &ir::Context) -> BTreeSet<GroupName> {
    let mut found = BTreeSet::new();
    for component in &ctx.components {
        let mut enabled = BTreeSet::new();
        enables(&component.control.borrow(), &mut enabled);
        let named = named_elsewhere(component);
        found.extend(enabled.difference(&named).map(|group| GroupName {
            component: component.name.to_string(),
            group: group.to_string(),
        }));
    }
    found
}

/// Leaves out a group, with what enables it.
pub(crate) fn remove(ctx: &mut ir::Context, of: &GroupName) {
    let components = ctx.components.iter_mut();
    for component in components.filter(|component| component.name == *of.component) {
        let group = ir::Id::from(of.group.as_str());
        remove_enables(&mut component.control.borrow_mut(), group);
        component.get_groups_mut().remove(group);
    }
}

fn enables(control: &ir::Control, found: &mut BTreeSet<ir::Id>) {
    match control {
        ir::Control::Enable(enable) => {
            found.insert(enable.group.borrow().name());
        }
        ir::Control::Seq(ir::Seq { stmts, .. }) | ir::Control::Par(ir::Par { stmts, .. }) => {
            for of in stmts {
                enables(of, found);
            }
        }
        ir::Control::If(of) => {
            enables(&of.tbranch, found);
            enables(&of.fbranch, found);
        }
        ir::Control::While(ir::While { body, .. })
        | ir::Control::Repeat(ir::Repeat { body, .. }) => enables(body, found),
        _ => {}
    }
}

/// The groups whose `go` or `done` something else than they reads or drives.
fn named_elsewhere(component: &ir::Component) -> BTreeSet<ir::Id> {
    let mut found = BTreeSet::new();
    let hole = |port: &ir::RRC<ir::Port>| {
        let port = port.borrow();
        port.is_hole().then(|| port.get_parent_name())
    };
    for group in component.get_groups().iter() {
        let group = group.borrow();
        for assignment in &group.assignments {
            found.extend(holes(assignment, hole).filter(|of| *of != group.name()));
        }
    }
    for assignment in &component.continuous_assignments {
        found.extend(holes(assignment, hole));
    }
    for group in component.get_static_groups().iter() {
        let group = group.borrow();
        let ports = |of: &ir::Assignment<ir::StaticTiming>| holes(of, hole).collect::<Vec<_>>();
        found.extend(group.assignments.iter().flat_map(ports));
    }
    found
}

fn holes<'a, T>(
    assignment: &'a ir::Assignment<T>,
    hole: impl Fn(&ir::RRC<ir::Port>) -> Option<ir::Id> + 'a,
) -> impl Iterator<Item = ir::Id> + 'a {
    let ends = [&assignment.dst, &assignment.src].map(std::rc::Rc::clone);
    let ports = assignment.guard.all_ports().into_iter().chain(ends);
    ports.filter_map(move |port| hole(&port))
}

fn remove_enables(control: &mut ir::Control, group: ir::Id) {
    let is_enable = |of: &ir::Control| match of {
        ir::Control::Enable(enable) => enable.group.borrow().name() == group,
        _ => false,
    };
    if is_enable(control) {
        *control = ir::Control::empty();
        return;
    }
    match control {
        ir::Control::Seq(ir::Seq { stmts, .. }) | ir::Control::Par(ir::Par { stmts, .. }) => {
            stmts.retain(|of| !is_enable(of));
            for of in stmts {
                remove_enables(of, group);
            }
        }
        ir::Control::If(of) => {
            remove_enables(&mut of.tbranch, group);
            remove_enables(&mut of.fbranch, group);
        }
        ir::Control::While(ir::While { body, .. })
        | ir::Control::Repeat(ir::Repeat { body, .. }) => remove_enables(body, group),
        _ => {}
    }
}
