//! The tables that petal writes.
//!
//! Owns columns, values and rows, how a table is written as text, Markdown, CSV and JSON, which rows and columns of it a
//! user asks for, and what the words in petal's outputs mean. In goes what a room above counted; out comes text. Holds
//! no run: of a design it knows the numbers of statements and the kinds of overhead alone.

mod columns;
pub mod selection;
pub mod table;
pub mod terms;
pub mod text;

pub use columns::Columns;
pub use selection::{Digest, Filter, Selection, SelectionError};
pub use table::{Column, Kind, RowId, Table, Value};
pub use text::{printable, thousands};
