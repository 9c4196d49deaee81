//! The processes of a sweep: what they may take, and that they end with it.

use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::rows;
use crate::support::workshop::{Workshop, said, tells, wait_until};

#[test]
fn a_run_that_takes_too_much_memory_is_ended() {
    let workshop = Workshop::endless();
    workshop.write(
        "s.toml",
        "memory = \"1K\"\n[[design]]\nname = \"big\"\ngenerate = \"x=$(head -c 9000000 /dev/zero | tr '\\\\0' a); sleep 60; echo $x\"\n",
    );
    workshop.ends(1, &["sweep", "s.toml", "--out", "out"]);
    let rows = rows(&workshop, "out");
    let error = rows["big / all / default"].error.clone().unwrap();
    tells(
        &error,
        &["took more than 1024 bytes of memory (`memory` of the sweep)"],
    );
}

#[test]
fn what_is_generated_takes_no_memory_of_the_sweep() {
    let workshop = Workshop::new();
    let sets = (0..4).map(|set| {
        format!("{{ name = \"{set}\", generate = \"echo {set}; head -c 25000000 /dev/zero\" }}")
    });
    let sets = sets.collect::<Vec<_>>().join(", ");
    workshop.write(
        "s.toml",
        format!("data = [{sets}]\n[[design]]\nfiles = \"design.futil\"\n"),
    );
    let mut sweep = start(&workshop);
    let mut most = 0;
    while sweep.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", sweep.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.split_whitespace().next());
        most = most.max(peak.map_or(0, |peak| peak.parse::<u64>().unwrap()));
        sleep(Duration::from_millis(5));
    }
    assert!(0 < most && most < 80_000, "{most} kB");
    // Nor is more kept than a run may take.
    let text = workshop.read("s.toml");
    workshop.write("s.toml", format!("memory = \"20M\"\n{text}"));
    let said = said(&start(&workshop).wait_with_output().unwrap());
    tells(&said, &["4 runs failed"]);
    for (name, row) in rows(&workshop, "out") {
        tells(
            &row.error.unwrap(),
            &["by `echo", "it printed more than 20"],
        );
        assert!(name.starts_with("design"));
    }
}

#[test]
fn one_signal_ends_a_sweep_within_a_second() {
    let workshop = Workshop::empty();
    let command = "trap '' TERM INT; echo $$ > started; sleep 60";
    workshop.write(
        "s.toml",
        format!("[[design]]\nname = \"x\"\ngenerate = \"{command}\"\n"),
    );
    let first = start(&workshop);
    wait_until("the generator runs", || workshop.path("started").exists());
    // This one waits for the first.
    let second = start(&workshop);
    sleep(Duration::from_millis(500));
    for (sweep, signal) in [(second, Signal::SIGTERM), (first, Signal::SIGINT)] {
        kill(Pid::from_raw(i32::try_from(sweep.id()).unwrap()), signal).unwrap();
        let sent = Instant::now();
        let output = sweep.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", said(&output));
        // The machine may be busy.
        assert!(sent.elapsed() < Duration::from_millis(1500), "{signal}");
    }
}

fn start(workshop: &Workshop) -> Child {
    let args = ["sweep", "s.toml", "--out", "out", "--jobs", "2"];
    workshop.command(&args).spawn().unwrap()
}
