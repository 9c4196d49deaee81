//! From a design to its profile: compiled with probes, simulated, followed, verified, and written to a folder that can be opened again.
//!
//! Goes in: [`Options`]. Comes out: a folder, and [`Profile`]. Prints nothing; a [`Reporter`] hears of what goes on.
//!
//! ```
//! # fn main() -> Result<(), petal_profile::Error> {
//! # let (design, out) = ("../calyx-examples/while-comb.futil", std::env::temp_dir().join("petal-profile-example"));
//! petal_profile::run(&petal_profile::Options::of(design), &out, &())?;
//! let profile = petal_profile::Profile::open(&out)?;
//! println!("{} of {} cycles are overhead", profile.summary.overhead_cycles, profile.summary.cycles);
//! # std::fs::remove_dir_all(&out).unwrap();
//! # Ok(())
//! # }
//! ```

mod again;
mod before;
pub mod cache;
mod compile;
mod error;
pub mod folder;
mod follow;
mod front_end;
pub mod interrupt;
mod latencies;
mod memories;
mod monitor;
pub mod observations;
mod observing;
mod options;
pub mod outputs;
pub mod part;
mod places;
mod profile;
mod reporter;
mod run;
mod synthesis;
#[cfg(feature = "tables")]
pub mod tables;
mod verify;
mod waveform;
mod waves;

pub use again::Again;
pub use before::Before;
pub use compile::{Compiled, instrument};
pub use error::{Error, ErrorKind, Unwritten};
pub use front_end::SourceRoots;
pub use latencies::{DECLARED, Timed};
pub use memories::Memories;
pub use monitor::{MonitorOptions, MonitoredDesign, monitor, read_monitor};
pub use observing::counters;
pub use options::{CYCLE_LIMIT, DesignOptions, ObserveOptions, Options, Simulator, design_name};
pub use places::Places;
pub use profile::{
    Profile, add_advice, add_what_if, no_front_end, period, write_area, write_flames, write_report,
};
pub use reporter::{EventStream, Reporter, Stage};
pub use run::{Profiled, run, run_in};
pub use synthesis::{synthesizable, synthesizable_without};
pub use verify::Verification;
pub use waveform::{WaveformOptions, profile_waveform};
pub use waves::waves;
