//! The arguments of `petal monitor`.

use std::path::PathBuf;

use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use petal_observe::{LatencyRequest, Request, Room, RuleRequest, WatchRequest};
use petal_profile::{Error, MonitorOptions};

use super::design::DesignArgs;
use super::observe::{all, checkpoints, counters, of};
use crate::design;

pub(super) const HELP: &str = "\
Examples:
  petal monitor design.futil --checkpoint 'main.step; i=main.i.out' -o monitored.futil
  petal run monitored.futil
  petal monitor read petal-out/monitored/memories.json --metadata monitored.monitor.json

docs/monitor.md tells how other tools build and run the design.";

/// `petal monitor`
#[derive(Debug)]
pub enum MonitorArgs {
    /// To put a monitor into a design.
    Build(Box<BuildArgs>),
    /// What else to do.
    Other(MonitorCommand),
}

// A design, or a subcommand: clap derives no such choice.
impl Args for MonitorArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = MonitorCommand::augment_subcommands(BuildArgs::augment_args(command));
        command
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MonitorArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        if matches.subcommand_name().is_some() {
            MonitorCommand::from_arg_matches(matches).map(Self::Other)
        } else {
            BuildArgs::from_arg_matches(matches).map(|args| Self::Build(Box::new(args)))
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What to do with a monitor that is there.
#[derive(Debug, Subcommand)]
pub enum MonitorCommand {
    /// Tell what the memories of a monitored design recorded, wherever it ran
    Read(ReadArgs),
}

/// Which design is to record what.
#[derive(Debug, Args)]
pub struct BuildArgs {
    #[command(flatten)]
    pub design: DesignArgs,
    /// Record when something begins or is true, and values in that cycle, as `petal run --checkpoint` has it (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR[; [NAME=]EXPR, ...]")]
    pub checkpoint: Vec<String>,
    /// Record the changes of a register or any value, as `petal run --watch` has it (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub watch: Vec<String>,
    /// Record when this is true, which it must not be, as `petal run --never` has it (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub never: Vec<String>,
    /// Record when this is false, which it must not be, as `petal run --always` has it (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub always: Vec<String>,
    /// Add up how long it takes from one event to another, as `petal run --latency` has it: how many, the sum, the shortest, the longest, without
    /// room in the buffer (may be repeated)
    #[arg(long, value_name = "[NAME=]FROM..TO")]
    pub latency: Vec<String>,
    /// Keep of each `--latency` how many took 0, 1, 2 to 3, 4 to 7 cycles, and so on
    #[arg(long, requires = "latency")]
    pub histogram: bool,
    /// Add a value up over all cycles, as `petal run --count` has it: a sum takes no room in the buffer (may be repeated)
    #[arg(long, value_name = "[NAME=]EXPR")]
    pub count: Vec<String>,
    /// Record so many cycles in which something happens; later ones are counted
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub depth: u64,
    /// Keep the last cycles in which something happens, rather than the first; then the depth is a power of two
    #[arg(long)]
    pub cyclic: bool,
    /// Stop recording some entries after this happens for the first time, so that what led to it stays there
    #[arg(long, value_name = "EXPR", requires = "cyclic")]
    pub trigger: Option<String>,
    /// How many entries are kept of what happens after the cycle of `--trigger` [default: half of the depth]
    #[arg(long, value_name = "N", requires = "trigger")]
    pub after: Option<u64>,
    /// Contents of the memories [default: DESIGN.futil.data if there is one, else zeros]
    #[arg(long, value_name = "DATA.json")]
    pub data: Option<PathBuf>,
    /// Where to write the design; beside it, its data are called OUT.futil.data
    #[arg(short, long, value_name = "OUT.futil")]
    pub out: PathBuf,
    /// Where to write what the memories mean [default: OUT.monitor.json]
    #[arg(long, value_name = "FILE.json")]
    pub metadata: Option<PathBuf>,
}

/// `petal monitor read`
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// The memories after the run: a data file, as petal, fud and Cider write it
    pub memories: PathBuf,
    /// What `petal monitor` wrote beside the design
    #[arg(long, value_name = "FILE.json")]
    pub metadata: PathBuf,
    /// Print JSON, as in observations.json
    #[arg(long)]
    pub json: bool,
}

impl BuildArgs {
    /// What they ask for.
    pub fn options(&self) -> Result<MonitorOptions, Error> {
        if self.cyclic && (self.depth < 2 || !self.depth.is_power_of_two()) {
            return Err(Error::usage(
                "`--cyclic` needs a `--depth` that is a power of two, 2 at least: an entry's place is in the lowest bits of its number then",
            ));
        }
        let after = self.after.unwrap_or(self.depth / 2);
        if self.trigger.is_some() && after >= self.depth {
            return Err(Error::usage(
                "so many entries `--after` the trigger leave no room for what led to it: name fewer than `--depth`",
            ));
        }
        let trigger = self.trigger.as_deref().map(|text| of("--trigger", text));
        Ok(MonitorOptions {
            design: self.design.options()?,
            name: design::name(&self.design.design),
            data: self.data.clone(),
            request: Request {
                checkpoints: checkpoints(&self.checkpoint),
                latencies: all("--latency", &self.latency, LatencyRequest::new),
                watches: all("--watch", &self.watch, WatchRequest::new),
                never: all("--never", &self.never, RuleRequest::new),
                always: all("--always", &self.always, RuleRequest::new),
                counters: counters(&self.count),
                ..Request::default()
            },
            room: Room {
                depth: self.depth,
                is_cyclic: self.cyclic,
                trigger: trigger.map(|text| (text, after)),
                has_histograms: self.histogram,
            },
        })
    }

    /// Where the data go.
    pub fn data_file(&self) -> PathBuf {
        let mut name = self.out.clone().into_os_string();
        name.push(".data");
        name.into()
    }

    /// Where the metadata go.
    pub fn metadata_file(&self) -> PathBuf {
        let beside = || self.out.with_extension("monitor.json");
        self.metadata.clone().unwrap_or_else(beside)
    }
}
