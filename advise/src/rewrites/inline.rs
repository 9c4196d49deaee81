//! Cells of components that become a part of the component that has them.

use std::collections::BTreeSet;
use std::ops::Range;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::dependences::cell_of;
use petal_program::tree::View;

use super::misread::sole;
use super::state::Others;
use super::{Certainty, Edit, GROUP_PORTS, Rewrite, RewriteKind, Scope, groups, plain};

impl Scope<'_> {
    pub fn inlines(&self, found: &mut Vec<Rewrite>) {
        for cell in self.component.cells.iter() {
            found.extend(self.inline(&cell.borrow()));
        }
    }

    /// A component that becomes a part of the one that calls it costs no call.
    fn inline(&self, cell: &ir::Cell) -> Option<Rewrite> {
        let is_inline = cell.attributes.has(ir::BoolAttr::Inline);
        if !cell.is_component() || cell.is_reference() || is_inline {
            return None;
        }
        let span = self.span(&cell.attributes)?;
        let start = self.text.with_attributes(span.start);
        let name = cell.name();
        let of = cell.type_name()?;
        let mut edits = vec![Edit::insert(start, "@inline ")];
        let ways = self.ways(name);
        // The compiler inlines only what is always invoked alike.
        if ways.len() > 1 {
            let others = Others::of(self.component, self.handed_over, None);
            if others.has_to_do_with(name) || others.is_continuous(name) {
                return None;
            }
            let prototype = self.text.of(span.clone()).split_once('=')?.1.trim();
            let ports = cell.ports.iter();
            let ports: Vec<ir::Id> = ports.map(|port| port.borrow().name).collect();
            for (at, (_, places)) in ways.iter().enumerate().skip(1) {
                let copy = self.free_name(
                    &format!("{name}_{}", at + 1),
                    ports.iter().map(AsRef::as_ref),
                );
                edits.push(
                    self.text
                        .behind(&span, &format!("@inline {copy} = {prototype};")),
                );
                let places = places.iter().cloned();
                edits.extend(places.map(|place| Edit::replace(place, copy.clone())));
            }
        }
        let each = match ways.len() {
            0 | 1 => String::new(),
            count => format!(", one cell for each of the {count} ways to invoke it"),
        };
        let apart = if each.is_empty() {
            ""
        } else {
            "what it keeps from one call to another is no longer one, and "
        };
        Some(self.rewrite(
            RewriteKind::Inline,
            self.runs_of(name),
            start..span.end,
            format!(
                "make the cell `{name}` a part of `{}`{each}: `@inline`",
                self.component.name
            ),
            if ways.len() <= 1 && self.is_surely_a_part(name, of) {
                (
                    Certainty::Proved,
                    "it is always invoked alike, is given nothing but cells, and all cells keep their hardware"
                        .to_owned(),
                )
            } else {
                (
                    Certainty::Checked,
                    format!(
                        "{apart}the compiler may share what was apart while `{of}` was a component"
                    ),
                )
            },
            edits,
        ))
    }

    /// Whether it is certain that a cell that always is invoked alike may become a part of the component: no cells are shared, nothing goes
    /// in or out but by `ref` cells, it is a step of the one `seq` that is all control, and no form comes of it that the compiler misreads.
    fn is_surely_a_part(&self, name: ir::Id, of: ir::Id) -> bool {
        let mut components = self.components.iter();
        let Some(part) = components.find(|component| component.name == of) else {
            return false;
        };
        let is_doubted = |component: &ir::Component| self.premises.doubt(component.name).is_some();
        if !self.observed.is_apart || self.is_timed || self.components.iter().any(is_doubted) {
            return false;
        }
        let signature = part.signature.borrow();
        let is_plain = |port: &ir::RRC<ir::Port>| {
            let attributes = &port.borrow().attributes;
            let bools = [ir::BoolAttr::Clk, ir::BoolAttr::Reset];
            let numbers = [ir::NumAttr::Go, ir::NumAttr::Done];
            bools.into_iter().any(|attribute| attributes.has(attribute))
                || numbers
                    .into_iter()
                    .any(|attribute| attributes.has(attribute))
        };
        // The compiler does not rename what a part hands over, and what its wires drive is driven all the time then.
        let mut handed = self.handed_over.iter();
        let hands_on = handed.any(|(component, _)| *component == of);
        let mut wires = part.continuous_assignments.iter();
        let drives = wires.any(|to| cell_of(&to.dst).is_some_and(|to| to.borrow().is_reference()));
        let has_others = part.cells.iter().any(|cell| {
            let cell = cell.borrow();
            let is_inline = cell.attributes.has(ir::BoolAttr::Inline);
            is_external(&cell) || is_inline && cell.is_component()
        });
        let others = Others::of(self.component, self.handed_over, None);
        let (own, control) = (self.component.control.borrow(), part.control.borrow());
        let is_alone = sole(View::of(&control)).kind() == ControlKind::While;
        part.latency.is_none()
            && signature.ports.iter().all(is_plain)
            && !(hands_on || drives || has_others || is_alone)
            && !may_clash(self.component, part)
            && !(others.has_to_do_with(name) || others.is_continuous(name))
            && !self.again.may_stop_at_once(of)
            && self.is_step(View::of(&own), name, self.ends.may_stop(of))
    }

    /// Whether all invokes of a cell are steps of the one `seq` that is all control; of those that may stop, all that is handed over has to be
    /// external.
    fn is_step(&self, view: View<'_>, name: ir::Id, may_stop: bool) -> bool {
        let is_invoked = |view: View<'_>| {
            let cell = view.invoked();
            cell.is_some_and(|cell| cell.borrow().name() == name)
        };
        match view {
            View::Dynamic(ir::Control::Seq(_)) => {
                let mut children = view.children().into_iter();
                children.all(|child| self.is_step(child, name, may_stop))
            }
            View::Dynamic(ir::Control::Invoke(_)) if is_invoked(view) => {
                let stays = |actual: ir::Id| {
                    let cell = self.component.find_cell(actual);
                    cell.is_some_and(|cell| is_external(&cell.borrow()))
                };
                let mut handed = view.handed_over().into_iter();
                view.comb_group().is_none() && (!may_stop || handed.all(|(_, of)| stays(of)))
            }
            view => {
                let mut runs = false;
                view.walk(&mut |view| runs |= is_invoked(view));
                !runs
            }
        }
    }

    /// The ways in which invokes run a cell: what they hand over, and where each names the cell.
    fn ways(&self, name: ir::Id) -> Vec<(String, Vec<Range<usize>>)> {
        let mut ways: Vec<(String, Vec<Range<usize>>)> = Vec::new();
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            let is_run = view
                .invoked()
                .is_some_and(|cell| cell.borrow().name() == name);
            let Some(span) = self.span(view.attributes()).filter(|_| is_run) else {
                return;
            };
            let keyword = self.text.find(span.clone(), "invoke");
            let place = keyword.and_then(|word| self.text.find(word.end..span.end, name.as_ref()));
            let Some(place) = place else { return };
            let mut way = self.text.of(place.end..span.end).to_owned();
            way.retain(|c| !c.is_whitespace());
            match ways.iter_mut().find(|(known, _)| *known == way) {
                Some((_, places)) => places.push(place),
                None => ways.push((way, vec![place])),
            }
        });
        ways
    }

    /// The statements that run a group or cell.
    pub fn runs_of(&self, name: ir::Id) -> Vec<Vec<petal_metadata::ControlId>> {
        let mut statements = Vec::new();
        View::of(&self.component.control.borrow()).walk(&mut |view| {
            let group = view.group();
            let runs = match &group {
                Some(group) => group.name() == name || group.driven().contains(&Some(name)),
                None => view
                    .invoked()
                    .is_some_and(|cell| cell.borrow().name() == name),
            };
            if runs {
                statements.extend(self.id(view));
            }
        });
        vec![statements]
    }
}

fn is_external(cell: &ir::Cell) -> bool {
    cell.attributes.has(ir::BoolAttr::External)
}

/// Whether names of two components may clash in Verilog where they are in one: there a cell has a wire `CELL_PORT` for each port, and a group
/// for its `go` and `done`. The compiler may add a number to a name.
fn may_clash(one: &ir::Component, other: &ir::Component) -> bool {
    let mut names = BTreeSet::new();
    let mut ports: BTreeSet<String> = GROUP_PORTS.map(str::to_owned).into();
    for component in [one, other] {
        for cell in component.cells.iter() {
            let cell = cell.borrow();
            names.insert(plain(cell.name()));
            let own = cell.ports.iter().map(|port| plain(port.borrow().name));
            ports.extend(own);
        }
        names.extend(groups(component));
    }
    let is_wire = |name: &String| {
        ports.iter().any(|port| {
            let stem = name
                .strip_suffix(port)
                .and_then(|stem| stem.strip_suffix('_'));
            stem.is_some_and(|stem| {
                let unnumbered = stem.trim_end_matches(|c: char| c.is_ascii_digit());
                names.contains(stem) || names.contains(unnumbered)
            })
        })
    };
    names.iter().any(is_wire)
}
