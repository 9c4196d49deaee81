//! What keeps a group from ending: what drives the ports that it waits for, with the value at the end of the run.

use petal_analysis::Ending;
use petal_embedded::{Compiled, Options, Visible};
use petal_metadata::Metadata;
use petal_program::Driver;
use petal_reconstruct::{ProbeSource as _, Signal};

use super::Job;
use crate::interrupt;

/// Beyond so many cycles a run is not repeated for the values at its end.
const REPEATED: u64 = 20_000_000;

impl Job<'_> {
    /// Adds to the end of a run of so many cycles what the groups wait for.
    pub(super) fn explain(&self, ending: &mut Ending, cycles: u64) {
        let waiting = std::mem::take(&mut ending.waiting);
        for group in &waiting {
            let Some((cell, "done")) = group.done.split_once('.') else {
                continue;
            };
            let chain = self.drivers.chain(&group.component, &group.group, cell);
            let Some(last) = chain.last() else {
                continue;
            };
            let links = chain
                .iter()
                .map(|Driver { input, value, .. }| format!("{input} = {value}"));
            let links: Vec<String> = links.collect();
            let value = self.signal(&group.cell, &group.component, last);
            let value = value.filter(|_| cycles <= REPEATED);
            let value = value.and_then(|signal| self.value_at_end(signal, cycles));
            let value = value.map_or(String::new(), |value| format!(", which is {value}"));
            if let Some(sentence) = ending.waits.get_mut(group.sentence) {
                *sentence = format!("{sentence}: {}{value}", links.join(", and "));
            }
        }
        ending.waiting = waiting;
    }

    /// The signal of what drives an input in the cell `path`, if the hardware has one.
    fn signal(&self, path: &str, component: &str, driver: &Driver) -> Option<Signal> {
        let (cell, port) = driver.port.as_ref()?;
        let metadata: &Metadata = self.metadata;
        let component = metadata.components.iter().find(|of| of.name == component)?;
        let known = component.cells.iter().find(|known| known.name == *cell);
        let cell = known
            .and_then(|known| known.shares_hardware_of())
            .unwrap_or(cell);
        let inner = path.split('.').skip(1).map(str::to_owned);
        Some(Signal {
            scope: metadata.scope.iter().cloned().chain(inner).collect(),
            name: format!("{cell}_{port}"),
        })
    }

    /// The value of a signal in the last of so many cycles: the same design does the same again. `None` if it has none that can be told.
    fn value_at_end(&self, signal: Signal, cycles: u64) -> Option<u64> {
        let latencies = self.options.design.simulated_latencies();
        let program = self.design.program();
        let compiled =
            Compiled::observing(program, &latencies, &[signal], &[], Visible::Probes).ok()?;
        let mut simulation = compiled
            .simulation(Options {
                cycle_limit: u64::MAX,
                interrupt: interrupt::flag(),
                partial: true,
                ..Options::default()
            })
            .ok()?;
        self.memories.load(&mut simulation);
        let mut value = 0;
        for _ in 0..cycles {
            simulation.next_cycle().ok()?;
            if let Some(change) = simulation.changes().first() {
                value = change.value;
            }
        }
        Some(value)
    }
}
