//! Timelines in Perfetto's own format: what opens in ui.perfetto.dev without delay.
//!
//! One microsecond of the viewer is one cycle. A component cell is a track, which holds the tracks
//! of its rows and of its cells. Names and details are interned, times are differences, and packets
//! are compressed. What changes from one packet of a slice to the next comes before what tells the
//! slice from others: so a compressor finds the longest repetitions.
//!
//! Rows of control registers have a packet sequence each, since their slices are known later than
//! others and times of a sequence may not go back.

use std::io::{self, Write};

use foldhash::{HashMap, HashMapExt as _};
use prost::Message;
use prost::encoding::{
    WireType, bytes, encode_key, encode_varint, encoded_len_varint, fixed64, message, uint64,
};

use super::compress::Packets;
use super::proto::{self, tag};
use super::{Activation, Content, Detail, Flows, Format, Lane, LaneId, Slice, SliceId};

/// How many texts of a kind are interned; others are written where they stand.
const MAX_INTERNED: usize = 1 << 16;
/// Nanoseconds of a cycle in the viewer.
const NANOSECONDS: u64 = 1000;
/// The packet sequence of everything but control registers.
const MAIN: usize = 0;
/// The bytes of a packet that can serve again.
const ROOM: usize = 60;
/// The ends of a slice.
const BEGIN: usize = 0;
const END: usize = 1;

/// Writes a Perfetto trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    packets: Packets<W>,
    sequences: Vec<Sequence>,
    /// The sequences of rows that have one of their own.
    own: HashMap<LaneId, usize>,
    slices: Vec<[Event; 2]>,
    counters: HashMap<LaneId, Event>,
}

/// A series of packets with texts and a clock of its own.
#[derive(Debug)]
struct Sequence {
    clock: Clock,
    categories: Interner,
    names: Interner,
    detail_names: Interner,
    texts: Interner,
    /// How a slice of its row of control registers ends.
    end: Option<Event>,
    /// Where those of them end that are open.
    open: Vec<u64>,
}

/// When a packet sequence is.
#[derive(Debug)]
struct Clock {
    /// The number of the sequence.
    sequence: u32,
    /// The cycle of its latest event.
    now: u64,
}

/// An event that is written again and again: an end of a slice, or the value of a counter.
#[derive(Debug)]
struct Event {
    last: Written,
    sequence: usize,
    /// The fields that do not change.
    fixed: Box<[u8]>,
    number: Number,
}

/// What the number is that changes from one event to the next.
#[derive(Debug, Clone, Copy)]
enum Number {
    /// The detail with this name.
    Detail(u64),
    /// The value of a counter.
    Counter,
}

/// The packet that was written last for an event. It serves again when only its time, of one byte,
/// and its number, as long as before, change.
#[derive(Debug)]
struct Written {
    /// The packet, filled up: to copy so many bytes that are known when petal is compiled takes less
    /// time than to copy fewer.
    bytes: [u8; ROOM],
    /// 0 if there is none.
    length: u8,
    /// Where the time is.
    time: u8,
    /// Where the number is, and its bytes.
    number: u8,
    digits: u8,
}

impl Event {
    fn new(sequence: usize, fixed: &proto::TrackEvent, number: Number) -> Self {
        Self {
            last: Written {
                bytes: [0; ROOM],
                length: 0,
                time: 0,
                number: 0,
                digits: 0,
            },
            sequence,
            fixed: encode(fixed),
            number,
        }
    }

