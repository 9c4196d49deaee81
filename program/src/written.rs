//! What is written in a program, before any pass changes it.
//!
//! Owns that each control node gets an identity, which passes keep, and that what the source has is recorded under it.

use std::collections::HashMap;
use std::sync::Arc;

use calyx_ir as ir;

use crate::aliases::Aliases;
use crate::dependences::Dependences;
use crate::frontend::Texts;
use crate::places::Files;
use crate::source::{self, SourceComponent};
use crate::tree::{Slot, ViewMut};

/// What is written in a program.
#[derive(Debug)]
pub struct Written {
    /// The files that it is written in.
    pub files: Files,
    /// The key that no control node has yet, nor any after it.
    pub next_key: u64,
    /// The components, by name.
    pub components: HashMap<ir::Id, SourceComponent>,
    /// What has to wait for what, by component.
    pub dependences: HashMap<ir::Id, Dependences>,
    /// Which `ref` cells may be one.
    pub aliases: Aliases,
}

impl Written {
    /// What errors call the step that gives control nodes their identities.
    pub const STEP: &str = "encode-control";

    /// Records a program, and gives its control nodes their identities. Files that are not in `texts` are read.
    pub fn of(ctx: &mut ir::Context, texts: Arc<Texts>) -> Self {
        let mut files = Files::new(texts);
        let mut next_key = 0;
        let mut components = HashMap::new();
        for component in &mut ctx.components {
            let (source, order) = source::record(component, &mut files, &mut next_key);
            let mut order = order.into_iter();
            ViewMut::of(&mut component.control.borrow_mut()).walk(&mut |node| {
                if let Some(Some(key)) = order.next() {
                    node.set_identity(key, Slot::Body);
                }
            });
            components.insert(component.name, source);
        }
        let aliases = Aliases::of(ctx);
        Self {
            files,
            next_key,
            components,
            dependences: Dependences::of_all(ctx, &aliases),
            aliases,
        }
    }
}
