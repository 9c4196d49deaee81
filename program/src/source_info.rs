//! The places in the files of a front end that a Calyx file names for its statements.
//!
//! Owns the tables `sourceinfo #{ … }#` and the older `metadata #{ … }#`, and how a position id leads
//! through them to a file and lines, and to the variables that hold there. Knows neither how positions are attached to statements nor the
//! files of the front end.

mod types;
pub mod variables;

use std::collections::HashMap;
use std::ops::Range;

use self::variables::Variables;

/// A place in a front end's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourcePosition {
    /// The file, as the table names it.
    pub file: String,
    /// The first line, counted from 1.
    pub line: u32,
    /// The last line, counted from 1.
    pub end_line: u32,
    /// The id of the set of variables that hold there.
    pub variables: Option<u64>,
}

/// What is wrong with a table, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// The offset in the Calyx file.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

/// The positions of one Calyx file.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// By the ids that sets of positions have.
    current: HashMap<u64, SourcePosition>,
    /// By the ids that `@pos(1)` has: the older table.
    older: HashMap<u64, SourcePosition>,
    /// The variables that hold at them.
    pub variables: Variables,
}

impl Positions {
    /// Reads the tables of the file `text`, which are in these ranges of it. What is broken in them is
    /// left out, and returned.
    pub fn read(
        text: &str,
        source_info: &[Range<usize>],
        metadata: Option<&Range<usize>>,
    ) -> (Self, Vec<Flaw>) {
        let mut reader = Reader::default();
        for table in source_info {
            reader.table(text, table);
        }
        let Reader {
            files,
            positions,
            variables,
            mut flaws,
            ..
        } = reader;
        let mut current = HashMap::new();
        for (id, (at, file, line, end_line)) in positions {
            let Some(path) = files.get(&file) else {
                flaws.push(Flaw {
                    at,
                    message: format!("position {id} is in file {file}, which is not under `FILES`"),
                });
                continue;
            };
            let place = SourcePosition {
                file: path.clone(),
                line,
                end_line,
                variables: variables.of_positions.get(&id).copied(),
            };
            current.insert(id, place);
        }
        let older = metadata.map(|table| lines(text, table).filter_map(|(_, line)| older(line)));
        let older = older.into_iter().flatten().collect();
        flaws.sort_by_key(|flaw| flaw.at);
        let positions = Self {
            current,
            older,
            variables,
        };
        (positions, flaws)
    }

    /// The paths of the files that places are in.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let places = self.current.values().chain(self.older.values());
        places.map(|place| &*place.file)
    }

    /// The place of an id of a set of positions.
    pub fn of_set(&self, id: u64) -> Option<&SourcePosition> {
        self.current.get(&id)
    }

    /// The place of the id in `@pos(id)`. The older table holds any text for it, which may name none.
    pub fn of_attribute(&self, id: u64) -> Option<&SourcePosition> {
        self.older.get(&id).or_else(|| self.current.get(&id))
    }
}

/// The lines of a table that are not empty, without comments, with their offsets in the file.
fn lines<'a>(text: &'a str, table: &Range<usize>) -> impl Iterator<Item = (usize, &'a str)> {
    let begin = text.as_ptr() as usize;
    let lines = text[table.clone()].lines();
    let lines = lines.map(|line| {
        let mut comments = line.match_indices("//").map(|(at, _)| &line[..at]);
        let begins = |before: &&str| before.is_empty() || before.ends_with(char::is_whitespace);
        comments.find(begins).unwrap_or(line).trim()
    });
    lines
        .filter(|line| !line.is_empty())
        .map(move |line| (line.as_ptr() as usize - begin, line))
}

