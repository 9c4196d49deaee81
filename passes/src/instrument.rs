//! Puts the probes into a program: after the optimiser has decided, before control is compiled.
//!
//! A probe is a cell of an inline primitive with one input and no output. It is no `comb`
//! primitive, so assignments to it are kept; it is `@external`, so the cell is kept.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use calyx_frontend::{PortDef, Primitive, Width};
use calyx_ir as ir;
use petal_metadata::{ControlKind, Parts, ProbeKind, ProbeName, ProbePrefix, Schedule};

use crate::align::Shape;
use crate::marker;
use crate::references::{RefPort, References};
use crate::session::{Known, Session};
use crate::sharing::Driver;
use crate::source::SourceComponent;
use crate::tree::{GroupRef, NodeKey, View, ViewMut, called_group};
use crate::triggers::Trigger;

/// What instrumentation put into a program.
#[derive(Debug)]
pub(crate) struct Probes {
    pub prefix: ProbePrefix,
    pub components: HashMap<ir::Id, ComponentProbes>,
}

/// The probes of one component.
#[derive(Debug, Default)]
pub(crate) struct ComponentProbes {
    pub runs: Vec<RunProbe>,
    pub calls: Vec<CallProbe>,
    /// What has no `go` and is driven by continuous assignments, each once.
    pub continuous: Vec<CalleeName>,
    /// Probes so far; the next one gets this number.
    pub count: u32,
    /// Cells of the component, to tell those that compilation adds.
    pub cells: HashSet<ir::Id>,
    /// The schedules of static programs, by number.
    pub static_programs: Vec<Schedule<NodeKey>>,
    /// Source statements that became static as a whole, with their latencies.
    pub latencies: HashMap<NodeKey, u64>,
    /// What each static program starts by a `go`, until [`crate::triggers`] has probed it.
    pub triggers: Vec<Vec<Trigger>>,
    /// Groups of the component, to tell those that `static-inline` adds.
    pub groups: HashSet<ir::Id>,
}

/// A GA probe. The runs of one group have the same.
#[derive(Debug)]
pub(crate) struct RunProbe {
    pub group: ir::Id,
    pub driver: Driver,
    pub latency: Option<u64>,
    pub probe: ProbeName,
    /// The probe of what starts the group for this run, where the group has several.
    pub enable: Option<ProbeName>,
}

/// A CG, CC or CP probe.
#[derive(Debug, Clone)]
pub(crate) struct CallProbe {
    /// Index into the runs; `None` for a continuous assignment.
    pub caller: Option<usize>,
    pub callee: CalleeName,
    pub probe: ProbeName,
}

/// What is called, by its name in the program at this point.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CalleeName {
    Group(ir::Id),
    Cell(ir::Id),
    /// The n-th `ref` cell of the component.
    Reference(usize),
}

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
        let Some(known) = session.components.get_mut(&component.name) else {
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
        instrumenter.run(known);
        let found = instrumenter.probes;
        // With the numbers of static programs.
        known.shape = Shape::of(View::of(&component.control.borrow()));
        probes.insert(component.name, found);
    }
    marker::add(ctx, &prefix);
    session.probes = Some(Probes {
        prefix,
        components: probes,
    });
}

/// All names that a probe must not be mistaken for.
fn all_names(ctx: &ir::Context) -> Vec<String> {
    let mut names: Vec<String> = ctx
        .lib
        .signatures()
        .map(|primitive| primitive.name.to_string())
        .collect();
    for component in &ctx.components {
        names.push(component.name.to_string());
        names.extend(
            component
                .cells
                .iter()
                .map(|cell| cell.borrow().name().to_string()),
        );
        names.extend(
            component
                .get_groups()
                .iter()
                .map(|g| g.borrow().name().to_string()),
        );
        names.extend(
            component
                .get_static_groups()
                .iter()
                .map(|g| g.borrow().name().to_string()),
        );
        names.extend(
            component
                .signature
                .borrow()
                .ports
                .iter()
                .map(|port| port.borrow().name.to_string()),
        );
    }
    names
}

fn primitive_name(prefix: &ProbePrefix) -> String {
    prefix.named("probe")
}

