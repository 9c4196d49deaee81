//! What a user sees of a Petal trace: flame graphs, a timeline, tables, a summary, a page that holds
//! them all, and how two runs differ.
//!
//! Owns one file per output. Each output takes the events of a trace one by one, so a single pass
//! over the trace feeds them all, and memory grows with the number of different trees only. Knows
//! metadata and traces, but not where either came from.

mod activations;
mod annotate;
mod baseline;
mod cells;
mod comparison;
mod control;
mod flame;
mod groups;
mod keys;
mod ledger;
mod profile;
mod report;
mod spans;
mod summary;
mod table;
mod text;
mod timeline;

pub use activations::{Activations, Durations};
pub use annotate::{Cost, Line, annotate};
pub use baseline::{
    Baseline, BaselineError, CellFigures, FileIdentity, FlameNode, Frame, GroupFigures, Place,
    StatementFigures,
};
pub use cells::cells;
pub use comparison::{
    CellRow, Change, Comparison, Culprit, Designs, Fate, GroupRow, Limit, StatementRow, Style,
    Subject, differential,
};
pub use control::{control, control_per_instance};
pub use flame::{Flame, Weighting};
pub use groups::groups;
pub use keys::{Item, Key};
pub use ledger::{ByKind, Ledger, Statement, StatementId};
pub use profile::Profile;
pub use report::{Order, Report};
pub use summary::{RankedGroup, RankedStatement, Summary, Verified};
pub use table::{Align, Column, RowId, Table, Value};
pub use text::{printable, thousands};
pub use timeline::{
    Begin, ChromeJson, Content, Detail, End, Format, Lane, LaneId, Moment, Perfetto, Section,
    Slice, SliceId, Timeline,
};
