//! The record of a program while it is compiled.
//!
//! Owns what one of petal's steps leaves for the next; the steps are in `steps.rs`.
//! Knows neither who runs the passes nor where the session is kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use calyx_ir as ir;
use petal_program::dependences::Dependences;
use petal_program::places::Files;
use petal_program::source::SourceComponent;
use petal_program::tree::View;
use petal_program::{CALYX_VERSION, Texts, Written};

use crate::align::Shape;
use crate::compiled::Compiled;
use crate::kept_state::{self, Joined, Pairs};
use crate::probes::Probes;
use crate::references::References;
use crate::sharing::Sharing;

/// One compilation of one program.
#[derive(Debug)]
pub(crate) struct Session {
    pub phase: Phase,
    pub files: Files,
    /// The key that no control node has yet, nor any after it.
    pub next_key: u64,
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
            ..
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
}
