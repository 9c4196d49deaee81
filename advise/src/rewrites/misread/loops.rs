//! Loops that the compiler misreads.
//!
//! Of a body that ends with an `if` without `else`, or with a loop, it forgets that the one before that may be the last step
//! (`top-down-cc`). What a body writes before it reads it, and somebody reads after the loop, it takes for needed no more (live ranges). And two `repeat`s
//! that run at once as static ones may get one state machine: then the design stops itself. A run of the program as it is shows that, but for a
//! component that others run: there it may come with the last group that becomes static.

use std::collections::{BTreeMap, BTreeSet};

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::{cell_of, ports_of, ports_read, with_called, with_inlining};
use petal_program::tree::{GroupRef, NodeKey, View};

use super::super::again::Touched;
use super::inlined_at;

/// What an edit makes of the loops of a component.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Edited<'a> {
    /// Steps that they run no more.
    pub gone: &'a [View<'a>],
    /// A `while` that becomes one which always runs as often.
    pub fixed: Option<View<'a>>,
}

/// The pairs of steps or arms of a component that have static loops and may run at once. `inlined` gives what becomes a part of it in the place of a
/// statement.
pub(in super::super) fn at_once<'a>(
    component: &ir::Component,
    edited: Edited<'_>,
    inlined: &impl Fn(View<'_>) -> Option<&'a ir::Component>,
) -> BTreeSet<(Option<NodeKey>, usize, usize)> {
    let control = component.control.borrow();
    let mut pairs = BTreeSet::new();
    View::of(&control).walk(&mut |view| {
        let is_par = matches!(view.kind(), ControlKind::Par | ControlKind::StaticPar);
        let is_seq = matches!(view.kind(), ControlKind::Seq | ControlKind::StaticSeq);
        if !(is_par || is_seq) {
            return;
        }
        let children = view.children();
        let has_loop = |at: &usize| has_fixed_loop(children[*at], edited, inlined);
        let loops: Vec<usize> = (0..children.len()).filter(has_loop).collect();
        if loops.len() < 2 {
            return;
        }
        // The steps that each waits for, and those that these wait for.
        let mut touched: Vec<Touched> = Vec::new();
        let mut waits: Vec<BTreeSet<usize>> = Vec::new();
        for (at, child) in children.iter().enumerate() {
            let own = Touched::without(component, *child, edited.gone);
            let mut before = BTreeSet::new();
            for earlier in (0..at).rev().filter(|_| is_seq) {
                if !before.contains(&earlier) && own.waits_for(&touched[earlier]) {
                    before.insert(earlier);
                    before.extend(&waits[earlier]);
                }
            }
            let earlier = loops.iter().filter(|other| **other < at);
            let beside = earlier.filter(|other| loops.contains(&at) && !before.contains(other));
            let key = view.identity().map(|(key, _)| key);
            pairs.extend(beside.map(|other| (key, *other, at)));
            touched.push(own);
            waits.push(before);
        }
    });
    pairs
}

/// The components that may become static programs of their own in which two loops run at once, and all that they run, as `calls` says.
pub(in super::super) fn at_once_if_static(
    ctx: &ir::Context,
    calls: &BTreeMap<ir::Id, BTreeSet<ir::Id>>,
) -> BTreeSet<ir::Id> {
    let inlined = |view: View<'_>| inlined_at(&ctx.components, view);
    let with = ctx.components.iter();
    let with = with.filter(|component| !at_once(component, Edited::default(), &inlined).is_empty());
    let mut with = with_inlining(with.map(|component| component.name).collect(), ctx);
    let mut alone = BTreeSet::new();
    for cell in ctx.components.iter().flat_map(|of| of.cells.iter()) {
        let cell = cell.borrow();
        let is_apart = !cell.attributes.has(ir::BoolAttr::Inline);
        alone.extend(cell.type_name().filter(|_| cell.is_component() && is_apart));
    }
    // The entry point is run by none.
    with.retain(|component| alone.contains(component));
    with_called(with, calls)
}

/// Whether a statement has a loop in it that always runs as often.
pub(in super::super) fn has_fixed_loop<'a>(
    view: View<'_>,
    edited: Edited<'_>,
    inlined: &impl Fn(View<'_>) -> Option<&'a ir::Component>,
) -> bool {
    let mut found = false;
    view.walk(&mut |view| {
        found |= view.repeats().is_some_and(|times| times > 1)
            || view.attributes().has(ir::NumAttr::Bound)
            || edited.fixed.is_some_and(|fixed| fixed.is(view))
            || inlined(view).is_some_and(|part| {
                let control = part.control.borrow();
                has_fixed_loop(View::of(&control), Edited::default(), inlined)
            });
    });
    found
}

/// Whether a component has such a loop. Nobody asks what is needed no more where each cell `is_apart`.
pub(super) fn are_misread(ctx: &ir::Context, component: &ir::Component, is_apart: bool) -> bool {
    let control = component.control.borrow();
    let root = View::of(&control);
    let mut found = false;
    root.walk(&mut |view| {
        let is_loop = matches!(
            view.kind(),
            ControlKind::While | ControlKind::Repeat | ControlKind::StaticRepeat
        );
        if let Some(body) = view.children().first().filter(|_| is_loop) {
            let is_static = view.kind() == ControlKind::StaticRepeat;
            found |= !is_static && falls_through(ctx, *body)
                || !is_apart && loses(component, root, view, *body);
        }
    });
    found
}

