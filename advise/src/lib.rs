//! Which changes of a program save cycles: tries them, one by one and together.
//!
//! Owns the search and how its result is written. What changes there are, and what is certain of each, `petal-passes` knows;
//! how a program is compiled, simulated and compared, a [`Workshop`] knows. Touches no files.

mod advice;
mod change;
mod front;
mod patch;
mod pipeline;
mod render;
mod sarif;
mod search;
mod variant;
mod workshop;

pub use advice::{Advice, DataSet, Defect, Hardware, HardwareChange, Item, Tried};
pub use change::{Change, Class};
pub use front::Point;
pub use pipeline::{Passes, pipelines};
pub use search::{Budget, advise};
pub use variant::Variant;
pub use workshop::{AdvisedStatement, Failure, Profile, Ran, Trial, Workshop};
