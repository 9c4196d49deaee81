//! The lines of the source to which a report leads.

use petal_metadata::{FileId, Span};

/// A line of the source: file, and number from 1.
pub(crate) type SourceLine = (FileId, u32);

/// The line on which something begins.
pub(crate) fn source_line(span: Option<Span>) -> Option<SourceLine> {
    span.map(|span| (span.file, span.line))
}
