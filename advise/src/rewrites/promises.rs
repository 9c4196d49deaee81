//! What a program says of how many cycles its parts take, and how often they run.
//!
//! The compiler believes it if its passes look at it, which depends on lengths and thresholds: where it is not so, any change of the
//! program may make another result of that. Owns when it is surely so.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_program::dependences::{cell_of, constant, is_promised, is_promised_for, ports_of};
use petal_program::exclusion::Comparison;
use petal_program::latency::latency;
use petal_program::tree::View;
use petal_program::{Course, begins_at_rest};

use super::shifts::{is_port, leaves_product};

/// Whether something is said of the program that may not be so.
pub(super) fn may_be_untrue(ctx: &ir::Context, handed_over: &BTreeSet<(ir::Id, ir::Id)>) -> bool {
    ctx.components.iter().any(|component| {
        let mut groups = component.get_groups().iter();
        let control = component.control.borrow();
        let mut untrue = component.latency.is_none() && is_promised(component)
            || groups.any(|group| may_take_another_time(component, handed_over, &group.borrow()));
        View::of(&control).walk(&mut |view| {
            let is_group = view.group().is_some();
            let bound = view.attributes().get(ir::NumAttr::Bound);
            untrue |= !is_group && is_promised_for(view);
            untrue |= bound.is_some() && times(component, View::of(&control), view) != bound;
        });
        untrue
    })
}

/// Whether a group is said to take so many cycles, and may not, or do something else if it does. Those that its primitives declare may be
/// more than it takes: then a multiplier may start once more, and lose its product.
fn may_take_another_time(
    component: &ir::Component,
    handed_over: &BTreeSet<(ir::Id, ir::Id)>,
    group: &ir::Group,
) -> bool {
    let Some(promised) = group.attributes.get(ir::NumAttr::Promotable) else {
        return false;
    };
    let is_certain = Course::of(group).is_some_and(|course| course.cycles() == promised);
    let is_so = is_certain || latency(group) == Some(promised);
    let is_kept = |course: &Course| {
        let mut again = course.started_again().iter();
        begins_at_rest(component, group, course)
            && !again.any(|cell| leaves_product(component, handed_over, group.name(), *cell))
    };
    !is_so || !Course::lasting(group, promised).is_some_and(|course| is_kept(&course))
}

/// How often a `while` surely runs its body whenever it is entered: a register that one group sets before it and one group of its body
/// counts, both of them enabled once, is compared with a constant.
pub(super) fn times(component: &ir::Component, root: View<'_>, view: View<'_>) -> Option<u64> {
    let View::Dynamic(ir::Control::While(node)) = view else {
        return None;
    };
    let with = view.comb_group();
    let counter = Comparison::of(component, &node.port, with.as_ref())?;
    runs(component, root, view, &counter)
}

/// A loop that runs more often is not followed.
const MOST: u64 = 1 << 20;

