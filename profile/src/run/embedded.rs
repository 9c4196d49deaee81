//! A run in petal's own simulator.

use petal_embedded::Error::{Compile, Unsupported};
use petal_embedded::{CRANELIFT_VERSION, Compiled, Options, Simulation, Stopped, Visible};
use petal_observe::{Observations, Results};
use petal_reconstruct::{Ahead, ProbeSource as _};

use super::{Followed, Job};
use crate::error::Error;
use crate::interrupt;
use crate::options::Simulator;

impl<'a> Job<'a> {
    /// The run in the embedded simulator, unless it is for Verilator.
    pub(super) fn embedded(&self) -> Result<Option<(Simulation, Option<Observations<'a>>)>, Error> {
        if let Simulator::Verilator(_) = self.options.simulator {
            return Ok(None);
        }
        let directory = || self.directory(true);
        let observations = self.observing.of(self.metadata, directory)?;
        let values = observations.as_ref().map_or(&[][..], Observations::values);
        // Which parts are kept is known only when the run is over.
        let is_whole = observations.as_ref().is_none_or(|of| !of.have_windows());
        let waveforms = if is_whole {
            self.waveforms.files()?
        } else {
            Vec::new()
        };
        let visible = match &waveforms[..] {
            [] => Visible::Probes,
            _ => Visible::All,
        };
        let options = Options {
            cycle_limit: self.options.cycle_limit,
            interrupt: interrupt::flag(),
            partial: true,
            waveforms,
            ..Options::default()
        };
        let probes = &self.reconstruction.signals().watched;
        let _ending = self.ending();
        let latencies = self.options.design.simulated_latencies();
        let program = self.design.program();
        let compiled = Compiled::observing(program, &latencies, probes, values, visible);
        match compiled.and_then(|compiled| compiled.simulation(options)) {
            Ok(mut simulation) => {
                self.memories.load(&mut simulation);
                Ok(Some((simulation, observations)))
            }
            Err(error @ Unsupported { .. })
                if self.options.simulator == Simulator::Any
                    && !self.options.is_partial
                    && latencies.is_empty() =>
            {
                let note = format!("{error}; Verilator simulates the design");
                self.reporter.note(&note);
                Ok(None)
            }
            Err(error @ (Unsupported { .. } | Compile(_))) => Err(Error::new(format!(
                "{error}; choose `--simulator verilator`"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs the design again for waveforms of the cycles that are kept: the same design does the same.
    pub(super) fn keep(&self, results: &Results) -> Result<(), Error> {
        if self.waveforms.are_none() || results.windows.is_empty() {
            return Ok(());
        }
        let kept = results.kept();
        let end = kept.last().map_or(0, |last| last.end);
        let options = Options {
            cycle_limit: u64::MAX,
            interrupt: interrupt::flag(),
            partial: true,
            waveforms: self.waveforms.files()?,
            kept: Some(kept),
            ..Options::default()
        };
        let latencies = self.options.design.simulated_latencies();
        let program = self.design.program();
        let compiled = Compiled::observing(program, &latencies, &[], &[], Visible::All)?;
        let mut simulation = compiled.simulation(options)?;
        self.memories.load(&mut simulation);
        let writing = self.reporter.stage("writing the waveform");
        (0..end).try_for_each(|_| simulation.next_cycle().map(drop))?;
        drop(writing);
        simulation.finish_waveform()?;
        Ok(())
    }

    pub(super) fn run_embedded(
        &self,
        mut simulation: Simulation,
        mut observations: Option<Observations<'a>>,
    ) -> Result<Followed<'a>, Error> {
        let simulating = self.reporter.stage("simulating");
        self.expected
            .into_iter()
            .for_each(|cycles| simulating.expect(cycles));
        let output = self.output(&*simulating);
        // The simulation itself looks for interrupts.
        let (analysis, timelines) = if self.observing.may_stop() {
            // It must not go on after the cycle in which it ends.
            output.profile(&mut simulation, observations.as_mut())?
        } else {
            let mut source = Ahead::new(simulation);
            let profiled = output.profile(&mut source, observations.as_mut())?;
            simulation = source.into_inner();
            profiled
        };
        drop(simulating);
        let _ending = self.ending();
        simulation.finish_waveform()?;
        // A circle that does not settle is what the run ended by.
        let unsettled = match simulation.stopped() {
            Some(Stopped::Loop { ports, .. }) => Some(ports),
            _ => None,
        };
        for ports in simulation.loops() {
            if unsettled != Some(ports) {
                let note = format!(
                    "these ports depend on one another in a circle: {}",
                    petal_table::listed(ports)
                );
                self.reporter.note(&note);
            }
        }
        let period = match simulation.stopped() {
            Some(Stopped::Endless { period, .. }) => Some(*period),
            None | Some(Stopped::CycleLimit { .. }) => None,
            Some(stopped) if !self.options.is_partial => {
                let summary = analysis.summary(&self.name, Vec::new());
                let warnings = summary.warnings.iter();
                warnings.for_each(|warning| self.reporter.warning(warning));
                return Err(Error::new(stopped.to_string()));
            }
            Some(_) => None,
        };
        let versions = vec![("cranelift".to_owned(), CRANELIFT_VERSION.to_owned())];
        let mut summary = analysis.summary(&self.name, versions);
        if let Some(stopped) = simulation.stopped() {
            summary.stopped = Some(stopped.to_string());
            summary.ending = analysis.ending(period);
            if let Some(ending) = &mut summary.ending {
                self.explain(ending, summary.cycles);
            }
        }
        if let Some(stopped_by) = observations.as_ref().and_then(Observations::stopped_by) {
            summary.stopped = Some(format!("ended by `--stop-on {stopped_by}`"));
        }
        Ok(Followed {
            analysis,
            timelines,
            summary,
            memories: self.memories.store(&mut simulation),
            observations,
        })
    }
}
