//! From probe values to the Petal trace: one call tree for every cycle of a run.
//!
//! Owns the model of call trees, the readers of probe values (a VCD file is the first), the rules
//! that make call trees of them, and the trace file. Knows metadata and waveforms, but neither
//! Calyx nor any picture or table that is made of a trace.

mod ahead;
mod blocks;
pub mod check;
mod codec;
mod compiled_view;
mod continuous;
mod contradictions;
mod engine;
mod labels;
mod model;
mod signals;
mod source;
mod vcd_source;

pub use ahead::Ahead;
pub use codec::{TraceError, TraceReader, TraceWriter, is_trace};
pub use compiled_view::CompiledView;
pub use continuous::with_continuous;
pub use engine::{ReconstructError, Reconstruction};
pub use labels::{FrameKind, FrameLabels, actual_path, instance_path};
pub use model::{
    Activity, CallTree, Charge, Cycle, Event, Instance, InstanceId, Node, NodeId, Overhead,
    RegisterUpdate, Run, TreeId, Warning,
};
pub use signals::{Signal, SignalTable, SlotId};
pub use source::{Change, ProbeSource, SourceError};
pub use vcd_source::VcdSource;

pub use petal_metadata::{Id, ids};
