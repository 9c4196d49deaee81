//! The parts of an executable that are the same for every design: Verilator's runtime, compiled, and a precompiled header.
//!
//! Owns what they are made of. They are entries of the [`crate::cache`].

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::Error;
use crate::cache::{Entry, HEADER, Kind, entry_path};
use crate::compile::{Log, run_all};
use crate::options::{BuildOptions, Trace};
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

/// The flags that all C++ of a design needs, separated by spaces.
pub(crate) fn common_flags(trace: Trace) -> String {
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
