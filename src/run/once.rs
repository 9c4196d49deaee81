//! A run of a design: profiled, and told to the user.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use petal_analysis::is_unfinished;
use petal_profile::outputs::ADVICE;
use petal_profile::{Error, Places, Profiled, interrupt};
use petal_synth::Synthesis;
use petal_table::style::BOLD;
use petal_table::text::printable;
use petal_table::thousands;

use super::last::Last;
use crate::args::RunArgs;
use crate::design::{command, is_standard_input};
use crate::events::{self, Stream};
use crate::export;
use crate::messages;
use crate::outcome::{judge, strict, warn};
use crate::print::print;
use crate::progress::Stage;
use crate::screen::{next, screen};
use crate::synth::{Wanted, synthesise, totals};
use crate::terminal::Terminal;

/// How many commands are proposed.
const NEXT: usize = 3;

/// How many cycles before its end of a run that ended early are proposed to be looked at.
const LAST_CYCLES: u64 = 10;

/// What is printed of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Its summary.
    All,
    /// How it differs from the run before, in a line.
    Difference,
}

/// Where the profile goes.
pub fn folder(args: &RunArgs) -> Result<PathBuf, Error> {
    let options = args.options()?;
    let out = args.out.clone();
    Ok(out.unwrap_or_else(|| Path::new("petal-out").join(options.name())))
}

/// Profiles a design.
pub fn once(args: &RunArgs, places: &mut Places, shown: Shown) -> Result<(), Error> {
    let options = args.options()?;
    let out = folder(args)?;
    places.writes_run(&options, &out)?;
    let others = [("--json", args.json), ("--memories", args.memories)];
    let events = Stream::all(&args.observe, options.control, &others, places)?;
    let terminal = Terminal {
        quiet: args.quiet,
        events,
    };
    let wanted = Wanted::also(&args.also);
    // Before the run, which may take long.
    let tools = wanted.as_ref().map(Wanted::tools).transpose()?;
    let mut profiled = petal_profile::run_in(&options, &out, places, &terminal)?;
    let before = profiled.before.take();
    let last =
        before.map(|before| Last::new(before, (&profiled.metadata, &profiled.summary), &out));
    let last = last.transpose()?;
    let synthesis = wanted.zip(tools).map(|(wanted, tools)| {
        let (name, places) = (options.name(), &mut Places::default());
        let named = (&*name, &*out);
        synthesise(&wanted, tools, &options.design, named, places, &terminal)
    });
    // What fails is told after the profile, which is whole without it.
    let (synthesis, unsynthesised) = match synthesis {
        Some(Ok(synthesis)) => (Some(synthesis), Ok(())),
        Some(Err(error)) if interrupt::is_requested() => return Err(error),
        Some(Err(error)) => (None, Err(error)),
        None => (None, Ok(())),
    };
    if let Some(synthesis) = &synthesis {
        let period = petal_profile::period(synthesis);
        profiled.summary.set_clock(None, period);
    }
    let Profiled {
        summary,
        memories,
        results,
        ..
    } = &profiled;
    if args.tables {
        let _writing = Stage::new("writing tables", args.quiet);
        export::write(&out)?;
    }
    let quiet = args.quiet || events::take_output(&args.observe);
    if !quiet {
        remind(args, last.as_ref(), &out);
    }
    match (shown, &last) {
        (Shown::Difference, Some(last)) if !quiet => {
            let cycles = thousands(summary.cycles);
            print(&format!("{cycles} cycles: {}\n", last.text(false)))?;
        }
        _ if args.json || !quiet => {
            let design = OfDesign {
                args,
                last: last.as_ref(),
                synthesis: synthesis.as_ref(),
            };
            report(&profiled, &out, Some(&design), args.json)?;
        }
        _ => {}
    }
    if args.memories {
        print(memories)?;
    }
    warn(summary, args.quiet);
    unsynthesised?;
    let broken = match summary.warnings.len() {
        count if args.design.strict && count > 0 => Err(strict(summary, args.quiet)),
        _ => judge(results.as_ref(), &args.observe, args.quiet),
    };
    let Some(early) = summary.early_end() else {
        return broken;
    };
    let told = format!(
        "{early}\n  {} holds the profile up to there, a partial one",
        out.display()
    );
    let is_asked_for = results
        .as_ref()
        .is_some_and(|results| results.stopped_by.is_some());
    if !args.partial && !is_asked_for {
        return Err(Error::new(told));
    }
    if !args.quiet {
        messages::note(told);
    }
    broken
}

