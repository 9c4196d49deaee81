//! `petal whatif`: what a run would take if something in it took less.
//!
//! What no program has, such as control that takes no cycle, is replayed from the profile (`petal_analysis::replay`); what a text
//! or a library can say, such as another latency of a primitive, is simulated.

mod advised;
mod bounds;
mod curve;
mod primitives;
mod wanted;
mod words;

use std::path::Path;
use std::time::Instant;

use petal_analysis::dataflow::Dataflow;
use petal_analysis::parts::Part;
use petal_analysis::replay::{Answer, Found, Question, Replay, Wanted};
use petal_analysis::resources::Resources;
use petal_analysis::{Analysis, ControlView};
use petal_profile::{Error, Options, Places, Profile, Profiled, add_what_if};
use petal_program::Program;
use petal_reconstruct::FrameLabels;
use petal_table::{Column, Table, Value, thousands};

use self::advised::Advised;
use self::bounds::Bounds;
use self::curve::Curve;
use crate::args::{FormatArg, WhatIfArgs};
use crate::design;
use crate::messages;
use crate::print::print;
use crate::progress::Stage;
use crate::run::profiled;
use crate::screen::{next, screen};

/// How a replay answers, and how where other control would be there then.
const REPLAYED: &str = "replayed";
const ESTIMATED: &str = "estimated";
/// How a run of another design answers.
const SIMULATED: &str = "simulated";
/// The same where there is nothing to compare.
const UNCOMPARED: &str = "simulated: no results to compare";
/// The same where it came to no end.
const NO_END: &str = "simulated: no end";

/// How many loops and cells are shown, those that take longest.
const PARTS: usize = 6;

/// An answer.
struct Row {
    what_if: String,
    /// What one would count, if that is known.
    counted: Option<i64>,
    /// `None` where the results would be others.
    saved: Option<i64>,
    /// What it saves at least and at most, if that is all that is known.
    between: Option<(i64, i64)>,
    how: &'static str,
    /// The kinds of advice that may make it so.
    advice: String,
}

/// What is known of a run.
struct Known<'a> {
    rows: Vec<Row>,
    bounds: Bounds,
    analysis: Analysis<'a>,
}

/// `petal whatif`
pub fn whatif(args: &WhatIfArgs) -> Result<(), Error> {
    let path = &args.design.design;
    design::check(path)?;
    let name = design::name(path);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("petal-out").join(&name));
    let mut places = Places::default();
    places.writes_profile(&out)?;
    if let Some(profile) = &args.profile {
        places.writes_folder("--profile", profile)?;
    }
    let options = Options {
        name: Some(name),
        data: args.data.clone(),
        is_exact: args.exact,
        cycle_limit: args.cycle_limit,
        max_memory: args.max_memory,
        ..Options::new(args.design.options()?)
    };
    primitives::check(&args.primitive, args.profile.is_some())?;
    let is_replayed = [&args.overhead, &args.condition, &args.balance, &args.order]
        .into_iter()
        .any(|names| !names.is_empty())
        || !args.cycles.is_empty();
    if is_replayed && !args.primitive.is_empty() {
        return Err(Error::usage(
            "`--primitive` is simulated, and what the other options ask is replayed: ask one after the other",
        ));
    }
    let Profiled {
        summary, memories, ..
    } = profiled(&options, &out, &mut places, args.quiet)?;
    if let Some(stopped) = &summary.stopped {
        return Err(Error::new(format!(
            "there is nothing to ask of a run that did not end: {stopped}"
        )));
    }
    let profile = Profile::open(&out)?;
    let cycles = profile.summary.cycles;
    let wanted = wanted::wanted(args, &profile.metadata)?;
    let is_everything = args.primitive.is_empty() && !is_replayed;
    let program = is_everything
        .then(|| options.design.program())
        .transpose()?;
    let Known {
        mut rows,
        bounds,
        analysis,
    } = replayed(
        &profile,
        wanted,
        program.map(|program| (program, &options, args)),
    )?;
    if !args.primitive.is_empty() {
        rows.clear();
    }
    if !is_replayed {
        let simulating = Stage::new("simulating", args.quiet);
        let until = is_everything.then(|| Instant::now() + args.budget / 2);
        rows.extend(primitives::rows(
            &options,
            &profile,
            analysis.activations(),
            &memories,
            (&args.primitive, until),
        )?);
        drop(simulating);
    }
    if let Some(out) = &args.profile {
        let of = (&profile.metadata, analysis.activations());
        let problem = rows.iter().find(|row| row.how != SIMULATED);
        if problem.is_some_and(|row| row.how == NO_END) {
            return Err(Error::new(
                "`--profile`: there is no profile of a run that did not end",
            ));
        }
        primitives::profile(&options, of, &args.primitive, out, &mut places)?;
        if let Some(row) = problem {
            messages::warning(format_args!("`--profile`: {}", row.how));
        }
    }
    // A curve stays one.
    if args.primitive.len() != 1 {
        rows.sort_by_key(|row| std::cmp::Reverse(row.saved.unwrap_or(i64::MIN)));
    }
    let known = profile.summary.what_if.clone();
    if is_everything {
        let mut all = json(&rows, &bounds, cycles);
        if let Some(curves) = known.and_then(|known| known.get("curves").cloned()) {
            all["curves"] = curves;
        }
        add_what_if(&out, all)?;
    } else if let Some(curve) = Curve::asked(args, &rows) {
        let known = known.unwrap_or_else(|| json(&[], &Bounds::default(), cycles));
        add_what_if(&out, curve.added_to(known))?;
    }
    print(&text(args, &rows, &bounds, cycles, &out))
}

