//! What a design consists of, and what each part of it cost: components, statements and groups, where they stand, and who runs them.

use std::collections::BTreeMap;

use petal_analysis::Analysis;
use petal_analysis::activations::Durations;
use petal_analysis::elements::ElementKind;
use petal_analysis::front_end::{PartNames, ProgramPart};
use petal_metadata::{
    Callee, CellId, CellKind, Component, ComponentId, ControlId, GroupId, GroupRunId, Id as _,
    Metadata, Origin, PositionId, Span, labels,
};
use petal_reconstruct::{InstanceId, instance_path};
use serde_json::Value as Json;

use super::facts::Facts;
use super::hover::about;

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A component.
    Component,
    /// A loop that is in no other one of its component.
    OutermostLoop,
    /// Another statement.
    Statement,
    /// A group.
    Group,
    /// A cell.
    Cell,
}

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The file, among those of the design.
    pub file: usize,
    /// Its first line, counted from 1.
    pub line: u32,
    /// Its last one.
    pub end_line: u32,
}

/// Who runs a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The part that does.
    pub part: usize,
    /// For how many cycles, and how often, if that is known.
    pub cycles: Option<u64>,
    /// How often.
    pub times: Option<u64>,
}

/// A part of a design.
#[derive(Debug)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Such as `main.while@L12`, `main.read` or `main`.
    pub name: String,
    /// Such as `while`, `group` or `component`.
    pub keyword: &'static str,
    /// Where it stands: in a Calyx file, and in one of the front end.
    pub places: Vec<Place>,
    /// The first component cell that it is in, with its name there: what a timeline calls it.
    pub path: Option<String>,
    /// Cycles in which it was active.
    pub cycles: u64,
    /// Cycles that are charged to it.
    pub cost: u64,
    /// What is known of it, each in a sentence.
    pub facts: Vec<String>,
    /// Why it costs what it does, and what to do about it.
    pub why: Vec<String>,
    /// Both in Markdown, with its name.
    pub about: String,
    /// Who runs it.
    pub callers: Vec<Caller>,
}

/// The parts of a design, and where each is in their list.
struct List<'a> {
    metadata: &'a Metadata,
    facts: Facts<'a>,
    instances: BTreeMap<ComponentId, String>,
    components: BTreeMap<ComponentId, usize>,
    statements: BTreeMap<(ComponentId, ControlId), usize>,
    groups: BTreeMap<(ComponentId, GroupId), usize>,
    parts: Vec<Part>,
}

/// The parts of the design that a run was of. `advice` is what `petal advise` found in it.
pub fn parts(analysis: &Analysis<'_>, advice: Option<&Json>) -> Vec<Part> {
    let metadata = analysis.metadata();
    let all = analysis.profile().instances();
    let mut instances = BTreeMap::new();
    for (at, instance) in all.iter().enumerate() {
        let path = || instance_path(metadata, all, InstanceId::from_index(at));
        instances.entry(instance.component).or_insert_with(path);
    }
    let mut list = List {
        metadata,
        facts: Facts::new(analysis, advice),
        instances,
        components: BTreeMap::new(),
        statements: BTreeMap::new(),
        groups: BTreeMap::new(),
        parts: Vec::new(),
    };
    for id in metadata.component_ids() {
        list.add(id);
    }
    let mut runs: BTreeMap<(ComponentId, GroupRunId), Durations> = BTreeMap::new();
    let activations = analysis.activations();
    for (element, durations) in activations.durations() {
        if let ElementKind::Group(run) = element.kind {
            let of = (activations.component_of(element), run);
            runs.entry(of).or_default().merge(&durations);
        }
    }
    for id in metadata.component_ids() {
        list.add_callers(id, &runs);
    }
    for part in &mut list.parts {
        part.about = about(part);
    }
    list.parts
}

