//! Where the programs that `petal advise` tries are compiled, run and compared.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use petal_advise::{Change, Cost, Hardware, Limit, Passes, Ran, Trial, Variant, Workshop};
use petal_advise::{Observed, Piece, Rewrite, RewriteKind};
use petal_analysis::{Analysis, ControlView, Period};
use petal_embedded::{Compiled, Options as SimulationOptions, Stopped, Visible};
use petal_metadata::{CompiledKind, ComponentId, Metadata};
use petal_passes::{Design, Pipeline};
use petal_profile::{DesignOptions, Error, Memories, Options, interrupt};
use petal_program::{Library, Parsed, Program, Source};
use petal_reconstruct::Reconstruction;
use petal_synth::Tools;
use petal_table::thousands;

use super::profiles::Profiles;
use crate::progress::target;
use crate::synth::{Wanted, figures, measure};

/// Compiles, runs and compares programs.
pub struct Shop<'a> {
    /// How the program is run.
    options: &'a Options,
    library: Library,
    source: Source,
    /// What is in memory, for each data set.
    data: Vec<DataSet>,
    /// The run of the program as it is.
    as_it_is: Ran,
    is_held_against_apart: AtomicBool,
    names: Vec<String>,
    /// What to synthesise for, and the tools, if that is asked for.
    synthesis: Option<(Wanted, Tools)>,
    /// How far the search may go.
    limit: Limit,
    /// One program is parsed at a time anyway.
    pub bar: ProgressBar,
    told: Mutex<()>,
}

/// The contents of the memories with one data set.
struct DataSet {
    before: Memories,
    /// After the run of the program as it is.
    after: String,
    /// After that with each cell apart, if there is one.
    after_apart: Option<String>,
}

impl<'a> Shop<'a> {
    /// For the program as it is in these runs, which differ in their data alone; the progress says what is being done, unless it is to be
    /// quiet.
    pub fn new(
        (doing, quiet): (&'static str, bool),
        runs: &'a [Options],
        limit: Limit,
        source: Source,
        text: &str,
    ) -> Result<Self, Error> {
        let [options, ..] = runs else {
            return Err(Error::new("there are no runs"));
        };
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(target(quiet));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} ({elapsed}) {wide_msg}")
        {
            bar.set_style(style);
        }
        bar.set_prefix(doing);
        let mut shop = Self {
            options,
            library: Library::new(&options.design.libraries)?,
            source,
            data: Vec::new(),
            as_it_is: Ran {
                cycles: Vec::new(),
                hardware: Hardware::default(),
            },
            is_held_against_apart: AtomicBool::new(false),
            names: Vec::new(),
            synthesis: None,
            limit,
            bar,
            told: Mutex::default(),
        };
        let original = Variant::original(text.to_owned());
        let memory = options.memory_limit();
        shop.program(&original)?.check_size(memory)?;
        let design = shop.compile(&original)?;
        let compiled = Compiled::new(design.program(), &[], Visible::Probes).map_err(|error| {
            Error::new(format!(
                "{error}; only petal's own simulator runs a design hundreds of times"
            ))
        })?;
        shop.as_it_is.hardware = hardware(&design);
        let apart = shop.apart(&original);
        for run in runs {
            let memories = Memories::of(run, &design)?;
            let after = match run_once(&compiled, &design, &memories, options.cycle_limit)? {
                Ok((cycles, after)) => {
                    shop.as_it_is.cycles.push(cycles);
                    after
                }
                Err(stopped) => {
                    return Err(Error::new(format!(
                        "there is nothing to compare with: {stopped} (`petal run` tells what it waits for)"
                    )));
                }
            };
            let name = run.data_file();
            let name = name.map_or_else(|| "zeros".to_owned(), |name| name.display().to_string());
            shop.names.push(name);
            let apart = match &apart {
                Some((design, compiled)) => {
                    run_once(compiled, design, &memories, options.cycle_limit)?.ok()
                }
                None => None,
            };
            shop.data.push(DataSet {
                before: memories,
                after,
                after_apart: apart.map(|(_, after)| after),
            });
        }
        Ok(shop)
    }

    /// Whether programs are held against the one with each cell apart, and that leaves something else in memory than the one as it is.
    pub fn is_another(&self) -> bool {
        let mut sets = self.data.iter();
        self.is_held_against_apart.load(Ordering::Relaxed)
            && sets.any(|set| {
                set.after_apart
                    .as_ref()
                    .is_some_and(|apart| *apart != set.after)
            })
    }

    /// Whether somebody says that each cell has hardware of its own. That the passes do not share cells is not enough: others may.
    fn is_apart(&self, variant: &Variant) -> bool {
        let design = self.design(variant.passes());
        let left_out = Passes::apart().disabled;
        left_out
            .iter()
            .all(|pass| design.disabled_passes.contains(pass))
    }