/// Adds the probes' primitive to the library.
fn add_primitive(ctx: &mut ir::Context, prefix: &ProbePrefix) {
    // Not parsed from text: the parser writes to a table of positions that other threads may read.
    ctx.lib.add_inline_primitive(Primitive {
        name: primitive_name(prefix).into(),
        params: Vec::new(),
        signature: vec![PortDef::new(
            "in",
            Width::Const { value: 1 },
            ir::Direction::Input,
            ir::Attributes::default(),
        )],
        attributes: ir::Attributes::default(),
        is_comb: false,
        latency: None,
        body: Some(String::new()),
    });
}

pub(crate) fn add_cell(
    builder: &mut ir::Builder<'_>,
    name: &str,
    prefix: &ProbePrefix,
) -> ir::RRC<ir::Cell> {
    let cell = builder.add_primitive(name, primitive_name(prefix), &[]);
    cell.borrow_mut().add_attribute(ir::BoolAttr::External, 1);
    cell
}

/// Adds a probe cell to the component of `builder`.
fn add_probe(
    builder: &mut ir::Builder<'_>,
    count: &mut u32,
    kind: ProbeKind,
    prefix: &ProbePrefix,
) -> (ProbeName, ir::RRC<ir::Port>) {
    let probe = ProbeName {
        kind,
        number: *count,
    };
    *count += 1;
    let cell = add_cell(builder, &probe.cell(prefix), prefix);
    let port = cell.borrow().get("in");
    (probe, port)
}

/// Adds a probe cell to the component of `builder`, with the assignment that drives it while `guard`
/// holds: for the caller to put where it is to hold.
pub(crate) fn add_guarded_probe<T>(
    builder: &mut ir::Builder<'_>,
    count: &mut u32,
    kind: ProbeKind,
    prefix: &ProbePrefix,
    guard: ir::Guard<T>,
) -> (ProbeName, ir::Assignment<T>) {
    let (probe, port) = add_probe(builder, count, kind, prefix);
    let on = builder.add_constant(1, 1);
    let mut assignment = ir::Assignment::new(port, on.borrow().get("out"));
    *assignment.guard = guard;
    (probe, assignment)
}

