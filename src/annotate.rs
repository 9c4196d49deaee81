//! `petal annotate`: the source with what each line cost in its margin.

use std::fmt::Write as _;

use petal_metadata::{FileId, Id, Metadata};
use petal_visualize::listing;

use crate::args::{AnnotateArgs, ControlArg};
use crate::failure::Failure;
use crate::outputs;
use crate::trace::Folder;

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
        text.push_str(&listing(&analysis.annotate(file), cycles));
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
