//! What the world can do to a sweep: it is killed, interrupted, out of room, or looked at in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use petal_sweep::Row;

use crate::support::workshop::{Workshop, example, said, succeeds, tells, wait_until};
use crate::support::{chromium, python, root};

/// Runs of a loop with so many iterations, each of which takes a moment to generate.
const SWEEP: &str = r#"
[[design]]
name = "loop"
generate = '''sleep 0.1; sed "s/lt.right = 3'd3/lt.right = 3'd{times}/" design.futil'''
parameters = { times = [1, 2, 3, 4, 5, 6, 7] }
data = "design.futil.data"
passes = ["all", "no-opt"]
"#;

fn workshop() -> Workshop {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "while-comb.futil", &[]);
    workshop.write("sweep.toml", SWEEP);
    workshop
}

fn start(workshop: &Workshop) -> Child {
    let args = ["sweep", "sweep.toml", "--out", "out", "--jobs", "2"];
    workshop.command(&args).spawn().unwrap()
}

/// The sweep in the folder of examples: all of them, with five pipelines, on three data sets.
#[test]
fn the_examples_take_the_cycles_that_they_should() {
    let workshop = Workshop::empty();
    let sweep = example("sweep.toml");
    workshop.succeeds(&["sweep", &sweep, "--out", "out", "-q"]);
    let rows = rows(&workshop);
    let mut checked = 0;
    for row in rows.keys() {
        let row: Row = serde_json::from_str(&fs::read_to_string(row).unwrap()).unwrap();
        assert_eq!(row.error, None, "{}", row.name);
        let expected = fs::read_to_string(example(&format!("{}.futil.expect", row.name.design)));
        let expected: serde_json::Value = serde_json::from_str(&expected.unwrap()).unwrap();
        let cycles = &expected["cycles"][&row.name.passes];
        if row.name.data == "given" && !cycles.is_null() {
            assert_eq!(cycles, row.figures["cycles"], "{}", row.name);
            checked += 1;
        }
    }
    assert_eq!((rows.len(), checked), (16 * 5 * 3, 16 * 2));
}

/// The rows that are there.
fn rows(workshop: &Workshop) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let mut rows = BTreeMap::new();
    let mut folders = vec![workshop.path("out/rows")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("row.json") {
                let written = fs::metadata(&path).unwrap().modified().unwrap();
                rows.insert(path, written);
            }
        }
    }
    rows
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn a_sweep_that_is_killed_or_interrupted_goes_on_where_it_was() {
    let undisturbed = workshop();
    undisturbed.succeeds(&["sweep", "sweep.toml", "--out", "out", "-q"]);
    let workshop = workshop();
    let mut done: BTreeMap<PathBuf, _> = BTreeMap::new();
    // A command that is killed may leave something; so the one that is interrupted comes first.
    for signal in [Signal::SIGINT, Signal::SIGKILL, Signal::SIGKILL] {
        let child = start(&workshop);
        let before = done.len();
        wait_until("some runs are done", || rows(&workshop).len() >= before + 2);
        send(&child, signal);
        let output = child.wait_with_output().unwrap();
        if signal == Signal::SIGINT {
            assert_eq!(output.status.code(), Some(130));
            let told = [
                "of 14 runs are done; the same command goes on with the others",
                "interrupted",
            ];
            tells(&said(&output), &told);
            // Nothing of it goes on, nor is left.
            assert!(
                workshop.temporary().is_empty(),
                "{:?}",
                workshop.temporary()
            );
        }
        assert!(!workshop.path("out/sweep.html").exists());
        let now = rows(&workshop);
        for (row, written) in &done {
            assert_eq!(now[row], *written, "{} was done twice", row.display());
        }
        done = now;
    }
    assert!(done.len() < 14, "nothing was left to do");
    // As one leaves it that is killed right after its row was written.
    let written = done.keys().next().unwrap();
    fs::create_dir(written.with_file_name(".petal-tmp-AbC123")).unwrap();
    workshop.succeeds(&["sweep", "sweep.toml", "--out", "out", "-q"]);
    let now = rows(&workshop);
    assert!(done.iter().all(|(row, written)| now[row] == *written));
    assert_eq!(now.len(), 14);
    assert!(
        workshop.files("out") == undisturbed.files("out"),
        "other files than without a break"
    );
}

