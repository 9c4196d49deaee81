//! Reads the counters of a timeline in Perfetto's format. Knows of the format only what that takes.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::ZlibDecoder;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packets: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, tag = "8")]
    timestamp: u64,
    #[prost(uint32, tag = "10")]
    sequence: u32,
    #[prost(message, optional, tag = "11")]
    event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned: Option<Interned>,
    #[prost(bytes = "vec", optional, tag = "50")]
    compressed: Option<Vec<u8>>,
    #[prost(message, optional, tag = "60")]
    track: Option<Track>,
}

#[derive(Clone, PartialEq, Message)]
struct Track {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "14")]
    description: String,
}

/// Texts, each with its number.
#[derive(Clone, PartialEq, Message)]
struct Interned {
    #[prost(message, repeated, tag = "1")]
    categories: Vec<Text>,
    #[prost(message, repeated, tag = "2")]
    names: Vec<Text>,
    #[prost(message, repeated, tag = "3")]
    arguments: Vec<Text>,
    #[prost(message, repeated, tag = "29")]
    values: Vec<Text>,
}

#[derive(Clone, PartialEq, Message)]
struct Text {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    text: String,
}

#[derive(Clone, PartialEq, Message)]
struct Argument {
    #[prost(uint64, tag = "1")]
    name: u64,
    #[prost(uint64, optional, tag = "3")]
    number: Option<u64>,
    #[prost(uint64, optional, tag = "17")]
    text: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(uint64, repeated, tag = "3")]
    categories: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    arguments: Vec<Argument>,
    #[prost(uint64, tag = "10")]
    name: u64,
    #[prost(uint32, tag = "9")]
    kind: u32,
    #[prost(uint64, tag = "11")]
    track: u64,
    #[prost(int64, optional, tag = "30")]
    counter: Option<i64>,
    #[prost(double, optional, tag = "44")]
    share: Option<f64>,
}

/// The sum of each counter over all cycles, by its name; of a percentage, the cycles for which it stands.
pub fn counters(timeline: &[u8]) -> BTreeMap<String, i64> {
    let mut tracks: BTreeMap<u64, String> = BTreeMap::new();
    let mut clocks: BTreeMap<u32, u64> = BTreeMap::new();
    let mut values: BTreeMap<u64, (u64, f64)> = BTreeMap::new();
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for packet in unpacked(timeline) {
        if let Some(track) = packet.track {
            tracks.insert(track.uuid, track.name);
        }
        // The clock of each sequence is incremental.
        let clock = clocks.entry(packet.sequence).or_default();
        *clock += packet.timestamp;
        let Some(event) = packet.event else { continue };
        let counter = event.counter.map(exact);
        let share = event.share.map(|share| share / 100.0);
        let Some(value) = counter.or(share) else {
            continue;
        };
        let before = values.insert(event.track, (*clock, value));
        let (since, before) = before.unwrap_or((*clock, 0.0));
        let cycles = i64::try_from(*clock - since).expect("no run is as long");
        *sums.entry(tracks[&event.track].clone()).or_default() += before * exact(cycles);
    }
    for (_, value) in values.values() {
        assert!(*value == 0.0, "a counter does not end at 0");
    }
    let cycles = |sum: f64| {
        assert!(
            (sum - sum.round()).abs() < 1e-6,
            "{sum} is no number of cycles"
        );
        #[expect(clippy::cast_possible_truncation, reason = "it is a whole number")]
        let cycles = sum.round() as i64;
        cycles
    };
    let sums = sums.into_iter();
    sums.map(|(name, sum)| (name, cycles(sum))).collect()
}

/// A slice of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    pub track: u64,
    pub name: String,
    pub category: String,
    pub start: u64,
    pub end: u64,
    /// Its arguments; numbers as their digits.
    pub arguments: BTreeMap<String, String>,
}

/// All slices but those of control registers and observations, in the order in which they begin.
pub fn slices(timeline: &[u8]) -> Vec<Slice> {
    let mut texts: BTreeMap<(u8, u64), String> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let (mut slices, mut clock) = (Vec::new(), 0);
    // They are one sequence of packets.
    for packet in unpacked(timeline).into_iter().filter(|of| of.sequence == 1) {
        clock += packet.timestamp;
        let interned = packet.interned.unwrap_or_default();
        let kinds = [
            interned.categories,
            interned.names,
            interned.arguments,
            interned.values,
        ];
        for (kind, of_kind) in (0..).zip(kinds) {
            let new = of_kind.into_iter().map(|of| ((kind, of.id), of.text));
            texts.extend(new);
        }
        let Some(event) = packet.event else { continue };
        let open = open.entry(event.track).or_default();
        match event.kind {
            1 => {
                open.push(slices.len());
                let arguments = argumented(&event.arguments, &texts);
                slices.push(Slice {
                    track: event.track,
                    name: texts[&(1, event.name)].clone(),
                    category: texts[&(0, event.categories[0])].clone(),
                    start: clock,
                    end: clock,
                    arguments,
                });
            }
            2 => {
                let slice: &mut Slice = &mut slices[open.pop().expect("it has begun")];
                slice.end = clock;
                slice.arguments.extend(argumented(&event.arguments, &texts));
            }
            _ => {}
        }
    }
    slices
}

fn argumented(
    arguments: &[Argument],
    texts: &BTreeMap<(u8, u64), String>,
) -> BTreeMap<String, String> {
    let arguments = arguments.iter().map(|of| {
        let text = of.text.map(|id| texts[&(3, id)].clone());
        let value = text.or(of.number.map(|number| number.to_string()));
        (texts[&(2, of.name)].clone(), value.unwrap_or_default())
    });
    arguments.collect()
}

/// The events on the tracks of observations, in order: cycle, Perfetto's kind of event, and the value of a counter.
pub fn observed(timeline: &[u8]) -> BTreeMap<String, Vec<(u64, u32, Option<f64>)>> {
    let packets: Vec<Packet> = unpacked(timeline);
    let of_observations = packets.iter().filter(|packet| packet.sequence == u32::MAX);
    let tracks = of_observations
        .clone()
        .filter_map(|packet| packet.track.as_ref());
    let tracks: BTreeMap<u64, &str> = tracks.map(|track| (track.uuid, &*track.name)).collect();
    let mut events: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for packet in of_observations {
        if let Some(event) = &packet.event {
            let all = events.entry(tracks[&event.track].to_owned()).or_default();
            assert_eq!(packet.timestamp % 1000, 0);
            all.push((packet.timestamp / 1000, event.kind, event.share));
        }
    }
    events
}

/// What tracks that have a description are called, by it.
pub fn described(timeline: &[u8]) -> BTreeMap<String, String> {
    let packets = unpacked(timeline).into_iter();
    let tracks = packets.filter_map(|packet| packet.track);
    let described = tracks.filter(|track| !track.description.is_empty());
    described
        .map(|track| (track.description, track.name))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "no run here is as long")]
fn exact(number: i64) -> f64 {
    number as f64
}

/// All packets, in order.
fn unpacked(trace: &[u8]) -> Vec<Packet> {
    let mut packets = Vec::new();
    for packet in Trace::decode(trace).expect("it is a trace").packets {
        match packet.compressed {
            Some(compressed) => {
                let mut plain = Vec::new();
                let mut decoder = ZlibDecoder::new(&compressed[..]);
                decoder.read_to_end(&mut plain).expect("it is zlib");
                packets.extend(unpacked(&plain));
            }
            None => packets.push(packet),
        }
    }
    packets
}
