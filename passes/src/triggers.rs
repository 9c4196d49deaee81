//! Probes what starts a group inside of a static program.
//!
//! `static-inline` makes one group of a static program, with copies of what its groups assign. It
//! copies all but the body of a `static repeat` that is a single enable; that is started by its `go`:
//!
//! ```text
//! before                      after
//! static repeat 3 { g; }      static group static_repeat<3> { g[go] = 1'd1; }
//! ```
//!
//! Where `g` has other enables, too, a probe beside this assignment tells this one from them.

use calyx_ir as ir;
use calyx_utils::{CalyxResult, Error};
use petal_metadata::{ProbeKind, ProbePrefix};
use petal_program::tree::{GroupRef, View, called_group};

use crate::instrument::{add_guarded_probe, add_named_probe};
use crate::probes::{BranchProbe, ComponentProbes, Condition, Probes, Trigger};

/// A trigger in the compiled program.
struct TriggerSite {
    /// The group that makes the assignment.
    group: ir::RRC<ir::StaticGroup>,
    guard: ir::Guard<ir::StaticTiming>,
    run: usize,
}

/// Adds the probes, if `static-inline` was the last pass.
pub(crate) fn probe_all(ctx: &mut ir::Context, probes: &mut Probes) -> CalyxResult<()> {
    for component in &mut ctx.components {
        if let Some(component_probes) = probes.components.get_mut(&component.name) {
            probe(component, &ctx.lib, &probes.prefix, component_probes)?;
            probe_branches(component, &ctx.lib, &probes.prefix, component_probes)?;
        }
    }
    Ok(())
}

fn probe(
    component: &mut ir::Component,
    lib: &ir::LibrarySignatures,
    prefix: &ProbePrefix,
    probes: &mut ComponentProbes,
) -> CalyxResult<()> {
    if probes.triggers.iter().flatten().all(Option::is_none) {
        return Ok(());
    }
    let mut static_programs = Vec::new();
    View::of(&component.control.borrow()).walk(&mut |view| {
        if let (Some(number), Some(GroupRef::Static(group))) = (view.static_program(), view.group())
        {
            static_programs.push((number, group));
        }
    });
    let mut sites = Vec::new();
    for (number, group) in static_programs {
        let triggers = std::mem::take(&mut probes.triggers[number]);
        if triggers.iter().any(Option::is_some) {
            follow(
                component,
                probes,
                &group,
                &mut triggers.into_iter(),
                &mut sites,
            )?;
        }
    }
    for TriggerSite { group, guard, run } in sites {
        let mut builder = ir::Builder::new(component, lib);
        let count = &mut probes.count;
        let (probe, assignment) =
            add_guarded_probe(&mut builder, count, ProbeKind::EN, prefix, guard);
        group.borrow_mut().assignments.push(assignment);
        probes.runs[run].enable = Some(probe);
    }
    Ok(())
}

/// Adds the probes of branches. `static-inline` makes a wire for each `static if` that takes more than a cycle, inner ones
/// first, which holds the condition while the `static if` runs; nothing looks at the probe at other times.
fn probe_branches(
    component: &mut ir::Component,
    lib: &ir::LibrarySignatures,
    prefix: &ProbePrefix,
    probes: &mut ComponentProbes,
) -> CalyxResult<()> {
    let mut is_inlined = true;
    View::of(&component.control.borrow()).walk(&mut |view| {
        is_inlined &= matches!(view, View::Dynamic(_)) || view.group().is_some();
    });
    if probes.branches.is_empty() || !is_inlined {
        return Ok(());
    }
    let wires: Vec<ir::RRC<ir::Cell>> = component
        .cells
        .iter()
        .filter(|cell| {
            let cell = cell.borrow();
            let name = cell.name();
            cell.is_primitive(Some("std_wire"))
                && name.as_ref().starts_with("cond_wire")
                && !probes.cells.contains(&name)
        })
        .cloned()
        .collect();
    if wires.len() != probes.latched {
        return Err(Error::misc(format!(
            "petal cannot follow how the compiler built the `static if`s of component `{}`; \
             is a pass in use that petal does not know?",
            component.name
        )));
    }
    for BranchProbe {
        probe,
        condition,
        branch,
    } in std::mem::take(&mut probes.branches)
    {
        let port = match condition {
            Condition::Port(port) => port,
            Condition::Latched(number) => wires[number].borrow().get("out"),
        };
        let taken = ir::Guard::Port(port);
        let guard = if branch { taken } else { !taken };
        let mut builder = ir::Builder::new(component, lib);
        let assignment = add_named_probe(&mut builder, probe, prefix, guard);
        component.continuous_assignments.push(assignment);
    }
    Ok(())
}

/// Adds to `sites` the `triggers` in `group` and the groups that `static-inline` made for its parts.
fn follow(
    component: &ir::Component,
    probes: &ComponentProbes,
    group: &ir::RRC<ir::StaticGroup>,
    triggers: &mut impl Iterator<Item = Trigger>,
    sites: &mut Vec<TriggerSite>,
) -> CalyxResult<()> {
    let assignments = group.borrow().assignments.clone();
    for assignment in assignments {
        let Some(started) = called_group(&assignment) else {
            continue;
        };
        let lost = || {
            Error::misc(format!(
                "petal cannot follow how the compiler built the static group `{}` of component `{}`; \
                 is a pass in use that petal does not know?",
                group.borrow().name(),
                component.name
            ))
        };
        if !probes.groups.contains(&started) {
            let part = component.find_static_group(started).ok_or_else(lost)?;
            follow(component, probes, &part, triggers, sites)?;
        } else if let Some(run) = triggers.next().ok_or_else(lost)? {
            if probes.runs[run].group != started {
                return Err(lost());
            }
            sites.push(TriggerSite {
                group: std::rc::Rc::clone(group),
                guard: (*assignment.guard).clone(),
                run,
            });
        }
    }
    Ok(())
}
