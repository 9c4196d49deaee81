//! The program as written: its control nodes, groups and cells, recorded before any pass changes
//! them, with their places in the source files.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use petal_metadata::{ControlKind, GroupKind, Origin};

use crate::places::{Files, Place};
use crate::tree::{NodeKey, View};

/// A source control node.
#[derive(Debug, Clone)]
pub struct SourceNode {
    /// What kind of statement it is.
    pub kind: ControlKind,
    /// Where it is written.
    pub place: Place,
    /// The node around it.
    pub parent: Option<NodeKey>,
    /// Position among its siblings.
    pub position: usize,
    /// How it came into its component.
    pub origin: Origin,
    /// The group that an enable runs, or the comb group that computes a condition.
    pub group: Option<ir::Id>,
    /// The cell that an invoke runs.
    pub cell: Option<ir::Id>,
    /// The type of that cell.
    pub cell_type: Option<ir::Id>,
    /// How often a `repeat` runs its body.
    pub repeats: Option<u64>,
    /// The `ref` cells of that type, and the cells that they stand for.
    pub handed_over: Vec<(ir::Id, ir::Id)>,
}

/// A group of the source.
#[derive(Debug, Clone)]
pub struct SourceGroup {
    /// What kind of group it is.
    pub kind: GroupKind,
    /// Where it is written.
    pub place: Place,
    /// What the `done` of a dynamic group is.
    pub done: Option<String>,
}

/// What is known of a component from its source.
#[derive(Debug, Clone, Default)]
pub struct SourceComponent {
    /// Where it is written.
    pub place: Place,
    /// Its control nodes.
    pub nodes: HashMap<NodeKey, SourceNode>,
    /// The outermost one, if there is any control.
    pub root: Option<NodeKey>,
    /// Its groups, by name.
    pub groups: HashMap<ir::Id, SourceGroup>,
    /// Cells with their place, in source order.
    pub cells: Vec<(ir::Id, Place)>,
    /// Component cells that something may run, and the components that they are of.
    pub instances: Vec<(ir::Id, ir::Id)>,
}

impl SourceComponent {
    /// `key` and its ancestors, innermost first.
    pub fn ancestry(&self, key: NodeKey) -> impl Iterator<Item = NodeKey> + '_ {
        std::iter::successors(Some(key), |key| self.nodes.get(key)?.parent)
    }

    /// The innermost node that contains all of `keys`.
    pub fn common_ancestor(&self, keys: impl IntoIterator<Item = NodeKey>) -> Option<NodeKey> {
        let mut keys = keys.into_iter();
        let around: Vec<NodeKey> = self.ancestry(keys.next()?).collect();
        let places: HashMap<NodeKey, usize> = around.iter().copied().zip(0..).collect();
        let mut innermost = 0;
        // What is above these is known, so each node is looked at once.
        let mut seen = HashSet::new();
        for key in keys {
            let mut above = self.ancestry(key).take_while(|above| seen.insert(*above));
            // All are in one tree; only a node of another component would miss.
            let place = above.find_map(|above| places.get(&above).copied());
            innermost = innermost.max(place.unwrap_or(0));
        }
        Some(around[innermost])
    }

    /// All nodes in preorder.
    pub fn preorder(&self) -> Vec<NodeKey> {
        let mut below: HashMap<Option<NodeKey>, Vec<(usize, NodeKey)>> = HashMap::new();
        for (&key, node) in &self.nodes {
            below
                .entry(node.parent)
                .or_default()
                .push((node.position, key));
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack: Vec<NodeKey> = self.root.into_iter().collect();
        while let Some(key) = stack.pop() {
            order.push(key);
            let mut children = below.remove(&Some(key)).unwrap_or_default();
            children.sort_unstable();
            stack.extend(children.into_iter().rev().map(|(_, child)| child));
        }
        order
    }
}

