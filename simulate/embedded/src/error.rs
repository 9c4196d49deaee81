//! Why a design can't be simulated.

use thiserror::Error;

/// Why a design can't be simulated here.
#[derive(Debug, Error)]
pub enum Error {
    /// A primitive is not one of the standard library's.
    #[error(
        "the embedded simulator cannot run the primitive `{primitive}` (cell {cell}): {reason}"
    )]
    Unsupported {
        /// The primitive.
        primitive: String,
        /// The first cell of it, as a path.
        cell: String,
        /// Why not.
        reason: String,
    },
    /// Machine code can't be made.
    #[error("the embedded simulator cannot compile the design: {0}")]
    Compile(String),
    /// The design's memories need more than there is.
    #[error("there is no room for a memory of {size} words of {width} bits")]
    Memory {
        /// The number of words.
        size: u64,
        /// Bits per word.
        width: u32,
    },
    /// A signal that is to be watched is not there.
    #[error("the design has no signal `{0}`: compile it with petal's passes")]
    NoSignal(String),
    /// A value that is to be observed can't be.
    #[error("a value can't be observed: {0}")]
    Value(String),
    /// There is to be a waveform of a design of which only the probes can be seen.
    #[error(
        "only the probes of the design can be seen: compile it with `Visible::All` for a waveform"
    )]
    NotVisible,
    /// The waveform can't be written.
    #[error("cannot write the waveform: {0}")]
    Waveform(std::io::Error),
}

/// Why a run ended before the design was done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Stopped {
    /// The design stopped itself.
    #[error("the design stopped itself {}:\n{message}", when(*cycle))]
    Check {
        /// The cycle; `None` while it was being reset. What happens at the clock's edge counts for
        /// the cycle that begins there.
        cycle: Option<u64>,
        /// What did not hold.
        message: String,
    },
    /// A combinational loop does not settle.
    #[error(
        "the design does not settle {}: these ports depend on one another in a circle:\n{}",
        when(*cycle), ports.join("\n")
    )]
    Loop {
        /// The cycle; `None` while it was being reset.
        cycle: Option<u64>,
        /// The ports.
        ports: Vec<String>,
    },
    /// The design did not finish in time.
    #[error(
        "the design had not finished after {limit} cycles: raise the cycle limit if it needs more, or look for a loop that \
         never ends or a group whose done never comes"
    )]
    CycleLimit {
        /// The limit, in cycles.
        limit: u64,
    },
    /// The design never ends: all of its state repeats, and its inputs do not change.
    #[error("the design never ends: from cycle {cycle} on {}", repeats(*period))]
    Endless {
        /// A cycle from which on its states repeat; there may be earlier ones.
        cycle: u64,
        /// After how many cycles.
        period: u64,
    },
    /// Somebody asked for it.
    #[error("interrupted in cycle {cycle}")]
    Interrupted {
        /// The cycle.
        cycle: u64,
    },
}

fn repeats(period: u64) -> String {
    match period {
        1 => "nothing changes any more".to_owned(),
        _ => format!("the same {period} cycles repeat for ever"),
    }
}

fn when(cycle: Option<u64>) -> String {
    match cycle {
        Some(cycle) => format!("in cycle {cycle}"),
        None => "while it was being reset".to_owned(),
    }
}
