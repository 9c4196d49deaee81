//! Whether the tables of a metadata file fit together, so that readers may index them freely.

use crate::ids::{ComponentId, Id};
use crate::schedule::Schedule;
use crate::schema::{Callee, CellKind, CompiledKind, Component, Metadata, Span};

/// Signals of all instances that a design may have.
const MOST_SIGNALS: u64 = 1 << 22;

/// Collects the first reference that leads nowhere.
struct Checker<'a> {
    metadata: &'a Metadata,
    component: &'a Component,
}

impl Checker<'_> {
    fn index(&self, table: &str, index: impl Id, len: usize, from: &str) -> Result<(), String> {
        if index.index() < len {
            Ok(())
        } else {
            Err(format!(
                "component `{}`: {from} refers to {table} {}, of which there are {len}",
                self.component.name,
                index.index()
            ))
        }
    }

    fn span(&self, span: Option<Span>, from: &str) -> Result<(), String> {
        match span {
            Some(span) => self.index("file", span.file, self.metadata.files.len(), from),
            None => Ok(()),
        }
    }

    fn run(&self) -> Result<(), String> {
        let component = self.component;
        self.span(component.span, "it")?;
        for group in &component.groups {
            self.span(group.span, &group.name)?;
        }
        for cell in &component.cells {
            self.span(cell.span, &cell.name)?;
            if let CellKind::Component(id) = cell.kind {
                self.index("component", id, self.metadata.components.len(), &cell.name)?;
            }
        }
        for (at, node) in component.control.iter().enumerate() {
            let from = format!("control node {at}");
            if let Some(parent) = node.parent {
                // Preorder: a parent comes before its children, so there are no cycles.
                self.index("control node", parent, at, &from)?;
            }
            self.span(node.span, &from)?;
            self.index("thread", node.thread, component.threads.len(), &from)?;
            if let Some(group) = node.group {
                self.index("group", group, component.groups.len(), &from)?;
            }
            if let Some(cell) = node.cell {
                self.index("cell", cell, component.cells.len(), &from)?;
            }
        }
        for thread in &component.threads {
            if let Some((par, _)) = thread.arm {
                self.index("control node", par, component.control.len(), "a thread")?;
            }
        }
        self.runs_and_calls()?;
        self.compiled()
    }

    fn runs_and_calls(&self) -> Result<(), String> {
        let component = self.component;
        for (at, run) in component.runs.iter().enumerate() {
            let from = format!("group run {at}");
            for group in std::iter::once(run.group).chain(run.part) {
                self.index("group", group, component.groups.len(), &from)?;
            }
            if let Some(control) = run.control {
                self.index("control node", control, component.control.len(), &from)?;
            }
            self.index("thread", run.thread, component.threads.len(), &from)?;
        }
        for (at, call) in component.calls.iter().enumerate() {
            let from = format!("call {at}");
            if let Some(caller) = call.caller {
                self.index("group run", caller, component.runs.len(), &from)?;
            }
            match call.callee {
                Callee::Group(run) => {
                    self.index("group run", run, component.runs.len(), &from)?;
                }
                Callee::Cell(cell) => self.index("cell", cell, component.cells.len(), &from)?,
            }
        }
        Ok(())
    }

    fn compiled(&self) -> Result<(), String> {
        let component = self.component;
        if let Some(root) = component.root {
            self.index(
                "compilation group",
                root,
                component.compiled.len(),
                "the root",
            )?;
        }
        let schedules = component
            .compiled
            .iter()
            .filter_map(|group| group.schedule.as_ref())
            .chain(&component.schedule);
        for statement in schedules.flat_map(Schedule::statements) {
            self.index(
                "control node",
                statement,
                component.control.len(),
                "a schedule",
            )?;
        }
        for (at, compiled) in component.compiled.iter().enumerate() {
            let from = format!("compilation group `{}`", compiled.name);
            if let Some(node) = compiled.node {
                self.index("control node", node, component.control.len(), &from)?;
            }
            // Children come before their parents, so there are no cycles.
            match &compiled.kind {
                CompiledKind::Leaf => {}
                CompiledKind::Fsm {
                    register, states, ..
                } => {
                    self.index("register", *register, component.registers.len(), &from)?;
                    for state in states {
                        self.index("compilation group", state.child, at, &from)?;
                    }
                }
                CompiledKind::Par { arms } => {
                    for arm in arms {
                        self.index("register", arm.register, component.registers.len(), &from)?;
                        self.index("compilation group", arm.child, at, &from)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Metadata {
    /// The first thing that does not fit, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.main.index() >= self.components.len() {
            return Err("the main component is missing".to_owned());
        }
        for component in &self.components {
            Checker {
                metadata: self,
                component,
            }
            .run()?;
        }
        self.check_instances()
    }

    /// A component that contains itself would have endlessly many instances; and components that
    /// contain one another twice each have as good as endlessly many.
    fn check_instances(&self) -> Result<(), String> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            /// With the number of signals in an instance, and in those below it.
            Done(u64),
        }
        let mut marks = vec![Mark::New; self.components.len()];
        // Entries on the stack: a component, and whether its cells have been visited.
        let mut stack = vec![(self.main, false)];
        while let Some((id, leaving)) = stack.pop() {
            let component = self.component(id);
            let instances = component.cells.iter().filter_map(|cell| match cell.kind {
                CellKind::Component(child) => Some((child, cell.instance == cell.name)),
                CellKind::Primitive(_) => None,
            });
            if leaving {
                let own = 1 + component.runs.len() + component.calls.len();
                let own = own + component.compiled.len() + component.registers.len();
                let signals = instances.fold(own as u64, |sum, (child, is_one)| {
                    match marks[child.index()] {
                        Mark::Done(signals) if is_one => sum.saturating_add(signals),
                        _ => sum,
                    }
                });
                marks[id.index()] = Mark::Done(signals);
                continue;
            }
            if marks[id.index()] != Mark::New {
                continue;
            }
            marks[id.index()] = Mark::Open;
            stack.push((id, true));
            for (child, _) in instances {
                if marks[child.index()] == Mark::Open {
                    return Err(format!(
                        "component `{}` contains itself",
                        self.component(child).name
                    ));
                }
                stack.push((child, false));
            }
        }
        match marks[self.main.index()] {
            Mark::Done(signals) if signals > MOST_SIGNALS => Err(format!(
                "the design has {signals} signals, more than any that could be simulated"
            )),
            _ => Ok(()),
        }
    }

    /// The handles of all components.
    pub fn component_ids(&self) -> impl Iterator<Item = ComponentId> {
        (0..self.components.len()).map(ComponentId::from_index)
    }
}
