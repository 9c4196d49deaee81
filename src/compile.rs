//! From the command line's design to instrumented Verilog and its memories.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use nix::unistd::{dup, dup2_stdout};
use petal_data::{Data, MemoryLayout};
use petal_embedded::Simulation;
use petal_metadata::Metadata;
use petal_passes::{Design, Library, Parsed, PassesError, Pipeline, Program, Source};
use petal_verilator::MoreVerilog;

use crate::args::{DesignArgs, RunArgs};
use crate::call;
use crate::design;
use crate::failure::Failure;
use crate::front_end::SourceRoots;
use crate::interrupt;
use crate::places::Places;
use crate::verify::Verification;

/// A design with probes.
pub struct Compiled {
    pub design: Design,
    pub metadata: Metadata,
    /// What the user should know of the source.
    pub notes: Vec<String>,
    /// Whether the plain design is the same, unless nobody wants to know.
    pub verification: Option<Verification>,
}

/// What a simulation may take unless the user says otherwise, in bytes: half of the machine's memory.
pub fn memory_limit() -> u64 {
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

/// Compiles a design with probes, and begins to compile the plain one. A simulation may take `limit`
/// bytes of memory, if there is to be one. Fails if what passes write, or what `places` has, would take
/// the place of a source.
pub fn instrument(
    args: &DesignArgs,
    limit: Option<u64>,
    places: &mut Places,
) -> Result<Compiled, Failure> {
    let source = design::source(&args.design)?;
    if let Source::File(path) = &source {
        places.reads("the design", path)?;
    }
    for file in Pipeline::files_of(&args.extra_opt)? {
        places.writes("-x", &file)?;
    }
    let pipeline = Pipeline::parse(&args.passes, &args.disable_pass)?;
    let pipeline = pipeline.with_options(&args.extra_opt)?;
    let library = Library::new(&args.library)?;
    // A pass can't be stopped, and some take long.
    let _ending = interrupt::Ending::at_once([library.path()]);
    let mut parsed = Parsed::read(source.clone(), &library)?;
    for file in parsed.files() {
        places.reads("the import", file)?;
    }
    let mut notes = parsed.notes().to_vec();
    notes.extend(without_effect(args, &parsed)?);
    let file = matches!(source, Source::File(_)).then_some(&*args.design);
    let roots = SourceRoots::new(file, &args.source_root)?;
    let (texts, problems) = roots.read(parsed.front_end_files());
    parsed.set_front_end(texts);
    notes.extend(problems);
    let program = parsed.program()?;
    if let Some(limit) = limit {
        program.check_size(limit)?;
    }
    let aside = Aside::new();
    let verification = if args.unverified {
        None
    } else {
        let plain = Parsed::read(source.clone(), &library)?;
        Some(Verification::begin(
            plain,
            pipeline.clone(),
            library.path(),
            aside.clone(),
        )?)
    };
    let pipeline = match verification {
        Some(_) => pipeline.verified(),
        None => pipeline,
    };
    let (design, metadata) = match petal_passes::instrument(program, &pipeline) {
        Ok(compiled) => compiled,
        // Where the compiler fails without petal's passes, too, they only met what it had left.
        Err(error @ PassesError::Bug { .. }) => {
            let plain = match verification {
                Some(verification) => verification.failure(),
                None => Program::read(source, &library)
                    .and_then(|program| petal_passes::compile(program, &pipeline))
                    .err()
                    .map(Failure::from),
            };
            return Err(plain.unwrap_or_else(|| error.into()));
        }
        Err(error) => return Err(error.into()),
    };
    interrupt::check()?;
    Ok(Compiled {
        design,
        metadata,
        notes,
        verification,
    })
}

/// What a simulator reads besides a design's Verilog.
pub fn more_verilog(design: &Design) -> MoreVerilog {
    let includes = design.includes.clone();
    MoreVerilog {
        folders: includes.folders,
        modules: includes.modules,
        files: includes.files,
    }
}

/// What the user should know of options that change nothing.
fn without_effect(args: &DesignArgs, parsed: &Parsed) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    let all = Pipeline::parse(&args.passes, &[])?;
    for pass in &args.disable_pass {
        if Pipeline::parse(&args.passes, slice::from_ref(pass))? == all {
            notes.push(format!(
                "`--disable-pass {pass}` has no effect: it is not among the passes of `{}`",
                args.passes
            ));
        }
    }
    if !args.source_root.is_empty() && parsed.front_end_files().is_empty() {
        notes.push(
            "`--source-root` has no effect: the design names no lines of a front end's files"
                .to_owned(),
        );
    }
    Ok(notes)
}

/// While it lives, what is printed to standard output goes to standard error: passes print there if
/// an option tells them to, and what petal prints must stay whole. Inside of another program, that one's
/// output is left alone.
pub struct Aside(Option<OwnedFd>);

impl Aside {
    pub fn new() -> Arc<Self> {
        if call::is_called() {
            return Arc::new(Self(None));
        }
        // Without a standard output there is nothing to keep whole.
        let kept = dup(io::stdout()).ok();
        let moved = kept.filter(|_| dup2_stdout(io::stderr()).is_ok());
        Arc::new(Self(moved))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        if let Some(kept) = &self.0 {
            let _ = dup2_stdout(kept);
        }
    }
}

