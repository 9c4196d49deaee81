//! The Calyx data format: JSON with an object for each memory, its values in nested lists.
//!
//! Owns how it is read. Numbers are kept as text until [`crate::number`] reads
//! them, so that none passes through a floating-point number.

mod source;
mod writer;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use num_bigint::BigUint;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use self::source::{Source, quote_special};
use crate::Error;
use crate::format::{Format, FormatText};
use crate::number;
use crate::problem::{DataProblem, Position, Problem};
use crate::{Data, Memory, Rounded, Words};

/// Calyx has memories of up to this many dimensions.
const DIMENSIONS: usize = 4;

impl Data {
    /// Reads the Calyx data format. `origin` is the file's name in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] if the text is not JSON or not an object of memories, and [`Error::Data`] for values that are not
    /// numbers, are out of the range of the memory's own format or do not form a rectangle. Values between two numbers
    /// of a format with a binary point are [rounded](Self::rounded) to the nearest, halves to the even one.
    pub fn parse(text: &str, origin: &Path) -> Result<Self, Error> {
        parse(text, origin, None)
    }

    /// Reads some of the memories that a run left, as any tool around Calyx writes them: like [`Self::parse`], but lists may stand without a
    /// format, of unsigned whole numbers of up to 64 bits, and all memories may be in a member `memories`, as with what fud2's `dat` has.
    ///
    /// # Errors
    ///
    /// As of [`Self::parse`], for the memories whose names are `wanted`.
    pub fn parse_left(
        text: &str,
        origin: &Path,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        parse(text, origin, Some(&wanted))
    }
}

/// Reads a data file, or those memories of a run that are wanted.
fn parse(text: &str, origin: &Path, wanted: Option<&dyn Fn(&str) -> bool>) -> Result<Data, Error> {
    let quoted = quote_special(text);
    let source = Source {
        text: &quoted,
        user: text,
        origin,
    };
    let mut file: Members<'_> = source.read(source.text)?;
    if let Some(wanted) = wanted {
        let is_wanted = |(name, _): &(String, _)| wanted(name);
        let inner = file.0.iter().find(|(name, _)| name == "memories");
        if let Some((_, inner)) = inner.filter(|_| !file.0.iter().any(is_wanted)) {
            file = source.read(inner.get())?;
        }
        file.0.retain(is_wanted);
    }
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
        let (list, format) = match raw.get().starts_with('[') {
            true if wanted.is_some() => (raw, Format::unsigned(64)),
            true => {
                let message = "a list of values does not tell their `format`; write `{\"data\": [...], \"format\": {...}}`";
                return Err(source.error(position, named(message.to_owned())));
            }
            false => entry(&source, raw, named)?,
        };
        let mut values = Values::new(&source, format);
        let read = if list.get().starts_with('{') {
            values.object(list)
        } else {
            values.list(list, 0)
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

/// The values and the format of a memory.
fn entry<'a>(
    source: &Source<'a>,
    raw: &'a RawValue,
    named: impl Fn(String) -> String + Copy,
) -> Result<(&'a RawValue, Format), Error> {
    let entry: Entry<'a> = source.read_or(raw.get(), named)?;
    let format: FormatText = source.read_or(entry.format.get(), named)?;
    let format = Format::try_from(format)
        .map_err(|message| source.error(source.position(entry.format.get()), named(message)))?;
    Ok((entry.data, format))
}

/// Whether Calyx allows the name. It becomes the name of a file, so this also keeps files in their folder.
fn is_cell_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\'');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(inner)
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
