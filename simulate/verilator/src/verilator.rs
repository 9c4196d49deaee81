//! Finds Verilator and the C++ compiler, and knows their versions.
//!
//! Owns how the two are looked up and asked. Building a design with them is in [`crate::build`].

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// A Verilator that works, and a C++ compiler that goes with it.
#[derive(Debug, Clone)]
pub struct Verilator {
    pub(crate) program: PathBuf,
    pub(crate) version: Version,
    /// The folder with the runtime's sources, in its subfolder `include`.
    pub(crate) root: PathBuf,
    pub(crate) compiler: Compiler,
}

/// A Verilator version, such as 5.006.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub(crate) major: u32,
    /// What follows the first point: 6 of 5.006.
    minor: u32,
    /// As Verilator writes it, such as `5.006`.
    pub(crate) text: String,
}

/// A C++ compiler.
#[derive(Debug, Clone)]
pub(crate) struct Compiler {
    /// The program and its first arguments.
    words: Vec<String>,
    /// The first line of its `--version`.
    pub(crate) version: String,
}

impl Verilator {
    /// Finds Verilator at `explicit`, or else on `PATH`, and the C++ compiler that the environment variable `CXX` names,
    /// or else `g++`.
    ///
    /// # Errors
    ///
    /// [`Error::VerilatorMissing`] and [`Error::VerilatorUnusable`]; [`Error::Compiler`] if the C++ compiler cannot be
    /// started.
    pub fn find(explicit: Option<&Path>) -> Result<Self, Error> {
        let (program, version) = Self::asked(explicit)?;
        let root = root(&program)?;
        if !root.join("include/verilated.cpp").is_file() {
            return Err(Error::VerilatorUnusable {
                program,
                reason: format!("its runtime is not in `{}`", root.join("include").display()),
            });
        }
        Ok(Self {
            program,
            version,
            root,
            compiler: Compiler::find()?,
        })
    }

    /// The version of the Verilator on `PATH`, whether or not it works.
    ///
    /// # Errors
    ///
    /// [`Error::VerilatorMissing`] and [`Error::VerilatorUnusable`].
    pub fn installed() -> Result<Version, Error> {
        Ok(Self::asked(None)?.1)
    }

    fn asked(explicit: Option<&Path>) -> Result<(PathBuf, Version), Error> {
        let program = explicit.unwrap_or(Path::new("verilator")).to_owned();
        let version_line = ask(&program, &["--version"])?;
        // Builds outside of Verilator's repository may lack a name in `--version`, such as the wheels for Python.
        let version = match Version::parse(&version_line) {
            None if version_line.trim_start().starts_with("rev ") => {
                let runtime = root(&program)?.join("include/verilated_config.h");
                fs::read_to_string(runtime)
                    .ok()
                    .and_then(|text| Version::of_runtime(&text))
            }
            version => version,
        };
        let version = version.ok_or_else(|| Error::VerilatorUnusable {
            program: program.clone(),
            reason: format!("its --version says `{}`", first_line(&version_line)),
        })?;
        Ok((program, version))
    }

    /// The version as Verilator writes it, such as `5.006`.
    pub fn version(&self) -> &str {
        &self.version.text
    }
}

impl Version {
    /// The oldest version that petal is tested with.
    pub const TESTED: &str = "5.006";

    /// Whether it is older than [`Self::TESTED`]: it may work, but nobody has tried.
    pub fn is_untested(&self) -> bool {
        (self.major, self.minor) < (5, 6)
    }

    /// Reads the output of `verilator --version`.
    fn parse(line: &str) -> Option<Self> {
        Self::named(line.strip_prefix("Verilator ")?.split_whitespace().next()?)
    }

    /// Reads it from the runtime's `verilated_config.h`.
    fn of_runtime(header: &str) -> Option<Self> {
        let mut lines = header.lines();
        let text = lines.find_map(|line| line.strip_prefix("#define VERILATOR_VERSION "))?;
        Self::named(text.trim().trim_matches('"').split_whitespace().next()?)
    }

    fn named(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the C++ compiler that builds simulations says of its version.
///
/// # Errors
///
/// [`Error::Compiler`] if it cannot be started.
pub fn compiler_version() -> Result<String, Error> {
    Compiler::find().map(|compiler| compiler.version)
}

impl Compiler {
    fn find() -> Result<Self, Error> {
        let chosen = env::var("CXX").unwrap_or_default();
        let mut words: Vec<String> = chosen.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            words.push("g++".to_owned());
        }
        let mut compiler = Self {
            words,
            version: String::new(),
        };
        let answer = compiler
            .command()
            .arg("--version")
            .output()
            .map_err(|error| compiler.unusable(&error.to_string()))?;
        if !answer.status.success() {
            return Err(compiler.unusable(&answer.status.to_string()));
        }
        first_line(&String::from_utf8_lossy(&answer.stdout)).clone_into(&mut compiler.version);
        Ok(compiler)
    }

    /// A command that runs the compiler, with no arguments of ours yet.
    pub(crate) fn command(&self) -> Command {
        // `find` puts in at least one word.
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// The error for a compiler that does not run.
    pub(crate) fn unusable(&self, reason: &str) -> Error {
        Error::Compiler {
            compiler: self.words.join(" "),
            reason: reason.to_owned(),
        }
    }
}

/// The folder with Verilator's runtime.
fn root(program: &Path) -> Result<PathBuf, Error> {
    let root = ask(program, &["--getenv", "VERILATOR_ROOT"])?;
    Ok(PathBuf::from(root.trim()))
}

fn ask(program: &Path, arguments: &[&str]) -> Result<String, Error> {
    let answer = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::VerilatorMissing {
                program: program.to_owned(),
            },
            _ => Error::VerilatorUnusable {
                program: program.to_owned(),
                reason: error.to_string(),
            },
        })?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    if answer.status.success() {
        Ok(text)
    } else {
        let said = String::from_utf8_lossy(&answer.stderr);
        Err(Error::VerilatorUnusable {
            program: program.to_owned(),
            reason: format!(
                "`{}` ended with {}: {}",
                arguments.join(" "),
                answer.status,
                first_line(&said)
            ),
        })
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_a_name_is_known_by_its_runtime() {
        let header = "#define VERILATOR_PRODUCT \"Verilator\"\n#define VERILATOR_VERSION \"5.49\"\n#define VERILATOR_VERSION_INTEGER \n";
        let version = Version::of_runtime(header).unwrap();
        assert_eq!((version.major, version.minor), (5, 49));
        for header in [
            "",
            "#define VERILATOR_VERSION \"\"",
            "#define VERILATOR_VERSION_INTEGER 5",
        ] {
            assert_eq!(Version::of_runtime(header), None, "{header}");
        }
    }

    #[test]
    fn versions_are_read() {
        for (line, major, text, untested) in [
            (
                "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)\n",
                5,
                "5.006",
                false,
            ),
            (
                "Verilator 4.038 2020-07-11 rev v4.036-114",
                4,
                "4.038",
                true,
            ),
            ("Verilator 5.005 devel", 5, "5.005", true),
            ("Verilator 6.000 devel", 6, "6.000", false),
        ] {
            let version = Version::parse(line).unwrap();
            assert_eq!((version.major, version.to_string()), (major, text.into()));
            assert_eq!(version.is_untested(), untested, "{line}");
        }
        assert!(
            !Version::parse(&format!("Verilator {}", Version::TESTED))
                .unwrap()
                .is_untested()
        );
        for line in [
            "",
            "Icarus Verilog version 11.0",
            "Verilator",
            "Verilator new",
        ] {
            assert_eq!(Version::parse(line), None, "{line}");
        }
    }
}
