//! `petal advise`: which changes save cycles, and where the advice goes.

mod apply;
mod profiles;
mod shop;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use petal_advise::{Advice, Budget, Defect, Limit};
use petal_compare::Change;
use petal_profile::folder::Staging;
use petal_profile::outputs::{self, ADVICE};
use petal_profile::{DesignOptions, Error, Options, Places, Simulator, interrupt};
use petal_program::Source;
use petal_synth::Tools;
use petal_table::thousands;

pub use self::profiles::Profiles;
pub use self::shop::{Shop, run_once};
use crate::args::{AdviceArg, AdviseArgs, GoalArg, TargetArg};
use crate::design;
use crate::messages;
use crate::print::print;
use crate::run::profiled;
use crate::screen::{next, screen};
use crate::synth::Wanted;
use crate::versions;
use crate::whatif;

/// `petal advise`
pub fn advise(args: &AdviseArgs) -> Result<(), Error> {
    let path = &args.design.design;
    design::check(path)?;
    let name = design::name(path);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("petal-out").join(&name));
    if args.apply {
        apply::check(path)?;
    }
    let mut places = Places::default();
    places.writes_profile(&out)?;
    let design = args.design.options()?;
    let runs = runs(args, &design);
    for run in &runs[1..] {
        if let Some(data) = &run.data {
            places.reads("the data file", data)?;
        }
    }
    let (source, program) = read(design.source)?;
    let synthesis = synthesis(args)?;
    let limit = match args.candidates {
        Some(candidates) => Limit::Programs(candidates as usize),
        None => Limit::Time(args.budget),
    };
    let shop = Shop::new(("advising", args.quiet), &runs, limit, source, &program)?;
    let shop = shop.with_synthesis(synthesis);
    profiled(&runs[0], &out, &mut places, args.quiet)?;
    let file = match path.file_name() {
        Some(file) if !design::is_standard_input(path) => file.to_owned(),
        _ => format!("{name}.futil").into(),
    };
    let threads = args.jobs.and_then(|jobs| NonZero::new(jobs as usize));
    let threads = threads.or_else(|| thread::available_parallelism().ok());
    let budget = Budget {
        limit,
        threads: threads.map_or(1, NonZero::get),
        search: args.search,
        proved: args.proved,
        goal: args.goal.into(),
    };
    let advice = petal_advise::advise(&shop, &name, &file, program.clone(), budget);
    shop.bar.finish_and_clear();
    let advice = advice.map_err(|message| match interrupt::check() {
        Err(interrupted) => interrupted,
        Ok(()) => Error::new(message),
    })?;
    write(&out, &advice, path)?;
    let is_sound = advice.defects.is_empty();
    if shop.is_another() {
        messages::warning(
            "as it is compiled, the design leaves something else in its memories than with `-d cell-share`, which is what everything was compared with",
        );
    }
    print(&text(args, &advice, path, &out))?;
    if !args.quiet && !advice.interrupted {
        // So that one sees when to stop.
        whatif::bound(&out, &runs[0])?
            .iter()
            .for_each(messages::note);
    }
    if args.apply && is_sound && !advice.interrupted {
        apply::apply(path, &program, &advice, args.quiet)?;
    }
    if !is_sound {
        return Err(defective(&advice, path, &out));
    }
    if advice.interrupted {
        return Err(Error::new("interrupted"));
    }
    let saved = advice.cycles.saturating_sub(advice.with_proved);
    // A limit is a share of the run as it is.
    let change = Change {
        before: advice.cycles,
        after: advice.cycles + saved,
    };
    match args.fail_above {
        Some(limit) if limit.exceeded(change) => Err(Error::new(format!(
            "proved advice saves {} of {} cycles, more than the limit",
            thousands(saved),
            thousands(advice.cycles)
        ))),
        _ => Ok(()),
    }
}

/// A source whose text is in memory, and the text.
pub fn read(source: Source) -> Result<(Source, String), Error> {
    Ok(match source {
        Source::File(path) => {
            let text =
                petal_files::read_to_string(&path).map_err(Error::io("read the design", &path))?;
            let source = Source::Edited {
                path,
                text: text.clone(),
            };
            (source, text)
        }
        Source::Text { name, text } | Source::Edited { path: name, text } => {
            let source = Source::Text {
                name,
                text: text.clone(),
            };
            (source, text)
        }
    })
}

/// What to synthesise for, if anything: another goal than cycles needs it.
fn synthesis(args: &AdviseArgs) -> Result<Option<(Wanted, Tools)>, Error> {
    let mut also = args.also.clone();
    if args.goal != GoalArg::Cycles {
        also.synth = also.synth.or(Some(TargetArg::Ice40));
    }
    let Some(wanted) = Wanted::also(&also) else {
        return Ok(None);
    };
    if args.goal == GoalArg::Time && also.synth == Some(TargetArg::Xilinx) {
        return Err(Error::usage(
            "`--goal time` needs a clock, which nobody tells of `--synth=xilinx`: choose ice40 or ecp5",
        ));
    }
    let tools = wanted.tools()?;
    Ok(Some((wanted, tools)))
}

