use std::io::Read as _;

use flate2::read::ZlibDecoder;

use proptest::prelude::*;
use prost::Message;

use super::super::compress::tests::Shared;
use super::super::format::{Begin, End, Pattern};
use super::*;

/// The file, with what is compressed in it.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    sequence: Option<u32>,
    #[prost(message, optional, tag = "11")]
    event: Option<proto::TrackEvent>,
    #[prost(bytes = "vec", optional, tag = "50")]
    compressed: Option<Vec<u8>>,
}

fn update(track: TrackId) -> Slice {
    Slice {
        track,
        name: format!("fsm{track}: 0→1"),
        path: String::new(),
        category: "control register",
        is_update: true,
        site: None,
        details: Vec::new(),
    }
}

/// The events of a file, with their cycles, in the order of time.
fn events(file: &Shared) -> Vec<(u64, proto::TrackEvent)> {
    let mut events = Vec::new();
    let mut now = HashMap::new();
    for packet in Trace::decode(&file.bytes()[..]).unwrap().packets {
        let mut plain = Vec::new();
        ZlibDecoder::new(&packet.compressed.unwrap()[..])
            .read_to_end(&mut plain)
            .unwrap();
        for packet in Trace::decode(&plain[..]).unwrap().packets {
            let (Some(event), Some(passed)) = (packet.event, packet.timestamp) else {
                continue;
            };
            let now = now.entry(packet.sequence).or_insert(0);
            *now += passed;
            events.push((*now, event));
        }
    }
    events.sort_by_key(|(at, _)| *at);
    events
}

#[test]
fn changes_that_come_again_leave_out_what_the_first_ones_had() {
    let file = Shared::default();
    let mut timeline = Perfetto::new(file.clone()).unwrap();
    let slice = Slice {
        is_update: false,
        site: None,
        ..update(5)
    };
    timeline.slice(0, &slice).unwrap();
    let end = End {
        slice: 0,
        counted: true,
        cut: false,
    };
    let pattern = Pattern {
        ends: vec![end],
        ..Pattern::default()
    };
    let several = [7, 1, 2, 300, 1];
    for (cycle, several) in (0..).zip(several) {
        let numbers = [several];
        let changes = Changes::new(Some(0), &pattern, &numbers);
        timeline.changes(cycle, changes).unwrap();
    }
    timeline.finish().unwrap();
    let told = events(&file).into_iter().map(|(_, event)| {
        let told = event.debug_annotations.first();
        told.and_then(|told| told.uint_value)
    });
    let expected = several.map(|several| (several > 1).then_some(several));
    assert!(told.eq(expected));
}

#[test]
fn values_are_arguments_of_what_was_observed() {
    use petal_table::{Track, TrackContent, Value};
    let file = Shared::default();
    let mut timeline = Perfetto::new(file.clone()).unwrap();
    let values = |all: [Value; 3]| ("v".to_owned(), all.to_vec());
    let track = |name: &str, content, all| Track {
        name: name.to_owned(),
        site: None,
        content,
        arguments: vec![values(all)],
    };
    let instants = TrackContent::Instants(vec![(1, None), (2, None), (3, None)]);
    let slices = TrackContent::Slices(vec![(4, 4), (5, 5), (20, 1)]);
    let numbers = ["0.5", "-inf", "1"].map(|text| Value::Number(text.to_owned()));
    let observed = Observed {
        tracks: vec![
            track(
                "stamps",
                instants,
                [Value::Count(7), Value::Signed(-7), Value::Empty],
            ),
            track("slices", slices, numbers),
        ],
        shown: 2..10,
        sampled: 2..10,
    };
    timeline.observed(&observed).unwrap();
    timeline.finish().unwrap();
    let told = events(&file).into_iter().flat_map(|(_, event)| {
        let told = event.debug_annotations.into_iter();
        told.map(|told| (told.name, told.int_value, told.double_value))
    });
    let told: Vec<_> = told.collect();
    let name = || Some("v".to_owned());
    let expected = [
        (name(), Some(-7), None),
        (name(), None, Some(0.5)),
        (name(), None, Some(f64::NEG_INFINITY)),
    ];
    assert_eq!(told, expected);
}

