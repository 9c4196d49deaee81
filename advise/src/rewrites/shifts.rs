//! Multiplications and divisions by a power of two, as shifts.
//!
//! A multiplier gives the low bits of the product of what it is given in its first cycle, and so does a shift, at once; a divider of numbers without a
//! sign gives the high bits, and the low ones as the remainder. Owns of which groups these can be taken: of those that only keep the result in a
//! register.

use std::collections::BTreeSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_program::Course;
use petal_program::dependences::{constant, is_combinational, ports_of, ports_read};
use petal_program::tree::View;
use petal_table::listed;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// What is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Product,
    Quotient,
    Remainder,
}

impl Gives {
    /// That of a port of a cell, if it is one.
    fn of(cell: &ir::Cell, port: &str) -> Option<Self> {
        let is = |of: &str| cell.is_primitive(Some(of));
        match port {
            "out" if is("std_mult_pipe") || is("std_smult_pipe") => Some(Self::Product),
            "out_quotient" if is("std_div_pipe") => Some(Self::Quotient),
            "out_remainder" if is("std_div_pipe") => Some(Self::Remainder),
            _ => None,
        }
    }

    /// The primitive that gives it at once.
    fn primitive(self) -> &'static str {
        match self {
            Self::Product => "std_lsh",
            Self::Quotient => "std_rsh",
            Self::Remainder => "std_and",
        }
    }

    /// What its cell is called in a group.
    fn cell(self, group: ir::Id) -> String {
        match self {
            Self::Product | Self::Quotient => format!("{group}_shift"),
            Self::Remainder => format!("{group}_low"),
        }
    }

    /// What that is given besides, for a power of two.
    fn operand(self, power: u32) -> u64 {
        match self {
            Self::Product | Self::Quotient => power.into(),
            Self::Remainder => (1 << power) - 1,
        }
    }

    fn what(self, group: ir::Id, power: u32) -> String {
        let factor = 1_u64 << power;
        match self {
            Self::Product => {
                format!("shift by {power} in the group `{group}`, rather than multiply by {factor}")
            }
            Self::Quotient => {
                format!("shift by {power} in the group `{group}`, rather than divide by {factor}")
            }
            Self::Remainder => format!(
                "take the low {power} bits in the group `{group}`, rather than the remainder of a division by {factor}"
            ),
        }
    }

    fn premise(self) -> &'static str {
        match self {
            Self::Product => {
                "the low bits of a product with a power of two are those of a shift, and nothing else has to do with the product"
            }
            Self::Quotient => {
                "the quotient by a power of two is the number without its low bits, and nothing else has to do with the division"
            }
            Self::Remainder => {
                "the remainder of a division by a power of two is the low bits, and nothing else has to do with the division"
            }
        }
    }
}

/// What a group has to do with a multiplier or divider, as numbers of its assignments.
struct Product {
    /// The multiplier or divider.
    cell: ir::RRC<ir::Cell>,
    gives: Gives,
    operand: usize,
    factor: usize,
    starts: usize,
    keeps: usize,
    enables: usize,
    /// The power of two.
    power: u32,
}

