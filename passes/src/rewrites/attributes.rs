//! What the compiler can be told of groups and cells.

use calyx_ir as ir;

use super::{Certainty, Edit, Rewrite, RewriteKind, Scope};

impl Scope<'_> {
    pub fn attributes(&self, found: &mut Vec<Rewrite>) {
        for cell in self.component.cells.iter() {
            found.extend(self.inline(&cell.borrow()));
        }
        for group in self.component.get_groups().iter() {
            found.extend(self.latency(&group.borrow()));
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
        Some(self.rewrite(
            RewriteKind::Inline,
            self.runs_of(name),
            start..span.end,
            format!(
                "make the cell `{name}` a part of `{}`: `@inline`",
                self.component.name
            ),
            (
                Certainty::Checked,
                format!("the compiler may share what was apart while `{of}` was a component"),
            ),
            vec![Edit::insert(start, "@inline ")],
        ))
    }

    /// A group whose cycles the compiler can't tell, but a run can.
    fn latency(&self, group: &ir::Group) -> Option<Rewrite> {
        let name = group.name();
        if group.attributes.has(ir::NumAttr::Promotable) {
            return None;
        }
        let of = (self.component.name.to_string(), name.to_string());
        let cycles = *self.observed.latencies.get(&of)?;
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
            (
                Certainty::Checked,
                format!(
                    "it took {} each time that it ran, with these data",
                    count(cycles)
                ),
            ),
            vec![edit],
        ))
    }

    /// The statements that run a group or cell.
    fn runs_of(&self, name: ir::Id) -> Vec<Vec<petal_metadata::ControlId>> {
        let mut statements = Vec::new();
        crate::tree::View::of(&self.component.control.borrow()).walk(&mut |view| {
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

fn count(cycles: u64) -> String {
    let plural = if cycles == 1 { "" } else { "s" };
    format!("{cycles} cycle{plural}")
}
