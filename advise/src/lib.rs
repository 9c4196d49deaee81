//! Which changes of a program save cycles: finds them, and tries them, one by one and together.
//!
//! Owns what changes there are and what is certain of each ([`rewrites`]), the search, and how its result is written. In come a
//! program and a [`Workshop`], which knows how a program is compiled, simulated and compared; out comes an [`Advice`]. Touches no files,
//! and knows no pass but by its name.
//!
//! ```
//! use petal_advise::{Certainty, Observed, rewrites};
//! use petal_program::{Library, Program};
//!
//! let library = Library::new(&[])?;
//! let program = Program::read("../calyx-examples/while-comb.futil", &library)?;
//! // What the text alone tells: no run of the program was observed.
//! let found = rewrites(program, &Observed::default())?;
//! assert!(found.iter().any(|rewrite| rewrite.certainty == Certainty::Proved));
//! # Ok::<(), petal_program::ProgramError>(())
//! ```

mod advice;
mod change;
mod front;
mod hardware;
mod patch;
mod pipeline;
mod proof;
mod render;
mod rewrites;
mod sarif;
mod search;
mod variant;
mod workshop;

pub use advice::{Advice, DataSet, Defect, Item, NotAdvised, Point, Synthesized, Tried};
pub use change::{Change, Class};
pub use hardware::{Hardware, HardwareChange};
pub use pipeline::{Passes, pipelines};
pub use proof::{Looked, Piece, Verdict, pieces};
pub use rewrites::{Certainty, Edit, Observed, Rewrite, RewriteKind, rewrites};
pub use search::{Budget, Goal, Limit, advise, try_each};
pub use variant::Variant;
pub use workshop::{AdvisedStatement, Cost, Failure, Profile, Ran, Trial, Workshop};
