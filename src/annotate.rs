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

/// The area of the parts that stand on the lines of a file, in all their copies, and their least slack in nanoseconds.
fn margins(area: &Area, file: &str) -> Vec<Margin> {
    type Figure = fn(&Figures) -> f64;
    let figures: [(&'static str, Figure); 2] = [("LUT", |of| of.luts), ("FF", |of| of.ffs)];
    let mut margins = Vec::from(figures.map(|(title, figure)| {
        let mut sums: BTreeMap<u32, (f64, bool)> = BTreeMap::new();
        let rows = area.rows.iter();
        for row in rows.filter(|row| row.file.as_deref() == Some(file)) {
            if let Some(line) = row.line {
                let (sum, is_shared) = sums.entry(line).or_default();
                let figure = figure(&row.figures);
                *sum += figure;
                // A part of a flip-flop is rare, and a row may have parts of look-up tables alone.
                let is_part = (figure - figure.round()).abs() > 1e-6;
                *is_shared |= row.is_shared && (title == "LUT" || is_part);
            }
        }
        let shown = sums.into_iter().filter(|(_, (sum, _))| *sum >= 0.5);
        let shown = shown.map(|(line, (sum, is_shared))| {
            let mark = if is_shared { "~" } else { "" };
            (line, format!("{mark}{sum:.0}"))
        });
        Margin {
            title,
            lines: shown.collect(),
        }
    }));
    let mut slacks: BTreeMap<u32, f64> = BTreeMap::new();
    let rows = area.rows.iter();
    for row in rows.filter(|row| row.file.as_deref() == Some(file)) {
        if let (Some(line), Some(slack)) = (row.line, row.slack_ns) {
            let least = slacks.entry(line).or_insert(slack);
            *least = least.min(slack);
        }
    }
    if !slacks.is_empty() {
        let shown = slacks.into_iter();
        let shown = shown.map(|(line, slack)| (line, format!("{slack:.2}")));
        margins.push(Margin {
            title: "slack",
            lines: shown.collect(),
        });
    }
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