/// What to do where petal took for proved what is not so.
fn defective(advice: &Advice, path: &Path, out: &Path) -> Error {
    let mut files = vec![path.display().to_string()];
    files.extend(advice.data.iter().map(|data| data.name.clone()));
    let programs = (0..advice.defects.len()).map(Defect::file);
    files.extend(programs.map(|file| out.join(ADVICE).join(file).display().to_string()));
    Error::new(format!(
        "petal took for proved what is not so, which is a defect of petal: trust none of this advice (nothing was applied), and please \
         report it with {}",
        files.join(", ")
    ))
}

/// A run for each data file.
fn runs(args: &AdviseArgs, design: &DesignOptions) -> Vec<Options> {
    let run = |data: Option<PathBuf>| Options {
        name: Some(design::name(&args.design.design)),
        data,
        is_exact: args.exact,
        simulator: Simulator::Embedded,
        cycle_limit: args.cycle_limit,
        max_memory: args.max_memory,
        ..Options::new(design.clone())
    };
    if args.data.is_empty() {
        return vec![run(None)];
    }
    args.data.iter().cloned().map(Some).map(run).collect()
}

fn text(args: &AdviseArgs, advice: &Advice, path: &Path, out: &Path) -> String {
    match args.format {
        AdviceArg::Text => {
            let screen = screen();
            let mut text = advice.text(screen);
            if args.quiet {
                return text;
            }
            if advice.advice.is_empty() {
                if args.proved {
                    text.push_str("without `--proved`, advice that is only checked is told, too\n");
                }
                return text;
            }
            let folder = out.display();
            text.push('\n');
            for line in [
                format!("{folder}/{ADVICE}/ has a patch of each"),
                format!("{folder}/report.html shows them in a browser"),
            ] {
                text.push_str(&screen.wrapped(&line, 2));
            }
            let commands = proposed(args, advice, out);
            if !commands.is_empty() {
                text.push('\n');
                text.push_str(&next(&commands, screen));
            }
            text
        }
        AdviceArg::Markdown => advice.markdown(),
        AdviceArg::Json => with_newline(&advice.json()),
        AdviceArg::Sarif => with_newline(&sarif(advice, path)),
    }
}

/// What to do with advice.
fn proposed(args: &AdviseArgs, advice: &Advice, out: &Path) -> Vec<(Vec<String>, &'static str)> {
    let path = &args.design.design;
    let mut commands = Vec::new();
    if design::is_standard_input(path) {
        return commands;
    }
    let file = path.display().to_string();
    let mut patch = |name: &str, text: &str, what| {
        if !(args.apply || text.is_empty()) {
            let patch = format!("{}/{ADVICE}/{name}", out.display());
            commands.push((vec!["patch".to_owned(), file.clone(), patch], what));
        }
    };
    if advice.proved_patch != advice.all_patch {
        patch(
            "proved.patch",
            &advice.proved_patch,
            "applies what is proved",
        );
    }
    patch(
        "all.patch",
        &advice.all_patch,
        "applies all (`-R`: takes it back)",
    );
    let mut design = args.design.clone();
    for argument in &advice.arguments {
        match argument.split_once(' ') {
            Some(("--passes", list)) => list.clone_into(&mut design.passes),
            Some(("-d", pass)) => design.disable_pass.push(pass.to_owned()),
            Some((_, option)) => design.extra_opt.push(option.to_owned()),
            None => {}
        }
    }
    let run = design::command("run", &design, args.data.first().map(PathBuf::as_path));
    commands.push((run, "profiles it then"));
    commands
}

fn sarif(advice: &Advice, path: &Path) -> serde_json::Value {
    advice.sarif(design::below_here(path), versions::PETAL)
}

fn with_newline(json: &serde_json::Value) -> String {
    format!("{json:#}\n")
}

/// Writes what was found beside the profile, and into its summary and report.
fn write(out: &Path, advice: &Advice, path: &Path) -> Result<(), Error> {
    petal_profile::add_advice(out, advice.json())?;
    let staging = Staging::new(out)?;
    let mut names: Vec<String> = ["md", "sarif"]
        .map(|extension| format!("{ADVICE}/advice.{extension}"))
        .to_vec();
    staging.write(&names[0], advice.markdown())?;
    staging.write(&names[1], with_newline(&sarif(advice, path)))?;
    let items = advice.advice.iter();
    let patches = items.filter_map(|item| Some((item.patch.clone()?, &item.diff)));
    let whole = [
        ("proved.patch".to_owned(), &advice.proved_patch),
        ("all.patch".to_owned(), &advice.all_patch),
        ("proof.txt".to_owned(), &advice.proof),
    ];
    let front = advice.front.iter();
    let front = front.filter_map(|point| Some((point.patch.clone()?, &point.diff)));
    let defects = advice.defects.iter().enumerate();
    let defects = defects.map(|(at, defect)| (Defect::file(at), &defect.text));
    for (name, patch) in patches.chain(whole).chain(front).chain(defects) {
        if !patch.is_empty() {
            let name = format!("{ADVICE}/{name}");
            staging.write(&name, patch)?;
            names.push(name);
        }
    }
    // Those of the advice before go.
    names.extend(outputs::advice(out));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    staging.commit(&names)
}
