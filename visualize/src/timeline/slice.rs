//! What the slices of a timeline tell: their names and details.

use petal_metadata::{ComponentId, GroupRunId, Id, Metadata, Origin, SiteId, Span};
use petal_reconstruct::{Activity, FrameLabels, Instance, Node, actual_path};

use super::tracks::{Track, TrackId};
use petal_analysis::cells::path;
use petal_analysis::elements::{Element, ElementKind};
use petal_analysis::front_end::FrontEndLines;
use petal_analysis::groups::Effects;
use petal_analysis::sites::Sites;
use petal_table::selection::SITE;

/// A number for each slice that differs from others by more than its time. A number may be given
/// to another slice when there are very many.
pub type SliceId = usize;

/// What does not change between slices of the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The track that it is on.
    pub track: TrackId,
    /// What was active.
    pub name: String,
    /// Where it is in the design: `main.queue` for a component cell, `main.queue.while@L12` for something in it; for a line
    /// of a front end's files `queue.py:12`.
    pub path: String,
    /// `cell`, `control`, `group`, `primitive`, `control register` or `line`.
    pub category: &'static str,
    /// Whether it is the update of a control register.
    pub is_update: bool,
    /// What of the design it is a slice of; `None` for lines of a front end's files and for control registers.
    pub site: Option<SiteId>,
    /// Details, by name.
    pub details: Vec<(&'static str, Detail)>,
}

impl Slice {
    /// The site, which the first slice of it tells, if not all of them do. It tells the same of those after it that look like it, and
    /// files do not grow by it.
    pub(super) fn told_first(&self) -> Option<SiteId> {
        let is_told = self.details.iter().any(|(name, _)| *name == SITE);
        self.site.filter(|_| !is_told)
    }
}

/// A detail of a slice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
}

/// The slice of an element on a track.
pub(super) fn describe(
    metadata: &Metadata,
    effects: &Effects,
    sites: &Sites<'_>,
    instances: &[Instance],
    element: Element,
    track: TrackId,
) -> Slice {
    let id = instances[element.instance.index()].component;
    let component = metadata.component(id);
    let labels = sites.labels();
    let mut details = Vec::new();
    let cell = path(metadata, instances, element.instance);
    let (name, category) = match element.kind {
        ElementKind::Cell => {
            details.push(("component", Detail::Text(component.name.clone())));
            if !metadata.verified && element.instance.index() == 0 {
                details.push(("verified", Detail::Text("no".to_owned())));
            }
            (
                labels.instance(element.instance, instances).to_owned(),
                "cell",
            )
        }
        ElementKind::Control(node) => {
            details.extend(source(metadata, component.node(node).span));
            (labels.control(id, node).to_owned(), "control")
        }
        ElementKind::Group(run) => {
            let name = group(metadata, effects, labels, id, run, &mut details);
            (name, "group")
        }
        ElementKind::Primitive(cell, actual) => {
            let node = Node::Primitive {
                component: id,
                cell,
                actual,
            };
            let actual = actual_path(metadata, instances, node);
            details.extend(actual.map(|path| ("actual", Detail::Text(path))));
            let cell = component.cell(cell);
            details.extend(source(metadata, cell.span));
            if let Some(hardware) = cell.shares_hardware_of() {
                let hardware = Detail::Text(hardware.to_owned());
                details.push(("shares the hardware of", hardware));
            }
            (cell.name.clone(), "primitive")
        }
    };
    let lines = front_end_lines(metadata, instances, element);
    details.extend(lines.map(|lines| ("front end", Detail::Text(lines))));
    let site = sites.of(id, &cell, element.kind).id;
    if sites.is_alike(id, element.kind) {
        details.push((SITE, Detail::Text(site.to_string())));
    }
    let path = match element.kind {
        ElementKind::Cell => cell,
        _ => format!("{cell}.{name}"),
    };
    Slice {
        track,
        name,
        path,
        category,
        is_update: false,
        site: Some(site),
        details,
    }
}

/// The slice of a front end's line, on its track.
pub(super) fn of_line(track: &Track, line: u32) -> Slice {
    Slice {
        track: track.id,
        name: track.name.clone(),
        path: format!("{}:{line}", track.cell_path),
        category: "line",
        is_update: false,
        site: None,
        details: Vec::new(),
    }
}

/// The front end's lines that an element comes from, as call trees tell them; of a primitive, that of its cell.
fn front_end_lines(
    metadata: &Metadata,
    instances: &[Instance],
    element: Element,
) -> Option<String> {
    let lines = FrontEndLines::new(metadata);
    let component = instances[element.instance.index()].component;
    let node = match element.kind {
        ElementKind::Cell => Node::Cell {
            instance: element.instance,
            formal: None,
            activity: Activity::Useful,
        },
        ElementKind::Control(control) => Node::Control { component, control },
        ElementKind::Group(run) => Node::Group {
            component,
            group: metadata.component(component).run(run).group,
            run,
        },
        ElementKind::Primitive(cell, _) => {
            let cell = metadata.component(component).cell(cell);
            return lines.list(lines.line(&cell.positions).into_iter());
        }
    };
    let frames = lines.frames(node, instances).into_iter();
    lines.list(frames.map(|frame| frame.line))
}

/// The name of a group run, with its details.
fn group(
    metadata: &Metadata,
    effects: &Effects,
    labels: &FrameLabels,
    id: ComponentId,
    run: GroupRunId,
    details: &mut Vec<(&'static str, Detail)>,
) -> String {
    let component = metadata.component(id);
    let run = component.run(run);
    let group = component.group(run.group);
    let enable = run.control.and_then(|node| component.node(node).span);
    details.extend(source(metadata, enable.or(group.span)));
    if let Some(latency) = run.latency {
        details.push(("static, cycles", Detail::Number(latency)));
    }
    let effects = effects.of(id, run.group);
    if !effects.is_empty() {
        details.push(("compiled", Detail::Text(effects.join(", "))));
    }
    match &group.origin {
        Origin::Source => {}
        Origin::Compiler => details.push(("made by", Detail::Text("the compiler".to_owned()))),
        Origin::Inlined(from) => details.push(("inlined from", Detail::Text(from.clone()))),
    }
    let name = labels.group(id, run.group);
    match run.part {
        Some(part) => format!("{name} ({})", component.group(part).name),
        None => name.to_owned(),
    }
}

fn source(metadata: &Metadata, span: Option<Span>) -> Option<(&'static str, Detail)> {
    span.map(|span| {
        let file = &metadata.files[span.file.index()].name;
        ("source", Detail::Text(format!("{file}:{}", span.line)))
    })
}
