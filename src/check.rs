//! `petal check`: what is wrong in a run, whatever its results are.
//!
//! The design is compiled as it is written, since arms of a `par` race in the program and not in what an optimiser makes of it.

mod report;
mod sarif;
mod text;
mod undriven;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use petal_analysis::ControlView;
use petal_analysis::races::{Found, Races, WordAccess};
use petal_files::Scratch;
use petal_metadata::Reads;
use petal_observe::{AccessKind, AccessRequest, Accesses};
use petal_profile::{
    Error, ObserveOptions, Options, Places, Profile, Profiled, observations, run_in,
};
use petal_program::{Program, Written, reads};

use self::report::{Beyond, Report};
use crate::args::{CheckArgs, CheckFormat};
use crate::design;
use crate::outcome::{strict, warn};
use crate::print::print;
use crate::terminal::Terminal;

/// `petal check`
pub fn check(args: &CheckArgs) -> Result<(), Error> {
    let path = &args.design.design;
    let design = args.design.options()?;
    let program = design.program()?;
    let mut request = args.rules();
    request.accesses.push(AccessRequest::new(None, "*".into()));
    let options = Options {
        name: Some(design::name(path)),
        data: args.data.clone(),
        is_exact: args.exact,
        cycle_limit: args.cycle_limit,
        max_memory: args.max_memory,
        is_partial: true,
        is_drawn: false,
        observe: ObserveOptions {
            request,
            undriven: true,
            ..ObserveOptions::default()
        },
        ..Options::new(design)
    };
    // Nobody takes the profile of a check for that of the design.
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    let out = scratch.path().join("profile");
    let mut places = Places::default();
    let Profiled {
        summary, results, ..
    } = run_in(&options, &out, &mut places, &Terminal::new(args.quiet))?;
    warn(&summary, args.quiet);
    let accesses = results.as_ref().map_or(&[][..], |of| &of.accesses);
    let imported = match args.format {
        CheckFormat::Sarif => imported(&program),
        CheckFormat::Text | CheckFormat::Json => BTreeMap::new(),
    };
    let profile = Profile::open(&out)?;
    let reads = reads_of(program);
    let read = results.as_ref().map_or(&[][..], |of| &of.undriven);
    let (undriven, unfollowed) = undriven::undriven(read, &profile.metadata, &reads);
    let report = Report {
        design: summary.design.clone(),
        passes: args.design.passes.clone(),
        cycles: summary.cycles,
        found: races(&profile, &reads, accesses)?,
        undriven,
        unfollowed,
        beyond: accesses.iter().flat_map(beyond).collect(),
        rules: results
            .as_ref()
            .map(observations::broken_rules)
            .unwrap_or_default(),
        stopped: summary.early_end(),
    };
    print(&match args.format {
        CheckFormat::Text => text::text(&report),
        CheckFormat::Json => format!("{:#}\n", report.json()),
        CheckFormat::Sarif => format!(
            "{:#}\n",
            sarif::sarif(&report, design::below_here(path), &imported)
        ),
    })?;
    if args.design.strict && !summary.warnings.is_empty() {
        return Err(strict(&summary, args.quiet));
    }
    match report.counts() {
        counts if counts.is_empty() || args.exit_zero => Ok(()),
        counts => Err(Error::new(format!("the check found {counts}"))),
    }
}

/// Where each file that a program imports is, by its name, which several may have.
fn imported(program: &Program) -> BTreeMap<String, Vec<PathBuf>> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(&program.path);
    let mut imported: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in program.texts.calyx.keys().map(|path| real(Path::new(path))) {
        if let Some(name) = path.file_name().filter(|_| path != root) {
            let name = name.to_string_lossy().into_owned();
            imported.entry(name).or_default().push(path);
        }
    }
    imported
}

/// Who takes what in a program.
fn reads_of(mut program: Program) -> Reads {
    let written = Written::of(&mut program.ctx, program.texts.into());
    reads(&program.ctx, &written)
}

/// Races in a run whose accesses were listed.
fn races(profile: &Profile, reads: &Reads, accesses: &[Accesses]) -> Result<Found, Error> {
    let words = words(accesses);
    let mut races = Races::new(&profile.metadata, reads, &words);
    profile.events(ControlView::Source, &mut |event| {
        races.event(event);
        Ok(())
    })?;
    Ok(races.finish())
}

/// The accesses of words, in the order of time.
fn words(accesses: &[Accesses]) -> Vec<WordAccess> {
    let mut words = Vec::new();
    for of in accesses {
        let memory: Rc<str> = of.memory.as_str().into();
        let paths: Vec<Rc<str>> = of
            .sites
            .iter()
            .map(|site| site.path.as_str().into())
            .collect();
        let known = of.accesses.iter().filter_map(|access| {
            Some(WordAccess {
                cycle: access.cycle,
                memory: Rc::clone(&memory),
                word: access.index?,
                is_write: access.access == AccessKind::Write,
                by: access
                    .by
                    .iter()
                    .map(|&site| Rc::clone(&paths[site]))
                    .collect(),
            })
        });
        words.extend(known);
    }
    words.sort_by_key(|of| of.cycle);
    words
}

/// The accesses beyond a memory, once for each who makes them.
fn beyond(of: &Accesses) -> Vec<Beyond> {
    let mut all: Vec<Beyond> = Vec::new();
    let is_sized = !of.sizes.is_empty();
    for access in of
        .accesses
        .iter()
        .filter(|access| is_sized && access.index.is_none())
    {
        let sites = access.by.iter().map(|&site| of.sites[site].clone());
        let mut next = Beyond {
            memory: of.memory.clone(),
            sizes: of.sizes.clone(),
            address: access.address.clone(),
            access: access.access.name(),
            by: sites.collect(),
            cycle: access.cycle,
            times: 1,
        };
        match all.iter_mut().find(|known| known.is_by_same(&next)) {
            Some(known) => known.times += 1,
            None => {
                next.by.dedup();
                all.push(next);
            }
        }
    }
    all
}
