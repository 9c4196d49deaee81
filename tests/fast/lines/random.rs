//! Random positions: what is shown of lines is what a plain sum over the cycles gives.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use expect_test::expect;
use petal_analysis::{Analysis, ControlView, Weighting};
use petal_metadata::{
    FrontEnd, FrontEndFile, FrontEndFileId, Id as _, Metadata, Position, PositionId, Purpose,
};
use petal_reconstruct::{Activity, CallTree, Event, Instance, Node};
use petal_table::{Table, Value};
use petal_visualize::timeline::{
    Content, Slice, SliceId, Track, TrackId, WholeSlice, WholeSliceFormat, WholeSlices,
};
use petal_visualize::{Flame, Frames, Section, Timeline};

use crate::support::root;
use crate::support::workshop::{Workshop, succeeds};

/// Profiles a design of the repository into the folder `out`.
fn profile(workshop: &Workshop, design: &str) -> Vec<Event> {
    let design = root().join(design);
    succeeds(workshop.command(&["run", "-q", "--out", "out"]).arg(design));
    workshop.events("out")
}

/// Numbers without any order, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// Gives every part of the design some positions, or none.
fn position_at_random(metadata: &mut Metadata, numbers: &mut Numbers) {
    let file = |path: &str| FrontEndFile {
        path: path.to_owned(),
        text: None,
    };
    metadata.front_end = FrontEnd {
        files: vec![file("a/gen.py"), file("design.futil"), file("b/gen.py")],
        positions: (0..24)
            .map(|at| Position {
                file: FrontEndFileId::from_index(at % 3),
                line: u32::try_from(at / 3).unwrap() + 1,
                end_line: u32::try_from(at / 3).unwrap() + 1,
                variables: None,
            })
            .collect(),
        ..FrontEnd::default()
    };
    let mut some = || {
        let count = numbers.below(3);
        let ids =
            (0..count).map(|_| PositionId::from_index(usize::try_from(numbers.below(24)).unwrap()));
        ids.collect::<Vec<_>>()
    };
    for component in &mut metadata.components {
        component.positions = some();
        component
            .cells
            .iter_mut()
            .for_each(|cell| cell.positions = some());
        component
            .groups
            .iter_mut()
            .for_each(|group| group.positions = some());
        component
            .control
            .iter_mut()
            .for_each(|node| node.positions = some());
    }
}

/// The place of what has these positions, as the table writes it.
fn place(metadata: &Metadata, positions: &[PositionId]) -> Option<Line> {
    let front = positions.iter().find(|id| id.index() % 3 != 1)?;
    let position = metadata.front_end.positions[front.index()];
    let file = &metadata.front_end.files[position.file.index()];
    Some((file.path.clone(), position.line.to_string()))
}

/// The places of a node, outermost first.
fn places(metadata: &Metadata, node: Node, instances: &[Instance]) -> Vec<Line> {
    let word = |word: &str| vec![(word.to_owned(), String::new())];
    let or = |places: Vec<Option<Line>>, word: Vec<Line>| {
        let places: Vec<_> = places.into_iter().flatten().collect();
        if places.is_empty() { word } else { places }
    };
    match node {
        Node::Cell {
            instance, formal, ..
        } => {
            let Instance { component, parent } = instances[instance.index()];
            let holder = parent.map(|(holder, cell)| (instances[holder.index()].component, cell));
            let cell = formal.or(holder).and_then(|(component, cell)| {
                place(
                    metadata,
                    &metadata.component(component).cell(cell).positions,
                )
            });
            let component = place(metadata, &metadata.component(component).positions);
            or(vec![cell, component], word("(no line)"))
        }
        Node::Control { component, control } => {
            let node = metadata.component(component).node(control);
            or(vec![place(metadata, &node.positions)], word("(no line)"))
        }
        Node::Group {
            component,
            group,
            run,
        } => {
            let component = metadata.component(component);
            let run = component.run(run);
            // A part of the group is its line's.
            if run.part == Some(group) && run.group != group {
                return vec![];
            }
            let control = run.control.map(|id| component.node(id));
            let enable = control.and_then(|node| place(metadata, &node.positions));
            let group = &component.groups[group.index()];
            let made = match group.origin {
                petal_metadata::Origin::Compiler => "(compiler)",
                _ => "(no line)",
            };
            or(vec![enable, place(metadata, &group.positions)], word(made))
        }
        Node::Primitive { .. } | Node::Continuous { .. } => vec![],
    }
}

