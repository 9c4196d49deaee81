//! `petal annotate`: the source with what each line cost in its margin.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_analysis::{Analysis, HotspotKind, Line, Margin, listing};
use petal_metadata::{FileId, FrontEndFileId, Id, Metadata};
use petal_profile::Error;
use petal_synth::{Area, Figures};
use serde_json::{Map, Value, json};

use crate::args::{AnnotateArgs, TextOrJson};
use crate::print::print;
use crate::profile::{analyse, open};
use crate::screen::screen;

/// `petal annotate`
pub fn annotate(args: &AnnotateArgs) -> Result<(), Error> {
    let profile = open(&args.dir)?;
    let metadata = &profile.metadata;
    let analysis = analyse(&profile)?;
    let is_json = args.format == TextOrJson::Json;
    if let Some(top) = args.top {
        if is_json {
            return Err(Error::usage(format!(
                "`petal stats {} hotspots --sort cost --top {top} --format json` lists the statements that cost most",
                args.dir.display()
            )));
        }
        let advice = profile.summary.advice.as_ref();
        return print(&analysis.costs(&[HotspotKind::Cost], top, advice, screen()));
    }
    let files = chosen(metadata, args.file.as_deref())?;
    let cycles = analysis.cycles();
    let synthesis = profile.synthesis();
    let synthesis = synthesis.filter(|of| !of.area.rows.is_empty());
    let area = synthesis.as_ref().map(|of| &of.area);
    let annotated = files.iter().map(|file| file.annotated(&analysis, area));
    if is_json {
        let files: Vec<Value> = annotated.map(|of| of.json()).collect();
        let all = json!({ "cycles": cycles, "files": files });
        return print(&format!("{all:#}\n"));
    }
    let mut text = String::new();
    for Annotated { name, lines, parts } in annotated {
        if files.len() > 1 {
            let _ = writeln!(text, "{name}");
        }
        text.push_str(&listing(&lines, cycles, &margins(parts.as_ref()), screen()));
    }
    if let Some(synthesis) = &synthesis {
        text.push_str(&screen().wrapped(&of_no_line(&synthesis.area), 0));
    }
    print(&text)
}

/// What the parts on a line take, in all their copies.
#[derive(Debug, Default)]
pub struct OnLine {
    /// Look-up tables.
    pub luts: f64,
    /// Flip-flops.
    pub ffs: f64,
    /// Whether look-up tables, and flip-flops, are shared with other lines.
    is_shared: [bool; 2],
    /// The least slack, in nanoseconds.
    pub slack_ns: Option<f64>,
}

/// A file with what its lines cost.
struct Annotated<'a> {
    name: &'a str,
    lines: Vec<Line<'a>>,
    /// What the parts on each line take, if that is known.
    parts: Option<BTreeMap<u32, OnLine>>,
}

impl Annotated<'_> {
    /// The lines that cost something, or take a part of the device.
    fn json(&self) -> Value {
        let lines = self.lines.iter().filter_map(|line| {
            let mut fields = Map::new();
            let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
            if let Some(cost) = line.cost {
                add("cycles", cost.cycles.into());
                add("useful", cost.useful.into());
                add("overhead", cost.overhead.into());
                add("costs", cost.listed.into());
            }
            if let Some(on) = self.parts.as_ref().and_then(|of| of.get(&line.number)) {
                add("luts", on.luts.into());
                add("ffs", on.ffs.into());
                add("slack_ns", on.slack_ns.into());
            }
            if fields.is_empty() {
                return None;
            }
            fields.insert("line".to_owned(), line.number.into());
            fields.insert("text".to_owned(), line.text.into());
            Some(Value::Object(fields))
        });
        json!({ "name": self.name, "lines": lines.collect::<Value>() })
    }
}

/// The area of the parts that stand on the lines of a file, and their least slack.
pub fn on_lines(area: &Area, file: &str) -> BTreeMap<u32, OnLine> {
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
    lines
}

/// The same in columns, if it is known.
fn margins(parts: Option<&BTreeMap<u32, OnLine>>) -> Vec<Margin> {
    let Some(lines) = parts else {
        return Vec::new();
    };
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

impl File {
    fn annotated<'a>(self, analysis: &Analysis<'a>, area: Option<&Area>) -> Annotated<'a> {
        let metadata = analysis.metadata();
        match self {
            Self::Calyx(id) => {
                let name = &*metadata.files[id.index()].name;
                Annotated {
                    name,
                    lines: analysis.annotate(id),
                    parts: area.map(|area| on_lines(area, name)),
                }
            }
            Self::FrontEnd(id) => Annotated {
                name: petal_analysis::front_end_file(metadata, id),
                lines: analysis.annotate_front_end(id),
                parts: None,
            },
        }
    }
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