impl List<'_> {
    /// A component with all that is in it.
    fn add(&mut self, id: ComponentId) {
        let component = self.metadata.component(id);
        let names = PartNames::new(self.metadata, component);
        let mut part = self.part(
            Kind::Component,
            component.name.clone(),
            (component.span, &component.positions),
        );
        part.path = self.instances.get(&id).cloned();
        self.facts.of_component(id, &mut part);
        self.components.insert(id, self.parts.len());
        self.parts.push(part);
        for (at, node) in component.control.iter().enumerate() {
            let statement = ControlId::from_index(at);
            let mut above = component.ancestry(statement).skip(1);
            let is_outermost =
                node.kind.is_loop() && !above.any(|of| component.node(of).kind.is_loop());
            let kind = if is_outermost {
                Kind::OutermostLoop
            } else {
                Kind::Statement
            };
            let label = names.name(ProgramPart::Statement(statement));
            let name = format!("{}.{label}", component.name);
            let mut part = self.part(kind, name, (node.span, &node.positions));
            part.keyword = node.kind.keyword();
            let cell = self.instances.get(&id);
            part.path = cell.map(|cell| format!("{cell}.{label}"));
            self.facts.of_statement((id, statement), &mut part);
            self.statements.insert((id, statement), self.parts.len());
            self.parts.push(part);
        }
        let labels = labels::group_labels(component);
        for (at, group) in component.groups.iter().enumerate() {
            let of = (id, GroupId::from_index(at));
            let name = format!("{}.{}", component.name, labels[at]);
            let mut part = self.part(Kind::Group, name, (group.span, &group.positions));
            part.keyword = "group";
            self.facts.of_group(of, &mut part);
            self.groups.insert(of, self.parts.len());
            self.parts.push(part);
        }
        let cells = component.cells.iter().enumerate();
        for (at, cell) in cells.filter(|(_, cell)| cell.origin == Origin::Source) {
            let name = format!("{}.{}", component.name, cell.name);
            let mut part = self.part(Kind::Cell, name, (cell.span, &cell.positions));
            part.keyword = "cell";
            self.facts.of_cell((id, CellId::from_index(at)), &mut part);
            self.parts.push(part);
        }
    }

    fn part(
        &self,
        kind: Kind,
        name: String,
        (span, positions): (Option<Span>, &[PositionId]),
    ) -> Part {
        let calyx = span.map(|span| Place {
            file: span.file.index(),
            line: span.line,
            end_line: span.end_line,
        });
        let front = self.metadata.front_end.front(positions);
        let front = front.map(|position| Place {
            file: self.metadata.files.len() + position.file.index(),
            line: position.line,
            end_line: position.end_line,
        });
        Part {
            kind,
            name,
            keyword: "component",
            places: calyx.into_iter().chain(front).collect(),
            path: None,
            cycles: 0,
            cost: 0,
            facts: Vec::new(),
            why: Vec::new(),
            about: String::new(),
            callers: Vec::new(),
        }
    }

    /// Who runs the parts of a component, and the components that it has cells of.
    fn add_callers(
        &mut self,
        id: ComponentId,
        runs: &BTreeMap<(ComponentId, GroupRunId), Durations>,
    ) {
        let component = self.metadata.component(id);
        for (at, node) in component.control.iter().enumerate() {
            let statement = ControlId::from_index(at);
            let above = match node.parent {
                Some(parent) => self.statements[&(id, parent)],
                None => self.components[&id],
            };
            let this = self.statements[&(id, statement)];
            let (cycles, times) = (self.parts[this].cycles, self.facts.times(id, statement));
            self.add_caller(this, above, (Some(cycles), times));
            if let Some(cell) = node.cell
                && let CellKind::Component(callee) = component.cell(cell).kind
            {
                let callee = self.components[&callee];
                self.add_caller(callee, this, (Some(cycles), times));
            }
        }
        for (at, run) in component.runs.iter().enumerate() {
            if let Some(control) = run.control {
                let of = runs.get(&(id, GroupRunId::from_index(at)));
                let caller = self.statements[&(id, control)];
                let cost = (of.map(|of| of.total), of.map(|of| of.count));
                self.add_caller(self.groups[&(id, run.group)], caller, cost);
            }
        }
        self.add_calls(id, component);
    }

    /// What groups run by themselves.
    fn add_calls(&mut self, id: ComponentId, component: &Component) {
        for call in &component.calls {
            let Some(caller) = call.caller.map(|run| component.run(run)) else {
                continue;
            };
            let callee = match call.callee {
                Callee::Group(run) => self.groups.get(&(id, component.run(run).group)),
                // An invoke has called it already.
                Callee::Cell(_)
                    if caller
                        .control
                        .is_some_and(|of| component.node(of).cell.is_some()) =>
                {
                    None
                }
                Callee::Cell(cell) => match component.cell(cell).kind {
                    CellKind::Component(of) => self.components.get(&of),
                    CellKind::Primitive(_) => None,
                },
            };
            if let Some(&callee) = callee {
                let caller = self.groups[&(id, caller.group)];
                self.add_caller(callee, caller, (None, None));
            }
        }
    }

    /// A caller, whose runs of the part count together.
    fn add_caller(
        &mut self,
        of: usize,
        caller: usize,
        (cycles, times): (Option<u64>, Option<u64>),
    ) {
        let callers = &mut self.parts[of].callers;
        let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
            (Some(sum), Some(more)) => Some(sum + more),
            (sum, more) => sum.or(more),
        };
        match callers.iter_mut().find(|other| other.part == caller) {
            Some(known) => {
                known.cycles = add(known.cycles, cycles);
                known.times = add(known.times, times);
            }
            None => callers.push(Caller {
                part: caller,
                cycles,
                times,
            }),
        }
    }
}
