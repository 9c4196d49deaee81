//! The tables that petal writes.
//!
//! Owns columns, values, rows and tracks, how a table is written as text, Markdown, CSV and JSON, which rows and columns of it a
//! user asks for, and what the words in petal's outputs mean. In goes what a room above counted; out comes text. Holds
//! no run: of a design it knows the numbers of statements and the kinds of overhead alone.

#[cfg(feature = "arrow")]
pub mod arrow;
mod column;
mod columns;
mod screen;
pub mod selection;
pub mod style;
pub mod table;
pub mod terms;
pub mod text;
mod track;
mod value;

pub use column::{Column, Kind, Prose, column_name};
pub use columns::Columns;
pub use screen::Screen;
pub use selection::{Digest, Filter, Selection, SelectionError};
pub use table::{RowId, Table, csv};
pub use text::{counted, grouped, listed, printable, thousands};
pub use track::{Track, TrackContent};
pub use value::Value;
