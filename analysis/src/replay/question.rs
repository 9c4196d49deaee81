//! What can be asked of a run, and what that is called.

use std::collections::BTreeSet;

use petal_metadata::{CellKind, ComponentId, ControlId, ControlKind, GroupId, Id as _, Metadata};
use petal_reconstruct::FrameLabels;

use super::asked::all_contended;
use crate::ledger::StatementId;

/// What takes less, or nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// All that was asked for, at once.
    Wanted,
    /// All cycles in which only control moves along.
    AllControl,
    /// All cycles in which only conditions are computed.
    AllConditions,
    /// Both: what computes is left, in the order that the run had.
    AllButComputation,
    /// Each step of each `seq` waits only for those that it depends on, or that drive the same hardware.
    AllOrder,
    /// What computes is left, and of each `seq` a step waits only for those that it depends on.
    DataOrder,
    /// The cycles in which control moves along for a statement.
    Control(StatementId),
    /// Those in which only the condition of a statement is computed.
    Condition(StatementId),
    /// Those in which a cell of this component has been started and does nothing yet, or has nothing more to do.
    Call(ComponentId),
    /// What the slowest arm of a `par` takes longer than the next one.
    Balance(StatementId),
    /// Each step of a `seq` waits only for those that it depends on, or that drive the same hardware.
    Order(StatementId),
    /// The same of all, where no step waits for another one for this cell alone, such as a memory of one port: beyond [`Question::AllOrder`].
    /// It is the cell with this number of those that steps of the component wait for one another for.
    More(ComponentId, usize),
    /// Each run of a group that takes more than a cycle is one shorter.
    Group(ComponentId, GroupId),
    /// The same of an `invoke`.
    Invoke(StatementId),
    /// Each iteration of a loop that takes more than a cycle is one shorter.
    Iteration(StatementId),
}

impl Question {
    /// What one wants shorter by this statement, if it runs something itself.
    pub(super) fn of_enable(
        metadata: &Metadata,
        (component, statement): StatementId,
    ) -> Option<Self> {
        let node = metadata.component(component).node(statement);
        match node.group {
            Some(group) => Some(Self::Group(component, group)),
            None if is_invoke(node.kind) => Some(Self::Invoke((component, statement))),
            None => None,
        }
    }

    /// All that can be asked of parts of this design, whether they run or not.
    pub fn all(metadata: &Metadata) -> BTreeSet<Self> {
        let mut all = BTreeSet::new();
        for id in metadata.component_ids() {
            let component = metadata.component(id);
            all.insert(Self::Call(id));
            for (at, node) in component.control.iter().enumerate() {
                let of = (id, ControlId::from_index(at));
                all.insert(Self::Control(of));
                all.insert(Self::Condition(of));
                all.extend(Self::of_enable(metadata, of));
                if node.kind.is_loop() {
                    all.insert(Self::Iteration(of));
                }
                match node.kind.dynamic() {
                    ControlKind::Seq => all.insert(Self::Order(of)),
                    ControlKind::Par => all.insert(Self::Balance(of)),
                    _ => false,
                };
            }
        }
        all
    }

    /// The statements that it is about, if it is about any.
    pub(super) fn statements(self, metadata: &Metadata) -> Vec<StatementId> {
        match self {
            Self::Wanted
            | Self::AllControl
            | Self::AllConditions
            | Self::AllButComputation
            | Self::AllOrder
            | Self::DataOrder
            | Self::More(..)
            | Self::Call(_) => Vec::new(),
            Self::Control(of)
            | Self::Condition(of)
            | Self::Balance(of)
            | Self::Order(of)
            | Self::Invoke(of)
            | Self::Iteration(of) => vec![of],
            Self::Group(component, group) => {
                let nodes = metadata.component(component).control.iter().enumerate();
                let nodes = nodes.filter(|(_, node)| node.group == Some(group));
                nodes
                    .map(|(at, _)| (component, ControlId::from_index(at)))
                    .collect()
            }
        }
    }

    /// The control that may be another one if it is true.
    pub(super) fn control(self) -> Option<Self> {
        match self {
            Self::Condition(of) | Self::Order(of) => Some(Self::Control(of)),
            Self::AllConditions | Self::AllOrder | Self::DataOrder | Self::More(..) => {
                Some(Self::AllControl)
            }
            _ => None,
        }
    }

    /// The name of what it is about, such as `main.while@L12`; empty if that is the whole run.
    pub fn subject(self, metadata: &Metadata, labels: &FrameLabels) -> String {
        let name = |component: ComponentId| &metadata.component(component).name;
        match self {
            Self::Wanted
            | Self::AllControl
            | Self::AllConditions
            | Self::AllButComputation
            | Self::AllOrder
            | Self::DataOrder => String::new(),
            Self::More(component, number) => {
                format!(
                    "{}.{}",
                    name(component),
                    contended(metadata, component, number)
                )
            }
            Self::Call(component) => name(component).clone(),
            Self::Group(component, group) => {
                format!("{}.{}", name(component), labels.group(component, group))
            }
            Self::Control((component, of))
            | Self::Condition((component, of))
            | Self::Balance((component, of))
            | Self::Order((component, of))
            | Self::Invoke((component, of))
            | Self::Iteration((component, of)) => {
                format!("{}.{}", name(component), labels.control(component, of))
            }
        }
    }

    /// What there is or is not, in words.
    pub fn text(self, metadata: &Metadata, labels: &FrameLabels) -> String {
        let subject = self.subject(metadata, labels);
        match self {
            Self::Wanted => "what is wanted".to_owned(),
            Self::AllControl => "no control".to_owned(),
            Self::AllConditions => "no conditions".to_owned(),
            Self::AllButComputation => "computation alone".to_owned(),
            Self::AllOrder => "everything in the order of its data".to_owned(),
            Self::DataOrder => "computation in the order of its data".to_owned(),
            Self::Control(_) => format!("no control of {subject}"),
            Self::Condition(_) => format!("no condition of {subject}"),
            Self::Call(_) => format!("no start and finish of {subject}"),
            Self::Balance(_) => format!("{subject} balanced"),
            Self::Order(_) => format!("{subject} in the order of its data"),
            Self::More(component, number) if is_memory(metadata, component, number) => {
                format!("more ports of {subject}, too")
            }
            Self::More(..) => format!("more of {subject}, too"),
            Self::Group(..) | Self::Invoke(_) => format!("{subject} a cycle shorter"),
            Self::Iteration(_) => format!("iterations of {subject} a cycle shorter"),
        }
    }
}

/// The name of a cell that steps wait for one another for.
fn contended(metadata: &Metadata, component: ComponentId, number: usize) -> String {
    let mut all = all_contended(&metadata.component(component).sequences);
    all.nth(number).unwrap_or_default()
}

fn is_memory(metadata: &Metadata, component: ComponentId, number: usize) -> bool {
    let name = contended(metadata, component, number);
    let mut cells = metadata.component(component).cells.iter();
    // What is only read is no cell there.
    cells.find(|cell| cell.name == name).is_none_or(
        |cell| matches!(&cell.kind, CellKind::Primitive(name) if name.contains("_mem_d")),
    )
}

fn is_invoke(kind: ControlKind) -> bool {
    matches!(kind, ControlKind::Invoke | ControlKind::StaticInvoke)
}
