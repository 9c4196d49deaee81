//! Commands that show a profile again, from its folder.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;

use petal_metadata::{Id, Metadata};
use petal_reconstruct::{
    Activity, CallTree, CompiledView, Event, FrameLabels, Instance, Node, TraceReader, check,
};
use petal_visualize::{Section, thousands};
use serde_json::json;

use crate::args::{ControlArg, FlameArgs, FormatArg, StatsArgs, TableArg, TimelineArgs, TraceArgs};
use crate::failure::Failure;
use crate::folder::{self, Staging};
use crate::interrupt;
use crate::outputs::{self, Counted};

/// A profile's folder, opened.
pub struct Folder {
    pub metadata: Metadata,
    name: String,
    pub reader: TraceReader<BufReader<File>>,
}

impl Folder {
    /// Opens the folder that a run wrote.
    pub fn open(dir: &Path) -> Result<Self, Failure> {
        let summary = dir.join(folder::SUMMARY);
        if !summary.exists() {
            return Err(Failure::new(format!(
                "{} holds no whole profile (there is no {}); make one with `petal run`",
                dir.display(),
                folder::SUMMARY
            )));
        }
        let metadata = Metadata::read(&dir.join(folder::METADATA))?;
        let path = dir.join(folder::TRACE);
        let file = File::open(&path).map_err(Failure::io("read the trace", &path))?;
        let reader = TraceReader::new(BufReader::new(file), &metadata.fingerprint)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        let name = std::fs::read_to_string(&summary)
            .ok()
            .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
            .and_then(|summary| Some(summary.get("design")?.as_str()?.to_owned()))
            .unwrap_or_else(|| dir.display().to_string());
        Ok(Self {
            metadata,
            name,
            reader,
        })
    }

    /// Hands all events to `take`, as `view` shows them.
    pub fn read(
        metadata: &Metadata,
        reader: TraceReader<BufReader<File>>,
        view: ControlArg,
        take: &mut dyn FnMut(&Event) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let compiled = (view == ControlArg::Compiled).then(|| CompiledView::new(metadata));
        let mut checker = check::Checker::new(metadata);
        for event in reader {
            let event = event?;
            checker.event(&event)?;
            interrupt::check()?;
            let event = match &compiled {
                Some(view) => view.event(event),
                None => event,
            };
            take(&event)?;
        }
        Ok(())
    }

    /// Counts all that flame graphs, with control as in `view`, and tables need.
    pub fn count(
        metadata: &Metadata,
        reader: TraceReader<BufReader<File>>,
        view: ControlArg,
    ) -> Result<Counted<'_>, Failure> {
        let mut counted = Counted::new(metadata, view);
        Self::read(metadata, reader, ControlArg::Source, &mut |event| {
            counted.event(event);
            Ok(())
        })?;
        Ok(counted)
    }
}

/// `petal trace`
pub fn trace(args: &TraceArgs) -> Result<(), Failure> {
    let Folder {
        metadata, reader, ..
    } = Folder::open(&args.dir)?;
    let labels = FrameLabels::new(&metadata);
    let mut instances: Vec<Instance> = Vec::new();
    let mut trees: Vec<CallTree> = Vec::new();
    let wanted = args.cycles.clone().unwrap_or(0..u64::MAX);
    Folder::read(&metadata, reader, args.view.control, &mut |event| {
        match event {
            Event::Instance(instance) => instances.push(*instance),
            Event::Tree(tree) => trees.push(tree.clone()),
            Event::Run(run) => {
                let first = run.start.cycles();
                let cycles = first.max(wanted.start)..(first + run.cycles).min(wanted.end);
                if !cycles.is_empty() {
                    let tree = &trees[run.tree.index()];
                    let text = if args.json {
                        as_json(&cycles, tree, &labels, &instances)
                    } else {
                        as_text(&cycles, tree, &labels, &instances)
                    };
                    outputs::print(&text)?;
                }
            }
            Event::Update(_) | Event::Warning(_) | Event::End { .. } => {}
        }
        Ok(())
    })
}

