//! Groups and invokes that always take the same number of cycles.
//!
//! Owns of which groups that is certain. Of others a run can tell.

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::ports_read;
use petal_program::latency::takes_one_cycle;
use petal_program::tree::View;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

impl Scope<'_> {
    /// Between dynamic steps there is control; between static ones there need not be.
    pub fn latencies(&self, found: &mut Vec<Rewrite>) {
        for group in self.component.get_groups().iter() {
            let group = group.borrow();
            found.extend(self.promotable(&group));
            found.extend(self.static_group(&group));
        }
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            if view.kind() == ControlKind::Invoke {
                found.extend(self.invoke(view));
            }
        });
    }

    /// The cycles that a group took each time, unless something was said of that already.
    fn observed(&self, group: &ir::Group) -> Option<u64> {
        let of = (self.component.name.to_string(), group.name().to_string());
        let cycles = self.observed.latencies.get(&of).copied();
        cycles.filter(|_| !group.attributes.has(ir::NumAttr::Promotable))
    }

    /// A group whose cycles the compiler can't tell, but a run can.
    fn promotable(&self, group: &ir::Group) -> Option<Rewrite> {
        let name = group.name();
        let cycles = self.observed(group)?;
        let span = self.span(&group.attributes)?;
        let open = self.text.body(span.clone())?;
        let attribute = format!("\"promotable\"={cycles}");
        let edit = match self.text.mark(span.start..open, b'<') {
            Some(angle) => Edit::insert(angle + 1, format!("{attribute}, ")),
            None => {
                let named = self.text.find(span.clone(), name.as_ref())?;
                Edit::insert(named.end, format!("<{attribute}>"))
            }
        };
        Some(self.rewrite(
            RewriteKind::FixedLatency,
            self.runs_of(name),
            span,
            format!(
                "say that the group `{name}` always takes {}: `{attribute}`",
                count(cycles)
            ),
            self.certainty(group, cycles),
            vec![edit],
        ))
    }

    /// A group that is static needs no `done`.
    fn static_group(&self, group: &ir::Group) -> Option<Rewrite> {
        let name = group.name();
        let cycles = self.observed(group)?;
        let holes = group.assignments.iter().filter(|assignment| {
            let is_hole = |port: &ir::RRC<ir::Port>| port.borrow().is_hole();
            let mut read = ports_read(assignment).into_iter();
            is_hole(&assignment.dst) || read.any(|port| is_hole(&port))
        });
        let span = self.span(&group.attributes)?;
        let open = self.text.body(span.clone())?;
        let dones = self.text.dones(open..span.end, name.as_ref());
        // Nobody else may ask for its `done`, nor may it itself.
        if dones.len() != holes.count() || dones.is_empty() || self.is_run_by_groups(name) {
            return None;
        }
        let mut edits = vec![Edit::insert(span.start, format!("static<{cycles}> "))];
        let dones = dones.into_iter();
        edits.extend(dones.map(|[_, whole]| Edit::replace(self.text.with_space(whole), "")));
        Some(self.rewrite(
            RewriteKind::FixedLatency,
            self.runs_of(name),
            span,
            format!("make the group `{name}` static: `static<{cycles}> group`"),
            self.certainty(group, cycles),
            edits,
        ))
    }

    /// How certain it is that a group always takes as many cycles as it did.
    fn certainty(&self, group: &ir::Group, cycles: u64) -> (Certainty, String) {
        if takes_one_cycle(group) && cycles == 1 && !self.is_run_by_groups(group.name()) {
            (
                Certainty::Proved,
                "what it is done with is started in its first cycle, and takes one".to_owned(),
            )
        } else {
            always(cycles)
        }
    }

    /// Whether another group runs a group, or waits for it.
    pub fn is_run_by_groups(&self, name: ir::Id) -> bool {
        let names = |port: &ir::RRC<ir::Port>| {
            let port = port.borrow();
            port.is_hole() && port.get_parent_name() == name
        };
        let meets = |assignment: &ir::Assignment<ir::Nothing>| {
            let mut read = ports_read(assignment).into_iter();
            names(&assignment.dst) || read.any(|port| names(&port))
        };
        let groups = self.component.get_groups();
        let mut others = groups.iter().filter(|group| group.borrow().name() != name);
        let statics = self.component.get_static_groups();
        others.any(|group| group.borrow().assignments.iter().any(meets))
            || statics.iter().any(|group| {
                let group = group.borrow();
                let mut assignments = group.assignments.iter();
                assignments.any(|assignment| {
                    let mut read = ports_read(assignment).into_iter();
                    names(&assignment.dst) || read.any(|port| names(&port))
                })
            })
            || self.component.continuous_assignments.iter().any(meets)
    }

    /// An invoke of a component whose cycles the compiler can't tell.
    fn invoke(&self, view: View<'_>) -> Option<Rewrite> {
        let id = self.id(view)?;
        let of = (self.component.name.to_string(), id);
        let cycles = *self.observed.invokes.get(&of)?;
        if view.attributes().has(ir::NumAttr::Promotable) {
            return None;
        }
        let cell = view.invoked()?.borrow().name();
        let span = self.span(view.attributes())?;
        Some(self.rewrite(
            RewriteKind::FixedLatency,
            vec![vec![id]],
            span.clone(),
            format!(
                "say that this invoke of `{cell}` always takes {}: `@promotable({cycles})`",
                count(cycles)
            ),
            always(cycles),
            vec![Edit::insert(span.start, format!("@promotable({cycles}) "))],
        ))
    }
}

fn always(cycles: u64) -> (Certainty, String) {
    let premise = format!(
        "it took {} each time that it ran, with these data",
        count(cycles)
    );
    (Certainty::Checked, premise)
}

fn count(cycles: u64) -> String {
    let plural = if cycles == 1 { "" } else { "s" };
    format!("{cycles} cycle{plural}")
}
