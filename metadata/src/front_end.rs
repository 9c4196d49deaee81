//! The places in the files of a front end that parts of a design come from: what a generator of Calyx
//! wrote beside the statements that it made.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ids::{FrontEndFileId, Id as _, PositionId, VariableId};
use crate::variables::{Holder, Variable};

/// The files of a front end, and the places in them that the design's statements come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontEnd {
    /// The files.
    pub files: Vec<FrontEndFile>,
    /// The places.
    pub positions: Vec<Position>,
    /// Its variables, once for each place where one may lie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    /// What holds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
    /// The variables that hold at places, once for each set of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variable_sets: Vec<Vec<VariableId>>,
}

/// A file of a front end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontEndFile {
    /// Its path, as the design has it: absolute, or relative to where the front end ran.
    pub path: String,
    /// Its text, if it could be read, and was where texts may be taken from.
    pub text: Option<String>,
}

impl FrontEndFile {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        let path = self.path.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }

    /// Whether it is [a Calyx file](is_calyx).
    pub fn is_calyx(&self) -> bool {
        is_calyx(&self.path)
    }

    /// The line `number`, counted from 1, without the white space around it; `None` where the text is not
    /// known, or has no such line.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.text.as_ref()?.lines().nth(index).map(str::trim)
    }
}

/// Whether the file with this path is a Calyx file, and so no front end's: some tools write the lines of the
/// Calyx program, too, as a level of its own.
pub fn is_calyx(path: &str) -> bool {
    let extension = Path::new(path).extension();
    extension.is_some_and(|extension| extension == "futil")
}

/// A place in a file of a front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The file.
    pub file: FrontEndFileId,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line, counted from 1.
    pub end_line: u32,
    /// The variables that hold there: an index into [`FrontEnd::variable_sets`]; `None` if that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<u32>,
}

impl FrontEnd {
    /// Whether the design names no front end.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Whether there are places in files of a front end, and not only in the Calyx program's.
    pub fn has_lines(&self) -> bool {
        self.own_files().next().is_some()
    }

    /// The files that are its own: none in Calyx.
    pub fn own_files(&self) -> impl Iterator<Item = (FrontEndFileId, &FrontEndFile)> {
        let files = self.files.iter().enumerate();
        let files = files.map(|(at, file)| (FrontEndFileId::from_index(at), file));
        files.filter(|(_, file)| !file.is_calyx())
    }

    /// The place `id`.
    pub fn position(&self, id: PositionId) -> Position {
        self.positions[id.index()]
    }

    /// The place, of those that a part of the design has, that its front end tells of: the first that is not in a
    /// Calyx file.
    pub fn front(&self, positions: &[PositionId]) -> Option<Position> {
        let mut positions = positions.iter().map(|&id| self.position(id));
        positions.find(|position| !self.file(position.file).is_calyx())
    }

    /// The variable `id`.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.index()]
    }

    /// The variables that hold at a place.
    pub fn variables_at(&self, position: Position) -> &[VariableId] {
        let set = position.variables.map(|set| set as usize);
        set.map_or(&[], |set| &self.variable_sets[set])
    }

    /// The file `id`.
    pub fn file(&self, id: FrontEndFileId) -> &FrontEndFile {
        &self.files[id.index()]
    }
}
