//! The memories of a design: their values and formats, read from and written to the Calyx data format and memory files.
//!
//! Owns the model and how it is checked against a design. The texts are read and written by the modules below: `json`
//! the data format, `dat` the hexadecimal files of a simulation, `number` single values. Knows no simulator.

mod dat;
mod difference;
mod error;
mod format;
mod json;
mod number;
mod problem;

use std::collections::BTreeMap;
use std::path::PathBuf;

use num_bigint::BigUint;

pub use difference::Difference;
pub use error::Error;
pub use format::{Format, NumericType};
pub use problem::{DataProblem, Position, Problem};

/// The shape of one memory, from the compiled design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLayout {
    /// The name of the cell in the top component.
    pub name: String,
    /// Bits per word.
    pub width: u32,
    /// The sizes, outermost first; 1 to 4 of them.
    pub dims: Vec<u64>,
}

impl MemoryLayout {
    /// The number of words, or the largest number there is.
    pub fn size(&self) -> u64 {
        size(&self.dims)
    }
}

/// The number of words of a memory with these sizes, or the largest number there is.
fn size(dims: &[u64]) -> u64 {
    dims.iter().fold(1, |size, dim| size.saturating_mul(*dim))
}

/// The words of a memory that are not 0, by their indices in row-major order, the order in which
/// Calyx memories are indexed. So a large memory that is hardly used takes little room.
pub type Words = BTreeMap<u64, BigUint>;

/// One memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    name: String,
    format: Format,
    /// Bits per word: those of the format, or fewer.
    width: u32,
    dims: Vec<u64>,
    words: Words,
}

impl Memory {
    /// The name of the cell in the top component.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How words are read as numbers.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The sizes, outermost first.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The words as bit patterns below 2^width; all others are 0.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The number of words, with those that are 0.
    pub fn size(&self) -> u64 {
        size(&self.dims)
    }

    /// The number that a word is, as JSON.
    fn text(&self, word: &BigUint) -> String {
        number::to_text(&self.extended(word), self.format)
    }

    /// A word in the width of the format, with the same value.
    fn extended(&self, word: &BigUint) -> BigUint {
        let is_negative = self.format.is_signed() && word.bit(u64::from(self.width) - 1);
        if !is_negative || self.width == self.format.width() {
            return word.clone();
        }
        let one = BigUint::from(1_u32);
        word + (&one << self.format.width()) - (one << self.width)
    }

    /// The indices of a word, outermost first.
    fn indices(&self, mut word: u64) -> Vec<u64> {
        let sizes = self.dims.iter().rev();
        let mut indices: Vec<u64> = sizes
            .map(|&size| {
                let index = word % size;
                word /= size;
                index
            })
            .collect();
        indices.reverse();
        indices
    }

    /// Takes over the width of the design's memory. Returns the first value that does not fit it, and its indices.
    fn narrow(&mut self, width: u32) -> Option<(Vec<u64>, String)> {
        let wide = self.clone();
        self.width = width;
        let mask = (BigUint::from(1_u32) << width) - 1_u32;
        for word in self.words.values_mut() {
            *word &= &mask;
        }
        let words = wide.words.iter();
        let mut lost = words.filter(|(index, word)| self.extended(&self.words[index]) != **word);
        let lost = lost.next();
        let lost = lost.map(|(&index, word)| (wide.indices(index), wide.text(word)));
        self.words.retain(|_, word| *word != BigUint::ZERO);
        lost
    }
}

/// The values of a memory that were rounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded {
    /// How many.
    pub count: u64,
    /// How far the farthest is from the number that is stored for it.
    pub largest_error: f64,
    /// The memory, and the first of the values.
    pub first: DataProblem,
}

/// The contents of all memories of a design, before or after a run.
///
/// Two are equal if their memories are; where they were read from does not count.
#[derive(Debug, Clone)]
pub struct Data {
    /// The file they come from; empty if none.
    origin: PathBuf,
    memories: Vec<Memory>,
    /// Where each memory is in the file.
    positions: Vec<Option<Position>>,
    rounded: Vec<Rounded>,
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        self.memories == other.memories
    }
}

impl Eq for Data {}

