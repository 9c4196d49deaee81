//! The tables of the metadata. Every table is a vector that a typed index leads into.

pub(crate) mod compiled;
pub(crate) mod runs;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use self::compiled::{CompiledGroup, ControlRegister};
use self::runs::{Call, GroupRun, Lookup, Purpose, RunRole};
use crate::dependences::Sequence;
use crate::front_end::FrontEnd;
use crate::ids::{
    CellId, CompiledId, ComponentId, ControlId, FileId, GroupId, GroupRunId, Id, PositionId,
    RegisterId, ThreadId,
};
use crate::probe::ProbePrefix;
use crate::schedule::Schedule;

/// All that reconstruction needs to know of an instrumented design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// Version of this schema, [`crate::VERSION`].
    pub version: u32,
    /// Version of petal that wrote the file.
    pub petal: String,
    /// Version of the Calyx compiler that compiled the design.
    pub calyx: String,
    /// Hexadecimal digest of all else here ([`Metadata::seal`]). The main component of the simulated
    /// design holds a marker cell with it in its name ([`ProbePrefix::marker`]), and a trace has it in
    /// its head: so neither is taken for one of other metadata.
    pub fingerprint: String,
    /// Whether whoever compiled the design makes sure that the plain design runs alike: petal does, but
    /// for `--unverified`.
    pub verified: bool,
    /// The passes that ran, in order, without petal's own.
    pub pipeline: Vec<String>,
    /// Source files that something of the design comes from.
    pub files: Vec<SourceFile>,
    /// The places in the files of a front end, if the design names any.
    #[serde(default, skip_serializing_if = "FrontEnd::is_empty")]
    pub front_end: FrontEnd,
    /// Common beginning of all probe cell names.
    pub prefix: ProbePrefix,
    /// Verilog instances from the top of the simulation (without a leading `TOP`) down to the main
    /// component: `["toplevel", "main"]`.
    pub scope: Vec<String>,
    /// The component in which the program starts.
    pub main: ComponentId,
    /// All components of the design.
    pub components: Vec<Component>,
}

impl Metadata {
    /// The component `id`.
    pub fn component(&self, id: ComponentId) -> &Component {
        &self.components[id.index()]
    }
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The file's name without its folders (outputs do not depend on where the design lies).
    pub name: String,
    /// True for the file that was compiled, false for one that it imports.
    pub root: bool,
    /// The file's text.
    pub text: String,
}

impl SourceFile {
    /// The line `number`, counted from 1, without the white space around it, and without the positions that a
    /// front end wrote before a statement (`@pos{3, 7}`): they are other ones whenever it runs.
    pub fn line(&self, number: u32) -> &str {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let line = self.text.lines().nth(index.saturating_sub(1));
        let mut line = line.unwrap_or("").trim();
        while let Some(rest) = line.strip_prefix("@pos") {
            let close = match rest.trim_start().chars().next() {
                Some('{') => '}',
                Some('(') => ')',
                _ => break,
            };
            let Some((_, rest)) = rest.split_once(close) else {
                break;
            };
            line = rest.trim_start();
        }
        line
    }
}

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First line, counted from 1.
    pub line: u32,
    /// First column in characters, counted from 1.
    pub column: u32,
    /// Last line, counted from 1.
    pub end_line: u32,
}

/// Where a part of the design comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Written in the source.
    Source,
    /// Made by the compiler.
    Compiler,
    /// Written in the source of this component, and copied into its user by inlining.
    Inlined(String),
}

/// A component of the design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Name in the source.
    pub name: String,
    /// Where it is defined.
    pub span: Option<Span>,
    /// Where it comes from in the files of a front end, in the order of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionId>,
    /// Cycles from `go` to the end of a run, for a static (or promoted) component: after its `go`
    /// was high in one cycle it is active in that one and `latency - 1` more.
    pub latency: Option<u64>,
    /// Whether the source has cells of it that the compiled design does not have: the compiler has removed or inlined them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_cells: bool,
    /// Cells that calls and component instances name.
    pub cells: Vec<Cell>,
    /// Groups.
    pub groups: Vec<Group>,
    /// The control program as written, in preorder: a node's children follow it in source order.
    pub control: Vec<ControlNode>,
    /// The `seq`s of the source in which something does not depend on something else. About others, those of inlined
    /// components among them, nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<Sequence>,
    /// Every way in which a group comes to run; each has a GA probe.
    pub runs: Vec<GroupRun>,
    /// Every call that a group or a continuous assignment makes; each has a CG, CC or CP probe.
    pub calls: Vec<Call>,
    /// How memories that give a word in the same cycle are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
    /// The combinational primitives that continuous assignments drive. They compute in every cycle, so
    /// they have no probe, and are in no call tree of a trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continuous: Vec<CellId>,
    /// The par threads of the control program; thread 0 is the one outside of every par.
    pub threads: Vec<Thread>,
    /// Compilation groups, children before parents.
    pub compiled: Vec<CompiledGroup>,
    /// The compilation group that runs the whole control program, if it has any.
    pub root: Option<CompiledId>,
    /// What the control program of a static component runs in each cycle.
    pub schedule: Option<Schedule>,
    /// Registers that the compiler made to hold control state.
    pub registers: Vec<ControlRegister>,
}

