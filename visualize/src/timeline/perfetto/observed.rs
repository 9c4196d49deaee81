//! Tracks of what was observed, as packets of a sequence of their own: packets of a trace may stand in any order.

use std::io::{self, Write};

use petal_table::Value;
use prost::Message as _;
use prost::encoding::message;

use super::sequence::{MAIN, NANOSECONDS, stream};
use crate::timeline::Observed;
use crate::timeline::compress::Packets;
use crate::timeline::observed::{Events, Row};
use crate::timeline::proto::{self, tag};

/// The track that holds the others; those of the run have low numbers, and those of an overview higher ones.
const HOLDER: u64 = 1 << 61;
/// The first arrow; those of the run have low numbers.
const ARROWS: u64 = 1 << 62;
/// The packet sequence; those of the run have low numbers.
const SEQUENCE: u32 = u32::MAX;

/// Writes the packets.
pub(super) fn write<W: Write + Send + 'static>(
    observed: &Observed,
    packets: &mut Packets<W>,
) -> io::Result<()> {
    if observed.tracks.is_empty() {
        return Ok(());
    }
    let mut writer = Writer { packets };
    let holder = proto::TrackDescriptor {
        name: Some("observations".to_owned()),
        ..proto::TrackDescriptor::default()
    };
    writer.track(HOLDER, holder)?;
    for (id, row) in (HOLDER + 1..).zip(observed.rows()) {
        let is_counter = matches!(row.events, Events::Values(_));
        let counter = is_counter.then(proto::CounterDescriptor::default);
        let descriptor = proto::TrackDescriptor {
            name: Some(row.name.to_owned()),
            parent_uuid: Some(HOLDER),
            counter,
            description: row.site.map(|site| site.to_string()),
            ..proto::TrackDescriptor::default()
        };
        writer.track(id, descriptor)?;
        let event = |kind| proto::TrackEvent {
            r#type: Some(kind),
            track_uuid: Some(id),
            ..proto::TrackEvent::default()
        };
        let name = || Some(row.name.to_owned());
        match &row.events {
            Events::Instants(instants) => {
                for &(cycle, order, number) in instants {
                    // The arrow that comes in, and the one that goes out.
                    let arrows = order.map(|order| [order, order + 1].map(|at| ARROWS + at));
                    writer.event(
                        cycle,
                        proto::TrackEvent {
                            name: name(),
                            debug_annotations: told(&row, number),
                            flow_ids: arrows.into_iter().flatten().collect(),
                            ..event(proto::TYPE_INSTANT)
                        },
                    )?;
                }
            }
            Events::Slices(slices) => {
                for (slice, number) in slices {
                    let begin = proto::TrackEvent {
                        name: name(),
                        debug_annotations: told(&row, *number),
                        ..event(proto::TYPE_SLICE_BEGIN)
                    };
                    writer.event(slice.start, begin)?;
                    writer.event(slice.end, event(proto::TYPE_SLICE_END))?;
                }
            }
            Events::Values(values) => {
                for &(cycle, value) in values {
                    let event = proto::TrackEvent {
                        double_counter_value: Some(value),
                        ..event(proto::TYPE_COUNTER)
                    };
                    writer.event(cycle, event)?;
                }
            }
        }
    }
    Ok(())
}

/// What is told of an event.
fn told(row: &Row<'_>, number: usize) -> Vec<proto::DebugAnnotation> {
    let told = row.arguments(number).map(|(name, value)| {
        let told = proto::DebugAnnotation {
            name: Some(name.to_owned()),
            ..proto::DebugAnnotation::default()
        };
        match value {
            Value::Count(number) => proto::DebugAnnotation {
                uint_value: Some(*number),
                ..told
            },
            Value::Signed(number) => proto::DebugAnnotation {
                int_value: Some(*number),
                ..told
            },
            other => proto::DebugAnnotation {
                double_value: other.number(),
                ..told
            },
        }
    });
    told.collect()
}

struct Writer<'a, W> {
    packets: &'a mut Packets<W>,
}

impl<W: Write + Send + 'static> Writer<'_, W> {
    fn track(&mut self, id: u64, descriptor: proto::TrackDescriptor) -> io::Result<()> {
        self.packet(proto::TracePacket {
            track_descriptor: Some(proto::TrackDescriptor {
                uuid: Some(id),
                child_ordering: Some(proto::EXPLICIT),
                sibling_order_rank: u32::try_from(id - HOLDER).ok(),
                sibling_merge_behavior: Some(proto::NONE),
                ..descriptor
            }),
            ..proto::TracePacket::default()
        })
    }

    fn event(&mut self, cycle: u64, event: proto::TrackEvent) -> io::Result<()> {
        self.packet(proto::TracePacket {
            timestamp: Some(cycle.saturating_mul(NANOSECONDS)),
            track_event: Some(event),
            ..proto::TracePacket::default()
        })
    }

    fn packet(&mut self, packet: proto::TracePacket) -> io::Result<()> {
        let packet = proto::TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            ..packet
        };
        debug_assert!(packet.encoded_len() > 0);
        let chunk = self.packets.chunk(stream(MAIN));
        message::encode(tag::TRACE_PACKET, &packet, chunk);
        self.packets.flush_full()
    }
}
