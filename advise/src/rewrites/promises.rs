//! What a program says of how many cycles its parts take, and how often they run.
//!
//! The compiler believes it if its passes look at it, which depends on lengths and thresholds: where it is not so, any change of the
//! program may make another result of that. Owns when it is surely so.

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_program::dependences::{is_promised, is_promised_for};
use petal_program::latency::latency;
use petal_program::tree::View;
use petal_program::{Course, begins_at_rest};

use super::misread::hides;
use super::shifts::leaves_product;
use crate::proof;

/// Whether something is said of the program that may not be so.
pub(super) fn may_be_untrue(ctx: &ir::Context, handed_over: &BTreeSet<(ir::Id, ir::Id)>) -> bool {
    ctx.components.iter().any(|component| {
        let mut groups = component.get_groups().iter();
        let control = component.control.borrow();
        let once = component.name == ctx.entrypoint;
        let mut untrue = component.latency.is_none() && is_promised(component)
            || groups.any(|group| may_take_another_time(component, handed_over, &group.borrow()));
        View::of(&control).walk(&mut |view| {
            let is_group = view.group().is_some();
            let bound = view.attributes().get(ir::NumAttr::Bound);
            untrue |= !is_group && is_promised_for(view);
            untrue |= bound.is_some()
                && (hides(component)
                    || proof::times(component, View::of(&control), view, once) != bound);
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
