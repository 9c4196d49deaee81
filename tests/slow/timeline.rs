//! Timelines as viewers get them: the native one says the same as the JSON, by Perfetto's own
//! protocol buffers, and `petal view` hands it to the viewer, which shows it, and to nobody else.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::support::workshop::{PETAL, Workshop, example, succeeds};
use crate::support::{Expected, chromium, designs, examples, python, root};

#[test]
fn the_native_timeline_and_the_json_have_the_same_slices() {
    let workshop = Workshop::empty();
    let mut folders = Vec::new();
    for design in examples().into_iter().chain(designs("tests/corpus")) {
        // Its timeline is too long for JSON.
        if design.ends_with("packet-scheduler.futil") {
            continue;
        }
        for passes in Expected::of(&design).cycles.keys() {
            let out = folders.len().to_string();
            let design = design.to_str().unwrap();
            workshop.succeeds(&["run", "-q", "--passes", passes, "--out", &out, design]);
            folders.push(out);
        }
    }
    let said = succeeds(
        Command::new(python())
            .arg(root().join("tests/slow/check_timeline.py"))
            .arg(PETAL)
            .args(&folders)
            .current_dir(workshop.dir.path()),
    );
    let numbers: Vec<u64> = said
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(
        numbers[0] > 10_000 && numbers[1] > 100 && numbers[2] > 10,
        "only {said}"
    );
}

/// The answer to a request of the viewer for this host.
fn ask(request: &str, host: &str) -> (String, Vec<u8>) {
    ask_from(request, host, "Origin: https://ui.perfetto.dev\r\n")
}

/// The answer to a request with such headers.
fn ask_from(request: &str, host: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect("127.0.0.1:9001").unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    (head, answer.split_off(end + 4))
}

/// There is one port for `petal view`.
static PORT: Mutex<()> = Mutex::new(());

#[test]
fn the_viewer_shows_what_view_hands_to_it() {
    let _port = PORT.lock();
    let workshop = Workshop::empty();
    // The first one is long.
    let names = [
        "packet-scheduler",
        "switch-case-par",
        "nested-components",
        "pipelined-mac",
    ];
    for name in names {
        let design = example(&format!("{name}.futil"));
        workshop.succeeds(&["run", "-q", "--out", name, &design]);
    }
    succeeds(
        Command::new(python())
            .arg(root().join("tests/slow/check_viewer.py"))
            .arg(chromium())
            .arg(PETAL)
            .args(names)
            .current_dir(workshop.dir.path()),
    );
}

#[test]
fn view_hands_the_timeline_to_the_viewer_and_nothing_to_others() {
    let _port = PORT.lock();
    let workshop = Workshop::empty();
    workshop.succeeds(&[
        "run",
        "-q",
        "--out",
        "one",
        &example("switch-case-par.futil"),
    ]);
    let mut view = workshop
        .command(&["view", "one"])
        // There is no browser.
        .env("PATH", "")
        .env_remove("BROWSER")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut link = String::new();
    let mut said = BufReader::new(view.stdout.take().unwrap());
    said.read_line(&mut link).unwrap();
    let start = "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/timeline.pftrace&";
    assert!(link.starts_with(start), "{link}");
    // Bound to the one loopback address.
    assert!(TcpStream::connect("127.0.0.2:9001").is_err());
    let here = "127.0.0.1:9001";
    for other in [
        "GET /",
        "GET /timeline.json",
        "GET /summary.json",
        "GET /../one/summary.json",
        "GET /timeline.pftrace/../summary.json",
        "GET //etc/passwd",
        "POST /timeline.pftrace",
        "DELETE /timeline.pftrace",
    ] {
        let (head, body) = ask(other, here);
        assert!(head.starts_with("http/1.1 404"), "{other}: {head}");
        assert!(body.is_empty(), "{other}");
    }
    // Who announces what never comes, or says nothing at all, is in nobody's way.
    let _silent = TcpStream::connect(here).unwrap();
    for other in [
        "GET /",
        "POST /timeline.pftrace",
        "OPTIONS /timeline.pftrace",
    ] {
        for length in ["1", "2000", "99999999999", "18446744073709551615", "x"] {
            let request = format!("{other} HTTP/1.1\r\nContent-Length: {length}\r\nX:");
            let (head, _) = ask(&request, here);
            assert!(head.starts_with("http/1.1 "), "{request}: {head}");
        }
    }
    for request in ["", "\r\n\r\n", "GET\r\n\r\n", "\0\u{1}\r\n\r\n"] {
        let mut odd = TcpStream::connect(here).unwrap();
        odd.write_all(request.as_bytes()).unwrap();
        odd.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        odd.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{request:?}: {answer}");
    }
    let (head, _) = ask("GET /timeline.pftrace", "evil.example:9001");
    assert!(head.starts_with("http/1.1 404"), "{head}");
    let origin = "access-control-allow-origin: https://ui.perfetto.dev";
    let (head, _) = ask("OPTIONS /timeline.pftrace", here);
    assert!(
        head.starts_with("http/1.1 204") && head.contains(origin),
        "{head}"
    );
    // Pages of others may send the request. They can't read the answer, and the viewer still gets its own.
    for foreign in ["", "Origin: https://evil.example\r\n", "Origin: null\r\n"] {
        let (head, _) = ask_from("GET /timeline.pftrace", here, foreign);
        assert!(head.contains(origin), "{head}");
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(view.try_wait().unwrap().is_none(), "{foreign}");
    }
    let (head, body) = ask("GET /timeline.pftrace", here);
    assert!(
        head.starts_with("http/1.1 200") && head.contains(origin),
        "{head}"
    );
    assert_eq!(
        body,
        fs::read(workshop.path("one/timeline.pftrace")).unwrap()
    );
    assert!(view.wait().unwrap().success());
    assert!(TcpStream::connect(here).is_err());
}
