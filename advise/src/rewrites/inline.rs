//! Cells of components that become a part of the component that has them.

use std::ops::Range;

use calyx_ir as ir;
use petal_program::tree::View;

use super::state::Others;
use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

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
            (
                Certainty::Checked,
                format!(
                    "{apart}the compiler may share what was apart while `{of}` was a component"
                ),
            ),
            edits,
        ))
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
