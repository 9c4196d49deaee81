//! Keeps the identity of control nodes through passes that lose it.
//!
//! Most passes keep a node's attributes, and with them its identity. Those that build new nodes
//! are followed by [`align`], which walks the control program from before the pass side by side
//! with the one after it and gives every enable that has no identity the one of the statement
//! that it stands for:
//!
//! ```text
//! before                    after                                  the pass
//! G;                        seq { beg_spl_G; end_spl_G; }          group2seq
//! invoke c(..)(..);         invoke0;                               compile-invoke
//! while p with g { B }      seq { g; while r { seq { B; g; } } }   simplify-with-control
//! repeat 3 { B }            seq { init; while r { B; incr; } }     compile-repeat
//! @sync(1);                 seq { barrier; clear; }                compile-sync
//! static seq { A; B; }      static_seq;                            static-inline
//! while p { S; }            while_wrapper_early_reset_S;           compile-static
//! invoke c(..)(..);         (the control program of c)             inline
//! ```

use std::collections::HashMap;

use calyx_ir as ir;
use petal_metadata::ControlKind;
use petal_program::source::SourceComponent;
use petal_program::tree::{NodeKey, Slot, View, ViewMut};

/// A control program as it was before a pass.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub kind: ControlKind,
    pub identity: Option<(NodeKey, Slot)>,
    /// Whether a comb group computes its condition.
    pub with: bool,
    /// Whether it gets a state machine of its own (`@new_fsm`).
    pub new_fsm: bool,
    /// How often a `repeat` runs its body.
    repeats: Option<u64>,
    /// The number of the static program that it is.
    static_program: Option<usize>,
    /// The run that an enable is, if its group has others.
    run: Option<usize>,
    /// The group that an enable runs.
    pub group: Option<ir::Id>,
    pub children: Vec<Shape>,
}

impl Shape {
    pub fn of(view: View<'_>) -> Self {
        Self {
            kind: view.kind(),
            identity: view.identity(),
            with: view.comb_group().is_some(),
            new_fsm: view.attributes().has(ir::BoolAttr::NewFSM),
            repeats: view.repeats(),
            static_program: view.static_program(),
            run: view.run(),
            group: view.group().map(|group| group.name()),
            children: view.children().into_iter().map(Self::of).collect(),
        }
    }

    /// Replaces keys by what `names` has for them.
    pub fn rename(&mut self, names: &HashMap<NodeKey, NodeKey>) {
        if let Some((key, _)) = &mut self.identity
            && let Some(&new) = names.get(key)
        {
            *key = new;
        }
        for child in &mut self.children {
            child.rename(names);
        }
    }

    /// The number of the static program that it is, or that alone is below it.
    pub fn static_program(&self) -> Option<usize> {
        self.static_program.or_else(|| match &self.children[..] {
            [only] => only.static_program(),
            _ => None,
        })
    }

    /// The run of the enable that it is, or that alone is below it, if its group has others.
    pub fn run(&self) -> Option<usize> {
        self.run.or_else(|| match &self.children[..] {
            [only] => only.run(),
            _ => None,
        })
    }

    fn key(&self) -> Option<NodeKey> {
        self.identity.map(|(key, _)| key)
    }

    /// The source node that this part of the program comes from: its own, or the innermost one
    /// that contains all below it.
    pub fn source(&self, source: &SourceComponent) -> Option<NodeKey> {
        self.key().or_else(|| {
            source.common_ancestor(
                self.children
                    .iter()
                    .filter_map(|child| child.source(source)),
            )
        })
    }
}

/// Whether an enable differs from others: it has an identity or does nothing.
fn is_settled(view: View<'_>) -> bool {
    match view.group() {
        Some(group) => view.identity().is_some() || group.is_delay(),
        None => true,
    }
}

/// Whether nothing below (and at) `view` needs an identity.
pub(crate) fn is_complete(view: View<'_>) -> bool {
    let mut complete = true;
    view.walk(&mut |view| complete &= is_settled(view));
    complete
}