fn as_text(
    cycles: &Range<u64>,
    tree: &CallTree,
    labels: &FrameLabels,
    instances: &[Instance],
) -> String {
    let mut text = match cycles.end - cycles.start {
        1 => format!("cycle {}\n", cycles.start),
        _ => format!("cycles {}..{}\n", cycles.start, cycles.end),
    };
    for (depth, node) in tree.preorder() {
        let indent = "  ".repeat(depth + 1);
        let _ = write!(text, "{indent}{}", labels.label(node, instances));
        if let Node::Cell {
            instance,
            activity: Activity::Overhead(charge),
        } = node
        {
            let component = instances[instance.index()].component;
            let _ = write!(text, "  <- overhead: {}", labels.charge(component, charge));
        }
        text.push('\n');
    }
    text
}

fn as_json(
    cycles: &Range<u64>,
    tree: &CallTree,
    labels: &FrameLabels,
    instances: &[Instance],
) -> String {
    let nodes: Vec<_> = tree
        .preorder()
        .map(|(depth, node)| {
            let mut object = json!({
                "depth": depth,
                "kind": FrameLabels::kind(node).name(),
                "label": labels.label(node, instances),
            });
            if let Node::Cell {
                instance,
                activity: Activity::Overhead(charge),
            } = node
            {
                let component = instances[instance.index()].component;
                object["overhead"] = json!(charge.kind.to_string());
                object["statement"] =
                    json!(charge.statement.map(|id| labels.control(component, id)));
            }
            object
        })
        .collect();
    format!(
        "{}\n",
        json!({ "start": cycles.start, "end": cycles.end, "tree": nodes })
    )
}

/// `petal flame`
pub fn flame(args: &FlameArgs) -> Result<(), Failure> {
    // So that the trace stays that of the folder.
    let lock = folder::lock(&args.dir);
    let Folder {
        metadata,
        name,
        reader,
    } = Folder::open(&args.dir)?;
    let staging = Staging::new(&args.dir)?.locked(lock);
    let counted = Folder::count(&metadata, reader, args.view.control)?;
    counted.write_flames(&staging, &name)?;
    let files: Vec<&str> = outputs::FLAMES
        .iter()
        .flat_map(|&(_, folded, svg)| [folded, svg])
        .collect();
    staging.commit(&files)
}

/// `petal timeline`
pub fn timeline(args: &TimelineArgs) -> Result<(), Failure> {
    let lock = folder::lock(&args.dir);
    let Folder {
        metadata, reader, ..
    } = Folder::open(&args.dir)?;
    let staging = Staging::new(&args.dir)?.locked(lock);
    let section = Section {
        cycles: args.cycles.clone(),
        cell: args.cell.clone(),
        depth: args.depth.and_then(|depth| usize::try_from(depth).ok()),
    };
    let mut timeline = outputs::timeline(&metadata, &staging)?.of(section);
    Folder::read(&metadata, reader, args.view.control, &mut |event| {
        Ok(timeline.event(event)?)
    })?;
    if let Some(cell) = args.cell.as_ref().filter(|_| !timeline.found()) {
        return Err(Failure::new(format!(
            "no component cell `{cell}` was active; `petal stats {} cells` lists those that were",
            args.dir.display()
        )));
    }
    let slices = timeline.slices();
    let file = staging.path(outputs::TIMELINE);
    let bytes = std::fs::metadata(&file)
        .map_err(Failure::io("read", &file))?
        .len();
    staging.commit(&[outputs::TIMELINE])?;
    outputs::print(&format!(
        "{}: {} slices, {} bytes\n",
        args.dir.join(outputs::TIMELINE).display(),
        thousands(slices),
        thousands(bytes)
    ))
}

/// `petal stats`
pub fn stats(args: &StatsArgs) -> Result<(), Failure> {
    let Folder {
        metadata, reader, ..
    } = Folder::open(&args.dir)?;
    let counted = Folder::count(&metadata, reader, ControlArg::Source)?;
    let wanted: Vec<TableArg> = if args.table.is_empty() {
        outputs::TABLES.map(|(table, _)| table).to_vec()
    } else {
        args.table.clone()
    };
    let tables: Vec<String> = wanted
        .into_iter()
        .map(|table| counted.table(table))
        .map(|table| match args.format {
            FormatArg::Text => table.text(),
            FormatArg::Csv => table.csv(),
            FormatArg::Markdown => table.markdown(),
            FormatArg::Json => format!("{:#}\n", table.json()),
        })
        .collect();
    outputs::print(&tables.join("\n"))
}