/// The cell that needs most cycles for itself in the profile in `dir`, in a sentence; `None` if there is none that is limited.
pub fn bound(dir: &Path, options: &Options) -> Result<Option<String>, Error> {
    let profile = Profile::open(dir)?;
    let accesses = petal_program::accesses(&options.design.program()?.ctx);
    let mut resources = Resources::new(&profile.metadata, &accesses);
    profile.events(ControlView::Source, &mut |event| {
        resources.event(event);
        Ok(())
    })?;
    let (resources, _) = resources.finish();
    Ok(resources.first().map(|of| {
        let uses = thousands(of.uses);
        format!(
            "no change makes it shorter than {uses} cycles as long as {} ({}) is used {uses} times, one after the other; `petal whatif` has all bounds",
            of.path, of.primitive
        )
    }))
}

/// What a replay of the run tells: of all that is wanted at once, or of everything, also by the program.
fn replayed<'a>(
    profile: &'a Profile,
    wanted: Wanted,
    everything: Option<(Program, &Options, &WhatIfArgs)>,
) -> Result<Known<'a>, Error> {
    let is_all = wanted.is_empty();
    let labels = FrameLabels::new(&profile.metadata);
    let together = wanted.text(&profile.metadata, &labels);
    let mut replay = Replay::new(&profile.metadata, wanted);
    let told = everything
        .as_ref()
        .map(|(program, options, _)| -> Result<_, Error> {
            let program = &program.ctx;
            let flows = petal_program::flows(program);
            let words = words::accesses(options, &flows)?;
            Ok((petal_program::accesses(program), flows, words))
        });
    let told = told.transpose()?;
    let mut bounding = told.as_ref().map(|(accesses, flows, words)| {
        let metadata = &profile.metadata;
        (
            Resources::new(metadata, accesses),
            Dataflow::new(metadata, flows, words),
        )
    });
    let (analysis, _) = profile.analyse_with(ControlView::Source, &mut |item| {
        item.try_for_each(|event| {
            replay.event(event);
            if let Some((resources, dataflow)) = &mut bounding {
                resources.event(event);
                dataflow.event(event);
            }
            Ok(())
        })
    })?;
    let found = replay.finish(analysis.activations());
    let instances = analysis.activations().elements().instances();
    let name = |part: Part| part.name(&profile.metadata, &labels, instances);
    let bounds = bounding.map(|(resources, dataflow)| {
        bounds::bounds(&found, dataflow.finish(), resources.finish(), name)
    });
    let Found {
        cycles,
        answers,
        unknown,
        parts: _,
    } = found;
    if cycles != profile.summary.cycles {
        return Err(Error::new(format!(
            "the replay of the run has {} cycles, and the run {}, which is a defect of petal: please report it with the design",
            thousands(cycles),
            thousands(profile.summary.cycles)
        )));
    }
    if let Some(unknown) = unknown.first() {
        return Err(Error::new(format!(
            "the call trees do not tell how long each run of `{}` takes: some follow one another without a break, or hand their cycles on to a cell",
            unknown.subject(&profile.metadata, &labels)
        )));
    }
    let mut advised = None;
    if let Some((program, options, args)) = everything {
        let all = advised.insert(Advised::of(program, &profile.metadata, &analysis)?);
        all.try_each(options, &answers, (args.budget / 2, args.quiet))?;
    }
    let is_asked = |question| match question {
        Question::Wanted => !is_all,
        // It is one of the bounds.
        Question::DataOrder => false,
        _ => is_all,
    };
    let answers = answers.into_iter();
    let answers = answers.filter(|(question, _)| is_asked(*question));
    let rows = answers.map(|(question, answer)| {
        let Answer {
            counted,
            saved,
            between,
        } = answer;
        let simulated = advised.as_ref().and_then(|of| of.simulated(question));
        let between = between.filter(|_| simulated.is_none());
        Row {
            what_if: match question {
                Question::Wanted => together.clone(),
                question => question.text(&profile.metadata, &labels),
            },
            counted: (counted != 0).then_some(counted),
            saved: Some(simulated.unwrap_or(saved)),
            between,
            how: match simulated {
                // Zeros may be the same whatever is done with them.
                Some(_) if profile.summary.no_data.is_some() => UNCOMPARED,
                Some(_) => SIMULATED,
                None if between.is_some() => ESTIMATED,
                None => REPLAYED,
            },
            advice: advised
                .as_ref()
                .map_or_else(String::new, |of| of.text(question)),
        }
    });
    // What is on no critical path is an answer, too, but not what was not there.
    let rows = rows.filter(|row| !is_all || row.counted.is_some() || row.saved > Some(0));
    Ok(Known {
        rows: rows.collect(),
        bounds: bounds.unwrap_or_default(),
        analysis,
    })
}

