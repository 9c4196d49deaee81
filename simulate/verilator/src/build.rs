//! Builds a design: Verilog to C++ with Verilator, and C++ to an executable.
//!
//! Owns the steps and their files in the output folder. It does without the makefiles that Verilator writes: they compile
//! Verilator's runtime again for each design, which takes most of the time for a small one.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::built::Built;
use crate::compile::{Log, output, run_all};
use crate::error::BuildStage;
use crate::generated::{Generated, PREFIX, Piece};
use crate::options::{BuildOptions, Trace};
use crate::run::Executable;
use crate::runtime::{Runtime, include_flags};
use crate::testbench;
use crate::verilator::Verilator;

impl Verilator {
    /// Builds the design in the Verilog file `design`.
    ///
    /// All files go to the folder `out`, which is made if needed: `simulation` is the executable, `verilator.log` and
    /// `compiler.log` have what the tools said, and `verilated/` has the C++ (what was in there is removed). What does not
    /// depend on the design is kept in the folder `cache` for the next build, and so are the latest executables: a design
    /// that is there is not built again. Several processes may share the folder.
    ///
    /// Warnings are only logged.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if the design is rejected, [`Error::Compiler`] if the compiler cannot be started,
    /// [`Error::Interrupted`] and [`Error::Io`].
    pub fn build(
        &self,
        design: &Path,
        out: &Path,
        cache: &Path,
        options: &BuildOptions,
    ) -> Result<Executable, Error> {
        fs::create_dir_all(out).map_err(Error::io("create the folder", out))?;
        let out = &fs::canonicalize(out).map_err(Error::io("open the folder", out))?;
        fs::create_dir_all(cache).map_err(Error::io("create the folder", cache))?;
        let cache = &fs::canonicalize(cache).map_err(Error::io("open the folder", cache))?;

        let verilog = fs::read(design).map_err(Error::io("read", design))?;
        let built = Built::of(self, &verilog, cache, options);
        let executable = out.join("simulation");
        if built.fetch(&verilog, &executable) {
            return Ok(Executable::new(executable, options));
        }

        let generated = self.verilate(design, &verilog, out, options)?;

        let mut log = Log::new(out.join("compiler.log"));
        let runtime = Runtime::get(self, &generated.runtime, cache, options, &mut log)?;
        let pieces = generated.write_pieces(options)?;
        let commands = pieces
            .iter()
            .map(|piece| {
                let mut command = self.compiler.command();
                command
                    .args(&runtime.flags)
                    .args(include_flags(&self.root))
                    .arg(piece.optimisation.flag())
                    .arg("-c")
                    .arg(&piece.path)
                    .arg("-o")
                    .arg(piece.object());
                command
            })
            .collect();
        run_all(commands, options, &self.compiler, &mut log)?;

        let linked = generated.folder.join("simulation");
        let mut command = self.compiler.command();
        command
            .args(pieces.iter().map(Piece::object))
            .args(&runtime.objects)
            .args(["-pthread", "-o"])
            .arg(&linked);
        let output = output(&mut command, &options.interrupt, |error| {
            self.compiler.unusable(&error.to_string())
        })?;
        log.add(&command, &output)?;
        if !output.status.success() {
            return Err(log.failure(BuildStage::Linker, &output));
        }
        fs::rename(&linked, &executable).map_err(Error::io("create", &executable))?;
        built.keep(&executable, &verilog)?;
        Ok(Executable::new(executable, options))
    }

    /// Runs Verilator proper.
    fn verilate(
        &self,
        design: &Path,
        verilog: &[u8],
        out: &Path,
        options: &BuildOptions,
    ) -> Result<Generated, Error> {
        let folder = out.join("verilated");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Error::io("empty the folder", &folder))?;
        }
        fs::create_dir(&folder).map_err(Error::io("create the folder", &folder))?;

        let mut command = Command::new(&self.program);
        command.args([
            "--cc",
            "--top-module",
            testbench::WRAPPER,
            "--prefix",
            PREFIX,
        ]);
        command.arg("-Mdir").arg(&folder);
        // A user's component of the wrapper's name must not be taken for it, nor it for the wrapper.
        command.args(["-Wno-fatal", "-Werror-MODDUP"]);
        // What Verilog leaves unknown is zero: two builds of a design behave the same.
        command.args(["--x-assign", "0", "--x-initial", "0"]);
        command.args(["--timescale-override", "1ns/1ns"]);
        if self.version.major >= 5 {
            command.arg("--no-timing");
        }
        let config = folder.join("memories.vlt");
        fs::write(&config, testbench::MEMORY_CONFIG).map_err(Error::io("write", &config))?;
        command.arg(config);
        if options.trace == Trace::Vcd {
            let name = design.file_name().unwrap_or_default().to_string_lossy();
            let config = folder.join("trace.vlt");
            let verilog = String::from_utf8_lossy(verilog);
            let text = testbench::trace_config(&name, &verilog, options.signals.as_deref());
            fs::write(&config, text).map_err(Error::io("write", &config))?;
            command.args(["--trace", "--trace-underscore"]).arg(config);
        }
        let wrapper = folder.join("toplevel.sv");
        fs::write(&wrapper, options.top.wrapper(options.ticks()))
            .map_err(Error::io("write", &wrapper))?;
        for folder in &options.more.folders {
            let mut flag = OsString::from("-I");
            flag.push(folder);
            command.arg(flag);
        }
        for modules in &options.more.modules {
            command.arg("-v").arg(modules);
        }
        command.arg(wrapper).arg(design);

        let output = output(&mut command, &options.interrupt, |error| {
            Error::io("start", &self.program)(error)
        })?;
        let mut log = Log::new(out.join("verilator.log"));
        log.add(&command, &output)?;
        if !output.status.success() {
            return Err(log.failure(BuildStage::Verilator, &output));
        }
        Generated::read(folder)
    }
}
