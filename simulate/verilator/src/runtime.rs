//! The parts of an executable that are the same for every design: Verilator's runtime, compiled, and a precompiled header.
//!
//! Owns how an entry gets into the cache folder whole; what it is called is [`crate::cache`]'s. An entry is made in a folder of its own
//! and then renamed, so others see all of it or none, and of several that make the same entry one wins and all are served.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use petal_files::Scratch;

use crate::Error;
use crate::cache::{EXECUTABLE, HEADER, Kind, VERILOG};
use crate::compile::{Log, run_all};
use crate::options::{BuildOptions, Trace};
use crate::testbench;
use crate::verilator::Verilator;

/// The runtime's optimisation does not depend on the design's: it is compiled once, and writing traces needs it fast.
const RUNTIME_OPTIMISATION: &str = "-O2";

/// One compilation at a time in this process: threads that need the same entry wait for it instead of making it again.
static MAKING: Mutex<()> = Mutex::new(());

/// What a design's C++ is compiled and linked with.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// Compiler arguments for the design's C++, without its optimisation level.
    pub(crate) flags: Vec<OsString>,
    /// Object files to link.
    pub(crate) objects: Vec<PathBuf>,
}

impl Runtime {
    /// The runtime made of the files `sources` (names without `.cpp`, in Verilator's include folder), from the cache if it
    /// is there.
    pub(crate) fn get(
        verilator: &Verilator,
        sources: &[String],
        cache: &Path,
        options: &BuildOptions,
        log: &mut Log,
    ) -> Result<Self, Error> {
        let common = common_flags(options.trace);
        let level = options.optimisation.flag();
        let runtime = entry_path(
            cache,
            Kind::Runtime,
            verilator,
            &[&common, &sources.join(" ")],
        );
        let header = entry_path(cache, Kind::Header, verilator, &[&common, level]);

        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let missing_runtime = Entry::missing(&runtime)?;
        let missing_header = Entry::missing(&header)?;
        let mut commands = Vec::new();
        if let Some(entry) = &missing_runtime {
            for source in sources {
                commands.push(compile_source(verilator, &common, source, entry));
            }
        }
        if let Some(entry) = &missing_header {
            let path = entry.folder.path().join(HEADER);
            fs::write(&path, header_text(options.trace)).map_err(Error::io("write", &path))?;
            commands.push(compile_header(verilator, &common, level, entry));
        }
        run_all(commands, options, &verilator.compiler, log)?;
        for entry in [missing_runtime, missing_header].into_iter().flatten() {
            entry.publish()?;
        }

        let mut flags: Vec<_> = common.split(' ').map(Into::into).collect();
        flags.push("-include".into());
        flags.push(header.join(HEADER).into());
        Ok(Self {
            flags,
            objects: sources
                .iter()
                .map(|source| runtime.join(format!("{source}.o")))
                .collect(),
        })
    }
}

/// An executable in the cache: the folder has it and the Verilog that it was built from.
pub(crate) struct Built {
    path: PathBuf,
    cache: PathBuf,
}

/// How many executables the cache holds.
const MAX_BUILT: usize = 64;

impl Built {
    /// The place for the executable of a design.
    pub(crate) fn of(
        verilator: &Verilator,
        verilog: &[u8],
        cache: &Path,
        options: &BuildOptions,
    ) -> Self {
        let mut hasher = DefaultHasher::new();
        verilog.hash(&mut hasher);
        for path in &options.more.files {
            // Verilator tells of one that can't be read.
            (path, fs::read(path).ok()).hash(&mut hasher);
        }
        let parts = [
            common_flags(options.trace),
            options.optimisation.flag().to_owned(),
            format!("{:?} {:?}", options.top, options.signals),
            env!("CARGO_PKG_VERSION").to_owned(),
            testbench::SOURCE.to_owned(),
            hasher.finish().to_string(),
        ];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Self {
            path: entry_path(cache, Kind::Design, verilator, &parts),
            cache: cache.to_owned(),
        }
    }

    /// Copies the executable to `to`, if it is there and is that of this Verilog. A copy, because
    /// another process may remove it any time.
    pub(crate) fn fetch(&self, verilog: &[u8], to: &Path) -> bool {
        fs::read(self.path.join(VERILOG)).is_ok_and(|kept| kept == verilog)
            && fs::copy(self.path.join(EXECUTABLE), to).is_ok()
    }

