//! How control nodes, cells and primitives are written in outputs: `while@L74`,
//! `while@L74:9` where two nodes of the component begin on line 74, `while@lib.futil:L74` in an
//! imported file, `adder [add4]` for a component cell, `add (primitive)` for a primitive,
//! `save` for a group.

use std::collections::HashMap;

use crate::ids::{CellId, ControlId, Id};
use crate::schema::{CellKind, Component, ControlKind, Group, Metadata, Origin, Span};

impl ControlKind {
    /// The statement's keyword as outputs write it.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Seq => "seq",
            Self::Par => "par",
            Self::If => "if",
            Self::While => "while",
            Self::Repeat => "repeat",
            Self::Enable => "enable",
            Self::Invoke => "invoke",
            Self::StaticSeq => "static seq",
            Self::StaticPar => "static par",
            Self::StaticIf => "static if",
            Self::StaticRepeat => "static repeat",
            Self::StaticEnable => "static enable",
            Self::StaticInvoke => "static invoke",
            Self::Empty => "sync",
        }
    }

    /// The same statement without `static`.
    #[must_use]
    pub fn dynamic(self) -> Self {
        match self {
            Self::StaticSeq => Self::Seq,
            Self::StaticPar => Self::Par,
            Self::StaticIf => Self::If,
            Self::StaticRepeat => Self::Repeat,
            Self::StaticEnable => Self::Enable,
            Self::StaticInvoke => Self::Invoke,
            other => other,
        }
    }

    /// Whether the statement repeats its body.
    pub fn is_loop(self) -> bool {
        matches!(self, Self::While | Self::Repeat | Self::StaticRepeat)
    }

    /// Whether the node is the enable of a group. An enable has no frame of its own in a call
    /// tree: the group that it runs stands for it.
    pub fn is_enable(self) -> bool {
        matches!(self, Self::Enable | Self::StaticEnable)
    }
}

/// The labels of all control nodes of a component, indexed by [`ControlId`].
pub fn control_labels(metadata: &Metadata, component: &Component) -> Vec<String> {
    component
        .control
        .iter()
        .zip(control_places(metadata, component))
        .map(|(node, place)| format!("{}@{place}", node.kind.keyword()))
        .collect()
}

/// Where all control nodes of a component are written, as their labels give it, indexed by
/// [`ControlId`]: `L74`, `L74:9` or `lib.futil:L74`, and `?` for a node without a span.
pub fn control_places(metadata: &Metadata, component: &Component) -> Vec<String> {
    let mut on_line: HashMap<(usize, u32), u32> = HashMap::new();
    let framed = |id: &usize| !component.control[*id].kind.is_enable();
    let place = |span: Span| (span.file.index(), span.line);
    for id in (0..component.control.len()).filter(framed) {
        if let Some(span) = component.control[id].span {
            *on_line.entry(place(span)).or_default() += 1;
        }
    }
    component
        .control
        .iter()
        .map(|node| {
            let Some(span) = node.span else {
                return "?".to_owned();
            };
            let file = &metadata.files[span.file.index()];
            let file = if file.root {
                String::new()
            } else {
                format!("{}:", file.name)
            };
            let line = span.line;
            let shared = on_line.get(&place(span)).is_some_and(|&nodes| nodes > 1);
            if shared {
                format!("{file}L{line}:{}", span.column)
            } else {
                format!("{file}L{line}")
            }
        })
        .collect()
}

/// Whether something is written at a place: `L74`, `L74:9`, or `lib.futil:L74` in an imported file.
pub fn is_at(metadata: &Metadata, span: Span, place: &str) -> bool {
    let file = &metadata.files[span.file.index()];
    let line = if file.root {
        format!("L{}", span.line)
    } else {
        format!("{}:L{}", file.name, span.line)
    };
    place == line || place == format!("{line}:{}", span.column)
}

/// The label of one control node; for many, use [`control_labels`].
pub fn control_label(metadata: &Metadata, component: &Component, node: ControlId) -> String {
    control_labels(metadata, component).swap_remove(node.index())
}

/// The labels of all groups of a component, indexed by [`GroupId`](crate::GroupId): their names. Where inlining brought
/// groups into a component that has others of the same names, `save (from sub)` keeps them apart.
pub fn group_labels(component: &Component) -> Vec<String> {
    let mut named: HashMap<&str, u32> = HashMap::new();
    for group in &component.groups {
        *named.entry(&group.name).or_default() += 1;
    }
    let label = |group: &Group| match &group.origin {
        Origin::Inlined(from) if named[&*group.name] > 1 => format!("{} (from {from})", group.name),
        _ => group.name.clone(),
    };
    component.groups.iter().map(label).collect()
}

/// The label of a cell.
pub fn cell_label(metadata: &Metadata, component: &Component, cell: CellId) -> String {
    let cell = component.cell(cell);
    match &cell.kind {
        CellKind::Component(id) => format!("{} [{}]", cell.name, metadata.component(*id).name),
        CellKind::Primitive(_) => format!("{} (primitive)", cell.name),
    }
}