#[test]
fn the_number_of_an_open_slice_may_be_given_to_another() {
    let file = Shared::default();
    let mut timeline = Perfetto::new(file.clone()).unwrap();
    timeline.slice(0, &update(5)).unwrap();
    timeline.update(0, 10..12, None).unwrap();
    timeline.slice(0, &update(6)).unwrap();
    timeline.update(0, 11..12, None).unwrap();
    timeline.finish().unwrap();

    let events = events(&file).into_iter();
    let mut events: Vec<(u64, u64, u32)> = events
        .map(|(at, event)| (at, event.track_uuid.unwrap(), event.r#type.unwrap()))
        .collect();
    events.sort_unstable();
    let (begin, end) = (proto::TYPE_SLICE_BEGIN, proto::TYPE_SLICE_END);
    assert_eq!(
        events,
        [(10, 5, begin), (11, 6, begin), (12, 5, end), (12, 6, end)]
    );
}

/// A pattern of changes of the slices 0 and 1 and a counter.
fn pattern() -> impl Strategy<Value = Pattern> {
    let end = (0..2_usize, any::<bool>(), any::<bool>());
    let end = end.prop_map(|(slice, counted, cut)| End {
        slice,
        counted,
        cut,
    });
    let begin = (0..2_usize, 0..3_usize, any::<bool>());
    let begin = begin.prop_map(|(slice, outgoing, is_called)| Begin {
        slice,
        outgoing,
        is_called,
    });
    let patterns = (
        prop::collection::vec(end, 0..3),
        prop::collection::vec(begin, 0..3),
        prop::collection::vec(0..300_u64, 0..2),
    );
    patterns.prop_map(|(ends, begins, values)| Pattern {
        ends,
        begins,
        counters: values.into_iter().map(|value| (7, value)).collect(),
    })
}

/// Writes changes with these patterns and numbers; patterns have numbers if `remembered`.
fn written(patterns: &[Pattern], steps: &[(usize, u64, Vec<u64>)], remembered: bool) -> Vec<u8> {
    let file = Shared::default();
    let mut timeline = Perfetto::new(file.clone()).unwrap();
    let counter = Track {
        id: 7,
        parent: None,
        cell: 1,
        cell_path: "main".to_owned(),
        cell_label: "main".to_owned(),
        name: "counter".to_owned(),
        rank: 0,
        content: Content::Counter,
    };
    timeline.track(&counter).unwrap();
    for id in 0..2 {
        let slice = Slice {
            is_update: false,
            site: None,
            ..update(5)
        };
        timeline.slice(id, &slice).unwrap();
    }
    let mut cycle = 0;
    for (at, passed, numbers) in steps {
        cycle += passed;
        let pattern = &patterns[*at];
        let id = remembered.then_some(*at);
        let numbers = &numbers[..pattern.numbers()];
        timeline
            .changes(cycle, Changes::new(id, pattern, numbers))
            .unwrap();
    }
    timeline.finish().unwrap();
    file.bytes()
}

proptest! {
    #[test]
    fn remembered_patterns_are_written_as_new_ones(
        patterns in prop::collection::vec(pattern(), 3),
        steps in prop::collection::vec(
            (0..3_usize, 0..200_u64, prop::collection::vec(1..300_u64, 15)), 0..40),
    ) {
        prop_assert_eq!(written(&patterns, &steps, true), written(&patterns, &steps, false));
    }

    #[test]
    fn changes_use_up_their_numbers_in_order(
        pattern in pattern(),
        numbers in prop::collection::vec(1..300_u64, 15),
    ) {
        let numbers = &numbers[..pattern.numbers()];
        let changes = Changes::new(None, &pattern, numbers);
        let used = changes.iter().flat_map(|change| match change {
            Change::Ended { activations, whole, .. } => {
                let whole = whole.into_iter().flat_map(|whole| [whole.start, whole.cycles]);
                activations.into_iter().chain(whole).collect()
            }
            Change::Began { activation, outgoing, incoming, .. } => {
                let first = std::iter::once(activation);
                first.chain(outgoing.iter().copied()).chain(incoming).collect()
            }
            Change::Counter { .. } => Vec::new(),
        });
        prop_assert_eq!(used.collect::<Vec<u64>>(), numbers);
        let ends = changes.iter().filter(|change| matches!(change, Change::Ended { .. }));
        prop_assert_eq!(ends.count(), pattern.ends.len());
    }
}
