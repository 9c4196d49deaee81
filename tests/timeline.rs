//! Timelines as viewers get them: the native one says the same as the JSON, by Perfetto's own
//! protocol buffers, and `petal view` hands it to the viewer, which shows it, and to nobody else.

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use support::{Expected, chromium, designs, python, root};

const PETAL: &str = env!("CARGO_BIN_EXE_petal");

#[test]
fn the_native_timeline_and_the_json_have_the_same_slices() {
    let dir = tempfile::tempdir().unwrap();
    let mut folders = Vec::new();
    let examples = designs("calyx-examples").into_iter();
    for design in examples.chain(designs("tests/corpus")) {
        // Its timeline is too long for JSON.
        if design.ends_with("packet-scheduler.futil") {
            continue;
        }
        for passes in Expected::of(&design).cycles.keys() {
            let out = dir.path().join(format!("{}", folders.len()));
            let run = Command::new(PETAL)
                .args(["run", "--quiet", "--passes", passes, "--out"])
                .args([&out, &design])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{}: {said}", design.display());
            folders.push(out);
        }
    }
    let checked = Command::new(python())
        .arg(root().join("tests/check_timeline.py"))
        .arg(PETAL)
        .args(&folders)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
    let said = String::from_utf8_lossy(&checked.stdout);
    let numbers: Vec<u64> = said
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(numbers[0] > 10_000 && numbers[1] > 100, "only {said}");
}

/// The answer to a request for this host.
fn ask(request: &str, host: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect("127.0.0.1:9001").unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: {host}\r\nOrigin: https://ui.perfetto.dev\r\nConnection: close\r\n\r\n"
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
    let dir = tempfile::tempdir().unwrap();
    let names = ["switch-case-par", "nested-components", "pipelined-mac"];
    for name in names {
        let design = root().join(format!("calyx-examples/{name}.futil"));
        let run = Command::new(PETAL)
            .args(["run", "--quiet", "--out", name])
            .arg(design)
            .current_dir(dir.path())
            .status();
        assert!(run.unwrap().success());
    }
    let checked = Command::new(python())
        .arg(root().join("tests/check_viewer.py"))
        .arg(chromium())
        .arg(PETAL)
        .args(names)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
}

#[test]
fn view_hands_the_timeline_to_the_viewer_and_nothing_to_others() {
    let _port = PORT.lock();
    let dir = tempfile::tempdir().unwrap();
    let design = root().join("calyx-examples/switch-case-par.futil");
    let run = Command::new(PETAL)
        .args(["run", "--quiet", "--out", "one"])
        .arg(design)
        .current_dir(dir.path())
        .status();
    assert!(run.unwrap().success());
    let mut view = Command::new(PETAL)
        .args(["view", "one"])
        .current_dir(dir.path())
        // There is no browser.
        .env("PATH", "")
        .env_remove("BROWSER")
        .stdout(Stdio::piped())
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
    let (head, body) = ask("GET /timeline.pftrace", here);
    assert!(
        head.starts_with("http/1.1 200") && head.contains(origin),
        "{head}"
    );
    assert_eq!(
        body,
        fs::read(dir.path().join("one/timeline.pftrace")).unwrap()
    );
    assert!(view.wait().unwrap().success());
    assert!(TcpStream::connect(here).is_err());
}

#[test]
fn view_needs_a_profile() {
    let dir = tempfile::tempdir().unwrap();
    let view = Command::new(PETAL)
        .args(["view", "."])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(view.status.code(), Some(1));
    let said = String::from_utf8_lossy(&view.stderr);
    assert!(said.contains("holds no whole profile"), "{said}");
}