impl Component {
    /// The cell `id`.
    pub fn cell(&self, id: CellId) -> &Cell {
        &self.cells[id.index()]
    }

    /// The group `id`.
    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.index()]
    }

    /// The control node `id`.
    pub fn node(&self, id: ControlId) -> &ControlNode {
        &self.control[id.index()]
    }

    /// The body of a loop.
    pub fn body(&self, of: ControlId) -> Option<ControlId> {
        let mut nodes = (0..self.control.len()).map(ControlId::from_index);
        nodes.find(|&node| self.node(node).parent == Some(of))
    }

    /// The group run `id`.
    pub fn run(&self, id: GroupRunId) -> &GroupRun {
        &self.runs[id.index()]
    }

    /// The first and the last of the parts that the compiler split this run of a group into; the run itself if it did not.
    pub fn parts(&self, id: GroupRunId) -> (GroupRunId, GroupRunId) {
        let run = self.run(id);
        let same_whole = |other: &GroupRun| {
            other.part.is_some() && other.control == run.control && other.group == run.group
        };
        if run.part.is_none() {
            return (id, id);
        }
        let ends = [
            self.runs.iter().position(same_whole),
            self.runs.iter().rposition(same_whole),
        ];
        let [first, last] = ends.map(|at| at.map_or(id, GroupRunId::from_index));
        (first, last)
    }

    /// What the run `id` is for.
    pub fn purpose(&self, id: GroupRunId) -> Purpose {
        let run = self.run(id);
        match run.role {
            RunRole::Condition => Purpose::Condition,
            RunRole::Control | RunRole::Idle => Purpose::Control,
            RunRole::Called if self.group(run.group).origin == Origin::Compiler => Purpose::Control,
            RunRole::Body | RunRole::Called => Purpose::Work,
        }
    }

    /// The compilation group `id`.
    pub fn compiled(&self, id: CompiledId) -> &CompiledGroup {
        &self.compiled[id.index()]
    }

    /// The control register `id`.
    pub fn register(&self, id: RegisterId) -> &ControlRegister {
        &self.registers[id.index()]
    }

    /// The instances of components in this one: for each a cell whose work it does, and its component.
    /// Where it works for several, that is the one it is named after, or else the first.
    pub fn instances(&self) -> impl Iterator<Item = (CellId, ComponentId)> + '_ {
        let components = self.cells.iter().enumerate().filter_map(|(at, cell)| {
            let (CellKind::Component(component), Some(instance)) = (&cell.kind, &cell.instance)
            else {
                return None;
            };
            Some((CellId::from_index(at), instance.as_str(), *component))
        });
        let mut chosen: HashMap<&str, CellId> = HashMap::new();
        for (id, instance, _) in components.clone() {
            let first = chosen.entry(instance).or_insert(id);
            if instance == self.cell(id).name {
                *first = id;
            }
        }
        components
            .filter(move |(id, instance, _)| chosen[instance] == *id)
            .map(|(id, _, component)| (id, component))
    }

    /// The `ref` cells that are cells of components, each with its component.
    pub fn component_references(&self) -> impl Iterator<Item = (CellId, ComponentId)> + '_ {
        let cells = self.cells.iter().enumerate();
        cells.filter_map(|(at, cell)| match cell.kind {
            CellKind::Component(id) if cell.is_reference() => Some((CellId::from_index(at), id)),
            _ => None,
        })
    }

    /// The schedules of the component's static programs.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        let compiled = self.compiled.iter();
        compiled
            .filter_map(|group| group.schedule.as_ref())
            .chain(&self.schedule)
    }

    /// `node` and its ancestors, innermost first.
    pub fn ancestry(&self, node: ControlId) -> impl Iterator<Item = ControlId> + '_ {
        std::iter::successors(Some(node), |&id| self.node(id).parent)
    }

    /// The innermost control node that contains both `a` and `b` (which may be one of them).
    pub fn common_ancestor(&self, a: ControlId, b: ControlId) -> Option<ControlId> {
        self.ancestry(a)
            .find(|&above| self.ancestry(b).any(|other| other == above))
    }
}

