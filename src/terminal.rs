//! What the command tells of a run that it profiles, on standard error and as lines of events.

use std::any::Any;
use std::fmt::Display;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use nix::unistd::{dup, dup2_stdout};
use petal_analysis::{Analysis, Summary};
use petal_observe::Results;
use petal_profile::{Error, EventStream, Reporter, Stage};

use crate::baseline::of_run;
use crate::events::Stream;
use crate::progress;
use crate::{messages, streams};

/// Tells the user what goes on.
#[derive(Debug, Default)]
pub struct Terminal {
    /// Whether nothing is told but errors.
    pub quiet: bool,
    /// Where lines of events go.
    pub events: Vec<Stream>,
}

impl Terminal {
    /// Without lines of events.
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            events: Vec::new(),
        }
    }
}

impl Reporter for Terminal {
    fn note(&self, text: &dyn Display) {
        if !self.quiet {
            messages::note(text);
        }
    }

    fn warning(&self, text: &dyn Display) {
        if !self.quiet {
            messages::warning(text);
        }
    }

    fn design_output(&self, text: &str) {
        if !self.quiet {
            messages::plain(text);
        }
    }

    fn figures(
        &self,
        analysis: &Analysis<'_>,
        summary: &Summary,
        results: Option<&Results>,
    ) -> Option<String> {
        Some(of_run(analysis, summary, results).to_json())
    }

    fn stage(&self, name: &'static str) -> Box<dyn Stage + '_> {
        Box::new(progress::Stage::new(name, self.quiet))
    }

    fn passes_begin(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(Aside::new())
    }

    fn events(&self) -> Result<Vec<EventStream>, Error> {
        self.events.iter().map(Stream::open).collect()
    }
}

/// While it lives, what is printed to standard output goes to standard error: passes print there if
/// an option tells them to, and what petal prints must stay whole. Inside of another program, that one's
/// output is left alone.
struct Aside(Option<OwnedFd>);

impl Aside {
    fn new() -> Self {
        if streams::is_called() {
            return Self(None);
        }
        // Without a standard output there is nothing to keep whole.
        let kept = dup(io::stdout()).ok();
        Self(kept.filter(|_| dup2_stdout(io::stderr()).is_ok()))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        if let Some(kept) = &self.0 {
            let _ = dup2_stdout(kept);
        }
    }
}
