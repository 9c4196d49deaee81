//! Who hears of a run while it is profiled.

use std::any::Any;
use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use petal_analysis::{Analysis, Summary};
use petal_metadata::Metadata;
use petal_observe::Results;
use petal_reconstruct::Node;
use petal_visualize::stream::EventFilter;

use crate::error::Error;

/// Hears of a run while it is profiled. The defaults, and `()`, hear nothing.
pub trait Reporter: Sync {
    /// What the user should know of the design or the options.
    fn note(&self, text: &dyn Display) {
        let _ = text;
    }

    /// What may make a result another one than the user expects. Those of a run that worked are in its summary instead.
    fn warning(&self, text: &dyn Display) {
        let _ = text;
    }

    /// What the simulated design prints.
    fn design_output(&self, text: &str) {
        let _ = text;
    }

    /// A stage begins; it ends when the result is dropped.
    fn stage(&self, name: &'static str) -> Box<dyn Stage + '_> {
        let _ = name;
        Box::new(())
    }

    /// Passes begin, which print to standard output if an option tells them to; they end when the last copy of the result is dropped.
    fn passes_begin(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(())
    }

    /// What is kept of the figures of a run that was read, for when another one takes its place: see [`Before`](crate::Before).
    fn figures(
        &self,
        analysis: &Analysis<'_>,
        summary: &Summary,
        results: Option<&Results>,
    ) -> Option<String> {
        let _ = (analysis, summary, results);
        None
    }

    /// Where to tell of the run while it goes on, as lines of JSON.
    ///
    /// # Errors
    /// When there is nowhere to write to.
    fn events(&self) -> Result<Vec<EventStream>, Error> {
        Ok(Vec::new())
    }
}

/// Where events of a run go.
pub struct EventStream {
    /// What the stream is called.
    pub name: String,
    /// Which events it has, if not all.
    pub filter: Option<EventFilter>,
    /// Its errors are [`Unwritten`](crate::Unwritten)s.
    pub out: Box<dyn Write + Send>,
}

/// A stage of a profile that is under way.
pub trait Stage: Sync {
    /// The run has come to this cycle. `active` finds the innermost groups and statements that are active in it. Called often.
    fn cycle(&self, cycle: u64, metadata: &Metadata, active: &mut dyn FnMut() -> Vec<Node>) {
        let _ = (cycle, metadata, active);
    }

    /// The run before took so many cycles; this one may take as many.
    fn expect(&self, cycles: u64) {
        let _ = cycles;
    }
}

impl Reporter for () {}
impl Stage for () {}
