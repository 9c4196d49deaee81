use petal_metadata::{CellId, ComponentId, ControlId, GroupId, GroupRunId, Id as _, RegisterId};

use super::*;
use crate::model::{
    Activity, CallTree, Charge, Cycle, Event, Gap, Instance, InstanceId, Node, Overhead,
    RegisterUpdate, Run, TreeId, Warning,
};

fn sample() -> Vec<Event> {
    let component = ComponentId::from_index(0);
    let instance = InstanceId::from_index(0);
    let overhead = Activity::Overhead(Charge {
        kind: Overhead::FsmAndParDone,
        statement: Some(ControlId::from_index(7)),
    });
    let nodes = [
        (
            0,
            Node::Cell {
                instance,
                formal: Some((component, CellId::from_index(5))),
                activity: overhead,
            },
        ),
        (
            1,
            Node::Control {
                component,
                control: ControlId::from_index(300),
            },
        ),
        (
            2,
            Node::Group {
                component,
                group: GroupId::from_index(1),
                run: GroupRunId::from_index(2),
            },
        ),
        (
            3,
            Node::Primitive {
                component,
                cell: CellId::from_index(4),
                actual: None,
            },
        ),
        (
            3,
            Node::Primitive {
                component,
                cell: CellId::from_index(5),
                actual: Some((instance, CellId::from_index(6))),
            },
        ),
        (1, Node::Continuous { component }),
    ];
    vec![
        Event::Instance(Instance {
            component,
            parent: None,
        }),
        Event::Instance(Instance {
            component,
            parent: Some((instance, CellId::from_index(9))),
        }),
        Event::Tree(Box::new(CallTree::from_preorder(nodes).unwrap())),
        Event::Run(Run {
            tree: TreeId::from_index(0),
            start: Cycle::from_cycles(0),
            cycles: 999_000,
        }),
        Event::Gap(Gap {
            start: Cycle::from_cycles(999_000),
            cycles: 1000,
        }),
        Event::Update(RegisterUpdate {
            cycle: Cycle::from_cycles(7),
            instance,
            register: RegisterId::from_index(3),
            old: 0,
            new: u64::MAX,
        }),
        Event::Warning(Box::new(Warning {
            cycle: Cycle::from_cycles(1),
            signal: "TOP.x".to_owned(),
            text: "odd".to_owned(),
        })),
        Event::Figures("{}".into()),
        Event::End { cycles: 1_000_000 },
    ]
}

fn written(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, "abc").unwrap();
    for event in events {
        writer.event(event).unwrap();
    }
    bytes
}

fn bytes() -> Vec<u8> {
    written(&sample())
}

#[test]
fn a_trace_is_read_back() {
    let bytes = bytes();
    let events: Vec<Event> = TraceReader::new(&bytes[..], "abc")
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(events, sample());
}

#[test]
fn a_cut_trace_is_an_error() {
    let bytes = bytes();
    for len in 0..bytes.len() {
        let failed = match TraceReader::new(&bytes[..len], "abc") {
            Err(_) => true,
            Ok(reader) => reader.into_iter().any(|event| event.is_err()),
        };
        assert!(failed, "cut after {len} bytes of {}", bytes.len());
    }
}

fn read(bytes: &[u8]) -> Result<Vec<Event>, TraceError> {
    TraceReader::new(bytes, "abc")?.collect()
}

#[test]
fn any_changed_bit_is_an_error() {
    let bytes = bytes();
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&changed).is_err(), "bit {bit}");
    }
}

#[test]
fn anything_behind_the_end_is_an_error() {
    let bytes = bytes();
    for more in [&b"\0"[..], &bytes[bytes.len() - 9..], &bytes] {
        let error = read(&[&bytes, more].concat()).unwrap_err();
        let is_damaged = matches!(error, TraceError::Damaged { .. });
        assert!(is_damaged, "{error}");
    }
}

/// As many runs as fill several blocks.
fn long() -> Vec<Event> {
    let mut events = sample();
    let end = events.pop();
    let mut start = 1_000_000;
    for cycles in 1..40_000 {
        events.push(Event::Run(Run {
            tree: TreeId::from_index(0),
            start: Cycle::from_cycles(start),
            cycles,
        }));
        start += cycles;
    }
    assert!(end.is_some());
    events.push(Event::End { cycles: start });
    events
}

#[test]
fn blocks_can_be_neither_left_out_nor_swapped() {
    let events = long();
    let bytes = written(&events);
    assert_eq!(read(&bytes).unwrap(), events);
    let mut starts = vec![head("abc").len()];
    while let Some(&start) = starts.last().filter(|&&start| start < bytes.len()) {
        let length = u32::from_le_bytes(bytes[start..start + 4].try_into().unwrap());
        starts.push(start + 8 + length as usize);
    }
    assert!(starts.len() > 2, "there is one block only");
    let (first, second) = (starts[0], starts[1]);
    let without = [&bytes[..first], &bytes[second..]].concat();
    assert!(read(&without).is_err());
    let third = starts[2];
    let swapped = [
        &bytes[..first],
        &bytes[second..third],
        &bytes[first..second],
        &bytes[third..],
    ];
    assert!(read(&swapped.concat()).is_err());
}

#[test]
fn another_version_is_an_error() {
    let bytes = b"petal-trace 2\nabc\n\x06\0";
    let error = read(bytes).unwrap_err().to_string();
    assert!(error.contains("version 2"), "{error}");
}

#[test]
fn another_design_is_an_error() {
    let error = TraceReader::new(&bytes()[..], "abd").unwrap_err();
    assert!(matches!(error, TraceError::OtherDesign { .. }));
}

/// A loop with a counter that goes up to a number which is new each time.
fn nested(outer: u64) -> Vec<Event> {
    let mut events = sample();
    events.pop();
    let mut start = 1_000_000;
    for last in 0..outer {
        for count in 0..last {
            events.push(Event::Update(RegisterUpdate {
                cycle: Cycle::from_cycles(start + 2),
                instance: InstanceId::from_index(0),
                register: RegisterId::from_index(3),
                old: count,
                new: count + 1,
            }));
            for cycles in [3, 1, 2] {
                events.push(Event::Run(Run {
                    tree: TreeId::from_index(0),
                    start: Cycle::from_cycles(start),
                    cycles,
                }));
                start += cycles;
            }
        }
    }
    events.push(Event::End { cycles: start });
    events
}

#[test]
fn what_comes_again_takes_little() {
    let events = nested(300);
    let bytes = written(&events);
    assert_eq!(read(&bytes).unwrap(), events);
    let (steps, iterations) = (events.len(), 300 * 299 / 2);
    let (most, len) = (5 * iterations, bytes.len());
    assert!(len < most, "{len} bytes for {steps} steps");
}

#[test]
fn what_never_came_cannot_come_again() {
    for records in [&b"\x09\x01"[..], b"\x09\0", b"\x09\x81\x20", b"\x0a\0"] {
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&mut bytes, "abc").unwrap();
        writer.records(records).unwrap();
        let error = read(&bytes).unwrap_err();
        assert!(matches!(error, TraceError::Damaged { .. }), "{error}");
    }
}
