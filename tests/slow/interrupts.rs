//! The user loses patience, or the system kills what petal needs: it stops soon, tells so and leaves
//! nothing, or what there is of the run if a partial one was asked for.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::support::simulators::{RECONSTRUCT, code, simulated};
use crate::support::workshop::{
    DESIGN, FOREVER, PETAL, Workshop, example, said, tells, wait_for, wait_until,
};

const RUN: [&str; 5] = ["run", "design.futil", "--out", "out", "-q"];

/// The same of a design that never ends.
const ENDLESS: [&str; 7] = [
    "run",
    "design.futil",
    "--out",
    "out",
    "--cycle-limit",
    FOREVER,
    "-q",
];

/// Waits until a process has a child whose command is this one.
fn child_of(parent: u32, command: &str) -> Pid {
    wait_for(command, || {
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .find_map(|process| {
                let status = fs::read_to_string(process.path().join("status")).ok()?;
                let field = |name: &str| {
                    let line = status.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap_or_default().trim().to_owned()
                };
                let is =
                    field("Name:").starts_with(command) && field("PPid:") == parent.to_string();
                is.then(|| Pid::from_raw(field("Pid:").parse().unwrap()))
            })
    })
}

/// The processor time that a process has taken, in hundredths of a second.
fn computed(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // Behind the name in brackets; user time is field 14.
    let mut fields = stat.rsplit(')').next().unwrap().split_whitespace();
    fields.nth(11).unwrap().parse().unwrap()
}

/// The file with this name below a folder.
fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    let paths = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    let mut paths = paths.collect::<Vec<_>>().into_iter();
    paths.find_map(|path| {
        if path.is_dir() {
            find(&path, name)
        } else {
            path.ends_with(name).then_some(path)
        }
    })
}

/// Waits until a command writes a waveform.
fn simulates(workshop: &Workshop) {
    wait_until("it simulates", || {
        let files = workshop.temporary().into_iter().flat_map(fs::read_dir);
        files.flatten().any(|file| {
            let metadata = file.and_then(|file| file.metadata());
            metadata.is_ok_and(|file| file.is_file() && file.len() > 10_000)
        })
    });
}

#[test]
fn a_simulator_that_is_killed() {
    let workshop = Workshop::endless();
    for vcd in [&[][..], &["--vcd", "wave.vcd"]] {
        let args = [&ENDLESS[..], &["--simulator", "verilator"], vcd].concat();
        let run = workshop.command(&args).spawn().unwrap();
        kill(child_of(run.id(), "simulation"), Signal::SIGKILL).unwrap();
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        tells(&said(&output), &["the simulation crashed", "SIGKILL"]);
        assert!(workshop.files("out").is_empty());
        assert!(!workshop.path("wave.vcd").exists());
    }
}

#[test]
fn a_command_that_is_killed_leaves_no_profile() {
    let workshop = Workshop::endless();
    let mut run = workshop.command(&ENDLESS).spawn().unwrap();
    wait_until("it has begun", || !workshop.temporary().is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(!workshop.path("out/summary.json").exists());
    let said = workshop.fails(&["stats", "out"]);
    tells(&said, &["no whole profile"]);
}

/// Starts a command as a shell does, in a process group of its own, and interrupts the group.
fn interrupted(workshop: &Workshop, args: &[&str], when: impl FnOnce(u32)) -> Output {
    let mut command = workshop.command(args);
    let run = command.process_group(0).spawn().unwrap();
    when(run.id());
    let group = Pid::from_raw(i32::try_from(run.id()).unwrap());
    let sent = Instant::now();
    // It may have ended meanwhile.
    let _ = killpg(group, Signal::SIGINT);
    let output = run.wait_with_output().unwrap();
    assert!(
        sent.elapsed() < Duration::from_secs(20),
        "it takes long to stop"
    );
    output
}

fn is_interrupted(workshop: &Workshop, output: &Output) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!(said, "error: interrupted\n");
    assert!(workshop.files("out").is_empty());
}