/// The data file of a run, if there is one.
pub fn data_file(args: &RunArgs) -> Option<PathBuf> {
    let beside = beside(args).filter(|beside| beside.exists());
    args.data.clone().or(beside)
}

/// Where the data file of a design is if nothing else is said; none is beside standard input.
fn beside(args: &RunArgs) -> Option<PathBuf> {
    let path = &args.design.design;
    let mut name = path.clone().into_os_string();
    name.push(".data");
    (!design::is_standard_input(path)).then(|| PathBuf::from(name))
}

/// The contents of a design's memories, and how they get to the simulation and back.
pub struct Memories {
    data: Data,
    /// The names of those memories that Verilog calls otherwise.
    instances: BTreeMap<String, String>,
    /// What the user should know of them.
    pub notes: Vec<String>,
    /// What the run lacks.
    pub warning: Option<String>,
}

impl Memories {
    /// The contents before the run: from the data file, or zeros.
    pub fn of(args: &RunArgs, design: &Design) -> Result<Self, Failure> {
        let layouts = layouts(design)?;
        let instances = instances(design);
        let path = data_file(args);
        let Some(path) = path else {
            // Without its folder: a profile does not depend on where the design lies.
            let beside = beside(args);
            let beside = beside.as_deref().and_then(Path::file_name);
            let beside = beside.map(|name| format!(", or as {}", Path::new(name).display()));
            let warning = format!(
                "no data file: all memories start at zero (give one with --data{})",
                beside.unwrap_or_default()
            );
            return Ok(Self {
                data: Data::zeros(&layouts),
                instances,
                notes: Vec::new(),
                warning: (!layouts.is_empty()).then_some(warning),
            });
        };
        let text =
            petal_files::read_to_string(&path).map_err(Failure::io("read the data file", &path))?;
        let mut data = Data::parse(&text, &path)?;
        data.check(&layouts)?;
        if args.exact {
            data.check_exact()?;
        }
        let notes = data.rounded().iter().map(|rounded| {
            let values = match rounded.count {
                1 => "one value was".to_owned(),
                count => format!("{count} values were"),
            };
            format!(
                "memory `{}`: {values} rounded to the format in {}; the largest error is {:.2e} (`--exact` refuses such data)",
                rounded.first.memory,
                path.display(),
                rounded.largest_error
            )
        });
        Ok(Self {
            notes: notes.collect(),
            warning: None,
            data,
            instances,
        })
    }

    /// The same contents for another design with the same memories.
    pub fn in_design(&self, design: &Design) -> Self {
        Self {
            data: self.data.clone(),
            instances: instances(design),
            notes: Vec::new(),
            warning: None,
        }
    }

    /// Writes what the simulation loads.
    pub fn write(&self, dir: &Path) -> Result<(), Failure> {
        Ok(self.data.renamed(&self.instances).write_dat(dir)?)
    }

    /// Reads what the simulation stored: the text of a data file.
    pub fn read(&self, dir: &Path) -> Result<String, Failure> {
        let after = self.data.renamed(&self.instances).read_out(dir)?;
        Ok(self.text(&after))
    }

    /// Writes the contents to the embedded simulator.
    pub fn load(&self, simulation: &mut Simulation) {
        for memory in self.data.renamed(&self.instances).memories() {
            simulation.write_memory(memory.name(), memory.words());
        }
    }

    /// The lowest 64 bits of those words of a memory that are not 0 before the run, each with its index in row-major order.
    pub fn words(&self, instance: &str) -> Vec<(u64, u64)> {
        let renamed = self.data.renamed(&self.instances);
        let mut memories = renamed.memories().iter();
        let memory = memories.find(|memory| memory.name() == instance);
        let words = memory.into_iter().flat_map(petal_data::Memory::words);
        words
            .filter_map(|(&index, word)| Some((index, word.iter_u64_digits().next()?)))
            .collect()
    }

    /// Reads the contents from the embedded simulator: the text of a data file.
    pub fn store(&self, simulation: &mut Simulation) -> String {
        let before = self.data.renamed(&self.instances);
        self.text(&before.filled(|name| simulation.read_memory(name)))
    }

    /// The text of a data file for contents with the hardware's names.
    fn text(&self, contents: &Data) -> String {
        let names = self
            .instances
            .iter()
            .map(|(name, instance)| (instance.clone(), name.clone()));
        contents.renamed(&names.collect()).to_json()
    }
}

/// What memories are called in the Verilog, where it is something else.
fn instances(design: &Design) -> BTreeMap<String, String> {
    let memories = design.memories.iter();
    memories
        .map(|memory| (memory.name.clone(), memory.instance.clone()))
        .collect()
}

fn layouts(design: &Design) -> Result<Vec<MemoryLayout>, Failure> {
    design
        .memories
        .iter()
        .map(|memory| {
            let width = u32::try_from(memory.width).map_err(|_| {
                Failure::new(format!(
                    "memory `{}` is {} bits wide",
                    memory.name, memory.width
                ))
            })?;
            Ok(MemoryLayout {
                name: memory.name.clone(),
                width,
                dims: memory.dims.clone(),
            })
        })
        .collect()
}