impl Data {
    /// Memories full of zeros, in the format of unsigned whole numbers.
    pub fn zeros(layouts: &[MemoryLayout]) -> Self {
        let memories: Vec<_> = layouts
            .iter()
            .map(|layout| Memory {
                name: layout.name.clone(),
                format: Format::unsigned(layout.width),
                width: layout.width.max(1),
                dims: layout.dims.clone(),
                words: Words::new(),
            })
            .collect();
        Self {
            origin: PathBuf::new(),
            positions: vec![None; memories.len()],
            rounded: Vec::new(),
            memories,
        }
    }

    /// The same with more memories, full of zeros, in the format of unsigned whole numbers.
    #[must_use]
    pub fn with_zeros(&self, layouts: &[MemoryLayout]) -> Self {
        let mut more = self.clone();
        let zeros = Self::zeros(layouts);
        more.memories.extend(zeros.memories);
        more.positions.extend(zeros.positions);
        more
    }

    /// The memories, in the order of the file.
    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    /// The same contents with other names of memories: those that `names` holds change.
    #[must_use]
    pub fn renamed(&self, names: &BTreeMap<String, String>) -> Self {
        let mut renamed = self.clone();
        for memory in &mut renamed.memories {
            if let Some(name) = names.get(&memory.name) {
                memory.name.clone_from(name);
            }
        }
        renamed
    }

    /// The values that were rounded when the file was read, for each memory that has any.
    pub fn rounded(&self) -> &[Rounded] {
        &self.rounded
    }

    /// Checks that no value was rounded.
    ///
    /// # Errors
    ///
    /// [`Error::Data`] with the first such value of each memory.
    pub fn check_exact(&self) -> Result<(), Error> {
        let first = self.rounded.iter().map(|rounded| rounded.first.clone());
        self.all_fine_or(first.collect())
    }

    /// Checks that these are the memories of a design: each of `layouts`, in its shape, and no other. A format may be
    /// wider than the design's memory if all values fit that; its words have the memory's width from then on.
    ///
    /// # Errors
    ///
    /// [`Error::Data`] with all that does not fit.
    pub fn check(&mut self, layouts: &[MemoryLayout]) -> Result<(), Error> {
        let mut missing: BTreeMap<&str, &MemoryLayout> = layouts
            .iter()
            .map(|layout| (layout.name.as_str(), layout))
            .collect();
        let mut problems = Vec::new();
        for (memory, position) in self.memories.iter_mut().zip(&self.positions) {
            let name = memory.name.clone();
            let mut report = |problem| {
                problems.push(DataProblem {
                    memory: name.clone(),
                    position: *position,
                    problem,
                });
            };
            let Some(layout) = missing.remove(name.as_str()) else {
                report(Problem::UnknownMemory {
                    known: layouts.iter().map(|layout| layout.name.clone()).collect(),
                });
                continue;
            };
            let can_be_wider = memory.format.numeric_type() != NumericType::Ieee754Float;
            if memory.width > layout.width && can_be_wider {
                if let Some((index, text)) = memory.narrow(layout.width) {
                    report(Problem::At {
                        index,
                        problem: Box::new(Problem::Truncated {
                            text,
                            width: layout.width,
                        }),
                    });
                }
            } else if memory.width != layout.width {
                report(Problem::Width {
                    expected: layout.width,
                    actual: memory.width,
                });
            }
            if memory.dims != layout.dims {
                report(Problem::Shape {
                    expected: layout.dims.clone(),
                    actual: memory.dims.clone(),
                });
            }
        }
        for layout in missing.into_values() {
            problems.push(DataProblem {
                memory: layout.name.clone(),
                position: None,
                problem: Problem::MissingMemory {
                    width: layout.width,
                    dims: layout.dims.clone(),
                },
            });
        }
        self.all_fine_or(problems)
    }

    /// The same memories with other contents: what `words` tells of each, by name.
    #[must_use]
    pub fn filled(&self, mut words: impl FnMut(&str) -> Option<Words>) -> Self {
        let mut filled = self.clone();
        for memory in &mut filled.memories {
            if let Some(words) = words(&memory.name) {
                memory.words = words;
            }
        }
        filled
    }

    fn all_fine_or(&self, problems: Vec<DataProblem>) -> Result<(), Error> {
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::Data {
            path: self.origin.clone(),
            problems,
        })
    }
}

#[cfg(test)]
mod tests;
