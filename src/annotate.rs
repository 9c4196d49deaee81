//! `petal annotate`: the source with what each line cost in its margin.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_analysis::{HotspotKind, Margin, listing};
use petal_metadata::{FileId, FrontEndFileId, Id, Metadata};
use petal_profile::Error;
use petal_synth::{Area, Figures};

use crate::args::AnnotateArgs;
use crate::print::print;
use crate::profile::{analyse, open};
use crate::screen::screen;

/// `petal annotate`
pub fn annotate(args: &AnnotateArgs) -> Result<(), Error> {
    let profile = open(&args.dir)?;
    let metadata = &profile.metadata;
    let analysis = analyse(&profile)?;
    if let Some(top) = args.top {
        let advice = profile.summary.advice.as_ref();
        return print(&analysis.costs(&[HotspotKind::Cost], top, advice, screen()));
    }
    let files = chosen(metadata, args.file.as_deref())?;
    let cycles = analysis.cycles();
    let synthesis = profile.synthesis();
    let synthesis = synthesis.filter(|of| !of.area.rows.is_empty());
    let mut text = String::new();
    for &file in &files {
        let (name, lines, margins) = match file {
            File::Calyx(id) => {
                let name = &*metadata.files[id.index()].name;
                let margins = synthesis.iter().flat_map(|of| margins(&of.area, name));
                (name, analysis.annotate(id), margins.collect())
            }
            File::FrontEnd(id) => (
                petal_analysis::front_end_file(metadata, id),
                analysis.annotate_front_end(id),
                Vec::new(),
            ),
        };
        if files.len() > 1 {
            let _ = writeln!(text, "{name}");
        }
        text.push_str(&listing(&lines, cycles, &margins, screen()));
    }
    if let Some(synthesis) = &synthesis {
        text.push_str(&screen().wrapped(&of_no_line(&synthesis.area), 0));
    }
    print(&text)
}

/// What the parts on a line take, in all their copies.
#[derive(Debug, Default)]
struct OnLine {
    luts: f64,
    ffs: f64,
    /// Whether look-up tables, and flip-flops, are shared with other lines.
    is_shared: [bool; 2],
    /// The least slack, in nanoseconds.
    slack_ns: Option<f64>,
}

/// The area of the parts that stand on the lines of a file, and their least slack.
fn margins(area: &Area, file: &str) -> Vec<Margin> {
    let mut lines: BTreeMap<u32, OnLine> = BTreeMap::new();
    let rows = area.rows.iter();
    for row in rows.filter(|row| row.file.as_deref() == Some(file)) {
        let Some(line) = row.line else { continue };
        let Figures { luts, ffs, .. } = row.figures;
        // A part of a flip-flop is rare, and a row may have parts of look-up tables alone.
        let is_part = (ffs - ffs.round()).abs() > 1e-6;
        let of = lines.entry(line).or_default();
        of.luts += luts;
        of.ffs += ffs;
        of.is_shared[0] |= row.is_shared;
        of.is_shared[1] |= row.is_shared && is_part;
        of.slack_ns = of.slack_ns.into_iter().chain(row.slack_ns).reduce(f64::min);
    }
    let margin = |title, text: &dyn Fn(&OnLine) -> Option<String>| Margin {
        title,
        lines: lines
            .iter()
            .filter_map(|(line, of)| Some((*line, text(of)?)))
            .collect(),
    };
    let count = |cells: f64, is_shared: bool| {
        let mark = if is_shared { "~" } else { "" };
        (cells >= 0.5).then(|| format!("{mark}{cells:.0}"))
    };
    let slack = margin("slack", &|of| Some(format!("{:.2}", of.slack_ns?)));
    let mut margins = vec![
        margin("LUT", &|of| count(of.luts, of.is_shared[0])),
        margin("FF", &|of| count(of.ffs, of.is_shared[1])),
    ];
    margins.extend(Some(slack).filter(|slack| !slack.lines.is_empty()));
    margins
}

/// How much of the area is of no line.
fn of_no_line(area: &Area) -> String {
    let mut sum = Figures::default();
    let rows = area.rows.iter().filter(|row| row.line.is_none());
    rows.for_each(|row| sum += row.figures);
    format!(
        "{:.0} of {:.0} LUT and {:.0} of {:.0} FF are of no line; `~` has parts of what several lines share, divided equally (`petal explain area`)",
        sum.luts, area.total.luts, sum.ffs, area.total.ffs
    )
}

/// A file to show.
#[derive(Debug, Clone, Copy)]
enum File {
    FrontEnd(FrontEndFileId),
    Calyx(FileId),
}

/// The files with this name, or all; those of the front end first.
fn chosen(metadata: &Metadata, name: Option<&str>) -> Result<Vec<File>, Error> {
    let front_end = metadata.front_end.own_files();
    let front_end = front_end.map(|(id, file)| {
        (
            File::FrontEnd(id),
            vec![petal_analysis::front_end_file(metadata, id), &file.path],
        )
    });
    let calyx = metadata.files.iter().enumerate();
    let calyx = calyx.map(|(at, file)| (File::Calyx(FileId::from_index(at)), vec![&*file.name]));
    let all: Vec<(File, Vec<&str>)> = front_end.chain(calyx).collect();
    let files = all.iter();
    let files = files.filter(|(_, names)| name.is_none_or(|name| names.contains(&name)));
    let files: Vec<File> = files.map(|&(file, _)| file).collect();
    if files.is_empty() {
        let names: Vec<&str> = all.iter().map(|(_, names)| names[0]).collect();
        return Err(Error::new(format!(
            "the design uses no file {}; it uses {}",
            name.unwrap_or_default(),
            names.join(", ")
        )));
    }
    Ok(files)
}
