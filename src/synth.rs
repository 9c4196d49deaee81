//! `petal synth`: what a design costs in area and time.

mod figures;
mod flow;
mod picture;
mod text;

use std::path::Path;

use petal_profile::{Error, Places};

pub use self::figures::figures;
use self::flow::{Groups, read, target};
pub use self::flow::{Wanted, measure, synthesise};
pub use self::text::totals;
use crate::args::{SynthArgs, SynthFormat};
use crate::design;
use crate::print::print;
use crate::terminal::Terminal;

/// `petal synth`
pub fn synth(args: &SynthArgs) -> Result<(), Error> {
    let name = design::name(&args.design.design);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| Path::new("petal-out").join(&name));
    let mut places = Places::default();
    places.writes_profile(&out)?;
    let wanted = Wanted {
        target: target(args.target),
        seeds: args.seeds,
        memories: args.synth_memories,
        jobs: args.jobs,
        without: if args.without_each {
            Groups::All
        } else {
            Groups::Named(args.without.clone())
        },
    };
    let terminal = Terminal::new(args.quiet);
    let options = args.design.options()?;
    let named = (&*name, &*out);
    let synthesis = if args.read.is_empty() {
        let tools = wanted.tools()?;
        synthesise(&wanted, tools, &options, named, &mut places, &terminal)?
    } else {
        read(&args.read, &options, named, &mut places, &terminal)?
    };
    match args.format {
        SynthFormat::Json => print(&synthesis.to_json()),
        SynthFormat::Text if args.quiet => Ok(()),
        SynthFormat::Text => print(&text::summary(&synthesis, &out)),
    }
}
