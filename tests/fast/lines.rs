//! What is shown of a front end's lines: every figure is that of a plain sum over the cycles, whatever positions
//! a program has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufReader};

use expect_test::expect;
use petal_metadata::{
    FrontEnd, FrontEndFile, FrontEndFileId, Id as _, Metadata, Position, PositionId, Purpose,
};
use petal_reconstruct::{Activity, CallTree, Event, Instance, Node, TraceReader};
use petal_visualize::timeline::{
    Content, Slice, SliceId, Track, TrackId, WholeSlice, WholeSliceFormat, WholeSlices,
};
use petal_visualize::{Analysis, ControlView, Section, Table, Timeline, Value, Weighting};

use crate::support::root;
use crate::support::workshop::{Workshop, said, succeeds, tells};

/// Profiles a design of the repository into the folder `out`.
fn profile(workshop: &Workshop, design: &str) -> Vec<Event> {
    let design = root().join(design);
    succeeds(workshop.command(&["run", "-q", "--out", "out"]).arg(design));
    let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
    let trace = fs::File::open(workshop.path("out/trace.petal")).unwrap();
    let events = TraceReader::new(BufReader::new(trace), &metadata.fingerprint).unwrap();
    events.map(Result::unwrap).collect()
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
            })
            .collect(),
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
        if track.content == Content::File {
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
                analysis.ledger(),
                analysis.flame_of_front_end(Weighting::Scaled).folded(),
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

/// A folder with a design, the Python file that wrote it, and not the other one.
fn written_by_python() -> Workshop {
    let workshop = Workshop::empty();
    for ending in ["", ".data"] {
        workshop.copy(
            root()
                .join(format!("tests/corpus/struct-positions.futil{ending}"))
                .to_str()
                .unwrap(),
            &format!("design.futil{ending}"),
        );
    }
    let mut text = String::new();
    for line in 1..=14 {
        let _ = writeln!(text, "statement_{line}()");
    }
    workshop.write("demo.py", text);
    workshop
}

#[test]
fn a_profile_shows_the_lines_of_the_front_end() {
    let workshop = written_by_python();
    let output = workshop.petal(&["run", "design.futil", "--out", "out"]);
    tells(
        &said(&output),
        &["note: lib/step.py: not found", "--source-root"],
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.contains("@pos"), "{printed}");
    expect![[r#"
        file,line,text,times entered,cycles,own,useful,overhead,FSM update,par-done update,FSM and par-done update,static wait,barrier,start/finish,other
        step.py,1,,1,1,0.00,1,0,0,0,0,0,0,0,0
        step.py,4,,1,1,1.00,1,0,0,0,0,0,0,0,0
        step.py,5,,1,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,1,statement_1(),1,16,0.00,12,0,0,0,0,0,0,0,0
        demo.py,4,statement_4(),1,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,5,statement_5(),3,3,3.00,3,0,0,0,0,0,0,0,0
        demo.py,6,statement_6(),1,11,5.00,10,1,1,0,0,0,0,0,0
        demo.py,7,statement_7(),1,1,1.00,1,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),3,3,3.00,3,0,0,0,0,0,0,0,0
        demo.py,10,statement_10(),1,16,3.00,12,3,3,0,0,0,0,0,0
        (no line),,,3,6,0.00,6,0,0,0,0,0,0,0,0
    "#]].assert_eq(&workshop.read("out/stats/lines.csv"));
    expect![[r#"
        demo.py:1 component main;demo.py:10 seq;(overhead: FSM update) 3
        demo.py:1 component main;demo.py:10 seq;demo.py:4 invoke;step.py:1 component step;step.py:5 enable add_one;step.py:4 group add_one 1
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while 4
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(no line) seq;demo.py:10 par;demo.py:8 enable put_double 1.5
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(no line) seq;demo.py:10 par;demo.py:8 enable put_single 1.5
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(no line) seq;demo.py:5 enable go_on 3
        demo.py:1 component main;demo.py:10 seq;demo.py:6 while;(overhead: FSM update) 1
        demo.py:1 component main;demo.py:10 seq;demo.py:7 enable put_sum 1
    "#]].assert_eq(&workshop.read("out/flame-adl.folded"));
    expect![[r#"
        cycles  useful %  overhead |    |
            16      75.0           |  1 | statement_1()
                                   |  2 | statement_2()
                                   |  3 | statement_3()
             1     100.0           |  4 | statement_4()
             3     100.0           |  5 | statement_5()
            11      90.9         1 |  6 | statement_6()
             1     100.0           |  7 | statement_7()
             3     100.0           |  8 | statement_8()
                                   |  9 | statement_9()
            16      75.0         3 | 10 | statement_10()
                                   | 11 | statement_11()
                                   | 12 | statement_12()
                                   | 13 | statement_13()
                                   | 14 | statement_14()
    "#]]
    .assert_eq(&workshop.succeeds(&["annotate", "out", "--file", "demo.py"]));
    let said = workshop.ends(1, &["annotate", "out", "--file", "other.py"]);
    tells(
        &said,
        &["no file other.py", "step.py, demo.py, design.futil"],
    );
    workshop.succeeds(&["flame", "out", "--frames", "both"]);
    let folded = workshop.read("out/flame.folded");
    assert!(folded.starts_with("main {demo.py"), "{folded}");
    let table = workshop.succeeds(&["stats", "out", "lines"]);
    assert!(table.contains("statement_6()"), "{table}");
    let each = ["stats", "out", "lines", "--per-instance", "--format", "csv"];
    expect![[r#"
        file,line,text,cell,statement,cycles,own,useful,overhead,FSM update,par-done update,FSM and par-done update,static wait,barrier,start/finish,other
        step.py,1,,main.s,component step,1,0.00,1,0,0,0,0,0,0,0,0
        step.py,4,,main.s,group add_one,1,1.00,1,0,0,0,0,0,0,0,0
        step.py,5,,main.s,add_one@L20,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,1,statement_1(),main,component main,16,0.00,12,0,0,0,0,0,0,0,0
        demo.py,4,statement_4(),main,invoke@L57,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,4,statement_4(),main.s,cell s,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,5,statement_5(),main,go_on@L61,3,0.00,3,0,0,0,0,0,0,0,0
        demo.py,5,statement_5(),main,group go_on,3,3.00,3,0,0,0,0,0,0,0,0
        demo.py,6,statement_6(),main,while@L59,11,1.00,10,1,1,0,0,0,0,0,0
        demo.py,6,statement_6(),main,group is_more,4,4.00,4,0,0,0,0,0,0,0,0
        demo.py,7,statement_7(),main,put_sum@L58,1,0.00,1,0,0,0,0,0,0,0,0
        demo.py,7,statement_7(),main,group put_sum,1,1.00,1,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,put_single@L63,3,0.00,3,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,put_double@L64,3,0.00,3,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,group put_single,3,1.50,3,0,0,0,0,0,0,0,0
        demo.py,8,statement_8(),main,group put_double,3,1.50,3,0,0,0,0,0,0,0,0
        demo.py,10,statement_10(),main,seq@L56,16,3.00,12,3,3,0,0,0,0,0,0
        demo.py,10,statement_10(),main,par@L62,3,0.00,3,0,0,0,0,0,0,0,0
        (no line),,,main,seq@L60,6,0.00,6,0,0,0,0,0,0,0,0
    "#]]
    .assert_eq(&workshop.succeeds(&each));
}

#[test]
fn texts_are_taken_from_where_they_may_be() {
    let workshop = written_by_python();
    fs::create_dir(workshop.path("elsewhere")).unwrap();
    workshop.write("elsewhere/step.py", "one\ntwo\n");
    workshop.write("secret.py", "key = 1\n");
    let text = |args: &[&str]| {
        let run = ["run", "design.futil", "--out", "out", "-q"];
        workshop.succeeds(&[&run[..], args].concat());
        let metadata = Metadata::read(&workshop.path("out/metadata.json")).unwrap();
        let mut files = metadata.front_end.files.into_iter();
        files.find(|file| file.path == "lib/step.py").unwrap().text
    };
    assert_eq!(text(&[]), None);
    for root in ["elsewhere", "lib=elsewhere"] {
        assert_eq!(
            text(&["--source-root", root]).as_deref(),
            Some("one\ntwo\n")
        );
    }
    // A link out of the folder leads to what may not be taken.
    fs::create_dir(workshop.path("lib")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", workshop.path("lib/step.py")).unwrap();
    assert_eq!(text(&[]), None);
    let elsewhere = text(&["--source-root", "elsewhere"]);
    assert_eq!(elsewhere.as_deref(), Some("one\ntwo\n"));
    let said = workshop.ends(1, &["run", "design.futil", "--source-root", "gone"]);
    tells(&said, &["--source-root", "gone"]);
}

#[test]
fn a_design_without_positions_has_no_lines() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "--out", "out", "-q"]);
    assert!(!workshop.path("out/stats/lines.csv").exists());
    assert!(!workshop.path("out/flame-adl.svg").exists());
    for args in [
        &["stats", "out", "lines"][..],
        &["flame", "out", "--frames", "adl"],
    ] {
        tells(&workshop.ends(1, args), &["names no lines of a front end"]);
    }
}

/// What a front end makes of this program: a register that grows by 1 with each `bump`, and by itself with each
/// `double`. It numbers its positions as they come.
fn compiled(program: &str) -> String {
    let mut control = String::new();
    let mut positions = String::new();
    let words = program.lines().map(|line| line.trim().split('(').next());
    let placed = words
        .zip(1..)
        .filter_map(|(word, line)| Some((word?, line)));
    let statements = placed.filter(|(word, _)| ["def main", "bump", "double"].contains(word));
    for ((word, line), position) in statements.zip(0..) {
        let _ = writeln!(positions, "  {position}: 0 {line}");
        let _ = match word {
            "def main" => writeln!(control, "    @pos{{{position}}} seq {{"),
            enable => writeln!(control, "      @pos{{{position}}} {enable};"),
        };
    }
    format!(
        r#"import "primitives/core.futil";
component main<"pos"={{0}}>() -> () {{
  cells {{ r = std_reg(32); add = std_add(32); }}
  wires {{
    group bump {{
      add.left = r.out; add.right = 32'd1; r.in = add.out; r.write_en = 1'd1; bump[done] = r.done;
    }}
    group double {{
      add.left = r.out; add.right = r.out; r.in = add.out; r.write_en = 1'd1; double[done] = r.done;
    }}
  }}
  control {{
{control}    }}
  }}
}}
sourceinfo #{{
FILES
  0: grow.py
POSITIONS
{positions}}}#
"#
    )
}

#[test]
fn statements_are_the_same_after_an_edit_of_the_front_end() {
    let workshop = Workshop::empty();
    let before = "def main():\n  bump()  # first\n  bump()  # second\n  double()\n";
    let after = "# What grows.\n\ndef main():\n  bump()  # zeroth\n  bump()  # first\n  double()\n  bump()  # second\n";
    for (out, program) in [("before", before), ("after", after)] {
        workshop.write("grow.py", program);
        workshop.write("grow.futil", compiled(program));
        workshop.succeeds(&["run", "-q", "--out", out, "grow.futil"]);
    }
    expect![[r#"
        grow

        run            before  after  delta      %
        cycles              3      4     +1  +33.3
        useful              3      4     +1  +33.3
          computation       3      4     +1  +33.3
          conditions        0      0
        overhead            0      0

        statement        cycles  delta      %  overhead  delta  what changed  source  front end
        main.seq@L13      3 → 4     +1  +33.3         0                       seq     grow.py:3 def main():
        main.bump@L14     0 → 1     +1    new         0         new           bump    grow.py:4 bump()  # zeroth
        main.bump@L15         1                       0                       bump    grow.py:5 bump()  # first
        main.double@L16       1                       0                       double  grow.py:6 double()
        main.bump@L17         1                       0                       bump    grow.py:7 bump()  # second

        group        cycles  delta      %  times active  what changed
        main.bump     2 → 3     +1  +50.0         2 → 3
        main.double       1                           1

        cell  cycles  delta      %   busy  control  times active  what changed
        main   3 → 4     +1  +33.3  3 → 4        0             1
    "#]]
    .assert_eq(&workshop.succeeds(&["compare", "before", "after", "--all"]));
    // A baseline has what that needs, and an older one has no lines.
    let baseline = workshop.succeeds(&["baseline", "before"]);
    workshop.write("before.json", &baseline);
    let json = |before: &str| workshop.succeeds(&["compare", before, "after", "--format", "json"]);
    assert_eq!(json("before.json"), json("before"));
    assert!(json("before").contains(r#""front_end": "grow.py:5 bump()  # first""#));
    let mut older: serde_json::Value = serde_json::from_str(&baseline).unwrap();
    for statement in older["statements"].as_array_mut().unwrap() {
        statement
            .as_object_mut()
            .unwrap()
            .remove("front_end")
            .unwrap();
    }
    workshop.write("older.json", older.to_string());
    assert_ne!(json("older.json"), json("before"));
}
