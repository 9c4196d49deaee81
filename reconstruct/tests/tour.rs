//! From a waveform to call trees, and what can be made of them, on a whole design.

mod support;

use std::fmt::Write as _;

use expect_test::{expect, expect_file};
use petal_metadata::Metadata;
use petal_reconstruct::violations::Checker;
use petal_reconstruct::{
    Activity, Ahead, CompiledView, Event, FrameKind, FrameLabels, Id as _, Node, NodeId, Overhead,
    Reconstruction, TraceReader, TraceWriter, VcdSource, actual_path, instance_path,
    with_continuous,
};
use support::{VCD, events, events_of, metadata, tables, trees_by_cycle};

/// The trees of a run as text, in the order of their first cycles, each with its cycles.
fn described(metadata: &Metadata, events: &[Event]) -> String {
    let labels = FrameLabels::new(metadata);
    let (instances, trees) = tables(events);
    let by_cycle = trees_by_cycle(events);
    let mut text = String::new();
    for (at, tree) in trees.iter().enumerate() {
        let cycles = by_cycle.iter().enumerate().filter(|&(_, &of)| of == at);
        let cycles: Vec<String> = cycles.map(|(cycle, _)| cycle.to_string()).collect();
        writeln!(text, "cycles {}", cycles.join(" ")).unwrap();
        text.push_str(&labels.render(tree, &instances));
    }
    text
}

#[test]
fn each_cycle_has_its_call_tree() {
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    assert_eq!(support::warnings(&events), Vec::<String>::new());
    expect_file!["data/tour.trees"].assert_eq(&described(&metadata, &events));
}