/// Tells what of the run before is gone, or no longer sure.
fn remind(args: &RunArgs, last: Option<&Last>, out: &Path) {
    let Some(last) = last else {
        return;
    };
    let out = out.display();
    if !last.since.is_same_design() {
        messages::warning(format_args!(
            "{out} had the profile of another design of this name: `--name` or `--out` keeps both (of that one, `petal compare --last --force {out}` \
             has the figures)"
        ));
    }
    if last.has_old_advice {
        let advise = command("advise", &args.design, args.data.as_deref());
        let advise = shlex::try_join(advise.iter().map(String::as_str)).unwrap_or_default();
        messages::note(format_args!(
            "the patches in {out}/{ADVICE} are of the program before this change: those of other lines still apply (`patch --dry-run -p1 < …` \
             tells), but what they save was found there; `{advise}` looks again"
        ));
    }
}

/// What is known of a run besides, if petal compiled the design.
pub struct OfDesign<'a> {
    args: &'a RunArgs,
    /// The run before.
    last: Option<&'a Last>,
    synthesis: Option<&'a Synthesis>,
}

/// Prints what a run gave.
pub fn report(
    profiled: &Profiled,
    out: &Path,
    design: Option<&OfDesign<'_>>,
    json: bool,
) -> Result<(), Error> {
    let summary = &profiled.summary;
    if json {
        return print(&summary.json());
    }
    let screen = screen();
    let mut since = String::new();
    // What is written for other programs says the same each time.
    let last = design.and_then(|design| design.last);
    if let Some(last) = last.filter(|last| !last.is_same || screen.is_terminal) {
        since = screen.wrapped(&last.text(screen.is_terminal), 2);
    }
    let report = format!("{}/report.html shows all of it in a browser", out.display());
    let mut verified = summary.verified.text().to_owned();
    if let Some(pass) = &summary.added_pass {
        let _ = write!(
            verified,
            "; compiled with `{pass}`, too, which the design needs and `no-opt` lacks"
        );
    }
    let synthesis = design.and_then(|design| design.synthesis);
    let area = synthesis.map_or_else(String::new, |of| format!("{}\n", totals(of)));
    print(&format!(
        "{}\n{since}\n{}\n{area}{}{}\n{}",
        screen.styled(BOLD, printable(&summary.design)),
        summary.text(screen),
        screen.wrapped(&report, 2),
        screen.wrapped(&verified, 2),
        next(&proposed(profiled, out, design), screen),
    ))?;
    match &profiled.results {
        Some(results) => print(&format!("\n{}", results.text(screen))),
        None => Ok(()),
    }
}

/// What to do next, in at most so many commands as there is room for.
fn proposed(
    profiled: &Profiled,
    out: &Path,
    design: Option<&OfDesign<'_>>,
) -> Vec<(Vec<String>, &'static str)> {
    let summary = &profiled.summary;
    let folder = out.display().to_string();
    let of_folder = |command: &str, more: &[&str]| {
        let words = ["petal", command, &folder];
        let words = words.iter().chain(more);
        words.map(|&word| word.to_owned()).collect::<Vec<String>>()
    };
    let mut commands = Vec::new();
    if summary.stopped.is_some() {
        let end = summary.cycles.to_string();
        let last = format!("{}..{end}", summary.cycles.saturating_sub(LAST_CYCLES));
        commands.push((of_folder("trace", &["--cycles", &last]), "its last cycles"));
        commands.push((of_folder("view", &[]), "how it came there"));
        let args = design.map(|design| design.args);
        if let Some(args) = args.filter(|args| args.fst.is_none() && args.vcd.is_none())
            && !is_standard_input(&args.design.design)
        {
            let mut words = command("run", &args.design, args.data.as_deref());
            words.extend(["--fst".to_owned(), format!("{}.fst", summary.design)]);
            commands.push((words, "all signals"));
        }
        return commands;
    }
    if let Some(&OfDesign { args, last, .. }) = design {
        let is_comparable =
            |last: &Last| !last.is_same && !last.is_partial && last.since.has_same_data();
        if last.is_some_and(is_comparable) {
            let words = ["petal", "compare", "--last", &folder];
            let words = words.map(str::to_owned).to_vec();
            commands.push((words, "what that changed"));
        }
        let more = summary.advice.as_ref().map(is_unfinished);
        if !is_standard_input(&args.design.design) && more != Some(false) {
            let mut words = command("advise", &args.design, args.data.as_deref());
            if more.is_some() {
                words.extend(["--budget", "10m"].map(str::to_owned));
            }
            commands.push((words, "tries what could save"));
        }
    }
    if profiled.metadata.front_end.has_lines() {
        commands.push((of_folder("stats", &["lines"]), "the front end's lines"));
    }
    let costs = of_folder("annotate", &["--top", "10"]);
    commands.push((costs, "what else costs"));
    let timeline = if profiled.has_whole_timeline {
        "the timeline"
    } else {
        "the timeline, of a long run in parts"
    };
    commands.push((of_folder("view", &[]), timeline));
    commands.truncate(NEXT);
    commands
}