    /// Appends the packet of this event to `chunk`.
    fn write(
        &mut self,
        clock: &mut Clock,
        at: u64,
        number: Option<u64>,
        flows: &Flows,
        chunk: &mut Vec<u8>,
    ) {
        debug_assert!(at >= clock.now, "time goes back to cycle {at}");
        let passed = at.saturating_sub(clock.now);
        clock.now = at;
        let digits = number.map_or(0, encoded_len_varint);
        let time = u8::try_from(passed).ok().filter(|time| *time < 0x80);
        let usual = time.filter(|_| flows.is_empty());
        let last = &self.last;
        if let Some(time) = usual
            && last.length > 0
            && usize::from(last.digits) == digits
        {
            let start = chunk.len();
            chunk.extend_from_slice(&last.bytes);
            let packet = &mut chunk[start..];
            packet[usize::from(last.time)] = time;
            let mut number = number.unwrap_or_default();
            let at = usize::from(last.number);
            let digits = &mut packet[at..at + digits];
            for digit in &mut *digits {
                let [lowest, ..] = number.to_le_bytes();
                *digit = 0x80 | lowest;
                number >>= 7;
            }
            if let Some(digit) = digits.last_mut() {
                *digit &= 0x7f;
            }
            chunk.truncate(start + usize::from(last.length));
            return;
        }
        let mut event = Vec::new();
        match (self.number, number) {
            (_, None) => {}
            (Number::Counter, Some(number)) => {
                encode_key(tag::EVENT_COUNTER_VALUE, WireType::Varint, &mut event);
                encode_varint(number, &mut event);
            }
            (Number::Detail(name), Some(number)) => {
                let detail = proto::DebugAnnotation {
                    name_iid: Some(name),
                    uint_value: Some(number),
                    ..proto::DebugAnnotation::default()
                };
                message::encode(tag::EVENT_DEBUG_ANNOTATIONS, &detail, &mut event);
            }
        }
        let numbered = event.len();
        event.extend_from_slice(&self.fixed);
        for flow in &flows.starts {
            fixed64::encode(tag::EVENT_FLOW_IDS, flow, &mut event);
        }
        if let Some(flow) = &flows.ends {
            fixed64::encode(tag::EVENT_TERMINATING_FLOW_IDS, flow, &mut event);
        }
        let mut fields = Vec::new();
        uint64::encode(tag::PACKET_TIMESTAMP, &passed, &mut fields);
        let ids = proto::TracePacket {
            trusted_packet_sequence_id: Some(clock.sequence),
            sequence_flags: Some(proto::SEQ_NEEDS_INCREMENTAL_STATE),
            ..proto::TracePacket::default()
        };
        fields.extend(ids.encode_to_vec());
        bytes::encode(tag::PACKET_TRACK_EVENT, &event, &mut fields);
        let mut packet = Vec::new();
        bytes::encode(tag::TRACE_PACKET, &fields, &mut packet);
        chunk.extend_from_slice(&packet);
        if usual.is_some() && packet.len() <= ROOM {
            let key = encoded_len_varint(u64::from(tag::PACKET_TIMESTAMP << 3));
            let number = packet.len() - event.len() + numbered;
            // All are less than its length.
            let small = |place: usize| u8::try_from(place).unwrap_or(u8::MAX);
            self.last.bytes[..packet.len()].copy_from_slice(&packet);
            self.last.length = small(packet.len());
            self.last.time = small(packet.len() - fields.len() + key);
            self.last.number = small(number - digits);
            self.last.digits = small(digits);
        }
    }
}

/// The fields of an event, that of its row first.
fn encode(event: &proto::TrackEvent) -> Box<[u8]> {
    let row = proto::TrackEvent {
        track_uuid: event.track_uuid,
        ..proto::TrackEvent::default()
    };
    let others = proto::TrackEvent {
        track_uuid: None,
        ..event.clone()
    };
    [row.encode_to_vec(), others.encode_to_vec()]
        .concat()
        .into()
}

/// Numbers for texts.
#[derive(Debug, Default)]
struct Interner {
    known: HashMap<String, u64>,
    /// Those that were not written yet.
    new: Vec<(u64, String)>,
}

impl Interner {
    /// The number of a text; `None` if there are too many.
    fn intern(&mut self, text: &str) -> Option<u64> {
        if let Some(&id) = self.known.get(text) {
            return Some(id);
        }
        if self.known.len() == MAX_INTERNED {
            return None;
        }
        let id = self.known.len() as u64 + 1;
        self.known.insert(text.to_owned(), id);
        self.new.push((id, text.to_owned()));
        Some(id)
    }

    fn take_new(&mut self) -> Vec<proto::Interned> {
        let new = self.new.drain(..);
        new.map(|(iid, name)| proto::Interned {
            iid: Some(iid),
            name: Some(name),
        })
        .collect()
    }
}

