//! Why a program can't be read or built: each error with the place and the way out.

use std::path::PathBuf;

use thiserror::Error;

/// Why a program can't be read, or why the compiler fails on it.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// The design can't be read.
    #[error("cannot read the design {path}: {source}")]
    Read {
        /// The design.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A folder that is to be added to the library is not there.
    #[error("{path}, which `--library` names, cannot be read: {source}")]
    NoFolder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The library folder can't be set up.
    #[error("cannot set up the Calyx library at {path}: {source}")]
    Library {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The design asks for a file that is not there.
    #[error(
        "{path}:{line}: `{name}` is not there; imports are looked up in the folder of this file and \
         then in the library (`--library DIR` adds a folder), Verilog in the folder of this file{}",
        if name.starts_with("primitives/float/") {
            "; the floating-point primitives are in a checkout of Calyx: `--library CHECKOUT`".to_owned()
        } else {
            crate::library::near(name)
        }
    )]
    Missing {
        /// The design, or a file that it imports.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What it imports or takes Verilog from.
        name: String,
    },
    /// Floating-point primitives lack what they are made of.
    #[error(
        "{path}:{line}: `{name}` is a part of Berkeley HardFloat, which is in no folder of the library: \
         `primitives/float/get_hardfloat.sh`, in a checkout of Calyx, downloads it to `HardFloat-1` beside itself and to \
         `~/.calyx/primitives/float`; `--library` takes the checkout, and `~/.calyx`, too"
    )]
    HardFloat {
        /// The Verilog of a primitive, or what it includes.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What it includes.
        name: String,
    },
    /// The design asks for a file outside of its folder and the library.
    #[error(
        "{path}:{line}: wants {file}, which is neither in the folder of the design nor in one of the library; \
         `--library DIR` adds the folder that it is in"
    )]
    Outside {
        /// The design, or a file that it imports.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What it imports or takes Verilog from.
        file: PathBuf,
    },
    /// The Calyx compiler refuses the design.
    #[error("the Calyx compiler refuses the design ({stage}):\n{message}")]
    Calyx {
        /// The pass, `parser` or `backend`.
        stage: String,
        /// The compiler's message, with the place in the source where it gives one.
        message: String,
    },
    /// The Calyx compiler gave up in the middle of a pass.
    #[error(
        "the Calyx compiler fails on the design {path} ({stage}): {message}; \
         this is a limit of Calyx 0.7.1, try another pipeline (`--passes`) or another formulation"
    )]
    Panic {
        /// The design.
        path: PathBuf,
        /// The pass, `parser` or `backend`.
        stage: String,
        /// What it said.
        message: String,
    },
    /// A file has a construct that this Calyx has nothing for.
    #[error("{path}:{line}: {problem}")]
    Syntax {
        /// The design, or a file that it imports.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The construct, and what to do.
        problem: String,
    },
    /// The design nests deeper than the compiler can follow.
    #[error(
        "{path}:{line}: the design nests too deep for the Calyx compiler: {problem}; \
         move a part of it into a component or group of its own"
    )]
    Nested {
        /// The design.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What there is too much of.
        problem: String,
    },
    /// A pass of petal's own gave up.
    #[error(
        "petal fails on the design {path} ({stage}): {message}; please report this with the design"
    )]
    Bug {
        /// The design.
        path: PathBuf,
        /// The pass.
        stage: String,
        /// What it said.
        message: String,
    },
    /// A simulation of the design would take too much memory.
    #[error(
        "{place}: {what}; a simulation of the design takes up to {bytes} of memory, and {limit} are allowed: \
         `--max-memory SIZE` allows more"
    )]
    Size {
        /// What takes most: the file and the line, counted from 1.
        place: String,
        /// What it is, with its number.
        what: String,
        /// What the whole design takes.
        bytes: String,
        /// What it may take.
        limit: String,
    },
}
