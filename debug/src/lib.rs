//! A recorded run as a debugger sees it: a position in it that goes forward and back, breakpoints, what is active and since when, and who
//! wrote a value last.
//!
//! Owns what each step means. The trace has the call tree of every cycle, so nothing is simulated for that; the values that somebody asks for
//! are observed in one more run of the design (`petal_profile::Again`). Prints nothing, and knows neither a prompt nor a protocol.

mod breakpoints;
mod recording;
mod session;
mod source;
mod subjects;
mod threads;
mod values;
mod variables;
mod why;

pub use breakpoints::{Breakpoint, Condition, Hit};
pub use recording::Recording;
pub use session::{Place, Session, Stop};
pub use source::SourcePlace;
pub use subjects::File;
pub use threads::{Frame, Thread};
pub use values::{DesignFile, Value, Written};
