//! Runs the stock pass `well-formed` so that it does not decide how long a compilation takes.
//!
//! For every enable, the pass sorts all continuous assignments and those of the group and of the
//! comb groups around it, and looks each one up in the source, to find ports with two unconditional
//! assignments: in a systolic array of 16 × 16 that takes 100 times as long as all else. Most
//! assignments can't be in such a pair, whatever is enabled. They are left out while the pass runs.
//!
//! Decides nothing itself: what the pass refuses, and how it says so, stays as it is.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use calyx_utils::CalyxResult;
use ir::{Assignment, Canonical, Nothing, StaticTiming};

/// Runs `pass`, which is the stock `well-formed`, on a program without the assignments that do not
/// matter to it.
///
/// # Errors
/// Those of the pass. The program is then of no use, as after an error of any pass.
pub(crate) fn check(
    ctx: &mut ir::Context,
    pass: impl FnOnce(&mut ir::Context) -> CalyxResult<()>,
) -> CalyxResult<()> {
    let components = ctx.components.iter_mut();
    let mut all: HashMap<ir::Id, All> = components
        .map(|component| (component.name, leave_out(component)))
        .collect();
    pass(ctx)?;
    for component in &mut ctx.components {
        if let Some(all) = all.remove(&component.name) {
            all.restore(component);
        }
    }
    Ok(())
}

/// All assignments of a component, those of groups in the order of the groups.
struct All {
    continuous: Vec<Assignment<Nothing>>,
    groups: Vec<Vec<Assignment<Nothing>>>,
    comb_groups: Vec<Vec<Assignment<Nothing>>>,
    static_groups: Vec<Vec<Assignment<StaticTiming>>>,
}

impl All {
    fn restore(self, component: &mut ir::Component) {
        component.continuous_assignments = self.continuous;
        for (group, all) in component.get_groups().iter().zip(self.groups) {
            group.borrow_mut().assignments = all;
        }
        for (group, all) in component.comb_groups.iter().zip(self.comb_groups) {
            group.borrow_mut().assignments = all;
        }
        let static_groups = component.get_static_groups().iter();
        for (group, all) in static_groups.zip(self.static_groups) {
            group.borrow_mut().assignments = all;
        }
    }
}

/// Leaves out of a component what does not matter, and returns all that was there.
fn leave_out(component: &mut ir::Component) -> All {
    let at_once = at_once(component);
    // Of what is not in a group, the pass looks at conditions only for holes.
    let continuous = replace(&mut component.continuous_assignments, |a| {
        matters_alone(a) || a.guard.is_true() && matters(a, &at_once)
    });
    let groups = component.get_groups().iter();
    let comb_groups = component.comb_groups.iter();
    let static_groups = component.get_static_groups().iter();
    All {
        continuous,
        groups: groups
            .map(|group| {
                replace(&mut group.borrow_mut().assignments, |a| {
                    matters(a, &at_once)
                })
            })
            .collect(),
        comb_groups: comb_groups
            .map(|group| {
                replace(&mut group.borrow_mut().assignments, |a| {
                    matters(a, &at_once)
                })
            })
            .collect(),
        static_groups: static_groups
            .map(|group| {
                replace(&mut group.borrow_mut().assignments, |a| {
                    matters(a, &at_once)
                })
            })
            .collect(),
    }
}

/// Keeps what `matters`, and returns the whole list.
fn replace<T: Clone>(
    list: &mut Vec<Assignment<T>>,
    matters: impl Fn(&Assignment<T>) -> bool,
) -> Vec<Assignment<T>> {
    let kept = list.iter().filter(|a| matters(a)).cloned().collect();
    std::mem::replace(list, kept)
}

/// Whether an assignment of a group matters to the pass.
fn matters<T>(assignment: &Assignment<T>, at_once: &HashMap<Canonical, usize>) -> bool {
    // The name of a hole can't be asked for: its group is being changed.
    matters_alone(assignment)
        || !assignment.guard.is_true()
        || at_once[&assignment.dst.borrow().canonical()] > 1
}

/// Whether an assignment uses a hole, or drives a primitive that only static groups may drive.
fn matters_alone<T>(assignment: &Assignment<T>) -> bool {
    let dst = assignment.dst.borrow();
    dst.is_hole()
        || assignment.src.borrow().is_hole()
        || assignment
            .guard
            .all_ports()
            .iter()
            .any(|port| port.borrow().is_hole())
        || matches!(
            dst.cell_parent().borrow().prototype,
            ir::CellType::Primitive {
                latency: Some(_),
                ..
            }
        )
}

/// For each port, how many unconditional assignments to it may at most be active at once: the
/// continuous ones, those of all comb groups and those of one group.
fn at_once(component: &ir::Component) -> HashMap<Canonical, usize> {
    let mut nested = HashSet::new();
    find_nested(&component.control.borrow(), &mut Vec::new(), &mut nested);
    let mut at_once = count(&component.continuous_assignments);
    for group in component.comb_groups.iter() {
        let group = group.borrow();
        // A condition inside of itself is a conflict.
        let times = if nested.contains(&group.name()) { 2 } else { 1 };
        for (port, number) in count(&group.assignments) {
            *at_once.entry(port).or_default() += times * number;
        }
    }
    let mut in_one_group: HashMap<Canonical, usize> = HashMap::new();
    let groups = component.get_groups().iter();
    let groups = groups.map(|group| count(&group.borrow().assignments));
    let static_groups = component.get_static_groups().iter();
    let static_groups = static_groups.map(|group| count(&group.borrow().assignments));
    for (port, number) in groups.chain(static_groups).flatten() {
        let most = in_one_group.entry(port).or_default();
        *most = number.max(*most);
    }
    for (port, number) in in_one_group {
        *at_once.entry(port).or_default() += number;
    }
    at_once
}

/// How many unconditional assignments there are to each port.
fn count<T>(assignments: &[Assignment<T>]) -> HashMap<Canonical, usize> {
    let mut counts = HashMap::new();
    for assignment in assignments.iter().filter(|a| a.guard.is_true()) {
        *counts
            .entry(assignment.dst.borrow().canonical())
            .or_default() += 1;
    }
    counts
}

/// Finds the comb groups that are a condition inside of a statement whose condition they are, too.
fn find_nested(control: &ir::Control, around: &mut Vec<ir::Id>, nested: &mut HashSet<ir::Id>) {
    let (condition, parts): (_, Vec<&ir::Control>) = match control {
        ir::Control::Seq(ir::Seq { stmts, .. }) | ir::Control::Par(ir::Par { stmts, .. }) => {
            (None, stmts.iter().collect())
        }
        ir::Control::If(branch) => (
            branch.cond.as_ref(),
            vec![&*branch.tbranch, &*branch.fbranch],
        ),
        ir::Control::While(ir::While { cond, body, .. }) => (cond.as_ref(), vec![&**body]),
        ir::Control::Repeat(ir::Repeat { body, .. }) => (None, vec![&**body]),
        _ => return,
    };
    let condition = condition.map(|group| group.borrow().name());
    if let Some(name) = condition {
        if around.contains(&name) {
            nested.insert(name);
        }
        around.push(name);
    }
    for part in parts {
        find_nested(part, around, nested);
    }
    if condition.is_some() {
        around.pop();
    }
}

#[cfg(test)]
mod tests;
