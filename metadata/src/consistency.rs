//! Whether the tables of a metadata file fit together, so that readers may index them freely.

use crate::front_end::FrontEnd;
use crate::ids::{CellId, ComponentId, Id, PositionId};
use crate::schedule::Schedule;
use crate::schema::compiled::CompiledKind;
use crate::schema::runs::Callee;
use crate::schema::{Binding, Cell, CellKind, Component, ControlNode, Metadata, Span};
use crate::variables::{MAX_DEPTH, MAX_PARTS, Variable};

/// How many signals all instances of a design may have, and how many groups one may call.
const MAX_SIGNALS: u64 = 1 << 22;

/// For each of `count` entries, its size and those of all that it leads to, on every way there.
/// `entry` gives the size of an entry alone and what it leads to. `Err` is one that leads to itself.
fn totals(count: usize, entry: impl Fn(usize) -> (u64, Vec<usize>)) -> Result<Vec<u64>, usize> {
    let mut totals: Vec<Option<u64>> = vec![None; count];
    let mut open = vec![false; count];
    // The ways that are still to go; an entry stays until all behind it have their totals.
    let mut stack: Vec<usize> = (0..count).collect();
    while let Some(&at) = stack.last() {
        if totals[at].is_some() {
            stack.pop();
            continue;
        }
        let (size, next) = entry(at);
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
            let below = next.iter().filter_map(|&next| totals[next]);
            totals[at] = Some(below.fold(size, u64::saturating_add));
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

    /// Where something called `from` is written.
    fn place(
        &self,
        span: Option<Span>,
        positions: &[PositionId],
        from: &str,
    ) -> Result<(), String> {
        for &position in positions {
            let count = self.metadata.front_end.positions.len();
            self.index("position", position, count, from)?;
        }
        match span {
            Some(span) => self.index("file", span.file, self.metadata.files.len(), from),
            None => Ok(()),
        }
    }

    fn run(&self) -> Result<(), String> {
        let component = self.component;
        self.place(component.span, &component.positions, "it")?;
        for group in &component.groups {
            self.place(group.span, &group.positions, &group.name)?;
        }
        for cell in &component.cells {
            self.place(cell.span, &cell.positions, &cell.name)?;
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
            self.place(node.span, &node.positions, &from)?;
            self.index("thread", node.thread, component.threads.len(), &from)?;
            if let Some(group) = node.group {
                self.index("group", group, component.groups.len(), &from)?;
            }
            if let Some(cell) = node.cell {
                self.index("cell", cell, component.cells.len(), &from)?;
            }
            self.bindings(node, &from)?;
        }
        for sequence in &component.sequences {
            let from = "a sequence";
            let count = component.control.len();
            self.index("control node", sequence.node, count, from)?;
            for (at, step) in sequence.steps.iter().enumerate() {
                self.index("control node", step.node, count, from)?;
                let contends = step.contends.iter().map(|contention| contention.with);
                let mut before = step.after.iter().copied().chain(contends);
                if before.any(|before| before as usize >= at) {
                    return Err(format!(
                        "component `{}`: step {at} of {from} waits for a later one",
                        component.name
                    ));
                }
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

    fn bindings(&self, node: &ControlNode, from: &str) -> Result<(), String> {
        let component = self.component;
        let invoked = node.cell.map(|cell| &component.cell(cell).kind);
        for &Binding { formal, actual } in &node.bindings {
            let Some(&CellKind::Component(invoked)) = invoked else {
                return Err(format!(
                    "component `{}`: {from} hands over cells, but invokes no component",
                    component.name
                ));
            };
            let invoked = self.metadata.component(invoked);
            self.index("`ref` cell", formal, invoked.cells.len(), from)?;
            self.index("cell", actual, component.cells.len(), from)?;
            let (formal, actual) = (invoked.cell(formal), component.cell(actual));
            let of_component = |cell: &Cell| match cell.kind {
                CellKind::Component(id) => Some(id),
                CellKind::Primitive(_) => None,
            };
            if !formal.is_reference() || of_component(formal) != of_component(actual) {
                return Err(format!(
                    "component `{}`: {from} hands `{}` to `{}`, which does not take it",
                    component.name, actual.name, formal.name
                ));
            }
        }
        Ok(())
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
        for (at, lookup) in component.lookups.iter().enumerate() {
            let from = format!("lookup {at}");
            if let Some(run) = lookup.run {
                self.index("group run", run, component.runs.len(), &from)?;
            }
            self.index("cell", lookup.cell, component.cells.len(), &from)?;
        }
        let continuous = component.continuous.iter();
        for &cell in continuous {
            let from = "the continuous assignments";
            self.index("cell", cell, component.cells.len(), from)?;
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
        let scheduled = component.schedules().flat_map(Schedule::all);
        for statement in scheduled.filter_map(|part| part.statement) {
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
        let FrontEnd {
            files, positions, ..
        } = &self.front_end;
        for (at, position) in positions.iter().enumerate() {
            if position.file.index() >= files.len() {
                return Err(format!(
                    "position {at} refers to front-end file {}, of which there are {}",
                    position.file.index(),
                    files.len()
                ));
            }
            if position.line == 0 || position.end_line < position.line {
                return Err(format!("position {at} has no lines"));
            }
        }
        for component in &self.components {
            Checker {
                metadata: self,
                component,
            }
            .run()?;
        }
        self.check_variables()?;
        self.check_sizes()
    }

    /// That variables, and what holds them, lead to something, and to a register or memory in the end.
    fn check_variables(&self) -> Result<(), String> {
        let FrontEnd {
            positions,
            variables,
            holders,
            variable_sets,
            ..
        } = &self.front_end;
        let mut sets = positions.iter().filter_map(|of| of.variables);
        if let Some(set) = sets.find(|&set| set as usize >= variable_sets.len()) {
            return Err(format!("a position has variables {set}, which are missing"));
        }
        let mut named = variable_sets.iter().flatten();
        if let Some(id) = named.find(|id| id.index() >= variables.len()) {
            return Err(format!("variable {} is missing", id.index()));
        }
        for Variable {
            name, of, parts, ..
        } in variables
        {
            if of.depth() > MAX_DEPTH || of.size() > MAX_PARTS {
                return Err(format!("variable `{name}` has too many parts"));
            }
            let mut held = parts.iter().map(|part| part.holder.index());
            if held.any(|holder| holder >= holders.len()) {
                return Err(format!("what holds variable `{name}` is missing"));
            }
        }
        for (at, holder) in holders.iter().enumerate() {
            if !self.leads_to_primitive(&holder.cells) {
                return Err(format!("holder {at} of variables is no register or memory"));
            }
        }
        Ok(())
    }

    /// Whether these cells lead from main to one of a primitive.
    fn leads_to_primitive(&self, cells: &[CellId]) -> bool {
        let mut component = Some(self.main);
        for id in cells {
            let holder = component.and_then(|of| self.components.get(of.index()));
            let Some(cell) = holder.and_then(|of| of.cells.get(id.index())) else {
                return false;
            };
            component = match cell.kind {
                CellKind::Component(of) => Some(of),
                CellKind::Primitive(_) => None,
            };
        }
        component.is_none()
    }

    /// A component that contains itself would have endlessly many instances; and components that
    /// contain one another twice each have exponentially many. The same holds for calls.
    fn check_sizes(&self) -> Result<(), String> {
        let components = self.components.len();
        let signals = totals(components, |at| {
            let component = &self.components[at];
            let size = component.runs.len() + component.calls.len();
            let size = size + component.compiled.len() + component.registers.len();
            let instances = component.instances().map(|(_, child)| child.index());
            (size as u64, instances.collect())
        });
        let contains_itself =
            |at: usize| format!("component `{}` contains itself", self.components[at].name);
        let signals = signals.map_err(contains_itself)?;
        // Nor may it be handed over to itself: call trees go down from `ref` cells, too.
        let handed_over = totals(components, |at| {
            let component = &self.components[at];
            let below = component
                .instances()
                .chain(component.component_references());
            (0, below.map(|(_, child)| child.index()).collect())
        });
        handed_over.map_err(contains_itself)?;
        if signals[self.main.index()] > MAX_SIGNALS {
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
            if calls.iter().any(|&calls| calls > MAX_SIGNALS) {
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
    use crate::{CellKind, ComponentId, Id, Metadata};

    /// What is wrong with the metadata of a design with `ref` cells after `edit`.
    fn problem(edit: impl FnOnce(&mut Metadata)) -> String {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../fuzz/corpus/metadata/struct-ref-component"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let mut metadata: Metadata = serde_json::from_str(&text).unwrap();
        edit(&mut metadata);
        metadata.check().err().unwrap_or_default()
    }

    #[test]
    fn what_is_handed_over_is_taken() {
        /// The first component with an invoke that hands something over.
        fn caller(metadata: &mut Metadata) -> &mut crate::Component {
            let mut components = metadata.components.iter_mut();
            let component = components.find(|c| c.control.iter().any(|n| !n.bindings.is_empty()));
            component.unwrap()
        }
        fn binding(metadata: &mut Metadata) -> &mut crate::Binding {
            let nodes = caller(metadata).control.iter_mut();
            nodes.flat_map(|node| &mut node.bindings).next().unwrap()
        }
        assert_eq!(problem(|_| {}), "");
        let missing = problem(|metadata| binding(metadata).formal = Id::from_index(99));
        assert!(missing.contains("refers to `ref` cell 99"), "{missing}");
        let missing = problem(|metadata| binding(metadata).actual = Id::from_index(99));
        assert!(missing.contains("refers to cell 99"), "{missing}");
        let other = problem(|metadata| {
            let cells = &mut caller(metadata).cells;
            let component = |cell: &crate::Cell| matches!(cell.kind, CellKind::Component(_));
            let component = cells.iter().position(component).unwrap();
            binding(metadata).actual = Id::from_index(component);
        });
        assert!(other.contains("does not take it"), "{other}");
        let no_reference = problem(|metadata| {
            let cells = metadata.components.iter_mut().flat_map(|c| &mut c.cells);
            for cell in cells {
                cell.instance.get_or_insert_with(|| cell.name.clone());
            }
        });
        assert!(no_reference.contains("does not take it"), "{no_reference}");
        let nothing = problem(|metadata| {
            for node in &mut caller(metadata).control {
                node.cell = None;
            }
        });
        assert!(nothing.contains("invokes no component"), "{nothing}");
    }

    #[test]
    fn nothing_is_handed_to_itself() {
        let itself = problem(|metadata| {
            let refers = |c: &crate::Component| c.component_references().next().is_some();
            let at = metadata.components.iter().position(refers).unwrap();
            let component = &mut metadata.components[at];
            let (cell, _) = component.component_references().next().unwrap();
            component.cells[cell.index()].kind = CellKind::Component(ComponentId::from_index(at));
            for component in &mut metadata.components {
                component
                    .control
                    .iter_mut()
                    .for_each(|node| node.bindings.clear());
            }
        });
        assert!(itself.contains("contains itself"), "{itself}");
    }

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
