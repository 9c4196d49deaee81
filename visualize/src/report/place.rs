//! The lines of the source to which a report leads.

use petal_analysis::front_end::FrontEndLine;
use petal_metadata::{Id, Metadata, PositionId, Span};

/// A line of the source: the file's number in the page, and the line's, from 1. The page has the Calyx files first,
/// then those of the front end.
pub(crate) type SourceLine = (usize, u32);

/// The line on which something begins in the Calyx program.
pub(crate) fn source_line(span: Option<Span>) -> Option<SourceLine> {
    span.map(|span| (span.file.index(), span.line))
}

/// The line of the front end that something comes from.
pub(crate) fn front_end_line(metadata: &Metadata, positions: &[PositionId]) -> Option<SourceLine> {
    let position = metadata.front_end.front(positions)?;
    Some((metadata.files.len() + position.file.index(), position.line))
}

/// A line of the front end, if it is written.
pub(crate) fn written_line(metadata: &Metadata, line: FrontEndLine) -> Option<SourceLine> {
    match line {
        FrontEndLine::At(file, line) => Some((metadata.files.len() + file.index(), line)),
        FrontEndLine::Untold | FrontEndLine::Compiler => None,
    }
}
