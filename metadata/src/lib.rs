//! The contract between instrumentation and reconstruction: the description of a design, as one versioned
//! JSON file.
//!
//! Owns the schema ([`Metadata`]), the names of probes ([`ProbeName`]) and how a control node is
//! written in outputs ([`labels`]); and what a monitor on the chip computes ([`Monitor`]). Knows neither Calyx nor waveforms.

mod circuit;
mod consistency;
mod dependences;
mod file;
mod front_end;
mod ids;
pub mod labels;
mod nearest;
mod probe;
mod reads;
mod schedule;
mod schema;
mod site;
mod variables;

pub use circuit::{
    Circuit, Gate, LatencyWord, Monitor, MonitorMemory, Part as CircuitPart, Trigger,
};
pub use dependences::{Contention, Flow, Flows, Sequence, Step};
pub use file::{MetadataError, VERSION};
pub use front_end::{FrontEnd, FrontEndFile, Position, is_calyx};
pub use ids::{
    CallId, CellId, CompiledId, ComponentId, ControlId, FileId, FrontEndFileId, GroupId,
    GroupRunId, HolderId, Id, PositionId, RegisterId, ThreadId, VariableId,
};
pub use nearest::{nearest, nearest_of, question};
pub use probe::{ParseProbeNameError, ProbeKind, ProbeName, ProbePrefix};
pub use reads::{Read, ReadSource, Reads};
pub use schedule::Schedule;
pub use schema::compiled::{
    Arm, CompiledGroup, CompiledKind, ControlRegister, FsmState, RegisterKind,
};
pub use schema::runs::{Call, Callee, GroupRun, Lookup, Purpose, RunRole};
pub use schema::{
    Binding, Cell, CellKind, Component, ControlKind, ControlNode, Group, GroupKind, Metadata,
    Origin, SourceFile, Span, Thread,
};
pub use site::SiteId;
pub use variables::{Holder, MAX_DEPTH, MAX_PARTS, Part, Type, Variable};