/// The line that a cycle is charged to in which nothing is at work but control.
fn overhead(metadata: &Metadata, tree: &CallTree, instances: &[Instance]) -> Option<Line> {
    let purpose = |leaf| {
        let path = tree.path(leaf).into_iter().rev();
        let mut groups = path.filter_map(|id| match tree.node(id) {
            Node::Group { component, run, .. } => Some(metadata.component(component).purpose(run)),
            _ => None,
        });
        groups.next().unwrap_or(Purpose::Work)
    };
    let works = |leaf| match tree.node(leaf) {
        Node::Control { .. } => false,
        Node::Cell { activity, .. } => activity == Activity::Useful,
        Node::Group { .. } | Node::Primitive { .. } => purpose(leaf) != Purpose::Control,
        Node::Continuous { .. } => true,
    };
    if tree.leaves().any(works) {
        return None;
    }
    let (instance, charge) = tree.nodes().find_map(|(_, node)| match node {
        Node::Cell {
            instance,
            activity: Activity::Overhead(charge),
            ..
        } => Some((instance, charge)),
        _ => None,
    })?;
    let component = metadata.component(instances[instance.index()].component);
    let positions = match charge.statement {
        Some(statement) => &component.node(statement).positions,
        None => &component.positions,
    };
    Some(place(metadata, positions).unwrap_or(("(no line)".to_owned(), String::new())))
}

/// In the flame graph of lines, overhead is a leaf on the line that is charged.
fn check_overhead_leaves(lines: &Table, folded: &str) {
    let column = |name: &str| lines.column(name).unwrap().into_iter();
    let mut wanted: BTreeMap<String, u64> = BTreeMap::new();
    for ((file, line), overhead) in column("file").zip(column("line")).zip(column("overhead")) {
        let label = match (file, line) {
            (Value::Text(file), Value::Count(line)) => format!("{file}:{line}"),
            (Value::Text(file), _) => file.clone(),
            other => panic!("{other:?}"),
        };
        if let Value::Count(overhead @ 1..) = overhead {
            wanted.insert(label, *overhead);
        }
    }
    let mut leaves: BTreeMap<String, u64> = BTreeMap::new();
    for line in folded.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let Some((above, _)) = stack.rsplit_once(";(overhead: ") else {
            continue;
        };
        let above = above.rsplit(';').next().unwrap();
        let label = match above.strip_prefix("(no line)") {
            Some(_) => "(no line)",
            None => above.split(' ').next().unwrap(),
        };
        *leaves.entry(label.to_owned()).or_default() += weight.parse::<u64>().unwrap();
    }
    assert_eq!(leaves, wanted, "{folded}");
}

/// A line as the table writes it: file and number.
type Line = (String, String);

/// What each line did, by adding up cycle for cycle.
#[derive(Default)]
struct PlainSums {
    cycles: BTreeMap<Line, u64>,
    entered: BTreeMap<Line, u64>,
    own: BTreeMap<Line, f64>,
    total: u64,
}

impl PlainSums {
    fn of(metadata: &Metadata, events: &[Event]) -> Self {
        let mut sums = Self::default();
        let (mut instances, mut trees) = (Vec::new(), Vec::new());
        let mut before = BTreeSet::new();
        for event in events {
            match event {
                Event::Instance(instance) => instances.push(*instance),
                Event::Tree(tree) => trees.push(tree),
                Event::Run(run) => {
                    let tree = trees[run.tree.index()];
                    let of = |node| places(metadata, node, &instances);
                    let now: BTreeSet<Line> = tree.nodes().flat_map(|(_, node)| of(node)).collect();
                    for line in &now {
                        *sums.cycles.entry(line.clone()).or_default() += run.cycles;
                        if !before.contains(line) {
                            *sums.entered.entry(line.clone()).or_default() += 1;
                        }
                    }
                    before = now;
                    let mut leaves: Vec<_> = tree.leaves().collect();
                    if let Some(charged) = overhead(metadata, tree, &instances) {
                        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                        let cycles = run.cycles as f64;
                        *sums.own.entry(charged).or_default() += cycles;
                        leaves.clear();
                    }
                    for leaf in &leaves {
                        let path = tree.path(*leaf).into_iter();
                        let innermost = path.flat_map(|id| of(tree.node(id))).last().unwrap();
                        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                        let share = run.cycles as f64 / leaves.len() as f64;
                        *sums.own.entry(innermost).or_default() += share;
                    }
                    sums.total += run.cycles;
                }
                _ => {}
            }
        }
        sums
    }

