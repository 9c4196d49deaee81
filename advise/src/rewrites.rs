//! Edits of a program's text that may make it faster, and what is certain of each.
//!
//! Owns the rules by which an edit leaves what a program computes as it is. An edit is of the user's text: what it does not
//! concern stays byte for byte. Whether it saves cycles, nobody here knows: that takes a run. The rules and their premises are
//! in `docs/guide/advice`.

mod again;
mod anew;
mod branches;
mod chaining;
mod conditions;
mod copies;
mod declared;
mod driven;
mod edit;
mod ends;
mod flow;
mod inline;
mod invariant;
mod latency;
mod merged;
mod misread;
mod parallel;
mod pipelined;
mod premises;
mod promises;
mod settled;
mod sharing;
mod shifts;
mod state;
mod text;
mod unread;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use calyx_frontend::LibrarySignatures;
use calyx_ir as ir;
use calyx_utils::WithPos as _;
use petal_metadata::{ControlId, ControlKind, Id as _};

use crate::proof;
use again::Again;
use ends::Ends;
pub(crate) use flow::Flow;
use misread::loops::{self, Edited};
use petal_program::dependences::{Cells, Dependences};
use petal_program::tree::{NodeKey, View};
use petal_program::{Aliases, Program, ProgramError, Written, compiling, guarded_own};
use premises::Premises;
use text::Text;

pub(crate) use driven::key;
pub use edit::Edit;
pub(crate) use state::is_memory;

/// What an edit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RewriteKind {
    /// The comb group of a condition becomes continuous assignments.
    ContinuousCondition,
    /// `if`s in a `par` of which at most one is taken become one `if`.
    ExclusiveBranches,
    /// Steps of a `seq` run at once.
    ParallelSteps,
    /// Arms of a `par` run one after the other.
    SequentialArms,
    /// Steps of a `seq` or arms of a `par` that take a cycle each become one group.
    MergedGroups,
    /// Steps of a `seq` that take a cycle each become one group, in which one reads what another one writes.
    OperationChaining,
    /// A group or an invoke that always takes the same number of cycles is said to.
    FixedLatency,
    /// A `while` that always runs the same number of times is said to.
    FixedIterations,
    /// An iteration of a `repeat` starts before the one before it is over.
    PipelinedLoop,
    /// A step of a loop that does the same in each iteration runs once, before it.
    LoopInvariant,
    /// The hardware of a component cell becomes a part of the component that has it.
    Inline,
    /// A multiplication by a power of two becomes a shift.
    Shift,
    /// An output is read itself, and not a copy of it in a register.
    CopyPropagation,
    /// A cell does not share its hardware.
    UnsharedCell,
}

impl RewriteKind {
    /// A short name, for files and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::ContinuousCondition => "continuous-condition",
            Self::ExclusiveBranches => "exclusive-branches",
            Self::ParallelSteps => "parallel-steps",
            Self::SequentialArms => "sequential-arms",
            Self::MergedGroups => "merged-groups",
            Self::OperationChaining => "operation-chaining",
            Self::FixedLatency => "fixed-latency",
            Self::FixedIterations => "fixed-iterations",
            Self::PipelinedLoop => "pipelined-loop",
            Self::LoopInvariant => "loop-invariant",
            Self::Inline => "inline",
            Self::Shift => "shift",
            Self::CopyPropagation => "copy-propagation",
            Self::UnsharedCell => "unshared-cell",
        }
    }

    /// Whether the passes have to compile static groups and static control after it.
    pub fn needs_static(self) -> bool {
        self == Self::FixedLatency
    }
}

/// How certain it is that a program computes the same after an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// A rule of data flow says so, whatever the data are.
    Proved,
    /// Only runs can tell.
    Checked,
}

/// An edit of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// What it does.
    pub kind: RewriteKind,
    /// How certain it is.
    pub certainty: Certainty,
    /// The component that it is in.
    pub component: String,
    /// The statements that it is about, none if it is about all of the component: the condition's, the `par`, or for
    /// steps that run at once one for each arm.
    pub arms: Vec<Vec<ControlId>>,
    /// The bytes of the text that it is about. Two edits of one kind that are about the same bytes are the same edit.
    pub region: Range<usize>,
    /// What to do, as an order: ``make the comb group `cond` continuous``.
    pub what: String,
    /// Why the program computes the same, or why that is not certain: a clause.
    pub premise: String,
    /// What is to be replaced, in the order of the text.
    pub edits: Vec<Edit>,
    /// Whether it is several at once, each of which is offered by itself, too.
    pub is_set: bool,
}

