//! The analysis of a run: counts the events of its trace once, for all outputs that show the whole run.
//!
//! Owns which counts those outputs are made of. Timelines are no part of it: they show each event.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use petal_metadata::{
    ComponentId, ControlKind, FileId, FrontEndFileId, GroupId, GroupKind, Metadata,
};
use petal_reconstruct::{Again, CompiledView, Event, Item};

use crate::activations::{Activations, Durations};
use crate::annotate::{Line, annotate};
use crate::cells::cells;
use crate::clock::Period;
use crate::control::{Counts, control, control_per_instance};
use crate::critical::CriticalCycles;
use crate::elements::ElementKind;
use crate::ending::Ending;
use crate::figures::{Figures, FiguresError};
use crate::front_end::{FrontEndLine, FrontEndLines, PartNames, ProgramPart};
use crate::groups::{durations, groups};
use crate::hotspots::{self, Hotspot, HotspotKind, RankedHotspot};
use crate::iterations::Alike;
use crate::ledger::{Ledger, StatementId};
use crate::lines::{Entries, Lines, lines_per_instance};
use crate::loops::{iterations, loops};
use crate::order::Order;
use crate::profile::Profile;
use crate::sites::{self, Sites};
use crate::summary::text::lists;
use crate::summary::{RANKED, Summary};
use petal_table::{Screen, Table};

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
    /// How often lines of the front end were entered.
    entries: Entries,
    /// The profile that flame graphs and the report show, where it is not `profile`.
    compiled: Option<(CompiledView, Profile)>,
    /// What the lines of the front end did, once that was asked for.
    lines: OnceCell<Lines<'a>>,
    /// What every cycle went to, once that was asked for.
    ledger: OnceCell<Ledger>,
    /// The sites of the design, once they were asked for.
    sites: OnceCell<Sites<'a>>,
    period: Option<Period>,
}

impl<'a> Analysis<'a> {
    /// Of a trace of this design, before its first event.
    pub fn new(metadata: &'a Metadata, view: ControlView) -> Self {
        Self {
            metadata,
            profile: Profile::default(),
            activations: Activations::new(metadata),
            order: Order::new(metadata),
            entries: Entries::default(),
            compiled: (view == ControlView::Compiled)
                .then(|| (CompiledView::new(metadata), Profile::default())),
            lines: OnceCell::new(),
            ledger: OnceCell::new(),
            sites: OnceCell::new(),
            period: None,
        }
    }

    /// The same with the period of the clock, if it is known: then tables and flame graphs have time, too.
    pub fn set_period(&mut self, period: Option<Period>) {
        self.period = period;
    }

    /// The period of the clock, if it is known.
    pub fn period(&self) -> Option<Period> {
        self.period
    }

    fn timed(&self, table: Table, cycles: &str) -> Table {
        match self.period {
            Some(period) => period.timed(table, cycles),
            None => table,
        }
    }

    /// Takes in the next event, or what comes again, with control as written, whatever the view.
    #[inline]
    pub fn item(&mut self, item: &Item) {
        match item {
            Item::Event(event) => self.event(event),
            Item::Again(again) => self.again(again),
        }
    }

    /// Takes in the next event, with control as written, whatever the view.
    pub fn event(&mut self, event: &Event) {
        if let Event::Update(_) = event {
            // It is on timelines only.
            return;
        }
        self.forget();
        self.profile.event(event);
        self.activations.event(event);
        self.order.event(event);
        if self.has_front_end() {
            let lines = FrontEndLines::new(self.metadata);
            self.entries.event(&lines, event);
        }
        if let Some((view, profile)) = &mut self.compiled {
            profile.event(&view.event(event.clone()));
        }
    }

    /// Forgets what was made of the events so far.
    fn forget(&mut self) {
        // To take what is not there would move it, too.
        if self.lines.get().is_some() {
            self.lines.take();
        }
        if self.ledger.get().is_some() {
            self.ledger.take();
        }
    }

