//! The arguments of `petal graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub const HELP: &str = "\
Examples:
  petal graph petal-out/design --out graph.html
  petal graph petal-out/design --cell main.queue --out queue.svg
  petal graph petal-out/design --format dot | dot -Tpdf > graph.pdf";

/// A format of graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A page with the image, to be moved, enlarged and searched
    Html,
    /// An image
    Svg,
    /// Graphviz's language
    Dot,
}

/// `petal graph`
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The folder that `petal run` wrote
    pub dir: PathBuf,
    /// Only this component cell and those in it, by its path, such as `main.queue`
    #[arg(long, value_name = "PATH")]
    pub cell: Option<String>,
    /// Show as much as a picture has room for, of a large design, too [default: of that the critical path alone]
    #[arg(long)]
    pub all: bool,
    /// How to write it [default: as FILE ends, `.html`, `.svg` or `.dot`; svg without FILE]
    #[arg(long, value_enum)]
    pub format: Option<GraphFormat>,
    /// Write it to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
