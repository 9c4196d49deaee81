//! What was active when a run ended before its design was done, and what that waits for.
//!
//! Owns the rule which of it keeps the run from going on. Why the run ended is told by who ended it.

use petal_metadata::{Component, ControlId, ControlKind, GroupKind, Id, Metadata, RunRole, Span};
use petal_reconstruct::{
    CallTree, FrameLabels, Instance, InstanceId, Node, NodeId, actual_path, instance_path,
};
use serde::{Deserialize, Serialize};

use crate::activations::Activations;
use crate::elements::Element;
use crate::front_end::FrontEndLines;
use crate::profile::Profile;
use petal_table::text::thousands;

/// The end of a run that ended before its design was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The last cycle of the run.
    pub cycle: u64,
    /// The call tree of that cycle, in preorder.
    pub active: Vec<ActiveNode>,
    /// What the innermost active groups and cells wait for, as sentences; and where it is proved that the run
    /// never ends, which condition never gets false. Empty if nobody knows.
    pub waits: Vec<String>,
    /// The groups among them that wait for their `done`.
    #[serde(skip)]
    pub waiting: Vec<WaitingGroup>,
}

/// A group of the source that waits for its `done`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WaitingGroup {
    /// The path of its cell.
    pub cell: String,
    /// The component of that cell.
    pub component: String,
    /// The group.
    pub group: String,
    /// What its `done` is, as Calyx writes it.
    pub done: String,
    /// Where it is among the sentences of what is waited for.
    pub sentence: usize,
}

/// A node of the last call tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveNode {
    /// Levels above it.
    pub depth: usize,
    /// The node as call trees name it, with its line in the front end's files if it has one.
    pub label: String,
    /// The cycle since which it has been active without a break.
    pub since: u64,
}

impl Ending {
    /// The end of a run. `period`: if it is proved that its last cycles, so many, repeat for ever.
    pub fn new(
        metadata: &Metadata,
        profile: &Profile,
        activations: &Activations<'_>,
        period: Option<u64>,
    ) -> Option<Self> {
        let tree = profile.last_tree()?;
        let instances = profile.instances();
        let labels = FrameLabels::new(metadata);
        let lines = FrontEndLines::new(metadata);
        let mut since = 0;
        let active: Vec<ActiveNode> = tree
            .with_holders()
            .map(|(depth, node, holder)| {
                // Continuous assignments are active as long as their cell.
                let element = Element::of(node, holder);
                since = element.map_or(since, |element| activations.since(element));
                let mut label = labels.label(node, instances).to_owned();
                if let Some(actual) = actual_path(metadata, instances, node) {
                    label = format!("{label} = {actual}");
                }
                label.push_str(&lines.places(&lines.frames(node, instances)));
                ActiveNode {
                    depth,
                    label,
                    since,
                }
            })
            .collect();
        let end = profile.total();
        let search = Search {
            metadata,
            instances,
            labels,
            tree,
            holders: tree.with_holders().map(|(_, _, holder)| holder).collect(),
            // What has a break in the part that repeats is no reason why it does.
            lasts: active
                .iter()
                .map(|node| end - node.since >= period.unwrap_or(1))
                .collect(),
            is_proved: period.is_some(),
        };
        let (mut waits, mut waiting): (Vec<String>, Vec<WaitingGroup>) = Default::default();
        for (wait, group) in search.waits() {
            if waits.last() != Some(&wait) {
                waiting.extend(group.map(|group| WaitingGroup {
                    sentence: waits.len(),
                    ..group
                }));
                waits.push(wait);
            }
        }
        Some(Self {
            cycle: end.saturating_sub(1),
            waits,
            waiting,
            active,
        })
    }

    /// The end for a terminal: lines, the last one without its end.
    pub fn text(&self) -> String {
        let since = |node: &ActiveNode| thousands(node.since);
        let widths = self.active.iter().map(|node| since(node).len());
        let width = widths.max().unwrap_or(0);
        let mut lines = vec![format!(
            "active in cycle {}, each with its first cycle:",
            thousands(self.cycle)
        )];
        lines.extend(self.active.iter().map(|node| {
            let indent = "  ".repeat(node.depth);
            format!("{:>width$}  {indent}{}", since(node), node.label)
        }));
        lines.extend(self.waits.iter().cloned());
        lines.join("\n  ")
    }
}

/// Looks for what keeps a run from going on.
struct Search<'a> {
    metadata: &'a Metadata,
    instances: &'a [Instance],
    labels: FrameLabels,
    tree: &'a CallTree,
    /// The cell that holds each node.
    holders: Vec<Option<InstanceId>>,
    /// Whether each node is active in all cycles that count.
    lasts: Vec<bool>,
    is_proved: bool,
}

