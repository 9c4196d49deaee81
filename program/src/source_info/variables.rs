//! The variables that a front end tells of: where its Calyx program holds them, of which types they are, and at
//! which positions they hold.
//!
//! Owns the tables `MEMORY_LOCATIONS`, `VARIABLE_ASSIGNMENTS`, `POSITION_STATE_MAP` and `TYPES`. They are taken as a
//! whole or not at all: what is wrong in one may change what another one means. Knows nothing of the cells of the program.

use std::collections::{HashMap, HashSet};

use petal_metadata::Type;

use super::Flaw;
use super::types::{self, Types};
use crate::syntax::lexer::{Kind, Lexer, Token};

/// A variable in one of the places where it may lie.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceVariable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub of: Type,
    /// Whether all of its parts lie in one place, one after the other; if not, each has a place of its own.
    pub is_packed: bool,
    /// Where it lies.
    pub locations: Vec<Location>,
}

/// A register, a memory or a word of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The names of cells that lead to it, from the main component on.
    pub path: Vec<String>,
    /// The indices of a word; none for a register or a whole memory.
    pub address: Vec<u64>,
}

/// The variables of a Calyx file.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// By the ids of sets.
    pub sets: HashMap<u64, Vec<SourceVariable>>,
    /// The set of each position that has one, by the ids of both.
    pub of_positions: HashMap<u64, u64>,
}

/// What an assignment says of a variable, before all tables are read.
struct Assignment<'a> {
    at: usize,
    name: &'a str,
    of: types::Named,
    is_packed: bool,
    locations: Vec<(usize, u64)>,
}

impl Variables {
    /// Reads the tables, which begin at the offset `from` of `text` and end at `end`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(text: &str, from: usize, end: usize) -> Result<Self, Flaw> {
        let mut reader = Reader::new(text, from, end);
        reader.header("MEMORY_LOCATIONS")?;
        let locations = reader.locations()?;
        reader.header("VARIABLE_ASSIGNMENTS")?;
        let assigned = reader.sets()?;
        reader.header("POSITION_STATE_MAP")?;
        let states = reader.states()?;
        reader.header("TYPES")?;
        let types = Types::read(&mut reader)?;
        if let Some(token) = reader.next() {
            return Err(reader.unexpected(token, "an entry of `TYPES`, or the end of the table"));
        }
        let mut sets = HashMap::new();
        for (id, assignments) in assigned {
            let variables = assignments.into_iter();
            let variables = variables.map(|of| of.variable(&locations, &types));
            sets.insert(id, variables.collect::<Result<_, _>>()?);
        }
        let mut of_positions = HashMap::new();
        for (at, position, set) in states {
            if !sets.contains_key(&set) {
                let message = format!(
                    "position {position} has the variables {set}, which are not under `VARIABLE_ASSIGNMENTS`"
                );
                return Err(Flaw { at, message });
            }
            if of_positions.insert(position, set).is_some() {
                let message = format!("position {position} has its variables twice");
                return Err(Flaw { at, message });
            }
        }
        types.check()?;
        Ok(Self { sets, of_positions })
    }
}

impl Assignment<'_> {
    fn variable(
        self,
        locations: &HashMap<u64, Location>,
        types: &Types<'_>,
    ) -> Result<SourceVariable, Flaw> {
        let Self {
            at,
            name,
            of,
            is_packed,
            locations: ids,
        } = self;
        let mut known = Vec::new();
        for (at, id) in ids {
            let Some(location) = locations.get(&id) else {
                let message = format!(
                    "variable `{name}` is in memory location {id}, which is not under `MEMORY_LOCATIONS`"
                );
                return Err(Flaw { at, message });
            };
            known.push(location.clone());
        }
        let of = types.resolve(at, &of)?;
        let parts = of.widths().len();
        if !is_packed && parts != known.len() {
            let message = format!(
                "variable `{name}` is split into {parts} parts, but has {} memory locations",
                known.len()
            );
            return Err(Flaw { at, message });
        }
        Ok(SourceVariable {
            name: name.to_owned(),
            of,
            is_packed,
            locations: known,
        })
    }
}

