//! What statements are for races: which look at a port themselves, which arms they are in, and which `par`s share barriers.

use std::collections::{BTreeMap, BTreeSet};

use petal_metadata::{Component, ControlId, ControlKind, GroupRunId, Id as _, Reads, RunRole};

use crate::elements::ElementKind;

/// Whether a statement looks at a port without a comb group.
pub(super) fn looks_itself(component: &Component, control: ControlId) -> bool {
    let kind = component.node(control).kind.dynamic();
    let mut runs = component.runs.iter();
    matches!(kind, ControlKind::If | ControlKind::While)
        && !runs.any(|run| run.control == Some(control) && run.role == RunRole::Condition)
}

/// The innermost `par` around a statement.
pub(super) fn par_around(component: &Component, control: ControlId) -> Option<ControlId> {
    let mut above = component.ancestry(control).skip(1);
    above.find(|&above| component.node(above).kind == ControlKind::Par)
}

/// The `par`s around statements that wait at one barrier, but in different `par`s of which one is in an arm of another.
pub(super) fn crossed_pars(component: &Component, reads: &Reads) -> BTreeSet<ControlId> {
    let mut by_barrier: BTreeMap<u64, BTreeSet<ControlId>> = BTreeMap::new();
    for ((name, control), barrier) in &reads.barriers {
        if *name == component.name
            && let Some(par) = par_around(component, *control)
        {
            by_barrier.entry(*barrier).or_default().insert(par);
        }
    }
    let mut crossed = BTreeSet::new();
    for pars in by_barrier.values() {
        for (&one, &other) in pars
            .iter()
            .flat_map(|one| pars.iter().map(move |of| (one, of)))
        {
            let common = component.common_ancestor(one, other);
            let at_once = common.filter(|of| component.node(*of).kind == ControlKind::Par);
            if let Some(at_once) = at_once.filter(|_| one != other) {
                let around = component.ancestry(one).chain(component.ancestry(other));
                let pars = around.filter(|of| component.node(*of).kind == ControlKind::Par);
                crossed.extend(pars.filter(|par| component.ancestry(*par).any(|of| of == at_once)));
            }
        }
    }
    crossed
}

/// The arm of a `par` that a statement is in.
pub(super) fn arm_of(component: &Component, control: ControlId, par: ControlId) -> Option<usize> {
    let mut ancestry = component.ancestry(control);
    let arm = ancestry.find(|&of| component.node(of).parent == Some(par))?;
    Some(arm.index())
}

/// What is active while the body of a loop is.
pub(super) fn bodies(component: &Component, of: ControlId) -> Vec<ElementKind> {
    let control = component.control.iter().enumerate();
    let inner = control.filter(|(_, node)| node.parent == Some(of));
    let inner: Vec<ControlId> = inner.map(|(at, _)| ControlId::from_index(at)).collect();
    let runs = component.runs.iter().enumerate();
    let runs = runs.filter(|(_, run)| run.control.is_some_and(|of| inner.contains(&of)));
    let runs = runs.map(|(at, _)| ElementKind::Group(GroupRunId::from_index(at)));
    let statements = inner.iter().map(|&of| ElementKind::Control(of));
    statements.chain(runs).collect()
}
