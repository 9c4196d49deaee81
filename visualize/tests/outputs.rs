//! Outputs of small made-up traces, against whole expected texts, and what must hold for any
//! trace.

use expect_test::{Expect, expect};
use petal_analysis::{Analysis, ControlView, Weighting};
use petal_metadata::{Cell, ControlKind, Metadata, Origin};
use petal_reconstruct::{CallTree, Event, Node, Overhead};
use petal_table::Screen;
use petal_table::Value;
use petal_visualize::timeline::WholeSlices;
use petal_visualize::{ChromeJson, Flame, Frames, Section, Timeline, report};
use proptest::prelude::*;

use self::sample::{NAMES, SAMPLE, events, id, metadata, trees};

#[path = "outputs/sample.rs"]
mod sample;

fn analysis<'a>(metadata: &'a Metadata, events: &[Event]) -> Analysis<'a> {
    let mut analysis = Analysis::new(metadata, ControlView::Source);
    for event in events {
        analysis.event(event);
    }
    analysis
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(text);
}

#[test]
fn folded_stacks() {
    let metadata = metadata(NAMES);
    let analysis = analysis(&metadata, &events(&SAMPLE));
    let flat = Flame::new(&analysis, Weighting::Leaves, Frames::Calyx);
    check(
        &flat.folded(),
        &expect![[r#"
            main;seq@L10;(overhead: FSM update) 3
            main;seq@L10;load 4
            main;seq@L10;load;r (primitive) 4
            main;seq@L10;work;c [sub] 1
            main;seq@L10;work;c [sub];tick 4
            main;seq@L10;work;r (primitive) 1
        "#]],
    );
    let scaled = Flame::new(&analysis, Weighting::Scaled, Frames::Calyx);
    check(
        &scaled.folded(),
        &expect![[r#"
            main;seq@L10;(overhead: FSM update) 3
            main;seq@L10;load 2
            main;seq@L10;load;r (primitive) 4
            main;seq@L10;work;c [sub] 0.5
            main;seq@L10;work;c [sub];tick 2
            main;seq@L10;work;r (primitive) 0.5
        "#]],
    );
}

#[test]
fn tables() {
    let metadata = metadata(NAMES);
    let analysis = analysis(&metadata, &events(&SAMPLE));
    check(
        &analysis.cells().text(),
        &expect![[r#"
            cell    component  FSMs  times active  cycles    avg  busy  busy with conditions  control  overhead  control: FSM update  control: par-done update  control: FSM and par-done update  control: static wait  control: barrier  control: start/finish  control: other  busy %  control: FSM update %  control: par-done update %  control: FSM and par-done update %  control: static wait %  control: barrier %  control: start/finish %  control: other %  ref cells  continuous
            main    main          0             1      12  12.00     9                     0        3         3                    3                         0                                 0                     0                 0                      0               0   75.00                  25.00                        0.00                                0.00                    0.00                0.00                     0.00              0.00
            main.c  sub           0             1       5   5.00     4                     0        1         0                    0                         0                                 0                     0                 0                      0               1   80.00                   0.00                        0.00                                0.00                    0.00                0.00                     0.00             20.00
        "#]],
    );
    check(
        &analysis.groups().markdown(),
        &expect![[r#"
            | component | group | kind | origin | line | enables | times active | total cycles | min | max | avg | fixed | compiled |
            | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |
            | main | load | dynamic | source | 3 | 1 | 3 | 8 | 1 | 4 | 2.67 | no |  |
            | main | work | dynamic | source | 4 | 1 | 1 | 5 | 5 | 5 | 5.00 | yes |  |
            | sub | tick | static | source | 20 | 1 | 2 | 4 | 2 | 2 | 2.00 | static |  |
        "#]],
    );
    check(
        &analysis.statements().csv(),
        &expect![[r#"
            component,statement,kind,file,line,times entered,iterations,cycles,flattened,useful,conditions,overhead,FSM update,par-done update,FSM and par-done update,static wait,barrier,start/finish,other,hidden control,min,max,avg,site
            main,seq@L10,seq,d.futil,10,1,,12,12,9,0,3,3,0,0,0,0,0,0,0,12,12,12.00,07713111576aa094
            main,load,enable,d.futil,11,3,,8,8,8,0,0,0,0,0,0,0,0,0,0,1,4,2.67,110c9771a0df25d6
            main,work,enable,d.futil,12,1,,5,5,5,0,0,0,0,0,0,0,0,0,0,5,5,5.00,18a202f32849398f
            sub,tick,static enable,d.futil,21,2,,4,4,4,0,0,0,0,0,0,0,0,0,1,2,2,2.00,28a6711ff2a85394
        "#]],
    );
}

/// Cycles and flattened cycles of each row.
fn cycles_and_flattened(table: &petal_table::Table) -> Vec<(Value, Value)> {
    let column = |name| table.column(name).unwrap().into_iter().cloned();
    column("cycles").zip(column("flattened")).collect()
}

#[test]
fn flattened_cycles_count_the_arms_of_a_par() {
    let mut metadata = metadata(NAMES);
    metadata.components[0].control[0].kind = ControlKind::Par;
    // Both arms run for 4 cycles, one for 2, and none for 1.
    let analysis = analysis(&metadata, &events(&[(2, 4), (1, 2), (0, 1)]));
    let count = |cycles, flattened| (Value::Count(cycles), Value::Count(flattened));
    let table = analysis.statements();
    let expected = [count(7, 11), count(6, 6), count(4, 4), count(4, 4)];
    assert_eq!(cycles_and_flattened(&table), expected);
    let table = analysis.statements_per_instance();
    assert_eq!(cycles_and_flattened(&table), expected);
    let cells = table.column("cell").unwrap();
    assert_eq!(
        cells,
        ["main", "main", "main", "main.c"]
            .map(Value::from)
            .each_ref()
    );
}

#[test]
fn a_summary() {
    let metadata = metadata(NAMES);
    let analysis = analysis(&metadata, &events(&SAMPLE));
    let summary = analysis.summary("sample", []);
    check(
        &format!("{}\n{}", summary.design, summary.text(Screen::PLAIN)),
        &expect![[r#"
            sample
              cycles                     12  100.0 %
              useful                      9   75.0 %
                computation               9   75.0 %  ████████████████████████████▌
              overhead                    3   25.0 %
                FSM update                3   25.0 %  █████████▌

              what costs    cycles   of run
              main.seq@L10       3   25.0 %  ██████████  seq {
                moves from step to step: 3 cycles each time

              most expensive groups  cycles  times
              main.load                   8      3
              main.work                   5      1
              sub.tick                    4      2
        "#]],
    );
}

#[test]
fn a_timeline() {
    let metadata = metadata(NAMES);
    check(
        &timeline(&metadata, &events(&SAMPLE)),
        &expect![[r#"
            {"displayTimeUnit":"ns","otherData":{"unit":"1 us is 1 cycle"},"traceEvents":[
            {"cat":"group","name":"load","ph":"X","pid":1,"tid":7,"args":{"source":"d.futil:11","site":"110c9771a0df25d6","activation":1},"ts":0,"dur":1},
            {"cat":"primitive","name":"r","ph":"X","pid":1,"tid":8,"args":{"site":"1e96662df4121a68","activation":1},"ts":0,"dur":1},
            {"cat":"group","name":"load","ph":"X","pid":1,"tid":7,"args":{"source":"d.futil:11","activation":2},"ts":2,"dur":4},
            {"cat":"group","name":"tick","ph":"X","pid":2,"tid":10,"args":{"source":"d.futil:21","static, cycles":2,"site":"28a6711ff2a85394","activation":1,"activations":2},"ts":2,"dur":4},
            {"cat":"primitive","name":"r","ph":"X","pid":1,"tid":8,"args":{"activation":2},"ts":6,"dur":1},
            {"cat":"group","name":"work","ph":"X","pid":1,"tid":9,"args":{"source":"d.futil:12","site":"18a202f32849398f","activation":1},"ts":2,"dur":5},
            {"cat":"cell","name":"c [sub]","ph":"X","pid":2,"tid":5,"args":{"component":"sub","site":"b07c978abff741aa","activation":1},"ts":2,"dur":5},
            {"cat":"cell","name":"main","ph":"X","pid":1,"tid":1,"args":{"component":"main","site":"7621a7af333a21bd","activation":1},"ts":0,"dur":12},
            {"cat":"control","name":"seq@L10","ph":"X","pid":1,"tid":6,"args":{"source":"d.futil:10","site":"07713111576aa094","activation":1},"ts":0,"dur":12},
            {"cat":"group","name":"load","ph":"X","pid":1,"tid":7,"args":{"source":"d.futil:11","activation":3},"ts":9,"dur":3},
            {"cat":"primitive","name":"r","ph":"X","pid":1,"tid":8,"args":{"activation":3},"ts":9,"dur":3},
            {"args":{"name":"main"},"name":"process_name","ph":"M","pid":1,"tid":0},
            {"args":{"sort_index":1},"name":"process_sort_index","ph":"M","pid":1,"tid":0},
            {"args":{"name":"cell"},"name":"thread_name","ph":"M","pid":1,"tid":1},
            {"args":{"sort_index":0},"name":"thread_sort_index","ph":"M","pid":1,"tid":1},
            {"args":{"name":"control"},"name":"thread_name","ph":"M","pid":1,"tid":6},
            {"args":{"sort_index":1},"name":"thread_sort_index","ph":"M","pid":1,"tid":6},
            {"args":{"name":"groups"},"name":"thread_name","ph":"M","pid":1,"tid":7},
            {"args":{"sort_index":2},"name":"thread_sort_index","ph":"M","pid":1,"tid":7},
            {"args":{"name":"groups (2)"},"name":"thread_name","ph":"M","pid":1,"tid":9},
            {"args":{"sort_index":3},"name":"thread_sort_index","ph":"M","pid":1,"tid":9},
            {"args":{"name":"r"},"name":"thread_name","ph":"M","pid":1,"tid":8},
            {"args":{"sort_index":4},"name":"thread_sort_index","ph":"M","pid":1,"tid":8},
            {"args":{"name":"main.c [sub]"},"name":"process_name","ph":"M","pid":2,"tid":0},
            {"args":{"sort_index":2},"name":"process_sort_index","ph":"M","pid":2,"tid":0},
            {"args":{"name":"cell"},"name":"thread_name","ph":"M","pid":2,"tid":5},
            {"args":{"sort_index":5},"name":"thread_sort_index","ph":"M","pid":2,"tid":5},
            {"args":{"name":"groups"},"name":"thread_name","ph":"M","pid":2,"tid":10},
            {"args":{"sort_index":6},"name":"thread_sort_index","ph":"M","pid":2,"tid":10}
            ]}
        "#]],
    );
}

#[test]
fn groups_with_one_name_stay_apart() {
    let mut metadata = metadata(["save", "save", "c", "tick"]);
    metadata.components[0].groups[1].origin = Origin::Inlined("sub".to_owned());
    let all = events(&SAMPLE);
    let analysis = analysis(&metadata, &all);
    let summary = analysis.summary("sample", []);
    let ranked = summary.groups.iter();
    let ranked: Vec<_> = ranked
        .map(|group| (&*group.name, group.cycles, group.times))
        .collect();
    let expected = [
        ("main.save", 8, 3),
        ("main.save (from sub)", 5, 1),
        ("sub.tick", 4, 2),
    ];
    assert_eq!(ranked, expected);
    let flame = Flame::new(&analysis, Weighting::Leaves, Frames::Calyx).folded();
    for line in [
        "main;seq@L10;save 4\n",
        "main;seq@L10;save (from sub);r (primitive) 1\n",
    ] {
        assert!(flame.contains(line), "{line} is not in:\n{flame}");
    }
    let timeline = timeline(&metadata, &all);
    assert_eq!(timeline.matches("\"name\":\"save\"").count(), 3);
    assert_eq!(timeline.matches("\"name\":\"save (from sub)\"").count(), 1);
    let statements = analysis.statements().csv();
    for row in ["main,save,enable", "main,save (from sub),enable"] {
        assert!(statements.contains(row), "{row} is not in:\n{statements}");
    }

    // Each row of the report's table of groups leads to its own line.
    let page = report(&analysis, &summary, None);
    let start = page
        .find("{\"design\":\"sample\"")
        .expect("the page has data");
    let mut data =
        serde_json::Deserializer::from_str(&page[start..]).into_iter::<serde_json::Value>();
    let data = data.next().unwrap().unwrap();
    let places = &data["tables"][1]["places"];
    assert_eq!(*places, serde_json::json!([[[0, 3]], [[0, 4]], [[0, 20]]]));
}

fn timeline(metadata: &Metadata, events: &[Event]) -> String {
    let mut text = Vec::new();
    let json = ChromeJson::new(&mut text).unwrap();
    let slices = WholeSlices::new(json, u64::MAX);
    let mut timeline = Timeline::new(metadata, Section::default(), slices);
    for event in events {
        timeline.event(event).unwrap();
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn what_a_ref_cell_stands_for_is_told_beside_it() {
    let mut metadata = metadata(NAMES);
    let [_, r] = &metadata.components[0].cells[..] else {
        panic!("main has two cells");
    };
    let formal = Cell {
        name: "f".to_owned(),
        instance: None,
        ..r.clone()
    };
    metadata.components[1].cells.push(formal);
    let mut events = events(&[(2, 3)]);
    for event in &mut events {
        let Event::Tree(tree) = event else {
            continue;
        };
        let mut nodes: Vec<(usize, Node)> = tree.preorder().collect();
        let tick = |&(_, node): &(usize, Node)| matches!(node, Node::Group { component, .. } if component == id(1));
        let Some(at) = nodes.iter().position(tick) else {
            continue;
        };
        let primitive = Node::Primitive {
            component: id(1),
            cell: id(0),
            actual: Some((id(0), id(1))),
        };
        nodes.insert(at + 1, (nodes[at].0 + 1, primitive));
        **tree = CallTree::from_preorder(nodes).unwrap();
    }
    let analysis = analysis(&metadata, &events);
    let flame = Flame::new(&analysis, Weighting::Leaves, Frames::Calyx);
    let stack = "main;seq@L10;work;c [sub];tick;f (primitive) 3\n";
    assert!(flame.folded().contains(stack), "{}", flame.folded());
    let mut svg = Vec::new();
    flame.svg("design", &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains("<title>f (primitive) = main.r (3 cycles"));
    let told = [Value::from(""), Value::from("f = main.r")];
    let table = analysis.cells();
    assert_eq!(table.column("ref cells"), Some(told.iter().collect()));
    let json: serde_json::Value = serde_json::from_str(&timeline(&metadata, &events)).unwrap();
    let slices = json["traceEvents"].as_array().unwrap().iter();
    let slice = slices.filter(|event| event["name"] == "f" && event["ph"] == "X");
    let actual: Vec<_> = slice.map(|slice| slice["args"]["actual"].clone()).collect();
    assert_eq!(actual, ["main.r"]);
}

#[test]
fn hostile_names_stay_names() {
    let names = ["=1+1", "a;b\nc", "<script>alert(1)</script>", "x\"}],\u{7}"];
    let metadata = metadata(names);
    let all = events(&SAMPLE);
    let analysis = analysis(&metadata, &all);
    let flame = Flame::new(&analysis, Weighting::Leaves, Frames::Calyx);
    let mut svg = Vec::new();
    flame.svg("<design> & co", &mut svg).unwrap();
    assert!(!String::from_utf8(svg).unwrap().contains("<script>alert"));
    assert_eq!(flame.folded().lines().count(), 6);
    assert!(analysis.groups().csv().contains("'=1+1"));
    let json: serde_json::Value = serde_json::from_str(&timeline(&metadata, &all)).unwrap();
    assert!(
        json["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["name"] == names[3])
    );
}

proptest! {
    #[test]
    fn every_breakdown_adds_up(runs in prop::collection::vec((0..4usize, 1..1000u64), 0..60)) {
        let metadata = metadata(NAMES);
        let analysis = analysis(&metadata, &events(&runs));
        let cycles: u64 = runs.iter().map(|(_, cycles)| cycles).sum();
        let leaves: u64 = runs.iter().map(|&(tree, c)| trees()[tree].leaves().count() as u64 * c).sum();

        let (weight, unit) = Flame::new(&analysis, Weighting::Scaled, Frames::Calyx).total();
        prop_assert_eq!(weight, u128::from(cycles) * unit);
        let (weight, unit) = Flame::new(&analysis, Weighting::Leaves, Frames::Calyx).total();
        prop_assert_eq!((weight, unit), (u128::from(leaves), 1));

        let summary = analysis.summary("d", []);
        prop_assert_eq!(summary.useful_cycles + summary.overhead.values().sum::<u64>(), cycles);

        let table = analysis.cells();
        for row in 0..table.rows().len() {
            let count = |column: &str| match table.column(column).unwrap()[row] {
                Value::Count(count) => *count,
                other => panic!("{other:?} is no count"),
            };
            let overhead = Overhead::ALL.map(|kind| count(&format!("control: {}", kind.title())));
            prop_assert_eq!(count("cycles"), count("busy") + overhead.iter().sum::<u64>());
        }

        let table = analysis.groups();
        let column = |name| table.column(name).expect("the table has the column");
        for (((times, total), min), max) in column("times active")
            .into_iter()
            .zip(column("total cycles"))
            .zip(column("min"))
            .zip(column("max"))
        {
            if *times == Value::Count(0) {
                continue;
            }
            let [Value::Count(times), Value::Count(total), Value::Count(min), Value::Count(max)] =
                [times, total, min, max]
            else {
                panic!("they are counts");
            };
            prop_assert!(times * min <= *total && *total <= times * max);
        }
    }
}
