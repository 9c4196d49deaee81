//! From the memories that a monitored design leaves to results, as those of a run that petal has followed.

mod latencies;

use std::ops::Range;

use petal_data::{Data, Memory};
use petal_metadata::{Monitor, MonitorMemory, SiteId};

use super::{MONITOR_VERSION, MonitorFile};
use crate::kinds::{
    ChangeOf, Checkpoint, Counted, Counter, Results, Rule, Stamps, VERSION, Violation, Watch,
    rule_kind,
};
use crate::recorded::Recorded;

/// Why memories are not those of a monitored design.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableRun {
    /// A memory is not there.
    #[error(
        "the memory `{0}` of the monitor is missing: these are not the memories after a run of the monitored design, or what brought them \
         back left it out"
    )]
    Missing(String),
    /// The memories are those of another monitor.
    #[error(
        "there is `{found}`, and `{expected}` according to the metadata: they are of another design, or of another monitor of it"
    )]
    Foreign {
        /// The memory that its monitor writes first.
        found: String,
        /// The one that this one does.
        expected: String,
    },
    /// A memory has another shape.
    #[error(
        "the memory `{name}` has {actual} words, and {expected} according to the metadata: they are of another monitor"
    )]
    Shape {
        /// The memory.
        name: String,
        /// Words that it should have.
        expected: u64,
        /// Words that it has.
        actual: u64,
    },
    /// The monitor has not counted a cycle.
    #[error("`{0}` is 0: the design has not run, or these are the memories before the run")]
    NoRun(String),
    /// The counter was at its end.
    #[error("the run took {0} cycles or more, and stamps go no further")]
    TooLong(u64),
    /// A histogram has not as many as ended.
    #[error(
        "the words of `{name}` add up to {sum}, and {count} latencies ended: they are not of the same run"
    )]
    Histogram {
        /// The memory.
        name: String,
        /// How many it has.
        sum: u64,
        /// How many there were.
        count: u64,
    },
    /// An entry is none that a monitor writes.
    #[error("entry {entry} is damaged: `{name}` is {value} there, {reason}")]
    Damaged {
        /// The number of the entry.
        entry: u64,
        /// The memory.
        name: String,
        /// Its word.
        value: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// The memories of a monitor after a run.
struct Memories<'a> {
    file: &'a MonitorFile,
    data: &'a Data,
}

impl Memories<'_> {
    fn name(&self, memory: MonitorMemory) -> String {
        self.file.prefix.named(&memory.name())
    }

    fn memory(&self, memory: MonitorMemory, words: u64) -> Result<&Memory, UnreadableRun> {
        let name = self.name(memory);
        let mut all = self.data.memories().iter();
        let Some(memory) = all.find(|of| of.name() == name) else {
            return Err(UnreadableRun::Missing(name));
        };
        if memory.size() != words {
            return Err(UnreadableRun::Shape {
                name,
                expected: words,
                actual: memory.size(),
            });
        }
        Ok(memory)
    }

    /// The one by which the monitor is known.
    fn head(&self) -> Result<&Memory, UnreadableRun> {
        let head = MonitorMemory::Head(self.file.id);
        let found = self.memory(head, 1);
        let prefix = self.file.prefix.named("");
        let mut names = self.data.memories().iter().map(Memory::name);
        let other = names.find(|name| {
            name.strip_prefix(&prefix)
                .is_some_and(MonitorMemory::is_head)
        });
        match (found, other) {
            (Err(UnreadableRun::Missing(expected)), Some(other)) => Err(UnreadableRun::Foreign {
                found: other.to_owned(),
                expected,
            }),
            (found, _) => found,
        }
    }

    /// A memory with a word for each entry.
    fn of_entries(&self, memory: MonitorMemory) -> Result<&Memory, UnreadableRun> {
        self.memory(memory, self.file.depth)
    }

    fn damaged(
        &self,
        entry: u64,
        memory: MonitorMemory,
        value: u64,
        reason: &'static str,
    ) -> UnreadableRun {
        UnreadableRun::Damaged {
            entry,
            name: self.name(memory),
            value,
            reason,
        }
    }
}

/// The lowest 64 bits of a word.
fn word(memory: &Memory, index: u64) -> u64 {
    let word = memory.words().get(&index);
    word.and_then(|word| word.iter_u64_digits().next())
        .unwrap_or(0)
}

impl MonitorFile {
    /// Whether it records nothing.
    pub fn is_empty(&self) -> bool {
        self.events == 0 && self.counters.is_empty() && self.latencies.is_empty()
    }

