//! What must hold of the trace of any run: its call trees keep the rules, every breakdown adds up to
//! its cycles, and its pictures are well-formed.

use std::collections::BTreeMap;

use petal_analysis::{Analysis, ByKind, ControlView, HotspotKind, Statement, Weighting};
use petal_metadata::{ControlKind, Id, Metadata, labels};
use petal_reconstruct::{Event, Overhead, violations::Checker};
use petal_table::{Table, Value};
use petal_visualize::timeline::WholeSlices;
use petal_visualize::{ChromeJson, Flame, Frames, Section, Timeline};

use super::{graph, loops, waits};

/// Fails unless both are the same.
pub fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    wanted: &T,
) -> Result<(), String> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, expected {wanted:?}"))
    }
}

/// Every tree keeps the rules, and every breakdown adds up to the run. Returns the overhead.
pub fn check(metadata: &Metadata, events: &[Event], cycles: u64) -> Result<ByKind, String> {
    let analysis = analyse(metadata, events)?;
    same("cycles of the trace", &analysis.cycles(), &cycles)?;
    let last = events.last();
    same("end of the trace", &last, &Some(&Event::End { cycles }))?;

    loops::check(metadata, events)?;
    check_overhead_leaves(metadata, &analysis)?;
    let scaled = Flame::new(&analysis, Weighting::Scaled, Frames::Calyx);
    let (weight, unit) = scaled.total();
    same("scaled flame graph", &weight, &(u128::from(cycles) * unit))?;
    let mut leaves_of_trees = Vec::new();
    let mut leaves = 0;
    for event in events {
        match event {
            Event::Tree(tree) => leaves_of_trees.push(tree.leaves().count() as u128),
            Event::Run(run) => leaves += leaves_of_trees[run.tree.index()] * u128::from(run.cycles),
            _ => {}
        }
    }
    let flat = Flame::new(&analysis, Weighting::Leaves, Frames::Calyx);
    // Overhead is a leaf more, where the charged statement is none.
    let overhead = u128::from(analysis.ledger().total_overhead());
    if !(leaves..=leaves + overhead).contains(&flat.total().0) {
        return Err(format!(
            "flame graph of leaves: {:?}, {leaves}",
            flat.total()
        ));
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
        let kinds = Overhead::ALL.map(|kind| format!("control: {}", kind.title()));
        let sum: u64 = std::iter::once("busy")
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
    check_hotspots(metadata, events, &analysis)?;
    graph::check(metadata, events, &analysis, cycles)?;
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

/// Hotspots have all that is no computation, and what the call trees tell of arms that wait.
fn check_hotspots(
    metadata: &Metadata,
    events: &[Event],
    analysis: &Analysis<'_>,
) -> Result<(), String> {
    let ledger = analysis.ledger();
    let hotspots = analysis.hotspots();
    let of = |kind: HotspotKind| hotspots.iter().filter(move |row| row.kind == kind);
    let cost: u64 = of(HotspotKind::Cost).map(|row| row.cost).sum();
    same(
        "what all hotspots cost",
        &(cost + ledger.unplaced + ledger.unplaced_conditions),
        &(analysis.cycles() - ledger.computation),
    )?;
    let conditions: u64 = of(HotspotKind::Cost).map(|row| row.conditions).sum();
    same(
        "the conditions of all hotspots",
        &(conditions + ledger.unplaced_conditions),
        &ledger.conditions,
    )?;
    let waits = of(HotspotKind::ParWait).map(|row| (row.statement, row.cost));
    same(
        "what arms wait",
        &waits.collect(),
        &waits::waits(metadata, events),
    )
}

/// The trace of a run, which must keep the rules, as a whole.
fn analyse<'a>(metadata: &'a Metadata, events: &[Event]) -> Result<Analysis<'a>, String> {
    let mut checker = Checker::new(metadata);
    let mut analysis = Analysis::new(metadata, ControlView::Source);
    for event in events {
        checker
            .event(event)
            .map_err(|violation| violation.to_string())?;
        analysis.event(event);
    }
    Ok(analysis)
}

