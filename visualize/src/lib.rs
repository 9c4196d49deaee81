//! What a user sees of a Petal trace: flame graphs, a timeline, tables, a summary
//! and a page that holds them all.
//!
//! Owns one file per output. Each output takes the events of a trace one by one, so a single pass
//! over the trace feeds them all, and memory grows with the number of different trees only. Knows
//! metadata and traces, but not where either came from.

mod activations;
mod annotate;
mod cells;
mod control;
mod flame;
mod groups;
mod ledger;
mod profile;
mod report;
mod spans;
mod summary;
mod table;
mod timeline;

pub use activations::{Activations, Durations};
pub use annotate::{Cost, Line, annotate};
pub use cells::cells;
pub use control::control;
pub use flame::{Flame, Weighting};
pub use groups::groups;
pub use ledger::{ByKind, Ledger, Statement, StatementId};
pub use profile::Profile;
pub use report::{Order, Report};
pub use spans::{Item, Key};
pub use summary::{RankedGroup, RankedStatement, Summary};
pub use table::{Align, Column, Table, Value, thousands};
pub use timeline::{Section, Timeline};
