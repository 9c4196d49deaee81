//! What a user sees of a run: flame graphs, timelines, the control-flow graph, the report.
//!
//! Owns one file per output, and the list of the files of a profile ([`outputs`]). In goes an
//! [`Analysis`](petal_analysis::Analysis); out come the bytes of files. A [`Timeline`] is written while the events of a
//! trace pass by: so a single pass over the trace feeds them all. Knows metadata and traces, but not where either came from.
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
//! use petal_analysis::{Analysis, ControlView, Weighting};
//! use petal_visualize::{Flame, Frames};
//!
//! fn show(folder: &Path) -> Result<String, Box<dyn std::error::Error>> {
//!     let metadata = Metadata::read(&folder.join("metadata.json"))?;
//!     let trace = BufReader::new(File::open(folder.join("trace.petal"))?);
//!     let mut analysis = Analysis::new(&metadata, ControlView::Source);
//!     for event in TraceReader::new(trace, &metadata.fingerprint)? {
//!         analysis.event(&event?);
//!     }
//!     let flame = Flame::new(&analysis, Weighting::Scaled, Frames::Calyx);
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

mod call_trees;
mod colors;
mod flame;
mod graph;
mod links;
pub mod outputs;
mod page;
mod part;
pub mod picture;
mod report;
pub mod stream;
pub mod timeline;
mod waves;

pub use call_trees::{CallTrees, TreeFormat, TreeNodes};
pub use flame::{Flame, Frames};
pub use graph::{ControlGraph, Detail, Edge, Step, StepKind, Way};
pub use page::Page;
pub use part::{Around, Part, PartError, Search, Survey, excerpts};
pub use report::{Area, report};
pub use timeline::{ChromeJson, Overview, Perfetto, Section, Timeline};
pub use waves::{Signals, Waves};
