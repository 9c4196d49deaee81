//! Every design of `calyx-examples` and `tests/corpus`, under `all` and `no-opt`: petal's probes
//! change neither cycles nor results, every call tree keeps the rules, and every breakdown adds up.
//! The cells of every group are held against those that it drives in the source. Under `no-opt` the
//! groups of every call tree are held against the `go` signals of the design without probes, and so
//! are the `ref` cells and what they stand for.
//!
//! `PETAL_UPDATE=1 cargo test --test corpus` writes the cycles of the plain design into the
//! `.expect` files. Memories in there are computed by hand and never written.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use petal_metadata::{
    Cell, CellId, CellKind, CompiledKind, ControlKind, GroupKind, Id, Metadata, Origin,
};
use petal_reconstruct::{CallTree, Event, InstanceId, Node, NodeId, Overhead, check::Checker};
use petal_simulate::{Optimisation, Trace};
use petal_visualize::{
    Analysis, ByKind, ChromeJson, ControlView, Flame, Section, Statement, Table, Timeline, Value,
    Weighting,
};
use support::{Expected, Traced, source::Source};

/// The design that the embedded simulator refuses.
const OWN_VERILOG: &str = "struct-verilog.futil";

/// From this many cycles on, a run is not held whole in memory.
const LONG: u64 = 100_000;

/// Runs `check` for every design on two threads and reports all failures together. Returns the
/// overhead of all designs.
fn for_all(designs: &[PathBuf], check: fn(&Path) -> Result<ByKind, String>) -> ByKind {
    let next = AtomicUsize::new(0);
    let overhead = Mutex::new(ByKind::default());
    let failures: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let mut failures = Vec::new();
            while let Some(design) = designs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let name = design
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                let result = std::panic::catch_unwind(|| check(design)).unwrap_or_else(|panic| {
                    Err(panic.downcast_ref::<String>().cloned().unwrap_or_default())
                });
                match result {
                    Ok(kinds) => add(&mut overhead.lock().expect("no check holds it"), &kinds),
                    Err(problem) => failures.push(format!("{name}: {problem}")),
                }
            }
            failures
        };
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_default())
            .collect()
    });
    assert!(
        failures.is_empty(),
        "{} of {} designs failed:\n{}",
        failures.len(),
        designs.len(),
        failures.join("\n")
    );
    overhead.into_inner().expect("no check holds it")
}

fn add(sum: &mut ByKind, kinds: &ByKind) {
    for (sum, cycles) in sum.iter_mut().zip(kinds) {
        *sum += cycles;
    }
}

#[test]
fn the_examples_are_profiled_exactly() {
    let designs = support::designs("calyx-examples");
    assert!(designs.len() >= 14, "only {} examples", designs.len());
    for_all(&designs, check);
}

#[test]
fn the_corpus_is_profiled_exactly() {
    let designs = support::designs("tests/corpus");
    assert!(designs.len() >= 60, "only {} designs", designs.len());
    let overhead = for_all(&designs, check);
    let (all, other) = (
        overhead.iter().sum::<u64>(),
        overhead[Overhead::Other as usize],
    );
    assert!(
        other * 100 <= all,
        "{other} of {all} cycles of overhead are of no known kind"
    );
}

fn check(design: &Path) -> Result<ByKind, String> {
    if std::env::var_os("PETAL_UPDATE").is_some() {
        update(design)?;
        return Ok(ByKind::default());
    }
    let expected = Expected::of(design);
    if expected.cycles.is_empty() {
        return Err("the expectation names no pipeline".to_owned());
    }
    let mut problems = String::new();
    let mut overhead = ByKind::default();
    for (passes, &cycles) in &expected.cycles {
        match check_pipeline(design, passes, cycles, &expected) {
            Ok(kinds) => add(&mut overhead, &kinds),
            Err(problem) => {
                let _ = write!(problems, "\n  under {passes}: {problem}");
            }
        }
    }
    if problems.is_empty() {
        Ok(overhead)
    } else {
        Err(problems)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, expected {wanted:?}"))
    }
}

