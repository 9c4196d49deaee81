//! `--events`: tells of a run while it goes on, as lines of JSON.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::mpsc::channel;

use petal_metadata::Metadata;
use petal_observe::{Observations, Told};
use petal_visualize::stream::{EventLines, Observed, Site, Stream};
use petal_visualize::timeline::Format;

use crate::args::{ControlArg, ObserveArgs};
use crate::failure::Failure;
use crate::places::Places;

/// Whether events go to standard output, where nothing else may be then.
pub fn take_output(args: &ObserveArgs) -> bool {
    args.events.as_deref() == Some(Path::new("-"))
}

/// Looks whether events can go where they are to go; `others` are the options that want standard output, and whether they are given.
pub fn check(
    args: &ObserveArgs,
    view: ControlArg,
    others: &[(&str, bool)],
    places: &mut Places,
) -> Result<(), Failure> {
    let Some(path) = &args.events else {
        return Ok(());
    };
    if view == ControlArg::Compiled {
        return Err(Failure::usage(
            "`--events` tells of the control that the source has; leave out `--control compiled`",
        ));
    }
    if !take_output(args) {
        return places.writes("--events", path);
    }
    match others.iter().find(|(_, is_given)| *is_given) {
        Some((other, _)) => Err(Failure::usage(format!(
            "`--events -` and `{other}` both write to standard output; give the events a file"
        ))),
        None => Ok(()),
    }
}

/// Begins to tell of a run, with what is observed in it.
pub fn stream(
    path: &Path,
    design: &str,
    metadata: &Metadata,
    observations: Option<&mut Observations<'_>>,
) -> Result<Box<dyn Format + Send>, Failure> {
    let out: Box<dyn Write + Send> = if path == Path::new("-") {
        Box::new(io::stdout())
    } else {
        Box::new(File::create(path).map_err(Failure::io("write", path))?)
    };
    let out = BufWriter::with_capacity(1 << 16, UntilGone { out: Some(out) });
    let lines = EventLines::new(design, out).map_err(Failure::io("write", path))?;
    let (sites, observed) = match observations {
        None => (Vec::new(), None),
        Some(observations) => {
            let list = observations.list().into_iter();
            let sites: Vec<Site> = list
                .map(|(kind, name)| Site::observed(kind, name))
                .collect();
            let ids: Vec<_> = sites.iter().map(|site| site.id).collect();
            let (sender, observed) = channel();
            observations.tell(move |told: Told| {
                // Whoever reads may be gone after an error, which is told elsewhere.
                let _ = sender.send(Observed {
                    cycle: told.cycle,
                    site: ids[told.observation],
                    index: told.index,
                    value: told.value,
                });
            });
            (sites, Some(observed))
        }
    };
    let stream = Stream::new(metadata, &sites, observed, lines);
    Ok(Box::new(stream.map_err(Failure::io("write", path))?))
}

/// Writes as long as somebody reads: that a reader has gone away (`| head`) is no error of the run.
struct UntilGone<W> {
    out: Option<W>,
}

impl<W: Write> Write for UntilGone<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(out) = &mut self.out else {
            return Ok(bytes.len());
        };
        match out.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.out = None;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.out.as_mut().map(Write::flush) {
            Some(Err(error)) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}