/// Reads tokens of the tables.
pub(super) struct Reader<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    end: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, from: usize, end: usize) -> Self {
        let mut lexer = Lexer::new(text);
        lexer.jump(from);
        Self { text, lexer, end }
    }

    pub fn peek(&self) -> Option<Token> {
        self.lexer.peek().filter(|token| token.end <= self.end)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek()?;
        self.lexer.jump(token.end);
        Some(token)
    }

    pub fn of(&self, token: Token) -> &'a str {
        &self.text[token.start..token.end]
    }

    /// Goes on if the next token is this mark.
    pub fn skip(&mut self, mark: u8) -> bool {
        let found = self
            .peek()
            .is_some_and(|token| token.kind == Kind::Mark(mark));
        if found {
            self.next();
        }
        found
    }

    pub fn mark(&mut self, mark: u8) -> Result<(), Flaw> {
        if self.skip(mark) {
            return Ok(());
        }
        let wanted = format!("`{}`", char::from(mark));
        Err(self.missing(&wanted))
    }

    /// What is wrong if the next token is not what is wanted.
    pub fn missing(&self, wanted: &str) -> Flaw {
        match self.peek() {
            Some(token) => self.unexpected(token, wanted),
            None => Flaw {
                at: self.end,
                message: format!("there is no {wanted} before the end of the table"),
            },
        }
    }

    fn unexpected(&self, token: Token, wanted: &str) -> Flaw {
        let found: String = self.of(token).chars().take(40).collect();
        Flaw {
            at: token.start,
            message: format!("`{found}` is not {wanted}"),
        }
    }

    fn header(&mut self, header: &str) -> Result<(), Flaw> {
        match self.peek() {
            Some(token) if self.of(token).eq_ignore_ascii_case(header) => {
                self.next();
                Ok(())
            }
            _ => Err(self.missing(&format!(
                "`{header}`, which must follow the tables before it"
            ))),
        }
    }

    /// Whether an entry follows: `ID: …`.
    pub fn has_entry(&self) -> bool {
        let next = self.peek().map(|token| self.of(token));
        next.is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// A number, with its offset.
    pub fn number(&mut self, wanted: &str) -> Result<(usize, u64), Flaw> {
        let token = self
            .peek()
            .filter(|token| self.of(*token).bytes().all(|byte| byte.is_ascii_digit()));
        let number = token.and_then(|token| Some((token.start, self.of(token).parse().ok()?)));
        // Ids and sizes have 32 bits.
        match number.filter(|(_, number)| u32::try_from(*number).is_ok()) {
            Some(number) => {
                self.next();
                Ok(number)
            }
            None => Err(self.missing(wanted)),
        }
    }

    /// The id of an entry, with its offset.
    pub fn id(&mut self) -> Result<(usize, u64), Flaw> {
        let id = self.number("an id: a number")?;
        self.mark(b':')?;
        Ok(id)
    }

    /// A word that begins like an identifier.
    fn identifier(&mut self) -> Option<&'a str> {
        let token = self.peek().filter(|token| token.kind == Kind::Word)?;
        let word = self.of(token);
        let begins = word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        begins.then(|| self.next())?;
        Some(word)
    }

    /// A string, without its quotes.
    fn string(&mut self) -> Option<&'a str> {
        let token = self.peek().filter(|token| token.kind == Kind::Text)?;
        let inside = self.of(token).strip_prefix('"')?.strip_suffix('"')?;
        self.next();
        Some(inside)
    }

    /// A name, as an identifier or a string.
    pub fn name(&mut self, wanted: &str) -> Result<&'a str, Flaw> {
        match self.identifier().or_else(|| self.string()) {
            Some(name) => Ok(name),
            None => Err(self.missing(wanted)),
        }
    }

    /// Whether a word with a `;` behind it follows.
    pub fn is_array(&self) -> bool {
        let mut ahead = self.lexer.clone();
        ahead.next();
        ahead
            .next()
            .is_some_and(|token| token.kind == Kind::Mark(b';'))
    }

    fn locations(&mut self) -> Result<HashMap<u64, Location>, Flaw> {
        let mut locations = HashMap::new();
        while self.has_entry() {
            let (at, id) = self.id()?;
            let first = self.name("the path of a cell, `main.x`")?;
            let mut path: Vec<String> = first.split('.').map(str::to_owned).collect();
            while self.skip(b'.') {
                let Some(name) = self.identifier() else {
                    return Err(self.missing("the name of a cell"));
                };
                path.push(name.to_owned());
            }
            let mut address = Vec::new();
            if self.skip(b'[') {
                loop {
                    address.push(self.number("an index of a memory")?.1);
                    self.skip(b',');
                    if self.skip(b']') {
                        break;
                    }
                }
            }
            if locations.insert(id, Location { path, address }).is_some() {
                let message = format!("memory location {id} is there twice");
                return Err(Flaw { at, message });
            }
        }
        Ok(locations)
    }

    fn sets(&mut self) -> Result<Vec<(u64, Vec<Assignment<'a>>)>, Flaw> {
        let mut sets = Vec::new();
        let mut known = HashSet::new();
        while self.has_entry() {
            let (at, id) = self.id()?;
            if !known.insert(id) {
                let message = format!("the variables {id} are there twice");
                return Err(Flaw { at, message });
            }
            self.mark(b'{')?;
            let mut names = HashSet::new();
            let mut assignments = Vec::new();
            loop {
                let assignment = self.assignment()?;
                if !names.insert(assignment.name) {
                    let message = format!("variable `{}` is twice in {id}", assignment.name);
                    let at = assignment.at;
                    return Err(Flaw { at, message });
                }
                assignments.push(assignment);
                if self.skip(b'}') {
                    break;
                }
            }
            sets.push((id, assignments));
        }
        Ok(sets)
    }

    /// `NAME: ty TYPE, packed ID` or `NAME: ty TYPE, split ID …`.
    fn assignment(&mut self) -> Result<Assignment<'a>, Flaw> {
        let at = self.peek().map_or(self.end, |token| token.start);
        let name = self.name("the name of a variable, or `}`")?;
        self.mark(b':')?;
        self.keyword("ty")?;
        let of = types::Named::read(self)?;
        self.mark(b',')?;
        let is_packed = self.keyword("packed").is_ok();
        if !is_packed && self.keyword("split").is_err() {
            return Err(self.missing("`packed` or `split`"));
        }
        let mut locations = vec![self.number("the id of a memory location")?];
        while !is_packed && self.has_entry() {
            locations.push(self.number("the id of a memory location")?);
        }
        Ok(Assignment {
            at,
            name,
            of,
            is_packed,
            locations,
        })
    }

    fn keyword(&mut self, word: &str) -> Result<(), Flaw> {
        match self.peek() {
            Some(token) if self.of(token).eq_ignore_ascii_case(word) => {
                self.next();
                Ok(())
            }
            _ => Err(self.missing(&format!("`{word}`"))),
        }
    }

    /// The offset, the position and the set of each entry.
    fn states(&mut self) -> Result<Vec<(usize, u64, u64)>, Flaw> {
        let mut states = Vec::new();
        while self.has_entry() {
            let (at, position) = self.id()?;
            let (_, set) = self.number("the id of a set of variables")?;
            states.push((at, position, set));
        }
        Ok(states)
    }
}
