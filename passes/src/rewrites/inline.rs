//! Cells of components that become a part of the component that has them.

use calyx_ir as ir;

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

    /// The statements that run a group or cell.
    pub fn runs_of(&self, name: ir::Id) -> Vec<Vec<petal_metadata::ControlId>> {
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