    /// The program with hardware of its own for each cell, where the compiler gives several one.
    fn apart(&self, original: &Variant) -> Option<(Design, Compiled)> {
        let pipeline = self.pipeline(original.passes()).ok()?;
        if !pipeline.shares_cells() {
            return None;
        }
        let variant = Change::Apart.apply(original);
        let design = self.compile(&variant).ok()?;
        let compiled = Compiled::new(design.program(), &[], Visible::Probes).ok()?;
        Some((design, compiled))
    }

    /// That also tells what programs cost on a device.
    pub fn with_synthesis(self, synthesis: Option<(Wanted, Tools)>) -> Self {
        Self { synthesis, ..self }
    }

    fn source(&self, variant: &Variant) -> Source {
        let mut source = self.source.clone();
        match &mut source {
            Source::Edited { text, .. } | Source::Text { text, .. } => {
                variant.text().clone_into(text);
            }
            Source::File(_) => unreachable!("it is a text"),
        }
        source
    }

    /// The options that compile a program with these passes.
    fn design(&self, passes: &Passes) -> DesignOptions {
        let mut design = self.options.design.clone();
        if let Some(list) = &passes.passes {
            design.passes.clone_from(list);
        }
        design
            .disabled_passes
            .extend(passes.disabled.iter().cloned());
        design.pass_options.extend(passes.options.iter().cloned());
        design
    }

    fn program(&self, variant: &Variant) -> Result<Program, Error> {
        Ok(Parsed::read(self.source(variant), &self.library)?.program()?)
    }

    fn pipeline(&self, passes: &Passes) -> Result<Pipeline, Error> {
        self.design(passes).pipeline()
    }

    fn compile(&self, variant: &Variant) -> Result<Design, Error> {
        let pipeline = self.pipeline(variant.passes())?;
        Ok(petal_passes::compile(self.program(variant)?, &pipeline)?)
    }
}

/// The cycles of a run and the memories after it, or why it ended before the design was done.
pub fn run_once(
    compiled: &Compiled,
    design: &Design,
    memories: &Memories,
    limit: u64,
) -> Result<Result<(u64, String), Stopped>, Error> {
    let mut simulation = compiled.simulation(SimulationOptions {
        cycle_limit: limit,
        interrupt: interrupt::flag(),
        partial: true,
        ..SimulationOptions::default()
    })?;
    let memories = memories.in_design(design);
    memories.load(&mut simulation);
    let cycles = simulation.run_to(u64::MAX)?;
    if let Some(stopped) = simulation.stopped().cloned() {
        return Ok(Err(stopped));
    }
    Ok(Ok((cycles, memories.store(&mut simulation))))
}

