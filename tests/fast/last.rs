//! What a run says of the run before it, what is left of that one, and runs that follow each change of a file.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use expect_test::expect;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::workshop::{Workshop, said, tells, wait_for, wait_until};

/// A workshop with a loop whose condition has a cycle of its own.
fn with_loop() -> Workshop {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "while-comb.futil", &[]);
    workshop
}

/// Makes the condition continuous, which saves cycles.
fn improve(workshop: &Workshop) {
    let text = workshop.read("design.futil");
    let better = text.replace("while lt.out with cond", "while lt.out");
    let group = better.find("comb group cond {").expect("it has the group");
    let end = group + better[group..].find('}').expect("it ends");
    let body = &better[group + "comb group cond {".len()..end];
    let better = [&better[..group], body, &better[end + 1..]].concat();
    workshop.write("design.futil", better);
}

fn first_lines(text: &str) -> Vec<&str> {
    text.lines().take(2).collect()
}

#[test]
fn a_run_says_what_changed_and_keeps_the_one_before() {
    let workshop = with_loop();
    let first = workshop.succeeds(&["run", "design.futil"]);
    assert_eq!(first_lines(&first), ["design", ""]);
    let none = workshop.ends(1, &["compare", "--last", "petal-out/design"]);
    tells(&none, &["one run only"]);
    // The same again is written the same.
    assert_eq!(workshop.succeeds(&["run", "design.futil"]), first);
    assert!(!workshop.path("petal-out/design/last.json").exists());

    let baseline = workshop.succeeds(&["baseline", "petal-out/design"]);
    improve(&workshop);
    let second = workshop.succeeds(&["run", "design.futil"]);
    expect![[r#"
        [
            "design",
            "  5 cycles fewer (-29.4 %) than in the run before; 3 lines changed",
        ]
    "#]]
    .assert_debug_eq(&first_lines(&second));
    tells(&second, &["petal compare --last petal-out/design"]);
    assert_eq!(workshop.read("petal-out/design/last.json"), baseline);
    // What is compared is the same as from files.
    workshop.write("before.json", &baseline);
    let compared = workshop.succeeds(&["compare", "before.json", "petal-out/design"]);
    for side in ["petal-out/design", "design.futil"] {
        let last = workshop.succeeds(&["compare", "--last", side]);
        assert_eq!(last, compared, "{side}");
    }
    // The same again has nothing to say, and keeps what is before both.
    workshop.succeeds(&["run", "design.futil"]);
    assert_eq!(workshop.read("petal-out/design/last.json"), baseline);
    workshop.ends(2, &["compare", "--last", "petal-out/design", "before.json"]);
}

#[test]
fn another_design_of_the_name_is_not_overwritten_silently() {
    let workshop = with_loop();
    workshop.succeeds(&["run", "design.futil"]);
    workshop.edited("design.futil", "dot-product.futil", &[]);
    let run = workshop.petal(&["run", "design.futil"]);
    tells(
        &said(&run),
        &["another design of this name", "`--name` or `--out`"],
    );
    let shown = String::from_utf8_lossy(&run.stdout);
    tells(&shown, &["not compared with the run before"]);
    // The next change of it is none of the name.
    improve_nothing(&workshop);
    let run = workshop.petal(&["run", "design.futil"]);
    assert!(!said(&run).contains("another design"), "{}", said(&run));
}

fn improve_nothing(workshop: &Workshop) {
    let text = workshop.read("design.futil");
    workshop.write("design.futil", format!("{text}// a line more\n"));
}

#[test]
fn a_run_with_other_data_is_no_saving() {
    let workshop = with_loop();
    let data = workshop.read("design.futil.data");
    workshop.succeeds(&["run", "design.futil"]);
    workshop.succeeds(&["run", "design.futil", "--out", "before"]);
    // The same contents, written otherwise.
    workshop.write("design.futil.data", data.replace('\n', " "));
    let compare = ["compare", "before", "design.futil"];
    let same = workshop.succeeds(&compare);
    assert!(!same.contains("data"), "{same}");
    // Others in the same file.
    workshop.write("design.futil.data", data.replace("100", "101"));
    let run = workshop.succeeds(&["run", "design.futil"]);
    assert_eq!(
        first_lines(&run)[1],
        "  not compared with the run before, which had other data and took 17 cycles"
    );
    let note = "the runs had different data (design.futil.data changed)";
    for format in ["text", "markdown", "json"] {
        let page = ["--html", "change.html", "--format", format];
        let told = workshop.succeeds(&[&compare[..], &page].concat());
        tells(&told, &[note]);
    }
    tells(&workshop.read("change.html"), &[note]);
    workshop.write("other.data", data.replace("100", "102"));
    let other = [&compare[..], &["--data", "other.data"]].concat();
    tells(&workshop.succeeds(&other), &["(design.futil.data before,"]);
}

#[test]
fn advice_stays_as_long_as_its_run_does() {
    let workshop = with_loop();
    let advise = ["advise", "design.futil", "--proved"];
    workshop.succeeds(&advise);
    let report = workshop.read("petal-out/design/report.html");
    let patch = workshop.read("petal-out/design/advice/proved.patch");
    let again = workshop.petal(&["run", "design.futil"]);
    assert!(!said(&again).contains("advice"), "{}", said(&again));
    assert_eq!(workshop.read("petal-out/design/report.html"), report);
    assert_eq!(workshop.read("petal-out/design/advice/proved.patch"), patch);
    // A saving is told where it was found, and not before.
    let summary: Value =
        serde_json::from_str(&workshop.read("petal-out/design/summary.json")).unwrap();
    let hotspots = summary["hotspots"].as_array().unwrap();
    let mut items = summary["advice"]["advice"].as_array().unwrap().iter();
    let found = items.find_map(|item| {
        let row = hotspots.iter().find(|row| row["name"] == item["place"])?;
        Some((item, row))
    });
    let (item, row) = found.unwrap();
    let saves = format!("`petal advise`: proved, saves {}", item["on_top"]);
    assert_eq!(row["next"], saves.as_str());
    let shown = String::from_utf8(again.stdout).unwrap();
    for text in [
        shown,
        workshop.succeeds(&["stats", "petal-out/design", "hotspots"]),
        workshop.succeeds(&["annotate", "petal-out/design", "--top", "3"]),
    ] {
        tells(&text, &[&saves]);
    }

    improve(&workshop);
    let changed = workshop.petal(&["run", "design.futil"]);
    tells(
        &said(&changed),
        &[
            "the patches in petal-out/design/advice are of the program before",
            "`petal advise design.futil`",
        ],
    );
    assert_eq!(workshop.read("petal-out/design/advice/proved.patch"), patch);
    assert!(workshop.read("petal-out/design/report.html") != report);
    // Those of another design go with it.
    workshop.edited("design.futil", "dot-product.futil", &[]);
    workshop.succeeds(&["run", "design.futil"]);
    let advice = workshop.path("petal-out/design/advice");
    assert!(std::fs::read_dir(advice).map_or(0, Iterator::count) == 0);
}

/// A run that goes on, which ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks the server, and gives the answer so far, or all of it.
fn ask(address: &str, path: &str, host: &str, whole: bool) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    if whole {
        stream.read_to_string(&mut answer).unwrap();
    }
    (answer, stream)
}

#[test]
fn each_change_is_run_and_shown_by_the_open_report() {
    let workshop = with_loop();
    let mut command = workshop.command(&["run", "design.futil", "--on-change"]);
    let errors = workshop.path("errors");
    command.stderr(std::fs::File::create(&errors).unwrap());
    let mut running = Running(command.spawn().unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "design");
    let link = wait_for("the link", || {
        let said = workshop.read("errors");
        let (_, rest) = said.split_once("http://")?;
        Some(rest.split_once('/')?.0.to_owned())
    });
    let (page, _) = ask(&link, "/", &link, true);
    tells(&page, &["200 OK", "/report.html", "/changes"]);
    let (report, _) = ask(&link, "/report.html", &link, true);
    let (_, report) = report.split_once("\r\n\r\n").unwrap();
    assert_eq!(report, workshop.read("petal-out/design/report.html"));
    // A page of somebody else gets nothing.
    let (foreign, _) = ask(&link, "/report.html", "example.org", true);
    tells(&foreign, &["404"]);
    let (_, waiting) = ask(&link, "/changes", &link, false);
    let mut waiting = BufReader::new(waiting);
    let mut heads = String::new();
    while !heads.ends_with("\r\n\r\n") {
        waiting.read_line(&mut heads).unwrap();
    }
    tells(&heads, &["text/event-stream"]);

    improve(&workshop);
    let mut line = next();
    while !line.contains("cycles: ") {
        line = next();
    }
    assert_eq!(
        line,
        "12 cycles: 5 cycles fewer (-29.4 %) than in the run before; 3 lines changed"
    );
    let mut event = String::new();
    while !event.starts_with("data:") {
        event.clear();
        waiting.read_line(&mut event).unwrap();
    }
    // What can't be run is told, and what can is run again: data count, too.
    let whole = workshop.read("design.futil");
    workshop.write("design.futil", "component main");
    wait_until("the error", || workshop.read("errors").contains("error:"));
    let (failed, _) = wait_for("the error on the page", || {
        let answer = ask(&link, "/error", &link, true);
        answer.0.contains("expected").then_some(answer)
    });
    tells(&failed, &["200 OK", "design.futil"]);
    workshop.write("design.futil", whole);
    assert!(next().starts_with("12 cycles: as many cycles"));
    let pid = Pid::from_raw(i32::try_from(running.0.id()).unwrap());
    kill(pid, Signal::SIGINT).unwrap();
    assert_eq!(running.0.wait().unwrap().code(), Some(130));
    assert!(!workshop.read("errors").contains("interrupted"));
    let (_, mended) = page.split_once("id=\"error\"").unwrap();
    tells(mended, &["role=\"alert\"", "hidden"]);
}

#[test]
fn what_does_not_change_can_not_be_run_again() {
    let workshop = with_loop();
    let said = workshop.ends(2, &["run", "-", "--on-change"]);
    tells(&said, &["standard input does not change"]);
}

#[test]
fn a_run_that_ended_early_is_not_compared() {
    let workshop = with_loop();
    workshop.succeeds(&["run", "design.futil", "-q"]);
    let stopped = workshop.succeeds(&["run", "design.futil", "--stop-on", "main.i.out == 1"]);
    tells(&stopped, &["not compared with the run before"]);
    assert!(!stopped.contains("compare --last"), "{stopped}");
    assert!(!stopped.contains("cycles fewer"), "{stopped}");
}
