//! `petal compare` and `petal baseline`.

mod held;

use std::path::{Path, PathBuf};

use petal_analysis::front_end_file;
use petal_compare::{Baseline, Comparison, Language, Source, Style, differential};
use petal_files::Scratch;
use petal_passes::Pipeline;
use petal_profile::{DesignOptions, Error, Options, Places, Profiled, folder};
use petal_visualize::outputs::LAST;

use crate::args::{BaselineArgs, CompareArgs, ComparisonArg};
use crate::baseline::of_run;
use crate::design;
use crate::messages;
use crate::outcome::strict;
use crate::print::print;
use crate::profile::{analyse, open};
use crate::screen::screen;
use crate::synth::{self, Wanted, synthesise};
use crate::terminal::Terminal;

/// `petal baseline`
pub fn baseline(args: &BaselineArgs) -> Result<(), Error> {
    if let Some(path) = &args.out {
        let mut places = Places::default();
        places.reads_profile(&args.dir)?;
        places.writes("--out", path)?;
    }
    let text = of_folder(&args.dir)?.0.to_json();
    match &args.out {
        Some(path) => folder::write_whole(path, text.as_bytes()),
        None => print(&text),
    }
}

/// `petal compare`
pub fn compare(args: &CompareArgs) -> Result<(), Error> {
    let last = args.last.then(|| last(args)).transpose()?;
    let [base, new] = match &last {
        Some(sides) => sides.each_ref(),
        None => {
            check(args)?;
            [&args.base, args.new.as_ref().unwrap_or(&args.base)]
        }
    };
    let mut places = Places::default();
    if let Some(path) = &args.flame {
        places.writes("--flame", path)?;
    }
    if let Some(path) = &args.html {
        places.writes("--html", path)?;
    }
    for side in [base, new] {
        if design::is_standard_input(side) {
            continue;
        }
        if side.is_dir() {
            places.reads_profile(side)?;
        } else {
            places.reads("the file to compare", side)?;
        }
    }
    let readings = [base, new].map(|side| held::reading(side));
    if readings.iter().any(Option::is_some) {
        return held::held(args, [base, new], readings);
    }
    let (before, old) = side(args, base, args.passes.first(), &mut places)?;
    let (after, new) = side(args, new, args.passes.last(), &mut places)?;
    if !args.fail_above.is_empty() && Comparison::is_partial(&before, &after) {
        return Err(Error::new(
            "one of the runs ended before its design was done, so nobody knows which takes longer; leave out \
             `--fail-above`, or profile it to its end",
        ));
    }
    if let Some(reason) = Comparison::refusal(&before, &after).filter(|_| !args.force) {
        return Err(Error::usage(format!(
            "{reason}; `--force` compares them nevertheless"
        )));
    }
    let comparison = Comparison::new(&before, &after);
    let judgements = comparison.judge(&args.fail_above).map_err(Error::usage)?;
    if let Some(path) = &args.flame {
        let mut image = Vec::new();
        differential(&before, &after, &mut image)
            .map_err(|error| Error::new(format!("cannot draw {}: {error}", path.display())))?;
        folder::write_whole(path, &image)?;
    }
    if let Some(path) = &args.html {
        let page = petal_compare::page(&before, &after, [&old, &new]);
        folder::write_whole(path, page.as_bytes())?;
    }
    print(&match args.format {
        ComparisonArg::Text => comparison.report(Style::Text(screen()), args.all),
        ComparisonArg::Markdown => comparison.report(Style::Markdown, args.all),
        ComparisonArg::Json => comparison.json(&judgements),
        ComparisonArg::GithubActionBenchmark => comparison.github_action_benchmark(),
        ComparisonArg::Bencher => comparison.bencher(),
    })?;
    let exceeded: Vec<String> = judgements
        .into_iter()
        .filter_map(|of| of.exceeded)
        .collect();
    if exceeded.is_empty() {
        Ok(())
    } else {
        Err(Error::new(exceeded.join("\n")))
    }
}

