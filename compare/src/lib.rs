//! How two runs differ.
//!
//! Owns the [`Baseline`], which has the figures of one run by source identity, and the [`Comparison`] of two. In go the analyses
//! of two runs, or files of baselines; out come tables, a differential flame graph, a page and a verdict for CI. Nothing is
//! matched by a guess.

mod baseline;
mod comparison;
mod page;
mod since;

pub use baseline::{
    AccessFigures, Baseline, BaselineError, CellFigures, CheckpointFigures, CounterFigures,
    FileIdentity, FlameNode, Frame, FrontEndPlace, GroupFigures, LatencyFigures, SourcePlace,
    StatementFigures, SynthesisFigures, ValueFigures,
};
pub use comparison::{
    AccessRow, Bound, CellRow, Change, CheckpointRow, Comparison, CounterRow, Culprit, Designs,
    Fate, GroupRow, Judgement, LatencyRow, Limit, Measure, Observations, Order, OwnRow, Runs,
    StatementRow, Style, Subject, SynthesisChange, differential,
};
pub use page::{Language, Source, page};
pub use since::Since;