impl Rewrite {
    /// Several of one kind and component as one, in the order of the text; `None` if there is one at most.
    fn of_all(each: &[Self], what: impl FnOnce() -> String) -> Option<Self> {
        let [first, _, ..] = each else {
            return None;
        };
        let least_certain = each.iter().max_by_key(|of| of.certainty)?;
        let mut edits: Vec<Edit> = each.iter().flat_map(|of| of.edits.clone()).collect();
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        Some(Self {
            kind: first.kind,
            certainty: least_certain.certainty,
            component: first.component.clone(),
            arms: each.iter().flat_map(|of| of.arms.clone()).collect(),
            region: each.iter().map(|of| of.region.start).min()?
                ..each.iter().map(|of| of.region.end).max()?,
            what: what(),
            premise: least_certain.premise.clone(),
            edits,
            is_set: true,
        })
    }

    /// The same, only checked: why nothing shows what its rule says.
    pub(crate) fn unshown(self, why: &str) -> Self {
        if self.certainty == Certainty::Checked {
            return self;
        }
        let premise = format!(
            "by its rule, {}; but run with unknown values nothing shows it ({why})",
            self.premise
        );
        Self {
            certainty: Certainty::Checked,
            premise,
            ..self
        }
    }
}

/// What a run did, as far as edits need to know it.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The cycles that every activation of a group took, by component and group, where it was always the same.
    pub latencies: HashMap<(String, String), u64>,
    /// The same of invokes, by component and statement.
    pub invokes: HashMap<(String, ControlId), u64>,
    /// How often a `while` ran its body each time, where it was always the same, by component and statement.
    pub iterations: HashMap<(String, ControlId), u64>,
    /// Cells that share hardware with others, by component and cell.
    pub shared: BTreeSet<(String, String)>,
    /// Components in which the compiler made one cell of several that have to keep what they hold.
    pub joined: BTreeSet<String>,
    /// Whether each cell has hardware of its own, since somebody says that no pass shall make one of several.
    pub is_apart: bool,
}

/// The edits of a program's own file that there are, in the order of the file. What the program imports is not edited.
///
/// # Errors
/// When the compiler fails on the program.
pub fn rewrites(program: Program, observed: &Observed) -> Result<Vec<Rewrite>, ProgramError> {
    declared::read_standard();
    let _reading = compiling();
    let Program {
        mut ctx,
        path,
        texts,
        ..
    } = program;
    let name = path.to_string_lossy().into_owned();
    let Some(text) = texts.calyx.get(&name).map(|file| file.text.clone()) else {
        return Ok(Vec::new());
    };
    guarded_own(&path, Written::STEP, || {
        let written = Written::of(&mut ctx, Arc::new(texts));
        let text = Text::new(&text);
        let handed_over = handed_over(&ctx);
        let outputs = state::outputs(&ctx, &handed_over);
        let ends = Ends::of(&ctx);
        let again = Again::of(&ctx, &ends);
        let premises = Premises::of(
            &ctx,
            &handed_over,
            &outputs,
            (&again, &ends),
            (&written.aliases, observed.is_apart),
        );
        let mut found = Vec::new();
        let is_timed = written.dependences.values().any(Dependences::is_timed);
        let none = Dependences::default();
        for component in &ctx.components {
            let Some(source) = written.components.get(&component.name) else {
                continue;
            };
            let order = source.preorder();
            let ids = order.into_iter().zip((0..).map(ControlId::from_index));
            let scope = Scope {
                component,
                components: &ctx.components,
                once: component.name == ctx.entrypoint,
                is_timed,
                path: &name,
                text: &text,
                dependences: written.dependences.get(&component.name).unwrap_or(&none),
                ids: ids.collect(),
                handed_over: &handed_over,
                aliases: &written.aliases,
                premises: &premises,
                ends: &ends,
                again: &again,
                outputs: &outputs,
                lib: &ctx.lib,
                observed,
                taken: OnceCell::new(),
                common: OnceCell::new(),
                times: RefCell::default(),
            };
            if scope.span(&component.attributes).is_some() {
                scope.find(&mut found);
            }
        }
        found.sort_by_key(|rewrite| (rewrite.region.start, rewrite.region.end, rewrite.kind));
        Ok(found)
    })
}

/// The cells that some invoke hands over as `ref` cells, by component.
fn handed_over(ctx: &ir::Context) -> BTreeSet<(ir::Id, ir::Id)> {
    let mut cells = BTreeSet::new();
    for component in &ctx.components {
        View::of(&component.control.borrow()).walk(&mut |view| {
            let actuals = view.handed_over().into_iter();
            cells.extend(actuals.map(|(_, actual)| (component.name, actual)));
        });
    }
    cells
}

/// What the wires of a group end with in Verilog.
const GROUP_PORTS: [&str; 6] = ["go", "go_in", "go_out", "done", "done_in", "done_out"];

/// A name as it is in Verilog.
fn plain(name: ir::Id) -> String {
    name.as_ref().replace(['-', '\''], "_")
}

