//! `petal view`: shows a profile in a browser.
//!
//! ui.perfetto.dev takes a trace from a server on this machine if it is at port 9001 of the loopback
//! address and lets that origin read it (Perfetto's documentation, *Deep linking to Perfetto UI*).

use std::ffi::OsStr;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response, Server};

use crate::args::ViewerArgs;
use crate::failure::Failure;
use crate::{folder, interrupt, messages, outputs};

/// The only port from which the viewer takes traces.
const PORT: u16 = 9001;
/// Where the viewer comes from.
const VIEWER: &str = "https://ui.perfetto.dev";
/// What the viewer does once it has the timeline: it expands the tracks of all component cells, or
/// nothing would be seen but the outermost one.
/// `[{"id":"dev.perfetto.ExpandTracksByRegex","args":["(^main|])$"]}]`, percent-encoded (Perfetto's documentation, *Commands Automation Reference*).
const COMMANDS: &str = "%5B%7B%22id%22%3A%22dev.perfetto.ExpandTracksByRegex%22%2C%22args%22%3A%5B%22(%5Emain%7C%5D)%24%22%5D%7D%5D";
/// How long to wait between looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(100);

/// `petal view`
pub fn view(args: &ViewerArgs) -> Result<(), Failure> {
    folder::whole(&args.dir)?;
    if args.report {
        return report(&args.dir.join(outputs::REPORT));
    }
    let path = args.dir.join(outputs::TIMELINE);
    // Fails before anybody is asked to look.
    File::open(&path).map_err(Failure::io("read the timeline", &path))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let server = Server::http(address).map_err(|error| {
        Failure::new(format!(
            "cannot serve the timeline at {address}, the only address from which the viewer takes \
             it: {error}; is another `petal view` running? Or open {} in {VIEWER} by hand",
            path.display()
        ))
    })?;
    let link = format!(
        "{VIEWER}/#!/?url=http://{address}/{}&startupCommands={COMMANDS}",
        outputs::TIMELINE
    );
    outputs::print(&format!(
        "{link}\nwaiting until the viewer has fetched the timeline (Ctrl-C ends it); if the browser \
         asks, let the viewer reach this machine\n"
    ))?;
    open(&link);
    loop {
        interrupt::check()?;
        let request = server
            .recv_timeout(PATIENCE)
            .map_err(|error| Failure::new(format!("cannot serve the timeline: {error}")))?;
        if let Some(request) = request
            && answer(request, &path, address)?
        {
            return Ok(());
        }
    }
}

/// Opens the report.
fn report(path: &Path) -> Result<(), Failure> {
    File::open(path).map_err(Failure::io("read the report", path))?;
    outputs::print(&format!("{}\n", path.display()))?;
    open(path);
    Ok(())
}

/// Opens a browser, if there is one.
fn open(what: impl AsRef<OsStr>) {
    if open::that_detached(what).is_err() {
        messages::note("no browser was found; open it in one yourself");
    }
}

/// Answers a request; whether that was the timeline, and it got there.
fn answer(request: Request, path: &Path, address: SocketAddr) -> Result<bool, Failure> {
    let host = request
        .headers()
        .iter()
        .find(|header| header.field.equiv("Host"))
        .map(|header| header.value.as_str().to_owned());
    // A foreign page that has its name point here gets nothing.
    let known = host.is_some_and(|host| host == address.to_string())
        && request.url() == format!("/{}", outputs::TIMELINE);
    // A viewer that goes away meanwhile may come again.
    let sent = match request.method() {
        Method::Get if known => {
            let file = File::open(path).map_err(Failure::io("read the timeline", path))?;
            let response = headers()
                .into_iter()
                .fold(Response::from_file(file), Response::with_header)
                .with_chunked_threshold(usize::MAX);
            return Ok(request.respond(response).is_ok());
        }
        Method::Options if known => {
            let response = headers()
                .into_iter()
                .fold(Response::empty(204), Response::with_header);
            request.respond(response)
        }
        _ => request.respond(Response::empty(404)),
    };
    drop(sent);
    Ok(false)
}

/// What lets the viewer, and nobody else, read the answer.
fn headers() -> Vec<Header> {
    [
        ("Access-Control-Allow-Origin", VIEWER),
        ("Access-Control-Allow-Private-Network", "true"),
        ("Cache-Control", "no-cache"),
        ("Content-Type", "application/octet-stream"),
    ]
    .into_iter()
    .filter_map(|(name, value)| Header::from_bytes(name, value).ok())
    .collect()
}