fn check_pipeline(
    design: &Path,
    passes: &str,
    cycles: u64,
    expected: &Expected,
) -> Result<ByKind, String> {
    let independent = passes == "no-opt" && cycles < LONG;
    let plain = support::compile(design, passes);
    let structure = plain.structure;
    let trace = if independent { Trace::Vcd } else { Trace::Off };
    // Test builds are quick to make, not to run.
    let optimisation = if cycles < LONG {
        Optimisation::Debug
    } else {
        Optimisation::Fast
    };
    let plain = support::simulate(design, &plain, trace, optimisation);
    same("plain cycles", &plain.cycles, &cycles)?;
    for (name, memory) in &expected.memories {
        same(
            &format!("memory {name}"),
            &plain.memories.get(name),
            &Some(memory),
        )?;
    }
    let (instrumented, metadata) = support::instrument(design, passes);
    same("structure", &instrumented.structure, &structure)?;
    let simulated = support::simulate(design, &instrumented, Trace::Vcd, optimisation);
    same("instrumented cycles", &simulated.cycles, &cycles)?;
    same(
        "instrumented memories",
        &simulated.memories,
        &plain.memories,
    )?;
    let vcd = simulated.vcd.as_deref().ok_or("no waveform")?;
    let traced = support::reconstruct(&metadata, vcd);
    if !design.ends_with(OWN_VERILOG) {
        let (memories, events) = support::embedded(design, &instrumented, &metadata);
        same(
            "memories of the embedded simulator",
            &memories,
            &plain.memories,
        )?;
        check_events(&events, &traced.events)?;
    }
    let warnings: Vec<_> = traced
        .warnings
        .iter()
        .map(|w| (&w.signal, &w.text))
        .collect();
    same("warnings", &warnings, &Vec::new())?;
    let source = Source::of(design);
    for tree in &traced.trees {
        source.check(&metadata, tree, passes == "no-opt")?;
    }
    let overhead = check_sums(&metadata, &traced, cycles)?;
    if independent {
        let vcd = plain
            .vcd
            .as_deref()
            .ok_or("no waveform of the plain design")?;
        check_groups(&metadata, &traced, vcd)?;
        check_references(&metadata, &traced, vcd)?;
    }
    Ok(overhead)
}

/// The embedded simulator makes the same trace as Verilator.
fn check_events(embedded: &[Event], verilator: &[Event]) -> Result<(), String> {
    let differs = embedded.iter().zip(verilator).position(|(a, b)| a != b);
    match differs {
        Some(at) => Err(format!(
            "event {at} of the embedded simulator: {:?}, expected {:?}",
            embedded[at], verilator[at]
        )),
        None => same(
            "events of the embedded simulator",
            &embedded.len(),
            &verilator.len(),
        ),
    }
}

/// Every tree keeps the rules, and every breakdown adds up to the run. Returns the overhead.
fn check_sums(metadata: &Metadata, traced: &Traced, cycles: u64) -> Result<ByKind, String> {
    let mut checker = Checker::new(metadata);
    let mut analysis = Analysis::new(metadata, ControlView::Source);
    for event in &traced.events {
        checker
            .event(event)
            .map_err(|violation| violation.to_string())?;
        analysis.event(event);
    }
    same("cycles of the trace", &analysis.cycles(), &cycles)?;
    let last = traced.events.last();
    same("end of the trace", &last, &Some(&Event::End { cycles }))?;

    let scaled = analysis.flame(Weighting::Scaled);
    let (weight, unit) = scaled.total();
    same("scaled flame graph", &weight, &(u128::from(cycles) * unit))?;
    let leaves_in = |event: &Event| match event {
        Event::Run(run) => {
            traced.trees[run.tree.index()].leaves().count() as u128 * u128::from(run.cycles)
        }
        _ => 0,
    };
    let leaves: u128 = traced.events.iter().map(leaves_in).sum();
    let flat = analysis.flame(Weighting::Flat);
    same("flat flame graph", &flat.total(), &(leaves, 1))?;

    check_svg(&flat, cycles)?;
    check_svg(&scaled, cycles)?;
    if cycles < LONG {
        check_timeline(metadata, traced, cycles)?;
    }

    let table = analysis.cells();
    let count = |name: &str, row: usize| match table.column(name).map(|column| column[row].clone())
    {
        Some(Value::Count(count)) => Ok(count),
        other => Err(format!("the cell table has {other:?} for {name}")),
    };
    if cycles > 0 {
        same(
            "cycles of main in the cell table",
            &count("cycles", 0)?,
            &cycles,
        )?;
    }
    for row in 0..table.rows().len() {
        let kinds = Overhead::ALL.map(|kind| kind.to_string().replace('-', " "));
        let sum: u64 = std::iter::once("useful")
            .chain(kinds.iter().map(String::as_str))
            .map(|part| count(part, row))
            .sum::<Result<_, _>>()?;
        same("a row of the cell table", &sum, &count("cycles", row)?)?;
    }
    let ledger = analysis.ledger();
    let placed: u64 = ledger.statements.values().map(Statement::charged).sum();
    same(
        "the charges of all statements",
        &(placed + ledger.unplaced),
        &ledger.total_overhead(),
    )?;
    check_instances(metadata, &analysis)?;
    let summary = analysis.summary("design", []);
    let overhead: u64 = summary.overhead.values().sum();
    same(
        "useful and overhead",
        &(summary.useful_cycles + overhead),
        &cycles,
    )?;
    same(
        "kinds of overhead",
        &summary.overhead.len(),
        &Overhead::ALL.len(),
    )?;
    Ok(ledger.overhead)
}