impl Workshop for Shop<'_> {
    type Profile = Profiles;

    fn data(&self) -> Vec<String> {
        self.names.clone()
    }

    fn as_it_is(&self) -> Ran {
        self.as_it_is.clone()
    }

    fn hold_against_apart(&self, is_apart: bool) {
        self.is_held_against_apart
            .store(is_apart, Ordering::Relaxed);
    }

    fn try_out(&self, variant: &Variant, limit: u64) -> Trial {
        let compiled = self.compile(variant).and_then(|design| {
            let compiled = Compiled::new(design.program(), &[], Visible::Probes)?;
            Ok((design, compiled))
        });
        let (design, compiled) = match compiled {
            Ok(compiled) => compiled,
            Err(failure) => return Trial::Failed(failure.to_string()),
        };
        let mut cycles = Vec::new();
        let mut left = limit.min(
            self.options
                .cycle_limit
                .saturating_mul(self.data.len() as u64),
        );
        let is_apart = self.is_held_against_apart.load(Ordering::Relaxed);
        for (set, name) in self.data.iter().zip(&self.names) {
            let expected = match &set.after_apart {
                Some(apart) if is_apart => apart,
                _ => &set.after,
            };
            match run_once(&compiled, &design, &set.before, left) {
                Ok(Ok((count, after))) if after == *expected => {
                    left -= count;
                    cycles.push(count);
                }
                Ok(Ok((_, after))) => {
                    let what = Memories::difference(&after, expected);
                    return Trial::Differs(format!("with it, {what} ({name})"));
                }
                Ok(Err(Stopped::CycleLimit { .. })) => return Trial::TooLong,
                Ok(Err(stopped)) => return Trial::Failed(stopped.to_string()),
                Err(failure) => return Trial::Failed(failure.to_string()),
            }
        }
        Trial::Ran(Ran {
            cycles,
            hardware: hardware(&design),
        })
    }

    fn rewrites(&self, variant: &Variant, observed: &Observed) -> Result<Vec<Rewrite>, String> {
        let rewrites = || {
            let pipeline = self.pipeline(variant.passes())?;
            let mut found = petal_advise::rewrites(self.program(variant)?, observed)?;
            let compiles_static = pipeline.compiles_static();
            found.retain(|rewrite| compiles_static || !rewrite.kind.needs_static());
            Ok::<_, Error>(found)
        };
        rewrites().map_err(|failure| failure.to_string())
    }

    fn pieces(&self, both: [&Variant; 2], kind: RewriteKind) -> Result<Vec<Piece>, String> {
        let pieces = || {
            let (before, after) = (self.program(both[0])?, self.program(both[1])?);
            Ok::<_, Error>(petal_advise::pieces(&before, &after, kind))
        };
        pieces().map_err(|failure| failure.to_string())
    }

    fn profile(&self, variant: &Variant) -> Result<Profiles, String> {
        self.profiles(variant)
            .map_err(|failure| failure.to_string())
    }

    fn states(&self, variant: &Variant) -> Result<u64, String> {
        let instrument = || {
            let pipeline = self.pipeline(variant.passes())?;
            let (_, metadata) = petal_passes::instrument(self.program(variant)?, &pipeline)?;
            Ok::<Metadata, Error>(metadata)
        };
        let metadata = instrument().map_err(|failure| failure.to_string())?;
        Ok(states(&metadata, metadata.main))
    }

    fn cost(&self, variant: &Variant) -> Result<Option<Cost>, String> {
        let Some((wanted, tools)) = &self.synthesis else {
            return Ok(None);
        };
        self.bar
            .set_message("the search is over; synthesising what it found");
        let design = DesignOptions {
            source: self.source(variant),
            ..self.design(variant.passes())
        };
        let synthesis = measure(wanted, tools.clone(), &design);
        let synthesis = synthesis.map_err(|failure| failure.to_string())?;
        let of = figures(&synthesis);
        Ok(Some(Cost {
            period_ps: of.period().map(Period::ps),
            device: of.device,
            luts: of.luts,
            ffs: of.ffs,
            periods_ps: of.periods_ps,
        }))
    }

    fn pipelines(&self) -> Vec<Passes> {
        let passes = self.pipeline(&Passes::default());
        let passes = passes.map(|pipeline| pipeline.passes().to_vec());
        petal_advise::pipelines(
            &passes.unwrap_or_default(),
            &self.options.design.pass_options,
        )
    }

    fn progress(&self, runs: usize, best: u64) {
        let _told = self.told.lock();
        let left = match self.limit {
            Limit::Time(budget) => {
                let left = budget.saturating_sub(self.bar.elapsed());
                format!(
                    "{:#} left",
                    HumanDuration(Duration::from_secs(left.as_secs()))
                )
            }
            Limit::Programs(all) => {
                let left = all.saturating_sub(runs);
                format!("{} more", thousands(left as u64))
            }
        };
        self.bar.set_message(format!(
            "{} programs tried, best {} cycles, at most {left}",
            thousands(runs as u64),
            thousands(best)
        ));
        self.bar.tick();
    }

    fn is_interrupted(&self) -> bool {
        interrupt::is_requested()
    }
}

impl Shop<'_> {
    fn profiles(&self, variant: &Variant) -> Result<Profiles, Error> {
        let pipeline = self.pipeline(variant.passes())?;
        let (design, metadata) = petal_passes::instrument(self.program(variant)?, &pipeline)?;
        let reconstruction = Reconstruction::new(&metadata);
        let mut profiles = Profiles::new(&design, self.is_apart(variant));
        let probes = &reconstruction.signals().watched;
        let compiled = Compiled::new(design.program(), probes, Visible::Probes)?;
        for (at, set) in self.data.iter().enumerate() {
            let mut simulation = compiled.simulation(SimulationOptions {
                cycle_limit: self.options.cycle_limit,
                interrupt: interrupt::flag(),
                partial: false,
                ..SimulationOptions::default()
            })?;
            set.before.in_design(&design).load(&mut simulation);
            let mut analysis = Analysis::new(&metadata, ControlView::Source);
            reconstruction
                .run(&mut simulation, &mut |event| {
                    analysis.event(&event);
                    Ok::<(), Error>(())
                })
                .map_err(|error| Error::new(error.to_string()))?;
            profiles.add(&metadata, &analysis, at == 0);
        }
        Ok(profiles)
    }
}

/// What a design is made of, but for states.
fn hardware(design: &Design) -> Hardware {
    let mut hardware = Hardware::default();
    for (name, count) in design.cells() {
        let width = name
            .strip_prefix("std_reg(")
            .and_then(|rest| rest.strip_suffix(')')?.parse::<u64>().ok());
        match width {
            Some(width) => {
                hardware.registers += count;
                // Each has one more for its `done`.
                hardware.register_bits += count * (width + 1);
            }
            None => {
                hardware.cells.insert(name, count);
            }
        }
    }
    hardware
}

/// The states of the state machines of a component, with those of all cells in it.
fn states(metadata: &Metadata, id: ComponentId) -> u64 {
    let component = metadata.component(id);
    let own = component.compiled.iter().map(|group| match group.kind {
        CompiledKind::Fsm { last, .. } => last + 1,
        CompiledKind::Leaf | CompiledKind::Par { .. } => 0,
    });
    let cells = component.instances();
    own.sum::<u64>() + cells.map(|(_, of)| states(metadata, of)).sum::<u64>()
}