/// An entry of the older table: `ID: FILE:LINE`, also with a column, or as MLIR's `loc("FILE":LINE:COLUMN)`.
fn older(line: &str) -> Option<(u64, SourcePosition)> {
    let (id, text) = line.split_once(':')?;
    let id = id.trim().parse().ok()?;
    let text = text.trim();
    let text = text
        .strip_prefix("loc(")
        .and_then(|text| text.strip_suffix(')'))
        .unwrap_or(text);
    let (mut file, number) = text.rsplit_once(':')?;
    let mut number: u32 = number.parse().ok()?;
    if let Some((before, line)) = file.rsplit_once(':')
        && let Ok(line) = line.parse()
    {
        (file, number) = (before, line);
    }
    let file = file.trim_matches('"');
    let is_place = !file.is_empty() && number > 0;
    is_place.then(|| {
        let place = SourcePosition {
            file: file.to_owned(),
            line: number,
            end_line: number,
            variables: None,
        };
        (id, place)
    })
}

#[derive(Debug, Default)]
struct Reader {
    section: Section,
    files: HashMap<u64, String>,
    /// Of each id the offset, the file, and the first and last line.
    positions: HashMap<u64, (usize, u64, u32, u32)>,
    variables: Variables,
    flaws: Vec<Flaw>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Section {
    Files,
    Positions,
    /// Before the first table.
    #[default]
    None,
}

impl Reader {
    fn table(&mut self, text: &str, table: &Range<usize>) {
        self.section = Section::None;
        for (at, line) in lines(text, table) {
            if !self.line(at, line) {
                match Variables::read(text, at, table.end) {
                    Ok(variables) => self.variables = variables,
                    Err(Flaw { at, message }) => self.flaws.push(Flaw {
                        at,
                        message: format!("{message}; no variable is shown"),
                    }),
                }
                return;
            }
        }
    }

    /// Reads a line of `FILES` or `POSITIONS`; `false` if it begins another table.
    fn line(&mut self, at: usize, line: &str) -> bool {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = line.find(char::is_whitespace).unwrap_or(line.len());
            self.section = match line[..end].to_ascii_uppercase().as_str() {
                "FILES" => Section::Files,
                "POSITIONS" => Section::Positions,
                // No name of a table, but an entry with a wrong id.
                word if word.contains(':') => {
                    self.entry(at, line);
                    return true;
                }
                _ => return false,
            };
            let rest = line[end..].trim_start();
            if !rest.is_empty() {
                self.entry(at + line.len() - rest.len(), rest);
            }
        } else {
            self.entry(at, line);
        }
        true
    }

    fn entry(&mut self, at: usize, line: &str) {
        let entry = line.split_once(':');
        let entry = entry.and_then(|(id, rest)| Some((id.trim().parse().ok()?, rest.trim())));
        let (form, done) = match self.section {
            Section::None => return,
            Section::Files => ("a file, `ID: PATH`", self.file(entry)),
            Section::Positions => (
                "a position, `ID: FILE LINE` or `ID: FILE LINE:ENDLINE`",
                self.position(at, entry),
            ),
        };
        let message = match done {
            Some(true) => return,
            Some(false) => format!("the id of `{line}` is taken"),
            None => format!("`{line}` is not {form}"),
        };
        self.flaws.push(Flaw { at, message });
    }

    /// Whether the id is new; `None` if it is no file.
    fn file(&mut self, entry: Option<(u64, &str)>) -> Option<bool> {
        let (id, path) = entry.filter(|(_, path)| !path.is_empty())?;
        let is_new = !self.files.contains_key(&id);
        self.files.entry(id).or_insert_with(|| path.to_owned());
        Some(is_new)
    }

    /// Whether the id is new; `None` if it is no position.
    fn position(&mut self, at: usize, entry: Option<(u64, &str)>) -> Option<bool> {
        let (id, rest) = entry?;
        let (file, lines) = rest.split_once(char::is_whitespace)?;
        let lines = lines.trim();
        let (line, end_line) = lines.split_once(':').unwrap_or((lines, lines));
        let file = file.parse().ok()?;
        let line: u32 = line.parse().ok()?;
        let end_line = end_line.parse().ok()?;
        if line == 0 || end_line < line {
            return None;
        }
        let is_new = !self.positions.contains_key(&id);
        let position = (at, file, line, end_line);
        self.positions.entry(id).or_insert(position);
        Some(is_new)
    }
}
