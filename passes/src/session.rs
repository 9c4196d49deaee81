//! What petal's passes remember between their turns in one compilation.
//!
//! The pass manager makes a new pass object for every turn, so the memory lives beside it, one per
//! thread: a compilation runs on one thread from start to end.

use std::cell::RefCell;
use std::collections::HashMap;

use calyx_ir as ir;
use petal_metadata::{Metadata, Origin};

use crate::align::{self, Shape};
use crate::compiled::Compiled;
use crate::instrument::Probes;
use crate::sharing::Sharing;
use crate::source::{self, Files, SourceComponent};
use crate::tree::{NodeKey, View, ViewMut};

/// The memory of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub files: Files,
    next_key: u64,
    pub components: HashMap<ir::Id, Known>,
    /// What instrumentation put into the program, once it has.
    pub probes: Option<Probes>,
    /// How control was compiled, once it has been.
    pub compiled: HashMap<ir::Id, Compiled>,
    /// The entry point of the source.
    pub main: Option<ir::Id>,
    /// The passes that run, for the record.
    pub pipeline: Vec<String>,
    /// The result, once the program is compiled.
    pub metadata: Option<Metadata>,
}

/// What is known of a component so far.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub source: SourceComponent,
    /// The control program after the last pass.
    pub shape: Shape,
    pub sharing: Sharing,
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Runs `act` with this thread's session.
pub(crate) fn with<T>(act: impl FnOnce(&mut Session) -> T) -> T {
    SESSION.with_borrow_mut(act)
}

/// Forgets everything; for the start of a new compilation.
pub(crate) fn reset() {
    with(|session| *session = Session::default());
}

impl Session {
    /// Whether `ctx` is not the program that this session has seen so far.
    fn is_new(&self, ctx: &ir::Context) -> bool {
        !ctx.components
            .iter()
            .any(|component| self.components.contains_key(&component.name))
    }

    /// Records the program, or follows it through the pass that just ran.
    pub fn observe(&mut self, ctx: &mut ir::Context) {
        if self.is_new(ctx) {
            self.main = Some(ctx.entrypoint);
            for component in &mut ctx.components {
                let known = self.record(component);
                self.components.insert(component.name, known);
            }
            return;
        }
        // Needed only where a control program was copied into another component.
        let before = if self.has_copies(ctx) {
            self.components.clone()
        } else {
            HashMap::new()
        };
        for component in &mut ctx.components {
            let name = component.name;
            // A component that appears later is the compiler's own wrapper around main.
            let Some(mut known) = self.components.remove(&name) else {
                continue;
            };
            {
                let mut control = component.control.borrow_mut();
                self.adopt(
                    &known.shape,
                    ViewMut::of(&mut control),
                    &mut known.source,
                    &before,
                );
                align::align(&known.shape, ViewMut::of(&mut control), &known.source);
                known.shape = Shape::of(View::of(&control));
            }
            known.sharing.observe(component);
            self.components.insert(name, known);
        }
    }

    fn record(&mut self, component: &mut ir::Component) -> Known {
        let (source, order) = source::record(component, &mut self.files, &mut self.next_key);
        let mut order = order.into_iter();
        ViewMut::of(&mut component.control.borrow_mut()).walk(&mut |node| {
            if let Some(Some(key)) = order.next() {
                node.set_identity(key, crate::tree::Slot::Body);
            }
        });
        let shape = Shape::of(View::of(&component.control.borrow()));
        let mut sharing = Sharing::default();
        sharing.observe(component);
        Known {
            source,
            shape,
            sharing,
        }
    }

    /// Whether a component holds control nodes of another one.
    fn has_copies(&self, ctx: &ir::Context) -> bool {
        ctx.components.iter().any(|component| {
            self.components.get(&component.name).is_some_and(|known| {
                has_foreign(View::of(&component.control.borrow()), &known.source)
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
        components: &HashMap<ir::Id, Known>,
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
    let mut found = false;
    view.walk(&mut |view| {
        found |= view
            .identity()
            .is_some_and(|(key, _)| !source.nodes.contains_key(&key));
    });
    found
}