/// Whether the last step of a statement may take no time.
fn falls_through(ctx: &ir::Context, view: View<'_>) -> bool {
    if let Some(part) = inlined_at(&ctx.components, view) {
        return falls_through(ctx, View::of(&part.control.borrow()));
    }
    let children = view.children();
    match view.kind() {
        ControlKind::Seq => children
            .last()
            .is_some_and(|last| falls_through(ctx, *last)),
        ControlKind::Par => children.iter().any(|arm| falls_through(ctx, *arm)),
        ControlKind::If => {
            children.len() < 2
                || children.iter().any(|branch| {
                    branch.kind() == ControlKind::Empty || falls_through(ctx, *branch)
                })
        }
        ControlKind::While | ControlKind::Repeat => true,
        _ => false,
    }
}

/// Whether a register that the body of a loop writes before it reads it is read later.
fn loses(component: &ir::Component, root: View<'_>, of: View<'_>, body: View<'_>) -> bool {
    let mut written = BTreeSet::new();
    body.walk(&mut |view| written.extend(uses(view).writes));
    written.into_iter().any(|cell| {
        let is_shared = component.find_cell(cell).is_some_and(|cell| {
            let cell = cell.borrow();
            cell.is_primitive(Some("std_reg")) && !cell.attributes.has(ir::BoolAttr::External)
        });
        is_shared
            && first(body, cell) != First::Read
            && is_read_later(root, of, cell).unwrap_or(true)
    })
}

/// What a statement does first to a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Read,
    Write,
    Neither,
}

fn first(view: View<'_>, cell: ir::Id) -> First {
    let own = uses(view);
    if own.reads.contains(&cell) {
        return First::Read;
    }
    if own.writes.contains(&cell) {
        return First::Write;
    }
    let children = view.children().into_iter();
    let mut all = children.map(|child| first(child, cell));
    match view.kind() {
        ControlKind::Seq | ControlKind::StaticSeq => all
            .find(|of| *of != First::Neither)
            .unwrap_or(First::Neither),
        kind => {
            let all: Vec<First> = all.collect();
            let is_par = matches!(kind, ControlKind::Par | ControlKind::StaticPar);
            let is_written = if is_par {
                all.contains(&First::Write)
            } else {
                !all.is_empty() && all.iter().all(|of| *of == First::Write)
            };
            match (all.contains(&First::Read), is_written) {
                (true, _) => First::Read,
                (false, true) => First::Write,
                (false, false) => First::Neither,
            }
        }
    }
}

/// Whether a register may be read after a loop in a statement; `None` if the loop is not in it.
fn is_read_later(view: View<'_>, of: View<'_>, cell: ir::Id) -> Option<bool> {
    if view.is(of) {
        return Some(false);
    }
    let children = view.children();
    let mut all = children.iter().enumerate();
    let (at, inside) = all.find_map(|(at, child)| Some((at, is_read_later(*child, of, cell)?)))?;
    let mut later = match view.kind() {
        ControlKind::If | ControlKind::StaticIf => [].iter(),
        ControlKind::Seq | ControlKind::StaticSeq => children[at + 1..].iter(),
        // What is beside it may come after it, as may all of a loop around it.
        _ => children.iter(),
    };
    let is_loop = view.children().len() == 1 && uses(view).reads.contains(&cell);
    Some(inside || is_loop || later.any(|child| is_read_in(*child, of, cell)))
}

/// Whether a statement reads a register, but for the loop in it.
fn is_read_in(view: View<'_>, of: View<'_>, cell: ir::Id) -> bool {
    let children = || view.children().into_iter();
    !view.is(of)
        && (uses(view).reads.contains(&cell) || children().any(|child| is_read_in(child, of, cell)))
}

/// The cells that a statement itself reads and writes, with its groups.
#[derive(Default)]
pub(in super::super) struct Uses {
    pub reads: BTreeSet<ir::Id>,
    pub writes: BTreeSet<ir::Id>,
}

impl Uses {
    fn read(&mut self, ports: &[ir::RRC<ir::Port>]) {
        let is_done = |port: &ir::RRC<ir::Port>| port.borrow().attributes.has(ir::NumAttr::Done);
        let values = ports.iter().filter(|port| !is_done(port));
        let cells = values.filter_map(cell_of);
        self.reads.extend(cells.map(|cell| cell.borrow().name()));
    }

    fn write(&mut self, port: &ir::RRC<ir::Port>) {
        let cell = cell_of(port);
        self.writes.extend(cell.map(|cell| cell.borrow().name()));
    }

    pub fn assignments<T>(&mut self, assignments: &[ir::Assignment<T>]) {
        for assignment in assignments {
            self.read(&ports_read(assignment));
            self.write(&assignment.dst);
        }
    }
}

pub(in super::super) fn uses(view: View<'_>) -> Uses {
    let mut uses = Uses::default();
    let (read, driven) = ports_of(view);
    uses.read(&read);
    for port in &driven {
        uses.write(port);
    }
    for (one, other) in view.handed_over() {
        uses.reads.extend([one, other]);
        uses.writes.extend([one, other]);
    }
    if let Some(group) = view.comb_group() {
        uses.assignments(&group.borrow().assignments);
    }
    match view.group() {
        Some(GroupRef::Dynamic(group)) => uses.assignments(&group.borrow().assignments),
        Some(GroupRef::Static(group)) => uses.assignments(&group.borrow().assignments),
        None => {}
    }
    uses
}