/// The sides of `--last`: the run before, and the last one.
fn last(args: &CompareArgs) -> Result<[PathBuf; 2], Error> {
    if args.new.is_some() {
        return Err(Error::usage(
            "`--last` compares a profile with the run before it: name that profile alone",
        ));
    }
    let dir = if is_program(&args.base) {
        Path::new("petal-out").join(design::name(&args.base))
    } else {
        args.base.clone()
    };
    if is_program(&args.base) {
        let (design, shown) = (args.base.display(), dir.display());
        if !args.base.exists() && !design::is_standard_input(&args.base) {
            return Err(Error::new(format!("there is no design {design}")));
        }
        if !folder::is_profile(&dir) {
            return Err(Error::new(format!(
                "{design} has no run in {shown} yet: `petal run {design}` makes one, and the second one is compared"
            )));
        }
    }
    folder::whole(&dir)?;
    let last = dir.join(LAST);
    if !last.exists() {
        return Err(Error::new(format!(
            "{} holds one run only: change its design, and run it again",
            dir.display()
        )));
    }
    Ok([last, dir])
}

/// Fails if the arguments make no sense together.
fn check(args: &CompareArgs) -> Result<(), Error> {
    if args.passes.len() > 2 {
        return Err(Error::usage(
            "there are two sides, so `--passes` can be given twice at most",
        ));
    }
    let new = args.new.as_ref().unwrap_or(&args.base);
    let programs = [&args.base, new].map(|path| is_program(path));
    let both = args.new.is_some()
        && [&args.base, new]
            .iter()
            .all(|side| design::is_standard_input(side));
    if both {
        return Err(Error::usage(
            "standard input has one program: name something else as one of the sides",
        ));
    }
    if args.new.is_none() && !(programs[0] && args.passes.len() == 2) {
        return Err(Error::usage(
            "name two sides, one Calyx program with two `--passes`, or a profile with `--last`",
        ));
    }
    if args.passes.len() == 2 && programs != [true, true] {
        return Err(Error::usage(
            "`--passes` can be given twice only if both sides are Calyx programs",
        ));
    }
    let compiles = !args.passes.is_empty()
        || !args.disable_pass.is_empty()
        || !args.extra_opt.is_empty()
        || !args.library.is_empty()
        || args.data.is_some()
        || args.max_memory.is_some()
        || args.unverified
        || args.also.synth.is_some();
    if compiles && programs == [false, false] {
        return Err(Error::usage(
            "no side is a Calyx program (`.futil`, or `-`), so nothing is compiled: leave out --passes, --disable-pass, \
             --extra-opt, --library, --data, --max-memory, --unverified and --synth",
        ));
    }
    Ok(())
}

fn is_program(path: &Path) -> bool {
    let is_calyx = path
        .extension()
        .is_some_and(|extension| extension == "futil");
    design::is_standard_input(path) || (is_calyx && !path.is_dir())
}

/// A side: its baseline, and its source where that is known.
type Side = (Baseline, Vec<Source>);

/// A side of the comparison, with the period that the user says, unless it has its own.
fn side(
    args: &CompareArgs,
    path: &Path,
    passes: Option<&String>,
    places: &mut Places,
) -> Result<Side, Error> {
    let (mut baseline, sources) = found(args, path, passes, places)?;
    baseline.period = baseline.period.or(args.clock.period);
    Ok((baseline, sources))
}

fn found(
    args: &CompareArgs,
    path: &Path,
    passes: Option<&String>,
    places: &mut Places,
) -> Result<Side, Error> {
    if is_program(path) {
        let (mut baseline, sources) = of_program(args, path, passes, places)?;
        if let (2, Some(passes)) = (args.passes.len(), passes) {
            baseline.design = format!("{} ({passes})", baseline.design);
        }
        return Ok((baseline, sources));
    }
    if path.is_dir() {
        return of_folder(path);
    }
    let text = petal_files::read_to_string(path).map_err(Error::io("read", path))?;
    let baseline = Baseline::from_json(&text, path);
    let baseline = baseline.map_err(|error| Error::new(error.to_string()))?;
    Ok((baseline, Vec::new()))
}