impl Scope<'_> {
    /// Groups that multiply by a power of two: each alone, and all at once, since they often run at once.
    pub fn shifts(&self, found: &mut Vec<Rewrite>) {
        let mut each = Vec::new();
        for group in self.component.get_groups().iter() {
            let group = group.borrow();
            let is_timed = || Course::of(&group).is_some_and(|course| course.cycles() == 3);
            let product = Product::of(&group.assignments);
            let product = product.filter(|of| match of.gives {
                Gives::Product => is_timed(),
                Gives::Quotient | Gives::Remainder => of.is_awaited(&group),
            });
            each.extend(self.shift(group.name(), &group.attributes, &group.assignments, product));
        }
        for group in self.component.get_static_groups().iter() {
            let group = group.borrow();
            if group.latency == 3 && !self.is_part(group.name()) {
                let product = Product::of(&group.assignments);
                let product = product.filter(|of| of.gives == Gives::Product);
                let product = product.filter(|product| product.is_timed(&group));
                each.extend(self.shift(
                    group.name(),
                    &group.attributes,
                    &group.assignments,
                    product,
                ));
            }
        }
        let names = each.iter().map(|(name, ..)| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        let products = each
            .iter()
            .filter(|(_, gives, _)| *gives == Gives::Product)
            .count();
        let instead = match products {
            0 => "divide",
            all if all == each.len() => "multiply",
            _ => "multiply and divide",
        };
        let each: Vec<Rewrite> = each.into_iter().map(|(.., rewrite)| rewrite).collect();
        found.extend(Rewrite::of_all(&each, || {
            format!(
                "shift in the groups {}, rather than {instead} by powers of two",
                listed(&names)
            )
        }));
        found.extend(each);
    }

    /// Whether a static group is a part of static control, which says how long it takes, too.
    pub fn is_part(&self, group: ir::Id) -> bool {
        let mut is_part = false;
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            let mut children = view.children().into_iter();
            is_part |= matches!(view, View::Static(_))
                && children.any(|child| child.group().is_some_and(|of| of.name() == group));
        });
        is_part
    }

    fn shift<T>(
        &self,
        name: ir::Id,
        attributes: &ir::Attributes,
        assignments: &[ir::Assignment<T>],
        product: Option<Product>,
    ) -> Option<(ir::Id, Gives, Rewrite)> {
        let product = product?;
        let primitive = product.gives.primitive();
        self.lib.find_primitive(primitive)?;
        let cell = product.cell.borrow();
        let is_left = leaves_product(self.component, self.handed_over, name, cell.name());
        if is_left || self.is_run_by_groups(name) {
            return None;
        }
        let declared = self.span(&cell.attributes)?;
        let width = cell.get_parameter("WIDTH")?;
        let span = self.span(attributes)?;
        let inner = self.text.body(span.clone())?..span.end;
        let shift = product.gives.cell(name);
        let shift = self.free_name(&shift, ["left", "right", "out"]);
        let given = |at: usize| -> Option<[Range<usize>; 2]> {
            let to = assignments[at].dst.borrow();
            let all = self.text.given(
                inner.clone(),
                to.get_parent_name().as_ref(),
                to.name.as_ref(),
            );
            let [only] = &*all else {
                return None;
            };
            Some(only.clone())
        };
        let [operand, whole] = given(product.operand)?;
        let mut edits = vec![
            self.text
                .behind(&declared, &format!("{shift} = {primitive}({width});")),
            Edit::replace(whole, format!("{shift}.left = {};", self.text.of(operand))),
        ];
        let [_, factor] = given(product.factor)?;
        let (gives, power) = (product.gives, product.power);
        edits.push(Edit::replace(
            factor,
            format!("{shift}.right = {width}'d{};", gives.operand(power)),
        ));
        let [_, starts] = given(product.starts)?;
        edits.push(Edit::replace(self.text.with_space(starts), ""));
        edits.push(Edit::replace(
            given(product.keeps)?[0].clone(),
            format!("{shift}.out"),
        ));
        edits.push(Edit::replace(given(product.enables)?[0].clone(), "1'd1"));
        let head = span.start..inner.start;
        // What it promises may be what the multiplier declares.
        let promise = self.text.attribute(head.clone(), "promotable");
        edits.extend(promise.map(|promise| Edit::replace(promise, "")));
        if self.text.find(head.clone(), "static").is_some() {
            let latency = self.text.find(head, "3")?;
            edits.push(Edit::replace(latency, "1"));
        }
        let rewrite = self.rewrite(
            RewriteKind::Shift,
            self.runs_of(name),
            span,
            gives.what(name, power),
            (Certainty::Proved, gives.premise().to_owned()),
            edits,
        );
        Some((name, gives, rewrite))
    }
}

