//! One view of control programs, dynamic and static alike, and the identity that petal attaches
//! to their nodes.
//!
//! Calyx has two control types, [`ir::Control`] and [`ir::StaticControl`], whose nodes carry the
//! same information. [`View`] reads either, [`ViewMut`] changes either. Identity is an attribute,
//! which the compiler's passes copy around with a node where they keep the node at all.

use calyx_ir::{self as ir, GetAttributes};
use petal_metadata::{ControlKind, ProbeKind, ProbeName};

/// Names a source control node; unique in the whole program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeKey(pub u64);

/// What an enable does for the control node whose key it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// The enable or invoke itself.
    Body,
    /// The n-th part of a group that was split.
    Part(u8),
    /// The condition of an `if` or `while`.
    Condition,
    /// A helper that the compiler added.
    Control,
}

impl Slot {
    fn code(self) -> u64 {
        match self {
            Self::Body => 0,
            Self::Condition => 1,
            Self::Control => 2,
            Self::Part(part) => 3 + u64::from(part),
        }
    }

    fn from_code(code: u64) -> Self {
        match code {
            0 => Self::Body,
            1 => Self::Condition,
            2 => Self::Control,
            part => Self::Part(u8::try_from(part - 3).unwrap_or(u8::MAX)),
        }
    }
}

fn key_attribute() -> ir::Attribute {
    ir::Attribute::Unknown("petal_node".into())
}

fn slot_attribute() -> ir::Attribute {
    ir::Attribute::Unknown("petal_slot".into())
}

/// The identity in `attributes`, if there is one.
pub fn identity(attributes: &ir::Attributes) -> Option<(NodeKey, Slot)> {
    let key = attributes.get(key_attribute())?;
    let slot = attributes.get(slot_attribute()).unwrap_or(0);
    Some((NodeKey(key), Slot::from_code(slot)))
}

/// Marks a whole static program with its number.
fn static_program_attribute() -> ir::Attribute {
    ir::Attribute::Unknown("petal_static_program".into())
}

/// Tells the probe of a branch of a `static if`.
fn branch_attribute(branch: bool) -> ir::Attribute {
    let name = if branch { "petal_then" } else { "petal_else" };
    ir::Attribute::Unknown(name.into())
}

/// Tells the run of an enable whose group has others.
fn run_attribute() -> ir::Attribute {
    ir::Attribute::Unknown("petal_run".into())
}

