//! The types of a front end: the table `TYPES`, whose types may use one another.
//!
//! Owns that every type that is used is there, that none contains itself, and how large one may be.

use std::collections::HashMap;

use petal_metadata::{MAX_DEPTH, MAX_PARTS, Type};

use super::Flaw;
use super::variables::Reader;
use crate::syntax::lexer::Kind;

/// A type where it is used.
#[derive(Debug, Clone)]
pub(super) enum Named {
    /// A simple one.
    Simple(Type),
    /// One of the table, by its id.
    Id(u64),
}

/// A type of the table.
enum Definition<'a> {
    Array(Named, u32),
    Struct(Vec<(&'a str, Named)>),
}

/// The table.
pub(super) struct Types<'a>(HashMap<u64, (usize, Definition<'a>)>);

impl Named {
    /// `u8`, `i8`, `b8`, `bool` or an id.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Flaw> {
        const WANTED: &str = "a type: `u8`, `i8`, `b8`, `bool` or the id of one";
        if reader.has_entry() {
            return Ok(Self::Id(reader.number(WANTED)?.1));
        }
        let Some(token) = reader.peek().filter(|token| token.kind == Kind::Word) else {
            return Err(reader.missing(WANTED));
        };
        let word = reader.of(token);
        let width = word
            .get(1..)
            .filter(|width| !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit()));
        let width = width.and_then(|width| width.parse::<u32>().ok());
        let simple = match (word.as_bytes()[0], width) {
            (b'u', Some(width)) => Type::Unsigned(width),
            (b'i', Some(width)) => Type::Signed(width),
            (b'b', Some(width)) => Type::Bits(width),
            _ if word.eq_ignore_ascii_case("bool") => Type::Bool,
            _ => return Err(reader.missing(WANTED)),
        };
        reader.name(WANTED)?;
        Ok(Self::Simple(simple))
    }
}

impl<'a> Types<'a> {
    /// Reads the entries: `ID: { TYPE; LENGTH }` and `ID: { NAME: TYPE, … }`.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, Flaw> {
        let mut types = HashMap::new();
        while reader.has_entry() {
            let (at, id) = reader.id()?;
            reader.mark(b'{')?;
            let definition = Definition::read(reader)?;
            reader.mark(b'}')?;
            if types.insert(id, (at, definition)).is_some() {
                let message = format!("type {id} is there twice");
                return Err(Flaw { at, message });
            }
        }
        Ok(Self(types))
    }

    /// Whether all that types of the table use is there.
    pub fn check(&self) -> Result<(), Flaw> {
        for (&id, &(at, _)) in &self.0 {
            self.resolve(at, &Named::Id(id))?;
        }
        Ok(())
    }

    /// A type that is used at an offset.
    pub fn resolve(&self, at: usize, named: &Named) -> Result<Type, Flaw> {
        let of = self.within(at, named, 0)?;
        Self::fits(at, of.size())?;
        Ok(of)
    }

    fn fits(at: usize, size: u64) -> Result<(), Flaw> {
        if size <= MAX_PARTS {
            return Ok(());
        }
        let message = format!("a type has more than {MAX_PARTS} parts");
        Err(Flaw { at, message })
    }

    fn within(&self, at: usize, named: &Named, depth: usize) -> Result<Type, Flaw> {
        let id = match named {
            Named::Simple(of) => return Ok(of.clone()),
            Named::Id(id) => id,
        };
        let Some((defined, definition)) = self.0.get(id) else {
            let message = format!("type {id} is not under `TYPES`");
            return Err(Flaw { at, message });
        };
        if depth >= MAX_DEPTH {
            let message = format!("type {id} contains itself, or nests deeper than {MAX_DEPTH}");
            return Err(Flaw { at, message });
        }
        match definition {
            Definition::Array(of, length) => {
                let of = self.within(*defined, of, depth + 1)?;
                Ok(Type::Array(Box::new(of), *length))
            }
            Definition::Struct(fields) => {
                let mut types = Vec::new();
                let mut size = 0;
                for (name, of) in fields {
                    let of = self.within(*defined, of, depth + 1)?;
                    // Before the next one: two of the last type each time make too many to have.
                    size += of.size();
                    Self::fits(*defined, size)?;
                    types.push(((*name).to_owned(), of));
                }
                Ok(Type::Struct(types))
            }
        }
    }
}

impl<'a> Definition<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Flaw> {
        let mut fields = Vec::new();
        loop {
            // Fields of a tuple have numbers, as types of arrays may have.
            let number = reader.has_entry().then(|| reader.peek()).flatten();
            let name = match number {
                Some(token) => {
                    let (_, id) = reader.number("the name of a field, or a type")?;
                    if fields.is_empty() && reader.skip(b';') {
                        return Self::array(Named::Id(id), reader);
                    }
                    reader.of(token)
                }
                None if fields.is_empty() && reader.is_array() => {
                    let of = Named::read(reader)?;
                    reader.mark(b';')?;
                    return Self::array(of, reader);
                }
                None => reader.name("the name of a field, or a type")?,
            };
            reader.mark(b':')?;
            fields.push((name, Named::read(reader)?));
            if !reader.skip(b',') {
                return Ok(Self::Struct(fields));
            }
        }
    }

    fn array(of: Named, reader: &mut Reader<'_>) -> Result<Self, Flaw> {
        let (_, length) = reader.number("the length of an array")?;
        // Numbers have 32 bits.
        Ok(Self::Array(of, u32::try_from(length).unwrap_or(u32::MAX)))
    }
}
