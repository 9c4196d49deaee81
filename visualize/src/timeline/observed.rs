//! Tracks of what was observed, for the end of a trace in Perfetto's format: packets of a trace may stand in any order.
//!
//! One microsecond is one cycle, as in the rest of the trace. Knows nothing of what was observed.

use std::ops::Range;

use prost::Message;
use prost::encoding::message;

use super::perfetto::NANOSECONDS;
use super::proto::{self, tag};

/// The track that holds the others; those of the run have low numbers, and those of an overview higher ones.
const HOLDER: u64 = 1 << 61;
/// The first arrow; those of the run have low numbers.
const ARROWS: u64 = 1 << 62;
/// The packet sequence; those of the run have low numbers.
const SEQUENCE: u32 = u32::MAX;

/// A track of something that was observed.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedTrack {
    /// What it is called.
    pub name: String,
    /// What is on it.
    pub content: ObservedContent,
}

/// What is on a track.
#[derive(Debug, Clone, PartialEq)]
pub enum ObservedContent {
    /// Something that happens in these cycles, ascending. Each has a number in the order of all that happens on several tracks, and an
    /// arrow leads from each to the next; `None` where there is no such order.
    Instants(Vec<(u64, Option<u64>)>),
    /// Intervals, in the order of their beginnings; those that overlap are below one another.
    Slices(Vec<ObservedSlice>),
    /// A value from each of these cycles on.
    Values(Vec<(u64, f64)>),
    /// A value for each sample of the run, from its first cycle on.
    Samples(Vec<(u64, f64)>),
}

/// An interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedSlice {
    /// The first cycle.
    pub start: u64,
    /// How many cycles.
    pub cycles: u64,
    /// What stands on it.
    pub name: String,
}

/// The bytes of the tracks, as far as they are in the cycles that are shown; of samples, as far as they are in those that `sampled` has.
pub fn observed(tracks: &[ObservedTrack], shown: &Range<u64>, sampled: &Range<u64>) -> Vec<u8> {
    let mut writer = Writer {
        bytes: Vec::new(),
        last: HOLDER,
    };
    if tracks.is_empty() {
        return writer.bytes;
    }
    writer.track(HOLDER, None, "observations", None);
    for track in tracks {
        writer.add(track, shown, sampled);
    }
    writer.bytes
}

struct Writer {
    bytes: Vec<u8>,
    last: u64,
}

impl Writer {
    fn add(&mut self, track: &ObservedTrack, shown: &Range<u64>, sampled: &Range<u64>) {
        let name = &track.name;
        match &track.content {
            ObservedContent::Instants(cycles) => {
                let id = self.next(name, None);
                for &(cycle, order) in cycles.iter().filter(|(cycle, _)| shown.contains(cycle)) {
                    // The arrow that comes in, and the one that goes out.
                    let arrows = order.map(|order| [order, order + 1].map(|at| ARROWS + at));
                    self.packet(proto::TracePacket {
                        timestamp: Some(cycle.saturating_mul(NANOSECONDS)),
                        track_event: Some(proto::TrackEvent {
                            r#type: Some(proto::TYPE_INSTANT),
                            track_uuid: Some(id),
                            name: Some(name.clone()),
                            flow_ids: arrows.into_iter().flatten().collect(),
                            ..proto::TrackEvent::default()
                        }),
                        ..proto::TracePacket::default()
                    });
                }
            }
            ObservedContent::Slices(slices) => {
                // For each row, where its last slice ends.
                let mut rows: Vec<(u64, u64)> = Vec::new();
                for slice in slices {
                    let end = slice.start + slice.cycles;
                    if end <= shown.start || slice.start >= shown.end {
                        continue;
                    }
                    let (start, end) = (slice.start.max(shown.start), end.min(shown.end));
                    let row = rows.iter_mut().find(|(_, last)| *last <= start);
                    let id = match row {
                        Some((id, last)) => {
                            *last = end;
                            *id
                        }
                        None => {
                            let id = self.next(name, None);
                            rows.push((id, end));
                            id
                        }
                    };
                    self.event(
                        id,
                        start,
                        proto::TYPE_SLICE_BEGIN,
                        Some(slice.name.clone()),
                        None,
                    );
                    self.event(id, end, proto::TYPE_SLICE_END, None, None);
                }
            }
            ObservedContent::Values(values) => self.values(name, values, shown),
            ObservedContent::Samples(values) => self.values(name, values, sampled),
        }
    }

    fn values(&mut self, name: &str, values: &[(u64, f64)], shown: &Range<u64>) {
        let id = self.next(name, Some(proto::CounterDescriptor::default()));
        let first = values.partition_point(|&(cycle, _)| cycle < shown.start);
        for &(cycle, value) in &values[first.saturating_sub(1)..] {
            if cycle < shown.end {
                let at = cycle.max(shown.start);
                self.event(id, at, proto::TYPE_COUNTER, None, Some(value));
            }
        }
    }

    fn next(&mut self, name: &str, counter: Option<proto::CounterDescriptor>) -> u64 {
        self.last += 1;
        self.track(self.last, Some(HOLDER), name, counter);
        self.last
    }

    fn track(
        &mut self,
        id: u64,
        parent: Option<u64>,
        name: &str,
        counter: Option<proto::CounterDescriptor>,
    ) {
        self.packet(proto::TracePacket {
            track_descriptor: Some(proto::TrackDescriptor {
                uuid: Some(id),
                name: Some(name.to_owned()),
                parent_uuid: parent,
                counter,
                child_ordering: Some(proto::EXPLICIT),
                sibling_order_rank: u32::try_from(id - HOLDER).ok(),
                sibling_merge_behavior: Some(proto::NONE),
            }),
            ..proto::TracePacket::default()
        });
    }

    fn event(
        &mut self,
        track: u64,
        cycle: u64,
        kind: u32,
        name: Option<String>,
        value: Option<f64>,
    ) {
        self.packet(proto::TracePacket {
            timestamp: Some(cycle.saturating_mul(NANOSECONDS)),
            track_event: Some(proto::TrackEvent {
                r#type: Some(kind),
                track_uuid: Some(track),
                name,
                double_counter_value: value,
                ..proto::TrackEvent::default()
            }),
            ..proto::TracePacket::default()
        });
    }

    fn packet(&mut self, packet: proto::TracePacket) {
        let packet = proto::TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..packet
        };
        debug_assert!(packet.encoded_len() > 0);
        message::encode(tag::TRACE_PACKET, &packet, &mut self.bytes);
    }
}
