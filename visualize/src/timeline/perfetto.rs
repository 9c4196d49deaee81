//! Timelines in Perfetto's own format: what opens in ui.perfetto.dev without delay.
//!
//! One microsecond of the viewer is one cycle. A component cell is a track, which holds the tracks
//! of its elements and of its cells; so is a file of a front end, which holds those of its lines. Names and details are interned, times are differences, and packets
//! are compressed. What changes from one packet of a slice to the next comes before what tells the
//! slice from others: so a compressor finds the longest repetitions.
//!
//! Tracks of control registers have a packet sequence each, since their slices are known later than
//! others and times of a sequence may not go back.

mod fields;
mod observed;
mod sequence;

use std::io::{self, Write};
use std::iter;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};
use petal_table::selection::SITE;
use prost::encoding::{double, message, uint64};

use self::fields::{counter, detail, encode};
use self::sequence::{Clock, MAIN, NANOSECONDS, Repeated, Sequence, stream};
use super::compress::{Packets, Stream};
use super::interner::Interner;
use super::packets::Template;
use super::proto::{self, tag};
use super::{
    Change, Changes, Content, Detail, Format, Observed, Slice, SliceId, Track, TrackId, Whole,
};

/// Writes a Perfetto trace.
#[derive(Debug)]
pub struct Perfetto<W> {
    packets: Packets<W>,
    sequences: Vec<Sequence>,
    /// The sequences of tracks that have one of their own.
    own: HashMap<TrackId, usize>,
    slices: Vec<Ends>,
    /// The fields that do not change of the counters' events.
    counters: HashMap<TrackId, Box<[u8]>>,
    /// The latest packets of each pattern of changes.
    templates: Vec<Template>,
    /// The names of the details that tell the number of an activation, and how many there are.
    activation: u64,
    activations: u64,
}

