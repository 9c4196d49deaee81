//! The Calyx data format: JSON with an object for each memory, its values in nested lists.
//!
//! Owns the form of the file and the places of problems in it. Numbers are kept as text until [`crate::number`] reads
//! them, so that none passes through a floating-point number.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::Path;

use num_bigint::BigUint;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Error;
use crate::format::{Format, FormatText};
use crate::number;
use crate::problem::{DataProblem, Position, Problem};
use crate::{Data, Memory, Rounded, Words};

/// Memories of up to so many words are written as lists of all words, as the Calyx ecosystem has them. Beyond, nobody
/// would write all words, and tools that read them would fall over.
const MOST_LISTED: u64 = 1 << 24;

/// Calyx has memories of up to this many dimensions.
const DIMENSIONS: usize = 4;

/// Reads a data file.
pub(crate) fn parse(text: &str, origin: &Path) -> Result<Data, Error> {
    let quoted = quote_special(text);
    let source = Source {
        text: &quoted,
        user: text,
        origin,
    };
    let file: Members<'_> = source.read(source.text)?;
    let mut problems = Vec::new();
    let mut data = Data {
        origin: origin.to_owned(),
        memories: Vec::new(),
        positions: Vec::new(),
        rounded: Vec::new(),
    };
    let mut names = HashSet::new();
    for (name, raw) in file.0 {
        let position = source.position(raw.get());
        let mut report = |position, problem| {
            problems.push(DataProblem {
                memory: name.clone(),
                position: Some(position),
                problem,
            });
        };
        if !is_cell_name(&name) {
            report(position, Problem::Name);
            continue;
        }
        if !names.insert(name.clone()) {
            report(position, Problem::Duplicate);
            continue;
        }
        let named = |message| format!("memory `{name}`: {message}");
        if raw.get().starts_with('[') {
            let message = "a list of values does not tell their `format`; write `{\"data\": [...], \"format\": {...}}`";
            return Err(source.error(position, named(message.to_owned())));
        }
        let entry: Entry<'_> = source.read_or(raw.get(), named)?;
        let format: FormatText = source.read_or(entry.format.get(), named)?;
        let format = Format::try_from(format)
            .map_err(|message| source.error(source.position(entry.format.get()), named(message)))?;
        let mut values = Values::new(&source, format);
        let read = if entry.data.get().starts_with('{') {
            values.object(entry.data)
        } else {
            values.list(entry.data, 0)
        };
        match read {
            Err(Rejected::Syntax(error)) => return Err(error),
            Err(Rejected::Value(position, problem)) => report(position, problem),
            Ok(()) => {
                data.rounded.extend(values.rounded(&name));
                data.memories.push(Memory {
                    name,
                    width: format.width(),
                    format,
                    dims: values.dims,
                    words: values.words,
                });
                data.positions.push(Some(position));
            }
        }
    }
    data.all_fine_or(problems)?;
    Ok(data)
}

/// Whether Calyx allows the name. It becomes the name of a file, so this also keeps files in their folder.
fn is_cell_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\'');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(inner)
}

/// The numbers that JSON has no words for, as Python's `json` module writes them.
const SPECIAL: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The text of a data file with a string as long for each [`SPECIAL`] value in a list, or in an object where only the
/// words of a memory can be. Anywhere else they stay what JSON refuses.
fn quote_special(text: &str) -> Cow<'_, str> {
    /// The braces around the words of a memory that is given by indices.
    const AROUND_WORDS: usize = 4;
    if !SPECIAL.iter().any(|special| text.contains(special)) {
        return Cow::Borrowed(text);
    }
    let of_word = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    let mut quoted = String::with_capacity(text.len());
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            c if of_word(c) => rest.find(|c| !of_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        match first {
            '[' | '{' => open.push(first),
            ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
        let can_be_value = match open.last() {
            Some('[') => true,
            _ => open.len() >= AROUND_WORDS,
        };
        if can_be_value && SPECIAL.contains(&token) {
            // Writing to a String cannot fail.
            let _ = write!(quoted, "\"{}\"", "_".repeat(token.len() - 2));
        } else {
            quoted.push_str(token);
        }
        rest = behind;
    }
    Cow::Owned(quoted)
}

/// How long the string is that `text` begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text[1..].find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The text of a data file, of which all parts are slices.
struct Source<'a> {
    text: &'a str,
    /// As the user has it: as long, but with [`SPECIAL`] values.
    user: &'a str,
    origin: &'a Path,
}

