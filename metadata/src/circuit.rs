//! What a monitor on the chip computes and stores, as a circuit of signals of the design.
//!
//! Whoever asks for observations makes one, and whoever knows hardware builds it. Knows nothing of what its parts mean.

use std::collections::HashMap;

/// A part of a circuit: what it is in each cycle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// A signal of the design.
    Signal {
        /// The Verilog instances from the top of the simulation down to the one that has it.
        scope: Vec<String>,
        /// Its name there.
        name: String,
        /// Its width in bits.
        width: u32,
    },
    /// A number with its width.
    Constant(u64, u32),
    /// What a gate makes of other parts, with its width.
    Gate(Gate, u32, Vec<usize>),
    /// What another part was in the cycle before; 0 in the first cycle.
    Past(usize),
    /// Whether something goes on that was started in an earlier cycle: one bit.
    Timer {
        /// Starts it, unless it goes on.
        start: usize,
        /// It goes on only while this holds.
        during: usize,
        /// How many cycles it takes, the first one too, in which this is not high.
        cycles: u64,
    },
}

/// What a gate computes; all numbers are unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Bit by bit, as `Or`, `Xor` and `Not` are.
    And,
    /// Bit by bit.
    Or,
    /// Bit by bit.
    Xor,
    /// Bit by bit.
    Not,
    /// Sum, modulo 2^width.
    Add,
    /// Difference, modulo 2^width.
    Sub,
    /// Whether both are equal.
    Eq,
    /// Whether the first one is less.
    Lt,
    /// Shifted to the left; the second operand may have another width.
    Shl,
    /// Shifted to the right, with zeros.
    Shr,
    /// As many bits as the result is wide, from this one on.
    Slice(u32),
    /// Zeros above the operand.
    Pad,
    /// The second operand if the first, of one bit, is high, else the third.
    Mux,
}

/// Parts, of which each is made of earlier ones. Equal parts are one.
#[derive(Debug, Clone, Default)]
pub struct Circuit {
    parts: Vec<Part>,
    numbers: HashMap<Part, usize>,
}

/// A monitor: what it stores in each cycle in which an event happens.
#[derive(Debug, Clone, Default)]
pub struct Monitor {
    /// A digest of what it records of which design. It is in the name of a memory, so no other metadata are taken for its.
    pub id: u32,
    /// What is computed.
    pub circuit: Circuit,
    /// The parts that are events, of one bit each, in the order of the mask's bits.
    pub events: Vec<usize>,
    /// The parts that are stored with every entry.
    pub values: Vec<usize>,
    /// The parts, of one bit each, of which the last cycle of the run is kept.
    pub last: Vec<usize>,
    /// The parts that are added up over all cycles of the run.
    pub sums: Vec<usize>,
    /// The beginnings and ends, of one bit each, of what is measured: how many there are, and how many cycles they take.
    pub latencies: Vec<(usize, usize)>,
    /// Whether it is kept, too, how many of them take how many cycles.
    pub has_histograms: bool,
    /// How many entries there is room for.
    pub depth: u64,
    /// Whether the last entries are kept, rather than the first. The depth is a power of two then.
    pub is_cyclic: bool,
    /// What ends the recording, if anything does.
    pub trigger: Option<Trigger>,
}

/// What ends a recording before the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// The part that is high when it happens: one bit.
    pub event: usize,
    /// How many entries are kept of later cycles.
    pub after: u64,
}

impl Circuit {
    /// The number of a part, which is added if there is none such.
    pub fn add(&mut self, part: Part) -> usize {
        let next = self.parts.len();
        let number = *self.numbers.entry(part.clone()).or_insert(next);
        if number == next {
            self.parts.push(part);
        }
        number
    }

    /// A number.
    pub fn constant(&mut self, value: u64, width: u32) -> usize {
        self.add(Part::Constant(value, width))
    }

    /// What a gate makes of parts.
    pub fn gate(&mut self, gate: Gate, width: u32, operands: &[usize]) -> usize {
        self.add(Part::Gate(gate, width, operands.to_vec()))
    }

    /// Whether both parts of one bit are high.
    pub fn and(&mut self, one: usize, other: usize) -> usize {
        match [&self.parts[one], &self.parts[other]] {
            [Part::Constant(0, _), _] | [_, Part::Constant(1, 1)] => one,
            [_, Part::Constant(0, _)] | [Part::Constant(1, 1), _] => other,
            _ => self.gate(Gate::And, 1, &[one, other]),
        }
    }

    /// Whether one of these parts of one bit is high.
    pub fn any(&mut self, parts: impl IntoIterator<Item = usize>) -> usize {
        let low = self.constant(0, 1);
        parts.into_iter().fold(low, |one, other| {
            match [&self.parts[one], &self.parts[other]] {
                [Part::Constant(0, _), _] | [_, Part::Constant(1, 1)] => other,
                [_, Part::Constant(0, _)] | [Part::Constant(1, 1), _] => one,
                _ => self.gate(Gate::Or, 1, &[one, other]),
            }
        })
    }