/// The rows of a statement's instances add up to its own; flattened cycles are more than cycles only
/// where something runs in parallel.
fn check_instances(metadata: &Metadata, analysis: &Analysis<'_>) -> Result<(), String> {
    let sums = |table: &Table| {
        let texts = ["component", "statement", "kind", "file", "line"];
        let not_summed = ["cell", "min", "max", "avg"];
        let mut sums: BTreeMap<Vec<String>, BTreeMap<String, u64>> = BTreeMap::new();
        for row in table.rows() {
            let values = || table.columns().iter().map(|column| &*column.name).zip(row);
            let id = values().filter(|(column, _)| texts.contains(column));
            let sums = sums.entry(id.map(|(_, value)| format!("{value:?}")).collect());
            let sums = sums.or_default();
            for (column, value) in values() {
                if !texts.contains(&column) && !not_summed.contains(&column) {
                    let sum = sums.entry(column.to_owned()).or_default();
                    match value {
                        Value::Count(count) => *sum += count,
                        Value::Empty => {}
                        other => panic!("{column} is {other:?}"),
                    }
                }
            }
        }
        sums
    };
    let all = sums(&analysis.statements());
    let mut instances = sums(&analysis.statements_per_instance());
    for (id, sums) in all {
        // A component without instances that ran has no rows, and nothing to add up.
        let none = || sums.keys().map(|column| (column.clone(), 0)).collect();
        let of_instances = instances.remove(&id).unwrap_or_else(none);
        same(&format!("the instances of {id:?}"), &of_instances, &sums)?;
    }
    same("statements of no component", &instances.len(), &0)?;
    let parallel = metadata.components.iter().any(|component| {
        let is_par = |kind| matches!(kind, ControlKind::Par | ControlKind::StaticPar);
        component.control.iter().any(|node| is_par(node.kind))
    });
    for (id, statement) in &analysis.ledger().statements {
        if statement.flattened < statement.cycles
            || (!parallel && statement.flattened > statement.cycles)
        {
            return Err(format!("flattened cycles of {id:?}: {statement:?}"));
        }
    }
    Ok(())
}

