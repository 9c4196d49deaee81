//! Puts the probes into a program: after the optimiser has decided, before control is compiled.
//!
//! Owns which groups run, with their GA probes. `calls.rs` finds what a group
//! calls, `schedules.rs` records static programs, `cells.rs` makes the cells. The probes of compilation groups
//! come later, in `compiled.rs`; the pass `profiler-instrumentation`, which only calls all this, is in
//! `plugin.rs`.

mod calls;
mod cells;
mod lookups;
mod schedules;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::{ProbeKind, ProbePrefix};

pub(crate) use cells::{add_cell, add_guarded_probe, add_named_probe, is_probe};
use cells::{add_primitive, add_probe, all_names};
use petal_program::tree::{GroupRef, View, ViewMut, called_group};
use schedules::Enables;

use crate::align::Shape;
use crate::marker;
use crate::probes::{CallProbe, ComponentProbes, Probes, RunProbe};
use crate::references::References;
use crate::session::{ComponentRecord, Session};
use crate::sharing::Driver;

/// Adds all probes but those of compilation groups to the program.
pub(crate) fn instrument(ctx: &mut ir::Context, session: &mut Session) {
    let names: Vec<String> = all_names(ctx);
    let prefix = ProbePrefix::avoiding(&names.iter().map(String::as_str));
    add_primitive(ctx, &prefix);
    let comb_components: HashSet<ir::Id> = ctx
        .components
        .iter()
        .filter(|c| c.is_comb)
        .map(|c| c.name)
        .collect();
    let mut probes = HashMap::new();
    for component in &mut ctx.components {
        let Some(record) = session.components.get_mut(&component.name) else {
            continue;
        };
        let mut instrumenter = Instrumenter {
            component,
            lib: &ctx.lib,
            prefix: &prefix,
            comb_components: &comb_components,
            references: &session.references,
            probes: ComponentProbes::default(),
        };
        instrumenter.run(record);
        let component_probes = instrumenter.probes;
        // With the numbers of static programs.
        record.shape = Shape::of(View::of(&component.control.borrow()));
        probes.insert(component.name, component_probes);
    }
    marker::add(ctx, &prefix);
    session.probes = Some(Probes {
        prefix,
        components: probes,
    });
}

/// What is right around a control node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// A dynamic statement, or nothing: a static program as a whole is here.
    Dynamic,
    /// A `static repeat`, which starts a group that is its whole body by the group's `go`.
    Repeat,
    /// Another static statement, into which the body is copied.
    Static,
}

struct Instrumenter<'a> {
    component: &'a mut ir::Component,
    lib: &'a ir::LibrarySignatures,
    prefix: &'a ProbePrefix,
    comb_components: &'a HashSet<ir::Id>,
    /// Of every component.
    references: &'a HashMap<ir::Id, References>,
    probes: ComponentProbes,
}