fn of_folder(dir: &Path) -> Result<Side, Error> {
    let profile = open(dir)?;
    let analysis = analyse(&profile)?;
    let results = profile.observations()?;
    let mut baseline = of_run(&analysis, &profile.summary, results.as_ref());
    baseline.synthesis = profile.synthesis().map(synth::figures);
    let metadata = &profile.metadata;
    let calyx = metadata.files.iter().map(|file| Source {
        name: file.name.clone(),
        text: file.text.clone(),
        language: Language::Calyx,
    });
    let front = metadata.front_end.own_files();
    let front = front.filter_map(|(id, file)| {
        Some(Source {
            name: front_end_file(metadata, id).to_owned(),
            text: file.text.clone()?,
            language: Language::FrontEnd,
        })
    });
    Ok((baseline, calyx.chain(front).collect()))
}

/// The options of those passes that run on a side; the other side may be compiled otherwise.
fn options(args: &CompareArgs, passes: &str) -> Result<Vec<String>, Error> {
    let pipelines: Result<Vec<Pipeline>, Error> = args
        .passes
        .iter()
        .map(String::as_str)
        .chain([passes])
        .map(|passes| Ok(Pipeline::parse(passes, &args.disable_pass)?))
        .collect();
    let pipelines = pipelines?;
    let runs = |pipeline: &Pipeline, option: &str| {
        let pass = option.split(':').next();
        pipeline
            .passes()
            .iter()
            .any(|known| Some(known.as_str()) == pass)
    };
    let (own, others) = pipelines.split_last().expect("this side's is the last");
    let of_others = |option: &String| {
        !runs(own, option) && others.iter().any(|pipeline| runs(pipeline, option))
    };
    let options = args.extra_opt.iter();
    Ok(options
        .filter(|option| !of_others(option))
        .cloned()
        .collect())
}

/// Profiles a program into a folder that is removed at the end.
fn of_program(
    args: &CompareArgs,
    path: &Path,
    passes: Option<&String>,
    places: &mut Places,
) -> Result<Side, Error> {
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    // Not the folder itself, which is locked.
    let folder = scratch.path().join("profile");
    let passes = passes.map_or(petal_passes::ALL, String::as_str);
    let design = DesignOptions {
        passes: passes.to_owned(),
        disabled_passes: args.disable_pass.clone(),
        pass_options: options(args, passes)?,
        libraries: args.library.clone(),
        is_verified: !args.unverified,
        is_strict: args.strict,
        ..DesignOptions::new(design::source(path)?)
    };
    let options = Options {
        name: Some(design::name(path)),
        data: args.data.clone(),
        max_memory: args.max_memory,
        period: args.clock.period,
        ..Options::new(design)
    };
    let wanted = Wanted::also(&args.also);
    let tools = wanted.as_ref().map(Wanted::tools).transpose()?;
    let terminal = Terminal::default();
    let Profiled { summary, .. } = petal_profile::run_in(&options, &folder, places, &terminal)?;
    for warning in &summary.warnings {
        messages::note(format_args!("{}: {warning}", path.display()));
    }
    if args.strict && !summary.warnings.is_empty() {
        return Err(strict(&summary, false));
    }
    if let Some(early) = summary.early_end() {
        return Err(Error::new(format!("{}: {early}", path.display())));
    }
    if let Some((wanted, tools)) = wanted.zip(tools) {
        let (name, places) = (options.name(), &mut Places::default());
        let named = (&*name, &*folder);
        let design = &options.design;
        synthesise(&wanted, tools, design, named, places, &terminal)?;
    }
    of_folder(&folder)
}