/// The timeline is what viewers expect: slices of a track nest, all tracks have names, and the
/// slices of each cell's own track add up to its cycles.
fn check_timeline(metadata: &Metadata, traced: &Traced, cycles: u64) -> Result<(), String> {
    let mut text = Vec::new();
    let json = ChromeJson::new(&mut text, u64::MAX).map_err(|error| error.to_string())?;
    let mut timeline = Timeline::new(metadata, Section::default(), json);
    for event in &traced.events {
        timeline.event(event).map_err(|error| error.to_string())?;
    }
    let json: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| format!("the timeline: {error}"))?;
    let events = json["traceEvents"]
        .as_array()
        .ok_or("the timeline has no traceEvents")?;
    let number = |event: &serde_json::Value, key: &str| {
        event[key]
            .as_u64()
            .ok_or_else(|| format!("a timeline event without {key}: {event}"))
    };
    let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut names: BTreeMap<(u64, u64), String> = BTreeMap::new();
    for event in events {
        let track = (number(event, "pid")?, number(event, "tid")?);
        match event["ph"].as_str() {
            Some("X") => {
                let (start, length) = (number(event, "ts")?, number(event, "dur")?);
                if length == 0 || start + length > cycles {
                    return Err(format!("a slice outside of the run: {event}"));
                }
                tracks
                    .entry(track)
                    .or_default()
                    .push((start, start + length));
            }
            Some("M") if event["name"] == "thread_name" => {
                names.insert(track, event["args"]["name"].to_string());
            }
            Some("M") => {}
            _ => return Err(format!("an unknown timeline event: {event}")),
        }
    }
    for (track, slices) in &mut tracks {
        let name = names
            .get(track)
            .ok_or_else(|| format!("track {track:?} has no name"))?;
        slices.sort_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
        let mut open: Vec<u64> = Vec::new();
        for &(start, end) in slices.iter() {
            open.retain(|&outer| outer > start);
            if open.last().is_some_and(|&outer| outer < end) {
                return Err(format!(
                    "slices of the track {name} overlap at cycle {start}"
                ));
            }
            open.push(end);
        }
    }
    let main: u64 = tracks
        .iter()
        .filter(|((pid, _), _)| *pid == 1)
        .filter(|(track, _)| names[track] == "\"cell\"")
        .flat_map(|(_, slices)| slices)
        .map(|(start, end)| end - start)
        .sum();
    same("cycles of main on the timeline", &main, &cycles)
}

/// The flame graph is well-formed XML that names the run's length.
fn check_svg(flame: &Flame, cycles: u64) -> Result<(), String> {
    let mut svg = Vec::new();
    flame
        .svg("design", &mut svg)
        .map_err(|error| error.to_string())?;
    let svg = String::from_utf8(svg).map_err(|error| error.to_string())?;
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let document = roxmltree::Document::parse_with_options(&svg, options)
        .map_err(|error| format!("the flame graph: {error}"))?;
    let digits = |text: &str| {
        text.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    let named = document
        .descendants()
        .filter_map(|node| node.text())
        .any(|text| text.starts_with("design: ") && digits(text) == cycles.to_string());
    if named {
        Ok(())
    } else {
        Err("the flame graph does not tell the cycles".to_owned())
    }
}

/// Which groups of which instances are active, by the `go` signals of the design without probes.
///
/// Under `no-opt` a dynamic group of the source lives on under its name, with a signal `NAME_go_out`
/// that is high while it is active.
fn check_groups(metadata: &Metadata, traced: &Traced, plain: &Path) -> Result<(), String> {
    let mut wave = Wave::read(plain)?;
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

/// Which `ref` cells of which instances are active, by the signals of the design without probes that
/// start what they stand for: those by which the component that has the `ref` cell drives it, and
/// those of the cell itself.
fn check_references(metadata: &Metadata, traced: &Traced, plain: &Path) -> Result<(), String> {
    let mut wave = Wave::read(plain)?;
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
            .ok_or_else(|| format!("the plain run has no cycle {cycle}"))
    }
}

/// Writes the cycles of the plain design into its expectation: under the pipelines that it names, or
/// under all that compile the design if it names none.
fn update(design: &Path) -> Result<(), String> {
    let known = Expected::of(design);
    let mut pipelines: Vec<&str> = known.cycles.keys().map(String::as_str).collect();
    if pipelines.is_empty() {
        pipelines = vec!["all", "no-opt"];
    }
    let mut cycles = BTreeMap::new();
    for passes in pipelines {
        let run = || {
            let compiled = support::compile(design, passes);
            support::simulate(design, &compiled, Trace::Off, Optimisation::Fast).cycles
        };
        match std::panic::catch_unwind(run) {
            Ok(length) => {
                cycles.insert(passes, length);
            }
            Err(panic) => {
                eprintln!(
                    "{}",
                    panic.downcast_ref::<String>().cloned().unwrap_or_default()
                );
            }
        }
    }
    let expected = serde_json::json!({ "cycles": cycles, "memories": known.memories });
    let path = Expected::path(design);
    std::fs::write(&path, format!("{expected:#}\n")).map_err(|error| error.to_string())
}