#[test]
fn an_interrupt_while_the_design_is_compiled() {
    let workshop = Workshop::new();
    let temporary = workshop.path("tmp");
    fs::create_dir(&temporary).unwrap();
    // The compiler takes minutes for it.
    let nested = format!("{}put;{}", "while on.out { ".repeat(20), "}".repeat(20));
    let design = DESIGN.replace("cells {", "cells { on = std_reg(1);");
    workshop.write("design.futil", design.replace("put; put;", &nested));
    let mut command = workshop.command(&RUN);
    let run = command.env("TMPDIR", &temporary).spawn().unwrap();
    wait_until("it compiles", || computed(run.id()) > 50);
    kill(
        Pid::from_raw(i32::try_from(run.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let sent = Instant::now();
    is_interrupted(&workshop, &run.wait_with_output().unwrap());
    assert!(
        sent.elapsed() < Duration::from_secs(10),
        "it takes long to stop"
    );
    assert!(workshop.files("tmp").is_empty());
}

#[test]
fn an_interrupt_while_verilator_builds() {
    let workshop = Workshop::endless();
    let temporary = workshop.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let run = [&ENDLESS[..], &["--simulator", "verilator"]].concat();
    // A terminal interrupts the group; others only petal.
    let group: fn(Pid) -> nix::Result<()> = |petal| killpg(petal, Signal::SIGINT);
    let alone: fn(Pid) -> nix::Result<()> = |petal| kill(petal, Signal::SIGTERM);
    for (args, send) in [(&run[..], group), (&run, alone), (&["doctor"], alone)] {
        // Nothing is built yet.
        let mut command = workshop.command(args);
        let run = command
            .env("XDG_CACHE_HOME", workshop.path("cache"))
            .env("TMPDIR", &temporary)
            .process_group(0)
            .spawn()
            .unwrap();
        child_of(run.id(), "g++");
        send(Pid::from_raw(run.id().cast_signed())).unwrap();
        let sent = Instant::now();
        is_interrupted(&workshop, &run.wait_with_output().unwrap());
        let took = sent.elapsed();
        assert!(took < Duration::from_secs(2), "{args:?}: {took:?}");
        assert!(workshop.files("tmp").is_empty(), "{args:?}");
    }
}

#[test]
fn an_interrupt_while_verilator_simulates() {
    let workshop = Workshop::endless();
    for vcd in [&[][..], &["--vcd", "wave.vcd"]] {
        let args = [&ENDLESS[..], &["--simulator", "verilator"], vcd].concat();
        let output = interrupted(&workshop, &args, |petal| {
            child_of(petal, "simulation");
        });
        is_interrupted(&workshop, &output);
        assert!(!workshop.path("wave.vcd").exists());
    }
}

#[test]
fn an_interrupt_while_a_waveform_is_read() {
    let (workshop, vcd, _) = simulated("embedded");
    let clock = code(&vcd, "clk").to_owned();
    // A run that goes on for ever, from a pipe.
    let done = format!("\n1{}\n", code(&vcd, "done"));
    let start = vcd.find(&done).unwrap();
    let start = vcd[..start].to_owned();
    fs::remove_file(workshop.path("wave.vcd")).unwrap();
    let pipe = workshop.path("wave.vcd");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let time: u64 = start
        .rsplit("\n#")
        .next()
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let cycles = Arc::new(AtomicUsize::new(0));
    let written_cycles = Arc::clone(&cycles);
    let writer = thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(pipe).unwrap();
        let mut written = pipe.write_all(start.as_bytes());
        let mut time = time - time % 10;
        while written.is_ok() {
            time += 10;
            let cycle = format!("\n#{time}\n0{clock}\n#{}\n1{clock}\n", time + 5);
            written = pipe.write_all(cycle.as_bytes());
            written_cycles.fetch_add(1, Ordering::Relaxed);
        }
    });
    let output = interrupted(&workshop, &RECONSTRUCT, |_| {
        // A pipe holds some thousand of them.
        wait_until("it reads", || cycles.load(Ordering::Relaxed) > 100_000);
    });
    writer.join().unwrap();
    is_interrupted(&workshop, &output);
}

#[test]
fn an_interrupt_at_any_moment() {
    let workshop = Workshop::new();
    let right = workshop.undisturbed(&RUN);
    // On machines of any speed, the last ones come too late.
    let mut milliseconds = 0;
    let mut ended = 0;
    while ended < 10 {
        milliseconds += 1 + milliseconds / 50;
        let output = interrupted(&workshop, &RUN, |_| {
            thread::sleep(Duration::from_millis(milliseconds));
        });
        match output.status.code() {
            Some(0) => {
                ended += 1;
                assert!(workshop.files("out") == right, "after {milliseconds} ms");
            }
            Some(130) => is_interrupted(&workshop, &output),
            // Before petal listens, the signal ends it.
            None => assert!(workshop.files("out").is_empty()),
            code => panic!("exit code {code:?} after {milliseconds} ms"),
        }
        let _ = fs::remove_dir_all(workshop.path("out"));
    }
}

#[test]
fn a_long_run_tells_a_terminal_how_far_it_is() {
    let workshop = Workshop::endless();
    // It gives petal a terminal, and hands on what petal writes there.
    let mut command = workshop.run("script");
    let petal = format!("exec {PETAL} {}", ENDLESS[..6].join(" "));
    command.args(["-qfec", &petal, "/dev/null"]);
    let mut run = command.env("TERM", "xterm").spawn().unwrap();
    let mut terminal = run.stdout.take().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 4096];
    let until = Instant::now() + Duration::from_secs(120);
    while !shown.contains(" a second, in main.") {
        assert!(Instant::now() < until, "{shown}");
        let count = terminal.read(&mut bytes).unwrap();
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    tells(&shown, &["simulating (", "cycle "]);
    kill(child_of(run.id(), "petal"), Signal::SIGINT).unwrap();
    terminal.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_run_that_is_interrupted() {
    let workshop = Workshop::endless();
    let output = interrupted(&workshop, &ENDLESS, |_| {
        wait_until("it has begun", || !workshop.temporary().is_empty());
    });
    is_interrupted(&workshop, &output);
    assert!(!workshop.path("out").exists(), "it left an empty folder");

    let partial = ["--partial", "--json", "--vcd", "wave.vcd"];
    let args = [&ENDLESS[..6], &partial].concat();
    let output = interrupted(&workshop, &args, |_| simulates(&workshop));
    assert!(output.status.success(), "{}", said(&output));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    tells(&summary["stopped"].to_string(), &["interrupted"]);
    assert!(summary["cycles"].as_u64().unwrap() > 100, "{summary}");
}

#[test]
fn an_interrupt_while_observations_are_drawn() {
    let workshop = Workshop::endless();
    let observed = ["--count", "main.*.writes", "--sample", "1"];
    let limits = ["--cycle-limit", "1500000", "--unverified"];
    let run = [&RUN[..], &observed, &limits].concat();
    let mut command = workshop.command(&run).spawn().unwrap();
    // The trace is whole then, and the timeline is not.
    let size = || {
        let mut staged = workshop.temporary().into_iter();
        let trace = staged.find_map(|dir| fs::metadata(find(&dir, "trace.petal")?).ok());
        trace.map_or(0, |trace| trace.len())
    };
    let mut before = 0;
    while before == 0 || before != size() {
        assert!(command.try_wait().unwrap().is_none(), "it has ended");
        before = size();
        // It is written in pieces.
        thread::sleep(Duration::from_millis(300));
    }
    kill(Pid::from_raw(command.id().cast_signed()), Signal::SIGTERM).unwrap();
    let sent = Instant::now();
    is_interrupted(&workshop, &command.wait_with_output().unwrap());
    assert!(
        sent.elapsed() < Duration::from_secs(1),
        "{:?}",
        sent.elapsed()
    );
    assert!(workshop.temporary().is_empty());
}

#[test]
fn nobody_reads_the_events() {
    let workshop = Workshop::endless();
    nix::unistd::mkfifo(&workshop.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let run = [&ENDLESS[..], &["--events", "pipe"]].concat();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // Nobody has opened it, or somebody who reads nothing.
        for opened in [false, true] {
            let reader = opened.then(|| {
                let mut options = fs::OpenOptions::new();
                options.read(true).write(true);
                let reader = options.open(workshop.path("pipe")).unwrap();
                nix::fcntl::fcntl(&reader, nix::fcntl::FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
                reader
            });
            let mut command = workshop.command(&run).spawn().unwrap();
            thread::sleep(Duration::from_secs(2));
            assert!(command.try_wait().unwrap().is_none());
            let asked = Instant::now();
            kill(Pid::from_raw(command.id().cast_signed()), signal).unwrap();
            assert_eq!(
                command.wait().unwrap().code(),
                Some(130),
                "{signal}, {opened}"
            );
            let took = asked.elapsed();
            assert!(
                took < Duration::from_secs(1),
                "{signal}, {opened}: {took:?}"
            );
            assert!(workshop.temporary().is_empty());
            drop(reader);
        }
    }
}

/// What saves cycles is told, though what it costs in time is not known yet.
#[test]
fn an_interrupt_while_advice_is_synthesised() {
    for stage in ["yosys", "nextpnr"] {
        let workshop = Workshop::empty();
        let design = example("while-comb.futil");
        let mut command =
            workshop.command(&["advise", &design, "--goal", "time", "--out", "out", "-q"]);
        let advise = command
            .env("XDG_CACHE_HOME", workshop.path("cache"))
            .process_group(0)
            .spawn()
            .unwrap();
        // The program is synthesised as it is, then with the first change.
        wait_until("the program is synthesised", || {
            // Only names: files come and go while it runs.
            let known = fs::read_dir(workshop.path("cache/petal"));
            let known = known.into_iter().flatten().flatten();
            known
                .filter(|file| file.file_name().to_string_lossy().contains("-report-"))
                .count()
                >= 3
        });
        child_of(advise.id(), stage);
        killpg(Pid::from_raw(advise.id().cast_signed()), Signal::SIGINT).unwrap();
        let output = advise.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{stage}");
        let told = String::from_utf8(output.stdout).unwrap();
        tells(
            &told,
            &[
                "4 (-76.5 %)",
                "interrupted: this is what was found until then",
            ],
        );
        assert!(!told.contains("LUT"), "{stage}: {told}");
        assert!(workshop.path("out/advice/all.patch").exists(), "{stage}");
    }
}
