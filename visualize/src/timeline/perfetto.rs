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
use std::iter;

use foldhash::{HashMap, HashMapExt as _};
use prost::Message;
use prost::encoding::{encoded_len_varint, message, uint64};

use super::compress::{Packets, Stream};
use super::packets::Block;
use super::proto::{self, tag};
use super::{Content, Detail, Format, Lane, LaneId, Moment, Slice, SliceId};

/// How many texts of a kind are interned; others are written where they stand.
const MAX_INTERNED: usize = 1 << 16;
/// Nanoseconds of a cycle in the viewer.
const NANOSECONDS: u64 = 1000;
/// The packet sequence of everything but control registers.
const MAIN: usize = 0;

/// The stream that holds a packet sequence.
fn stream(sequence: usize) -> Stream {
    match sequence {
        MAIN => Stream::Main,
        _ => Stream::Updates,
    }
}

/// Writes a Perfetto trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    packets: Packets<W>,
    sequences: Vec<Sequence>,
    /// The sequences of rows that have one of their own.
    own: HashMap<LaneId, usize>,
    slices: Vec<Ends>,
    /// The fields that do not change of the counters' events.
    counters: HashMap<LaneId, Box<[u8]>>,
    /// The names of the details that tell the number of an activation, and how many there are.
    activation: u64,
    activations: u64,
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
    end: Repeated,
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

impl Clock {
    /// Goes on to cycle `at`: how many cycles have passed.
    fn pass(&mut self, at: u64) -> u64 {
        debug_assert!(at >= self.now, "time goes back to cycle {at}");
        let passed = at.saturating_sub(self.now);
        self.now = at;
        passed
    }
}

/// The ends of slices.
#[derive(Debug)]
struct Ends {
    sequence: usize,
    begin: Repeated,
    /// The fields of the other end's event.
    end: Box<[u8]>,
}

/// An event of which nothing changes but its time.
#[derive(Debug, Default)]
struct Repeated {
    fields: Box<[u8]>,
    /// Its latest packet.
    packet: Block,
}

impl Repeated {
    fn new(fields: Box<[u8]>) -> Self {
        Self {
            fields,
            packet: Block::default(),
        }
    }

    /// Appends the event to `chunk`.
    fn write(&mut self, clock: &mut Clock, at: u64, chunk: &mut Vec<u8>) {
        let passed = clock.pass(at);
        if !self.packet.fill(iter::once(passed), chunk) {
            self.packet = Block::default();
            let event = Block::of(&self.fields);
            self.packet.packet(clock.sequence, Some(passed), &event);
            chunk.extend_from_slice(self.packet.bytes());
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

/// Appends a detail of which the number, at least `least`, changes.
fn detail(name: u64, number: u64, least: u64, event: &mut Block) {
    let detail = proto::DebugAnnotation {
        name_iid: Some(name),
        uint_value: Some(number),
        ..proto::DebugAnnotation::default()
    };
    let mut bytes = Vec::new();
    message::encode(tag::EVENT_DEBUG_ANNOTATIONS, &detail, &mut bytes);
    bytes.truncate(bytes.len() - encoded_len_varint(number));
    event.plain(&bytes);
    event.varint(number, least);
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
            activation: 0,
            activations: 0,
        };
        new.start()?;
        let names = &mut new.sequences[MAIN].detail_names;
        let [activation, activations] = ["activation", "activations"]
            // They are the first.
            .map(|name| names.intern(name).unwrap_or_default());
        (new.activation, new.activations) = (activation, activations);
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
            end: Repeated::default(),
            open: Vec::new(),
        });
        self.packet(
            number,
            &proto::TracePacket {
                trusted_packet_sequence_id: Some(id),
                sequence_flags: Some(proto::SEQ_INCREMENTAL_STATE_CLEARED),
                trace_packet_defaults: Some(proto::TracePacketDefaults {
                    timestamp_clock_id: Some(proto::SEQUENCE_CLOCK),
                }),
                ..proto::TracePacket::default()
            },
        )?;
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
        self.packet(
            number,
            &proto::TracePacket {
                trusted_packet_sequence_id: Some(id),
                clock_snapshot: Some(proto::ClockSnapshot {
                    clocks: vec![trace_clock, cycles],
                }),
                ..proto::TracePacket::default()
            },
        )?;
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

    /// Writes a packet of a sequence that has no time.
    fn packet(&mut self, sequence: usize, packet: &proto::TracePacket) -> io::Result<()> {
        let chunk = self.packets.chunk(stream(sequence));
        message::encode(tag::TRACE_PACKET, packet, chunk);
        self.packets.flush_full()
    }

