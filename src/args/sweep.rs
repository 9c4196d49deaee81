//! The arguments of `petal sweep`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

pub(super) const SWEEP_HELP: &str = "\
Examples:
  petal sweep SWEEP.toml
  petal sweep SWEEP.toml --dry-run                    which runs there are, and which are still to do
  petal sweep SWEEP.toml --shard 2/8 --out part-2     every eighth run
  petal sweep --merge part-1 part-2 --out all         the parts as one sweep
docs/guide/sweeps.md has all keys of the file.

Exit codes:
  0  all runs gave a result
  1  some did not, or something is wrong with the input
  2  the command line makes no sense
  130  it was interrupted; the same command goes on with what is left";

/// `petal sweep`
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The file that describes the sweep
    #[arg(required_unless_present = "merge", conflicts_with = "merge")]
    pub file: Option<PathBuf>,
    /// Where to write all that the sweep gives [default: petal-out/NAME, from the name of the file]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How many runs at once [default: as many as there are processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Do only the runs of part K of N, without the page and the tables
    #[arg(long, value_name = "K/N", value_parser = parse_shard)]
    pub shard: Option<Shard>,
    /// Put the parts of a sweep in these folders together, into `--out`
    #[arg(long, value_name = "DIR", num_args = 1.., requires = "out", conflicts_with_all = ["jobs", "shard", "dry_run"])]
    pub merge: Vec<PathBuf>,
    /// List the runs, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// What is run instead of this program: the words of a command, before `run`
    #[arg(long, hide = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

/// A part of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Whether it has the run at this place of the list.
    pub fn has(self, at: usize) -> bool {
        at % self.of == self.number - 1
    }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/');
    let parts = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let shard = parts.map(|(number, of)| Shard { number, of });
    shard
        .filter(|shard| 1 <= shard.number && shard.number <= shard.of)
        .ok_or_else(|| "write a part and how many there are, such as 2/8".to_owned())
}
