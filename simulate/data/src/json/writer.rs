//! How a data file is written: innermost lists are on one line, and what is mostly 0 is given by indices.

use std::borrow::Cow;

use num_bigint::BigUint;
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::format::FormatText;
use crate::{Data, Memory};

/// Memories of up to so many words are written as lists of all words, as the Calyx ecosystem has them. Beyond, nobody
/// would write all words, and tools that read them would fall over.
const MOST_LISTED: u64 = 1 << 24;

impl Data {
    /// The memories in the Calyx data format, readable again by [`Data::parse`], ending with a newline. The data of a
    /// memory of more than 2^24 words is an object with its sizes and those of its words that are not 0.
    pub fn to_json(&self) -> String {
        write(self)
    }
}

/// Writes a data file: innermost lists are on one line.
fn write(data: &Data) -> String {
    // Strings, whole numbers and raw JSON into a String: nothing in it can fail.
    let mut text = serde_json::to_string_pretty(&FileView(data)).expect("memories are plain JSON");
    text.push('\n');
    text
}

/// A data file, as it is written.
struct FileView<'a>(&'a Data);

impl Serialize for FileView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.memories.iter().map(|memory| {
            let data = if memory.size() > MOST_LISTED {
                DataView::Sparse {
                    sizes: &memory.dims,
                    words: Nonzero(memory),
                }
            } else {
                DataView::Listed(NestedLists {
                    memory,
                    dims: &memory.dims,
                    first: 0,
                })
            };
            let view = MemoryView {
                data,
                format: memory.format.into(),
            };
            (&memory.name, view)
        }))
    }
}

/// A memory, as it is written.
#[derive(serde::Serialize)]
struct MemoryView<'a> {
    data: DataView<'a>,
    format: FormatText,
}

/// A memory's values, as they are written.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum DataView<'a> {
    Listed(NestedLists<'a>),
    Sparse {
        sizes: &'a [u64],
        words: Nonzero<'a>,
    },
}

/// The values of a memory that are not 0, by their indices.
struct Nonzero<'a>(&'a Memory);

impl Serialize for Nonzero<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |word| RawValue::from_string(self.0.text(word));
        let words = self.0.words.iter();
        let values: Result<Vec<_>, _> = words
            .map(|(index, word)| Ok((index, value(word)?)))
            .collect();
        serializer.collect_map(values.map_err(serde::ser::Error::custom::<serde_json::Error>)?)
    }
}

/// A part of a memory's values, as lists.
struct NestedLists<'a> {
    memory: &'a Memory,
    dims: &'a [u64],
    /// The index of the first value.
    first: u64,
}

impl Serialize for NestedLists<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.dims {
            [] | [_] => {
                let zero = self.memory.text(&BigUint::ZERO);
                let last = self.first + crate::size(self.dims);
                let values: Vec<Cow<'_, str>> = (self.first..last)
                    .map(|index| match self.memory.words.get(&index) {
                        Some(word) => Cow::Owned(self.memory.text(word)),
                        None => Cow::Borrowed(zero.as_str()),
                    })
                    .collect();
                RawValue::from_string(format!("[{}]", values.join(", ")))
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer)
            }
            [size, inner @ ..] => serializer.collect_seq((0..*size).map(|row| NestedLists {
                memory: self.memory,
                dims: inner,
                first: self.first + row * crate::size(inner),
            })),
        }
    }
}
