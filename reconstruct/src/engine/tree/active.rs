//! What is active in one instance in a cycle.

use std::collections::BTreeSet;

use petal_metadata::{
    Binding, CallId, Callee, CellId, Component, ComponentId, ControlId, GroupRunId, Id as _,
};

use crate::model::InstanceId;
use crate::signals::PhysicalId;

/// A hardware instance, and the source instance that it works for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub physical: PhysicalId,
    pub instance: InstanceId,
}

/// What the `ref` cells of a component stand for: each with the cell, and who holds that.
pub(super) type Actuals = Vec<(CellId, (Holder, CellId))>;

/// What is active in one instance.
pub(super) struct Active<'a> {
    pub holder: Holder,
    pub component: &'a Component,
    pub id: ComponentId,
    pub runs: Vec<GroupRunId>,
    /// Calls that are made, or that continue as `pending` ones, each after who makes it: ascending.
    pub calls: Vec<(Option<GroupRunId>, CallId)>,
    pub controls: BTreeSet<ControlId>,
    pub actuals: Actuals,
}

/// What is active in one instance, each after the control node that it is right below (`None`: the cell): ascending.
pub(super) struct Levels {
    pub controls: Vec<(Option<ControlId>, ControlId)>,
    /// Groups that no group calls.
    pub runs: Vec<(Option<ControlId>, GroupRunId)>,
}

/// The part of ascending pairs that begin with `first`.
pub(super) fn of_first<K: Ord + Copy, V>(pairs: &[(K, V)], first: K) -> &[(K, V)] {
    let start = pairs.partition_point(|(key, _)| *key < first);
    let length = pairs[start..].partition_point(|(key, _)| *key == first);
    &pairs[start..start + length]
}

/// Whether a control node has a node of its own in a tree. An enable does not: its group stands for it.
fn has_node(component: &Component, control: ControlId) -> bool {
    !component.node(control).kind.is_enable()
}

impl Active<'_> {
    /// Whether another group calls `run` in this cycle.
    fn has_caller(&self, run: GroupRunId) -> bool {
        self.calls
            .iter()
            .any(|(_, call)| self.component.calls[call.index()].callee == Callee::Group(run))
    }

    /// The innermost statement around a run of a group that has a node in the tree.
    fn statement_around(&self, run: GroupRunId) -> Option<ControlId> {
        let control = self.component.run(run).control?;
        let mut around = self.component.ancestry(control);
        around.find(|&node| has_node(self.component, node))
    }

    /// The calls that `caller` makes; `None` stands for the continuous assignments.
    pub fn calls_of(&self, caller: Option<GroupRunId>) -> &[(Option<GroupRunId>, CallId)] {
        of_first(&self.calls, caller)
    }

    /// Whether a group runs.
    pub fn is_running(&self, run: GroupRunId) -> bool {
        self.runs.binary_search(&run).is_ok()
    }

    /// What is right below what.
    pub fn levels(&self) -> Levels {
        let component = self.component;
        let controls = self.controls.iter().copied();
        let controls = controls.filter(|&control| has_node(component, control));
        let mut controls: Vec<_> = controls
            .map(|control| (component.node(control).parent, control))
            .collect();
        controls.sort_unstable();
        let runs = self.runs.iter().copied();
        let is_called = |run| component.run(run).control.is_none() && self.has_caller(run);
        let runs = runs.filter(|&run| !is_called(run));
        let mut runs: Vec<_> = runs.map(|run| (self.statement_around(run), run)).collect();
        // A group that has ended, but whose callee continues.
        let callers = self.calls.iter().filter_map(|&(caller, _)| caller);
        for caller in callers.filter(|&caller| !self.is_running(caller)) {
            let around = self.statement_around(caller);
            let around = around.filter(|node| self.controls.contains(node));
            runs.push((around, caller));
        }
        runs.sort_unstable();
        runs.dedup();
        Levels { controls, runs }
    }

    /// The cell that `cell` is: itself, or what it stands for; `None` for a `ref` cell that nobody
    /// handed over.
    pub fn resolve(&self, cell: CellId) -> Option<(Holder, CellId)> {
        if self.component.cell(cell).is_reference() {
            let mut actuals = self.actuals.iter();
            actuals
                .find(|(formal, _)| *formal == cell)
                .map(|&(_, actual)| actual)
        } else {
            Some((self.holder, cell))
        }
    }

    /// What the `ref` cells of `cell`'s component stand for while `call` is made: what the `invoke` that
    /// makes the call hands over.
    pub fn handed_over(&self, call: CallId, cell: CellId) -> Actuals {
        let caller = self.component.calls[call.index()].caller;
        let invoke = caller.and_then(|run| self.component.run(run).control);
        let invoke = invoke.map(|node| self.component.node(node)).filter(|node| {
            let invoked = node.cell.map(|cell| &self.component.cell(cell).kind);
            invoked == Some(&self.component.cell(cell).kind)
        });
        let bindings = invoke.map_or(&[][..], |node| &node.bindings);
        let actual = |binding: &Binding| Some((binding.formal, self.resolve(binding.actual)?));
        bindings.iter().filter_map(actual).collect()
    }
}
