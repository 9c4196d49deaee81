//! Assembles the metadata once the program is compiled.

mod cells;
mod variables;

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use petal_metadata::{
    Call, Callee, Cell, CellId, CellKind, CompiledGroup, Component, ComponentId, ControlId,
    ControlKind, ControlNode, Group, GroupId, GroupKind, GroupRun, GroupRunId, Id, Lookup,
    Metadata, Origin, RunRole, Thread, ThreadId, VERSION,
};
use petal_program::CALYX_VERSION;
use petal_program::dependences::Dependences;
use petal_program::tree::{NodeKey, Slot};

use crate::compiled::Compiled;
use crate::probes::{CalleeName, ComponentProbes};
use crate::references::References;
use crate::session::{ComponentRecord, Session};
use crate::sharing::Driver;

/// The metadata of the compiled program, or `None` if it was not instrumented.
pub(crate) fn metadata(ctx: &ir::Context, session: &Session) -> Option<Metadata> {
    let probes = session.probes.as_ref()?;
    let recorded: Vec<&ir::Component> = ctx
        .components
        .iter()
        .filter(|c| session.components.contains_key(&c.name))
        .collect();
    let ids: HashMap<ir::Id, ComponentId> = recorded
        .iter()
        .enumerate()
        .map(|(index, component)| (component.name, ComponentId::from_index(index)))
        .collect();
    let lacking = without_cells(session, &recorded);
    let held = variables::held(session);
    let mut components = Vec::new();
    for component in &recorded {
        let no_compiled = Compiled::default();
        let assembler = Assembler {
            component,
            ids: &ids,
            record: &session.components[&component.name],
            lacks_cells: lacking.contains(&component.name),
            held: held.get(&component.name).map_or(&[], Vec::as_slice),
            references: &session.references,
            dependences: session.dependences.get(&component.name),
            probes: probes.components.get(&component.name)?,
            compiled: session
                .compiled
                .get(&component.name)
                .unwrap_or(&no_compiled),
            groups: Vec::new(),
            group_ids: HashMap::new(),
            cells: Vec::new(),
            cell_ids: HashMap::new(),
        };
        components.push(assembler.run());
    }
    let main = session.main;
    let root = session
        .components
        .get(&main)
        .and_then(|record| record.source.place.span);
    let mut scope = vec!["toplevel".to_owned(), "main".to_owned()];
    if ctx.entrypoint != main {
        // The compiler wrapped main into a component of its own.
        let wrapper = ctx.entrypoint();
        let cell = wrapper
            .cells
            .iter()
            .find(|cell| cell.borrow().type_name() == Some(main))?;
        scope.push(cell.borrow().name().to_string());
    }
    let main_id = ids.get(&main).copied()?;
    let mut front_end = session.files.front_end.clone();
    variables::add(&mut front_end, ctx, session, main_id, &components);
    Some(Metadata {
        version: VERSION,
        petal: env!("CARGO_PKG_VERSION").to_owned(),
        calyx: CALYX_VERSION.to_owned(),
        // Last of all: see `Metadata::seal`.
        fingerprint: String::new(),
        verified: false,
        pipeline: session.pipeline.clone(),
        files: session.files.table(root.map(|span| span.file)),
        front_end,
        prefix: probes.prefix.clone(),
        scope,
        main: main_id,
        components,
    })
}

/// The components of which the source has cells that the compiled program does not have.
fn without_cells(session: &Session, compiled: &[&ir::Component]) -> HashSet<ir::Id> {
    let mut lacking = HashSet::new();
    for (name, record) in &session.components {
        let component = compiled.iter().find(|component| component.name == *name);
        let is_gone = |cell: ir::Id| {
            let cell = record.sharing.lives_in(cell);
            component.is_none_or(|component| component.find_cell(cell).is_none())
        };
        let instances = record.source.instances.iter();
        lacking.extend(
            instances
                .filter(|(cell, _)| is_gone(*cell))
                .map(|(_, of)| of),
        );
    }
    lacking
}

struct Assembler<'a> {
    component: &'a ir::Component,
    ids: &'a HashMap<ir::Id, ComponentId>,
    record: &'a ComponentRecord,
    lacks_cells: bool,
    /// The cells that hold variables of the front end.
    held: &'a [ir::Id],
    /// Of every component.
    references: &'a HashMap<ir::Id, References>,
    dependences: Option<&'a Dependences>,
    probes: &'a ComponentProbes,
    compiled: &'a Compiled,
    groups: Vec<Group>,
    group_ids: HashMap<(Origin, ir::Id), GroupId>,
    cells: Vec<Cell>,
    cell_ids: HashMap<ir::Id, CellId>,
}