    fn again(&mut self, again: &Again) {
        self.forget();
        self.profile.again(again);
        self.activations.again(again);
        self.order.again(again);
        if self.has_front_end() {
            self.entries.again(again);
        }
        if let Some((_, profile)) = &mut self.compiled {
            profile.again(again);
        }
    }

    /// What was counted, with the critical path of the same run: for a trace that does not have all of it.
    pub fn figures(&self, critical: CriticalCycles) -> Figures {
        let waits = self.activations.all_waits();
        let calls = critical.calls.into_iter();
        Figures {
            trees: self.profile.cycles().to_vec(),
            last: self.profile.last(),
            durations: self.activations.durations().collect(),
            waits: waits
                .map(|(of, par, wait)| (of, par, wait.clone()))
                .collect(),
            iterations: self.activations.all_iterations().collect(),
            order: self.order.runs().map(|runs| BASE64_STANDARD.encode(runs)),
            bins: self.order.windows().clone(),
            lines: self.entries.all().clone().into_iter().collect(),
            own: critical.own.into_iter().collect(),
            through: critical.through.into_iter().collect(),
            calls: calls.map(|((site, cell), n)| (site, cell, n)).collect(),
        }
    }

    /// Takes these counts for those of the trace, which has come to its end, and may have gaps.
    ///
    /// # Errors
    /// When they are of another run.
    pub fn restore(&mut self, figures: &Figures) -> Result<(), FiguresError> {
        let order = figures
            .order
            .as_ref()
            .map(|text| BASE64_STANDARD.decode(text));
        let order = order.transpose().map_err(|_| FiguresError)?;
        let compiled = self.compiled.as_mut().map(|(_, profile)| profile);
        for profile in [&mut self.profile].into_iter().chain(compiled) {
            let fits = profile.restore(&figures.trees, figures.last);
            fits.ok_or(FiguresError)?;
        }
        let fits = self.activations.restore(
            &figures.durations,
            &figures.waits,
            &figures.iterations,
            figures.last,
        );
        fits.ok_or(FiguresError)?;
        self.order.restore(order, figures.bins.clone());
        self.entries.restore(&figures.lines);
        Ok(())
    }

    /// Length of the run in cycles.
    pub fn cycles(&self) -> u64 {
        self.profile.total()
    }