/// The ends of slices.
#[derive(Debug)]
struct Ends {
    sequence: usize,
    begin: Repeated,
    /// The field that the first of them has beside these.
    first: Option<Box<[u8]>>,
    /// The fields of the other end's event.
    end: Box<[u8]>,
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
            templates: Vec::new(),
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
        // There are no more sequences than tracks of control registers.
        let id = u32::try_from(number + 1).map_err(io::Error::other)?;
        self.sequences.push(Sequence {
            clock: Clock {
                sequence: id,
                now: 0,
            },
            categories: Interner::default(),
            names: Interner::default(),
            detail_names: Interner::default(),
            cut: None,
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
        if let Some(&own) = self.own.get(&slice.track) {
            return Ok(own);
        }
        let own = self.start()?;
        self.own.insert(slice.track, own);
        Ok(own)
    }

    /// Writes a packet of a sequence that has no time.
    fn packet(&mut self, sequence: usize, packet: &proto::TracePacket) -> io::Result<()> {
        let chunk = self.packets.chunk(stream(sequence));
        message::encode(tag::TRACE_PACKET, packet, chunk);
        self.packets.flush_full()
    }

    /// Writes the texts of a sequence that were not written yet.
    fn write_interned(&mut self, number: usize) -> io::Result<()> {
        let sequence = &mut self.sequences[number];
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

    /// Gives names to the details of slices of a sequence that are cut.
    fn name_cuts(&mut self, number: usize) -> io::Result<()> {
        let Sequence {
            cut, detail_names, ..
        } = &mut self.sequences[number];
        if cut.is_some() {
            return Ok(());
        }
        // There are few names of details.
        let name = |name| detail_names.intern(name).unwrap_or_default();
        *cut = Some([Whole::START, Whole::CYCLES].map(name));
        self.write_interned(number)
    }

    /// Appends the details of the slice of a sequence that is cut, if it is.
    fn cut(&self, number: usize, whole: Option<Whole>, event: &mut Template) {
        if let (Some(whole), Some([start, cycles])) = (whole, self.sequences[number].cut) {
            detail(start, whole.start, 0, event);
            detail(cycles, whole.cycles, 0, event);
        }
    }

    /// The packets of changes, `passed` cycles after those before, and whether they are the same whenever the changes come again.
    fn template(&mut self, passed: u64, changes: Changes<'_>) -> (Template, bool) {
        let mut passed = Some(passed);
        let sequence = self.sequences[MAIN].clock.sequence;
        let mut template = Template::default();
        let mut is_lasting = true;
        for change in changes.iter() {
            let mut event = Template::default();
            match change {
                Change::Ended {
                    slice,
                    activations,
                    whole,
                } => {
                    // In the order of the numbers.
                    match activations {
                        Some(none @ (0 | 1)) => event.absent(none),
                        Some(several) => detail(self.activations, several, 2, &mut event),
                        None => {}
                    }
                    self.cut(MAIN, whole, &mut event);
                    event.plain(&self.slices[slice].end);
                }
                Change::Began {
                    slice,
                    activation,
                    outgoing,
                    incoming,
                } => {
                    match activation {
                        0 => event.absent(0),
                        activation => detail(self.activation, activation, 1, &mut event),
                    }
                    event.plain(&self.slices[slice].begin.fields);
                    if let Some(first) = self.slices[slice].first.take() {
                        event.plain(&first);
                        is_lasting = false;
                    }
                    for &flow in outgoing {
                        event.fixed(tag::EVENT_FLOW_IDS, flow);
                    }
                    match incoming {
                        Some(0) => event.absent(0),
                        Some(flow) => event.fixed(tag::EVENT_TERMINATING_FLOW_IDS, flow),
                        None => {}
                    }
                }
                Change::Counter { track, value } => {
                    let Some(counter) = self.counters.get(&track) else {
                        continue;
                    };
                    let mut fields = Vec::new();
                    uint64::encode(tag::EVENT_COUNTER_VALUE, &value, &mut fields);
                    event.plain(&fields);
                    event.plain(counter);
                }
            }
            template.packet(sequence, passed.take(), &event);
        }
        (template, is_lasting)
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
    fn track(&mut self, track: &Track) -> io::Result<()> {
        if track.content == Content::Counter {
            let event = proto::TrackEvent {
                r#type: Some(proto::TYPE_COUNTER),
                track_uuid: Some(track.id),
                ..proto::TrackEvent::default()
            };
            self.counters.insert(track.id, encode(&event));
        }
        self.packet(
            MAIN,
            &proto::TracePacket {
                trusted_packet_sequence_id: Some(self.sequences[MAIN].clock.sequence),
                track_descriptor: Some(proto::TrackDescriptor {
                    uuid: Some(track.id),
                    name: Some(match track.content {
                        Content::Cell => track.cell_label.clone(),
                        Content::Holder | Content::Slices | Content::Counter | Content::Share => {
                            track.name.clone()
                        }
                    }),
                    parent_uuid: track.parent,
                    counter: counter(track.content),
                    child_ordering: matches!(track.content, Content::Cell | Content::Holder)
                        .then_some(proto::EXPLICIT),
                    sibling_order_rank: Some(track.rank),
                    sibling_merge_behavior: Some(proto::NONE),
                    description: None,
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
        let details = slice.details.iter();
        let details = details.filter_map(|(name, value)| sequence.detail(name, value));
        let details = details.collect();
        let first = slice.told_first().and_then(|site| {
            let detail = sequence.detail(SITE, &Detail::Text(site.to_string()))?;
            let mut field = Vec::new();
            message::encode(tag::EVENT_DEBUG_ANNOTATIONS, &detail, &mut field);
            Some(field.into())
        });
        let begin = proto::TrackEvent {
            category_iids: category.into_iter().collect(),
            debug_annotations: details,
            r#type: Some(proto::TYPE_SLICE_BEGIN),
            name_iid: name,
            track_uuid: Some(slice.track),
            name: name.is_none().then(|| slice.name.clone()),
            ..proto::TrackEvent::default()
        };
        let end = proto::TrackEvent {
            r#type: Some(proto::TYPE_SLICE_END),
            track_uuid: Some(slice.track),
            ..proto::TrackEvent::default()
        };
        let end = encode(&end);
        if slice.is_update && sequence.end.fields.is_empty() {
            // All of the track end alike.
            sequence.end = Repeated::new(end.clone());
        }
        let ends = Ends {
            sequence: number,
            begin: Repeated::new(encode(&begin)),
            first,
            end,
        };
        if id == self.slices.len() {
            self.slices.push(ends);
        } else {
            self.slices[id] = ends;
        }
        self.write_interned(number)
    }

    fn changes(&mut self, cycle: u64, changes: Changes<'_>) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        if changes.is_cut() {
            self.name_cuts(MAIN)?;
        }
        let passed = self.sequences[MAIN].clock.pass(cycle);
        let chunk = self.packets.chunk(Stream::Main);
        let template = changes.pattern().and_then(|id| self.templates.get(id));
        let all = iter::once(passed).chain(changes.numbers().iter().copied());
        if !template.is_some_and(|template| template.fill(all, chunk)) {
            let (template, is_lasting) = self.template(passed, changes);
            let chunk = self.packets.chunk(Stream::Main);
            chunk.extend_from_slice(template.bytes());
            if let Some(id) = changes.pattern().filter(|_| is_lasting) {
                let count = self.templates.len().max(id + 1);
                self.templates.resize_with(count, Template::default);
                self.templates[id] = template;
            }
        }
        self.packets.flush_full()
    }

    fn forget_patterns(&mut self) {
        self.templates.clear();
    }

    fn update(
        &mut self,
        slice: SliceId,
        cycles: Range<u64>,
        whole: Option<Whole>,
    ) -> io::Result<()> {
        let sequence = self.slices[slice].sequence;
        self.close(sequence, cycles.start);
        let mut details = Template::default();
        if whole.is_some() {
            self.name_cuts(sequence)?;
            self.cut(sequence, whole, &mut details);
        }
        let Sequence { clock, open, .. } = &mut self.sequences[sequence];
        let begin = &mut self.slices[slice].begin;
        let chunk = self.packets.chunk(stream(sequence));
        if whole.is_some() {
            let fields = [details.bytes(), &*begin.fields].concat();
            Repeated::new(fields.into()).write(clock, cycles.start, chunk);
        } else {
            begin.write(clock, cycles.start, chunk);
        }
        open.push(cycles.end);
        self.packets.flush_full()
    }

    fn shares(&mut self, track: TrackId, samples: &[(u64, f64)]) -> io::Result<()> {
        let number = self.start()?;
        let event = proto::TrackEvent {
            r#type: Some(proto::TYPE_COUNTER),
            track_uuid: Some(track),
            ..proto::TrackEvent::default()
        };
        let fields = encode(&event);
        for &(at, share) in samples {
            let mut value = Vec::new();
            double::encode(tag::EVENT_DOUBLE_COUNTER_VALUE, &share, &mut value);
            let mut event = Repeated::new([&value, &*fields].concat().into());
            let Sequence { clock, .. } = &mut self.sequences[number];
            let chunk = self.packets.chunk(stream(number));
            event.write(clock, at, chunk);
            self.packets.flush_full()?;
        }
        Ok(())
    }

    fn observed(&mut self, observed: &Observed) -> io::Result<()> {
        observed::write(observed, &mut self.packets)
    }

    fn finish(&mut self) -> io::Result<()> {
        for sequence in 0..self.sequences.len() {
            self.close(sequence, u64::MAX);
        }
        self.packets.finish()
    }
}

#[cfg(test)]
mod tests;