fn table<'a>(rows: impl Iterator<Item = &'a Row>, cycles: u64) -> Table {
    let mut table = Table::new(vec![
        Column::text("what if"),
        Column {
            is_optional: true,
            ..Column::number("counted")
        },
        Column::number("saves"),
        Column::number("of run"),
        Column {
            is_optional: true,
            ..Column::number("at least")
        },
        Column {
            is_optional: true,
            ..Column::number("at most")
        },
        Column {
            is_optional: true,
            ..Column::text("how")
        },
        Column {
            is_optional: true,
            ..Column::text("advice")
        },
    ]);
    for row in rows {
        let known = row.saved.filter(|_| row.between.is_none());
        let saved = known.map_or(Value::Unknown, Value::Signed);
        let percent = known.map_or(Value::Unknown, |saved| {
            #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
            let percent = 100.0 * saved as f64 / cycles.max(1) as f64;
            Value::Decimal(percent)
        });
        let between = |end: fn((i64, i64)) -> i64| {
            let between = row.between.map(end);
            between.map_or(Value::Empty, Value::Signed)
        };
        table.push(vec![
            Value::Text(row.what_if.clone()),
            row.counted.map_or(Value::Empty, Value::Signed),
            saved,
            percent,
            between(|(least, _)| least),
            between(|(_, most)| most),
            Value::Text(row.how.to_owned()),
            match &*row.advice {
                "" => Value::Empty,
                advice => Value::Text(advice.to_owned()),
            },
        ]);
    }
    table
}