    /// What every cycle went to.
    pub fn ledger(&self) -> &Ledger {
        self.ledger
            .get_or_init(|| Ledger::new(self.metadata, &self.profile))
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
            self.ledger(),
            &self.activations,
            design,
            versions,
        )
    }

    /// What was active at the end of a run whose design was not done, and what that waits for. `period`: if it
    /// is proved that its last cycles, so many, repeat for ever. `None` for a run without cycles.
    pub fn ending(&self, period: Option<u64>) -> Option<Ending> {
        Ending::new(self.metadata, &self.profile, &self.activations, period)
    }

    /// Whether the design tells which lines of a front end's files it comes from.
    pub fn has_front_end(&self) -> bool {
        self.metadata.front_end.has_lines()
    }

    /// The table of component cells: one row for each that was active, with where its cycles went.
    pub fn cells(&self) -> Table {
        let cells = cells(
            self.sites(),
            &self.profile,
            self.ledger(),
            &self.activations,
        );
        self.timed(cells, "cycles")
    }

    /// The table of groups: one row for each that control or another group runs, with how often and how
    /// long it was active.
    pub fn groups(&self) -> Table {
        let groups = groups(self.sites(), &self.activations);
        self.timed(groups, "total cycles")
    }

    /// The table of control statements: one row for each, with the overhead that is charged to it.
    pub fn statements(&self) -> Table {
        let statements = control(self.sites(), self.ledger(), &self.activations);
        self.timed(statements, "cycles")
    }

    /// The table of control statements, with a row for each instance of their components.
    pub fn statements_per_instance(&self) -> Table {
        let statements = control_per_instance(
            self.sites(),
            &self.profile,
            self.ledger(),
            &self.activations,
        );
        self.timed(statements, "cycles")
    }

    /// The table of loops: how often each went round, and how long its iterations took.
    pub fn loops(&self) -> Table {
        let loops = loops(self.sites(), self.ledger(), &self.activations);
        self.timed(loops, "cycles")
    }

    /// The iterations of each loop, which is called such as `main.while@L12`, by how many cycles they take; none where the compiled design
    /// does not tell one from the next.
    pub fn iterations(&self) -> Vec<(String, BTreeMap<u64, Alike>)> {
        iterations(self.sites(), self.ledger(), &self.activations)
    }

    /// What costs the run cycles, by kind, and the most expensive first.
    pub fn hotspots(&self) -> Vec<Hotspot> {
        hotspots::hotspots(
            self.metadata,
            self.ledger(),
            &self.activations,
            self.cycles(),
        )
    }

    /// The most expensive of each kind, those that the summary names.
    pub fn ranked_hotspots(&self) -> Vec<Hotspot> {
        hotspots::ranked(&self.hotspots(), RANKED)
    }

    /// The cycles that every activation of a group took, where that was always the same: of those that are not static.
    pub fn fixed_latencies(&self) -> BTreeMap<(ComponentId, GroupId), u64> {
        let durations = durations(self.metadata, &self.activations).into_iter();
        durations
            .filter(|((component, group), durations)| {
                let group = self.metadata.component(*component).group(*group);
                group.kind == GroupKind::Dynamic
                    && durations.count > 0
                    && durations.min == durations.max
            })
            .map(|(id, durations)| (id, durations.min))
            .collect()
    }

    /// The cycles that every activation of an invoke took, where that was always the same: of those that are not static.
    pub fn fixed_invokes(&self) -> BTreeMap<StatementId, u64> {
        let mut durations: BTreeMap<StatementId, Durations> = BTreeMap::new();
        for (element, of_one) in self.activations.durations() {
            if let ElementKind::Control(node) = element.kind {
                let id = self.activations.component_of(element);
                let statement = self.metadata.component(id).node(node);
                if statement.kind == ControlKind::Invoke && statement.latency.is_none() {
                    durations.entry((id, node)).or_default().merge(&of_one);
                }
            }
        }
        let fixed = durations.into_iter();
        fixed
            .filter(|(_, durations)| durations.min == durations.max)
            .map(|(id, durations)| (id, durations.min))
            .collect()
    }

    /// How often the loops of the run ran their bodies each time that they were entered, where that may always have been the
    /// same.
    pub fn fixed_iterations(&self) -> BTreeMap<StatementId, u64> {
        let counts = Counts::of(self.metadata, &self.activations);
        let mut fixed = BTreeMap::new();
        for &(id, statement) in self.ledger().statements.keys() {
            let component = self.metadata.component(id);
            let entered = counts.times(id, statement);
            let iterations = counts.iterations(component, id, statement);
            if let (Some(iterations), Some(entered)) = (iterations, entered)
                && entered > 0
                && iterations.is_multiple_of(entered)
            {
                fixed.insert((id, statement), iterations / entered);
            }
        }
        fixed
    }

    /// What a statement is called, such as `main.while@L12`, and the lines of the front end's files that it comes from: where it is used, and
    /// where the groups are defined that it runs.
    pub fn statement(&self, (id, statement): StatementId) -> (String, Option<String>) {
        let component = self.metadata.component(id);
        let name = PartNames::new(self.metadata, component).name(ProgramPart::Statement(statement));
        let lines = FrontEndLines::new(self.metadata);
        let line = lines.list(lines.of_statement(component, statement).into_iter());
        (format!("{}.{name}", component.name), line)
    }

    /// What costs most, so many rows of each of these kinds, as a text. `advice` is what `petal advise` found in the run, if it was asked.
    pub fn costs(
        &self,
        kinds: &[HotspotKind],
        top: usize,
        advice: Option<&serde_json::Value>,
        screen: Screen,
    ) -> String {
        let all = self.hotspots();
        let mut rows = Vec::new();
        let mut rest = 0;
        for &kind in kinds {
            let of_kind = all.iter().filter(|row| row.kind == kind);
            let shown = of_kind.clone().take(top).cloned();
            rows.extend(shown.map(|row| RankedHotspot::new(row, advice)));
            rest += of_kind.count().saturating_sub(top);
        }
        let mut text = lists(&rows, self.cycles(), screen);
        if rest > 0 {
            let _ = writeln!(text, "\n  {rest} more cost less");
        }
        text
    }

    /// The table of hotspots.
    pub fn hotspots_table(&self) -> Table {
        let hotspots = hotspots::table(self.sites(), &self.hotspots());
        self.timed(hotspots, "cost")
    }

    /// The table of the lines of a front end's files: one row for each that was active.
    pub fn lines(&self) -> Table {
        self.timed(self.front_end().table(), "cycles")
    }

    /// The table of lines, with a row for each statement, group and cell that a line stands for, in each
    /// component cell.
    pub fn lines_per_instance(&self) -> Table {
        let lines = FrontEndLines::new(self.metadata);
        let lines = lines_per_instance(self.metadata, &lines, &self.profile);
        self.timed(lines, "cycles")
    }

    /// The lines of a front end's file, with their costs.
    pub fn annotate_front_end(&self, file: FrontEndFileId) -> Vec<Line<'a>> {
        let mut lines = self.front_end().annotate(file);
        // Conditions cost a line what the list of what costs has of its statements.
        let front_end = FrontEndLines::new(self.metadata);
        for (&(component, statement), costs) in &self.ledger().statements {
            let node = self.metadata.component(component).node(statement);
            let Some(FrontEndLine::At(of, number)) = front_end.line(&node.positions) else {
                continue;
            };
            if of != file || costs.own_conditions == 0 {
                continue;
            }
            let line = lines.iter_mut().find(|line| line.number == number);
            if let Some(cost) = line.and_then(|line| line.cost.as_mut()) {
                cost.listed += costs.own_conditions;
            }
        }
        lines
    }

    /// What the lines of the front end's files did.
    pub fn front_end(&self) -> &Lines<'a> {
        self.lines.get_or_init(|| {
            let lines = FrontEndLines::new(self.metadata);
            Lines::new(self.metadata, &lines, &self.profile, &self.entries)
        })
    }

    /// The lines of a source file, with their costs.
    pub fn annotate(&self, file: FileId) -> Vec<Line<'a>> {
        annotate(self.metadata, self.ledger(), &self.activations, file)
    }

    /// The design.
    pub fn metadata(&self) -> &'a Metadata {
        self.metadata
    }

    /// The sites of the design.
    pub fn sites(&self) -> &Sites<'a> {
        self.sites.get_or_init(|| Sites::new(self.metadata))
    }

    /// The table of sites: one row for each, with how often and how long it was active.
    pub fn sites_table(&self) -> Table {
        let sites = sites::table(self.sites(), self.profile.instances(), &self.activations);
        self.timed(sites, "cycles")
    }

    /// The trees of the run, with control as written.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The trees of the run, with control as it is to be shown.
    pub fn shown(&self) -> &Profile {
        match &self.compiled {
            Some((_, profile)) => profile,
            None => &self.profile,
        }
    }

    /// Whether that leaves out control which became no compilation group.
    pub fn is_compiled(&self) -> bool {
        self.compiled.is_some()
    }

    /// How often everything was active.
    pub fn activations(&self) -> &Activations<'a> {
        &self.activations
    }

    /// How often lines of the front end were entered.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// The order in which the trees were active.
    pub fn order(&self) -> &Order<'a> {
        &self.order
    }
}
