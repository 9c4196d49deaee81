//! A packet sequence, in which times are differences and texts are numbers.

use std::iter;

use crate::timeline::Detail;
use crate::timeline::compress::Stream;
use crate::timeline::interner::Interner;
use crate::timeline::packets::Template;
use crate::timeline::proto;

/// Nanoseconds of a cycle in the viewer.
pub(super) const NANOSECONDS: u64 = 1000;
/// The packet sequence of everything but control registers.
pub(super) const MAIN: usize = 0;

/// The stream that holds a packet sequence.
pub(super) fn stream(sequence: usize) -> Stream {
    match sequence {
        MAIN => Stream::Main,
        _ => Stream::Updates,
    }
}

/// A series of packets with texts and a clock of its own.
#[derive(Debug)]
pub(super) struct Sequence {
    pub clock: Clock,
    pub categories: Interner,
    pub names: Interner,
    pub detail_names: Interner,
    /// The names of the details of slices that are cut, once there are some.
    pub cut: Option<[u64; 2]>,
    pub texts: Interner,
    /// How a slice of its track of control registers ends.
    pub end: Repeated,
    /// Where those of them end that are open.
    pub open: Vec<u64>,
}

impl Sequence {
    /// A detail of a slice, with its texts as numbers; `None` if its name can't be one.
    pub fn detail(&mut self, name: &str, value: &Detail) -> Option<proto::DebugAnnotation> {
        let mut detail = proto::DebugAnnotation {
            name_iid: Some(self.detail_names.intern(name)?),
            ..proto::DebugAnnotation::default()
        };
        match value {
            Detail::Number(number) => detail.uint_value = Some(*number),
            Detail::Text(text) => match self.texts.intern(text) {
                Some(id) => detail.string_value_iid = Some(id),
                None => detail.string_value = Some(text.clone()),
            },
        }
        Some(detail)
    }
}

/// When a packet sequence is.
#[derive(Debug)]
pub(super) struct Clock {
    /// The number of the sequence.
    pub sequence: u32,
    /// The cycle of its latest event.
    pub now: u64,
}

impl Clock {
    /// Goes on to cycle `at`: how many cycles have passed.
    pub fn pass(&mut self, at: u64) -> u64 {
        debug_assert!(at >= self.now, "time goes back to cycle {at}");
        let passed = at.saturating_sub(self.now);
        self.now = at;
        passed
    }
}

/// An event of which nothing changes but its time.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    pub fields: Box<[u8]>,
    /// Its latest packet.
    packet: Template,
}

impl Repeated {
    pub fn new(fields: Box<[u8]>) -> Self {
        Self {
            fields,
            packet: Template::default(),
        }
    }

    /// Appends the event to `chunk`.
    pub fn write(&mut self, clock: &mut Clock, at: u64, chunk: &mut Vec<u8>) {
        let passed = clock.pass(at);
        if !self.packet.fill(iter::once(passed), chunk) {
            self.packet = Template::default();
            let event = Template::of(&self.fields);
            self.packet.packet(clock.sequence, Some(passed), &event);
            chunk.extend_from_slice(self.packet.bytes());
        }
    }
}
