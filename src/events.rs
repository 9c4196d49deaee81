//! `--events`: where lines of JSON go that tell of a run while it goes on.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc::PIPE_BUF;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use petal_analysis::ControlView;
use petal_profile::{Error, EventStream, Places, Unwritten, interrupt};
use petal_table::counted;
use petal_visualize::stream::EventFilter;

use crate::args::ObserveArgs;
use crate::streams;

/// Whether events go to standard output, where nothing else may be then.
pub fn take_output(args: &ObserveArgs) -> bool {
    args.events.iter().any(|path| path == OUTPUT)
}

/// What stands for standard output.
const OUTPUT: &str = "-";

/// Where events go, and which.
#[derive(Debug)]
pub struct Stream {
    name: String,
    filter: Option<EventFilter>,
    destination: Destination,
}

/// Where the events of a run go.
#[derive(Debug)]
enum Destination {
    /// To the standard output of the command inside of another program.
    Called(streams::Output),
    /// To standard output, as it is before passes run, which print elsewhere.
    Output(File),
    File(PathBuf),
}

impl Stream {
    /// Where they are to go, if anywhere, and whether they can; `others` are the options that want standard output, and whether they are
    /// given.
    pub fn all(
        args: &ObserveArgs,
        view: ControlView,
        others: &[(&str, bool)],
        places: &mut Places,
    ) -> Result<Vec<Self>, Error> {
        if view == ControlView::Compiled && !args.events.is_empty() {
            return Err(Error::usage(
                "`--events` tells of the control that the source has; leave out `--control compiled`",
            ));
        }
        let (streams, filters) = (args.events.len(), args.event_filter.len());
        if filters != 0 && filters != streams {
            return Err(Error::usage(format!(
                "{} and {}: give each `--events` its `--event-filter`, in the same order; `path=*` leaves all",
                counted(streams as u64, "stream"),
                counted(filters as u64, "filter")
            )));
        }
        if args.events.iter().filter(|path| *path == OUTPUT).count() > 1 {
            return Err(Error::usage(
                "two `--events -` write to standard output; give one of them a file",
            ));
        }
        let mut filters = args.event_filter.iter().cloned();
        let all = args.events.iter().map(|path| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            Ok(Self {
                name: name.to_string_lossy().into_owned(),
                filter: filters.next(),
                destination: Destination::of(path, others, places)?,
            })
        });
        all.collect()
    }

    /// Opens it.
    pub fn open(&self) -> Result<EventStream, Error> {
        Ok(EventStream {
            name: self.name.clone(),
            filter: self.filter.clone(),
            out: match &self.destination {
                Destination::Called(output) => Box::new(output.clone()),
                Destination::Output(out) => {
                    Box::new(Reader::of(STANDARD_OUTPUT, standard_output(out)?)?)
                }
                Destination::File(path) => Box::new(Reader::of(path, create(path)?)?),
            },
        })
    }
}

impl Destination {
    fn of(path: &Path, others: &[(&str, bool)], places: &mut Places) -> Result<Self, Error> {
        if path != OUTPUT {
            places.writes("--events", path)?;
            return Ok(Self::File(path.to_owned()));
        }
        if let Some((other, _)) = others.iter().find(|(_, is_given)| *is_given) {
            return Err(Error::usage(format!(
                "`--events -` and `{other}` both write to standard output; give the events a file"
            )));
        }
        Ok(match streams::output() {
            Some(output) => Self::Called(output),
            None => Self::Output(standard_output(&io::stdout())?),
        })
    }
}

/// What standard output is called in messages.
const STANDARD_OUTPUT: &str = "standard output";

/// Another file that leads there.
fn standard_output(out: &impl AsFd) -> Result<File, Error> {
    let out = out.as_fd().try_clone_to_owned();
    out.map(File::from)
        .map_err(Error::io("write", Path::new(STANDARD_OUTPUT)))
}

/// How long to wait between looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Who reads the events: a file, or whoever is at the other end of a pipe, who may take his time. That he has gone away (`| head`) is no
/// error of the run.
struct Reader {
    name: PathBuf,
    /// `None` once he has gone away.
    out: Option<File>,
    /// Whether a write may wait for him.
    waits: bool,
    interrupt: Arc<AtomicBool>,
}

impl Reader {
    fn of(name: impl AsRef<Path>, out: File) -> Result<Self, Error> {
        let name = name.as_ref();
        let kind = out.metadata().map_err(Error::io("write", name))?;
        Ok(Self {
            name: name.to_owned(),
            waits: !kind.is_file(),
            out: Some(out),
            interrupt: interrupt::flag(),
        })
    }

    /// The file as an error of it is told.
    fn unwritten(&self, error: io::Error) -> io::Error {
        let file = self.name.clone();
        io::Error::new(error.kind(), Unwritten { file, error })
    }
}

/// Creates a file. A pipe that nobody reads yet is waited for.
fn create(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    // A pipe without a reader is an error then, and no wait that only a second signal ends.
    options.custom_flags(OFlag::O_NONBLOCK.bits());
    loop {
        let error = match options.open(path) {
            Ok(file) => return Ok(file),
            Err(error) => error,
        };
        let is_pipe = || path.metadata().is_ok_and(|file| file.file_type().is_fifo());
        if error.raw_os_error() != Some(Errno::ENXIO as i32) || !is_pipe() {
            return Err(Error::io("write", path)(error));
        }
        interrupt::check()?;
        std::thread::sleep(PATIENCE);
    }
}

/// Waits until a pipe takes [`PIPE_BUF`] bytes.
fn wait(out: &File, interrupt: &AtomicBool) -> io::Result<()> {
    let patience = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::ZERO);
    loop {
        let mut ready = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut ready, patience) {
            Ok(0) | Err(Errno::EINTR) if interrupt.load(Ordering::Relaxed) => {
                return Err(io::Error::other("interrupted"));
            }
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(out) = &mut self.out else {
            return Ok(bytes.len());
        };
        let written = if self.waits {
            wait(out, &self.interrupt).and_then(|()| out.write(&bytes[..bytes.len().min(PIPE_BUF)]))
        } else {
            out.write(bytes)
        };
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.out = None;
                Ok(bytes.len())
            }
            // Somebody else filled it meanwhile: asked again, it is waited for.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Err(ErrorKind::Interrupted.into())
            }
            written => written.map_err(|error| self.unwritten(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
