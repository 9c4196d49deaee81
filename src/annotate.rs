//! `petal annotate`: the source with what each line cost in its margin.

use std::fmt::Write as _;

use petal_analysis::{HotspotKind, listing};
use petal_metadata::{FileId, FrontEndFileId, Id, Metadata};
use petal_profile::Error;

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
    let mut text = String::new();
    for &file in &files {
        let (name, lines) = match file {
            File::Calyx(id) => (&*metadata.files[id.index()].name, analysis.annotate(id)),
            File::FrontEnd(id) => (
                petal_analysis::front_end_file(metadata, id),
                analysis.annotate_front_end(id),
            ),
        };
        if files.len() > 1 {
            let _ = writeln!(text, "{name}");
        }
        text.push_str(&listing(&lines, cycles));
    }
    print(&text)
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