    /// The packets of a moment, `passed` cycles after those before.
    fn block(&self, passed: u64, moment: &Moment, numbers: &[u64]) -> Block {
        let mut passed = Some(passed);
        let mut numbers = numbers.iter().copied();
        let mut next = || numbers.next().unwrap_or_default();
        let sequence = self.sequences[MAIN].clock.sequence;
        let mut block = Block::default();
        let mut packet = |event: &Block| block.packet(sequence, passed.take(), event);
        for end in &moment.ends {
            let mut event = Block::default();
            if end.counted {
                match next() {
                    1 => event.absent(1),
                    several => detail(self.activations, several, 2, &mut event),
                }
            }
            event.plain(&self.slices[end.slice].end);
            packet(&event);
        }
        for begin in &moment.begins {
            let mut event = Block::default();
            detail(self.activation, next(), 1, &mut event);
            event.plain(&self.slices[begin.slice].begin.fields);
            for _ in 0..begin.arrows {
                event.fixed(tag::EVENT_FLOW_IDS, next());
            }
            if begin.is_called {
                match next() {
                    0 => event.absent(0),
                    arrow => event.fixed(tag::EVENT_TERMINATING_FLOW_IDS, arrow),
                }
            }
            packet(&event);
        }
        for (lane, value) in &moment.counts {
            let mut fields = Vec::new();
            uint64::encode(tag::EVENT_COUNTER_VALUE, value, &mut fields);
            let mut event = Block::of(&fields);
            if let Some(counter) = self.counters.get(lane) {
                event.plain(counter);
                packet(&event);
            }
        }
        block
    }

    /// Ends the slices of control registers that are over by cycle `at`.
    fn close(&mut self, sequence: usize, at: u64) {
        let Sequence {
            clock, end, open, ..
        } = &mut self.sequences[sequence];
        while let Some(over) = open.pop_if(|over| *over <= at) {
            end.write(clock, over, self.packets.chunk(stream(sequence)));
        }
    }
}

impl<W: Write + Send + 'static> Format for Perfetto<W> {
    type Memo = Block;

    fn lane(&mut self, lane: &Lane) -> io::Result<()> {
        if lane.content == Content::Counter {
            let event = proto::TrackEvent {
                r#type: Some(proto::TYPE_COUNTER),
                track_uuid: Some(lane.id),
                ..proto::TrackEvent::default()
            };
            self.counters.insert(lane.id, encode(&event));
        }
        self.packet(
            MAIN,
            &proto::TracePacket {
                trusted_packet_sequence_id: Some(self.sequences[MAIN].clock.sequence),
                track_descriptor: Some(proto::TrackDescriptor {
                    uuid: Some(lane.id),
                    name: Some(match lane.content {
                        Content::Cell => lane.cell_label.clone(),
                        Content::Slices | Content::Counter => lane.name.clone(),
                    }),
                    parent_uuid: lane.parent,
                    counter: (lane.content == Content::Counter).then_some(
                        proto::CounterDescriptor {
                            unit: Some(proto::UNIT_COUNT),
                        },
                    ),
                    child_ordering: (lane.content == Content::Cell).then_some(proto::EXPLICIT),
                    sibling_order_rank: Some(lane.rank),
                    sibling_merge_behavior: Some(proto::NONE),
                }),
                ..proto::TracePacket::default()
            },
        )
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
        let end = encode(&end);
        if slice.is_update && sequence.end.fields.is_empty() {
            // All of the row end alike.
            sequence.end = Repeated::new(end.clone());
        }
        let ends = Ends {
            sequence: number,
            begin: Repeated::new(encode(&begin)),
            end,
        };
        if id == self.slices.len() {
            self.slices.push(ends);
        } else {
            self.slices[id] = ends;
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
        self.packet(number, &packet)
    }

    fn moment(
        &mut self,
        at: u64,
        moment: &Moment,
        numbers: &[u64],
        memo: &mut Block,
    ) -> io::Result<()> {
        if moment.is_empty() {
            return Ok(());
        }
        let passed = self.sequences[MAIN].clock.pass(at);
        let all = iter::once(passed).chain(numbers.iter().copied());
        let chunk = self.packets.chunk(Stream::Main);
        if !memo.fill(all, chunk) {
            *memo = self.block(passed, moment, numbers);
            let chunk = self.packets.chunk(Stream::Main);
            chunk.extend_from_slice(memo.bytes());
        }
        self.packets.flush_full()
    }

    fn update(&mut self, id: SliceId, start: u64, cycles: u64) -> io::Result<()> {
        let sequence = self.slices[id].sequence;
        self.close(sequence, start);
        let Sequence { clock, open, .. } = &mut self.sequences[sequence];
        let begin = &mut self.slices[id].begin;
        begin.write(clock, start, self.packets.chunk(stream(sequence)));
        open.push(start + cycles);
        self.packets.flush_full()
    }

    fn finish(&mut self) -> io::Result<()> {
        for sequence in 0..self.sequences.len() {
            self.close(sequence, u64::MAX);
        }
        self.packets.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;

    use super::super::End;
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
    fn a_moment_that_comes_again_leaves_out_what_the_first_one_had() {
        let file = Shared::default();
        let mut timeline = Perfetto::new(file.clone()).unwrap();
        let slice = Slice {
            is_update: false,
            ..update(5)
        };
        timeline.slice(0, &slice).unwrap();
        let end = End {
            slice: 0,
            counted: true,
        };
        let moment = Moment {
            ends: vec![end],
            ..Moment::default()
        };
        let memo = &mut Block::default();
        let several = [7, 1, 2, 300, 1];
        for (at, several) in (0..).zip(several) {
            timeline.moment(at, &moment, &[several], memo).unwrap();
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
    fn the_number_of_an_open_slice_may_be_given_to_another() {
        let file = Shared::default();
        let mut timeline = Perfetto::new(file.clone()).unwrap();
        timeline.slice(0, &update(5)).unwrap();
        timeline.update(0, 10, 2).unwrap();
        timeline.slice(0, &update(6)).unwrap();
        timeline.update(0, 11, 1).unwrap();
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
}