/// A component's source, and how many enables are at or below each of its nodes.
struct Counted<'a> {
    source: &'a SourceComponent,
    enables: HashMap<NodeKey, usize>,
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
    fn run(&mut self, known: &Known) {
        let control = std::rc::Rc::clone(&self.component.control);
        let counted = Counted {
            source: &known.source,
            enables: known.source.enables(),
        };
        self.add_static_programs(ViewMut::of(&mut control.borrow_mut()), &counted);
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
        let added = self.instrument_calls(None, &continuous);
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

    /// Numbers every static program, and records its schedule and the latencies of its statements.
    fn add_static_programs(&mut self, mut node: ViewMut<'_>, source: &Counted<'_>) {
        if matches!(node.view(), View::Static(_)) {
            node.set_static_program(self.probes.static_programs.len());
            let schedule = self.schedule(node.view(), source);
            self.probes.static_programs.push(schedule);
            return;
        }
        for child in node.children() {
            self.add_static_programs(child, source);
        }
    }

    fn schedule(&mut self, view: View<'_>, source: &Counted<'_>) -> Schedule<NodeKey> {
        let View::Static(control) = view else {
            unreachable!("static programs have only static parts");
        };
        let latency = control.get_latency();
        let children: Vec<Schedule<NodeKey>> = view
            .children()
            .into_iter()
            .map(|child| self.schedule(child, source))
            .collect();
        let parts = match control {
            ir::StaticControl::Seq(_) => Parts::seq(children),
            ir::StaticControl::Par(_) => Parts::Par(children),
            ir::StaticControl::Repeat(_) => children
                .into_iter()
                .next()
                .map_or(Parts::None, |body| Parts::Repeat(Box::new(body))),
            ir::StaticControl::If(_)
            | ir::StaticControl::Enable(_)
            | ir::StaticControl::Invoke(_)
            | ir::StaticControl::Empty(_) => Parts::None,
        };
        let statement = self.static_statement(view, latency, source);
        Schedule {
            statement,
            latency,
            parts,
        }
    }

    /// The source statement that a part of a static program stands for, or the innermost one around
    /// it. Records the latency of a statement that the part is as a whole.
    fn static_statement(
        &mut self,
        view: View<'_>,
        latency: u64,
        Counted { source, enables }: &Counted<'_>,
    ) -> Option<NodeKey> {
        let mut keys = HashSet::new();
        view.walk(&mut |below| {
            if below.group().is_some() || below.invoked().is_some() {
                keys.extend(below.identity().map(|(key, _)| key));
            }
        });
        let inner = source.common_ancestor(keys.iter().copied())?;
        let enabled = keys.into_iter().filter(|key| source.is_enable(*key));
        let enabled = enabled.count();
        // Asked of nodes that contain all of these enables.
        let whole = |key: &NodeKey| enables.get(key).copied().unwrap_or(0) == enabled;
        let kind = view.kind().dynamic();
        let same_kind = source
            .ancestry(inner)
            .find(|key| source.nodes[key].kind.dynamic() == kind)
            .filter(whole);
        // A condition and its statement are a sequence that nobody wrote; but after the body of a
        // loop it is one iteration of the loop only.
        let is_loop = |key: &NodeKey| {
            matches!(
                source.nodes[key].kind.dynamic(),
                ControlKind::While | ControlKind::Repeat
            )
        };
        let statement = match kind {
            ControlKind::Seq | ControlKind::Par => Some(inner)
                .filter(|key| whole(key) && !is_loop(key))
                .or(same_kind),
            _ => same_kind,
        };
        if let Some(statement) = statement {
            self.probes.latencies.insert(statement, latency);
        }
        statement.or(Some(inner))
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
            let identity = node.view().identity().filter(|_| !group.is_delay());
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
            probe,
            enable,
            ..
        } = self.probes.runs[first];
        self.probes.runs.push(RunProbe {
            group,
            driver,
            latency,
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
            probe,
            enable: None,
        });
        match group {
            GroupRef::Dynamic(group) => {
                let mut added =
                    self.instrument_calls(Some(run), &group.borrow().assignments.clone());
                added.push(ir::Assignment::new(port, on));
                group.borrow_mut().assignments.extend(added);
            }
            GroupRef::Static(group) => {
                let mut added =
                    self.instrument_calls(Some(run), &group.borrow().assignments.clone());
                added.push(ir::Assignment::new(port, on));
                group.borrow_mut().assignments.extend(added);
            }
        }
    }

    /// The assignments that drive the call probes of `assignments`.
    fn instrument_calls<T: Clone + Eq>(
        &mut self,
        caller: Option<usize>,
        assignments: &[ir::Assignment<T>],
    ) -> Vec<ir::Assignment<T>> {
        let mut callees: Vec<(CalleeName, Activation<T>)> = Vec::new();
        for assignment in assignments {
            let Some((callee, go_driven)) = self.callee(assignment, caller.is_some()) else {
                continue;
            };
            let trigger = match callees.iter_mut().find(|(known, _)| *known == callee) {
                Some((_, trigger)) => trigger,
                None => {
                    callees.push((callee, Activation::default()));
                    &mut callees.last_mut().expect("one was just pushed").1
                }
            };
            if go_driven {
                trigger.add(Some(&assignment.src), &assignment.guard);
            } else {
                trigger.add(None, &assignment.guard);
            }
        }
        let mut added = Vec::new();
        for (callee, trigger) in callees {
            let kind = match &callee {
                CalleeName::Group(_) => ProbeKind::CG,
                CalleeName::Cell(cell) => match self.component.find_cell(*cell) {
                    Some(cell) if cell.borrow().is_component() => ProbeKind::CC,
                    _ => ProbeKind::CP,
                },
                CalleeName::Reference(at) => match self.own_references().cells[*at].prototype {
                    ir::CellType::Component { .. } => ProbeKind::CC,
                    _ => ProbeKind::CP,
                },
            };
            let mut builder = ir::Builder::new(self.component, self.lib);
            let (probe, port) = add_probe(&mut builder, &mut self.probes.count, kind, self.prefix);
            let on = builder.add_constant(1, 1);
            let on = on.borrow().get("out");
            for (source, guard) in trigger.terms {
                added.push(ir::Assignment {
                    dst: port.clone(),
                    src: source.unwrap_or_else(|| on.clone()),
                    guard: Box::new(guard),
                    attributes: ir::Attributes::default(),
                });
            }
            self.probes.calls.push(CallProbe {
                caller,
                callee,
                probe,
            });
        }
        added
    }

    /// What an assignment calls, and whether it does so by a `go` port (else by driving inputs).
    fn callee<T>(
        &self,
        assignment: &ir::Assignment<T>,
        in_group: bool,
    ) -> Option<(CalleeName, bool)> {
        if let Some(group) = called_group(assignment) {
            return Some((CalleeName::Group(group), true));
        }
        let dst = assignment.dst.borrow();
        if dst.is_hole() || self.is_handed_over(&assignment.src.borrow()) {
            return None;
        }
        let cell = dst.cell_parent();
        let cell = cell.borrow();
        let has_state = |prototype: &ir::CellType| match prototype {
            ir::CellType::Component { name } => !self.comb_components.contains(name),
            _ => true,
        };
        let (callee, started, go) = match &cell.prototype {
            ir::CellType::Constant { .. } => return None,
            ir::CellType::ThisComponent => {
                let references = self.own_references();
                let RefPort::Own(at, go) = references.port(dst.name)? else {
                    return None;
                };
                let reference = &references.cells[at];
                let started = reference.is_started() && has_state(&reference.prototype);
                (CalleeName::Reference(at), started, go)
            }
            prototype => {
                let started = cell.find_all_with_attr(ir::NumAttr::Go).next().is_some();
                let go = dst.attributes.has(ir::NumAttr::Go);
                let callee = CalleeName::Cell(cell.name());
                (callee, started && has_state(prototype), go)
            }
        };
        if started {
            go.then_some((callee, true))
        } else {
            // What is only driven continuously computes all the time; that tells nothing.
            in_group.then_some((callee, false))
        }
    }

    /// Whether `port` carries what an invoked component drives a `ref` cell with: whoever wires it to
    /// the cell calls nothing by that, the component does.
    fn is_handed_over(&self, port: &ir::Port) -> bool {
        if port.is_hole() {
            return false;
        }
        match port.cell_parent().borrow().prototype {
            ir::CellType::Component { name } => self
                .references
                .get(&name)
                .is_some_and(|references| references.port(port.name).is_some()),
            ir::CellType::ThisComponent => {
                self.own_references().port(port.name) == Some(RefPort::HandedOn)
            }
            _ => false,
        }
    }

    fn own_references(&self) -> &References {
        &self.references[&self.component.name]
    }
}

/// When a callee is active: the sources of its `go`, each with its guard.
struct Activation<T> {
    /// `None` stands for a constant 1.
    terms: Vec<(Option<ir::RRC<ir::Port>>, ir::Guard<T>)>,
}

impl<T> Default for Activation<T> {
    fn default() -> Self {
        Self { terms: Vec::new() }
    }
}

impl<T: Clone + Eq> Activation<T> {
    /// Adds a condition; terms with the same source become one, so that no two assignments drive
    /// the probe with the same value at once.
    fn add(&mut self, source: Option<&ir::RRC<ir::Port>>, guard: &ir::Guard<T>) {
        let source = source
            .filter(|port| !port.borrow().is_constant(1, 1))
            .cloned();
        let same = |a: &Option<ir::RRC<ir::Port>>| match (a, &source) {
            (Some(a), Some(b)) => std::rc::Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        match self.terms.iter_mut().find(|(known, _)| same(known)) {
            None => self.terms.push((source, guard.clone())),
            Some((_, known)) if known.is_true() || known == guard => {}
            Some((_, known)) if guard.is_true() => *known = ir::Guard::True,
            Some((_, known)) => {
                *known = std::mem::replace(known, ir::Guard::True).or(guard.clone());
            }
        }
    }
}
