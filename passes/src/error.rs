//! Why a design can't be compiled: the errors of the whole crate, each with the place and the way out.

use petal_program::ProgramError;

use thiserror::Error;

/// Why a design can't be compiled.
#[derive(Debug, Error)]
pub enum PassesError {
    /// The program can't be read, or the compiler fails on it.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A pass of the Calyx compiler would unroll too much.
    #[error(
        "component {component}: the pass `cell-share` goes through each iteration of a loop in a `static par`, here through {steps} \
         statements; leave it out with `--disable-pass cell-share`, or write a `par` and a `repeat` that are not static"
    )]
    Unrolled {
        /// The component.
        component: String,
        /// How many statements it would go through.
        steps: u128,
    },
    /// A pass of the Calyx compiler would not come to an end.
    #[error(
        "the pass `cell-share` goes twice through each loop, and so 2^{depth} times through this one:\n\
         {place}\nleave it out with `--disable-pass cell-share`"
    )]
    Loops {
        /// How many loops are around one another.
        depth: u32,
        /// The innermost, with its place.
        place: String,
    },
    /// A component that hands over cells would be inlined.
    #[error(
        "the pass `inline` breaks the cell `{cell}`, whose component invokes another one with cells for its `ref` cells:\n\
         {place}\nremove `@inline` or leave the pass out with `--disable-pass inline`"
    )]
    Inlined {
        /// The cell.
        cell: String,
        /// Where it is declared.
        place: String,
    },
    /// The pass `papercut` warns of the design, and no warning is allowed.
    #[error(
        "the pass `papercut` warns of the design:\n{places}\nleave the check out with `--disable-pass papercut`"
    )]
    Papercuts {
        /// Each warning, with its place.
        places: String,
    },
    /// The design has constructs that the list of passes can't compile.
    #[error(
        "these passes cannot compile the design:\n{places}\n\
         choose passes that can with `--passes`: `all` compiles everything"
    )]
    Unsupported {
        /// Each construct with its place.
        places: String,
    },
    /// A pass can't be given an option.
    #[error("`-x {option}`: {problem}")]
    Option {
        /// The option, as it was given.
        option: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The list of passes can't be run.
    #[error("the list of passes cannot be run: {0}")]
    Pipeline(String),
    /// The passes ran, but no metadata came out.
    #[error("the passes ran, but petal got no metadata from them: is `{0}` in the list of passes?")]
    NoMetadata(&'static str),
}
