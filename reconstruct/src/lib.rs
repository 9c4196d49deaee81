//! From probe values to the Petal trace: one call tree for every cycle of a run.
//!
//! Owns the model of call trees, the readers of probe values (VCD and FST files), the rules
//! that make call trees of them, and the trace file. Knows metadata and waveforms, but neither
//! Calyx nor any picture or table that is made of a trace.
//!
//! From a waveform to call trees:
//!
//! ```
//! use petal_metadata::Metadata;
//! use petal_reconstruct::{Event, FrameLabels, Id as _, Reconstruction, VcdSource};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let metadata = Metadata::read("tests/data/tour.metadata.json".as_ref())?;
//! let reconstruction = Reconstruction::new(&metadata);
//! let waveform = std::io::BufReader::new(std::fs::File::open("tests/data/tour.vcd")?);
//! let mut source = VcdSource::new(waveform, reconstruction.signals())?;
//! let labels = FrameLabels::new(&metadata);
//! let (mut instances, mut trees) = (Vec::new(), Vec::new());
//! let cycles = reconstruction.run(&mut source, &mut |event| -> Result<(), String> {
//!     match event {
//!         Event::Instance(instance) => instances.push(instance),
//!         Event::Tree(tree) => trees.push(tree),
//!         Event::Run(run) => {
//!             let tree = labels.render(&trees[run.tree.index()], &instances);
//!             println!("from cycle {}, {} cycles:\n{tree}", run.start.cycles(), run.cycles);
//!         }
//!         _ => {}
//!     }
//!     Ok(())
//! })?;
//! # assert_eq!((cycles > 20, trees.len() > 10), (true, true));
//! # Ok(())
//! # }
//! ```

mod again;
mod ahead;
mod batch;
mod blocks;
mod codec;
mod compiled_view;
mod computed;
mod continuous;
mod contradictions;
mod cycles;
mod engine;
mod fan_out;
mod fst_source;
mod kept;
mod labels;
mod model;
mod observer;
mod sampler;
mod signals;
mod source;
mod undriven;
mod value;
mod variables;
mod vcd_source;
pub mod violations;
mod wanted;

pub use again::{Again, Item};
pub use ahead::Ahead;
pub use batch::{Batch, BatchCycle, ListNumber};
pub use codec::{TraceError, TraceReader, TraceWriter, is_trace};
pub use compiled_view::CompiledView;
pub use computed::{Computation, Computed};
pub use continuous::with_continuous;
pub use engine::{Progress, ReconstructError, Reconstruction};
pub use fan_out::Events;
pub use fst_source::{FstHeader, FstSource, is_fst};
pub use kept::{Held, KeptTrace, Marks};
pub use labels::{FrameKind, FrameLabels, actual_path, instance_path};
pub use model::{
    Activity, CallTree, Charge, Cycle, Event, Gap, Instance, InstanceId, Node, NodeId, Overhead,
    RegisterUpdate, Run, TreeId, Warning,
};
pub use observer::{Next, Observer};
pub use signals::{Signal, SignalTable, SlotId};
pub use source::{Change, ProbeSource, SourceError};
pub use undriven::UndrivenRead;
pub use value::{Value, ValueOp};
pub use variables::{LiveVariables, cells_to};
pub use vcd_source::{VcdHeader, VcdSource};

pub use petal_metadata::{Id, ids};
