//! `petal graph`: the control-flow graph of a profiled run, with its critical path.

use std::io::IsTerminal as _;

use petal_analysis::{ControlView, CriticalPath};
use petal_profile::{Error, Places, folder};
use petal_visualize::{ControlGraph, Detail};

use crate::args::{GraphArgs, GraphFormat};
use crate::print::print;
use crate::profile::open;

/// `petal graph`
pub fn graph(args: &GraphArgs) -> Result<(), Error> {
    let format = format(args)?;
    if args.out.is_none() && format != GraphFormat::Dot && std::io::stdout().is_terminal() {
        return Err(Error::usage(format!(
            "a picture is for a file: `petal graph {} --out graph.html` writes a page, and `--out graph.svg` an image",
            args.dir.display()
        )));
    }
    if let Some(path) = &args.out {
        let mut places = Places::default();
        places.reads_profile(&args.dir)?;
        places.writes("--out", path)?;
    }
    let profile = open(&args.dir)?;
    let mut critical = CriticalPath::new(&profile.metadata);
    let (analysis, figures) = profile.analyse_with(ControlView::Source, &mut |item| {
        item.try_for_each(|event| {
            critical.event(event);
            Ok(())
        })
    })?;
    let critical = figures.map_or_else(|| critical.finish(), |figures| figures.critical());
    let cell = args.cell.as_deref();
    let (name, is_partial) = (&profile.summary.design, profile.summary.stopped.is_some());
    let graph = ControlGraph::new(&analysis, &critical, name, is_partial, cell);
    let graph = graph.ok_or_else(|| {
        Error::new(format!(
            "no component cell `{}` ran a control program; `petal stats {} cells` lists those that were active",
            cell.unwrap_or_default(),
            args.dir.display()
        ))
    })?;
    let text = match format {
        GraphFormat::Html => graph.html(),
        GraphFormat::Svg if args.all => graph.svg(Detail::All),
        GraphFormat::Svg => graph.svg(Detail::Fitting),
        GraphFormat::Dot => graph.dot(),
    };
    match &args.out {
        Some(path) => folder::write_whole(path, text.as_bytes()),
        None => print(&text),
    }
}

/// The format that is asked for, or that the file's name tells.
fn format(args: &GraphArgs) -> Result<GraphFormat, Error> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = args.out.as_deref() else {
        return Ok(GraphFormat::Svg);
    };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => Ok(GraphFormat::Html),
        Some("svg") => Ok(GraphFormat::Svg),
        Some("dot") => Ok(GraphFormat::Dot),
        _ => Err(Error::usage(format!(
            "`--out {}` ends with none of `.html`, `.svg` and `.dot`; choose with `--format`",
            path.display()
        ))),
    }
}
