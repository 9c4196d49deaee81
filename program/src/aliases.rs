//! Which `ref` cells of a component may be one and the same cell.
//!
//! Owns what calls tell of that: two `ref` cells of one type may be one if some `invoke` hands over one cell for both, or `ref` cells
//! of the caller that may be one. Of what else runs a component, nothing is known, and all of one type may be.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use calyx_ir as ir;

use crate::dependences::{Cells, cell_of};
use crate::tree::View;

/// For each component, its `ref` cells with all that may be the same one, themselves included.
#[derive(Debug, Clone, Default)]
pub struct Aliases(HashMap<ir::Id, BTreeMap<ir::Id, Cells>>);

/// What an `invoke` hands over to a component.
struct Call {
    caller: ir::Id,
    callee: ir::Id,
    handed: BTreeMap<ir::Id, ir::Id>,
}

/// Two `ref` cells of a component.
type Pair = (ir::Id, ir::Id, ir::Id);

impl Aliases {
    /// Of all components of a program.
    pub fn of(ctx: &ir::Context) -> Self {
        let calls: Vec<Call> = ctx.components.iter().flat_map(calls_of).collect();
        let unknown = run_otherwise(ctx);
        let mut apart: BTreeSet<Pair> = BTreeSet::new();
        for component in &ctx.components {
            if !unknown.contains(&component.name) {
                apart.extend(pairs_of(component));
            }
        }
        loop {
            let is_apart = |&(component, a, b): &Pair| {
                let mut calls = calls.iter().filter(|call| call.callee == component);
                calls.all(|call| match (call.handed.get(&a), call.handed.get(&b)) {
                    (Some(a), Some(b)) => {
                        a != b && !may_be_refs(ctx, call.caller, (*a, *b), &apart)
                    }
                    _ => false,
                })
            };
            let still: BTreeSet<Pair> = apart
                .iter()
                .filter(|pair| is_apart(pair))
                .copied()
                .collect();
            if still.len() == apart.len() {
                break;
            }
            apart = still;
        }
        let of_component = |component: &ir::Component| {
            let cells = component.cells.iter().map(|cell| cell.borrow());
            let references = cells.filter(|cell| cell.is_reference());
            let mut may_be: BTreeMap<ir::Id, Cells> = references
                .map(|cell| (cell.name(), Cells::from([cell.name()])))
                .collect();
            for pair in pairs_of(component) {
                if !apart.contains(&pair) {
                    let (_, a, b) = pair;
                    may_be.entry(a).or_default().insert(b);
                    may_be.entry(b).or_default().insert(a);
                }
            }
            (component.name, may_be)
        };
        Self(ctx.components.iter().map(of_component).collect())
    }

    /// All that a cell of a component may be, if it is a `ref` cell.
    pub fn may_be(&self, component: ir::Id, cell: ir::Id) -> Option<&Cells> {
        self.0.get(&component)?.get(&cell)
    }
}

/// The pairs of `ref` cells of one type, the first of each by name.
fn pairs_of(component: &ir::Component) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let cells = component.cells.iter().map(|cell| cell.borrow());
    let references: Vec<_> = cells.filter(|cell| cell.is_reference()).collect();
    for (at, a) in references.iter().enumerate() {
        let others = references[at + 1..].iter();
        for b in others.filter(|b| b.prototype == a.prototype) {
            let (a, b) = (a.name().min(b.name()), a.name().max(b.name()));
            pairs.push((component.name, a, b));
        }
    }
    pairs
}

fn calls_of(component: &ir::Component) -> Vec<Call> {
    let mut calls = Vec::new();
    View::of(&component.control.borrow()).walk(&mut |view| {
        let callee = view.invoked().and_then(|cell| cell.borrow().type_name());
        calls.extend(callee.map(|callee| Call {
            caller: component.name,
            callee,
            handed: view.handed_over().into_iter().collect(),
        }));
    });
    calls
}

/// Whether two cells that a caller hands over are `ref` cells of its own that may be one.
fn may_be_refs(
    ctx: &ir::Context,
    caller: ir::Id,
    (a, b): (ir::Id, ir::Id),
    apart: &BTreeSet<Pair>,
) -> bool {
    let is_reference = |name: ir::Id| {
        let mut components = ctx.components.iter();
        let caller = components.find(|component| component.name == caller);
        let cell = caller.and_then(|component| component.find_cell(name));
        cell.is_none_or(|cell| cell.borrow().is_reference())
    };
    is_reference(a) && is_reference(b) && !apart.contains(&(caller, a.min(b), a.max(b)))
}

/// The components that may be run by something else than an `invoke` of a cell of theirs: by groups or wires, or in the place of a `ref` cell.
fn run_otherwise(ctx: &ir::Context) -> BTreeSet<ir::Id> {
    let mut found = BTreeSet::new();
    for component in &ctx.components {
        let mut driven = |port: &ir::RRC<ir::Port>| {
            let cell = cell_of(port).filter(|cell| cell.borrow().is_component());
            found.extend(cell.and_then(|cell| cell.borrow().type_name()));
        };
        for group in component.get_groups().iter() {
            let group = group.borrow();
            group.assignments.iter().for_each(|to| driven(&to.dst));
        }
        for group in component.get_static_groups().iter() {
            let group = group.borrow();
            group.assignments.iter().for_each(|to| driven(&to.dst));
        }
        let wires = component.continuous_assignments.iter();
        wires.for_each(|to| driven(&to.dst));
        let cells = component.cells.iter().map(|cell| cell.borrow());
        if { cells }.any(|cell| cell.is_component() && cell.is_reference()) {
            // What is handed over for it may be of another type.
            return ctx
                .components
                .iter()
                .map(|component| component.name)
                .collect();
        }
    }
    found
}