/// Whether something may look at what a group leaves in a multiplier or divider: anything but groups that start it themselves, and
/// take what it gives when it is done.
pub(super) fn leaves_product(
    component: &ir::Component,
    handed_over: &BTreeSet<(ir::Id, ir::Id)>,
    group: ir::Id,
    cell: ir::Id,
) -> bool {
    let outputs = ["out", "out_quotient", "out_remainder"];
    let is_product = |port: &ir::RRC<ir::Port>| outputs.iter().any(|of| is_port(port, cell, of));
    let is_divider = component
        .find_cell(cell)
        .is_some_and(|cell| cell.borrow().is_primitive(Some("std_div_pipe")));
    let looks = |to: &ir::Assignment<ir::Nothing>| ports_read(to).iter().any(is_product);
    let mut in_control = false;
    View::of(&component.control.borrow()).walk(&mut |view| {
        in_control |= ports_of(view).0.iter().any(is_product);
    });
    let mut groups = component.get_groups().iter();
    let mut statics = component.get_static_groups().iter();
    let mut combs = component.comb_groups.iter();
    let waits = |start: &ir::Assignment<ir::Nothing>| {
        is_port(&start.src, cell, "done") || waits_for(&start.guard, cell)
    };
    let comes_later = |start: &ir::Assignment<ir::StaticTiming>| match &*start.guard {
        ir::Guard::Info(timing) if is_port(&start.dst, cell, "go") => {
            timing.get_interval() == (0, 2)
        }
        ir::Guard::Info(timing) => timing.get_interval().0 >= 2,
        _ => false,
    };
    in_control
        || handed_over.contains(&(component.name, cell))
        || component.continuous_assignments.iter().any(looks)
        || combs.any(|of| of.borrow().assignments.iter().any(looks))
        || groups.any(|of| {
            let of = of.borrow();
            of.name() != group && looks_early(&of.assignments, is_product, waits)
        })
        || statics.any(|of| {
            let of = of.borrow();
            let assignments = &of.assignments;
            let mut starts = assignments.iter().filter(|to| is_port(&to.dst, cell, "go"));
            // How long a divider takes depends on what it is given.
            let is_timed = !is_divider && starts.clone().count() == 1 && starts.all(comes_later);
            of.name() != group
                && looks_early(assignments, is_product, |to| is_timed && comes_later(to))
        })
}

/// Whether a port is that of a cell with this name.
pub(super) fn is_port(port: &ir::RRC<ir::Port>, cell: ir::Id, name: &str) -> bool {
    let port = port.borrow();
    !port.is_hole() && port.get_parent_name() == cell && port.name == name
}

/// Whether a guard holds only when a cell is done.
fn waits_for(guard: &ir::Guard<ir::Nothing>, cell: ir::Id) -> bool {
    match guard {
        ir::Guard::Port(port) => is_port(port, cell, "done"),
        ir::Guard::And(left, right) => waits_for(left, cell) || waits_for(right, cell),
        _ => false,
    }
}

/// Whether assignments hand on what is wanted to something that does not start as late as it should.
fn looks_early<T>(
    assignments: &[ir::Assignment<T>],
    is_wanted: impl Fn(&ir::RRC<ir::Port>) -> bool,
    is_late: impl Fn(&ir::Assignment<T>) -> bool,
) -> bool {
    let mut looks = assignments
        .iter()
        .filter(|to| ports_read(to).iter().any(&is_wanted));
    looks.any(|to| {
        let kept = to.dst.borrow().get_parent_name();
        let starts = assignments.iter().filter(|start| {
            let port = start.dst.borrow();
            port.attributes.has(ir::NumAttr::Go) && port.get_parent_name() == kept
        });
        let starts: Vec<_> = starts.collect();
        // A combinational cell has none.
        starts.is_empty() || !starts.into_iter().all(&is_late)
    })
}

