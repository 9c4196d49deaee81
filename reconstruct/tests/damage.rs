//! Waveforms and traces that no run of the design can have: they end with an error, or what is odd in them is
//! told, and whatever comes out keeps the rules of call trees.

mod support;

use std::fmt::Write as _;

use expect_test::expect;
use petal_metadata::{CellId, ComponentId, ControlId, GroupId, GroupRunId, RegisterId};
use petal_reconstruct::violations::{Checker, Violation};
use petal_reconstruct::{
    Activity, CallTree, Charge, Cycle, Event, Id, Instance, InstanceId, Node, Overhead,
    Reconstruction, RegisterUpdate,
};
use support::{VCD, events, forced, metadata, trees_by_cycle, warnings};

#[test]
fn a_probe_that_is_stuck_is_told() {
    let metadata = metadata();
    let cycles = trees_by_cycle(&events(&metadata, VCD).unwrap()).len();
    let reconstruction = Reconstruction::new(&metadata);
    let mut text = String::new();
    let mut told = 0;
    let mut silent = 0;
    for signal in &reconstruction.signals().watched {
        let signal = signal.to_string();
        if !signal.contains("petal_") {
            continue;
        }
        for value in ['0', '1'] {
            let events = events(&metadata, &forced(&signal, value)).unwrap();
            // The length of a run does not depend on probes.
            assert_eq!(trees_by_cycle(&events).len(), cycles, "{signal} = {value}");
            let mut checker = Checker::new(&metadata);
            for event in &events {
                checker.event(event).unwrap();
            }
            match warnings(&events).first() {
                Some(warning) => {
                    told += 1;
                    if told % 8 == 1 {
                        writeln!(text, "{signal} = {value}\n  {warning}").unwrap();
                    }
                }
                None => silent += 1,
            }
        }
    }
    writeln!(text, "{told} told, {silent} as they could be in a run").unwrap();
    expect![[r#"
        toplevel.main.petal_ga_0_in = 0
          cycle 0: toplevel.main.petal_cp_1_in is high while the group that makes the call is not active; ignored
        toplevel.main.petal_ga_11_in = 0
          cycle 10: toplevel.main.petal_cp_12_in is high while the group that makes the call is not active; ignored
        toplevel.main.petal_ga_24_in = 0
          cycle 38: toplevel.main.petal_cc_25_in is high while the group that makes the call is not active; ignored
        toplevel.main.petal_en_38_in = 0
          cycle 6: toplevel.main.petal_cg_10_in is high while the group that makes the call is not active; ignored
        toplevel.main.petal_cp_1_in = 1
          cycle 1: toplevel.main.petal_cp_1_in is high while the group that makes the call is not active; ignored
        toplevel.main.petal_cp_12_in = 1
          cycle 0: toplevel.main.petal_cp_12_in is high while the group that makes the call is not active; ignored
        toplevel.main.petal_cc_25_in = 0
          cycle 38: toplevel.main.t.petal_ga_0_in is high although nothing runs the cell that it is in
        toplevel.main.petal_ca_39_in = 1
          cycle 0: toplevel.main.petal_ca_39_in is high although control is elsewhere
        toplevel.main.d.petal_ga_0_in = 0
          cycle 4: toplevel.main.d.petal_cp_1_in is high while the group that makes the call is not active; ignored
        toplevel.main.b.petal_ga_0_in = 0
          cycle 24: toplevel.main.b.petal_cp_1_in is high while the group that makes the call is not active; ignored
        toplevel.main.b.petal_ca_5_in = 0
          cycle 24: toplevel.main.b.petal_ga_0_in is high although control is elsewhere
        toplevel.main.t.petal_cp_1_in = 1
          cycle 0: toplevel.main.t.petal_cp_1_in is high although nothing runs the cell that it is in
        91 told, 39 as they could be in a run
    "#]].assert_eq(&text);
}

#[test]
fn an_unknown_probe_counts_as_low_with_a_warning() {
    let metadata = metadata();
    let reconstruction = Reconstruction::new(&metadata);
    let probe = reconstruction.signals().watched[0].to_string();
    let events = events(&metadata, &forced(&probe, 'x')).unwrap();
    let warnings = warnings(&events);
    assert!(
        warnings[0].ends_with("is x or z; taken as 0"),
        "{warnings:?}"
    );
}

#[test]
fn waveforms_of_something_else_are_refused() {
    let metadata = metadata();
    let refused = |vcd: &str| events(&metadata, vcd).unwrap_err().to_string();
    let marker = Reconstruction::new(&metadata).signals().marker.name.clone();
    let mut text = String::new();
    for vcd in [
        VCD.replace("toplevel", "testbench"),
        VCD.replace(&marker, "other"),
        VCD.replace(" petal_", " other_")
            .replace(" other_build", " petal_build"),
        VCD.replacen("$var", "$vra", 1),
        VCD.replacen("#10\n", "#1\n", 1),
        VCD[..VCD.rfind('#').unwrap()].to_owned(),
    ] {
        let error = refused(&vcd);
        let error = error.replace(&marker, "MARKER");
        writeln!(text, "{error}").unwrap();
    }
    expect![[r#"
        the waveform has no scope `toplevel.main`, so it is not of a Calyx design; simulate the instrumented design, with the main component as instance `main` of a top module `toplevel`
        the waveform and the metadata are of different builds (there is no `toplevel.main.MARKER` in the waveform); instrument and simulate the design again
        the waveform and the metadata are of different builds (there is no `toplevel.main.MARKER` in the waveform); instrument and simulate the design again
        the waveform is no valid VCD (line 4): unknown command; simulate the design again
        the waveform is no valid VCD: time 1 comes after time 5; simulate the design again
        the waveform ends after 43 cycles, before the design is done; simulate it to its end
    "#]].assert_eq(&text);
}

fn id<I: Id>(index: usize) -> I {
    I::from_index(index)
}

fn tree(nodes: &[(usize, Node)]) -> Event {
    Event::Tree(Box::new(
        CallTree::from_preorder(nodes.iter().copied()).unwrap(),
    ))
}

/// Main, with what it does.
fn cell(instance: usize, activity: Activity) -> Node {
    Node::Cell {
        instance: id(instance),
        formal: None,
        activity,
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn events_that_break_a_rule_are_refused() {
    let metadata = metadata();
    let main = metadata.main;
    let useful = cell(0, Activity::Useful);
    let control = |control: usize| Node::Control {
        component: main,
        control: id::<ControlId>(control),
    };
    let group = Node::Group {
        component: main,
        group: id::<GroupId>(0),
        run: id::<GroupRunId>(0),
    };
    let primitive = |cell: CellId| Node::Primitive {
        component: main,
        cell,
        actual: None,
    };
    let cell_of = |is_component: bool| {
        let mut cells = metadata.component(main).cells.iter();
        let at = cells.position(|cell| {
            matches!(cell.kind, petal_metadata::CellKind::Component(_)) == is_component
        });
        id::<CellId>(at.unwrap())
    };
    let (register, held) = (cell_of(false), cell_of(true));
    let other: ComponentId = id((main.index() + 1) % metadata.components.len());
    let update = |cycle: u64, instance: usize, register: usize| {
        Event::Update(RegisterUpdate {
            cycle: Cycle::from_cycles(cycle),
            instance: id::<InstanceId>(instance),
            register: id::<RegisterId>(register),
            old: 0,
            new: 1,
        })
    };
    let charged = Activity::Overhead(Charge {
        kind: Overhead::Other,
        statement: Some(id(1000)),
    });
    let main_instance = Event::Instance(Instance {
        component: main,
        parent: None,
    });
    let below = |component: ComponentId, parent: usize, cell: CellId| {
        Event::Instance(Instance {
            component,
            parent: Some((id(parent), cell)),
        })
    };
    let cases = [
        below(id(1000), 0, held),
        below(other, 1, held),
        below(other, 0, id(1000)),
        below(main, 0, register),
        tree(&[(0, control(0))]),
        tree(&[(0, cell(7, Activity::Useful))]),
        tree(&[(0, cell(0, charged))]),
        tree(&[(0, useful), (1, control(1000))]),
        tree(&[(0, useful), (1, control(1))]),
        tree(&[(0, useful), (1, group), (2, control(0))]),
        tree(&[(0, useful), (1, control(0)), (2, control(0))]),
        tree(&[(0, useful), (1, primitive(register))]),
        tree(&[(0, useful), (1, group), (2, primitive(held))]),
        tree(&[(0, useful), (1, group), (2, primitive(id(1000)))]),
        tree(&[
            (0, useful),
            (1, group),
            (2, primitive(register)),
            (3, group),
        ]),
        tree(&[(0, useful), (1, group), (2, useful)]),
        tree(&[(0, useful), (1, Node::Continuous { component: other })]),
        tree(&[
            (0, useful),
            (1, group),
            (2, Node::Continuous { component: main }),
        ]),
        tree(&[
            (0, useful),
            (
                1,
                Node::Group {
                    component: main,
                    group: id(1000),
                    run: id(0),
                },
            ),
        ]),
        update(3, 9, 0),
        update(3, 0, 1000),
    ];
    let mut text = String::new();
    for case in &cases {
        let mut checker = Checker::new(&metadata);
        checker.event(&main_instance).unwrap();
        let violation = checker.event(case).unwrap_err();
        let (Violation::Dangling(what) | Violation::Rule(what)) = violation;
        writeln!(text, "{what}").unwrap();
    }
    expect![[r#"
        component
        component cell
        cell
        a component cell is a cell of its component
        the root is the main cell
        component cell
        control node
        control node
        a control node hangs below those around it
        a control node's parent is a cell or control node
        a control node's parent is the statement around it
        a primitive's parent is a group
        a primitive is a cell of a primitive
        cell
        primitives are leaves
        main is only at the root
        a node is of the component of its cell
        continuous assignments hang below their cell
        group
        component cell
        control register
    "#]]
    .assert_eq(&text);

    let mut checker = Checker::new(&metadata);
    checker.event(&main_instance).unwrap();
    checker.event(&update(3, 0, 0)).unwrap();
    assert!(checker.event(&update(2, 0, 0)).is_err(), "time goes back");
    assert!(
        checker.event(&Event::End { cycles: 2 }).is_err(),
        "an update is after the end"
    );
}
