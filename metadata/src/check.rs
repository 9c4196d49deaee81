//! Whether the tables of a metadata file fit together, so that readers may index them freely.

use crate::ids::{ComponentId, Id};
use crate::schedule::Schedule;
use crate::schema::{Callee, CellKind, CompiledKind, Component, Metadata, Span};

/// How many signals all instances of a design may have, and how many groups one may call.
const MOST: u64 = 1 << 22;

/// For each of `count` entries, its size and those of all that it leads to, on every way there.
/// `entry` gives an entry's own size and what it leads to. `Err` is one that leads to itself.
fn totals(count: usize, entry: impl Fn(usize) -> (u64, Vec<usize>)) -> Result<Vec<u64>, usize> {
    let mut totals: Vec<Option<u64>> = vec![None; count];
    let mut open = vec![false; count];
    // The ways that are still to go; an entry stays until all behind it are known.
    let mut stack: Vec<usize> = (0..count).collect();
    while let Some(&at) = stack.last() {
        if totals[at].is_some() {
            stack.pop();
            continue;
        }
        let (own, next) = entry(at);
        let unknown = next.iter().filter(|&&next| totals[next].is_none());
        let before = stack.len();
        for &next in unknown.clone() {
            if open[next] || next == at {
                return Err(next);
            }
        }
        let unknown: Vec<usize> = unknown.copied().collect();
        stack.extend(unknown);
        if stack.len() > before {
            open[at] = true;
        } else {
            let known = next.iter().filter_map(|&next| totals[next]);
            totals[at] = Some(known.fold(own, u64::saturating_add));
        }
    }
    Ok(totals.into_iter().flatten().collect())
}

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
        for statement in component.schedules().flat_map(Schedule::statements) {
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
        self.check_sizes()
    }

    /// A component that contains itself would have endlessly many instances; and components that
    /// contain one another twice each have as good as endlessly many. So it is with calls.
    fn check_sizes(&self) -> Result<(), String> {
        let components = self.components.len();
        let signals = totals(components, |at| {
            let component = &self.components[at];
            let own = component.runs.len() + component.calls.len();
            let own = own + component.compiled.len() + component.registers.len();
            let instances = component.instances().map(|(_, child)| child.index());
            (own as u64, instances.collect())
        });
        let signals = signals
            .map_err(|at| format!("component `{}` contains itself", self.components[at].name))?;
        if signals[self.main.index()] > MOST {
            return Err("it has more signals than any design that could be simulated".to_owned());
        }
        for component in &self.components {
            let mut callees = vec![Vec::new(); component.runs.len()];
            for call in &component.calls {
                if let (Some(caller), Callee::Group(callee)) = (call.caller, call.callee) {
                    callees[caller.index()].push(callee.index());
                }
            }
            let calls = totals(callees.len(), |run| (1, callees[run].clone()));
            let name = &component.name;
            let calls =
                calls.map_err(|run| format!("component `{name}`: group run {run} calls itself"))?;
            if calls.iter().any(|&calls| calls > MOST) {
                return Err(format!("component `{name}` has endlessly many calls"));
            }
        }
        Ok(())
    }

    /// The handles of all components.
    pub fn component_ids(&self) -> impl Iterator<Item = ComponentId> {
        (0..self.components.len()).map(ComponentId::from_index)
    }
}

#[cfg(test)]
mod tests {
    use super::totals;

    fn of(next: &[&[usize]]) -> Result<Vec<u64>, usize> {
        totals(next.len(), |at| (1, next[at].to_vec()))
    }

    #[test]
    fn every_way_counts() {
        assert_eq!(of(&[&[1, 2], &[2, 2], &[]]), Ok(vec![5, 3, 1]));
        assert_eq!(of(&[&[], &[0], &[1, 0]]), Ok(vec![1, 2, 4]));
        let doubling: Vec<Vec<usize>> = (0..100).map(|at| vec![at + 1; 2]).collect();
        let mut doubling: Vec<&[usize]> = doubling.iter().map(Vec::as_slice).collect();
        doubling.push(&[]);
        assert_eq!(of(&doubling).unwrap()[0], u64::MAX);
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(of(&[&[0]]), Err(0));
        assert!(of(&[&[1], &[2], &[1]]).is_err());
    }
}
