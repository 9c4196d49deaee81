//! Call trees against the signals that the design has with probes and without.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use petal_metadata::{Cell, CellId, CellKind, CompiledKind, GroupKind, Id, Metadata, Origin};
use petal_reconstruct::{CallTree, InstanceId, Node, NodeId};

use crate::support::Traced;

/// Which groups of which instances are active, by the `go` signals of the design.
///
/// Under `no-opt` a dynamic group of the source lives on under its name, with a signal `NAME_go_out`
/// that is high while it is active.
pub fn check_groups(metadata: &Metadata, traced: &Traced, vcd: &Path) -> Result<(), String> {
    let mut wave = Wave::read(vcd)?;
    let scopes = scopes(metadata);
    let mut watched: Vec<(&[String], String, String)> = Vec::new();
    for (path, component) in &scopes {
        let component = &metadata.components[*component];
        let enabled_by_wrapper = |name: &str| {
            // The component's only statement: its `go` is the component's.
            component.compiled.len() == 1
                && component.root.is_some_and(|root| {
                    let root = component.compiled(root);
                    root.name == name && matches!(root.kind, CompiledKind::Leaf)
                })
        };
        for group in &component.groups {
            if group.kind == GroupKind::Dynamic
                && group.origin == Origin::Source
                && !enabled_by_wrapper(&group.name)
            {
                let signal = format!("{}_go_out", group.name);
                if wave.has(path, &signal) {
                    watched.push((path, group.name.clone(), signal));
                }
            }
        }
    }
    let mut cycle = 0;
    for run in &traced.runs {
        let tree = &traced.trees[run.tree.index()];
        // Hardware path of each active instance, and the groups that the tree shows there.
        let mut shown: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
        for (id, node) in tree.nodes() {
            match node {
                Node::Cell { instance, .. } => {
                    shown
                        .entry(hardware(metadata, traced, instance))
                        .or_default();
                }
                Node::Group {
                    component,
                    group,
                    run,
                } => {
                    let known = metadata.component(component);
                    if known.run(run).group != group {
                        continue;
                    }
                    let instance = cell_of(tree, id);
                    let name = known.group(group).name.clone();
                    shown
                        .entry(hardware(metadata, traced, instance))
                        .or_default()
                        .insert(name);
                }
                _ => {}
            }
        }
        for _ in 0..run.cycles {
            let high = wave.cycle(cycle)?;
            for (path, group, signal) in &watched {
                let Some(groups) = shown.get(*path) else {
                    continue;
                };
                let active = high.contains(&wave.code(path, signal));
                if active != groups.contains(group) {
                    return Err(format!(
                        "cycle {cycle}: group {group} of {} is {} by its go signal, but the call \
                         tree says otherwise",
                        path.join("."),
                        if active { "active" } else { "not active" },
                    ));
                }
            }
            cycle += 1;
        }
    }
    Ok(())
}

/// Which `ref` cells of which instances are active, by the signals of the design that
/// start what they stand for: those by which the component that has the `ref` cell drives it, and
/// those of the cell itself.
pub fn check_references(metadata: &Metadata, traced: &Traced, vcd: &Path) -> Result<(), String> {
    let mut wave = Wave::read(vcd)?;
    // The signal that starts a cell, in the scope of who holds it. Combinational cells have none, and
    // static components go on after it.
    let start = |wave: &Wave, path: &[String], name: &str, cell: &Cell| {
        let is_static = match cell.kind {
            CellKind::Component(id) => metadata.component(id).latency.is_some(),
            CellKind::Primitive(_) => false,
        };
        let ports = ["content_en", "write_en", "go"];
        let mut signals = ports.into_iter().map(|port| format!("{name}_{port}"));
        let signal = signals.find(|signal| wave.has(path, signal));
        signal.filter(|_| !is_static)
    };
    let mut cycle = 0;
    for run in &traced.runs {
        let tree = &traced.trees[run.tree.index()];
        let component_of =
            |instance: InstanceId| metadata.component(traced.instances[instance.index()].component);
        let mut active: BTreeSet<InstanceId> = BTreeSet::new();
        // Who has a `ref` cell, and the cell.
        let mut shown: BTreeSet<(InstanceId, CellId)> = BTreeSet::new();
        // The instances around those.
        let mut around: BTreeSet<InstanceId> = BTreeSet::new();
        let mut watched = Vec::new();
        for (id, node) in tree.nodes() {
            let (formal, (holder, actual)) = match node {
                Node::Cell {
                    instance, formal, ..
                } => {
                    active.insert(instance);
                    let actual = traced.instances[instance.index()].parent;
                    match formal.zip(actual) {
                        Some(((_, formal), actual)) => (formal, actual),
                        None => continue,
                    }
                }
                Node::Primitive {
                    cell,
                    actual: Some(actual),
                    ..
                } => (cell, actual),
                _ => continue,
            };
            let parent = tree.parent(id).ok_or("the root is no `ref` cell")?;
            let caller = cell_of(tree, parent);
            shown.insert((caller, formal));
            let above = tree.path(parent).into_iter().map(|id| tree.node(id));
            let above = above.filter_map(|node| match node {
                Node::Cell { instance, .. } => Some(instance),
                _ => None,
            });
            around.extend(above.filter(|instance| *instance != caller));
            let path = hardware(metadata, traced, holder);
            let actual = component_of(holder).cell(actual);
            let name = actual.instance.as_deref().ok_or("it stands for nothing")?;
            if let Some(signal) = start(&wave, &path, name, actual) {
                watched.push((wave.code(&path, &signal), signal, true));
            }
        }
        for &instance in &active {
            let path = hardware(metadata, traced, instance);
            let cells = component_of(instance).cells.iter().enumerate();
            for (at, cell) in cells.filter(|(_, cell)| cell.is_reference()) {
                let is_shown = shown.contains(&(instance, CellId::from_index(at)));
                // What is handed on is driven from below.
                if let Some(signal) = start(&wave, &path, &cell.name, cell)
                    && (is_shown || !around.contains(&instance))
                {
                    watched.push((wave.code(&path, &signal), signal, is_shown));
                }
            }
        }
        for _ in 0..run.cycles {
            let high = wave.cycle(cycle)?;
            for (code, signal, is_shown) in &watched {
                if high.contains(code) != *is_shown {
                    return Err(format!(
                        "cycle {cycle}: {signal} is {}, but the call tree says otherwise",
                        if *is_shown { "low" } else { "high" }
                    ));
                }
            }
            cycle += 1;
        }
    }
    Ok(())
}

