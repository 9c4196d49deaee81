//! The record of a program while it is compiled.
//!
//! Owns the steps between and after the compiler's passes, and what one step leaves for the next.
//! Knows neither who runs the passes nor where the session is kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use calyx_ir as ir;
use calyx_utils::CalyxResult;
use petal_metadata::{Metadata, Origin};
use petal_program::dependences::Dependences;
use petal_program::places::Files;
use petal_program::source::SourceComponent;
use petal_program::tree::{NodeKey, View, ViewMut};
use petal_program::{CALYX_VERSION, Texts, Written};

use crate::align::{self, Shape};
use crate::compiled::{self, Compiled};
use crate::emit;
use crate::instrument::{self, Probes};
use crate::kept_state::{self, Joined, Pairs};
use crate::rebuilt;
use crate::references::{self, References};
use crate::sharing::Sharing;
use crate::triggers;

/// One compilation of one program.
#[derive(Debug)]
pub(crate) struct Session {
    phase: Phase,
    pub files: Files,
    next_key: u64,
    pub components: HashMap<ir::Id, ComponentRecord>,
    /// The `ref` cells of every component.
    pub references: HashMap<ir::Id, References>,
    /// What in the source has to wait for what, by component.
    pub dependences: HashMap<ir::Id, Dependences>,
    /// What instrumentation put into the program, once it has.
    pub probes: Option<Probes>,
    /// How control was compiled, once it has been.
    pub compiled: HashMap<ir::Id, Compiled>,
    /// The entry point of the source.
    pub main: ir::Id,
    /// The passes that run, for the record.
    pub pipeline: Vec<String>,
}

/// How far a compilation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The program is the source's, optimised.
    Source,
    /// It has its probes; control is still to be compiled.
    Probed,
    /// Control is compiled, and has its probes.
    Compiled,
}

/// What a session records of a component.
#[derive(Debug, Clone)]
pub(crate) struct ComponentRecord {
    pub source: SourceComponent,
    /// The control program after the last pass.
    pub shape: Shape,
    pub sharing: Sharing,
}

impl ComponentRecord {
    /// That of a component whose control nodes have their identities.
    fn of(component: &ir::Component, source: SourceComponent) -> Self {
        let mut sharing = Sharing::default();
        sharing.observe(component);
        Self {
            source,
            shape: Shape::of(View::of(&component.control.borrow())),
            sharing,
        }
    }
}

impl Session {
    /// Records the program as the source has it, and gives its control nodes their identities. Files that
    /// are not in `texts` are read.
    pub fn of(ctx: &mut ir::Context, texts: Arc<Texts>) -> Self {
        let Written {
            files,
            next_key,
            mut components,
            dependences,
        } = Written::of(ctx, texts);
        let mut records = HashMap::new();
        let mut references = HashMap::new();
        for component in &ctx.components {
            let name = component.name;
            let source = components.remove(&name).unwrap_or_default();
            records.insert(name, ComponentRecord::of(component, source));
            references.insert(name, References::of(component));
        }
        Self {
            phase: Phase::Source,
            files,
            next_key,
            components: records,
            references,
            dependences,
            probes: None,
            compiled: HashMap::new(),
            main: ctx.entrypoint,
            pipeline: Vec::new(),
        }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Inserts the probes of groups and calls: between the optimiser and control compilation.
    pub fn probe(&mut self, ctx: &mut ir::Context) {
        instrument::instrument(ctx, self);
        self.phase = Phase::Probed;
    }

    /// Records how control was compiled, and inserts its probes: right after that pass.
    pub fn control_compiled(&mut self, ctx: &mut ir::Context) -> CalyxResult<()> {
        self.compiled = compiled::follow_all(ctx, self)?;
        self.phase = Phase::Compiled;
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
        triggers::probe_all(ctx, self)
    }

    /// Tells of the cells that have become one although `apart` has them: in words, and by component.
    pub fn joined(&self, apart: &Pairs) -> (Vec<String>, Joined) {
        let mut notes = Vec::new();
        let mut all = Joined::new();
        for (component, pairs) in apart {
            let Some(record) = self.components.get(component) else {
                continue;
            };
            let mut joined: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
            for pair in pairs {
                let [one, other] = pair.map(|cell| record.sharing.lives_in(cell));
                if one == other {
                    let cells = pair.iter().map(AsRef::as_ref);
                    joined.entry(one.to_string()).or_default().extend(cells);
                }
            }
            let place = |cell: &str| {
                let mut cells = record.source.cells.iter();
                let (_, place) = cells.find(|(name, _)| name.as_ref() == cell)?;
                self.files.line(place)
            };
            all.extend(joined.values().map(|cells| {
                let cells = cells.iter().map(|cell| (*cell).to_owned());
                (component.to_string(), cells.collect())
            }));
            notes.extend(joined.into_values().map(|cells| {
                let place = cells.iter().find_map(|cell| place(cell));
                let place = place.map_or_else(String::new, |place| format!("{place}: "));
                let cells = cells.into_iter().collect::<Vec<_>>().join("`, `");
                format!(
                    "{place}`{}` makes one cell of `{cells}` in `{component}`, though an activation may read what an earlier one has \
                     left in one of them (a defect of Calyx {}): results may be wrong; `--disable-pass {0}` keeps them apart",
                    kept_state::PASS,
                    CALYX_VERSION
                )
            }));
        }
        notes.sort_unstable();
        (notes, all)
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
