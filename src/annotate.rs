//! `petal annotate`: the source with what each line cost in its margin.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use petal_metadata::{FileId, Id, Metadata};
use petal_visualize::{Cost, Line, printable, thousands};

use crate::args::{AnnotateArgs, ControlArg};
use crate::failure::Failure;
use crate::outputs;
use crate::trace::Folder;

/// Overhead of this share of the run stands out.
const MUCH: f64 = 0.05;

/// `petal annotate`
pub fn annotate(args: &AnnotateArgs) -> Result<(), Failure> {
    let Folder {
        metadata, reader, ..
    } = Folder::open(&args.dir)?;
    let analysis = Folder::analyse(&metadata, reader, ControlArg::Source)?;
    let files = chosen(&metadata, args.file.as_deref())?;
    let cycles = analysis.cycles();
    let mut text = String::new();
    for &file in &files {
        if files.len() > 1 {
            let _ = writeln!(text, "{}", metadata.files[file.index()].name);
        }
        render(&mut text, &analysis.annotate(file), cycles);
    }
    outputs::print(&text)
}

fn chosen(metadata: &Metadata, name: Option<&str>) -> Result<Vec<FileId>, Failure> {
    let files: Vec<FileId> = (0..metadata.files.len())
        .map(FileId::from_index)
        .filter(|file| name.is_none_or(|name| metadata.files[file.index()].name == name))
        .collect();
    if files.is_empty() {
        let known: Vec<&str> = metadata.files.iter().map(|file| &*file.name).collect();
        return Err(Failure::new(format!(
            "the design uses no file {}; it uses {}",
            name.unwrap_or_default(),
            known.join(", ")
        )));
    }
    Ok(files)
}

fn render(text: &mut String, lines: &[Line<'_>], cycles: u64) {
    let costs = || lines.iter().filter_map(|line| line.cost);
    let width = |of: fn(Cost) -> u64, title: &str| {
        let widest = costs().map(|cost| thousands(of(cost)).len()).max();
        widest.unwrap_or(0).max(title.len())
    };
    let active = width(|cost| cost.cycles, "cycles");
    let lost = width(|cost| cost.overhead, "overhead");
    let number = lines.len().to_string().len();
    let _ = writeln!(
        text,
        "{:>active$}  {:>8}  {:>lost$} | {:number$} |",
        "cycles", "useful %", "overhead", ""
    );
    for line in lines {
        let margin = match line.cost {
            None => format!("{:active$}  {:8}  {:lost$}", "", "", ""),
            Some(cost) => {
                let overhead = match cost.overhead {
                    0 => String::new(),
                    overhead => thousands(overhead),
                };
                format!(
                    "{:>active$}  {:>8}  {overhead:>lost$}",
                    thousands(cost.cycles),
                    share(cost)
                )
            }
        };
        let style = line.cost.map_or(Style::new(), |cost| style(cost, cycles));
        let _ = writeln!(
            text,
            "{style}{margin}{style:#} | {:>number$} | {}",
            line.number,
            printable(line.text)
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn share(cost: Cost) -> String {
    if cost.cycles == 0 {
        String::new()
    } else {
        format!("{:.1}", cost.useful as f64 * 100.0 / cost.cycles as f64)
    }
}

#[expect(clippy::cast_precision_loss, reason = "only a colour depends on it")]
fn style(cost: Cost, cycles: u64) -> Style {
    if cost.cycles == 0 {
        Style::new().dimmed()
    } else if cost.overhead as f64 >= MUCH * cycles as f64 {
        AnsiColor::Red.on_default().bold()
    } else if cost.overhead > 0 {
        AnsiColor::Yellow.on_default()
    } else {
        Style::new()
    }
}