/// The instance that a node belongs to.
fn cell_of(tree: &CallTree, node: NodeId) -> InstanceId {
    tree.path(node)
        .into_iter()
        .rev()
        .find_map(|id| match tree.node(id) {
            Node::Cell { instance, .. } => Some(instance),
            _ => None,
        })
        .expect("the root is a cell")
}

/// The Verilog scope of an instance of a trace.
fn hardware(metadata: &Metadata, traced: &Traced, instance: InstanceId) -> Vec<String> {
    match traced.instances[instance.index()].parent {
        None => metadata.scope.clone(),
        Some((parent, cell)) => {
            let mut path = hardware(metadata, traced, parent);
            let component = traced.instances[parent.index()].component;
            let cell = metadata.component(component).cell(cell);
            path.extend(cell.instance.clone());
            path
        }
    }
}

/// All hardware instances: scope and component.
fn scopes(metadata: &Metadata) -> Vec<(Vec<String>, usize)> {
    let mut scopes = Vec::new();
    let mut open = vec![(metadata.scope.clone(), metadata.main)];
    while let Some((path, component)) = open.pop() {
        for cell in &metadata.component(component).cells {
            if let CellKind::Component(child) = cell.kind
                && cell.instance.as_ref() == Some(&cell.name)
            {
                let mut inner = path.clone();
                inner.push(cell.name.clone());
                open.push((inner, child));
            }
        }
        scopes.push((path, component.index()));
    }
    scopes
}

/// A waveform, read whole: for every cycle of the run the codes of the 1-bit signals that are high.
struct Wave {
    codes: HashMap<(Vec<String>, String), vcd::IdCode>,
    cycles: Vec<BTreeSet<vcd::IdCode>>,
}

impl Wave {
    fn read(path: &Path) -> Result<Self, String> {
        let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        let mut parser = vcd::Parser::new(std::io::BufReader::new(file));
        let header = parser.parse_header().map_err(|error| error.to_string())?;
        let mut codes = HashMap::new();
        let mut open: Vec<(Vec<String>, &[vcd::ScopeItem])> = vec![(vec![], &header.items)];
        while let Some((path, items)) = open.pop() {
            for item in items {
                match item {
                    vcd::ScopeItem::Scope(scope) => {
                        let mut inner = path.clone();
                        if scope.identifier != "TOP" {
                            inner.push(scope.identifier.clone());
                        }
                        open.push((inner, &scope.items));
                    }
                    vcd::ScopeItem::Var(var) => {
                        codes.insert((path.clone(), var.reference.clone()), var.code);
                    }
                    _ => {}
                }
            }
        }
        let top = vec!["toplevel".to_owned(), "main".to_owned()];
        let code = |name: &str| {
            codes
                .get(&(top.clone(), name.to_owned()))
                .copied()
                .ok_or_else(|| format!("no signal {name} in main"))
        };
        let (clk, go, done) = (code("clk")?, code("go")?, code("done")?);
        let mut cycles = Vec::new();
        let mut settled: BTreeSet<vcd::IdCode> = BTreeSet::new();
        let mut next = settled.clone();
        let mut over = false;
        for command in parser {
            match command.map_err(|error| error.to_string())? {
                vcd::Command::Timestamp(_) => {
                    if next.contains(&clk) && !settled.contains(&clk) && settled.contains(&go) {
                        over |= settled.contains(&done);
                        if !over {
                            cycles.push(settled.clone());
                        }
                    }
                    settled.clone_from(&next);
                }
                vcd::Command::ChangeScalar(code, vcd::Value::V1) => {
                    next.insert(code);
                }
                vcd::Command::ChangeScalar(code, _) => {
                    next.remove(&code);
                }
                _ => {}
            }
        }
        Ok(Self { codes, cycles })
    }

    fn has(&self, path: &[String], signal: &str) -> bool {
        self.codes.contains_key(&(path.to_vec(), signal.to_owned()))
    }

    fn code(&self, path: &[String], signal: &str) -> vcd::IdCode {
        self.codes[&(path.to_vec(), signal.to_owned())]
    }

    fn cycle(&mut self, cycle: usize) -> Result<BTreeSet<vcd::IdCode>, String> {
        self.cycles
            .get_mut(cycle)
            .map(std::mem::take)
            .ok_or_else(|| format!("the waveform has no cycle {cycle}"))
    }
}
