//! A report that shows each new run: a page that has the report in it, and loads it again when it is told to.
//!
//! Owns the page and who waits for changes. The report knows nothing of it: it stays a file that needs no server.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use petal_profile::Error;
use petal_visualize::outputs::REPORT;

use crate::browser;
use crate::serve::{self, asked, respond};

/// How long to wait between looks for somebody who asks, and for a change.
const PATIENCE: Duration = Duration::from_millis(50);
/// After so many looks, whoever waits is told that nothing has changed: that fails where nobody waits any more.
const LOOKS: u32 = 100;

/// The page around the report.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>petal</title>
<style>
html, body { margin: 0; height: 100%; }
body { display: flex; flex-direction: column; }
iframe { border: 0; width: 100%; flex: 1 1 0; display: block; }
pre { margin: 0; padding: 10px 16px; max-height: 50vh; overflow: auto; font: 13px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: #7a1414; color: #fff; }
</style>
<pre id="error" role="alert" tabindex="0" hidden></pre>
<iframe src="/report.html" title="The report"></iframe>
<script>
const frame = document.querySelector("iframe");
const error = document.getElementById("error");
frame.onload = () => { document.title = frame.contentDocument.title || "petal"; };
const look = async () => {
  const text = await (await fetch("/error")).text();
  error.textContent = text && `The last run failed; the report below is of the one before.\n\n${text}`;
  error.hidden = !text;
  return text;
};
look();
new EventSource("/changes").onmessage = async () => { await look() || frame.contentWindow.location.reload(); };
</script>
</html>
"#;

/// A server of the report.
pub struct Live {
    address: SocketAddr,
    changes: Arc<Changes>,
}

/// What came of the runs.
#[derive(Default)]
struct Changes {
    runs: AtomicU64,
    /// Why the last one failed, if it did.
    error: Mutex<String>,
}

impl Changes {
    fn error(&self) -> MutexGuard<'_, String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    /// Serves the report in the folder `out` for as long as petal runs.
    pub fn new(out: &Path) -> Result<Self, Error> {
        let failed = |error| Error::new(format!("cannot serve the report: {error}"));
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = serve::listen(any).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let live = Self {
            address,
            changes: Arc::default(),
        };
        let (report, changes) = (out.join(REPORT), Arc::clone(&live.changes));
        let server =
            thread::Builder::new().spawn(move || accept(&listener, &report, address, &changes));
        server.map(|_| live).map_err(failed)
    }

    /// Where it is.
    pub fn link(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Opens it in a browser, if somebody looks at a terminal and there is one.
    pub fn open(&self) {
        if io::IsTerminal::is_terminal(&io::stdout()) {
            browser::open(self.link());
        }
    }

    /// There is a new report, or an error instead of one.
    pub fn changed(&self, error: Option<&Error>) {
        let text = error.map(ToString::to_string).unwrap_or_default();
        *self.changes.error() = text;
        self.changes.runs.fetch_add(1, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, report: &Path, address: SocketAddr, changes: &Arc<Changes>) {
    loop {
        // One that can't be taken now may be another time, or has gone away.
        while let Ok((stream, _)) = listener.accept() {
            let (report, changes): (PathBuf, _) = (report.to_owned(), Arc::clone(changes));
            // Where there are too many already, this one is not answered; and who goes away needs no answer.
            let _ = thread::Builder::new().spawn(move || {
                let _ = answer(&stream, &report, address, &changes);
            });
        }
        thread::sleep(PATIENCE);
    }
}

/// Answers a request.
fn answer(
    mut stream: &TcpStream,
    report: &Path,
    address: SocketAddr,
    changes: &Changes,
) -> io::Result<()> {
    let asked = asked(stream)?.filter(|asked| asked.is_of(address) && asked.method == "GET");
    let page = "200 OK\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-cache";
    match asked.map(|asked| asked.path).as_deref() {
        Some("/") => {
            respond(stream, page)?;
            stream.write_all(PAGE.as_bytes())
        }
        Some("/report.html") => {
            let mut file = File::open(report)?;
            respond(stream, page)?;
            io::copy(&mut file, &mut stream).map(drop)
        }
        Some("/error") => {
            let head =
                "200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-cache";
            respond(stream, head)?;
            let text = changes.error().clone();
            stream.write_all(text.as_bytes())
        }
        Some("/changes") => {
            respond(
                stream,
                "200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache",
            )?;
            let mut seen = changes.runs.load(Ordering::Relaxed);
            let mut looks = 0;
            loop {
                thread::sleep(PATIENCE);
                looks = (looks + 1) % LOOKS;
                let now = changes.runs.load(Ordering::Relaxed);
                if now != seen {
                    seen = now;
                    write!(stream, "data: {now}\n\n")?;
                } else if looks == 0 {
                    write!(stream, ":\n\n")?;
                }
            }
        }
        _ => respond(stream, "404 Not Found\r\nContent-Length: 0"),
    }
}