    /// Whether a memory of this name may be the monitor's.
    pub fn is_own(&self, memory: &str) -> bool {
        memory.starts_with(&self.prefix.named(""))
    }

    /// Reads the file that [`json`](Self::json) wrote.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct Versioned {
            version: u32,
        }
        let of: Versioned = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if of.version != MONITOR_VERSION {
            return Err(format!(
                "it has version {}, and this petal reads {MONITOR_VERSION}",
                of.version
            ));
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all keys are texts.
    pub fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("it is plain JSON");
        json.push('\n');
        json
    }

    /// What the memories after a run that came to its end tell.
    ///
    /// # Errors
    /// When they are not those of the monitor, or damaged.
    pub fn read(&self, data: &Data) -> Result<Results, UnreadableRun> {
        let memories = Memories { file: self, data };
        let head = word(memories.head()?, 0);
        let most = (1 << Monitor::STAMP) - 1;
        let (entries, cycles) = (head >> Monitor::STAMP, head & most);
        if cycles == 0 {
            return Err(UnreadableRun::NoRun(
                memories.name(MonitorMemory::Head(self.id)),
            ));
        }
        if cycles == most {
            return Err(UnreadableRun::TooLong(most));
        }
        let entries = self.entries(&memories, entries, cycles)?;
        let (latencies, overlapped) = self.latencies(&memories)?;
        Ok(Results {
            version: VERSION,
            cycles,
            checkpoints: self.checkpoints(&memories, &entries, cycles)?,
            latencies,
            overlapped,
            watches: self.watches(&memories, &entries)?,
            rules: self.rules(&entries, cycles),
            counters: self.counters(&memories, cycles)?,
            dropped: (entries.dropped > 0).then_some(entries.dropped),
            recorded: (entries.dropped > 0).then(|| entries.known.clone()),
            ..Results::default()
        })
    }

    /// The sums of a run of so many cycles.
    fn counters(
        &self,
        memories: &Memories<'_>,
        cycles: u64,
    ) -> Result<Vec<Counter>, UnreadableRun> {
        let counters = self.counters.iter().enumerate();
        let counters = counters.map(|(number, of)| {
            let sum = word(memories.memory(MonitorMemory::Sum(number), 1)?, 0);
            let (name, value) = (of.name.clone(), of.value.clone());
            Ok(Counted::counter(name, value, sum, cycles))
        });
        counters.collect()
    }

    /// The entries of a run of so many cycles.
    fn entries(
        &self,
        memories: &Memories<'_>,
        happened: u64,
        cycles: u64,
    ) -> Result<Entries, UnreadableRun> {
        let mut entries = Entries {
            all: Vec::new(),
            dropped: 0,
            known: 0..cycles,
        };
        if self.events == 0 {
            return Ok(entries);
        }
        let mask = memories.of_entries(MonitorMemory::Mask)?;
        let stamp = memories.of_entries(MonitorMemory::Stamp)?;
        let stored = self.stored(memories, happened)?;
        let first = if self.cyclic {
            stored.saturating_sub(self.depth)
        } else {
            0
        };
        let mut earliest = 0;
        for number in first..stored {
            let at = number % self.depth;
            let (mask, stamp) = (word(mask, at), word(stamp, at));
            if stamp < earliest || stamp >= cycles {
                let reason = "which is before the entry above it, or after the run";
                return Err(memories.damaged(at, MonitorMemory::Stamp, stamp, reason));
            }
            if mask == 0 || self.events < 64 && mask >> self.events != 0 {
                let reason = "which is none of the events";
                return Err(memories.damaged(at, MonitorMemory::Mask, mask, reason));
            }
            earliest = stamp + 1;
            entries.all.push(Entry { at, mask, stamp });
        }
        entries.dropped = happened - (stored - first);
        if first > 0 {
            entries.known.start = entries.all.first().map_or(0, |of| of.stamp);
        }
        if stored < happened {
            entries.known.end = earliest;
        }
        Ok(entries)
    }

    /// How many entries were stored, those too that others took the place of.
    fn stored(&self, memories: &Memories<'_>, happened: u64) -> Result<u64, UnreadableRun> {
        if self.trigger.is_some() {
            let stored = memories.memory(MonitorMemory::Stored, 1)?;
            let stored = word(stored, 0) & ((1 << Monitor::STAMP) - 1);
            return Ok(stored.min(happened));
        }
        Ok(if self.cyclic {
            happened
        } else {
            happened.min(self.depth)
        })
    }

    fn checkpoints(
        &self,
        memories: &Memories<'_>,
        entries: &Entries,
        cycles: u64,
    ) -> Result<Vec<Checkpoint>, UnreadableRun> {
        let last = self.last(memories)?;
        let mut all = Vec::new();
        for (bit, of) in self.checkpoints.iter().enumerate() {
            let values = of.values.iter().chain(&of.by).map(|value| {
                let memory = memories.of_entries(MonitorMemory::Value(value.memory))?;
                let bits = entries.of(bit).map(|entry| word(memory, entry.at));
                Ok(Recorded {
                    name: value.name.clone(),
                    value: value.value.clone(),
                    format: value.format,
                    bits: bits.collect(),
                })
            });
            let mut values: Vec<Recorded> = values.collect::<Result<_, UnreadableRun>>()?;
            let by = of.by.as_ref().and_then(|_| values.pop());
            let stamps = entries.of(bit).map(|entry| entry.stamp);
            // What is active in the last cycle ends with the run.
            let is_last = |bit: &usize| last >> bit & 1 == 1 && entries.known.end == cycles;
            let at_end = of.last.filter(is_last).map(|_| cycles);
            let stamps = Stamps {
                site: SiteId::observed("checkpoint", &of.name),
                name: of.name.clone(),
                when: of.when.clone(),
                cycles: stamps.chain(at_end).collect(),
                values,
                by,
            };
            all.extend(stamps.checkpoints(None));
        }
        Ok(all)
    }

    /// What is kept of the last cycle.
    fn last(&self, memories: &Memories<'_>) -> Result<u64, UnreadableRun> {
        let of_checkpoints = self.checkpoints.iter().map(|of| of.last);
        let mut all = of_checkpoints.chain(self.latencies.iter().map(|of| of.last));
        if !all.any(|of| of.is_some()) {
            return Ok(0);
        }
        Ok(word(memories.memory(MonitorMemory::Last, 1)?, 0))
    }

    fn watches(
        &self,
        memories: &Memories<'_>,
        entries: &Entries,
    ) -> Result<Vec<Watch>, UnreadableRun> {
        let watches = self.watches.iter().map(|of| {
            let old = memories.of_entries(MonitorMemory::Value(of.old))?;
            let new = memories.of_entries(MonitorMemory::Value(of.new))?;
            let changes = entries.of(of.bit).map(|entry| ChangeOf {
                cycle: entry.stamp,
                index: None,
                old: Some(word(old, entry.at)),
                new: word(new, entry.at),
                by: Vec::new(),
            });
            Ok(Watch {
                name: of.name.clone(),
                site: SiteId::observed("watch", &of.name),
                value: of.value.clone(),
                is_written: of.is_written,
                changes: changes.collect(),
            })
        });
        watches.collect()
    }

    fn rules(&self, entries: &Entries, cycles: u64) -> Vec<Rule> {
        let rules = self.rules.iter().map(|of| {
            let stamps = |bit| -> Vec<u64> { entries.of(bit).map(|entry| entry.stamp).collect() };
            let [begins, ends] = [of.bit, of.bit + 1].map(stamps);
            // One whose beginning is lost was broken at least in the cycle before its end.
            let lost = ends
                .first()
                .filter(|end| begins.first().is_none_or(|begin| *end <= begin));
            let lost = lost.map(|end| entries.known.start.min(end.saturating_sub(1)));
            // What is broken in the last cycle that is known is so until then.
            let ends = ends.into_iter().chain([entries.known.end.min(cycles)]);
            let mut ends = ends.peekable();
            let begins = lost.into_iter().chain(begins);
            let violations = begins.map(|cycle| {
                while ends.next_if(|end| *end <= cycle).is_some() {}
                let end = ends.peek().copied().unwrap_or(cycle);
                Violation {
                    cycle,
                    cycles: end - cycle,
                    active: Vec::new(),
                    written: None,
                }
            });
            let violations: Vec<Violation> = violations.collect();
            Rule {
                name: of.name.clone(),
                site: SiteId::observed(rule_kind(of.always), &of.name),
                when: of.when.clone(),
                always: of.always,
                cycles: violations.iter().map(|of| of.cycles).sum(),
                violations,
            }
        });
        rules.collect()
    }
}

/// A cycle in which something happened.
struct Entry {
    /// Its word in the memories.
    at: u64,
    mask: u64,
    stamp: u64,
}

/// What a monitor had room for.
struct Entries {
    /// In the order of time.
    all: Vec<Entry>,
    dropped: u64,
    /// The cycles of which all is there.
    known: Range<u64>,
}

impl Entries {
    /// Those in which an event happened.
    fn of(&self, bit: usize) -> impl Iterator<Item = &Entry> {
        self.all.iter().filter(move |of| of.mask >> bit & 1 == 1)
    }
}
