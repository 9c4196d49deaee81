//! What the compiler's own analyses misread (of Calyx 0.7.1): it may build such a component otherwise than it says, and any change of the
//! program may change in which way.

pub(super) mod logic;
pub(super) mod loops;

use std::collections::BTreeSet;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::{cell_of, is_combinational, ports_read};
use petal_program::latency::latency_of;
use petal_program::tree::{View, called_group};

use super::state::is_memory;

/// The components with something that the compiler misreads; `is_apart` tells that each cell has hardware of its own.
pub(super) fn components(ctx: &ir::Context, is_apart: bool) -> BTreeSet<ir::Id> {
    let misread = ctx.components.iter().filter(|component| {
        let mut groups = component.get_groups().iter();
        let mut statics = component.get_static_groups().iter();
        hides(component)
            || groups
                .any(|group| has_other_latency(&group.borrow()) || waits_twice(&group.borrow()))
            || statics.any(|group| writes_sometimes(&group.borrow().assignments))
            || component
                .cells
                .iter()
                .any(|cell| cell.borrow().is_primitive(Some("std_wire")))
            || loops::are_misread(ctx, component, is_apart)
            || logic::is_lost(component, component.name == ctx.entrypoint)
            || !is_apart && has_branches_in_par(ctx, component)
    });
    misread.map(|component| component.name).collect()
}

/// Whether statements of a component do more than one sees: a group runs another one, or a combinational one writes.
pub(super) fn hides(component: &ir::Component) -> bool {
    let mut groups = component.get_groups().iter();
    let mut statics = component.get_static_groups().iter();
    let mut combs = component.comb_groups.iter();
    groups.any(|group| runs_another(&group.borrow().assignments))
        || statics.any(|group| runs_another(&group.borrow().assignments))
        || combs.any(|group| group.borrow().assignments.iter().any(writes))
}

/// The components, other than the entry point, of which all control is one `while`. If that becomes one static group, it is done whenever
/// its condition is false, also before the component is started, with inputs that nobody drives by then.
pub(super) fn loops_alone(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let invoked = ctx.components.iter().filter(|of| of.name != ctx.entrypoint);
    let alone = invoked.filter(|component| {
        let control = component.control.borrow();
        sole(View::of(&control)).kind() == ControlKind::While
    });
    alone.map(|component| component.name).collect()
}

