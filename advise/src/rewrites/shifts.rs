//! Multiplications by a power of two, as shifts.
//!
//! A multiplier gives the low bits of the product of what it is given in its first cycle, and so does a shift, at once. Owns of which groups a
//! multiplier can be taken: of those that only keep its product in a register.

use std::collections::BTreeSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_program::Course;
use petal_program::dependences::{constant, is_combinational, ports_of, ports_read};
use petal_program::tree::View;
use petal_table::listed;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// What a group has to do with a multiplier, as numbers of its assignments.
struct Product {
    /// The multiplier.
    cell: ir::RRC<ir::Cell>,
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
        if self.lib.find_primitive("std_lsh").is_none() {
            return;
        }
        let mut each = Vec::new();
        for group in self.component.get_groups().iter() {
            let group = group.borrow();
            if Course::of(&group).is_some_and(|course| course.cycles() == 3) {
                let product = Product::of(&group.assignments);
                each.extend(self.shift(
                    group.name(),
                    &group.attributes,
                    &group.assignments,
                    product,
                ));
            }
        }
        for group in self.component.get_static_groups().iter() {
            let group = group.borrow();
            if group.latency == 3 && !self.is_part(group.name()) {
                let product = Product::of(&group.assignments);
                let product = product.filter(|product| product.is_timed(&group));
                each.extend(self.shift(
                    group.name(),
                    &group.attributes,
                    &group.assignments,
                    product,
                ));
            }
        }
        let names = each.iter().map(|(name, _)| *name);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let each: Vec<Rewrite> = each.into_iter().map(|(_, rewrite)| rewrite).collect();
        found.extend(Rewrite::of_all(&each, || {
            format!(
                "shift in the groups {}, rather than multiply by powers of two",
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
    ) -> Option<(ir::Id, Rewrite)> {
        let product = product?;
        let cell = product.cell.borrow();
        let is_left = leaves_product(self.component, self.handed_over, name, cell.name());
        if is_left || self.is_run_by_groups(name) {
            return None;
        }
        let declared = self.span(&cell.attributes)?;
        let width = cell.get_parameter("WIDTH")?;
        let span = self.span(attributes)?;
        let inner = self.text.body(span.clone())?..span.end;
        let shift = self.free_name(&format!("{name}_shift"), ["left", "right", "out"]);
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
                .behind(&declared, &format!("{shift} = std_lsh({width});")),
            Edit::replace(whole, format!("{shift}.left = {};", self.text.of(operand))),
        ];
        let [_, factor] = given(product.factor)?;
        let power = product.power;
        edits.push(Edit::replace(
            factor,
            format!("{shift}.right = {width}'d{power};"),
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
            format!("shift by {power} in the group `{name}`, rather than multiply by {}", 1_u64 << power),
            (
                Certainty::Proved,
                "the low bits of a product with a power of two are those of a shift, and nothing else has to do with the product".to_owned(),
            ),
            edits,
        );
        Some((name, rewrite))
    }
}

/// Whether something may look at the product that a group leaves in a multiplier: anything but groups that start it themselves, and
/// take what it gives when it is done.
pub(super) fn leaves_product(
    component: &ir::Component,
    handed_over: &BTreeSet<(ir::Id, ir::Id)>,
    group: ir::Id,
    cell: ir::Id,
) -> bool {
    let is_product = |port: &ir::RRC<ir::Port>| is_port(port, cell, "out");
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
            let is_timed = starts.clone().count() == 1 && starts.all(comes_later);
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
        let name = {
            let cell = cell.borrow();
            let is_known = ["std_mult_pipe", "std_smult_pipe"]
                .into_iter()
                .any(|of| cell.is_primitive(Some(of)));
            (is_known && !cell.is_reference()).then(|| cell.name())?
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
        let keeps = only(&|to| is_of(&to.src, "out"))?;
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
            (Some(power), None) => (right, left, power),
            (None, None) => return None,
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
            operand,
            factor,
            starts,
            keeps,
            enables,
            power,
        })
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
