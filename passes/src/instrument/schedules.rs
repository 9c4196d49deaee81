//! The schedules of static programs: which source statement waits in which cycle. Taken before the
//! compiler copies a static program into one group and leaves a counter of it.

use std::collections::{HashMap, HashSet};

use calyx_ir as ir;
use petal_metadata::{ControlKind, Parts, Schedule};

use super::Instrumenter;
use crate::source::SourceComponent;
use crate::tree::{NodeKey, View, ViewMut};

/// The source of a component, and how many enables are at or below each of its nodes.
pub(super) struct EnableCounts<'a> {
    source: &'a SourceComponent,
    enables: HashMap<NodeKey, usize>,
}

impl<'a> EnableCounts<'a> {
    pub fn of(source: &'a SourceComponent) -> Self {
        Self {
            source,
            enables: source.enables(),
        }
    }
}

impl Instrumenter<'_> {
    /// Numbers every static program, and records its schedule and the latencies of its statements.
    pub fn add_static_programs(&mut self, mut node: ViewMut<'_>, counts: &EnableCounts<'_>) {
        if matches!(node.view(), View::Static(_)) {
            node.set_static_program(self.probes.static_programs.len());
            let schedule = self.schedule(node.view(), counts);
            self.probes.static_programs.push(schedule);
            return;
        }
        for child in node.children() {
            self.add_static_programs(child, counts);
        }
    }

    fn schedule(&mut self, view: View<'_>, counts: &EnableCounts<'_>) -> Schedule<NodeKey> {
        let View::Static(control) = view else {
            unreachable!("static programs have only static parts");
        };
        let latency = control.get_latency();
        let children: Vec<Schedule<NodeKey>> = view
            .children()
            .into_iter()
            .map(|child| self.schedule(child, counts))
            .collect();
        let parts = match control {
            ir::StaticControl::Seq(_) => Parts::seq(children),
            ir::StaticControl::Par(_) => Parts::Par(children),
            ir::StaticControl::Repeat(_) => children
                .into_iter()
                .next()
                .map_or(Parts::None, |body| Parts::Repeat(Box::new(body))),
            ir::StaticControl::If(_)
            | ir::StaticControl::Enable(_)
            | ir::StaticControl::Invoke(_)
            | ir::StaticControl::Empty(_) => Parts::None,
        };
        let statement = self.static_statement(view, latency, counts);
        Schedule {
            statement,
            latency,
            parts,
        }
    }

    /// The source statement that a part of a static program stands for, or the innermost one around
    /// it. Records the latency of a statement that the part is as a whole.
    fn static_statement(
        &mut self,
        view: View<'_>,
        latency: u64,
        EnableCounts { source, enables }: &EnableCounts<'_>,
    ) -> Option<NodeKey> {
        let mut keys = HashSet::new();
        view.walk(&mut |below| {
            if below.group().is_some() || below.invoked().is_some() {
                keys.extend(below.identity().map(|(key, _)| key));
            }
        });
        let inner = source.common_ancestor(keys.iter().copied())?;
        let enabled = keys.into_iter().filter(|key| source.is_enable(*key));
        let enabled = enabled.count();
        // Asked of nodes that contain all of these enables.
        let whole = |key: &NodeKey| enables.get(key).copied().unwrap_or(0) == enabled;
        let kind = view.kind().dynamic();
        let same_kind = source
            .ancestry(inner)
            .filter(|key| source.nodes[key].kind.dynamic() == kind)
            .nth(nested(view))
            .filter(whole);
        // A condition and its statement are a sequence that nobody wrote; but after the body of a
        // loop it is one iteration of the loop only.
        let is_loop = |key: &NodeKey| {
            matches!(
                source.nodes[key].kind.dynamic(),
                ControlKind::While | ControlKind::Repeat
            )
        };
        let statement = match kind {
            ControlKind::Seq | ControlKind::Par => Some(inner)
                .filter(|key| whole(key) && !is_loop(key))
                .or(same_kind),
            _ => same_kind,
        };
        if let Some(statement) = statement {
            self.probes.latencies.insert(statement, latency);
        }
        statement.or(Some(inner))
    }
}

/// How many statements of the same kind are nested in this one with nothing beside them.
fn nested(view: View<'_>) -> usize {
    let works = |view: &View<'_>| {
        let mut works = false;
        view.walk(&mut |below| works |= below.group().is_some() || below.invoked().is_some());
        works
    };
    let (kind, mut below, mut count) = (view.kind().dynamic(), view, 0);
    loop {
        let mut children = below.children().into_iter().filter(works);
        let (Some(only), None) = (children.next(), children.next()) else {
            return count;
        };
        count += usize::from(only.kind().dynamic() == kind);
        below = only;
    }
}