impl Instrumenter<'_> {
    fn run(&mut self, record: &ComponentRecord) {
        let control = std::rc::Rc::clone(&self.component.control);
        let mut enables = Enables::of(&record.source, self.component);
        self.probes
            .add_static_programs(ViewMut::of(&mut control.borrow_mut()), None, &mut enables);
        let mut runs = self.enables();
        self.add_called_groups(&mut runs);
        // For each group its first run, and the calls of that.
        let mut probed: HashMap<ir::Id, (usize, Range<usize>)> = HashMap::new();
        for (driver, group) in runs {
            match probed.get(&group.name()) {
                Some((first, calls)) => self.share_probes(driver, *first, calls.clone()),
                None => {
                    let (run, first_call) = (self.probes.runs.len(), self.probes.calls.len());
                    self.instrument_group(driver, &group);
                    let calls = first_call..self.probes.calls.len();
                    probed.insert(group.name(), (run, calls));
                }
            }
        }
        let continuous = self.component.continuous_assignments.clone();
        let mut added = self.instrument_calls(None, &continuous);
        added.extend(self.instrument_lookups(None, &continuous));
        for assignment in &continuous {
            if let Some((callee, false)) = self.callee(assignment, true)
                && !self.probes.continuous.contains(&callee)
            {
                self.probes.continuous.push(callee);
            }
        }
        self.component.continuous_assignments.extend(added);
        let component = &self.component;
        self.probes.groups = component
            .get_groups()
            .iter()
            .map(|g| g.borrow().name())
            .collect();
        let static_groups = component.get_static_groups().iter();
        self.probes
            .groups
            .extend(static_groups.map(|g| g.borrow().name()));
        self.probes.cells = self
            .component
            .cells
            .iter()
            .map(|cell| cell.borrow().name())
            .collect();
    }

    /// What the control program runs, in preorder. A group stays one group, however many enables it
    /// has: where it has several, [`crate::compiled`] and [`crate::triggers`] probe what starts it.
    /// Only inside of a static program are enables given groups of their own, where `static-inline`
    /// copies the assignments of each of them into the program's group anyway.
    fn enables(&mut self) -> Vec<(Driver, GroupRef)> {
        let mut uses: HashMap<ir::Id, usize> = HashMap::new();
        let control = std::rc::Rc::clone(&self.component.control);
        View::of(&control.borrow()).walk(&mut |view| {
            if let Some(group) = view.group() {
                *uses.entry(group.name()).or_default() += 1;
            }
        });
        for name in self.called_by_assignments() {
            *uses.entry(name).or_default() += 1;
        }
        let mut runs = Vec::new();
        self.add_enables(
            ViewMut::of(&mut control.borrow_mut()),
            Around::Dynamic,
            &uses,
            &mut runs,
        );
        runs
    }

    fn add_enables(
        &mut self,
        mut node: ViewMut<'_>,
        around: Around,
        uses: &HashMap<ir::Id, usize>,
        runs: &mut Vec<(Driver, GroupRef)>,
    ) {
        if node.view().static_program().is_some() {
            self.probes.triggers.push(Vec::new());
        }
        if let Some(mut group) = node.view().group() {
            let identity = node.view().identity();
            let shared = identity.is_some() && uses[&group.name()] > 1;
            let run = (shared && around != Around::Static).then_some(runs.len());
            if let Some(triggers) = self.probes.triggers.last_mut() {
                match around {
                    Around::Dynamic => {}
                    Around::Repeat => triggers.push(run),
                    Around::Static => triggers.extend(group.called().iter().map(|_| None)),
                }
            }
            if let Some(run) = run {
                node.set_run(run);
            } else if shared {
                group = self.clone_group(&group);
                node.set_group(&group);
            }
            if let Some((key, slot)) = identity {
                runs.push((Driver::Control(key, slot), group));
            }
        }
        let around = match node.view() {
            View::Dynamic(_) => Around::Dynamic,
            View::Static(ir::StaticControl::Repeat(_)) => Around::Repeat,
            View::Static(_) => Around::Static,
        };
        for child in node.children() {
            self.add_enables(child, around, uses, runs);
        }
    }

    /// The groups whose `go` some assignment drives.
    fn called_by_assignments(&self) -> HashSet<ir::Id> {
        let mut called = HashSet::new();
        for group in self.component.get_groups().iter() {
            called.extend(GroupRef::Dynamic(group.clone()).called());
        }
        for group in self.component.get_static_groups().iter() {
            called.extend(GroupRef::Static(group.clone()).called());
        }
        let continuous = &self.component.continuous_assignments;
        called.extend(continuous.iter().filter_map(called_group));
        called
    }

    fn clone_group(&mut self, group: &GroupRef) -> GroupRef {
        let mut builder = ir::Builder::new(self.component, self.lib);
        match group {
            GroupRef::Dynamic(original) => {
                let original = original.borrow();
                let copy = builder.add_group(original.name());
                let mut assignments = original.assignments.clone();
                for assignment in &mut assignments {
                    assignment.for_each_port(|port| {
                        let port = port.borrow();
                        (port.is_hole() && port.get_parent_name() == original.name())
                            .then(|| copy.borrow().get(port.name))
                    });
                }
                copy.borrow_mut().assignments = assignments;
                copy.borrow_mut().attributes = original.attributes.clone();
                GroupRef::Dynamic(copy)
            }
            GroupRef::Static(original) => {
                let original = original.borrow();
                let copy = builder.add_static_group(original.name(), original.get_latency());
                copy.borrow_mut()
                    .assignments
                    .clone_from(&original.assignments);
                copy.borrow_mut().attributes = original.attributes.clone();
                GroupRef::Static(copy)
            }
        }
    }

    /// Appends the groups that the groups in `runs` (and continuous assignments) call.
    fn add_called_groups(&self, runs: &mut Vec<(Driver, GroupRef)>) {
        let mut seen = HashSet::new();
        let mut called: Vec<ir::Id> = self
            .component
            .continuous_assignments
            .iter()
            .filter_map(called_group)
            .collect();
        let mut at = 0;
        loop {
            for name in called.drain(..) {
                if seen.insert(name)
                    && let Some(group) = self.find_group(name)
                {
                    runs.push((Driver::Called(name), group));
                }
            }
            let Some((_, group)) = runs.get(at) else {
                break;
            };
            called = group.called();
            at += 1;
        }
    }

    fn find_group(&self, name: ir::Id) -> Option<GroupRef> {
        self.component
            .find_group(name)
            .map(GroupRef::Dynamic)
            .or_else(|| self.component.find_static_group(name).map(GroupRef::Static))
    }

    /// Adds a run of a group that is probed already, for the run `first` with its `calls`.
    fn share_probes(&mut self, driver: Driver, first: usize, calls: Range<usize>) {
        let run = self.probes.runs.len();
        let RunProbe {
            group,
            latency,
            is_idle,
            probe,
            enable,
            ..
        } = self.probes.runs[first];
        self.probes.runs.push(RunProbe {
            group,
            driver,
            latency,
            is_idle,
            probe,
            enable,
        });
        for call in calls {
            let call = self.probes.calls[call].clone();
            let caller = Some(run);
            self.probes.calls.push(CallProbe { caller, ..call });
        }
    }

    fn instrument_group(&mut self, driver: Driver, group: &GroupRef) {
        let mut builder = ir::Builder::new(self.component, self.lib);
        let (probe, port) = add_probe(
            &mut builder,
            &mut self.probes.count,
            ProbeKind::GA,
            self.prefix,
        );
        let on = builder.add_constant(1, 1);
        let on = on.borrow().get("out");
        let run = self.probes.runs.len();
        self.probes.runs.push(RunProbe {
            group: group.name(),
            driver,
            latency: group.latency(),
            is_idle: group.is_delay(),
            probe,
            enable: None,
        });
        match group {
            GroupRef::Dynamic(group) => {
                let (name, assignments) = {
                    let group = group.borrow();
                    (group.name(), group.assignments.clone())
                };
                let mut added = self.instrument_calls(Some(run), &assignments);
                added.extend(self.instrument_lookups(Some(name), &assignments));
                added.push(ir::Assignment::new(port, on));
                group.borrow_mut().assignments.extend(added);
            }
            GroupRef::Static(group) => {
                let (name, assignments) = {
                    let group = group.borrow();
                    (group.name(), group.assignments.clone())
                };
                let mut added = self.instrument_calls(Some(run), &assignments);
                added.extend(self.instrument_lookups(Some(name), &assignments));
                added.push(ir::Assignment::new(port, on));
                group.borrow_mut().assignments.extend(added);
            }
        }
    }
}