impl<'a> Source<'a> {
    /// Reads a part of the text.
    fn read<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, Error> {
        self.read_or(part, |message| message)
    }

    /// Reads a part of the text, with a message of one's own if it is not of the right form.
    fn read_or<T: Deserialize<'a>>(
        &self,
        part: &'a str,
        explain: impl FnOnce(String) -> String,
    ) -> Result<T, Error> {
        serde_json::from_str(part).map_err(|error| {
            let start = self.position(part);
            let position = match error.line() {
                // An error without a place is about the part as a whole.
                0 => start,
                1 => Position {
                    line: start.line,
                    column: start.column + error.column().saturating_sub(1),
                },
                line => Position {
                    line: start.line + line - 1,
                    column: error.column().max(1),
                },
            };
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(message, _)| message);
            let special = SPECIAL.into_iter().find(|special| {
                let line = self.text.lines().nth(position.line - 1);
                line.and_then(|line| line.get(position.column - 1..))
                    .is_some_and(|rest| rest.starts_with(special))
            });
            let message = match special {
                Some(special) => format!("`{special}` can only be a value of a memory"),
                None => message.to_owned(),
            };
            self.error(position, explain(message))
        })
    }

    /// The bytes of the text that a part of it is.
    fn range(&self, part: &str) -> Range<usize> {
        let offset = part.as_ptr().addr() - self.text.as_ptr().addr();
        offset..offset + part.len()
    }

    /// Where a part of the text begins.
    fn position(&self, part: &str) -> Position {
        Position::of(self.text, self.range(part).start)
    }

    fn error(&self, position: Position, message: String) -> Error {
        Error::Json {
            path: self.origin.to_owned(),
            line: position.line,
            column: position.column,
            message,
        }
    }
}

/// An object's members in their order, with doubles.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Gather;

        impl<'de> Visitor<'de> for Gather {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a member for each memory")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Gather)
    }
}

/// A memory in the file.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object with `data` and `format`")]
struct Entry<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow)]
    format: &'a RawValue,
}

/// The data of a memory whose words are mostly 0.
#[derive(serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with `sizes`, outermost first, and `words` by their indices"
)]
struct Sparse<'a> {
    sizes: Vec<u64>,
    #[serde(borrow)]
    words: &'a RawValue,
}

/// Why a memory's values are refused.
enum Rejected {
    Syntax(Error),
    Value(Position, Problem),
}

/// The values of a memory, being read.
struct Values<'s, 'a> {
    source: &'s Source<'a>,
    format: Format,
    /// The sizes found so far, outermost first.
    dims: Vec<u64>,
    /// How many lists the values are in; `None` before the first value.
    depth: Option<usize>,
    words: Words,
    /// How many words there were so far.
    count: u64,
    /// The index of the item that is being read.
    index: Vec<u64>,
    /// How many values were rounded, the largest error, and the first of them.
    inexact: Option<(u64, f64, (Position, Problem))>,
}

impl<'s, 'a> Values<'s, 'a> {
    fn new(source: &'s Source<'a>, format: Format) -> Self {
        Self {
            source,
            format,
            dims: Vec::new(),
            depth: None,
            words: Words::new(),
            count: 0,
            index: Vec::new(),
            inexact: None,
        }
    }

    /// What was rounded, in the memory that is called `name`.
    fn rounded(&mut self, name: &str) -> Option<Rounded> {
        let (count, largest_error, (position, problem)) = self.inexact.take()?;
        Some(Rounded {
            count,
            largest_error,
            first: DataProblem {
                memory: name.to_owned(),
                position: Some(position),
                problem,
            },
        })
    }

    /// Reads an object with the sizes and those words that are not 0.
    fn object(&mut self, raw: &'a RawValue) -> Result<(), Rejected> {
        let sparse: Sparse<'a> = self.source.read(raw.get()).map_err(Rejected::Syntax)?;
        if sparse.sizes.len() > DIMENSIONS {
            return Err(self.rejected(raw, Problem::TooDeep { limit: DIMENSIONS }));
        }
        self.dims = sparse.sizes;
        let size = crate::size(&self.dims);
        let words: Members<'a> = self
            .source
            .read(sparse.words.get())
            .map_err(Rejected::Syntax)?;
        for (text, raw) in words.0 {
            let Some(index) = text.parse().ok().filter(|index| *index < size) else {
                return Err(self.rejected(raw, Problem::Index { text, size }));
            };
            self.index = vec![index];
            let word = self.value(raw)?;
            if word != BigUint::ZERO && self.words.insert(index, word).is_some() {
                let problem = Problem::At {
                    index: vec![index],
                    problem: Box::new(Problem::Duplicate),
                };
                return Err(self.rejected(raw, problem));
            }
        }
        Ok(())
    }