    /// Puts a copy of an executable there.
    pub(crate) fn keep(&self, executable: &Path, verilog: &[u8]) -> Result<(), Error> {
        self.make_room();
        let Some(entry) = Entry::missing(&self.path)? else {
            return Ok(());
        };
        let copy = entry.folder.path().join(EXECUTABLE);
        fs::copy(executable, &copy).map_err(Error::io("write", &copy))?;
        let design = entry.folder.path().join(VERILOG);
        fs::write(&design, verilog).map_err(Error::io("write", &design))?;
        entry.publish()
    }

    /// Removes the oldest executables where there are too many. Not being able to is no reason to
    /// fail: others may be at it too.
    fn make_room(&self) {
        let entries = fs::read_dir(&self.cache).into_iter().flatten().flatten();
        let mut built: Vec<_> = entries
            .filter(|entry| entry.file_name().to_str().and_then(Kind::of) == Some(Kind::Design))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        built.sort();
        let surplus = (built.len() + 1).saturating_sub(MAX_BUILT);
        for (_, path) in built.into_iter().take(surplus) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// A cache entry in the making.
struct Entry {
    folder: Scratch,
    path: PathBuf,
}

impl Entry {
    /// A place to make the entry at `path`; `None` if it is already there.
    fn missing(path: &Path) -> Result<Option<Self>, Error> {
        if path.is_dir() {
            return Ok(None);
        }
        let cache = path.parent().unwrap_or(Path::new("."));
        Ok(Some(Self {
            folder: Scratch::new_in(cache).map_err(Error::io("create a folder in", cache))?,
            path: path.to_owned(),
        }))
    }

    /// Puts the entry in its place, unless another process was faster.
    fn publish(self) -> Result<(), Error> {
        match fs::rename(self.folder.path(), &self.path) {
            Err(_) if self.path.is_dir() => Ok(()),
            Err(error) => Err(Error::io("create", &self.path)(error)),
            Ok(()) => Ok(()),
        }
    }
}

fn entry_path(cache: &Path, kind: Kind, verilator: &Verilator, parts: &[&str]) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    verilator.compiler.version.hash(&mut hasher);
    verilator.root.hash(&mut hasher);
    parts.hash(&mut hasher);
    kind.path(cache, verilator, hasher.finish())
}

/// The flags that all C++ of a design needs, separated by spaces.
fn common_flags(trace: Trace) -> String {
    let traced = match trace {
        Trace::Off => 0,
        Trace::Vcd => 1,
    };
    // The testbench has functions of its own for what stops a run.
    format!(
        "-std=gnu++17 -pthread -w -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE={traced} -DVM_TRACE_VCD={traced} -DVM_TRACE_FST=0 \
         -DVM_TRACE_SAIF=0 -DVL_USER_FATAL -DVL_USER_WARN -DVL_USER_STOP"
    )
}

fn header_text(trace: Trace) -> &'static str {
    match trace {
        Trace::Off => "#include \"verilated.h\"\n",
        Trace::Vcd => "#include \"verilated.h\"\n#include \"verilated_vcd_c.h\"\n",
    }
}

fn compile_source(verilator: &Verilator, common: &str, source: &str, entry: &Entry) -> Command {
    let mut command = compiler(verilator, common, RUNTIME_OPTIMISATION);
    command
        .arg("-c")
        .arg(verilator.root.join(format!("include/{source}.cpp")))
        .arg("-o")
        .arg(entry.folder.path().join(format!("{source}.o")));
    command
}

fn compile_header(verilator: &Verilator, common: &str, level: &str, entry: &Entry) -> Command {
    let mut command = compiler(verilator, common, level);
    command
        .args(["-x", "c++-header"])
        .arg(entry.folder.path().join(HEADER))
        .arg("-o")
        .arg(entry.folder.path().join(format!("{HEADER}.gch")));
    command
}

/// The compiler with the flags of `common`, an optimisation level, and Verilator's include folders.
fn compiler(verilator: &Verilator, common: &str, level: &str) -> Command {
    let mut command = verilator.compiler.command();
    command
        .args(common.split(' '))
        .arg(level)
        .args(include_flags(&verilator.root));
    command
}

/// The flags for Verilator's include folders.
pub(crate) fn include_flags(root: &Path) -> [OsString; 2] {
    [root.join("include"), root.join("include/vltstd")].map(|folder| {
        let mut flag = OsString::from("-I");
        flag.push(folder);
        flag
    })
}
