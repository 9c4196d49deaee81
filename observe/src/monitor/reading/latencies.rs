//! What a monitor has added up of latencies.

use std::collections::BTreeMap;

use petal_metadata::{LatencyWord, Monitor, MonitorMemory, SiteId};

use super::{Memories, UnreadableRun, word};
use crate::kinds::{Latency, power_of};
use crate::monitor::{MonitorFile, MonitoredLatency};

/// What the words of a latency tell.
struct Sums {
    count: u64,
    unmatched: u64,
    total: u64,
    /// The shortest and the longest one.
    range: Option<(u64, u64)>,
    /// How many there are from this length to less than its double.
    powers: BTreeMap<u64, u64>,
    /// How long the one takes so far that has not ended.
    open: Option<u64>,
}

impl Sums {
    /// Those of the latency of a number; `None` if two overlapped, since then nothing is known.
    fn read(
        number: usize,
        has_histogram: bool,
        memories: &Memories<'_>,
    ) -> Result<Option<Self>, UnreadableRun> {
        let of_kind = |kind| {
            let memory = memories.memory(MonitorMemory::Latency(number, kind), 1)?;
            Ok::<_, UnreadableRun>(word(memory, 0))
        };
        let halves = |word: u64| (word & ((1 << Monitor::STAMP) - 1), word >> Monitor::STAMP);
        let (count, unmatched) = halves(of_kind(LatencyWord::Count)?);
        let range = halves(of_kind(LatencyWord::Range)?);
        let (length, state) = halves(of_kind(LatencyWord::Open)?);
        if state & 2 == 2 {
            return Ok(None);
        }
        let powers = if has_histogram {
            powers(number, count, memories)?
        } else {
            BTreeMap::new()
        };
        Ok(Some(Self {
            count,
            unmatched,
            total: of_kind(LatencyWord::Total)?,
            range: (count > 0).then_some(range),
            powers,
            open: (state & 1 == 1).then_some(length),
        }))
    }

    /// Ends the one that is open.
    fn end(&mut self, length: u64, has_histogram: bool) {
        self.count += 1;
        self.total += length;
        let (min, max) = self.range.unwrap_or((length, length));
        self.range = Some((min.min(length), max.max(length)));
        if has_histogram {
            *self.powers.entry(power_of(length)).or_default() += 1;
        }
        self.open = None;
    }
}

/// The histogram of the latency of a number, of which so many ended.
fn powers(
    number: usize,
    count: u64,
    memories: &Memories<'_>,
) -> Result<BTreeMap<u64, u64>, UnreadableRun> {
    let of = MonitorMemory::Powers(number);
    let counts = memories.memory(of, Monitor::POWERS.into())?;
    let filled = word(memories.memory(MonitorMemory::Filled(number), 1)?, 0);
    let bits = (0..u64::from(Monitor::POWERS)).filter(|bits| filled >> bits & 1 == 1);
    let powers: BTreeMap<u64, u64> = bits
        .map(|bits| {
            let least = if bits == 0 { 0 } else { 1 << (bits - 1) };
            (least, word(counts, bits))
        })
        .collect();
    let sum = powers.values().sum();
    if sum != count {
        let name = memories.name(of);
        return Err(UnreadableRun::Histogram { name, sum, count });
    }
    Ok(powers)
}

impl MonitorFile {
    /// The latencies, without their single intervals, and the names of those of which nothing is known, since some overlapped.
    pub(super) fn latencies(
        &self,
        memories: &Memories<'_>,
    ) -> Result<(Vec<Latency>, Vec<String>), UnreadableRun> {
        let last = self.last(memories)?;
        let (mut all, mut overlapped) = (Vec::new(), Vec::new());
        for (number, of) in self.latencies.iter().enumerate() {
            let Some(mut sums) = Sums::read(number, self.histograms, memories)? else {
                overlapped.push(of.name.clone());
                continue;
            };
            if let Some(length) = sums.open
                && of.last.is_some_and(|bit| last >> bit & 1 == 1)
            {
                sums.end(length, self.histograms);
            }
            all.push(latency(of, sums));
        }
        Ok((all, overlapped))
    }
}

fn latency(of: &MonitoredLatency, sums: Sums) -> Latency {
    let min = sums.range.map(|(min, _)| min);
    Latency {
        name: of.name.clone(),
        site: SiteId::observed("latency", &of.name),
        when: of.when.clone(),
        count: sums.count,
        min,
        median: None,
        p99: None,
        max: sums.range.map(|(_, max)| max),
        total: sums.total,
        histogram: BTreeMap::new(),
        powers: sums.powers,
        intervals: Vec::new(),
        values: Vec::new(),
        unfinished: u64::from(sums.open.is_some()),
        unmatched: if of.is_handshake { 0 } else { sums.unmatched },
        unfinished_since: Vec::new(),
        unmatched_at: Vec::new(),
        over_shortest: sums.total.saturating_sub(min.unwrap_or(0) * sums.count),
        blame: Vec::new(),
        stall: None,
    }
}