/// The pictures of a run are well-formed, and tell its cycles.
pub fn check_pictures(metadata: &Metadata, events: &[Event], cycles: u64) -> Result<(), String> {
    let analysis = analyse(metadata, events)?;
    check_svg(
        &Flame::new(&analysis, Weighting::Leaves, Frames::Calyx),
        cycles,
    )?;
    check_svg(
        &Flame::new(&analysis, Weighting::Scaled, Frames::Calyx),
        cycles,
    )?;
    check_timeline(metadata, events, cycles)
}

/// Overhead is a leaf below the statement that is charged, as wide as its charges, in both flame graphs.
fn check_overhead_leaves(metadata: &Metadata, analysis: &Analysis<'_>) -> Result<(), String> {
    let ledger = analysis.ledger();
    let mut charges: BTreeMap<String, u64> = BTreeMap::new();
    for (&(component, statement), costs) in &ledger.statements {
        let component = metadata.component(component);
        let node = component.node(statement);
        let label = match node.group.filter(|_| node.kind.is_enable()) {
            Some(group) => labels::group_labels(component).swap_remove(group.index()),
            None => labels::control_label(metadata, component, statement),
        };
        for (kind, cycles) in Overhead::ALL.iter().zip(costs.overhead) {
            if cycles > 0 {
                let stack = format!("{label};(overhead: {})", kind.title());
                *charges.entry(stack).or_default() += cycles;
            }
        }
    }
    for weighting in [Weighting::Scaled, Weighting::Leaves] {
        let mut leaves: BTreeMap<String, u64> = BTreeMap::new();
        let mut sum = 0;
        for line in Flame::new(analysis, weighting, Frames::Calyx)
            .folded()
            .lines()
        {
            let (stack, weight) = line.rsplit_once(' ').ok_or("a stack without a weight")?;
            let mut frames = stack.rsplit(';');
            let leaf = frames.next().unwrap_or_default();
            if leaf.starts_with("(overhead: ") {
                let weight: u64 = weight.parse().map_err(|_| line.to_owned())?;
                let statement = frames.next().unwrap_or_default();
                *leaves.entry(format!("{statement};{leaf}")).or_default() += weight;
                sum += weight;
            }
        }
        same("leaves of overhead", &sum, &ledger.total_overhead())?;
        if ledger.unplaced == 0 {
            same("leaves of overhead by statement", &leaves, &charges)?;
        }
    }
    Ok(())
}

/// The rows of a statement's instances add up to its own; flattened cycles are more than cycles only
/// where something runs in parallel.
fn check_instances(metadata: &Metadata, analysis: &Analysis<'_>) -> Result<(), String> {
    let sums = |table: &Table| {
        let texts = ["component", "statement", "kind", "file", "line"];
        let not_summed = ["cell", "min", "max", "avg", "site"];
        let mut sums: BTreeMap<Vec<String>, BTreeMap<String, Option<u64>>> = BTreeMap::new();
        for row in table.rows() {
            let values = || table.columns().iter().map(|column| &*column.name).zip(row);
            let id = values().filter(|(column, _)| texts.contains(column));
            let sums = sums.entry(id.map(|(_, value)| format!("{value:?}")).collect());
            let sums = sums.or_default();
            for (column, value) in values() {
                if !texts.contains(&column) && !not_summed.contains(&column) {
                    let sum = sums.entry(column.to_owned()).or_insert(Some(0));
                    match value {
                        Value::Count(count) => *sum = sum.map(|sum| sum + count),
                        Value::Empty => {}
                        Value::Unknown => *sum = None,
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
        let none = || {
            let columns = sums.keys().cloned();
            columns.map(|column| (column, Some(0))).collect()
        };
        let mut of_instances = instances.remove(&id).unwrap_or_else(none);
        // What is known of some instances may not be known of all.
        for (column, _) in sums.iter().filter(|(_, sum)| sum.is_none()) {
            of_instances.insert(column.clone(), None);
        }
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
fn check_timeline(metadata: &Metadata, events: &[Event], cycles: u64) -> Result<(), String> {
    let mut text = Vec::new();
    let json = ChromeJson::new(&mut text).map_err(|error| error.to_string())?;
    let slices = WholeSlices::new(json, u64::MAX);
    let mut timeline = Timeline::new(metadata, Section::default(), slices);
    for event in events {
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
