//! What the cycles of a run went to.
//!
//! Owns the rules by which cycles are counted: what every cycle went to (`ledger`), how often and how long everything was
//! active (`activations`), who waited for whom (`waits`), the critical path (`critical`), what the run would take if something took less
//! (`replay`) and what the uses of each memory allow (`resources`), and what is worth a look (`hotspots`).
//! In go the events of a trace, one by one, into an [`Analysis`]; out come its tables and the [`Summary`]. Memory grows with the
//! number of different call trees, not with cycles. Knows metadata and traces, but neither where they came from nor how they
//! are drawn.

pub mod activations;
mod analysis;
pub mod annotate;
pub mod cells;
pub mod clock;
pub mod control;
pub mod critical;
pub mod dataflow;
mod durations;
pub mod elements;
pub mod ending;
mod entries;
pub mod figures;
pub mod front_end;
pub mod groups;
mod guide;
pub mod hotspots;
mod independence;
pub mod intervals;
mod iterations;
pub mod leaves;
pub mod ledger;
pub mod lines;
pub mod loops;
pub mod order;
pub mod parts;
mod plans;
pub mod profile;
pub mod races;
pub mod replay;
pub mod resources;
pub mod sites;
pub mod sources;
pub mod summary;
mod sums;
pub mod waits;
pub mod windows;

pub use analysis::{Analysis, ControlView};
pub use annotate::{Cost, Line, Margin, listing};
pub use clock::{Clock, ClockSource, Period};
pub use critical::{CriticalCycles, CriticalPath, Site};
pub use ending::{ActiveNode, Ending, WaitingGroup};
pub use figures::{Figures, FiguresError};
pub use front_end::front_end_file;
pub use guide::GuideSection;
pub use hotspots::{Hotspot, HotspotKind, RankedHotspot, is_unfinished};
pub use iterations::{Alike, Iterations};
pub use leaves::Weighting;
pub use ledger::{ByKind, Class, Ledger, Statement, StatementId};
pub use summary::{Hardware, RankedGroup, SUMMARY_VERSION, Summary, Verified, have_other_data};
