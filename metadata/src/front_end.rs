//! The places in the files of a front end that parts of a design come from: what a generator of Calyx
//! wrote beside the statements that it made.

use serde::{Deserialize, Serialize};

use crate::ids::{FrontEndFileId, Id as _, PositionId};

/// The files of a front end, and the places in them that the design's statements come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontEnd {
    /// The paths of the files, as the design has them: absolute, or relative to where the front end ran.
    pub files: Vec<String>,
    /// The places.
    pub positions: Vec<Position>,
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
}

impl FrontEnd {
    /// Whether the design names no front end.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The place `id`.
    pub fn position(&self, id: PositionId) -> Position {
        self.positions[id.index()]
    }

    /// The path of the file `id`.
    pub fn file(&self, id: FrontEndFileId) -> &str {
        &self.files[id.index()]
    }
}