    /// Whether a part of one bit is low.
    pub fn not(&mut self, of: usize) -> usize {
        self.gate(Gate::Not, 1, &[of])
    }

    /// The parts, each after those that it is made of.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The width of a part in bits.
    pub fn width(&self, part: usize) -> u32 {
        match &self.parts[part] {
            Part::Signal { width, .. } | Part::Constant(_, width) | Part::Gate(_, width, _) => {
                *width
            }
            Part::Past(of) => self.width(*of),
            Part::Timer { .. } => 1,
        }
    }
}

/// The memories of a monitor, by what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitorMemory {
    /// One word: in its lower half the cycles of the run so far, in its upper half the entries, those without room too. It has the monitor's
    /// [`id`](Monitor::id) in its name.
    Head(u32),
    /// One word: the bits that are kept of the last cycle.
    Last,
    /// One word, if there is a trigger: in its lower half the entries that were stored so far, in its upper half whether it has happened.
    Stored,
    /// One word: the sum of this number.
    Sum(usize),
    /// One word of the latency of this number.
    Latency(usize, LatencyWord),
    /// Of the latency of this number, how many intervals there are whose lengths have as many bits as the word's number says; only those
    /// words count that `Filled` has.
    Powers(usize),
    /// One word: which words of `Powers` were written in this run, a bit each.
    Filled(usize),
    /// Of each entry the events, a bit each.
    Mask,
    /// Of each entry the cycle.
    Stamp,
    /// Of each entry the value of this number.
    Value(usize),
}

/// What is known of a latency so far, in halves of 32 bits but for the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyWord {
    /// How many ended; above, how many ends belong to no beginning.
    Count,
    /// The cycles of all.
    Total,
    /// The cycles of the shortest one; above, those of the longest one.
    Range,
    /// The cycles since one began that has not ended; above, whether there is one, and then whether two ever overlapped.
    Open,
}

impl LatencyWord {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Count, Self::Total, Self::Range, Self::Open];

    fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Total => "total",
            Self::Range => "range",
            Self::Open => "open",
        }
    }
}

/// What the name of a [`MonitorMemory::Head`] begins with.
const HEAD: &str = "head_";

impl MonitorMemory {
    /// Whether a name, without the prefix of petal's names, is that of a [`Head`](Self::Head).
    pub fn is_head(name: &str) -> bool {
        name.starts_with(HEAD)
    }

    /// Its name, after the prefix of petal's names in the design.
    pub fn name(self) -> String {
        match self {
            Self::Head(id) => format!("{HEAD}{id:08x}"),
            Self::Last => "last".to_owned(),
            Self::Stored => "stored".to_owned(),
            Self::Sum(number) => format!("sum_{number}"),
            Self::Latency(number, word) => format!("latency_{number}_{}", word.name()),
            Self::Powers(number) => format!("latency_{number}_powers"),
            Self::Filled(number) => format!("latency_{number}_filled"),
            Self::Mask => "mask".to_owned(),
            Self::Stamp => "stamp".to_owned(),
            Self::Value(number) => format!("value_{number}"),
        }
    }
}

impl Monitor {
    /// Bits of a stamp, and of each half of the head.
    pub const STAMP: u32 = 32;

    /// Bits of a sum.
    pub const SUM: u32 = 64;

    /// How many numbers of bits a length can have.
    pub const POWERS: u32 = Self::STAMP + 1;

    /// Its memories, with the bits of a word and the number of words.
    pub fn memories(&self) -> Vec<(MonitorMemory, u32, u64)> {
        let bits = |of: &[usize]| u32::try_from(of.len()).unwrap_or(u32::MAX);
        let mut memories = vec![(MonitorMemory::Head(self.id), 2 * Self::STAMP, 1)];
        let sums = 0..self.sums.len();
        memories.extend(sums.map(|number| (MonitorMemory::Sum(number), Self::SUM, 1)));
        for number in 0..self.latencies.len() {
            let words = LatencyWord::ALL.into_iter();
            memories.extend(words.map(|word| (MonitorMemory::Latency(number, word), Self::SUM, 1)));
            if self.has_histograms {
                let powers = MonitorMemory::Powers(number);
                memories.push((powers, Self::STAMP, Self::POWERS.into()));
                memories.push((MonitorMemory::Filled(number), Self::POWERS, 1));
            }
        }
        if !self.last.is_empty() {
            memories.push((MonitorMemory::Last, bits(&self.last), 1));
        }
        if self.events.is_empty() {
            return memories;
        }
        memories.extend([
            (MonitorMemory::Mask, bits(&self.events), self.depth),
            (MonitorMemory::Stamp, Self::STAMP, self.depth),
        ]);
        if self.trigger.is_some() {
            memories.push((MonitorMemory::Stored, 2 * Self::STAMP, 1));
        }
        let values = self.values.iter().enumerate();
        memories.extend(values.map(|(number, &part)| {
            let width = self.circuit.width(part);
            (MonitorMemory::Value(number), width, self.depth)
        }));
        memories
    }
}