    /// Reads what must be a list, `level` lists deep.
    fn list(&mut self, raw: &'a RawValue, level: usize) -> Result<(), Rejected> {
        if !raw.get().starts_with('[') {
            return Err(self.rejected(raw, Problem::NotAList));
        }
        let items: Vec<&'a RawValue> = self.source.read(raw.get()).map_err(Rejected::Syntax)?;
        let length = items.len() as u64;
        match self.dims.get(level) {
            None if level >= DIMENSIONS => {
                return Err(self.rejected(raw, Problem::TooDeep { limit: DIMENSIONS }));
            }
            None => self.dims.push(length),
            Some(&expected) if expected != length => {
                return Err(self.ragged(raw, list_of(expected), list_of(length)));
            }
            Some(_) => {}
        }
        for (item, number) in items.into_iter().zip(0..) {
            self.index.push(number);
            self.item(item, level + 1)?;
            self.index.pop();
        }
        Ok(())
    }

    /// Reads a list or a value that is in `level` lists.
    fn item(&mut self, raw: &'a RawValue, level: usize) -> Result<(), Rejected> {
        let is_list = raw.get().starts_with('[');
        match self.depth {
            Some(depth) if is_list && level >= depth => {
                return Err(self.ragged(raw, "a number".to_owned(), "a list".to_owned()));
            }
            _ if is_list => return self.list(raw, level),
            Some(depth) if level < depth => {
                return Err(self.ragged(
                    raw,
                    list_of(self.dims[level]),
                    "a single value".to_owned(),
                ));
            }
            _ => {}
        }
        if self.dims.len() > level {
            // Lists came first, though without a value in them.
            return Err(self.ragged(raw, list_of(self.dims[level]), "a single value".to_owned()));
        }
        self.depth = Some(level);
        let word = self.value(raw)?;
        if word != BigUint::ZERO {
            self.words.insert(self.count, word);
        }
        self.count += 1;
        Ok(())
    }

    /// Reads a value.
    fn value(&mut self, raw: &'a RawValue) -> Result<BigUint, Rejected> {
        let user = &self.source.user[self.source.range(raw.get())];
        let text = if user.starts_with('"') {
            let text: Cow<'_, str> = self.source.read(raw.get()).map_err(Rejected::Syntax)?;
            text
        } else {
            Cow::Borrowed(user)
        };
        let at = |problem| Problem::At {
            index: self.index.clone(),
            problem: Box::new(problem),
        };
        match number::to_bits(&text, self.format) {
            Ok((word, None)) => Ok(word),
            Ok((word, Some(rounding))) => {
                let first = || {
                    let problem = Problem::NotExact {
                        text: text.clone().into_owned(),
                        format: self.format,
                        nearest: rounding.nearest,
                    };
                    (self.source.position(raw.get()), at(problem))
                };
                let (count, largest, _) = match &mut self.inexact {
                    Some(inexact) => inexact,
                    none => none.insert((0, 0.0, first())),
                };
                *count += 1;
                *largest = largest.max(rounding.error);
                Ok(word)
            }
            Err(problem) => Err(self.rejected(raw, at(problem))),
        }
    }

    fn rejected(&self, raw: &RawValue, problem: Problem) -> Rejected {
        Rejected::Value(self.source.position(raw.get()), problem)
    }

    fn ragged(&self, raw: &RawValue, expected: String, actual: String) -> Rejected {
        self.rejected(
            raw,
            Problem::Ragged {
                index: self.index.clone(),
                expected,
                actual,
            },
        )
    }
}

fn list_of(length: u64) -> String {
    format!("a list of {length}")
}

/// Writes a data file: innermost lists are on one line.
pub(crate) fn write(data: &Data) -> String {
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
                DataView::Listed(Rows {
                    memory,
                    dims: &memory.dims,
                    first: 0,
                })
            };
            let view = MemoryView {
                data,
                format: memory.format.to_text(),
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
    Listed(Rows<'a>),
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
struct Rows<'a> {
    memory: &'a Memory,
    dims: &'a [u64],
    /// The index of the first value.
    first: u64,
}

impl Serialize for Rows<'_> {
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
            [size, inner @ ..] => serializer.collect_seq((0..*size).map(|row| Rows {
                memory: self.memory,
                dims: inner,
                first: self.first + row * crate::size(inner),
            })),
        }
    }
}