impl<W: Write + Send + 'static> Perfetto<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(out: W) -> io::Result<Self> {
        let mut new = Self {
            packets: Packets::new(out),
            sequences: Vec::new(),
            own: HashMap::new(),
            slices: Vec::new(),
            counters: HashMap::new(),
        };
        new.start()?;
        Ok(new)
    }

    /// Starts a packet sequence: its clock counts cycles from 0 on.
    fn start(&mut self) -> io::Result<usize> {
        let number = self.sequences.len();
        // There are no more sequences than rows of control registers.
        let id = u32::try_from(number + 1).map_err(io::Error::other)?;
        self.sequences.push(Sequence {
            clock: Clock {
                sequence: id,
                now: 0,
            },
            categories: Interner::default(),
            names: Interner::default(),
            detail_names: Interner::default(),
            texts: Interner::default(),
            end: None,
            open: Vec::new(),
        });
        self.packet(&proto::TracePacket {
            trusted_packet_sequence_id: Some(id),
            sequence_flags: Some(proto::SEQ_INCREMENTAL_STATE_CLEARED),
            trace_packet_defaults: Some(proto::TracePacketDefaults {
                timestamp_clock_id: Some(proto::SEQUENCE_CLOCK),
            }),
            ..proto::TracePacket::default()
        })?;
        let trace_clock = proto::Clock {
            clock_id: Some(proto::BUILTIN_CLOCK_BOOTTIME),
            timestamp: Some(0),
            ..proto::Clock::default()
        };
        let cycles = proto::Clock {
            clock_id: Some(proto::SEQUENCE_CLOCK),
            timestamp: Some(0),
            is_incremental: Some(true),
            unit_multiplier_ns: Some(NANOSECONDS),
        };
        self.packet(&proto::TracePacket {
            trusted_packet_sequence_id: Some(id),
            clock_snapshot: Some(proto::ClockSnapshot {
                clocks: vec![trace_clock, cycles],
            }),
            ..proto::TracePacket::default()
        })?;
        Ok(number)
    }

    /// The sequence of a slice.
    fn sequence(&mut self, slice: &Slice) -> io::Result<usize> {
        if !slice.is_update {
            return Ok(MAIN);
        }
        if let Some(&own) = self.own.get(&slice.lane) {
            return Ok(own);
        }
        let own = self.start()?;
        self.own.insert(slice.lane, own);
        Ok(own)
    }

    /// Writes a packet that has no time.
    fn packet(&mut self, packet: &proto::TracePacket) -> io::Result<()> {
        message::encode(tag::TRACE_PACKET, packet, self.packets.chunk());
        self.packets.flush_full()
    }

    /// Writes an end of a slice.
    fn write(
        &mut self,
        (id, end): (SliceId, usize),
        at: u64,
        number: Option<u64>,
        flows: &Flows,
    ) -> io::Result<()> {
        let event = &mut self.slices[id][end];
        let clock = &mut self.sequences[event.sequence].clock;
        event.write(clock, at, number, flows, self.packets.chunk());
        self.packets.flush_full()
    }

    /// Ends the slices of control registers that are over by cycle `at`.
    fn close(&mut self, sequence: usize, at: u64) -> io::Result<()> {
        let Sequence {
            clock, end, open, ..
        } = &mut self.sequences[sequence];
        let Some(event) = end else {
            return Ok(());
        };
        while let Some(end) = open.pop_if(|end| *end <= at) {
            event.write(clock, end, None, &Flows::default(), self.packets.chunk());
        }
        self.packets.flush_full()
    }
}