impl Assembler<'_> {
    fn run(mut self) -> Component {
        let source = &self.record.source;
        let order = source.preorder();
        let control_ids: HashMap<NodeKey, ControlId> = order
            .iter()
            .enumerate()
            .map(|(index, &key)| (key, ControlId::from_index(index)))
            .collect();
        let (threads, thread_of) = self.threads(&order, &control_ids);
        // They come first, so that invokes of the component know where they are.
        self.add_references();
        let runs: Vec<GroupRun> = self
            .probes
            .runs
            .iter()
            .map(|run| self.group_run(run, &control_ids, &thread_of))
            .collect();
        let calls: Vec<Call> = self
            .probes
            .calls
            .iter()
            .filter_map(|call| {
                let driver = call.caller.map(|run| self.probes.runs[run].driver);
                let callee = match &call.callee {
                    CalleeName::Group(name) => {
                        let called = Driver::Called(*name);
                        let run = self
                            .probes
                            .runs
                            .iter()
                            .position(|run| run.driver == called)?;
                        Callee::Group(GroupRunId::from_index(run))
                    }
                    CalleeName::Cell(name) => Callee::Cell(self.called_cell(driver, *name)?),
                    CalleeName::Reference(at) => Callee::Cell(CellId::from_index(*at)),
                };
                Some(Call {
                    caller: call.caller.map(GroupRunId::from_index),
                    callee,
                    probe: call.probe,
                })
            })
            .collect();
        let lookups = self.lookups();
        self.add_instances();
        for &cell in self.held {
            self.cell(cell, self.record.sharing.lives_in(cell));
        }
        let continuous = self.continuous();
        let control = order
            .iter()
            .map(|key| self.control_node(*key, &control_ids, &thread_of))
            .collect();
        let schedule = |number: usize| {
            let program = self.probes.static_programs.get(number)?;
            Some(program.map(&|key| control_ids.get(&key).copied()))
        };
        let is_static = self.component.latency.is_some();
        let lives_in = |cell| self.record.sharing.lives_in(cell);
        let sequences = self
            .dependences
            .map(|dependences| dependences.sequences(&control_ids, lives_in));
        Component {
            schedule: is_static.then(|| schedule(0)).flatten(),
            name: self.component.name.to_string(),
            lacks_cells: self.lacks_cells,
            span: source.place.span,
            positions: source.place.positions.clone(),
            latency: self.component.latency.map(Into::into),
            cells: self.cells,
            groups: self.groups,
            control,
            sequences: sequences.unwrap_or_default(),
            runs,
            calls,
            lookups,
            continuous,
            threads,
            compiled: self
                .compiled
                .groups
                .iter()
                .map(|entry| CompiledGroup {
                    name: entry.name.to_string(),
                    node: entry.node.and_then(|key| control_ids.get(&key).copied()),
                    probe: entry.probe,
                    schedule: entry.static_program.and_then(schedule),
                    kind: entry.kind.clone(),
                })
                .collect(),
            root: self.compiled.root,
            registers: self.compiled.registers.clone(),
        }
    }

    /// What each run of a group looks up, and what continuous assignments do.
    fn lookups(&mut self) -> Vec<Lookup> {
        let mut all = Vec::new();
        for lookup in &self.probes.lookups {
            let runs: Vec<Option<usize>> = match lookup.group {
                None => vec![None],
                Some(group) => {
                    let runs = self.probes.runs.iter().enumerate();
                    let runs = runs.filter(|(_, run)| run.group == group);
                    runs.map(|(at, _)| Some(at)).collect()
                }
            };
            for run in runs {
                let driver = run.map(|run| self.probes.runs[run].driver);
                let cell = match lookup.memory {
                    CalleeName::Group(_) => None,
                    CalleeName::Cell(name) => self.called_cell(driver, name),
                    CalleeName::Reference(at) => Some(CellId::from_index(at)),
                };
                // The optimiser may have done without it in the end.
                all.extend(cell.map(|cell| Lookup {
                    run: run.map(GroupRunId::from_index),
                    cell,
                    asks: lookup.asks,
                    probe: lookup.probe,
                    takes: lookup.takes,
                }));
            }
        }
        all
    }

    /// The combinational primitives that continuous assignments drive.
    fn continuous(&mut self) -> Vec<CellId> {
        let mut cells: Vec<CellId> = Vec::new();
        for callee in &self.probes.continuous {
            let cell = match callee {
                CalleeName::Group(_) => None,
                // The optimiser may have done without it in the end.
                CalleeName::Cell(name) => self.called_cell(None, *name),
                CalleeName::Reference(at) => Some(CellId::from_index(*at)),
            };
            let primitive =
                |cell: &CellId| matches!(self.cells[cell.index()].kind, CellKind::Primitive(_));
            cells.extend(cell.filter(primitive));
        }
        cells
    }

    /// One thread for each arm of each `par`, and the thread that every node is in.
    fn threads(
        &self,
        order: &[NodeKey],
        control_ids: &HashMap<NodeKey, ControlId>,
    ) -> (Vec<Thread>, HashMap<NodeKey, ThreadId>) {
        let nodes = &self.record.source.nodes;
        let mut threads = vec![Thread { arm: None }];
        let mut thread_of: HashMap<NodeKey, ThreadId> = HashMap::new();
        for &key in order {
            let parent = nodes[&key].parent;
            let is_arm = parent.is_some_and(|parent| {
                matches!(
                    nodes[&parent].kind,
                    ControlKind::Par | ControlKind::StaticPar
                )
            });
            let thread = match parent {
                Some(parent) if is_arm => {
                    let arm = u32::try_from(nodes[&key].position).unwrap_or(u32::MAX);
                    threads.push(Thread {
                        arm: Some((control_ids[&parent], arm)),
                    });
                    ThreadId::from_index(threads.len() - 1)
                }
                Some(parent) => thread_of[&parent],
                None => ThreadId::from_index(0),
            };
            thread_of.insert(key, thread);
        }
        (threads, thread_of)
    }

    fn group_run(
        &mut self,
        run: &crate::probes::RunProbe,
        control_ids: &HashMap<NodeKey, ControlId>,
        thread_of: &HashMap<NodeKey, ThreadId>,
    ) -> GroupRun {
        let (group, part, control, role, thread) = match run.driver {
            Driver::Called(name) => {
                let origin = self.origin_of_group(name);
                (
                    self.group(origin, name),
                    None,
                    None,
                    RunRole::Called,
                    ThreadId::from_index(0),
                )
            }
            Driver::Control(key, slot) => {
                let node = &self.record.source.nodes[&key];
                let in_source = node.group.map(|name| (node.origin.clone(), name));
                let (group, part, role) = match (slot, in_source) {
                    (Slot::Body, Some((origin, name))) if node.kind.is_enable() => {
                        (self.group(origin, name), None, RunRole::Body)
                    }
                    (Slot::Part(_), Some((origin, name))) => {
                        let whole = self.group(origin, name);
                        let name = self.record.sharing.first_name(run.driver);
                        let part = self.group(Origin::Compiler, name.unwrap_or(run.group));
                        (whole, Some(part), RunRole::Body)
                    }
                    (Slot::Condition, Some((origin, name))) => {
                        (self.group(origin, name), None, RunRole::Condition)
                    }
                    (Slot::Control, _) => (
                        self.group(Origin::Compiler, run.group),
                        None,
                        RunRole::Control,
                    ),
                    _ => (self.group(Origin::Compiler, run.group), None, RunRole::Body),
                };
                (
                    group,
                    part,
                    control_ids.get(&key).copied(),
                    role,
                    thread_of[&key],
                )
            }
        };
        let role = match role {
            RunRole::Body if run.is_idle => RunRole::Idle,
            role => role,
        };
        GroupRun {
            group,
            part,
            control,
            role,
            thread,
            latency: run.latency,
            probe: run.probe,
            enable: run.enable,
        }
    }

    fn origin_of_group(&self, name: ir::Id) -> Origin {
        if self.record.source.groups.contains_key(&name) {
            Origin::Source
        } else {
            Origin::Compiler
        }
    }

    fn group(&mut self, origin: Origin, name: ir::Id) -> GroupId {
        if let Some(&id) = self.group_ids.get(&(origin.clone(), name)) {
            return id;
        }
        let in_source = match origin {
            Origin::Source => self.record.source.groups.get(&name),
            _ => None,
        };
        let kind = in_source.map_or_else(
            || {
                if self.component.find_static_group(name).is_some() {
                    GroupKind::Static
                } else {
                    GroupKind::Dynamic
                }
            },
            |group| group.kind,
        );
        let id = GroupId::from_index(self.groups.len());
        let place = in_source.map(|group| group.place.clone());
        let place = place.unwrap_or_default();
        let done = in_source.and_then(|group| group.done.clone());
        self.groups.push(Group {
            name: name.to_string(),
            kind,
            origin: origin.clone(),
            span: place.span,
            positions: place.positions,
            done,
        });
        self.group_ids.insert((origin, name), id);
        id
    }

    fn control_node(
        &mut self,
        key: NodeKey,
        control_ids: &HashMap<NodeKey, ControlId>,
        thread_of: &HashMap<NodeKey, ThreadId>,
    ) -> ControlNode {
        let node = &self.record.source.nodes[&key];
        let group = node
            .group
            .filter(|_| node.kind.is_enable())
            .map(|name| self.group(node.origin.clone(), name));
        // An inlined cell is gone.
        let cell = node
            .cell
            .and_then(|name| self.cell(name, self.record.sharing.lives_in(name)));
        let bindings = match (cell, node.cell_type) {
            (Some(_), Some(component)) if node.origin == Origin::Source => {
                self.bindings(component, &node.handed_over)
            }
            _ => Vec::new(),
        };
        ControlNode {
            kind: node.kind,
            span: node.place.span,
            positions: node.place.positions.clone(),
            checkpoint: node.place.checkpoint,
            parent: node.parent.map(|parent| control_ids[&parent]),
            origin: node.origin.clone(),
            thread: thread_of[&key],
            group,
            cell,
            bindings,
            latency: self.probes.latencies.get(&key).copied(),
            repeats: node.repeats,
            merged: self.probes.merged.contains(&key),
        }
    }
}
