//! A run in Verilator.

use std::fs::{self, File};
use std::path::Path;

use petal_embedded::Stopped;
use petal_observe::Observations;
use petal_reconstruct::Computation;
use petal_verilator::{BuildOptions, RunOptions, Verilator};

use super::{Followed, Job, NO_FST};
use crate::cache::Cache;
use crate::error::Error;
use crate::folder::{self, Draft};
use crate::follow::{self, Known, Unfollowed};
use crate::interrupt;
use crate::verify::more_verilog;

impl<'a> Job<'a> {
    /// Refuses what Verilator cannot do.
    fn check_for_verilator(&self) -> Result<(), Error> {
        let problem = if self.options.is_partial {
            "Verilator cannot make a partial profile; leave out `--partial`"
        } else if self.options.fst.is_some() {
            NO_FST
        } else if !self.waveforms.are_none() && self.observing.have_windows() {
            "Verilator writes a waveform of the whole run; leave out `--vcd`, or the windows"
        } else if self.observing.may_stop() {
            "Verilator cannot end a run where an observation wants it; leave out `--stop-on`"
        } else {
            return Ok(());
        };
        Err(Error::new(problem))
    }

    pub(super) fn run_verilator(&self) -> Result<Followed<'a>, Error> {
        self.check_for_verilator()?;
        let verilator = Verilator::find(self.options.simulator.verilator())?;
        let writing = self.ending();
        let verilog = self.design.verilog()?;
        let source = self.staging.work(folder::VERILOG);
        fs::write(&source, verilog).map_err(Error::io("write", &source))?;
        drop(writing);
        let work = self.staging.work("work");
        let cache = self.options.cache.as_deref();
        let cache = cache.map_or_else(Cache::open, |dir| Ok(Cache::of(dir)))?;
        let directory = self.directory(false);
        let observations = self.observing.of(self.metadata, || directory.clone())?;
        let values = observations.as_ref().map_or(&[][..], Observations::values);
        let signals = Computation::of(values).signals(self.reconstruction.signals());
        let building = self.reporter.stage("building the simulation");
        // A user looks at all signals, reconstruction only at some.
        let probes = || signals.names().into_iter().collect();
        let options = BuildOptions {
            signals: self.waveforms.are_none().then(probes),
            more: more_verilog(&self.design),
            interrupt: interrupt::flag(),
            ..BuildOptions::default()
        };
        let simulation = verilator
            .build(&source, &work, cache.dir(), &options)
            .map_err(|error| keep_log(error, self.out))?;
        drop(building);
        let writing = self.ending();
        self.memories.write(&work)?;
        drop(writing);
        let options = RunOptions {
            data_dir: work.clone(),
            vcd: self.waveforms.vcd.as_ref().map(Draft::path),
            cycle_limit: self.options.cycle_limit,
        };
        let known = Known {
            directory: &directory,
            memories: &self.memories,
        };
        let simulating = self.reporter.stage("simulating");
        self.expected
            .into_iter()
            .for_each(|cycles| simulating.expect(cycles));
        let (outcome, followed) = match &options.vcd {
            None => {
                let name = Path::new("the simulation");
                let output = self.output(&*simulating);
                let mut followed = None;
                let ran = simulation.run_piped(&options, |pipe| {
                    let read = output.read_waveform(name, pipe, &self.observing, Some(&known));
                    followed = Some(read);
                });
                // Then the simulation fails as well, since nobody reads its waveform any more.
                if let Some(Err(Unfollowed::Own(error))) = followed {
                    return Err(error);
                }
                let (outcome, ()) = ran.map_err(interrupt::of_simulation)?;
                let unread = || Error::new("nobody read the waveform of the simulation");
                (outcome, followed.ok_or_else(unread)??)
            }
            Some(vcd) => {
                let mut tell = |cycle| simulating.cycle(cycle, self.metadata, &mut Vec::new);
                let outcome = simulation.run(&options, &mut tell);
                let outcome = outcome.map_err(interrupt::of_simulation)?;
                let waveform = File::open(vcd).map_err(Error::io("read the waveform", vcd))?;
                let reconstructing = self.reporter.stage("reconstructing");
                let output = self.output(&*reconstructing);
                let followed =
                    output.read_waveform(vcd, waveform, &self.observing, Some(&known))?;
                (outcome, followed)
            }
        };
        drop(simulating);
        let follow::Followed {
            analysis,
            timelines,
            observations,
        } = followed;
        if !outcome.output.is_empty() {
            self.reporter.design_output(outcome.output.trim_end());
        }
        let _ending = self.ending();
        let memories = self.memories.read(&work)?;
        let versions = vec![("verilator".to_owned(), verilator.version().to_owned())];
        let mut summary = analysis.summary(&self.name, versions);
        if !outcome.is_done {
            let limit = self.options.cycle_limit;
            summary.stopped = Some(Stopped::CycleLimit { limit }.to_string());
            summary.ending = analysis.ending(None);
            if let Some(ending) = &mut summary.ending {
                self.explain(ending, summary.cycles);
            }
        }
        check_length(summary.cycles, outcome.cycles)?;
        Ok(Followed {
            analysis,
            timelines,
            summary,
            memories,
            observations,
        })
    }
}

/// Refuses a waveform that is not as long as the run was.
fn check_length(waveform: u64, run: u64) -> Result<(), Error> {
    if waveform == run {
        return Ok(());
    }
    Err(Error::new(format!(
        "the simulation took {run} cycles, but its waveform has {waveform}; please report this"
    )))
}

/// Moves the log that an error names out of the folder that is about to vanish.
fn keep_log(error: petal_verilator::Error, out: &Path) -> Error {
    if let Err(interrupted) = interrupt::check() {
        return interrupted;
    }
    if let petal_verilator::Error::Build {
        stage,
        excerpt,
        log,
    } = error
    {
        let kept = out.join(log.file_name().unwrap_or_default());
        let copied = fs::read(&log).map_err(Error::io("read", &log));
        let copied = copied.and_then(|text| folder::write_whole(&kept, &text));
        let log = copied.map_or(log, |()| kept);
        return petal_verilator::Error::Build {
            stage,
            excerpt,
            log,
        }
        .into();
    }
    error.into()
}