    /// Whether the tracks of the lines tell the same.
    fn check_tracks(&self, tracks: &LineTracks) {
        let is_line = |line: &Line| !line.1.is_empty();
        let lines = |sums: &BTreeMap<Line, u64>| {
            let lines = sums.iter().filter(|(line, _)| is_line(line));
            let lines = lines.map(|((file, line), sum)| (format!("{file}:{line}"), *sum));
            lines.collect::<BTreeMap<String, u64>>()
        };
        assert_eq!(tracks.cycles, lines(&self.cycles));
        assert_eq!(tracks.entered, lines(&self.entered));
    }

    /// Whether the table tells the same.
    fn check(&self, lines: &Table, overhead: u64) {
        let column = |name: &str| lines.column(name).unwrap().into_iter().cloned();
        let key = |key| match key {
            (Value::Text(file), Value::Count(line)) => (file, line.to_string()),
            (Value::Text(file), _) => (file, String::new()),
            other => panic!("{other:?}"),
        };
        let keys: Vec<Line> = column("file").zip(column("line")).map(key).collect();
        let counts = |name: &str| {
            let counts = column(name).map(|value| match value {
                Value::Count(count) => count,
                other => panic!("{other:?}"),
            });
            let counts = keys.iter().cloned().zip(counts);
            let counts: BTreeMap<Line, u64> = counts.filter(|(_, count)| *count > 0).collect();
            counts
        };
        assert_eq!(counts("cycles"), self.cycles);
        assert_eq!(counts("times entered"), self.entered);
        assert_eq!(counts("overhead").values().sum::<u64>(), overhead);
        let mut sum = 0.0;
        for (key, value) in keys.iter().zip(column("own")) {
            let Value::Decimal(value) = value else {
                panic!("{value:?}")
            };
            let wanted = self.own.get(key).copied().unwrap_or(0.0);
            let difference = (value - wanted).abs();
            assert!(difference <= 0.011, "{key:?}: {value}, not {wanted}");
            sum += value;
        }
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let difference = (sum - self.total as f64).abs();
        assert!(difference < 0.001, "{sum} cycles of {}", self.total);
    }
}

/// The figures of a table, added up over the rows with the same values in the columns `key`.
fn added_up(table: &Table, key: &[&str], figures: &[&str]) -> BTreeMap<Vec<String>, Vec<f64>> {
    let mut sums: BTreeMap<Vec<String>, Vec<f64>> = BTreeMap::new();
    for row in table.rows() {
        let at = |name: &str| {
            let columns = table.columns().iter();
            let mut columns = columns.zip(row).filter(|(column, _)| column.name == name);
            columns.next().unwrap().1
        };
        let key = key.iter().map(|name| format!("{:?}", at(name)));
        let sums = sums.entry(key.collect()).or_default();
        sums.resize(figures.len(), 0.0);
        for (sum, name) in sums.iter_mut().zip(figures) {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            match at(name) {
                Value::Count(count) => *sum += *count as f64,
                Value::Decimal(decimal) => *sum = ((*sum + decimal) * 100.0).round() / 100.0,
                other => panic!("{name} is {other:?}"),
            }
        }
    }
    sums
}

