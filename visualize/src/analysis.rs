//! The analysis of a run: counts the events of its trace once, for all outputs that show the whole run.
//!
//! Owns which counts those outputs are made of. Timelines are no part of it: they write as events come.

use petal_metadata::{FileId, Metadata};
use petal_reconstruct::{CompiledView, Event};

use crate::activations::Activations;
use crate::annotate::{Line, annotate};
use crate::baseline::Baseline;
use crate::cells::cells;
use crate::control::{control, control_per_instance};
use crate::flame::{Flame, Weighting};
use crate::groups::groups;
use crate::ledger::Ledger;
use crate::profile::Profile;
use crate::report::{Order, Report};
use crate::summary::Summary;
use crate::table::Table;

/// Which control statements flame graphs and reports show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlView {
    /// Each, as written.
    Source,
    /// Those that became a compilation group.
    Compiled,
}

/// What is counted while the events of a trace pass by. Its memory grows with the number of different
/// call trees, not with cycles.
///
/// Outputs are of all events so far, so they are right once the trace has ended.
#[derive(Debug)]
pub struct Analysis<'a> {
    metadata: &'a Metadata,
    profile: Profile,
    activations: Activations<'a>,
    order: Order<'a>,
    /// The profile that flame graphs and the report show, where it is not `profile`.
    compiled: Option<(CompiledView, Profile)>,
}

impl<'a> Analysis<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata, view: ControlView) -> Self {
        Self {
            metadata,
            profile: Profile::default(),
            activations: Activations::new(metadata),
            order: Order::new(metadata),
            compiled: (view == ControlView::Compiled)
                .then(|| (CompiledView::new(metadata), Profile::default())),
        }
    }

    /// Takes in the next event, with control as written, whatever the view.
    pub fn event(&mut self, event: &Event) {
        self.profile.event(event);
        self.activations.event(event);
        self.order.event(event);
        if let Some((view, profile)) = &mut self.compiled {
            profile.event(&view.event(event.clone()));
        }
    }

    /// Length of the run in cycles.
    pub fn cycles(&self) -> u64 {
        self.profile.total()
    }

    /// What every cycle went to.
    pub fn ledger(&self) -> Ledger {
        Ledger::new(self.metadata, &self.profile)
    }

    /// The summary of the run, as one of the design `design`. `versions` are those of the tools that
    /// simulated it.
    pub fn summary(
        &self,
        design: &str,
        versions: impl IntoIterator<Item = (String, String)>,
    ) -> Summary {
        Summary::new(
            self.metadata,
            &self.profile,
            &self.ledger(),
            &self.activations,
            design,
            versions,
        )
    }

    /// A flame graph.
    pub fn flame(&self, weighting: Weighting) -> Flame {
        Flame::new(self.metadata, self.shown(), weighting)
    }

    /// The table of component cells: one row for each that was active, with where its cycles went.
    pub fn cells(&self) -> Table {
        cells(self.metadata, &self.profile, &self.activations)
    }

    /// The table of groups: one row for each that control or another group runs, with how often and how
    /// long it was active.
    pub fn groups(&self) -> Table {
        groups(self.metadata, &self.activations)
    }

    /// The table of control statements: one row for each, with the overhead that is charged to it.
    pub fn statements(&self) -> Table {
        control(self.metadata, &self.ledger(), &self.activations)
    }

    /// The table of control statements, with a row for each instance of their components.
    pub fn statements_per_instance(&self) -> Table {
        control_per_instance(
            self.metadata,
            &self.profile,
            &self.ledger(),
            &self.activations,
        )
    }

    /// The lines of a source file, with their costs.
    pub fn annotate(&self, file: FileId) -> Vec<Line<'a>> {
        annotate(self.metadata, &self.ledger(), &self.activations, file)
    }

    /// What a comparison needs of the run, which ended early if `stopped` tells why.
    pub fn baseline(&self, design: &str, stopped: Option<String>) -> Baseline {
        Baseline::new(
            self.metadata,
            &self.profile,
            &self.ledger(),
            &self.activations,
            design,
            stopped,
        )
    }

    /// The text of the report: one page of HTML, which shows `summary` and all the rest.
    pub fn report(&self, summary: &Summary) -> String {
        let report = Report {
            metadata: self.metadata,
            summary,
            profile: &self.profile,
            shown: self.shown(),
            activations: &self.activations,
            ledger: &self.ledger(),
            order: &self.order,
        };
        report.html()
    }

    /// The profile with control as it is to be shown.
    fn shown(&self) -> &Profile {
        match &self.compiled {
            Some((_, profile)) => profile,
            None => &self.profile,
        }
    }
}