/// The statement that a control program comes to, without what is around it and does nothing.
pub(super) fn sole(view: View<'_>) -> View<'_> {
    let children = view.children().into_iter();
    let mut children = children.filter(|child| child.kind() != ControlKind::Empty);
    let is_plain = matches!(
        view.kind(),
        ControlKind::Seq | ControlKind::Par | ControlKind::StaticSeq | ControlKind::StaticPar
    ) || view.repeats() == Some(1);
    match (children.next(), children.next()) {
        (Some(only), None) if is_plain => sole(only),
        _ => view,
    }
}

/// Whether the latency of a group may be taken for that of something that it starts beside what it is done with. None is
/// inferred where logic decides when a register is written.
fn has_other_latency(group: &ir::Group) -> bool {
    let is_inferred = group.assignments.iter().all(|to| {
        let is_write = cell_of(&to.dst).is_some_and(|of| of.borrow().is_primitive(Some("std_reg")))
            && to.dst.borrow().name == "write_en";
        !is_write || !cell_of(&to.src).is_some_and(|of| is_combinational(&of))
    });
    if !is_inferred {
        return false;
    }
    let holes = group.assignments.iter();
    let mut ends = holes.filter(|assignment| assignment.dst.borrow().is_hole());
    let Some(end) = ends.next().filter(|end| end.guard.is_true()) else {
        return false;
    };
    let mut row = BTreeSet::new();
    let latency = latency_of(group, &end.src, &mut row);
    let is_done = end.src.borrow().attributes.has(ir::NumAttr::Done);
    let mut others = group.assignments.iter().filter_map(|assignment| {
        let is_go = assignment.dst.borrow().attributes.has(ir::NumAttr::Go);
        cell_of(&assignment.dst).filter(|_| is_go)
    });
    is_done && latency != Some(1) && others.any(|cell| !row.contains(&cell.borrow().name()))
}

/// Whether a group starts a cell as soon as another one is done, and looks at that once more. Where the group is split in two, the second part may begin when
/// the other one is no longer done. It splits those alone that write two cells.
fn waits_twice(group: &ir::Group) -> bool {
    let to = group.assignments.iter().filter_map(|to| cell_of(&to.dst));
    let written = to.filter(|cell| !is_combinational(cell));
    let written: BTreeSet<ir::Id> = written.map(|cell| cell.borrow().name()).collect();
    if written.len() != 2 {
        return false;
    }
    let is_done = |port: &ir::RRC<ir::Port>| port.borrow().attributes.has(ir::NumAttr::Done);
    let mut starts = group.assignments.iter().filter(|to| {
        let is_go = to.dst.borrow().attributes.has(ir::NumAttr::Go);
        is_go && is_done(&to.src) && cell_of(&to.src).is_some()
    });
    starts.any(|start| {
        let first = start.src.borrow().get_parent_name();
        let looks = |to: &ir::Assignment<ir::Nothing>| {
            let is_of_first = |port: &ir::RRC<ir::Port>| {
                is_done(port) && port.borrow().get_parent_name() == first
            };
            ports_read(to).iter().any(is_of_first) && to.dst.borrow().get_parent_name() != first
        };
        let mut others = group.assignments.iter();
        !start.guard.is_true() || others.any(|to| !std::ptr::eq(to, start) && looks(to))
    })
}

/// Whether an arm of a `par` has branches and more: what runs at once in it is missed where it becomes static, by who shares cells (`cell-share`).
fn has_branches_in_par(ctx: &ir::Context, component: &ir::Component) -> bool {
    let mut has_some = false;
    View::of(&component.control.borrow()).walk(&mut |view| {
        if matches!(view.kind(), ControlKind::Par | ControlKind::StaticPar) {
            let arms = view.children().into_iter();
            let mut arms = arms.filter(|arm| !matches!(arm.kind(), ControlKind::If));
            has_some |= arms.any(|arm| has_branches(ctx, arm));
        }
    });
    has_some
}

fn has_branches(ctx: &ir::Context, view: View<'_>) -> bool {
    let mut has_some = false;
    view.walk(&mut |view| {
        has_some |= matches!(view.kind(), ControlKind::If | ControlKind::StaticIf)
            || inlined_at(&ctx.components, view)
                .is_some_and(|part| has_branches(ctx, View::of(&part.control.borrow())));
    });
    has_some
}

/// The component that becomes a part in the place of a statement.
pub(super) fn inlined_at<'a>(
    components: &'a [ir::Component],
    view: View<'_>,
) -> Option<&'a ir::Component> {
    inlined(components, &view.invoked()?.borrow())
}

/// The component that becomes a part in the place of a cell.
pub(super) fn inlined<'a>(
    components: &'a [ir::Component],
    cell: &ir::Cell,
) -> Option<&'a ir::Component> {
    let is_inline = cell.attributes.has(ir::BoolAttr::Inline);
    let of = cell.type_name().filter(|_| is_inline)?;
    components.iter().find(|component| component.name == of)
}

/// Whether a group runs another one: what that reads and uses is not seen.
fn runs_another<T>(assignments: &[ir::Assignment<T>]) -> bool {
    assignments.iter().any(|to| called_group(to).is_some())
}

/// Whether a combinational group writes something: it is taken for one that doesn't.
fn writes(assignment: &ir::Assignment<ir::Nothing>) -> bool {
    let is_address = assignment.dst.borrow().name.as_ref().starts_with("addr");
    cell_of(&assignment.dst)
        .is_some_and(|cell| !(is_combinational(&cell) || is_address && is_memory(&cell.borrow())))
}

/// Whether a static group may leave as it is what it gives a value to: it is taken for written.
pub(super) fn writes_sometimes(assignments: &[ir::Assignment<ir::StaticTiming>]) -> bool {
    assignments.iter().any(|assignment| {
        let is_state = cell_of(&assignment.dst)
            .is_some_and(|cell| !is_combinational(&cell) && !cell.borrow().is_this());
        let is_go = assignment.dst.borrow().attributes.has(ir::NumAttr::Go);
        let is_sure = matches!(&*assignment.guard, ir::Guard::True | ir::Guard::Info(_))
            && assignment.src.borrow().is_constant(1, 1);
        is_state && is_go && !is_sure
    })
}