/// All that was found, for other programs.
fn json(rows: &[Row], bounds: &Bounds, cycles: u64) -> serde_json::Value {
    serde_json::json!({
        "cycles": cycles,
        "answers": table(rows.iter(), cycles).json(),
        "bounds": bounds::table(&bounds.run, cycles).json(),
        "parts": bounds::parts(&bounds.parts).json(),
    })
}

fn text(args: &WhatIfArgs, rows: &[Row], bounds: &Bounds, cycles: u64, out: &Path) -> String {
    let all = || table(rows.iter(), cycles);
    match args.format {
        FormatArg::Csv => return all().csv(),
        FormatArg::Markdown => return all().markdown(),
        FormatArg::Json => return format!("{:#}\n", json(rows, bounds, cycles)),
        FormatArg::Text => {}
    }
    let screen = screen();
    let run = match cycles {
        1 => "1 cycle".to_owned(),
        cycles => format!("{} cycles", thousands(cycles)),
    };
    let mut text = if rows.is_empty() {
        format!("the run takes {run}, and nothing but computation")
    } else {
        format!("the run takes {run}; what if it had")
    };
    text = screen.wrapped(&text, 0);
    if !rows.is_empty() {
        text.push('\n');
    }
    let shown = table(rows.iter().take(args.top), cycles);
    let is_empty = |column: usize| {
        let mut rows = shown.rows().iter();
        rows.all(|row| matches!(row[column], Value::Empty))
    };
    let columns = (0..shown.columns().len()).filter(|column| !is_empty(*column));
    let rows_shown: Vec<usize> = (0..shown.rows().len()).collect();
    let shown = shown.part(&rows_shown, &columns.collect::<Vec<_>>());
    text.push_str(&shown.shown(screen, 2));
    if let Some(more) = rows.len().checked_sub(args.top).filter(|more| *more > 0) {
        text.push_str(&screen.wrapped(&format!("{more} more: `--top {}`", rows.len()), 2));
    }
    if let Some(knee) = Curve::asked(args, rows).and_then(|curve| curve.knee()) {
        text.push_str(&screen.wrapped(&knee, 2));
    }
    if !bounds.run.is_empty() {
        text.push('\n');
        text.push_str(&bounds::table(&bounds.run, cycles).shown(screen, 2));
    }
    let longest = bounds.parts.len().min(PARTS);
    if longest > 0 {
        text.push('\n');
        text.push_str(&bounds::parts(&bounds.parts[..longest]).shown(screen, 2));
    }
    if args.quiet {
        return text;
    }
    text.push('\n');
    if rows
        .iter()
        .any(|row| [REPLAYED, ESTIMATED].contains(&row.how))
    {
        text.push_str(&screen.wrapped(
            "replayed, or estimated: the run put together anew without these cycles; maybe no program is like that, and one whose course depends on time may \
             take another",
            0,
        ));
    }
    if rows.iter().any(|row| row.how == SIMULATED) {
        text.push_str(&screen.wrapped(
            "simulated: run with such a primitive or program, with the same results",
            0,
        ));
    }
    if rows.iter().any(|row| !row.advice.is_empty()) {
        text.push_str(&screen.wrapped(
            "advice: what it saves by itself; `petal advise` puts it together",
            0,
        ));
    }
    let folder = out.display().to_string();
    let mut commands = Vec::new();
    if !design::is_standard_input(&args.design.design) {
        let words = design::command("advise", &args.design, args.data.as_deref());
        commands.push((words, "tries what a program can have"));
    }
    if let Some(other) = &args.profile {
        let other = other.display().to_string();
        let compare = ["petal", "compare", &folder, &other].map(str::to_owned);
        commands.push((compare.to_vec(), "where the cycles went"));
    }
    let graph = ["petal", "graph", &folder].map(str::to_owned).to_vec();
    commands.push((graph, "what ran after what"));
    text.push('\n');
    text.push_str(&next(&commands, screen));
    text
}