impl Product {
    /// What the assignments of a group, which may compute what is multiplied besides, have to do with a multiplier.
    fn of<T>(assignments: &[ir::Assignment<T>]) -> Option<Self> {
        let (starts, start) = assignments.iter().enumerate().find(|(_, to)| {
            let port = to.dst.borrow();
            !port.is_hole() && port.name == "go"
        })?;
        let cell = start.dst.borrow().cell_parent();
        let name = cell.borrow().name();
        if cell.borrow().is_reference() {
            return None;
        }
        let gives_of = |port: &ir::RRC<ir::Port>| {
            let port = port.borrow();
            let is_own = !port.is_hole() && port.get_parent_name() == name;
            let of = cell.borrow();
            is_own.then(|| Gives::of(&of, port.name.as_ref()))?
        };
        let is_of = |port: &ir::RRC<ir::Port>, wanted: &str| is_port(port, name, wanted);
        let only = |is_wanted: &dyn Fn(&ir::Assignment<T>) -> bool| {
            let mut all = (0..assignments.len()).filter(|at| is_wanted(&assignments[*at]));
            let first = all.next()?;
            all.next().is_none().then_some(first)
        };
        let left = only(&|to| is_of(&to.dst, "left"))?;
        let right = only(&|to| is_of(&to.dst, "right"))?;
        only(&|to| is_of(&to.dst, "go"))?;
        let keeps = only(&|to| gives_of(&to.src).is_some())?;
        let gives = gives_of(&assignments[keeps].src)?;
        let register = assignments[keeps].dst.borrow().get_parent_name();
        let enables = only(&|to| {
            let port = to.dst.borrow();
            !port.is_hole() && port.get_parent_name() == register && port.name == "write_en"
        })?;
        let is_register = {
            let port = assignments[keeps].dst.borrow();
            port.name == "in" && port.cell_parent().borrow().is_primitive(Some("std_reg"))
        };
        let power = |at: usize| {
            let factor = constant(&assignments[at].src)?;
            factor.is_power_of_two().then(|| factor.trailing_zeros())
        };
        let (operand, factor, power) = match (power(left), power(right)) {
            (_, Some(power)) => (left, right, power),
            (Some(power), None) if gives == Gives::Product => (right, left, power),
            _ => return None,
        };
        let plain = [operand, factor, keeps];
        let own = [left, right, starts, keeps, enables];
        let is_plain = plain.into_iter().all(|at| assignments[at].guard.is_true());
        // All else that it does is to compute, and to be done.
        let mut others = (0..assignments.len())
            .filter(|at| !own.contains(at))
            .map(|at| &assignments[at]);
        let is_else = others.all(|to| {
            let hole = to.dst.borrow().is_hole();
            let reads = ports_read(to);
            let is_cell = |port: &ir::RRC<ir::Port>| {
                !port.borrow().is_hole() && port.borrow().get_parent_name() == name
            };
            let computes = || is_combinational(&to.dst.borrow().cell_parent());
            !reads.iter().any(is_cell) && (hole || to.guard.is_true() && computes())
        });
        (is_register && is_plain && is_else).then_some(Self {
            cell: cell.clone(),
            gives,
            operand,
            factor,
            starts,
            keeps,
            enables,
            power,
        })
    }

    /// Whether a group starts the cell until it is done, keeps its result then, and is done with that.
    fn is_awaited(&self, group: &ir::Group) -> bool {
        let cell = self.cell.borrow().name();
        let [starts, keeps, enables] =
            [self.starts, self.keeps, self.enables].map(|at| &group.assignments[at]);
        let is_done = |port: &ir::RRC<ir::Port>| is_port(port, cell, "done");
        let until_done = match &*starts.guard {
            ir::Guard::Not(inner) => matches!(&**inner, ir::Guard::Port(port) if is_done(port)),
            _ => false,
        };
        let register = keeps.dst.borrow().get_parent_name();
        let mut ends = group
            .assignments
            .iter()
            .filter(|to| to.dst.borrow().is_hole());
        let is_end = |to: &ir::Assignment<ir::Nothing>| {
            to.guard.is_true() && is_port(&to.src, register, "done")
        };
        until_done
            && starts.src.borrow().is_constant(1, 1)
            && enables.guard.is_true()
            && is_done(&enables.src)
            && ends.next().is_some_and(is_end)
            && ends.next().is_none()
    }

    /// Whether a static group of three cycles starts the multiplier in its first two and keeps the product in the last.
    fn is_timed(&self, group: &ir::StaticGroup) -> bool {
        let holds = |at: usize, from: u64, to: u64| {
            let assignment = &group.assignments[at];
            let guard = match &*assignment.guard {
                ir::Guard::Info(timing) => timing.get_interval() == (from, to),
                _ => false,
            };
            guard && assignment.src.borrow().is_constant(1, 1)
        };
        holds(self.starts, 0, 2) && holds(self.enables, 2, 3)
    }
}