impl Search<'_> {
    fn waits(&self) -> Vec<(String, Option<WaitingGroup>)> {
        let works = |id: NodeId| {
            let may_wait = match self.tree.node(id) {
                // Whoever calls one without control waits for its `done`.
                Node::Cell { instance, .. } => {
                    id.index() == 0 || !self.component(instance).control.is_empty()
                }
                Node::Control { .. } | Node::Group { .. } => true,
                Node::Continuous { .. } | Node::Primitive { .. } => false,
            };
            self.lasts[id.index()] && may_wait
        };
        let innermost = self.tree.nodes().map(|(id, _)| id).filter(|&id| {
            let below = self.tree.children(id);
            works(id) && !below.into_iter().any(works)
        });
        innermost.filter_map(|id| self.wait(id)).collect()
    }

    /// What an innermost node waits for, and which group that is.
    fn wait(&self, id: NodeId) -> Option<(String, Option<WaitingGroup>)> {
        let holder = self.holders[id.index()];
        match self.tree.node(id) {
            Node::Group {
                component,
                group,
                run,
            } => {
                let component = self.metadata.component(component);
                let (run, group) = (component.run(run), component.group(group));
                let has_done = group.kind == GroupKind::Dynamic
                    && run.latency.is_none()
                    && !matches!(run.role, RunRole::Condition | RunRole::Control);
                if !has_done {
                    return Some((self.loop_around(id)?, None));
                }
                // An invoke is written, its group is not; a group that the compiler split is.
                let by = run.control.filter(|_| group.span.is_none());
                let node = by.map(|control| component.node(control));
                let split = node.filter(|node| node.kind.is_enable());
                let split = split.and_then(|node| Some(component.group(node.group?)));
                let cell = node.and_then(|node| node.cell);
                let cell = cell.map(|cell| format!("{}.done", component.cell(cell).name));
                let written = split.unwrap_or(group);
                let done = written.done.clone().or(cell);
                let told = done.as_ref();
                let told = told.map_or(String::new(), |done| format!(", `{done}`"));
                let what = match by.filter(|_| split.is_none()) {
                    Some(control) => self.control(holder?, control),
                    None => format!(
                        "group {}{}",
                        self.inside(holder?, &written.name),
                        self.place(written.span)
                    ),
                };
                let cell = instance_path(self.metadata, self.instances, holder?);
                let group = done.map(|done| WaitingGroup {
                    cell: cell.clone(),
                    component: component.name.clone(),
                    group: written.name.clone(),
                    done,
                    sentence: 0,
                });
                Some((format!("{what} waits for its `done`{told}"), group))
            }
            Node::Cell { instance, .. } if self.component(instance).control.is_empty() => {
                let component = self.component(instance);
                let place = self.place(component.span);
                let what = format!("component {}{place} has not set its `done`", component.name);
                Some((what, None))
            }
            Node::Cell { .. }
            | Node::Control { .. }
            | Node::Continuous { .. }
            | Node::Primitive { .. } => Some((self.loop_around(id)?, None)),
        }
    }

    fn component(&self, instance: InstanceId) -> &Component {
        let component = self.instances[instance.index()].component;
        self.metadata.component(component)
    }

    /// The innermost loop around a node, where it is proved that it never ends.
    fn loop_around(&self, id: NodeId) -> Option<String> {
        if !self.is_proved {
            return None;
        }
        let path = self.tree.path(id);
        path.into_iter().rev().find_map(|id| {
            let Node::Control { component, control } = self.tree.node(id) else {
                return None;
            };
            let node = self.metadata.component(component).node(control);
            let what = self.control(self.holders[id.index()]?, control);
            let text = node.span.map(|span| {
                let file = &self.metadata.files[span.file.index()];
                format!(": {}", file.line(span.line))
            });
            let text = text.unwrap_or_default();
            (node.kind == ControlKind::While)
                .then(|| format!("{what} never ends, as its condition never gets false{text}"))
        })
    }

    /// A statement of a cell.
    fn control(&self, holder: InstanceId, control: ControlId) -> String {
        let component = self.instances[holder.index()].component;
        let node = self.metadata.component(component).node(control);
        let label = self.labels.control(component, control);
        format!("{}{}", self.inside(holder, label), self.place(node.span))
    }

    /// The path of what is called `name` in a cell.
    fn inside(&self, holder: InstanceId, name: &str) -> String {
        let path = instance_path(self.metadata, self.instances, holder);
        format!("{path}.{name}")
    }

    /// A place as messages write it behind what is there: ` (queue.futil:12)`.
    fn place(&self, span: Option<Span>) -> String {
        span.map_or(String::new(), |span| {
            let file = &self.metadata.files[span.file.index()];
            format!(" ({}:{})", file.name, span.line)
        })
    }
}
