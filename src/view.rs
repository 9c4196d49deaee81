//! `petal view`: shows a profile in a browser.
//!
//! ui.perfetto.dev takes a trace from a server on this machine if it is at port 9001 of the loopback
//! address and lets that origin read it (Perfetto's documentation, *Deep linking to Perfetto UI*).

mod waves;

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use petal_files::Scratch;
use petal_profile::part::Wanted;
use petal_profile::{Error, Places, folder, interrupt, observations};
use petal_table::thousands;
use petal_visualize::outputs::{REPORT, TIMELINE, TIMELINE_JSON};

use crate::args::ViewerArgs;
use crate::browser;
use crate::part;
use crate::print::print;
use crate::progress::Stage;
use crate::serve::{Asked, asked, listen, respond};

/// The only port from which the viewer takes traces.
const PORT: u16 = 9001;
/// Where the viewer comes from.
const VIEWER: &str = "https://ui.perfetto.dev";
/// What the viewer does once it has the timeline: it expands the overview and the tracks of all component cells, or
/// nothing would be seen but the outermost one.
/// `[{"id":"dev.perfetto.ExpandTracksByRegex","args":["^%|(^main|])$"]}]`, percent-encoded (Perfetto's documentation, *Commands Automation Reference*).
const COMMANDS: &str = "%5B%7B%22id%22%3A%22dev.perfetto.ExpandTracksByRegex%22%2C%22args%22%3A%5B%22%5E%25%7C(%5Emain%7C%5D)%24%22%5D%7D%5D";
/// What lets the viewer, and nobody else, read the answer.
const HEADERS: &str = "Access-Control-Allow-Origin: https://ui.perfetto.dev\r\n\
                       Access-Control-Allow-Private-Network: true\r\n\
                       Cache-Control: no-cache\r\n\
                       Content-Type: application/octet-stream\r\n";
/// How long to wait between looks for Ctrl-C and for somebody who asks.
const PATIENCE: Duration = Duration::from_millis(50);

/// `petal view`
pub fn view(args: &ViewerArgs) -> Result<(), Error> {
    folder::whole(&args.dir)?;
    if args.report {
        return report(&args.dir.join(REPORT));
    }
    if let Some(viewer) = waves::Viewer::asked(args)? {
        return viewer.view(args);
    }
    let mut path = args.dir.join(TIMELINE);
    if let Some(out) = &args.out {
        let mut places = Places::default();
        places.reads_profile(&args.dir)?;
        places.writes("--out", out)?;
    }
    let mut about = String::new();
    // It is there as long as it is served.
    let scratch;
    if let Some(wanted) = wanted(args)? {
        scratch = Scratch::new().map_err(Error::no_scratch)?;
        path = scratch.path().join(TIMELINE);
        let _drawing = Stage::new("drawing a part of the timeline", false);
        about = part::write(&args.dir, &wanted, &path)?;
    }
    if let Some(out) = &args.out {
        let timeline = fs::read(&path).map_err(Error::io("read the timeline", &path))?;
        folder::write_whole(out, &timeline)?;
        let bytes = thousands(timeline.len() as u64);
        return print(&format!("{}: {bytes} bytes\n{about}", out.display()));
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let listener = listen(address).map_err(|error| {
        Error::new(format!(
            "cannot serve the timeline at {address}, the only address from which the viewer takes \
             it: {error}; is another `petal view` running? Or write it to a file with `--out`, and open \
             that in {VIEWER} by hand"
        ))
    })?;
    let link = format!("{VIEWER}/#!/?url=http://{address}/{TIMELINE}&startupCommands={COMMANDS}");
    print(&format!(
        "{link}\n{about}waiting until the viewer has fetched the timeline (Ctrl-C ends it); if the browser \
         asks, let the viewer reach this machine\n"
    ))?;
    browser::open(&link);
    serve(&listener, &path, address)
}

/// Which part of the run to open; `None` for all that its timeline has, if that is not too much.
fn wanted(args: &ViewerArgs) -> Result<Option<Wanted>, Error> {
    let cycles = observations::cycles(&args.dir, args.cycles.as_ref(), args.window.as_deref())?;
    if let Some(cycles) = cycles {
        return Ok(Some(Wanted::Cycles(cycles)));
    }
    if let Some(around) = &args.around {
        return Ok(Some(Wanted::Around(around.clone())));
    }
    if observations::keeps_windows(observations::read(&args.dir)?.as_ref()) {
        return Ok(None);
    }
    // It is left out of those that have too many slices.
    let is_short = args.dir.join(TIMELINE_JSON).exists();
    Ok((!is_short).then_some(Wanted::Excerpts))
}

/// Answers everybody until the timeline got to the viewer. Each on a thread of its own, so that nobody
/// waits for those who ask slowly, or never do.
fn serve(listener: &TcpListener, path: &Path, address: SocketAddr) -> Result<(), Error> {
    let (done, sent) = mpsc::channel();
    loop {
        interrupt::check()?;
        // One that can't be taken now may be another time, or has gone away.
        while let Ok((stream, _)) = listener.accept() {
            let (path, done): (PathBuf, _) = (path.to_owned(), done.clone());
            // Where there are too many already, this one is not answered.
            let _ = thread::Builder::new().spawn(move || {
                // Who goes away meanwhile may come again.
                if let Ok(true) = answer(&stream, &path, address) {
                    let _ = done.send(());
                }
            });
        }
        if sent.recv_timeout(PATIENCE).is_ok() {
            return Ok(());
        }
    }
}

/// Opens the report.
fn report(path: &Path) -> Result<(), Error> {
    File::open(path).map_err(Error::io("read the report", path))?;
    print(&format!("{}\n", path.display()))?;
    browser::open(path);
    Ok(())
}

/// Answers the request that comes; whether with the timeline, and it got to the viewer.
fn answer(mut stream: &TcpStream, path: &Path, address: SocketAddr) -> io::Result<bool> {
    let timeline = |asked: &Asked| asked.path.strip_prefix('/') == Some(TIMELINE);
    let asked = asked(stream)?.filter(|asked| asked.is_of(address) && timeline(asked));
    match asked {
        // A page that is not the viewer's can ask, too, though its browser does not let it read the answer.
        Some(Asked { method, origin, .. }) if method == "GET" => {
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            let head = format!("200 OK\r\n{HEADERS}Content-Length: {length}");
            respond(stream, &head)?;
            let sent = io::copy(&mut file, &mut stream)?;
            Ok(origin.as_deref() == Some(VIEWER) && sent == length)
        }
        // Whether the viewer may ask for the timeline.
        Some(Asked { method, .. }) if method == "OPTIONS" => {
            respond(stream, &format!("204 No Content\r\n{}", HEADERS.trim_end()))?;
            Ok(false)
        }
        _ => {
            respond(stream, "404 Not Found\r\nContent-Length: 0")?;
            Ok(false)
        }
    }
}
