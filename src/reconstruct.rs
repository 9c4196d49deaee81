//! `petal reconstruct`.

use petal_profile::{Error, Places, Profiled, WaveformOptions, profile_waveform};

use crate::args::ReconstructArgs;
use crate::events::{self, Stream};
use crate::messages;
use crate::outcome::{judge, warn};
use crate::run::report;
use crate::terminal::Terminal;

/// `petal reconstruct`: profiles a waveform.
pub fn reconstruct(args: &ReconstructArgs) -> Result<(), Error> {
    let options = WaveformOptions {
        metadata: args.metadata.clone(),
        waveform: args.waveform.clone(),
        control: args.view.control.into(),
        observe: args.observe.options(),
    };
    let mut places = Places::default();
    places.writes_profile(&args.out)?;
    let others = [("--json", args.json)];
    let events = Stream::all(&args.observe, options.control, &others, &mut places)?;
    let terminal = Terminal {
        quiet: args.quiet,
        events,
    };
    let profiled = profile_waveform(&options, &args.out, &mut places, &terminal)?;
    let Profiled {
        summary, results, ..
    } = &profiled;
    let quiet = args.quiet || events::take_output(&args.observe);
    if args.json || !quiet {
        report(&profiled, &args.out, None, args.json)?;
    }
    warn(summary, args.quiet);
    if let Some(early) = summary.early_end().filter(|_| !args.quiet) {
        messages::note(early);
    }
    judge(results.as_ref(), &args.observe, args.quiet)
}