/// The names of the ports of a cell.
fn names_of(cell: &ir::Cell) -> Vec<ir::Id> {
    let ports = cell.ports.iter();
    ports.map(|port| port.borrow().name).collect()
}

/// The names of the groups of a component, of all kinds.
fn groups(component: &ir::Component) -> impl Iterator<Item = String> + '_ {
    let groups = component.get_groups().iter();
    let groups = groups.map(|group| group.borrow().name());
    let statics = component.get_static_groups().iter();
    let statics = statics.map(|group| group.borrow().name());
    let combs = component.comb_groups.iter();
    let combs = combs.map(|group| group.borrow().name());
    groups.chain(statics).chain(combs).map(plain)
}

/// What is not certain where loops that always run as often may run at once.
const LOOPS_AT_ONCE: &str =
    "the compiler may give two loops that run at once the same state machine";

/// What is not certain where a value is kept for longer than before.
const NEEDED_LONGER: &str =
    "the compiler may give the work of several cells to one that is needed for longer now";

/// A component in which edits are looked for.
struct Scope<'a> {
    component: &'a ir::Component,
    /// All that the program has.
    components: &'a [ir::Component],
    /// Whether the component runs once, after a reset.
    once: bool,
    /// Whether results of any may depend on how long something takes.
    is_timed: bool,
    /// The file that may be edited, as places name it.
    path: &'a str,
    text: &'a Text<'a>,
    dependences: &'a Dependences,
    ids: HashMap<NodeKey, ControlId>,
    handed_over: &'a BTreeSet<(ir::Id, ir::Id)>,
    aliases: &'a Aliases,
    premises: &'a Premises,
    ends: &'a Ends,
    again: &'a Again,
    /// Outputs of components that depend on state alone.
    outputs: &'a state::Outputs,
    lib: &'a LibrarySignatures,
    observed: &'a Observed,
    /// The names that are taken, once anything needs a new one.
    taken: OnceCell<HashSet<String>>,
    /// The assignments to logic that arms of a `par` have in common.
    common: OnceCell<Vec<Range<usize>>>,
    /// How often loops surely run, once that was asked.
    times: RefCell<HashMap<NodeKey, Option<u64>>>,
}

