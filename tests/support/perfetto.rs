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
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
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
