//! What a user sees of a Petal trace: flame graphs, a timeline, tables, a summary, a page that holds
//! them all, and how two runs differ.
//!
//! Owns one file per output, and the list of the files of a profile ([`outputs`]). An [`Analysis`] takes the
//! events of a trace one by one and makes all outputs of the whole run, a [`Timeline`] is written while they
//! pass by: so a single pass over the trace feeds them all, and memory grows with the number of different
//! trees only. Knows metadata and traces, but not where either came from.
//!
//! From a folder that `petal run` wrote to a flame graph and a table:
//!
//! ```
//! use std::fs::File;
//! use std::io::BufReader;
//! use std::path::Path;
//!
//! use petal_metadata::Metadata;
//! use petal_reconstruct::TraceReader;
//! use petal_visualize::{Analysis, ControlView, Weighting};
//!
//! fn show(folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
//!     let metadata = Metadata::read(&folder.join("metadata.json"))?;
//!     let trace = BufReader::new(File::open(folder.join("trace.petal"))?);
//!     let mut analysis = Analysis::new(&metadata, ControlView::Source);
//!     for event in TraceReader::new(trace, &metadata.fingerprint)? {
//!         analysis.event(&event?);
//!     }
//!     let flame = analysis.flame(Weighting::Scaled);
//!     flame.svg("my design", File::create(folder.join("mine.svg"))?)?;
//!     Ok(analysis.cells().csv())
//! }
//! # use petal_metadata::Id;
//! # use petal_reconstruct::{Activity, CallTree, Cycle, Event, Instance, InstanceId, Node, Run, TraceWriter, TreeId};
//! # let folder = tempfile::tempdir()?;
//! # let mut metadata: Metadata = serde_json::from_str(r#"{ "version": 5, "petal": "", "calyx": "",
//! #     "fingerprint": "", "verified": true, "pipeline": [], "files": [], "prefix": "petal_",
//! #     "scope": ["toplevel", "main"], "main": 0, "components": [{ "name": "main", "cells": [],
//! #     "groups": [], "control": [], "runs": [], "calls": [], "threads": [], "compiled": [], "registers": [] }] }"#)?;
//! # metadata.seal();
//! # std::fs::write(folder.path().join("metadata.json"), metadata.to_json())?;
//! # let main = Instance { component: metadata.main, parent: None };
//! # let cell = Node::Cell { instance: InstanceId::from_index(0), formal: None, activity: Activity::Useful };
//! # let tree = CallTree::from_preorder([(0, cell)]).expect("it is a tree");
//! # let run = Run { tree: TreeId::from_index(0), start: Cycle::from_cycles(0), cycles: 6 };
//! # let mut trace = TraceWriter::new(File::create(folder.path().join("trace.petal"))?, &metadata.fingerprint)?;
//! # for event in [Event::Instance(main), Event::Tree(Box::new(tree)), Event::Run(run), Event::End { cycles: 6 }] {
//! #     trace.event(&event)?;
//! # }
//! # assert!(show(folder.path())?.contains("\nmain,main,0,1,6,6.00,6,"));
//! # assert!(std::fs::read_to_string(folder.path().join("mine.svg"))?.contains("<title>main (6"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activations;
mod analysis;
mod annotate;
mod baseline;
mod call_trees;
mod cells;
mod colors;
mod comparison;
mod control;
mod elements;
mod ending;
mod entries;
mod figures;
mod flame;
mod front_end;
mod graph;
mod groups;
mod hotspots;
mod independence;
mod intervals;
mod leaves;
mod ledger;
mod lines;
pub mod outputs;
mod part;
mod picture;
mod profile;
mod report;
mod selection;
pub mod stream;
mod summary;
mod table;
pub mod terms;
mod text;
pub mod timeline;
mod waits;
mod windows;

pub use analysis::{Analysis, ControlView};
pub use annotate::{Cost, Line, listing};
pub use baseline::{
    Baseline, BaselineError, CellFigures, CheckpointFigures, CounterFigures, FileIdentity,
    FlameNode, Frame, FrontEndPlace, GroupFigures, LatencyFigures, Place, StatementFigures,
};
pub use call_trees::{CallTrees, TreeFormat, TreeNodes};
pub use comparison::{
    Bound, CellRow, Change, CheckpointRow, Comparison, CounterRow, Culprit, Designs, Fate,
    GroupRow, Judgement, LatencyRow, Limit, Measure, Observations, Order, Runs, StatementRow,
    Style, Subject, differential,
};
pub use ending::{ActiveNode, Ending};
pub use figures::{Figures, FiguresError};
pub use flame::{Flame, Frames};
pub use front_end::front_end_file;
pub use graph::{ControlGraph, CriticalCycles, CriticalPath, Edge, Site, Step, StepKind, Way};
pub use hotspots::{GuideSection, Hotspot, HotspotKind};
pub use leaves::Weighting;
pub use ledger::{ByKind, Class, Ledger, Statement, StatementId};
pub use part::{Around, Part, PartError, Search, Survey, Wanted};
pub use selection::{Digest, Filter, Selection, SelectionError};
pub use summary::{Hardware, RankedGroup, SUMMARY_VERSION, Summary, Verified};
pub use table::{Align, Column, RowId, Table, Value};
pub use text::{printable, thousands};
pub use timeline::{ChromeJson, Overview, Perfetto, Section, Timeline};
