//! What a caller chooses for the build of a design.
//!
//! Owns the choices only: what is made of them is in [`crate::build`].

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::testbench::TopModule;

/// Whether an executable can write a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// It cannot; it is faster.
    Off,
    /// It can write the signals of the design as VCD.
    Vcd,
}

/// How well the C++ compiler optimises a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimisation {
    /// Not at all (`-O0`): for tests, whose designs run for a few cycles.
    Debug,
    /// As much as pays off (`-Og`, and nothing for code that runs once): for users.
    ///
    /// Measured with GCC 12 on a design of 60 components, 4.4 MB of C++ that runs each cycle, times relative to `-O0`:
    ///
    /// | level | compiling | run | run with trace |
    /// | ----- | --------- | --- | -------------- |
    /// | `-O0` | 1 | 1 | 1 |
    /// | `-Og` | 1.8 | 0.32 | 0.20 |
    /// | `-O1` | 3.4 | 0.31 | 0.16 |
    /// | `-Os` | 6.0 | 0.35 | 0.31 |
    /// | `-O2` | 13.6 | 0.30 | 0.17 |
    ///
    /// For a design of a few cycles only compiling counts, and there the levels differ by less than a tenth of a second.
    Fast,
    /// As much as the compiler can (`-O3`): for measurements.
    Full,
}

impl Optimisation {
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Debug => "-O0",
            Self::Fast => "-Og",
            Self::Full => "-O3",
        }
    }
}

/// What Verilator reads besides the file of a design.
#[derive(Debug, Clone, Default)]
pub struct MoreVerilog {
    /// The folders in which to look for included files, the first one first.
    pub folders: Vec<PathBuf>,
    /// Files with modules for those who name them.
    pub modules: Vec<PathBuf>,
    /// All files that are read: a design is built again if one of them changes.
    pub files: Vec<PathBuf>,
}

/// How to build a design.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Whether the executable can write a trace.
    pub trace: Trace,
    /// Names of the signals that a trace holds, in whichever component; it then has one time a cycle, at which `tick` of
    /// the top module changes. `None`: all signals, at each edge of the clock.
    pub signals: Option<Vec<String>>,
    /// How well to optimise the design.
    pub optimisation: Optimisation,
    /// How many compiler processes may run at a time.
    pub jobs: NonZeroUsize,
    /// The design's top module.
    pub top: TopModule,
    /// What the design's Verilog needs besides itself.
    pub more: MoreVerilog,
    /// What becomes true when the user asks to stop: it ends the build, and every run of what is built.
    pub interrupt: Arc<AtomicBool>,
}

impl BuildOptions {
    /// Whether a trace has one time a cycle.
    pub(crate) fn ticks(&self) -> bool {
        self.signals.is_some()
    }
}

impl Default for BuildOptions {
    /// A fast build with a trace of all signals, two jobs and the usual port names.
    fn default() -> Self {
        Self {
            trace: Trace::Vcd,
            signals: None,
            optimisation: Optimisation::Fast,
            jobs: NonZeroUsize::MIN.saturating_add(1),
            top: TopModule::default(),
            more: MoreVerilog::default(),
            interrupt: Arc::default(),
        }
    }
}