#[test]
fn each_cycle_of_a_cell_is_useful_or_charged() {
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    let labels = FrameLabels::new(&metadata);
    let (instances, trees) = tables(&events);
    let mut text = String::new();
    for (cycle, &tree) in trees_by_cycle(&events).iter().enumerate() {
        write!(text, "{cycle}:").unwrap();
        for (_, node) in trees[tree].nodes() {
            if let Node::Cell {
                instance, activity, ..
            } = node
            {
                let path = instance_path(&metadata, &instances, instance);
                let what = match activity {
                    Activity::Useful => "useful".to_owned(),
                    Activity::Condition => "condition".to_owned(),
                    Activity::Overhead(charge) => {
                        labels.charge(instances[instance.index()].component, charge)
                    }
                };
                write!(text, " {path} {what};").unwrap();
            }
        }
        text.push('\n');
    }
    expect![[r#"
        0: main useful;
        1: main FSM update of seq@L65;
        2: main useful;
        3: main FSM update of while@L67;
        4: main useful; main.d useful;
        5: main useful; main.d useful;
        6: main useful;
        7: main FSM update of seq@L69:41;
        8: main FSM and par-done update of par@L69:11;
        9: main FSM and par-done update of seq@L68;
        10: main useful;
        11: main FSM update of while@L67;
        12: main useful;
        13: main FSM update of while@L67;
        14: main useful; main.d useful;
        15: main useful; main.d useful;
        16: main useful;
        17: main FSM update of seq@L69:41;
        18: main FSM and par-done update of par@L69:11;
        19: main FSM and par-done update of seq@L68;
        20: main useful;
        21: main FSM update of while@L67;
        22: main condition;
        23: main FSM update of seq@L65;
        24: main useful; main.b useful;
        25: main useful; main.b FSM update of seq@L21:13;
        26: main useful; main.b useful; main.d useful;
        27: main useful; main.b useful; main.d useful;
        28: main useful; main.b FSM update of seq@L21:13;
        29: main FSM update of seq@L65;
        30: main useful;
        31: main useful;
        32: main useful;
        33: main FSM update of seq@L65;
        34: main condition;
        35: main FSM update of if@L75;
        36: main useful;
        37: main FSM update of seq@L65;
        38: main useful; main.t useful;
        39: main useful; main.t useful;
        40: main useful; main.t useful;
        41: main useful;
        42: main FSM update of seq@L65;
    "#]]
    .assert_eq(&text);
}

#[test]
fn updates_of_control_registers_are_those_of_the_waveform() {
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    let (instances, _) = tables(&events);
    let mut values = std::collections::BTreeMap::new();
    let mut text = String::new();
    for event in &events {
        let Event::Update(update) = event else {
            continue;
        };
        let key = (update.instance, update.register);
        let before = values.insert(key, update.new).unwrap_or(0);
        assert_eq!(before, update.old, "{update:?}");
        let component = metadata.component(instances[update.instance.index()].component);
        let path = instance_path(&metadata, &instances, update.instance);
        let name = &component.registers[update.register.index()].name;
        let (cycle, old, new) = (update.cycle.cycles(), update.old, update.new);
        writeln!(text, "{cycle}: {path}.{name} {old} → {new}").unwrap();
    }
    expect![[r#"
        1: main.fsm2 0 → 1
        2: main.signal_reg 0 → 1
        3: main.fsm2 1 → 2
        3: main.signal_reg 1 → 0
        4: main.d.fsm 0 → 1
        4: main.d.sig_reg 0 → 1
        5: main.fsm1 0 → 1
        5: main.d.fsm 1 → 0
        6: main.pd 0 → 1
        6: main.d.sig_reg 1 → 0
        7: main.fsm1 1 → 2
        8: main.pd0 0 → 1
        8: main.fsm1 2 → 0
        9: main.pd 1 → 0
        9: main.pd0 1 → 0
        9: main.fsm2 2 → 3
        11: main.fsm2 3 → 4
        12: main.signal_reg 0 → 1
        13: main.fsm2 4 → 2
        13: main.signal_reg 1 → 0
        14: main.d.fsm 0 → 1
        14: main.d.sig_reg 0 → 1
        15: main.fsm1 0 → 1
        15: main.d.fsm 1 → 0
        16: main.pd 0 → 1
        16: main.d.sig_reg 1 → 0
        17: main.fsm1 1 → 2
        18: main.pd0 0 → 1
        18: main.fsm1 2 → 0
        19: main.pd 1 → 0
        19: main.pd0 1 → 0
        19: main.fsm2 2 → 3
        21: main.fsm2 3 → 4
        22: main.signal_reg 0 → 1
        23: main.fsm2 4 → 5
        23: main.signal_reg 1 → 0
        25: main.b.fsm 0 → 1
        26: main.d.fsm 0 → 1
        26: main.d.sig_reg 0 → 1
        27: main.d.fsm 1 → 0
        28: main.d.sig_reg 1 → 0
        28: main.b.fsm 1 → 2
        29: main.fsm2 5 → 6
        29: main.b.fsm 2 → 0
        30: main.fsm 0 → 1
        30: main.signal_reg0 0 → 1
        31: main.fsm 1 → 2
        32: main.fsm 2 → 0
        33: main.fsm2 6 → 7
        33: main.signal_reg0 1 → 0
        34: main.signal_reg 0 → 1
        35: main.fsm2 7 → 9
        35: main.signal_reg 1 → 0
        37: main.fsm2 9 → 10
        38: main.fsm0 0 → 1
        38: main.signal_reg 0 → 1
        38: main.t.fsm 0 → 1
        39: main.fsm0 1 → 2
        39: main.t.fsm 1 → 2
        40: main.fsm0 2 → 3
        40: main.t.fsm 2 → 0
        41: main.fsm0 3 → 0
        42: main.fsm2 10 → 11
        42: main.signal_reg 1 → 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_trace_keeps_all_events() {
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, &metadata.fingerprint).unwrap();
    let mut checker = Checker::new(&metadata);
    for event in &events {
        writer.event(event).unwrap();
        checker.event(event).unwrap();
    }
    let read = TraceReader::new(&bytes[..], &metadata.fingerprint).unwrap();
    let read: Vec<Event> = read.map(Result::unwrap).collect();
    assert_eq!(read, events);
}

#[test]
fn a_source_on_a_thread_of_its_own_gives_the_same() {
    let metadata = metadata();
    let reconstruction = Reconstruction::new(&metadata);
    let source = VcdSource::new(VCD.as_bytes(), reconstruction.signals()).unwrap();
    let ahead = events_of(&metadata, Ahead::new(source)).unwrap();
    assert_eq!(ahead, events(&metadata, VCD).unwrap());
    // Nor does an error get lost on the way, and the source comes back.
    let half = &VCD[..VCD.len() * 3 / 4];
    let half = &half[..=half.rfind('\n').unwrap()];
    let source = VcdSource::new(half.as_bytes(), reconstruction.signals()).unwrap();
    let mut ahead = Ahead::new(source);
    let error = loop {
        match petal_reconstruct::ProbeSource::next_cycle(&mut ahead) {
            Ok(runs) => assert!(runs),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(error, events(&metadata, half).unwrap_err().to_string());
    assert!(error.contains("before the design is done"), "{error}");
    drop(ahead.into_inner());
}

#[test]
fn the_compiled_view_has_a_frame_for_each_compilation_group() {
    let metadata = metadata();
    let view = CompiledView::new(&metadata);
    let events = events(&metadata, VCD).unwrap();
    let events: Vec<Event> = events.into_iter().map(|event| view.event(event)).collect();
    let labels = FrameLabels::new(&metadata);
    let (instances, trees) = tables(&events);
    let mut control: Vec<&str> = trees
        .iter()
        .flat_map(|tree| tree.nodes().map(|(_, node)| node).collect::<Vec<_>>())
        .filter(|&node| FrameLabels::kind(node) == FrameKind::Control)
        .map(|node| labels.label(node, &instances))
        .collect();
    control.sort_unstable();
    control.dedup();
    expect![[r#"
        par@L69:11
        seq@L21:13
        seq@L65
        seq@L69:41"#]]
    .assert_eq(&control.join("\n"));
}

#[test]
fn continuous_primitives_can_be_added_to_a_tree() {
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    let (instances, trees) = tables(&events);
    let labels = FrameLabels::new(&metadata);
    let tree = &trees[trees_by_cycle(&events)[0]];
    let more = with_continuous(&metadata, &instances, tree);
    assert!(more.len() > tree.len());
    let text = labels.render(&more, &instances);
    assert!(
        text.contains("continuous assignments\n    tick (primitive)\n"),
        "{text}"
    );
    // Where they are there already, they get company.
    let again = with_continuous(&metadata, &instances, &more);
    let count = |text: &str| text.matches("continuous assignments").count();
    assert_eq!(count(&labels.render(&again, &instances)), count(&text));
}

#[test]
fn a_ref_cell_tells_which_cell_it_stands_for() {
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    let (instances, trees) = tables(&events);
    let labels = FrameLabels::new(&metadata);
    let mut actuals = Vec::new();
    for tree in &trees {
        for (id, node) in tree.nodes() {
            if let Some(path) = actual_path(&metadata, &instances, node) {
                let above: Vec<&str> = tree
                    .path(id)
                    .iter()
                    .map(|&id| labels.label(tree.node(id), &instances))
                    .collect();
                actuals.push(format!("{}: {path}", above.join(";")));
            }
        }
    }
    actuals.sort_unstable();
    actuals.dedup();
    expect![[r#"
        main;seq@L65;invoke@L73;invoke4 (compiler);b [bump];seq@L21:13;invoke@L21:26;invoke0 (compiler);helper [double]: main.d
        main;seq@L65;invoke@L73;invoke4 (compiler);b [bump];seq@L21:13;raise;counter (primitive): main.x"#]].assert_eq(&actuals.join("\n"));
}

#[test]
fn kinds_have_names() {
    let kinds = Overhead::ALL.map(|kind| format!("{kind}: {}", kind.title()));
    expect![[r#"
        fsm-update: FSM update
        par-done: par-done update
        fsm-and-par-done: FSM and par-done update
        static-wait: static wait
        barrier: barrier
        start-finish: start/finish
        other: other"#]]
    .assert_eq(&kinds.join("\n"));
    let metadata = metadata();
    let events = events(&metadata, VCD).unwrap();
    let (_, trees) = tables(&events);
    let mut frames: Vec<&str> = trees
        .iter()
        .flat_map(|tree| {
            let root = tree.node(NodeId::from_index(0));
            assert_eq!(FrameLabels::kind(root), FrameKind::Cell);
            let nodes = tree.nodes().map(|(_, node)| FrameLabels::kind(node).name());
            nodes.collect::<Vec<_>>()
        })
        .collect();
    frames.sort_unstable();
    frames.dedup();
    assert_eq!(frames, ["cell", "control", "group", "primitive"]);
}