/// Gives every enable at or below `after` an identity, where `before` is the same part of the
/// program before the last pass.
pub(crate) fn align(before: &Shape, mut after: ViewMut<'_>, source: &SourceComponent) {
    if is_complete(after.view()) {
        return;
    }
    if after.view().group().is_some() {
        // One enable stands for all that was there.
        let whole = before.source(source).map(|key| (key, Slot::Body));
        let same = before.identity.filter(|_| before.children.is_empty());
        if let Some((key, slot)) = same.or(whole) {
            after.set_identity(key, slot);
        }
        if let Some(number) = before.static_program() {
            after.set_static_program(number);
        }
        if let Some(run) = before.run() {
            after.set_run(run);
        }
        return;
    }
    match before.kind {
        ControlKind::Enable => split(before, after),
        ControlKind::If | ControlKind::While
            if before.with && after.view().kind() == ControlKind::Seq =>
        {
            condition(before, after, source);
        }
        ControlKind::Repeat if after.view().kind() != ControlKind::Repeat => {
            repeat(before, after, source);
        }
        ControlKind::Par if after.view().kind() == ControlKind::Seq => {
            barrier(before, after, source);
        }
        _ => pairwise(before, after, source),
    }
}

/// The same node, whose children changed.
fn pairwise(before: &Shape, after: ViewMut<'_>, source: &SourceComponent) {
    if before.children.len() != after.view().children().len() {
        assign_rest(before, after, source);
        return;
    }
    for (before, after) in before.children.iter().zip(after.children()) {
        align(before, after, source);
    }
}

/// What has no better explanation belongs to the statement as a whole.
fn assign_rest(before: &Shape, after: ViewMut<'_>, source: &SourceComponent) {
    let Some(key) = before.source(source) else {
        return;
    };
    after.walk(&mut |node| {
        if !is_settled(node.view()) {
            node.set_identity(key, Slot::Control);
        }
    });
}

/// An enable that became a sequence of its group's parts.
fn split(before: &Shape, after: ViewMut<'_>) {
    let Some(key) = before.key() else { return };
    for (part, mut child) in (0..).zip(after.children()) {
        child.set_identity(key, Slot::Part(part));
    }
}

/// A condition that became an enable before the statement and, for a loop, after its body.
fn condition(before: &Shape, after: ViewMut<'_>, source: &SourceComponent) {
    let Some(key) = before.key() else { return };
    let is_loop = before.kind == ControlKind::While;
    let mut parts = after.children().into_iter();
    let (Some(mut first), Some(statement)) = (parts.next(), parts.next()) else {
        return;
    };
    first.set_identity(key, Slot::Condition);
    let mut bodies = statement.children();
    if is_loop {
        let Some(body) = bodies.pop() else { return };
        let mut parts = body.children().into_iter();
        let (Some(body), Some(mut again)) = (parts.next(), parts.next()) else {
            return;
        };
        again.set_identity(key, Slot::Condition);
        bodies = vec![body];
    }
    for (before, after) in before.children.iter().zip(bodies) {
        align(before, after, source);
    }
}

/// A `repeat` that became a counted loop, or its body alone if it repeats once.
fn repeat(before: &Shape, after: ViewMut<'_>, source: &SourceComponent) {
    let Some(body_before) = before.children.first() else {
        return;
    };
    let Some(key) = before.key() else {
        return assign_rest(before, after, source);
    };
    if before.repeats == Some(1) {
        return align(body_before, after, source);
    }
    let mut parts = after.children().into_iter();
    let (Some(mut init), Some(mut statement)) = (parts.next(), parts.next()) else {
        return;
    };
    init.set_identity(key, Slot::Control);
    statement.set_identity(key, Slot::Body);
    let Some(body) = statement.children().pop() else {
        return;
    };
    let mut parts = body.children().into_iter();
    let (Some(body), Some(mut increment)) = (parts.next(), parts.next()) else {
        return;
    };
    increment.set_identity(key, Slot::Control);
    align(body_before, body, source);
}

/// A `par` that first sets up the barriers for its arms.
fn barrier(before: &Shape, after: ViewMut<'_>, source: &SourceComponent) {
    let Some(key) = before.source(source) else {
        return;
    };
    let mut parts = after.children().into_iter();
    let (Some(init), Some(mut par)) = (parts.next(), parts.next()) else {
        return;
    };
    init.walk(&mut |node| {
        if !is_settled(node.view()) {
            node.set_identity(key, Slot::Control);
        }
    });
    par.set_identity(key, Slot::Body);
    pairwise(before, par, source);
}