/// A control node to read.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// One whose latency is not fixed.
    Dynamic(&'a ir::Control),
    /// One whose latency is.
    Static(&'a ir::StaticControl),
}

impl<'a> View<'a> {
    /// The node that this is, static or not.
    pub fn of(control: &'a ir::Control) -> Self {
        match control {
            ir::Control::Static(inner) => Self::Static(inner),
            other => Self::Dynamic(other),
        }
    }

    /// What is said of it.
    pub fn attributes(self) -> &'a ir::Attributes {
        match self {
            Self::Dynamic(control) => control.get_attributes(),
            Self::Static(control) => control.get_attributes(),
        }
    }

    /// Whether both are the same node.
    pub fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Dynamic(one), Self::Dynamic(other)) => std::ptr::eq(one, other),
            (Self::Static(one), Self::Static(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }

    /// Whose node it is, and in what part, if petal knows.
    pub fn identity(self) -> Option<(NodeKey, Slot)> {
        identity(self.attributes())
    }

    /// The number of the static program that this is.
    pub fn static_program(self) -> Option<usize> {
        let number = self.attributes().get(static_program_attribute())?;
        usize::try_from(number).ok()
    }

    /// The probe of the branch of this `static if` that is taken where the condition is `branch`, if it has one.
    pub fn branch_probe(self, branch: bool) -> Option<ProbeName> {
        let number = self.attributes().get(branch_attribute(branch))?;
        Some(ProbeName {
            kind: ProbeKind::BR,
            number: u32::try_from(number).ok()?,
        })
    }

    /// The run that this enable is, if its group has others.
    pub fn run(self) -> Option<usize> {
        let number = self.attributes().get(run_attribute())?;
        usize::try_from(number).ok()
    }

    /// What kind of statement it is.
    #[allow(clippy::match_wildcard_for_single_variants)]
    pub fn kind(self) -> ControlKind {
        match self {
            Self::Dynamic(control) => match control {
                ir::Control::Seq(_) => ControlKind::Seq,
                ir::Control::Par(_) => ControlKind::Par,
                ir::Control::If(_) => ControlKind::If,
                ir::Control::While(_) => ControlKind::While,
                ir::Control::Repeat(_) => ControlKind::Repeat,
                ir::Control::Enable(_) => ControlKind::Enable,
                ir::Control::Invoke(_) => ControlKind::Invoke,
                ir::Control::Static(inner) => Self::Static(inner).kind(),
                // `fsm`s of newer compilers are refused before anything looks at them.
                _ => ControlKind::Empty,
            },
            Self::Static(control) => match control {
                ir::StaticControl::Repeat(_) => ControlKind::StaticRepeat,
                ir::StaticControl::Enable(_) => ControlKind::StaticEnable,
                ir::StaticControl::Par(_) => ControlKind::StaticPar,
                ir::StaticControl::Seq(_) => ControlKind::StaticSeq,
                ir::StaticControl::If(_) => ControlKind::StaticIf,
                ir::StaticControl::Empty(_) => ControlKind::Empty,
                ir::StaticControl::Invoke(_) => ControlKind::StaticInvoke,
            },
        }
    }

    /// The nodes right below it, in order.
    pub fn children(self) -> Vec<View<'a>> {
        match self {
            Self::Dynamic(control) => match control {
                ir::Control::Seq(ir::Seq { stmts, .. })
                | ir::Control::Par(ir::Par { stmts, .. }) => stmts.iter().map(View::of).collect(),
                ir::Control::If(node) => vec![View::of(&node.tbranch), View::of(&node.fbranch)],
                ir::Control::While(ir::While { body, .. })
                | ir::Control::Repeat(ir::Repeat { body, .. }) => vec![View::of(body)],
                ir::Control::Static(inner) => Self::Static(inner).children(),
                _ => vec![],
            },
            Self::Static(control) => match control {
                ir::StaticControl::Seq(ir::StaticSeq { stmts, .. })
                | ir::StaticControl::Par(ir::StaticPar { stmts, .. }) => {
                    stmts.iter().map(View::Static).collect()
                }
                ir::StaticControl::If(node) => {
                    vec![View::Static(&node.tbranch), View::Static(&node.fbranch)]
                }
                ir::StaticControl::Repeat(node) => vec![View::Static(&node.body)],
                ir::StaticControl::Enable(_)
                | ir::StaticControl::Invoke(_)
                | ir::StaticControl::Empty(_) => vec![],
            },
        }
    }

    /// The group that an enable runs.
    pub fn group(self) -> Option<GroupRef> {
        match self {
            Self::Dynamic(ir::Control::Enable(node)) => {
                Some(GroupRef::Dynamic(std::rc::Rc::clone(&node.group)))
            }
            Self::Static(ir::StaticControl::Enable(node)) => {
                Some(GroupRef::Static(std::rc::Rc::clone(&node.group)))
            }
            _ => None,
        }
    }

    /// Whether a statement like this runs whenever this one does: itself, or as a step or arm of it.
    pub fn surely_runs(self, is_wanted: &impl Fn(View<'a>) -> bool) -> bool {
        let is_list = matches!(
            self.kind(),
            ControlKind::Seq | ControlKind::StaticSeq | ControlKind::Par | ControlKind::StaticPar
        );
        let mut children = self.children().into_iter();
        is_wanted(self) || is_list && children.any(|child| child.surely_runs(is_wanted))
    }

    /// How often a `repeat` runs its body.
    pub fn repeats(self) -> Option<u64> {
        match self {
            Self::Dynamic(ir::Control::Repeat(node)) => Some(node.num_repeats),
            Self::Static(ir::StaticControl::Repeat(node)) => Some(node.num_repeats),
            _ => None,
        }
    }

    /// The cell that an invoke runs.
    pub fn invoked(self) -> Option<&'a ir::RRC<ir::Cell>> {
        match self {
            Self::Dynamic(ir::Control::Invoke(node)) => Some(&node.comp),
            Self::Static(ir::StaticControl::Invoke(node)) => Some(&node.comp),
            _ => None,
        }
    }

    /// What an invoke hands over: the `ref` cells of the invoked component, by name, and the cells
    /// that they stand for.
    pub fn handed_over(self) -> Vec<(ir::Id, ir::Id)> {
        let cells = match self {
            Self::Dynamic(ir::Control::Invoke(node)) => &node.ref_cells,
            Self::Static(ir::StaticControl::Invoke(node)) => &node.ref_cells,
            _ => return Vec::new(),
        };
        let names =
            |(formal, actual): &(ir::Id, ir::RRC<ir::Cell>)| (*formal, actual.borrow().name());
        cells.iter().map(names).collect()
    }

    /// The comb group of a `with`.
    pub fn comb_group(self) -> Option<ir::RRC<ir::CombGroup>> {
        match self {
            Self::Dynamic(ir::Control::If(node)) => node.cond.clone(),
            Self::Dynamic(ir::Control::While(node)) => node.cond.clone(),
            Self::Dynamic(ir::Control::Invoke(node)) => node.comb_group.clone(),
            Self::Static(ir::StaticControl::Invoke(node)) => node.comb_group.clone(),
            _ => None,
        }
    }

    /// Calls `visit` for this node and all below it, in preorder.
    pub fn walk(self, visit: &mut impl FnMut(View<'a>)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}

/// A control node to change.
pub enum ViewMut<'a> {
    /// One whose latency is not fixed.
    Dynamic(&'a mut ir::Control),
    /// One whose latency is.
    Static(&'a mut ir::StaticControl),
}

impl<'a> ViewMut<'a> {
    /// The node that this is, static or not.
    pub fn of(control: &'a mut ir::Control) -> Self {
        match control {
            ir::Control::Static(inner) => Self::Static(inner),
            other => Self::Dynamic(other),
        }
    }

    /// The same node, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        match self {
            Self::Dynamic(control) => ViewMut::Dynamic(control),
            Self::Static(control) => ViewMut::Static(control),
        }
    }

    /// The same node, to read.
    pub fn view(&self) -> View<'_> {
        match self {
            Self::Dynamic(control) => View::of(control),
            Self::Static(control) => View::Static(control),
        }
    }

    /// Makes it a node of this identity.
    pub fn set_identity(&mut self, key: NodeKey, slot: Slot) {
        let attributes = self.attributes();
        attributes.insert(key_attribute(), key.0);
        if slot == Slot::Body {
            attributes.remove(slot_attribute());
        } else {
            attributes.insert(slot_attribute(), slot.code());
        }
    }

    /// Makes it the static program of this number.
    pub fn set_static_program(&mut self, number: usize) {
        self.attributes()
            .insert(static_program_attribute(), number as u64);
    }

    /// Gives a branch of this `static if` its probe.
    pub fn set_branch_probe(&mut self, branch: bool, probe: ProbeName) {
        self.attributes()
            .insert(branch_attribute(branch), u64::from(probe.number));
    }

    /// Makes this enable the run of this number of its group.
    pub fn set_run(&mut self, number: usize) {
        self.attributes().insert(run_attribute(), number as u64);
    }

    fn attributes(&mut self) -> &mut ir::Attributes {
        match self {
            Self::Dynamic(control) => control.get_mut_attributes(),
            Self::Static(control) => control.get_mut_attributes(),
        }
    }

    /// Makes an enable run another group. Does nothing to other nodes.
    pub fn set_group(&mut self, group: &GroupRef) {
        match (self, group) {
            (Self::Dynamic(ir::Control::Enable(node)), GroupRef::Dynamic(group)) => {
                node.group = std::rc::Rc::clone(group);
            }
            (Self::Static(ir::StaticControl::Enable(node)), GroupRef::Static(group)) => {
                node.group = std::rc::Rc::clone(group);
            }
            _ => {}
        }
    }

    /// The nodes right below it, in order.
    pub fn children(self) -> Vec<ViewMut<'a>> {
        match self {
            Self::Dynamic(control) => match control {
                ir::Control::Seq(ir::Seq { stmts, .. })
                | ir::Control::Par(ir::Par { stmts, .. }) => {
                    stmts.iter_mut().map(ViewMut::of).collect()
                }
                ir::Control::If(node) => {
                    vec![
                        ViewMut::of(&mut node.tbranch),
                        ViewMut::of(&mut node.fbranch),
                    ]
                }
                ir::Control::While(ir::While { body, .. })
                | ir::Control::Repeat(ir::Repeat { body, .. }) => vec![ViewMut::of(body)],
                ir::Control::Static(inner) => ViewMut::Static(inner).children(),
                _ => vec![],
            },
            Self::Static(control) => match control {
                ir::StaticControl::Seq(ir::StaticSeq { stmts, .. })
                | ir::StaticControl::Par(ir::StaticPar { stmts, .. }) => {
                    stmts.iter_mut().map(ViewMut::Static).collect()
                }
                ir::StaticControl::If(node) => vec![
                    ViewMut::Static(&mut node.tbranch),
                    ViewMut::Static(&mut node.fbranch),
                ],
                ir::StaticControl::Repeat(node) => vec![ViewMut::Static(&mut node.body)],
                ir::StaticControl::Enable(_)
                | ir::StaticControl::Invoke(_)
                | ir::StaticControl::Empty(_) => vec![],
            },
        }
    }

    /// Calls `visit` for this node and all below it, in preorder.
    pub fn walk(mut self, visit: &mut impl FnMut(&mut ViewMut<'_>)) {
        visit(&mut self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}

/// A group that an enable runs.
#[derive(Clone)]
pub enum GroupRef {
    /// One that tells when it is done.
    Dynamic(ir::RRC<ir::Group>),
    /// One whose latency is fixed.
    Static(ir::RRC<ir::StaticGroup>),
}

impl GroupRef {
    /// Its name.
    pub fn name(&self) -> ir::Id {
        match self {
            Self::Dynamic(group) => group.borrow().name(),
            Self::Static(group) => group.borrow().name(),
        }
    }

    /// The cycles that it takes, if these are fixed.
    pub fn latency(&self) -> Option<u64> {
        match self {
            Self::Dynamic(_) => None,
            Self::Static(group) => Some(group.borrow().get_latency()),
        }
    }

    /// Whether the group does nothing, as the delays that the compiler inserts.
    pub fn is_delay(&self) -> bool {
        match self {
            Self::Dynamic(_) => false,
            Self::Static(group) => group.borrow().assignments.is_empty(),
        }
    }

    /// The groups whose `go` the group's assignments drive, one for each such assignment.
    pub fn called(&self) -> Vec<ir::Id> {
        match self {
            Self::Dynamic(group) => {
                let group = group.borrow();
                group.assignments.iter().filter_map(called_group).collect()
            }
            Self::Static(group) => {
                let group = group.borrow();
                group.assignments.iter().filter_map(called_group).collect()
            }
        }
    }

    /// The cells that the group's assignments drive, one for each assignment; holes and ports of
    /// the component itself give `None`.
    pub fn driven(&self) -> Vec<Option<ir::Id>> {
        match self {
            Self::Dynamic(group) => group.borrow().assignments.iter().map(driven_cell).collect(),
            Self::Static(group) => group.borrow().assignments.iter().map(driven_cell).collect(),
        }
    }
}

/// The group whose `go` an assignment drives.
pub fn called_group<T>(assignment: &ir::Assignment<T>) -> Option<ir::Id> {
    let dst = assignment.dst.borrow();
    (dst.is_hole() && dst.name == "go").then(|| dst.get_parent_name())
}

/// The cell whose port an assignment drives.
pub fn driven_cell<T>(assignment: &ir::Assignment<T>) -> Option<ir::Id> {
    parent_cell(&assignment.dst.borrow())
}

/// The cell that a port belongs to; `None` for holes and for ports of the component itself.
pub fn parent_cell(port: &ir::Port) -> Option<ir::Id> {
    if port.is_hole() {
        return None;
    }
    let cell = port.cell_parent();
    let cell = cell.borrow();
    (!cell.is_this()).then(|| cell.name())
}