impl Scope<'_> {
    fn find(&self, found: &mut Vec<Rewrite>) {
        self.conditions(found);
        self.inlines(found);
        self.latencies(found);
        self.shifts(found);
        self.copy_propagations(found);
        self.unshared(found);
        let mut wires = Flow::default();
        wires.add(&self.component.continuous_assignments, |_| true);
        let control = self.component.control.borrow();
        View::of(&control).walk(&mut |view| {
            self.invariants(view, found);
            match view.kind() {
                ControlKind::Seq => {
                    self.steps(view, found);
                    self.merged(view, found);
                    self.chains(view, &wires, found);
                    self.pipelined(view, found);
                }
                ControlKind::Par => {
                    self.branches(view, found);
                    self.arms(view, found);
                    self.merged(view, found);
                }
                ControlKind::While => self.loops(view, found),
                _ => {}
            }
        });
    }

    /// How often a `while` or `repeat` surely runs its body whenever it is entered.
    fn times(&self, view: View<'_>) -> Option<u64> {
        if view.kind() != ControlKind::While {
            return view.repeats();
        }
        let (key, _) = view.identity()?;
        let control = self.component.control.borrow();
        let mut known = self.times.borrow_mut();
        let find = || proof::times(self.component, View::of(&control), view, self.once);
        *known.entry(key).or_insert_with(find)
    }

    /// Whether loops that always run as often may run at once after an edit, and not before it.
    fn loops_at_once(&self, edited: Edited<'_>) -> bool {
        let inlined = |view: View<'_>| misread::inlined_at(self.components, view);
        let at_once = |edited| loops::at_once(self.component, edited, &inlined);
        !at_once(edited).is_subset(&at_once(Edited::default()))
    }

    /// Where something is written in the file: from its first token to its last one, without attributes before it.
    fn span(&self, attributes: &ir::Attributes) -> Option<Range<usize>> {
        let position = attributes.copy_span().into_option()?;
        let (path, start, end) = position.get_location();
        (path == self.path).then(|| self.text.without_space(start..end))
    }

    /// The same for a statement, with its attributes.
    fn statement(&self, view: View<'_>) -> Option<Range<usize>> {
        let span = self.span(view.attributes())?;
        Some(self.text.with_attributes(span.start)..span.end)
    }

    fn id(&self, view: View<'_>) -> Option<ControlId> {
        let (key, _) = view.identity()?;
        self.ids.get(&key).copied()
    }

    /// What is called something in Verilog, in the component and in what becomes a part of it.
    fn names(&self) -> HashSet<String> {
        let mut taken = HashSet::new();
        let own = self.component;
        let parts = own
            .cells
            .iter()
            .filter_map(|cell| misread::inlined(self.components, &cell.borrow()));
        for component in std::iter::once(own).chain(parts) {
            for cell in component.cells.iter() {
                let cell = cell.borrow();
                let name = plain(cell.name());
                let wires = cell.ports.iter();
                taken.extend(wires.map(|port| format!("{name}_{}", plain(port.borrow().name))));
                taken.insert(name);
            }
            let signature = component.signature.borrow();
            taken.extend(signature.ports.iter().map(|port| plain(port.borrow().name)));
            for name in groups(component) {
                taken.extend(GROUP_PORTS.map(|port| format!("{name}_{port}")));
                taken.insert(name);
            }
        }
        taken
    }

    /// A name like this one that nothing in the component has, for a cell or group with these ports. In Verilog a cell has a
    /// wire `CELL_PORT` for each of its ports, and so has a group for its `go` and `done`: these clash neither.
    fn free_name<'b>(&self, name: &str, ports: impl IntoIterator<Item = &'b str>) -> String {
        let taken = self.taken.get_or_init(|| self.names());
        let ports: Vec<&str> = ports.into_iter().collect();
        let is_free = |name: &String| {
            let wires = ports.iter().map(|port| format!("{name}_{port}"));
            wires
                .chain([name.clone()])
                .all(|name| !taken.contains(&name))
        };
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names
            .find(is_free)
            .expect("there are more numbers than names")
    }

    /// Whether edits change what drives logic that arms of a `par` have in common, or make something that does.
    fn changes_common(&self, edits: &[Edit]) -> bool {
        let common = self.dependences.common();
        if common.is_empty() {
            return false;
        }
        let places = self.common.get_or_init(|| self.drives_of(common));
        let is_in = |edit: &Edit, place: &Range<usize>| {
            edit.range.start < place.end && place.start < edit.range.end.max(edit.range.start + 1)
        };
        let names = |edit: &Edit| {
            let mut words = edit
                .text
                .split(|at: char| !at.is_alphanumeric() && at != '_');
            words.any(|word| common.iter().any(|cell| cell.as_ref() == word))
        };
        let mut edits = edits.iter();
        edits.any(|edit| places.iter().any(|place| is_in(edit, place)) || names(edit))
    }

    /// Where groups drive these cells.
    fn drives_of(&self, cells: &Cells) -> Vec<Range<usize>> {
        let groups = self.component.get_groups().iter();
        let groups = groups.map(|group| self.span(&group.borrow().attributes));
        let statics = self.component.get_static_groups().iter();
        let statics = statics.map(|group| self.span(&group.borrow().attributes));
        let combs = self.component.comb_groups.iter();
        let combs = combs.map(|group| self.span(&group.borrow().attributes));
        let spans: Vec<_> = groups.chain(statics).chain(combs).flatten().collect();
        let mut places = Vec::new();
        for cell in cells {
            let ports = self.component.find_cell(*cell);
            let ports = ports.into_iter().flat_map(|cell| names_of(&cell.borrow()));
            for port in ports {
                for span in &spans {
                    let given = self.text.given(span.clone(), cell.as_ref(), port.as_ref());
                    places.extend(given.into_iter().map(|[_, whole]| whole));
                }
            }
        }
        places
    }

    fn rewrite(
        &self,
        kind: RewriteKind,
        arms: Vec<Vec<ControlId>>,
        region: Range<usize>,
        what: String,
        (certainty, premise): (Certainty, String),
        mut edits: Vec<Edit>,
    ) -> Rewrite {
        for edit in &mut edits {
            if self.text.line_end(edit.range.start) == "\r\n" {
                edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
            }
        }
        // What is inserted at one place stays in the order in which it was asked for.
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let (certainty, premise) = match certainty {
            Certainty::Proved if self.dependences.is_timed() => (
                Certainty::Checked,
                "results may depend on how long something takes, for what runs beside it or by itself"
                    .to_owned(),
            ),
            Certainty::Proved if self.observed.joined.contains(self.component.name.as_ref()) => (
                Certainty::Checked,
                "the compiler made one cell of several of the component that keep something".to_owned(),
            ),
            Certainty::Proved if self.changes_common(&edits) => (
                Certainty::Checked,
                "groups that may run at once have some logic in common, and one of them would drive it otherwise"
                    .to_owned(),
            ),
            Certainty::Proved => match self.premises.doubt_of_edits(self.component.name) {
                Some(doubt) => (Certainty::Checked, doubt.to_owned()),
                None => (certainty, premise),
            },
            Certainty::Checked => (certainty, premise),
        };
        Rewrite {
            kind,
            certainty,
            component: self.component.name.to_string(),
            arms,
            region,
            what,
            premise,
            edits,
            is_set: false,
        }
    }
}
