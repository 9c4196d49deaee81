//! Where parts of a program are written: in the Calyx files, and in the files of the front end that
//! these name.
//!
//! Owns the tables of both for the metadata. Knows neither how files are parsed nor what is in them.

use std::collections::HashMap;
use std::sync::Arc;

use calyx_ir as ir;
use calyx_utils::WithPos as _;
use petal_metadata::{
    FileId, FrontEnd, FrontEndFile, Id as _, Position, PositionId, SourceFile, Span, VariableId,
};

use crate::frontend::Texts;
use crate::source_info;
use crate::source_info::Positions;
use crate::source_info::variables::SourceVariable;

/// Where something is written.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// In a Calyx file, if the parser recorded it.
    pub span: Option<Span>,
    /// In files of the front end, in the order of the source.
    pub positions: Vec<PositionId>,
    /// The number of the checkpoint that it is, if it is marked as one.
    pub checkpoint: Option<u64>,
}

/// The attribute of `@pos(1)`, which newer compilers do not know.
fn position_attribute() -> ir::Attribute {
    let unknown = || ir::Attribute::Unknown("pos".into());
    "pos".parse().unwrap_or_else(|_| unknown())
}

/// The files that parts of a program are written in.
#[derive(Debug)]
pub struct Files {
    /// Of the program, as far as they were read already.
    texts: Arc<Texts>,
    calyx: Vec<File>,
    /// Those of the front end, with what is written in them. Its variables are those of [`Self::variables`], and still to be found in
    /// the compiled program.
    pub front_end: FrontEnd,
    /// The variables of the front end, once for each place where one may lie.
    pub variables: Vec<SourceVariable>,
    positions: HashMap<Position, PositionId>,
    variable_ids: HashMap<SourceVariable, VariableId>,
    /// By the Calyx file, and by their id there.
    variable_sets: HashMap<(String, u64), u32>,
}

/// A Calyx file that something is written in.
#[derive(Debug)]
struct File {
    path: String,
    text: String,
    /// Byte offsets at which lines begin.
    lines: Vec<usize>,
}

impl Files {
    /// Files that are not in `texts` are read when something is written in them.
    pub fn new(texts: Arc<Texts>) -> Self {
        Self {
            texts,
            calyx: Vec::new(),
            front_end: FrontEnd::default(),
            variables: Vec::new(),
            positions: HashMap::new(),
            variable_ids: HashMap::new(),
            variable_sets: HashMap::new(),
        }
    }

    /// The place of what has these attributes.
    pub fn place(&mut self, attributes: &ir::Attributes) -> Place {
        Place {
            span: self.span(attributes),
            positions: self.positions(attributes),
            checkpoint: attributes.get(ir::Attribute::Unknown("checkpoint".into())),
        }
    }

    /// The file and line of a place in a Calyx file.
    pub fn line(&self, place: &Place) -> Option<String> {
        let span = place.span?;
        let path = &self.calyx[span.file.index()].path;
        Some(format!("{path}:{}", span.line))
    }

    fn span(&mut self, attributes: &ir::Attributes) -> Option<Span> {
        let position = attributes.copy_span().into_option()?;
        let (path, start, end) = position.get_location();
        let index = match self.calyx.iter().position(|file| file.path == path) {
            Some(index) => index,
            None => {
                let text = match self.texts.calyx.get(path) {
                    Some(known) => known.text.clone(),
                    None => std::fs::read_to_string(path).ok()?,
                };
                let lines = std::iter::once(0)
                    .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                    .collect();
                self.calyx.push(File {
                    path: path.to_owned(),
                    text,
                    lines,
                });
                self.calyx.len() - 1
            }
        };
        let File { text, lines, .. } = &self.calyx[index];
        let line_of = |offset: usize| lines.partition_point(|&begin| begin <= offset);
        let line = line_of(start);
        let column = text.get(lines[line - 1]..start)?.chars().count() + 1;
        // The parser's spans may reach over white space behind the statement.
        let used = text.get(start..end)?.trim_end().len();
        let number = |value: usize| u32::try_from(value).ok();
        Some(Span {
            file: FileId::from_index(index),
            line: number(line)?,
            column: number(column)?,
            end_line: number(line_of(start + used.saturating_sub(1)))?,
        })
    }

    /// The places in the front end's files, without those that the tables of the Calyx file do not have.
    fn positions(&mut self, attributes: &ir::Attributes) -> Vec<PositionId> {
        let Some(position) = attributes.copy_span().into_option() else {
            return Vec::new();
        };
        let (path, start, _) = position.get_location();
        let texts = Arc::clone(&self.texts);
        let Some(text) = texts.calyx.get(path) else {
            return Vec::new();
        };
        let of_sets = text.of_sets.get(&start).into_iter().flatten();
        let of_sets = of_sets.filter_map(|id| text.positions.of_set(*id));
        let of_attribute = attributes.get(position_attribute());
        let of_attribute = of_attribute.and_then(|id| text.positions.of_attribute(id));
        let mut ids = Vec::new();
        for place in of_sets.chain(of_attribute) {
            let set = place
                .variables
                .map(|set| self.variable_set(path, set, &text.positions));
            let id = self.intern(place, set);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    /// The id of a place in the tables of the metadata.
    fn intern(
        &mut self,
        place: &source_info::SourcePosition,
        variables: Option<u32>,
    ) -> PositionId {
        let front_end = &mut self.front_end;
        let mut files = front_end.files.iter();
        let file = files.position(|file| file.path == place.file);
        let file = file.unwrap_or_else(|| {
            front_end.files.push(FrontEndFile {
                path: place.file.clone(),
                text: self.texts.front_end.get(&place.file).cloned(),
            });
            front_end.files.len() - 1
        });
        let position = Position {
            file: petal_metadata::FrontEndFileId::from_index(file),
            line: place.line,
            end_line: place.end_line,
            variables,
        };
        *self.positions.entry(position).or_insert_with(|| {
            front_end.positions.push(position);
            PositionId::from_index(front_end.positions.len() - 1)
        })
    }

    /// The number of a set of variables of the Calyx file `path` in the tables of the metadata.
    fn variable_set(&mut self, path: &str, set: u64, positions: &Positions) -> u32 {
        let sets = &mut self.front_end.variable_sets;
        let next = u32::try_from(sets.len()).unwrap_or(u32::MAX);
        let key = (path.to_owned(), set);
        let number = *self.variable_sets.entry(key).or_insert(next);
        if number == next {
            let variables = positions.variables.sets.get(&set).into_iter().flatten();
            let ids = variables.map(|variable| {
                let next = VariableId::from_index(self.variables.len());
                let id = *self.variable_ids.entry(variable.clone()).or_insert(next);
                if id == next {
                    self.variables.push(variable.clone());
                }
                id
            });
            sets.push(ids.collect());
        }
        number
    }

    /// The table of files. `root` is the one that holds the entry point.
    pub fn table(&self, root: Option<FileId>) -> Vec<SourceFile> {
        self.calyx
            .iter()
            .enumerate()
            .map(|(index, File { path, text, .. })| SourceFile {
                text: text.clone(),
                name: std::path::Path::new(path)
                    .file_name()
                    .map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned()),
                root: root.is_none_or(|root| root.index() == index),
            })
            .collect()
    }
}