impl<W: Write + Send + 'static> Format for Perfetto<W> {
    fn lane(&mut self, lane: &Lane) -> io::Result<()> {
        if lane.content == Content::Counter {
            let event = proto::TrackEvent {
                r#type: Some(proto::TYPE_COUNTER),
                track_uuid: Some(lane.id),
                ..proto::TrackEvent::default()
            };
            let event = Event::new(MAIN, &event, Number::Counter);
            self.counters.insert(lane.id, event);
        }
        self.packet(&proto::TracePacket {
            trusted_packet_sequence_id: Some(self.sequences[MAIN].clock.sequence),
            track_descriptor: Some(proto::TrackDescriptor {
                uuid: Some(lane.id),
                name: Some(match lane.content {
                    Content::Cell => lane.cell_label.clone(),
                    Content::Slices | Content::Counter => lane.name.clone(),
                }),
                parent_uuid: lane.parent,
                counter: (lane.content == Content::Counter).then_some(proto::CounterDescriptor {
                    unit: Some(proto::UNIT_COUNT),
                }),
                child_ordering: (lane.content == Content::Cell).then_some(proto::EXPLICIT),
                sibling_order_rank: Some(lane.rank),
                sibling_merge_behavior: Some(proto::NONE),
            }),
            ..proto::TracePacket::default()
        })
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        let number = self.sequence(slice)?;
        let sequence = &mut self.sequences[number];
        let name = sequence.names.intern(&slice.name);
        let category = sequence.categories.intern(slice.category);
        let details = slice.details.iter().filter_map(|(name, value)| {
            let mut detail = proto::DebugAnnotation {
                name_iid: Some(sequence.detail_names.intern(name)?),
                ..proto::DebugAnnotation::default()
            };
            match value {
                Detail::Number(number) => detail.uint_value = Some(*number),
                Detail::Text(text) => match sequence.texts.intern(text) {
                    Some(id) => detail.string_value_iid = Some(id),
                    None => detail.string_value = Some(text.clone()),
                },
            }
            Some(detail)
        });
        let begin = proto::TrackEvent {
            category_iids: category.into_iter().collect(),
            debug_annotations: details.collect(),
            r#type: Some(proto::TYPE_SLICE_BEGIN),
            name_iid: name,
            track_uuid: Some(slice.lane),
            name: name.is_none().then(|| slice.name.clone()),
        };
        let end = proto::TrackEvent {
            r#type: Some(proto::TYPE_SLICE_END),
            track_uuid: Some(slice.lane),
            ..proto::TrackEvent::default()
        };
        let [first, several] = ["activation", "activations"]
            // These are among the first of few.
            .map(|name| sequence.detail_names.intern(name).unwrap_or_default());
        if slice.is_update {
            // Its number may be given to another one while it is open.
            sequence.end = Some(Event::new(number, &end, Number::Detail(several)));
        }
        let events = [
            Event::new(number, &begin, Number::Detail(first)),
            Event::new(number, &end, Number::Detail(several)),
        ];
        if id == self.slices.len() {
            self.slices.push(events);
        } else {
            self.slices[id] = events;
        }
        let texts = sequence.texts.take_new().into_iter();
        let interned = proto::InternedData {
            event_categories: sequence.categories.take_new(),
            event_names: sequence.names.take_new(),
            debug_annotation_names: sequence.detail_names.take_new(),
            debug_annotation_string_values: texts
                .map(|text| proto::InternedString {
                    iid: text.iid,
                    str: text.name.map(String::into_bytes),
                })
                .collect(),
        };
        if interned == proto::InternedData::default() {
            return Ok(());
        }
        let packet = proto::TracePacket {
            trusted_packet_sequence_id: Some(sequence.clock.sequence),
            sequence_flags: Some(proto::SEQ_NEEDS_INCREMENTAL_STATE),
            interned_data: Some(interned),
            ..proto::TracePacket::default()
        };
        self.packet(&packet)
    }

    fn begin(&mut self, id: SliceId, at: u64, activation: u64, flows: &Flows) -> io::Result<()> {
        self.write((id, BEGIN), at, Some(activation), flows)
    }

    fn end(&mut self, id: SliceId, _start: u64, at: u64, activation: Activation) -> io::Result<()> {
        let several = (activation.count > 1).then_some(activation.count);
        self.write((id, END), at, several, &Flows::default())
    }

    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()> {
        let sequence = self.slices[id][BEGIN].sequence;
        self.close(sequence, start)?;
        self.write((id, BEGIN), start, None, &Flows::default())?;
        self.sequences[sequence].open.push(start + cycles);
        Ok(())
    }

    fn count(&mut self, lane: LaneId, at: u64, value: u64) -> io::Result<()> {
        if let Some(event) = self.counters.get_mut(&lane) {
            let clock = &mut self.sequences[event.sequence].clock;
            let chunk = self.packets.chunk();
            event.write(clock, at, Some(value), &Flows::default(), chunk);
        }
        self.packets.flush_full()
    }

    fn finish(&mut self) -> io::Result<()> {
        for sequence in 0..self.sequences.len() {
            self.close(sequence, u64::MAX)?;
        }
        self.packets.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::super::compress::tests::Shared;
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

    fn update(lane: LaneId) -> Slice {
        Slice {
            lane,
            name: format!("fsm{lane}: 0→1"),
            category: "control register",
            is_update: true,
            details: Vec::new(),
        }
    }

    #[test]
    fn the_number_of_an_open_slice_may_be_given_to_another() {
        let file = Shared::default();
        let mut timeline = Perfetto::new(file.clone()).unwrap();
        timeline.slice(0, &update(5)).unwrap();
        timeline.update(0, 10, 2).unwrap();
        timeline.slice(0, &update(6)).unwrap();
        timeline.update(0, 11, 1).unwrap();
        timeline.finish().unwrap();

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
                events.push((*now, event.track_uuid.unwrap(), event.r#type.unwrap()));
            }
        }
        events.sort_unstable();
        let (begin, end) = (proto::TYPE_SLICE_BEGIN, proto::TYPE_SLICE_END);
        assert_eq!(
            events,
            [(10, 5, begin), (11, 6, begin), (12, 5, end), (12, 6, end)]
        );
    }
}