/// Records the source of `component`, taking new keys for its control nodes from `next_key`. The
/// second result lists the keys of all nodes in preorder; empty statements that do nothing have
/// none.
pub(crate) fn record(
    component: &ir::Component,
    files: &mut Files,
    next_key: &mut u64,
) -> (SourceComponent, Vec<Option<NodeKey>>) {
    let mut source = SourceComponent {
        place: files.place(&component.attributes),
        ..Default::default()
    };
    let run = run_cells(component);
    for cell in component.cells.iter() {
        let cell = cell.borrow();
        source
            .cells
            .push((cell.name(), files.place(&cell.attributes)));
        if let ir::CellType::Component { name } = &cell.prototype
            && run.contains(&cell.name())
        {
            source.instances.push((cell.name(), *name));
        }
    }
    let mut group = |name: ir::Id, kind, attributes: &ir::Attributes, done| {
        source.groups.insert(
            name,
            SourceGroup {
                kind,
                place: files.place(attributes),
                done,
            },
        );
    };
    for known in component.get_groups().iter() {
        let known = known.borrow();
        let done = done(&known);
        group(known.name(), GroupKind::Dynamic, &known.attributes, done);
    }
    for known in component.get_static_groups().iter() {
        let known = known.borrow();
        group(known.name(), GroupKind::Static, &known.attributes, None);
    }
    for known in component.comb_groups.iter() {
        let known = known.borrow();
        group(known.name(), GroupKind::Comb, &known.attributes, None);
    }
    let mut recorder = Recorder {
        files,
        next_key,
        nodes: HashMap::new(),
        order: Vec::new(),
    };
    source.root = recorder.node(View::of(&component.control.borrow()), None, 0);
    source.nodes = recorder.nodes;
    (source, recorder.order)
}

/// The cells that assignments drive or control invokes, `ref` cells left out.
fn run_cells(component: &ir::Component) -> HashSet<ir::Id> {
    let mut cells = HashSet::new();
    let mut add = |cell: &ir::RRC<ir::Cell>| {
        let cell = cell.borrow();
        cells.extend((!cell.is_reference()).then(|| cell.name()));
    };
    let mut add_driven = |port: &ir::RRC<ir::Port>| {
        if let ir::PortParent::Cell(cell) = &port.borrow().parent {
            add(&cell.upgrade());
        }
    };
    component.iter_assignments(|assignment| add_driven(&assignment.dst));
    component.iter_static_assignments(|assignment| add_driven(&assignment.dst));
    View::of(&component.control.borrow()).walk(&mut |view| {
        view.invoked().into_iter().for_each(&mut add);
    });
    cells
}

/// What the `done` of a group is, as Calyx writes it. Several assignments are alternatives.
fn done(group: &ir::Group) -> Option<String> {
    let drives = |assignment: &&ir::Assignment<ir::Nothing>| {
        let port = assignment.dst.borrow();
        port.is_hole() && port.name == "done" && port.get_parent_name() == group.name()
    };
    let alternatives = group.assignments.iter().filter(drives).map(|assignment| {
        let source = ir::Printer::port_to_str(&assignment.src.borrow());
        let guard = ir::Printer::guard_str(&assignment.guard);
        match (
            assignment.guard.is_true(),
            assignment.src.borrow().is_constant(1, 1),
        ) {
            (true, _) => source,
            (false, true) => guard,
            (false, false) => format!("{guard} ? {source}"),
        }
    });
    let alternatives: Vec<String> = alternatives.collect();
    (!alternatives.is_empty()).then(|| alternatives.join(" or "))
}

struct Recorder<'a> {
    files: &'a mut Files,
    next_key: &'a mut u64,
    nodes: HashMap<NodeKey, SourceNode>,
    order: Vec<Option<NodeKey>>,
}

impl Recorder<'_> {
    fn node(
        &mut self,
        view: View<'_>,
        parent: Option<NodeKey>,
        position: usize,
    ) -> Option<NodeKey> {
        if view.kind() == ControlKind::Empty && !view.attributes().has(ir::NumAttr::Sync) {
            self.order.push(None);
            return None;
        }
        let key = NodeKey(*self.next_key);
        *self.next_key += 1;
        self.order.push(Some(key));
        let group = match view.group() {
            Some(group) => Some(group.name()),
            None => view.comb_group().map(|group| group.borrow().name()),
        };
        let node = SourceNode {
            kind: view.kind(),
            place: self.files.place(view.attributes()),
            parent,
            position,
            origin: Origin::Source,
            group,
            cell: view.invoked().map(|cell| cell.borrow().name()),
            cell_type: view.invoked().and_then(|cell| cell.borrow().type_name()),
            repeats: view.repeats(),
            handed_over: view.handed_over(),
        };
        self.nodes.insert(key, node);
        for (position, child) in view.children().into_iter().enumerate() {
            self.node(child, Some(key), position);
        }
        Some(key)
    }
}