/// The rows of a line add up to it, and those of a statement tell what the table of statements does: how many
/// of these there are.
fn check_instances(analysis: &Analysis<'_>) -> usize {
    let rows = analysis.lines_per_instance();
    let line = ["file", "line", "text"];
    let kinds = [
        "own",
        "overhead",
        "FSM update",
        "par-done update",
        "FSM and par-done update",
        "static wait",
    ];
    let lines = added_up(&analysis.lines(), &line, &kinds);
    assert_eq!(added_up(&rows, &line, &kinds), lines);
    let figures = ["cycles", "useful", "overhead"];
    let of_lines = added_up(&rows, &["cell", "statement"], &figures);
    let statements = analysis.statements_per_instance();
    let mut compared = 0;
    for (statement, figures) in added_up(&statements, &["cell", "statement"], &figures) {
        // An enable may have the name of a group there.
        if statement[1].contains('@') && figures[0] > 0.0 {
            assert_eq!(of_lines.get(&statement), Some(&figures), "{statement:?}");
            compared += 1;
        }
    }
    compared
}

/// What the tracks of lines show, by their names.
#[derive(Default)]
struct LineTracks {
    /// The files by their tracks, and the lines' tracks with their names.
    files: BTreeMap<TrackId, String>,
    tracks: BTreeMap<TrackId, String>,
    /// The line whose slice it is.
    slices: BTreeMap<SliceId, String>,
    cycles: BTreeMap<String, u64>,
    entered: BTreeMap<String, u64>,
}

impl LineTracks {
    fn of(metadata: &Metadata, events: &[Event]) -> Self {
        let mut tracks = Self::default();
        let slices = WholeSlices::new(&mut tracks, u64::MAX);
        let mut timeline = Timeline::new(metadata, Section::default(), slices);
        for event in events {
            timeline.event(event).unwrap();
        }
        tracks
    }
}

impl WholeSliceFormat for &mut LineTracks {
    fn track(&mut self, track: &Track) -> io::Result<()> {
        if track.content == Content::Holder {
            self.files.insert(track.id, track.name.clone());
        } else if let Some(file) = track.parent.and_then(|parent| self.files.get(&parent)) {
            assert!(track.name.starts_with(file), "{track:?}");
            self.tracks.insert(track.id, track.name.clone());
        }
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        self.slices.remove(&id);
        assert_eq!(
            slice.category == "line",
            self.tracks.contains_key(&slice.track)
        );
        if let Some(line) = self.tracks.get(&slice.track) {
            self.slices.insert(id, line.clone());
        }
        Ok(())
    }

    fn whole_slice(&mut self, slice: &WholeSlice) -> io::Result<()> {
        if let Some(line) = self.slices.get(&slice.slice) {
            *self.cycles.entry(line.clone()).or_default() += slice.cycles.end - slice.cycles.start;
            let times = self.entered.entry(line.clone()).or_default();
            *times += 1;
            assert_eq!(slice.activations, Some(*times..*times + 1));
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn random_positions_get_what_a_plain_sum_gives() {
    let mut numbers = Numbers(7);
    let mut compared = 0;
    for design in [
        "calyx-examples/switch-case-par.futil",
        "calyx-examples/neural-layer.futil",
        "calyx-examples/invoke-ref.futil",
        "calyx-examples/shared-component.futil",
        "calyx-examples/static.futil",
        "calyx-examples/structural-enable.futil",
        "calyx-examples/distances.futil",
        "tests/corpus/control-sync-shared-comb.futil",
    ] {
        let workshop = Workshop::empty();
        let events = profile(&workshop, design);
        let plain = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
        let mut analyse = |metadata: &Metadata| {
            let mut analysis = Analysis::new(metadata, ControlView::Source);
            for event in &events {
                analysis.event(event);
            }
            let tables = [analysis.cells(), analysis.groups(), analysis.statements()];
            compared += check_instances(&analysis);
            (
                tables.map(|table| table.csv()),
                analysis.lines(),
                analysis.ledger().clone(),
                Flame::new(&analysis, Weighting::Scaled, Frames::FrontEnd).folded(),
            )
        };
        let (tables, _, ledger, _) = analyse(&plain);
        for _ in 0..10 {
            let mut metadata = plain.clone();
            position_at_random(&mut metadata, &mut numbers);
            let (same, lines, _, folded) = analyse(&metadata);
            assert_eq!(same, tables, "{design}");
            let sums = PlainSums::of(&metadata, &events);
            sums.check(&lines, ledger.total_overhead());
            sums.check_tracks(&LineTracks::of(&metadata, &events));
            check_overhead_leaves(&lines, &folded);
        }
    }
    assert!(compared > 100, "only {compared}");
}
