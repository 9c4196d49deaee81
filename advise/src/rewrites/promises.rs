//! What a program says of how many cycles its parts take, and how often they run.
//!
//! The compiler believes it if its passes look at it, which depends on lengths and thresholds: where it is not so, any change of the
//! program may make another result of that. Owns when it is surely so.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_program::dependences::{cell_of, constant, is_promised, is_promised_for, ports_of};
use petal_program::exclusion::Comparison;
use petal_program::latency::{latency, only};
use petal_program::tree::{GroupRef, View};
use petal_program::{Course, begins_at_rest};

use super::shifts::leaves_product;

/// Whether something is said of the program that may not be so.
pub(super) fn may_be_untrue(ctx: &ir::Context, handed_over: &BTreeSet<(ir::Id, ir::Id)>) -> bool {
    ctx.components.iter().any(|component| {
        let mut groups = component.get_groups().iter();
        let control = component.control.borrow();
        let mut untrue = component.latency.is_none() && is_promised(component)
            || groups.any(|group| may_take_another_time(component, handed_over, &group.borrow()));
        View::of(&control).walk(&mut |view| {
            let is_group = view.group().is_some();
            let is_bound = view.attributes().has(ir::NumAttr::Bound);
            untrue |= !is_group && is_promised_for(view);
            untrue |= is_bound && !runs_as_often(component, View::of(&control), view);
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

/// Whether a loop surely runs as often as its `@bound` says: a register that one group sets before it and one group of its body
/// counts, both of them enabled once, is compared with a constant.
fn runs_as_often(component: &ir::Component, root: View<'_>, view: View<'_>) -> bool {
    let View::Dynamic(ir::Control::While(node)) = view else {
        return false;
    };
    let bound = view.attributes().get(ir::NumAttr::Bound);
    let with = view.comb_group();
    let counter = Comparison::of(component, &node.port, with.as_ref());
    bound.is_some() && counter.and_then(|counter| runs(component, root, view, &counter)) == bound
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
    let statics = component.get_static_groups().iter();
    let mut by_statics = statics.filter(|group| {
        let group = group.borrow();
        group
            .assignments
            .iter()
            .any(|to| drives(to, register.name()))
    });
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
    let is_driven = by_invokes || by_wires.next().is_some() || by_statics.next().is_some();
    if !is_plain || is_driven {
        return None;
    }
    let groups = component.get_groups().iter();
    let groups = groups.filter(|group| {
        let group = group.borrow();
        group
            .assignments
            .iter()
            .any(|to| drives(to, register.name()))
    });
    let [one, other] = &*groups.collect::<Vec<_>>() else {
        return None;
    };
    let width = register.get_parameter("WIDTH")?;
    let given = |group: &ir::RRC<ir::Group>| given(&group.borrow(), &register);
    let (first, step, counts, sets) = match (given(one)?, given(other)?) {
        (Given::Constant(first), Given::Next(step)) => (first, step, other, one),
        (Given::Next(step), Given::Constant(first)) => (first, step, one, other),
        _ => return None,
    };
    let (counts, sets) = (counts.borrow().name(), sets.borrow().name());
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

/// What a group gives a register, if it does so in its first cycle and is done with it.
fn given(group: &ir::Group, register: &ir::Cell) -> Option<Given> {
    let name = register.name();
    let at = |cell: ir::Id, port: &'static str| {
        only(group, move |of| {
            of.name == port && of.get_parent_name() == cell
        })
        .filter(|to| to.guard.is_true())
    };
    (latency(group)? == 1).then_some(())?;
    let enable = at(name, "write_en")?;
    enable.src.borrow().is_constant(1, 1).then_some(())?;
    let value = &at(name, "in")?.src;
    if let Some(constant) = constant(value) {
        return Some(Given::Constant(constant));
    }
    let adder = cell_of(value)?;
    let adder = adder.borrow();
    adder.is_primitive(Some("std_add")).then_some(())?;
    let [left, right] = [at(adder.name(), "left")?, at(adder.name(), "right")?];
    let is_own = |to: &ir::Assignment<ir::Nothing>| {
        let port = to.src.borrow();
        !port.is_hole() && port.name == "out" && port.get_parent_name() == name
    };
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
    matches!(view.group(), Some(GroupRef::Dynamic(of)) if of.borrow().name() == group)
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