/// How often a loop runs whose condition is this.
fn runs(
    component: &ir::Component,
    root: View<'_>,
    view: View<'_>,
    condition: &Comparison,
) -> Option<u64> {
    let register = component.find_cell(condition.register())?;
    let register = register.borrow();
    let is_plain = register.is_primitive(Some("std_reg"))
        && !register.is_reference()
        && !register.attributes.has(ir::BoolAttr::External);
    let continuous = component.continuous_assignments.iter();
    let mut by_wires = continuous.filter(|to| drives(to, register.name()));
    let mut by_invokes = false;
    root.walk(&mut |view| {
        let (_, driven) = ports_of(view);
        let is_driven = |port: &ir::RRC<ir::Port>| {
            cell_of(port).is_some_and(|cell| cell.borrow().name() == register.name())
        };
        let mut handed = view.handed_over().into_iter();
        by_invokes |= driven.iter().any(is_driven)
            || handed.any(|(one, other)| [one, other].contains(&register.name()));
    });
    let is_driven = by_invokes || by_wires.next().is_some();
    if !is_plain || is_driven {
        return None;
    }
    let name = register.name();
    let writes = component.get_groups().iter().filter_map(|group| {
        let group = group.borrow();
        let given = given(&group.assignments, name).filter(|_| latency(&group) == Some(1));
        let mut all = group.assignments.iter();
        all.any(|to| drives(to, name))
            .then(|| (group.name(), given))
    });
    let statics = component.get_static_groups().iter().filter_map(|group| {
        let group = group.borrow();
        let given = given(&group.assignments, name).filter(|_| group.latency == 1);
        let mut all = group.assignments.iter();
        all.any(|to| drives(to, name))
            .then(|| (group.name(), given))
    });
    let ([
        (sets, Some(Given::Constant(first))),
        (counts, Some(Given::Next(step))),
    ]
    | [
        (counts, Some(Given::Next(step))),
        (sets, Some(Given::Constant(first))),
    ]) = *writes.chain(statics).collect::<Vec<_>>()
    else {
        return None;
    };
    let width = register.get_parameter("WIDTH")?;
    let body = *view.children().first()?;
    let is_in_order = enables(root, counts) == 1
        && enables(root, sets) == 1
        && surely_runs(body, counts)
        && comes_before(root, view, sets);
    if !is_in_order || width >= 64 {
        return None;
    }
    let (mut value, mut times) = (first, 0);
    while condition.holds_for(value) && times < MOST {
        value = (value + step) % (1 << width);
        times += 1;
    }
    (times < MOST).then_some(times)
}

fn drives<T>(assignment: &ir::Assignment<T>, cell: ir::Id) -> bool {
    cell_of(&assignment.dst).is_some_and(|of| of.borrow().name() == cell)
}

/// What a group gives a register.
enum Given {
    Constant(u64),
    /// So much more than it has.
    Next(u64),
}

/// What assignments give a register in each cycle.
fn given<T>(assignments: &[ir::Assignment<T>], register: ir::Id) -> Option<Given> {
    let at = |cell: ir::Id, name: &'static str| {
        let mut all = assignments.iter().filter(|to| is_port(&to.dst, cell, name));
        let only = all.next().filter(|to| to.guard.is_true())?;
        all.next().is_none().then_some(only)
    };
    let enable = at(register, "write_en")?;
    enable.src.borrow().is_constant(1, 1).then_some(())?;
    let value = &at(register, "in")?.src;
    if let Some(constant) = constant(value) {
        return Some(Given::Constant(constant));
    }
    let adder = cell_of(value)?;
    let adder = adder.borrow();
    adder.is_primitive(Some("std_add")).then_some(())?;
    let [left, right] = [at(adder.name(), "left")?, at(adder.name(), "right")?];
    let is_own = |to: &ir::Assignment<T>| is_port(&to.src, register, "out");
    let step = match (is_own(left), is_own(right)) {
        (true, false) => constant(&right.src),
        (false, true) => constant(&left.src),
        _ => None,
    };
    step.map(Given::Next)
}

/// How often a statement, with all below it, enables a group.
fn enables(view: View<'_>, group: ir::Id) -> usize {
    let mut count = 0;
    view.walk(&mut |view| count += usize::from(is_enable(view, group)));
    count
}

fn is_enable(view: View<'_>, group: ir::Id) -> bool {
    view.group().is_some_and(|of| of.name() == group)
}

/// Whether a group runs once whenever this statement does.
fn surely_runs(view: View<'_>, group: ir::Id) -> bool {
    view.surely_runs(&|view| is_enable(view, group))
}

/// Whether a group runs before a loop whenever that does, as a step of a `seq` that has both.
fn comes_before(root: View<'_>, of: View<'_>, group: ir::Id) -> bool {
    let mut found = false;
    root.walk(&mut |view| {
        if let View::Dynamic(ir::Control::Seq(_)) = view {
            let steps = view.children();
            let at = steps.iter().position(|step| step.is(of));
            found |= at.is_some_and(|at| steps[..at].iter().any(|step| surely_runs(*step, group)));
        }
    });
    found
}
