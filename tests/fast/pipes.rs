//! Inputs that are no files: petal waits for none that never comes, and reads what a shell hands over.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::workshop::{PETAL, Workshop, example, said, tells};

/// Runs petal, which must not wait for what never comes.
fn at_once(workshop: &Workshop, args: &[&str]) -> Output {
    let mut command = workshop.command(args);
    let run = command.stdin(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(run.id()).unwrap());
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        let late = waiting.recv_timeout(Duration::from_secs(60)).is_err();
        if late {
            let _ = kill(pid, Signal::SIGKILL);
        }
        late
    });
    let output = run.wait_with_output().unwrap();
    let _ = done.send(());
    assert!(!watch.join().unwrap(), "petal {args:?} waits for ever");
    output
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let workshop = Workshop::everything();
    let inputs: [(&[&str], &str); 12] = [
        (&["run", "parts.futil", "--out", "out"], "parts.futil"),
        (&["run", "parts.futil", "--out", "out"], "part.futil"),
        (&["run", "parts.futil", "--out", "out"], "own.sv"),
        (
            &["run", "design.futil", "--out", "out"],
            "design.futil.data",
        ),
        (
            &[
                "run",
                "design.futil",
                "--data",
                "other.json",
                "--out",
                "out",
            ],
            "other.json",
        ),
        (
            &[
                "instrument",
                "design.futil",
                "--verilog",
                "v.sv",
                "--metadata",
                "m.json",
            ],
            "design.futil",
        ),
        (
            &["reconstruct", "metadata.json", "wave.vcd", "--out", "out"],
            "metadata.json",
        ),
        (&["compare", "base.json", "kept"], "base.json"),
        (&["compare", "kept", "design.futil"], "design.futil"),
        (&["stats", "kept"], "kept/metadata.json"),
        (&["stats", "kept"], "kept/trace.petal"),
        (&["stats", "kept"], "kept/summary.json"),
    ];
    for (args, input) in inputs {
        let place = workshop.path(input);
        let file = fs::read(&place).unwrap();
        for kind in ["FIFO", "device", "directory"] {
            // To `compare`, a folder is a profile.
            if kind == "directory" && args[0] == "compare" {
                continue;
            }
            fs::remove_file(&place).unwrap();
            match kind {
                "FIFO" => {
                    let made = Command::new("mkfifo").arg(&place).status();
                    assert!(made.unwrap().success());
                }
                "device" => symlink("/dev/zero", &place).unwrap(),
                _ => fs::create_dir(&place).unwrap(),
            }
            let output = at_once(&workshop, args);
            let said = said(&output);
            let named = [input, kind];
            assert_eq!(output.status.code(), Some(1), "{args:?}, {kind}: {said}");
            // An import is told by what it is a link to.
            let linked = kind == "device" && ["part.futil", "own.sv"].contains(&input);
            tells(&said, if linked { &["/dev/zero"] } else { &named });
            assert!(!workshop.path("out").exists(), "{args:?}, {kind}");
            match kind {
                "directory" => fs::remove_dir(&place).unwrap(),
                _ => fs::remove_file(&place).unwrap(),
            }
            fs::write(&place, &file).unwrap();
        }
    }
    let output = at_once(
        &workshop,
        &["reconstruct", "metadata.json", "/dev/zero", "--out", "out"],
    );
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["/dev/zero", "device"]);
}

#[test]
fn what_a_shell_hands_over_is_read() {
    let workshop = Workshop::everything();
    let script = r#"
        set -e
        "$0" run design.futil -q --out data --data <(cat other.json)
        "$0" run design.futil -q --out stdin --data /dev/stdin < other.json
        "$0" reconstruct <(cat metadata.json) <(cat wave.vcd) -q --out wave
        "$0" compare <(cat base.json) data
    "#;
    let output = Command::new("bash")
        .args(["-c", script, PETAL])
        .current_dir(workshop.dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    for out in ["data", "stdin", "wave"] {
        assert!(workshop.profile(out).is_some(), "{out}");
    }
}

#[test]
fn a_waveform_may_come_through_a_pipe() {
    let workshop = Workshop::everything();
    let made = Command::new("mkfifo")
        .arg(workshop.path("pipe.vcd"))
        .status();
    assert!(made.unwrap().success());
    let reconstruct = ["reconstruct", "metadata.json", "pipe.vcd", "--out", "out"];
    // Nobody writes to it, which the user is told and can end.
    let mut run = workshop.command(&reconstruct).spawn().unwrap();
    let mut stderr = BufReader::new(run.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    tells(&said, &["waiting for", "pipe.vcd"]);
    kill(
        Pid::from_raw(i32::try_from(run.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let sent = Instant::now();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(10));
    tells(&said, &["interrupted"]);
    assert!(!workshop.path("out").exists());

    let run = workshop.command(&reconstruct).spawn().unwrap();
    fs::write(
        workshop.path("pipe.vcd"),
        fs::read(workshop.path("wave.vcd")).unwrap(),
    )
    .unwrap();
    assert!(run.wait_with_output().unwrap().status.success());
    assert!(workshop.profile("out").is_some());
}

#[test]
fn a_full_disk_is_that_of_the_events() {
    let workshop = Workshop::new();
    let said = workshop.ends(
        1,
        &[
            "run",
            "design.futil",
            "--out",
            "out",
            "--events",
            "/dev/full",
        ],
    );
    tells(&said, &["cannot write /dev/full: No space left on device"]);
    assert!(workshop.files("out").is_empty());
}

#[test]
fn a_full_disk_is_that_of_the_timelines() {
    let workshop = Workshop::everything();
    let before = workshop.files("kept");
    let mut timeline = workshop.after("ulimit -f 0", &["timeline", "kept"]);
    let said = said(&timeline.output().unwrap());
    tells(&said, &["cannot write timelines to kept: File too large"]);
    assert!(workshop.files("kept") == before);
}

#[test]
fn a_trace_that_nobody_reads_is_not_gone_through() {
    let workshop = Workshop::empty();
    // Long enough for a trace of several blocks.
    let design = example("packet-scheduler.futil");
    let limits = ["--cycle-limit", "200000", "--partial"];
    workshop.succeeds(&[&["run", &design, "-q", "--out", "kept"][..], &limits].concat());
    // To go on to the end would be an error.
    let path = workshop.path("kept/trace.petal");
    let trace = fs::read(&path).unwrap();
    fs::write(&path, &trace[..trace.len() - 1]).unwrap();
    let whole = workshop.petal(&["trace", "kept"]);
    assert!(!whole.status.success() && !whole.stdout.is_empty());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = workshop.command(&["trace", "kept"]);
    let output = command.stdout(writer).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}