/// A cell of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Name in the source (or the compiler's name for a cell that it made).
    pub name: String,
    /// What it is an instance of.
    pub kind: CellKind,
    /// Where the cell comes from.
    pub origin: Origin,
    /// Where it is declared.
    pub span: Option<Span>,
    /// Where it comes from in the files of a front end, in the order of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionId>,
    /// The Verilog instance that does the cell's work. Differs from the name when the compiler let
    /// the cell share the hardware of another one. `None` for a `ref` cell: the invoke of its
    /// component gives the cell that it stands for ([`ControlNode::bindings`]).
    pub instance: Option<String>,
}

impl Cell {
    /// Whether it is a `ref` cell.
    pub fn is_reference(&self) -> bool {
        self.instance.is_none()
    }

    /// The other instance whose hardware does the cell's work, if it has none of its own.
    pub fn shares_hardware_of(&self) -> Option<&str> {
        let instance = self.instance.as_deref()?;
        (instance != self.name).then_some(instance)
    }
}

/// What a cell is an instance of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// A component of the design.
    Component(ComponentId),
    /// A primitive, by the name of its type.
    Primitive(String),
}

/// A group of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Name in the source (or the compiler's name for a group that it made).
    pub name: String,
    /// How it is timed.
    pub kind: GroupKind,
    /// Where the group comes from.
    pub origin: Origin,
    /// Where it is defined.
    pub span: Option<Span>,
    /// Where it comes from in the files of a front end, in the order of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionId>,
    /// What its `done` is in the source, as Calyx writes it: `mem.done`. `None` for a group that is not written,
    /// or not dynamic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<String>,
}

/// How a group is timed in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// Runs until its `done` is high.
    Dynamic,
    /// Runs for a fixed number of cycles.
    Static,
    /// Runs together with the control node whose condition it computes.
    Comb,
}

/// A kind of control statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlKind {
    /// `seq`
    Seq,
    /// `par`
    Par,
    /// `if`
    If,
    /// `while`
    While,
    /// `repeat`
    Repeat,
    /// The enable of a group.
    Enable,
    /// `invoke`
    Invoke,
    /// `static seq`
    StaticSeq,
    /// `static par`
    StaticPar,
    /// `static if`
    StaticIf,
    /// `static repeat`
    StaticRepeat,
    /// The enable of a static group.
    StaticEnable,
    /// `static invoke`
    StaticInvoke,
    /// An empty statement, which does something only with `@sync`.
    Empty,
}

/// A node of a control program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlNode {
    /// What it is.
    pub kind: ControlKind,
    /// Where it is written.
    pub span: Option<Span>,
    /// Where it comes from in the files of a front end, in the order of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionId>,
    /// The number of the checkpoint that it is, if the source marks it as one: `@checkpoint(3)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
    /// The node that contains it; `None` for the root of the control program.
    pub parent: Option<ControlId>,
    /// Where the node comes from: never [`Origin::Compiler`].
    pub origin: Origin,
    /// The par thread that it is in.
    pub thread: ThreadId,
    /// The group that an enable runs.
    pub group: Option<GroupId>,
    /// The cell that an invoke runs.
    pub cell: Option<CellId>,
    /// What the `ref` cells of that cell's component stand for during the invoke.
    pub bindings: Vec<Binding>,
    /// Cycles of one run of the statement, where the compiler fixed them: it was written as static
    /// or promoted to it, together with all that it contains. A run that follows another one without a break begins
    /// so many cycles after it.
    pub latency: Option<u64>,
    /// How often a `repeat` runs its body, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u64>,
    /// Whether nothing in the compiled design tells one run of the statement from the next.
    #[serde(default)]
    pub merged: bool,
}

/// A `ref` cell of an invoked component, and the cell that the invoke hands to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The `ref` cell, in the invoked component.
    pub formal: CellId,
    /// The cell that it stands for, in the component of the invoke; may be a `ref` cell there.
    pub actual: CellId,
}

/// A par thread: one arm of a `par`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The `par`, and which of its arms, counted from 0; `None` for thread 0.
    pub arm: Option<(ControlId, u32)>,
}