#[test]
fn two_commands_at_one_sweep_do_each_run_once() {
    let workshop = workshop();
    let both = [start(&workshop), start(&workshop)];
    for child in both {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
    let undisturbed = self::workshop();
    undisturbed.succeeds(&["sweep", "sweep.toml", "--out", "out", "-q"]);
    assert!(workshop.files("out") == undisturbed.files("out"));
}

#[test]
fn a_disk_that_is_full_ends_no_sweep_for_good() {
    let workshop = workshop();
    // In blocks of 512 bytes: too few for a report, for a row, and for anything.
    for blocks in [150, 1, 0] {
        let args = ["sweep", "sweep.toml", "--out", "out", "-q"];
        let output = workshop
            .after(&format!("ulimit -f {blocks}"), &args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).starts_with("error: "), "{}", said(&output));
        if blocks == 150 {
            tells(&said(&output), &["14 runs failed"]);
            let row = rows(&workshop).into_keys().next().unwrap();
            tells(&fs::read_to_string(row).unwrap(), &["File too large"]);
        }
    }
    workshop.succeeds(&["sweep", "sweep.toml", "--out", "out", "-q"]);
    let undisturbed = self::workshop();
    undisturbed.succeeds(&["sweep", "sweep.toml", "--out", "out", "-q"]);
    assert!(workshop.files("out") == undisturbed.files("out"));
}

#[test]
fn the_page_of_a_sweep_works_in_a_browser() {
    let workshop = workshop();
    let hostile =
        "[[design]]\nfiles = \"missing.futil\"\nname = \"</script><img src=x onerror=alert(1)>\"\n";
    workshop.write(
        "sweep.toml",
        format!("{}{hostile}", SWEEP.replace("sleep 0.1; ", "")),
    );
    workshop.write(
        "missing.futil",
        "component main() -> () { cells {} wires {} control { nothing; } }",
    );
    workshop.ends(1, &["sweep", "sweep.toml", "--out", "out", "-q"]);
    succeeds(
        Command::new(python())
            .arg(root().join("tests/slow/check_sweep.py"))
            .arg(chromium())
            .arg(workshop.dir.path()),
    );
}

#[test]
fn nothing_outlives_a_sweep_that_is_killed() {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "while-comb.futil", &[]);
    workshop.write(
        "sweep.toml",
        "[[design]]\nname = \"slow\"\ngenerate = \"sleep 300 & echo $! $$ > children; wait\"\n",
    );
    let mut child = start(&workshop);
    wait_until("the command runs", || {
        fs::read_to_string(workshop.path("children")).is_ok_and(|text| text.ends_with('\n'))
    });
    // The guard of the sweep hears of a command when it has begun.
    thread::sleep(Duration::from_millis(300));
    send(&child, Signal::SIGKILL);
    child.wait().unwrap();
    let children = workshop.read("children");
    let children: Vec<i32> = children
        .split_whitespace()
        .map(|id| id.parse().unwrap())
        .collect();
    assert_eq!(children.len(), 2);
    // One that has ended may wait for whoever adopted it.
    let has_ended = |id: &i32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat"));
        stat.is_ok_and(|stat| {
            let state = stat.rsplit(')').next();
            state.is_some_and(|state| state.trim_start().starts_with('Z'))
        })
    };
    wait_until("its children are gone", || {
        children
            .iter()
            .all(|id| kill(Pid::from_raw(*id), None).is_err() || has_ended(id))
    });
}
