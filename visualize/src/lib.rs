//! What a user sees of a Petal trace: flame graphs, a timeline, tables, a summary, a page that holds
//! them all, and how two runs differ.
//!
//! Owns one file per output. An [`Analysis`] takes the events of a trace one by one and makes all outputs
//! of the whole run, a [`Timeline`] is written while they pass by: so a single pass over the trace feeds
//! them all, and memory grows with the number of different trees only. Knows metadata and traces, but not
//! where either came from. A folder that `petal run` wrote has both: `Metadata::read` reads one,
//! `TraceReader` of `petal-reconstruct` the other.
//!
//! ```
//! use petal_metadata::{Id, Metadata};
//! use petal_reconstruct::{Activity, CallTree, Cycle, Event, Instance, InstanceId, Node, Run, TreeId};
//! use petal_visualize::{Analysis, ControlView, Weighting};
//!
//! let metadata: Metadata = serde_json::from_str(r#"{ "version": 4, "petal": "", "calyx": "",
//!     "fingerprint": "", "verified": true, "pipeline": [], "files": [], "prefix": "petal_",
//!     "scope": ["toplevel", "main"], "main": 0, "components": [{ "name": "main", "cells": [],
//!     "groups": [], "control": [], "runs": [], "calls": [], "continuous": [], "threads": [], "compiled": [], "registers": [] }] }"#)?;
//! let main = Instance { component: metadata.main, parent: None };
//! let cell = Node::Cell { instance: InstanceId::from_index(0), formal: None, activity: Activity::Useful };
//! let tree = CallTree::from_preorder([(0, cell)]).expect("it is a tree");
//! let run = Run { tree: TreeId::from_index(0), start: Cycle::from_cycles(0), cycles: 6 };
//!
//! let mut analysis = Analysis::new(&metadata, ControlView::Source);
//! for event in [Event::Instance(main), Event::Tree(Box::new(tree)), Event::Run(run), Event::End { cycles: 6 }] {
//!     analysis.event(&event);
//! }
//! assert_eq!(analysis.flame(Weighting::Flat).folded(), "main 6\n");
//! assert!(analysis.cells().csv().contains("\nmain,main,0,1,6,6.00,6,"));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod activations;
mod analysis;
mod annotate;
mod baseline;
mod call_trees;
mod cells;
mod comparison;
mod control;
mod elements;
mod flame;
mod groups;
mod intervals;
mod ledger;
pub mod outputs;
mod profile;
mod report;
mod summary;
mod table;
mod text;
pub mod timeline;

pub use analysis::{Analysis, ControlView};
pub use annotate::{Cost, Line, listing};
pub use baseline::{
    Baseline, BaselineError, CellFigures, FileIdentity, FlameNode, Frame, GroupFigures, Place,
    StatementFigures,
};
pub use call_trees::{CallTrees, TreeFormat, TreeNodes};
pub use comparison::{
    CellRow, Change, Comparison, Culprit, Designs, Fate, GroupRow, Limit, StatementRow, Style,
    Subject, differential,
};
pub use flame::{Flame, Weighting};
pub use ledger::{ByKind, Ledger, Statement, StatementId};
pub use summary::{RankedGroup, RankedStatement, Summary, Verified};
pub use table::{Align, Column, RowId, Table, Value};
pub use text::{printable, thousands};
pub use timeline::{ChromeJson, Perfetto, Section, Timeline};
