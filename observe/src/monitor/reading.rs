//! From the memories that a monitored design leaves to results, as those of a run that petal has followed.

use petal_data::{Data, Memory};
use petal_metadata::{Monitor, MonitorMemory};

use super::{MONITOR_VERSION, MonitorFile, MonitoredCheckpoint};
use crate::kinds::{Counted, Counter, Results, Stamps, VERSION};
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

/// A checkpoint while entries are read.
struct Reading<'a> {
    of: &'a MonitoredCheckpoint,
    cycles: Vec<u64>,
    /// What is recorded each time, and in the end the value that is a part of the name, each with its memory.
    values: Vec<(&'a Memory, Recorded)>,
}

impl MonitorFile {
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
        let head = word(memories.memory(MonitorMemory::Head, 1)?, 0);
        let most = (1 << Monitor::STAMP) - 1;
        let (entries, cycles) = (head >> Monitor::STAMP, head & most);
        if cycles == 0 {
            return Err(UnreadableRun::NoRun(memories.name(MonitorMemory::Head)));
        }
        if cycles == most {
            return Err(UnreadableRun::TooLong(most));
        }
        let mut checkpoints = self.checkpoints(&memories)?;
        if !checkpoints.is_empty() {
            self.read_entries(&memories, &mut checkpoints, entries, cycles)?;
        }
        let dropped = entries.saturating_sub(self.depth);
        Ok(Results {
            version: VERSION,
            cycles,
            checkpoints: checkpoints
                .into_iter()
                .flat_map(|of| of.stamps().checkpoints(None).collect::<Vec<_>>())
                .collect(),
            counters: self.counters(&memories, cycles)?,
            dropped: (dropped > 0).then_some(dropped),
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

    /// Gives the entries of a run of so many cycles to the checkpoints that happened in them.
    fn read_entries(
        &self,
        memories: &Memories<'_>,
        checkpoints: &mut [Reading<'_>],
        entries: u64,
        cycles: u64,
    ) -> Result<(), UnreadableRun> {
        let mask = memories.of_entries(MonitorMemory::Mask)?;
        let stamp = memories.of_entries(MonitorMemory::Stamp)?;
        let mut earliest = 0;
        for entry in 0..entries.min(self.depth) {
            let (mask, stamp) = (word(mask, entry), word(stamp, entry));
            if stamp < earliest || stamp >= cycles {
                let reason = "which is before the entry above it, or after the run";
                return Err(memories.damaged(entry, MonitorMemory::Stamp, stamp, reason));
            }
            if mask == 0 || checkpoints.len() < 64 && mask >> checkpoints.len() != 0 {
                let reason = "which is none of the events";
                return Err(memories.damaged(entry, MonitorMemory::Mask, mask, reason));
            }
            earliest = stamp + 1;
            for (bit, checkpoint) in checkpoints.iter_mut().enumerate() {
                if mask >> bit & 1 == 1 {
                    checkpoint.cycles.push(stamp);
                    for (memory, recorded) in &mut checkpoint.values {
                        recorded.bits.push(word(memory, entry));
                    }
                }
            }
        }
        if checkpoints.iter().any(|of| of.of.last.is_some()) {
            let last = word(memories.memory(MonitorMemory::Last, 1)?, 0);
            for checkpoint in checkpoints {
                if checkpoint.of.last.is_some_and(|bit| last >> bit & 1 == 1) {
                    checkpoint.cycles.push(cycles);
                }
            }
        }
        Ok(())
    }

    fn checkpoints<'a>(
        &'a self,
        memories: &'a Memories<'_>,
    ) -> Result<Vec<Reading<'a>>, UnreadableRun> {
        let checkpoints = self.checkpoints.iter().map(|of| {
            let values = of.values.iter().chain(&of.by).map(|value| {
                let memory = memories.of_entries(MonitorMemory::Value(value.memory))?;
                let recorded = Recorded {
                    name: value.name.clone(),
                    value: value.value.clone(),
                    format: value.format,
                    bits: Vec::new(),
                };
                Ok((memory, recorded))
            });
            Ok(Reading {
                of,
                cycles: Vec::new(),
                values: values.collect::<Result<_, _>>()?,
            })
        });
        checkpoints.collect()
    }
}

impl Reading<'_> {
    fn stamps(self) -> Stamps {
        let mut values: Vec<Recorded> = self.values.into_iter().map(|(_, of)| of).collect();
        let by = self.of.by.as_ref().and_then(|_| values.pop());
        Stamps {
            name: self.of.name.clone(),
            when: self.of.when.clone(),
            cycles: self.cycles,
            values,
            by,
        }
    }
}
