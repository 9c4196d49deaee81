//! The steps between and after the compiler's passes.
//!
//! Owns their order and how the record of a program follows it through a pass. What each step does is in a file of its own.

use std::collections::HashMap;

use calyx_ir as ir;
use calyx_utils::CalyxResult;
use petal_metadata::{Metadata, Origin};
use petal_program::source::SourceComponent;
use petal_program::tree::{NodeKey, View, ViewMut};

use crate::align::{self, Shape};
use crate::compiled;
use crate::emit;
use crate::instrument;
use crate::rebuilt;
use crate::references;
use crate::session::{ComponentRecord, Phase, Session};
use crate::triggers;

impl Session {
    /// Inserts the probes of groups and calls: between the optimiser and control compilation.
    pub fn probe(&mut self, ctx: &mut ir::Context) {
        instrument::instrument(ctx, self);
        self.phase = Phase::Probed;
    }

    /// Records how control was compiled, and inserts its probes: right after that pass.
    pub fn control_compiled(&mut self, ctx: &mut ir::Context) -> CalyxResult<()> {
        self.phase = Phase::Compiled;
        let Some(probes) = &mut self.probes else {
            return Ok(());
        };
        for component in &mut ctx.components {
            let name = component.name;
            let (Some(record), Some(of)) =
                (self.components.get(&name), probes.components.get_mut(&name))
            else {
                continue;
            };
            let (shape, source) = (&record.shape, &record.source);
            let followed =
                compiled::follow(component, &ctx.lib, &probes.prefix, shape, source, of)?;
            self.compiled.insert(name, followed);
        }
        Ok(())
    }

    /// The metadata of the compiled program; `None` if it has lost its main component.
    pub fn metadata(&self, ctx: &ir::Context) -> Option<Metadata> {
        emit::metadata(ctx, self)
    }

    /// Follows the program through the pass that just ran.
    ///
    /// # Errors
    /// When the pass did what petal can't follow.
    pub fn follow(&mut self, ctx: &mut ir::Context) -> CalyxResult<()> {
        // Needed only where a control program was copied into another component.
        let before = if self.has_copies(ctx) {
            self.components.clone()
        } else {
            HashMap::new()
        };
        for component in &mut ctx.components {
            let name = component.name;
            // A component that appears later is the compiler's own wrapper around main.
            let Some(mut record) = self.components.remove(&name) else {
                continue;
            };
            {
                let mut control = component.control.borrow_mut();
                self.adopt(
                    &record.shape,
                    ViewMut::of(&mut control),
                    &mut record.source,
                    &before,
                );
                align::align(&record.shape, ViewMut::of(&mut control), &record.source);
                rebuilt::restore(&record.shape, ViewMut::of(&mut control));
                record.shape = Shape::of(View::of(&control));
            }
            record.sharing.observe(component);
            self.components.insert(name, record);
        }
        references::follow(&mut self.references, ctx)?;
        match &mut self.probes {
            Some(probes) => triggers::probe_all(ctx, probes),
            None => Ok(()),
        }
    }

    /// Whether a component holds control nodes of another one.
    fn has_copies(&self, ctx: &ir::Context) -> bool {
        ctx.components.iter().any(|component| {
            self.components.get(&component.name).is_some_and(|record| {
                has_foreign(View::of(&component.control.borrow()), &record.source)
            })
        })
    }

    /// Where an invoke was replaced by the control program of the component that it invokes: gives
    /// the copied nodes identities of their own, below the invoke.
    fn adopt(
        &mut self,
        before: &Shape,
        mut after: ViewMut<'_>,
        source: &mut SourceComponent,
        components: &HashMap<ir::Id, ComponentRecord>,
    ) {
        if !has_foreign(after.view(), source) {
            return;
        }
        let invoke = before
            .identity
            .and_then(|(key, _)| Some((key, source.nodes.get(&key)?.cell_type?)))
            .filter(|_| before.children.is_empty());
        let Some((key, inlined)) = invoke else {
            // Inlining keeps the shape of the program around the invoke.
            for (before, after) in before.children.iter().zip(after.children()) {
                self.adopt(before, after, source, components);
            }
            return;
        };
        let Some(original) = components.get(&inlined) else {
            return;
        };
        let mut copies: HashMap<NodeKey, NodeKey> = HashMap::new();
        for original_key in original.source.preorder() {
            let copy_key = NodeKey(self.next_key);
            self.next_key += 1;
            let mut copy = original.source.nodes[&original_key].clone();
            copy.parent = Some(copy.parent.map_or(key, |parent| copies[&parent]));
            if copy.origin == Origin::Source {
                copy.origin = Origin::Inlined(inlined.to_string());
            }
            copies.insert(original_key, copy_key);
            source.nodes.insert(copy_key, copy);
        }
        after.reborrow().walk(&mut |node| {
            if let Some((old, slot)) = node.view().identity()
                && let Some(&new) = copies.get(&old)
            {
                node.set_identity(new, slot);
            }
        });
        // The inlined program may have had an invoke inlined itself.
        let mut shape = original.shape.clone();
        shape.rename(&copies);
        self.adopt(&shape, after, source, components);
    }
}

/// Whether a node at or below `view` is of another component.
fn has_foreign(view: View<'_>, source: &SourceComponent) -> bool {
    let mut any = false;
    view.walk(&mut |view| {
        any |= view
            .identity()
            .is_some_and(|(key, _)| !source.nodes.contains_key(&key));
    });
    any
}
