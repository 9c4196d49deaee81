//! Groups and invokes that always take the same number of cycles.
//!
//! Owns of which groups that is certain. Of others a run can tell.

use std::collections::BTreeMap;
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::Course;
use petal_program::dependences::{cell_of, ports_read};
use petal_program::tree::View;
use petal_table::listed;

use super::settled::may_go_on;
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

/// A group that becomes static.
struct StaticGroup {
    name: ir::Id,
    cycles: u64,
    span: Range<usize>,
    edits: Vec<Edit>,
}

impl Scope<'_> {
    /// Between dynamic steps there is control; between static ones there need not be.
    pub fn latencies(&self, found: &mut Vec<Rewrite>) {
        let (mut all, mut names) = (Vec::new(), Vec::new());
        let groups = self.component.get_groups().iter();
        let groups = groups.map(|group| group.borrow());
        for group in groups {
            let promised = group.attributes.get(ir::NumAttr::Promotable);
            let is_run = self.is_run_by_groups(group.name());
            let course = Course::of(&group)
                // Of what is said to take as long, the compiler knows.
                .filter(|course| promised != Some(course.cycles()))
                .filter(|course| {
                    let mut left = course.left_running().iter();
                    left.all(|cell| may_go_on(self.component, *cell, group.name()))
                })
                .filter(|_| !is_run);
            if promised.is_none() {
                found.extend(self.promotable(&group, course.as_ref()));
            }
            let certain = course.and_then(|of| self.static_group(&group, Some(&of)));
            if let Some(certain) = certain {
                names.push(format!("`{}`", certain.name));
                all.push(self.made_static(certain, true));
            } else if promised.is_none() && !is_run {
                let observed = self.static_group(&group, None);
                found.extend(observed.map(|group| self.made_static(group, false)));
            }
        }
        // One alone often saves nothing, since there still is control around it.
        found.extend(Rewrite::of_all(&all, || {
            format!("make the groups {} static", listed(&names))
        }));
        found.extend(all);
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            if view.kind() == ControlKind::Invoke {
                found.extend(self.invoke(view));
            }
        });
    }

    /// The cycles that a group took each time.
    fn observed(&self, group: &ir::Group) -> Option<u64> {
        let of = (self.component.name.to_string(), group.name().to_string());
        self.observed.latencies.get(&of).copied()
    }

    /// A group whose cycles the compiler can't tell, but a run can.
    fn promotable(&self, group: &ir::Group, course: Option<&Course>) -> Option<Rewrite> {
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
        // The compiler may lose what is said of a longer one where it splits that.
        let is_certain = cycles == 1 && course.is_some_and(|course| course.cycles() == 1);
        Some(self.rewrite(
            RewriteKind::FixedLatency,
            self.runs_of(name),
            span,
            format!(
                "say that the group `{name}` always takes {}: `{attribute}`",
                count(cycles)
            ),
            if is_certain {
                certain()
            } else {
                always(cycles)
            },
            vec![edit],
        ))
    }

    /// A group that no other one runs as a static one, which needs no `done`. If its course is certain, it starts in so many cycles what it started when something
    /// was done.
    fn static_group(&self, group: &ir::Group, course: Option<&Course>) -> Option<StaticGroup> {
        let name = group.name();
        let observed = || self.observed(group);
        let cycles = course.map(Course::cycles).or_else(observed)?;
        let is_hole = |port: &ir::RRC<ir::Port>| port.borrow().is_hole();
        let holes = group.assignments.iter().filter(|assignment| {
            let mut read = ports_read(assignment).into_iter();
            is_hole(&assignment.dst) || read.any(|port| is_hole(&port))
        });
        let span = self.span(&group.attributes)?;
        let inner = self.text.body(span.clone())?..span.end;
        let promise = self.text.attribute(span.start..inner.start, "promotable");
        let dones = self.text.dones(inner.clone(), name.as_ref());
        // It may not ask for its own `done`.
        if dones.len() != holes.count() || dones.is_empty() {
            return None;
        }
        let mut edits = vec![Edit::insert(span.start, format!("static<{cycles}> "))];
        edits.extend(promise.map(|promise| Edit::replace(promise, "")));
        let dones = dones.into_iter();
        edits.extend(dones.map(|[_, whole]| Edit::replace(self.text.with_space(whole), "")));
        if let Some(course) = course {
            edits.extend(self.timed(group, &inner, course)?);
        }
        Some(StaticGroup {
            name,
            cycles,
            span,
            edits,
        })
    }

    /// Cycles for what a group starts when something is done.
    fn timed(&self, group: &ir::Group, inner: &Range<usize>, course: &Course) -> Option<Vec<Edit>> {
        let is_done = |port: &ir::RRC<ir::Port>| {
            port.borrow().attributes.has(ir::NumAttr::Done) && cell_of(port).is_some()
        };
        let mut edits = Vec::new();
        let mut before: BTreeMap<(ir::Id, ir::Id), usize> = BTreeMap::new();
        for (at, assignment) in group.assignments.iter().enumerate() {
            let to = assignment.dst.borrow();
            if to.is_hole() {
                continue;
            }
            let (cell, port) = (to.get_parent_name(), to.name);
            let place = before.entry((cell, port)).or_default();
            let nth = std::mem::replace(place, *place + 1);
            let gives_done = is_done(&assignment.src);
            // What data are that nobody drives, nobody knows.
            if gives_done && !to.attributes.has(ir::NumAttr::Go) && port != "write_en" {
                return None;
            }
            if !gives_done && !assignment.guard.all_ports().iter().any(is_done) {
                continue;
            }
            let all = self.text.given(inner.clone(), cell.as_ref(), port.as_ref());
            let [given, whole] = all.get(nth)?.clone();
            let (holds, source) = if gives_done {
                (course.holds(at)?, "1'd1")
            } else {
                let guard = self.text.mark(given.clone(), b'?')?;
                let source = self.text.of(guard + 1..given.end).trim();
                (course.guard_holds(at)?, source)
            };
            edits.push(match timing(&holds) {
                Some(guard) => Edit::replace(given, format!("{guard}{source}")),
                None => Edit::replace(self.text.with_space(whole), ""),
            });
        }
        Some(edits)
    }

    /// A group that becomes static, and whether that is certain.
    fn made_static(&self, group: StaticGroup, is_certain: bool) -> Rewrite {
        let StaticGroup {
            name,
            cycles,
            span,
            edits,
        } = group;
        self.rewrite(
            RewriteKind::FixedLatency,
            self.runs_of(name),
            span,
            format!("make the group `{name}` static: `static<{cycles}> group`"),
            if is_certain {
                certain()
            } else {
                always(cycles)
            },
            edits,
        )
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

/// The guard of what holds in these cycles, with the `?` behind it; `None` if it never does.
fn timing(holds: &[bool]) -> Option<String> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..holds.len()).filter(|at| holds[*at]) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    let runs: Vec<String> = runs
        .into_iter()
        .map(|Range { start, end }| {
            if end == start + 1 {
                format!("%{start}")
            } else {
                format!("%[{start}:{end}]")
            }
        })
        .collect();
    match &*runs {
        [] => None,
        _ if holds.iter().all(|holds| *holds) => Some(String::new()),
        _ => Some(format!("{} ? ", runs.join(" | "))),
    }
}

fn certain() -> (Certainty, String) {
    let premise = "what it is done with follows, cycle by cycle, from what it starts in its first";
    (Certainty::Proved, premise.to_owned())
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
