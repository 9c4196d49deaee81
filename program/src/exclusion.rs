//! Conditions that exclude one another.
//!
//! Owns when at most one of two `if`s is taken that look at their conditions at the same time, while nothing writes what
//! these read. Who writes what is the caller's to know.

use calyx_ir as ir;

use crate::dependences::{constant, primitive};
use crate::tree::View;

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    Constant(u64),
    Port(ir::Id, ir::Id),
}

/// When a condition is true: for which orders of its operands.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each tells of one order of the operands"
)]
struct Test {
    left: Operand,
    right: Operand,
    less: bool,
    equal: bool,
    greater: bool,
    signed: bool,
}

impl Test {
    /// The same test with its operands exchanged.
    fn flipped(self) -> Self {
        Self {
            left: self.right,
            right: self.left,
            less: self.greater,
            greater: self.less,
            ..self
        }
    }

    /// With a constant on the right, if there is one.
    fn normal(self) -> Self {
        match self.left {
            Operand::Constant(_) => self.flipped(),
            Operand::Port(..) => self,
        }
    }

    fn negated(self) -> Self {
        Self {
            less: !self.less,
            equal: !self.equal,
            greater: !self.greater,
            ..self
        }
    }

    /// Whether an unsigned value less than, equal to or greater than the constant on the right passes the test.
    fn holds(&self, value: u64, constant: u64) -> bool {
        match value.cmp(&constant) {
            std::cmp::Ordering::Less => self.less,
            std::cmp::Ordering::Equal => self.equal,
            std::cmp::Ordering::Greater => self.greater,
        }
    }

    /// Whether no values pass both tests.
    fn excludes(&self, other: &Self) -> bool {
        if self.left != other.left {
            return false;
        }
        if self.right == other.right {
            let together = self.less && other.less
                || self.equal && other.equal
                || self.greater && other.greater;
            return self.signed == other.signed && !together;
        }
        let (&Operand::Constant(a), &Operand::Constant(b)) = (&self.right, &other.right) else {
            return false;
        };
        let only_equal = |test: &Self| !test.less && !test.greater;
        if (self.signed || other.signed) && !(only_equal(self) && only_equal(other)) {
            return false;
        }
        // All values behave like one of these: the constants, and what is next to them.
        let near = [a, b]
            .into_iter()
            .flat_map(|at| [at.checked_sub(1), Some(at), at.checked_add(1)]);
        let mut values = near.flatten();
        !values.any(|value| self.holds(value, a) && other.holds(value, b))
    }
}

/// What has to hold for a condition to be true, all of it, as far as petal knows the cells that compute it.
pub struct Condition(Vec<Test>);

impl Condition {
    /// That of an `if` without `else`.
    pub fn of(component: &ir::Component, view: View<'_>) -> Option<Self> {
        let View::Dynamic(ir::Control::If(node)) = view else {
            return None;
        };
        let View::Dynamic(ir::Control::Empty(_)) = View::of(&node.fbranch) else {
            return None;
        };
        Some(Self(tests(
            component,
            &node.port,
            view.comb_group().as_ref(),
        )))
    }

    /// Whether no values pass both.
    pub fn excludes(&self, other: &Self) -> bool {
        let mut tests = self.0.iter();
        tests.any(|test| other.0.iter().any(|of_other| test.excludes(of_other)))
    }
}

/// What has to hold for a condition to be true, as far as petal knows the cells that compute it.
fn tests(
    component: &ir::Component,
    port: &ir::RRC<ir::Port>,
    with: Option<&ir::RRC<ir::CombGroup>>,
) -> Vec<Test> {
    let cell = match &port.borrow().parent {
        ir::PortParent::Cell(cell) => cell.upgrade(),
        _ => return Vec::new(),
    };
    let cell = cell.borrow();
    let is_and = primitive(&cell).is_some_and(|of| of == "std_and") && port.borrow().width == 1;
    if is_and {
        let sides = ["left", "right"].into_iter();
        let sides = sides.filter_map(|side| source(component, &cell, side, with));
        return sides
            .flat_map(|side| tests(component, &side, with))
            .collect();
    }
    let test = test(component, port, with).map(Test::normal);
    test.into_iter().collect()
}

/// When a condition is true that is no conjunction.
fn test(
    component: &ir::Component,
    port: &ir::RRC<ir::Port>,
    with: Option<&ir::RRC<ir::CombGroup>>,
) -> Option<Test> {
    let port = port.borrow();
    if port.is_hole() {
        return None;
    }
    let cell = port.cell_parent();
    let cell = cell.borrow();
    let of = primitive(&cell).map(|of| of.to_string());
    let (equal, less, greater) = match of.as_deref() {
        Some("std_eq" | "std_seq") => (true, false, false),
        Some("std_neq" | "std_sneq") => (false, true, true),
        Some("std_lt" | "std_slt") => (false, true, false),
        Some("std_gt" | "std_sgt") => (false, false, true),
        Some("std_le" | "std_sle") => (true, true, false),
        Some("std_ge" | "std_sge") => (true, false, true),
        Some("std_not") if port.width == 1 => {
            let inner = source(component, &cell, "in", with)?;
            return Some(test(component, &inner, with)?.negated());
        }
        _ if port.width == 1 => {
            return Some(Test {
                left: Operand::Port(cell.name(), port.name),
                right: Operand::Constant(1),
                less: false,
                equal: true,
                greater: false,
                signed: false,
            });
        }
        _ => return None,
    };
    let operand = |name| {
        let source = source(component, &cell, name, with)?;
        if source.borrow().width > u64::from(u64::BITS) {
            return None;
        }
        if let Some(constant) = constant(&source) {
            return Some(Operand::Constant(constant));
        }
        let source = source.borrow();
        if source.is_hole() {
            return None;
        }
        let parent = source.cell_parent();
        Some(Operand::Port(parent.borrow().name(), source.name))
    };
    Some(Test {
        left: operand("left")?,
        right: operand("right")?,
        less,
        equal,
        greater,
        signed: of.is_some_and(|of| of.starts_with("std_s")),
    })
}

/// What always drives a port of a combinational cell while the condition is looked at.
fn source(
    component: &ir::Component,
    cell: &ir::Cell,
    name: &str,
    with: Option<&ir::RRC<ir::CombGroup>>,
) -> Option<ir::RRC<ir::Port>> {
    let drives = |assignment: &&ir::Assignment<ir::Nothing>| {
        let port = assignment.dst.borrow();
        !port.is_hole() && port.name == name && port.get_parent_name() == cell.name()
    };
    let of_group = with.map(|group| group.borrow().assignments.clone());
    let of_group = of_group.unwrap_or_default();
    let continuous = component.continuous_assignments.iter();
    let mut all = continuous.chain(&of_group).filter(drives);
    let only = all.next()?;
    (all.next().is_none() && only.guard.is_true()).then(|| only.src.clone())
}
