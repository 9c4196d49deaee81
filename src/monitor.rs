//! `petal monitor`.

use petal_profile::folder::Draft;
use petal_profile::{Error, MonitoredDesign, Places, interrupt};
use petal_table::counted;

use crate::args::{BuildArgs, MonitorArgs, MonitorCommand, ReadArgs};
use crate::messages;
use crate::print::print;
use crate::screen::screen;
use crate::terminal::Terminal;

/// `petal monitor`: puts a monitor into a design, or reads what one has recorded.
pub fn monitor(args: &MonitorArgs) -> Result<(), Error> {
    match args {
        MonitorArgs::Build(args) => build(args),
        MonitorArgs::Other(MonitorCommand::Read(args)) => read(args),
    }
}

fn build(args: &BuildArgs) -> Result<(), Error> {
    let (data_file, metadata_file) = (args.data_file(), args.metadata_file());
    let mut places = Places::default();
    places.writes("--out", &args.out)?;
    places.writes("--out", &data_file)?;
    places.writes("--metadata", &metadata_file)?;
    let MonitoredDesign {
        text,
        data,
        file,
        notes,
        warnings,
    } = petal_profile::monitor(&args.options()?, &mut places, &Terminal::default())?;
    notes.iter().for_each(messages::note);
    warnings.iter().for_each(messages::warning);
    if file.checkpoints.is_empty() && file.counters.is_empty() {
        return Err(Error::usage(
            "there is nothing to record: name an event, such as `--checkpoint main.GROUP`, or a value, such as `--count main.GROUP`",
        ));
    }
    let drafts = [
        Draft::of(&args.out, text.as_bytes())?,
        Draft::of(&data_file, data.as_bytes())?,
        Draft::of(&metadata_file, file.json().as_bytes())?,
    ];
    interrupt::check()?;
    drafts.into_iter().try_for_each(Draft::finish)?;
    print(&format!(
        "{}: {}, {}, room for {}\n{}\n{}\n",
        args.out.display(),
        counted(file.checkpoints.len() as u64, "checkpoint"),
        counted(file.counters.len() as u64, "counter"),
        counted(file.depth, "cycle"),
        data_file.display(),
        metadata_file.display(),
    ))
}

fn read(args: &ReadArgs) -> Result<(), Error> {
    let (file, results) = petal_profile::read_monitor(&args.memories, &args.metadata)?;
    if let Some(dropped) = results.dropped {
        messages::warning(format_args!(
            "the monitor had room for {}, and what happened in {} is lost; build it with a larger `--depth`",
            counted(file.depth, "cycle"),
            counted(dropped, "later cycle")
        ));
    }
    if args.json {
        return print(&results.json());
    }
    print(&results.text(screen()))
}
