//! What to profile, and how.

use std::path::{Path, PathBuf};

use petal_analysis::{ControlView, Period};
use petal_observe::Request;
use petal_passes::Pipeline;
use petal_program::Source;

use crate::error::Error;
use crate::latencies::Timed;

/// Cycles after which a run ends unless the user says otherwise.
pub const CYCLE_LIMIT: u64 = 100_000_000;

/// A design, and how to compile it.
#[derive(Debug, Clone)]
pub struct DesignOptions {
    /// The Calyx program.
    pub source: Source,
    /// The passes: `all`, `no-opt`, or a list of passes and aliases with commas. Default: `all`.
    pub passes: String,
    /// Passes and aliases to leave out.
    pub disabled_passes: Vec<String>,
    /// Options of passes, as `PASS:OPTION` or `PASS:OPTION=VALUE`.
    pub pass_options: Vec<String>,
    /// Folders to look for imports in, before the standard library.
    pub libraries: Vec<PathBuf>,
    /// Multipliers and dividers that are to have another latency, which only petal's own simulator has. Default: none.
    pub latencies: Vec<Timed>,
    /// Folders from which the texts of front-end files may be taken, too: `DIR`, or `FROM=TO` for those whose paths begin with `FROM`.
    pub source_roots: Vec<String>,
    /// Whether to make sure that the design runs alike without probes. Default: yes.
    pub is_verified: bool,
    /// Whether a design is refused that the pass `papercut` warns of. Default: no.
    pub is_strict: bool,
}

impl DesignOptions {
    /// The defaults for a design.
    pub fn new(source: impl Into<Source>) -> Self {
        Self {
            source: source.into(),
            passes: petal_passes::ALL.to_owned(),
            disabled_passes: Vec::new(),
            pass_options: Vec::new(),
            libraries: Vec::new(),
            latencies: Vec::new(),
            source_roots: Vec::new(),
            is_verified: true,
            is_strict: false,
        }
    }

    /// The passes that the design goes through.
    ///
    /// # Errors
    /// When there is no such pass or option.
    pub fn pipeline(&self) -> Result<Pipeline, Error> {
        let pipeline = Pipeline::parse(&self.passes, &self.disabled_passes)?;
        let pipeline = pipeline.with_options(&self.pass_options)?;
        Ok(if self.is_strict {
            pipeline.strict()
        } else {
            pipeline
        })
    }

    /// The design's file, if it is in one.
    pub fn file(&self) -> Option<&Path> {
        match &self.source {
            Source::File(path) => Some(path),
            Source::Text { .. } | Source::Edited { .. } => None,
        }
    }
}

/// What simulates a design.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Simulator {
    /// petal's own; Verilator if the design has Verilog of its own.
    #[default]
    Any,
    /// petal's own, which needs nothing installed.
    Embedded,
    /// This Verilator, or the one on `PATH`, and a C++ compiler.
    Verilator(Option<PathBuf>),
}

impl Simulator {
    /// The Verilator that is asked for by its path.
    pub(crate) fn verilator(&self) -> Option<&Path> {
        match self {
            Self::Verilator(program) => program.as_deref(),
            Self::Any | Self::Embedded => None,
        }
    }
}

/// What to observe in a run.
#[derive(Debug, Clone, Default)]
pub struct ObserveOptions {
    /// The file that tells. Default: `DESIGN.observe.toml` beside the design, if there is one.
    pub file: Option<PathBuf>,
    /// What is observed beside it.
    pub request: Request,
    /// Whether reads of ports that nothing drives are looked for.
    pub undriven: bool,
}

/// A run to profile.
#[derive(Debug, Clone)]
pub struct Options {
    /// The design.
    pub design: DesignOptions,
    /// What the profile is called. Default: as the design's file, without its extension.
    pub name: Option<String>,
    /// The file with the contents of the memories. Default: `DESIGN.futil.data` if there is one, else they are zero.
    pub data: Option<PathBuf>,
    /// Whether data are refused that the format of their memory does not have. Default: no, they are rounded.
    pub is_exact: bool,
    /// What simulates the design.
    pub simulator: Simulator,
    /// Cycles after which the run ends, with the profile up to there. Default: [`CYCLE_LIMIT`].
    pub cycle_limit: u64,
    /// The memory that the simulation may take, in bytes, and so may what is observed. Default: half of the machine's.
    pub max_memory: Option<u64>,
    /// Whether a run is profiled, too, that the design or an interrupt ends. Default: no.
    pub is_partial: bool,
    /// Whether what people look at is written: timelines, pictures, tables. Default: yes; else only what is computed with: the trace, the summary,
    /// what the probes mean, and the memories.
    pub is_drawn: bool,
    /// Where all signals go as FST, if anywhere; petal's own simulator writes it.
    pub fst: Option<PathBuf>,
    /// Where they go as VCD, if anywhere.
    pub vcd: Option<PathBuf>,
    /// Which control statements outputs show. Default: all.
    pub control: ControlView,
    /// What to observe.
    pub observe: ObserveOptions,
    /// The period of the clock, which makes cycles time. Default: what place and route found of the design in the folder, if anything.
    pub period: Option<Period>,
    /// Where Verilator's builds are kept. Default: the user's cache.
    pub cache: Option<PathBuf>,
}

impl Options {
    /// The defaults for a design.
    pub fn new(design: DesignOptions) -> Self {
        Self {
            design,
            name: None,
            data: None,
            is_exact: false,
            simulator: Simulator::default(),
            cycle_limit: CYCLE_LIMIT,
            max_memory: None,
            is_partial: false,
            is_drawn: true,
            fst: None,
            vcd: None,
            control: ControlView::Source,
            observe: ObserveOptions::default(),
            period: None,
            cache: None,
        }
    }

    /// The defaults for a design in a file.
    pub fn of(design: impl AsRef<Path>) -> Self {
        Self::new(DesignOptions::new(design.as_ref()))
    }

    /// What the profile is called.
    pub fn name(&self) -> String {
        let default = || design_name(self.design.source.name());
        self.name.clone().unwrap_or_else(default)
    }

    /// The data file of the run, if there is one.
    pub fn data_file(&self) -> Option<PathBuf> {
        let beside = self.beside().filter(|beside| beside.exists());
        self.data.clone().or(beside)
    }

    /// Where the data file is if nothing else is said; none is beside a text.
    pub(crate) fn beside(&self) -> Option<PathBuf> {
        let mut name = self.design.file()?.to_owned().into_os_string();
        name.push(".data");
        Some(PathBuf::from(name))
    }

    /// The memory that the simulation may take, in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.max_memory.unwrap_or_else(memory_limit)
    }
}

/// What a simulation may take unless the user says otherwise, in bytes: half of the machine's memory.
pub(crate) fn memory_limit() -> u64 {
    /// Where the system does not tell.
    const UNKNOWN: u64 = 8 << 30;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use nix::unistd::{SysconfVar, sysconf};
        let ask = |what| u64::try_from(sysconf(what).ok()??).ok();
        let pages = ask(SysconfVar::_PHYS_PAGES);
        let bytes = pages.and_then(|pages| pages.checked_mul(ask(SysconfVar::PAGE_SIZE)?));
        bytes.map_or(UNKNOWN, |bytes| bytes / 2)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    UNKNOWN
}

/// The name of a design: its file's without the extension, if that is a name.
pub fn design_name(path: &Path) -> String {
    let name = match path.file_stem() {
        // Of `...futil`: elsewhere these are folders.
        Some(stem) if stem == "." || stem == ".." => path.file_name(),
        stem => stem,
    };
    name.map_or_else(
        || "design".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
