//! What becomes of a profile when the world is against it: the disk is full, the simulator dies, the
//! waveform is cut or odd, the user loses patience. Each time a clear error or the right result; never
//! another profile, and never a part of one that looks whole.

#[path = "support/workshop.rs"]
mod workshop;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use workshop::{DESIGN, Files, Workshop, endless, tells};

const RUN: [&str; 5] = ["run", "design.futil", "--out", "out", "-q"];
const RECONSTRUCT: [&str; 6] = [
    "reconstruct",
    "kept/metadata.json",
    "wave.vcd",
    "--out",
    "out",
    "-q",
];

/// The profile that an undisturbed run makes.
fn undisturbed(workshop: &Workshop, args: &[&str]) -> Files {
    workshop.succeeds(args);
    let files = workshop.profile("out").expect("it is whole");
    fs::remove_dir_all(workshop.path("out")).unwrap();
    files
}

/// Fails unless a command made the right profile, or told an error and made none.
fn is_right_or_told(workshop: &Workshop, output: &Output, right: &Files, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{what}: {said}");
    if output.status.success() {
        assert!(workshop.files("out") == *right, "{what}: another profile");
    } else {
        assert_eq!(output.status.code(), Some(1), "{what}: {said}");
        assert!(said.starts_with("error: "), "{what}: {said}");
        assert_eq!(workshop.profile("out"), None, "{what}: a whole profile");
    }
}

/// A command in a shell that does `before` first.
fn after(workshop: &Workshop, before: &str, args: &[&str]) -> Command {
    let petal = workshop.command(args);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{before}; exec \"$@\""), "sh"])
        .arg(petal.get_program())
        .args(args)
        .current_dir(workshop.dir.path())
        .envs(
            petal
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    command
}

#[test]
fn a_disk_that_is_full_at_any_byte() {
    let workshop = Workshop::new();
    let args = [&RUN[..], &["--vcd", "wave.vcd"]].concat();
    let right = undisturbed(&workshop, &args);
    let vcd = fs::read(workshop.path("wave.vcd")).unwrap();
    let mut failed = 0;
    // In blocks of 512 bytes; the largest file is the report, of some 130.
    for blocks in (0..200).step_by(5) {
        let _ = fs::remove_dir_all(workshop.path("out"));
        let _ = fs::remove_file(workshop.path("wave.vcd"));
        let limit = format!("ulimit -f {blocks}");
        let output = after(&workshop, &limit, &args).output().unwrap();
        is_right_or_told(&workshop, &output, &right, &limit);
        if output.status.success() {
            assert_eq!(fs::read(workshop.path("wave.vcd")).unwrap(), vcd);
        } else {
            failed += 1;
            assert!(!workshop.path("wave.vcd").exists(), "{limit}");
            assert!(!workshop.path("out").exists(), "{limit}: an empty folder");
            tells(
                &String::from_utf8_lossy(&output.stderr),
                &["File too large"],
            );
        }
    }
    assert!((5..35).contains(&failed), "{failed} of 40 runs failed");
}

#[test]
fn a_disk_that_is_full() {
    let workshop = Workshop::new();
    let right = undisturbed(&workshop, &RUN);
    fs::create_dir(workshop.path("out")).unwrap();
    for kilobytes in [4, 16, 24, 32, 40, 1024] {
        let small = format!("mount -t tmpfs -o size={kilobytes}k none out");
        let checked = "\"$@\"; code=$?; cp -R out copy; exit $code";
        let _ = fs::remove_dir_all(workshop.path("copy"));
        let petal = env!("CARGO_BIN_EXE_petal");
        let output = Command::new("unshare")
            .args([
                "-rm",
                "sh",
                "-c",
                &format!("{small} || exit 77; {checked}"),
                "sh",
                petal,
            ])
            .args(RUN)
            .current_dir(workshop.dir.path())
            .output();
        match output {
            Ok(output) if output.status.code() != Some(77) => {
                let said = String::from_utf8_lossy(&output.stderr);
                if output.status.success() {
                    assert!(workshop.files("copy") == right, "{kilobytes} KB");
                } else {
                    tells(&said, &["error: ", "No space left on device"]);
                    assert_eq!(workshop.profile("copy"), None, "{kilobytes} KB");
                }
                assert_eq!(output.status.success(), kilobytes == 1024, "{said}");
            }
            // A container may not mount.
            _ => return,
        }
    }
}

#[test]
fn standard_output_that_is_full() {
    let workshop = Workshop::new();
    let full = after(
        &workshop,
        "exec >/dev/full",
        &["run", "design.futil", "--out", "out"],
    )
    .output()
    .unwrap();
    assert_eq!(full.status.code(), Some(1));
    tells(
        &String::from_utf8_lossy(&full.stderr),
        &["standard output", "No space left"],
    );
    // Without data there is a note to tell.
    fs::remove_file(workshop.path("design.futil.data")).unwrap();
    let deaf = after(
        &workshop,
        "exec 2>/dev/full",
        &["run", "design.futil", "--out", "out"],
    )
    .output()
    .unwrap();
    assert_eq!(deaf.status.code(), Some(0));
    let deaf = after(&workshop, "exec 2>/dev/full", &["run", "none.futil"])
        .output()
        .unwrap();
    assert_eq!(deaf.status.code(), Some(1));
}

#[test]
fn places_that_cannot_be_written() {
    let workshop = Workshop::new();
    workshop.write("file", "");
    for (args, parts) in [
        (
            &["--out", "/proc/petal"][..],
            &["create the output folder", "/proc/petal"][..],
        ),
        (
            &["--out", "out", "--vcd", "/proc/petal.vcd"],
            &["write /proc/petal.vcd"],
        ),
        (
            &["--out", "out", "--vcd", "file/wave.vcd"],
            &["write file/wave.vcd", "Not a directory"],
        ),
        (
            &["--out", "out", "--vcd", "none/wave.vcd"],
            &["write none/wave.vcd", "No such file"],
        ),
        (
            &["--out", "file"],
            &["create the output folder file", "exists"],
        ),
    ] {
        let said = workshop.fails(&[&["run", "design.futil"], args].concat());
        tells(&said, parts);
    }
    let said = workshop.fails(&[
        "instrument",
        "design.futil",
        "--verilog",
        "design.sv",
        "--metadata",
        "none/metadata.json",
    ]);
    tells(&said, &["write none/metadata.json"]);
    assert!(!workshop.path("design.sv").exists(), "half of the result");
}

#[test]
fn places_that_are_something_else() {
    let workshop = Workshop::new();
    let right = undisturbed(&workshop, &RUN);
    let pipe = workshop.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let said = workshop.fails(&[&RUN[..], &["--vcd", "pipe"]].concat());
    tells(&said, &["pipe", "no regular file"]);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());

    workshop.succeeds(&RUN);
    fs::remove_file(workshop.path("out/flame.svg")).unwrap();
    fs::create_dir(workshop.path("out/flame.svg")).unwrap();
    let before = workshop.files("out");
    let output = workshop.petal(&[&RUN[..], &["--passes", "no-opt"]].concat());
    assert_eq!(output.status.code(), Some(1));
    tells(
        &String::from_utf8_lossy(&output.stderr),
        &["out/flame.svg is a folder"],
    );
    assert!(workshop.files("out") == before, "what was there is lost");
    fs::remove_dir_all(workshop.path("out")).unwrap();

    // What only the profile from before has does not stay.
    workshop.succeeds(&RUN);
    workshop.succeeds(&[&RUN[..], &["--vcd", "wave.vcd"]].concat());
    fs::rename(workshop.path("out"), workshop.path("kept")).unwrap();
    workshop.succeeds(&RUN);
    workshop.succeeds(&RECONSTRUCT);
    let reconstructed = workshop.files("out");
    assert!(right.contains_key(Path::new("memories.json")));
    assert!(!reconstructed.contains_key(Path::new("memories.json")));
}

#[test]
fn symbolic_links_lead_nobody_elsewhere() {
    let workshop = Workshop::new();
    let right = undisturbed(&workshop, &RUN);
    fs::create_dir_all(workshop.path("elsewhere")).unwrap();

    // Every output is a link to a file elsewhere: those of another profile.
    fs::create_dir_all(workshop.path("out/stats")).unwrap();
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--out",
        "other",
        "--passes",
        "no-opt",
        "-q",
    ]);
    for name in right.keys() {
        let file = workshop.path("elsewhere").join(name.file_name().unwrap());
        fs::copy(workshop.path("other").join(name), &file).unwrap();
        symlink(&file, workshop.path("out").join(name)).unwrap();
    }
    workshop.write("elsewhere/wave.vcd", "mine");
    symlink(
        workshop.path("elsewhere/wave.vcd"),
        workshop.path("wave.vcd"),
    )
    .unwrap();
    workshop.write("elsewhere/verilator.log", "mine");
    let before = workshop.files("elsewhere");
    let untouched = |what: &str| assert!(workshop.files("elsewhere") == before, "{what}");
    workshop.succeeds(&[&RUN[..], &["--vcd", "wave.vcd"]].concat());
    untouched("a link to a file");
    assert!(workshop.files("out") == right, "the links are replaced");

    // A folder of outputs is a link.
    fs::remove_dir_all(workshop.path("out/stats")).unwrap();
    symlink(workshop.path("elsewhere"), workshop.path("out/stats")).unwrap();
    let output = workshop.petal(&RUN);
    assert_eq!(output.status.code(), Some(1));
    tells(
        &String::from_utf8_lossy(&output.stderr),
        &["out/stats is a symbolic link"],
    );
    untouched("a link to a folder");

    // Verilator's log.
    fs::remove_dir_all(workshop.path("out")).unwrap();
    workshop.succeeds(&RUN);
    symlink(
        workshop.path("elsewhere/verilator.log"),
        workshop.path("out/verilator.log"),
    )
    .unwrap();
    let broken = "primitive broken(in: 8) -> (out: 8) { assign out = in +; }\ncomponent main";
    let cell = "b = broken(); @external mem";
    let design = DESIGN
        .replace("component main", broken)
        .replace("@external mem", cell);
    workshop.write(
        "broken.futil",
        design.replace("= 8'd5;", "= b.out; b.in = 8'd5;"),
    );
    workshop.write("broken.futil.data", workshop::DATA);
    let output = workshop.petal(&["run", "broken.futil", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1));
    tells(&String::from_utf8_lossy(&output.stderr), &["syntax error"]);
    untouched("a link in the place of the log");
    let log = fs::symlink_metadata(workshop.path("out/verilator.log"));
    assert!(log.unwrap().is_file());

    // The output folder itself may be a link.
    fs::remove_dir_all(workshop.path("out")).unwrap();
    fs::create_dir(workshop.path("real")).unwrap();
    symlink(workshop.path("real"), workshop.path("out")).unwrap();
    workshop.succeeds(&RUN);
    assert!(workshop.files("real") == right);
}

#[test]
fn two_runs_that_share_a_folder() {
    let workshop = Workshop::new();
    // Of different length, so that no file is the same.
    let four = DESIGN.replace("seq { put; put; }", "seq { put; put; put; put; }");
    workshop.write("other.futil", four);
    workshop.write("other.futil.data", workshop::DATA);
    let other = ["run", "other.futil", "--out", "out", "-q"];
    let profiles = [undisturbed(&workshop, &RUN), undisturbed(&workshop, &other)];
    let mut won = [0, 0];
    for round in 0..30 {
        let mut running: Vec<_> = (0..4)
            .map(|at| {
                let args = if at % 2 == round % 2 { RUN } else { other };
                workshop.command(&args).spawn().unwrap()
            })
            .collect();
        // Outputs of a profile that is being replaced.
        workshop.petal(&["flame", "out"]);
        for run in &mut running {
            assert!(run.wait().unwrap().success());
        }
        let files = workshop.files("out");
        let winner = profiles.iter().position(|profile| *profile == files);
        won[winner.expect("the files of two runs are mixed")] += 1;
    }
    println!("{won:?}");
}

/// Waits until a process has a child whose command is this one.
fn child_of(parent: u32, command: &str) -> Pid {
    let until = Instant::now() + Duration::from_secs(100);
    while Instant::now() < until {
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let status = fs::read_to_string(process.path().join("status")).unwrap_or_default();
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_default().trim().to_owned()
            };
            if field("Name:").starts_with(command) && field("PPid:") == parent.to_string() {
                return Pid::from_raw(field("Pid:").parse().unwrap());
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("nobody started {command}");
}

#[test]
fn a_simulator_that_is_killed() {
    let workshop = endless();
    for vcd in [&[][..], &["--vcd", "wave.vcd"]] {
        let args = [&RUN[..], &["--simulator", "verilator"], vcd].concat();
        let run = workshop.command(&args).spawn().unwrap();
        kill(child_of(run.id(), "simulation"), Signal::SIGKILL).unwrap();
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        tells(
            &String::from_utf8_lossy(&output.stderr),
            &["the simulation crashed", "SIGKILL"],
        );
        assert!(workshop.files("out").is_empty());
        assert!(!workshop.path("wave.vcd").exists());
    }
}

#[test]
fn a_command_that_is_killed_leaves_no_profile() {
    let workshop = endless();
    let mut run = workshop.command(&RUN).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(!workshop.path("out/summary.json").exists());
    let said = workshop.fails(&["stats", "out"]);
    tells(&said, &["no whole profile"]);
}

/// An instrumented design that was simulated: its waveform is `wave.vcd`, its profile is in `kept`.
fn simulated(simulator: &str) -> (Workshop, Vec<u8>, Files) {
    let workshop = Workshop::new();
    workshop.succeeds(&[
        "run",
        "design.futil",
        "--simulator",
        simulator,
        "--out",
        "kept",
        "--vcd",
        "wave.vcd",
        "-q",
    ]);
    let vcd = fs::read(workshop.path("wave.vcd")).unwrap();
    let right = undisturbed(&workshop, &RECONSTRUCT);
    (workshop, vcd, right)
}

#[test]
fn a_waveform_that_is_cut() {
    for simulator in ["embedded", "verilator"] {
        let (workshop, vcd, right) = simulated(simulator);
        for percent in 0..100 {
            workshop.write("wave.vcd", &vcd[..vcd.len() * percent / 100]);
            let output = workshop.petal(&RECONSTRUCT);
            let what = format!("{simulator} cut at {percent} %");
            is_right_or_told(&workshop, &output, &right, &what);
            if !output.status.success() {
                tells(
                    &String::from_utf8_lossy(&output.stderr),
                    &["wave.vcd", "simulate"],
                );
            }
            let _ = fs::remove_dir_all(workshop.path("out"));
        }
    }
}

/// The first probe of the design.
const PROBE: &str = "petal_ga_0_in";

/// The code of a signal in a waveform.
fn code<'a>(vcd: &'a str, name: &str) -> &'a str {
    let mut words = vcd.lines().map(str::split_whitespace);
    let declared = words.find(|words| words.clone().nth(4) == Some(name));
    declared.unwrap().nth(3).unwrap()
}

#[test]
fn a_waveform_with_an_odd_clock() {
    let (workshop, vcd, right) = simulated("embedded");
    let vcd = String::from_utf8(vcd).unwrap();
    let clock = code(&vcd, "clk");
    let (high, low) = (format!("\n1{clock}\n"), format!("\n0{clock}\n"));
    let edges = vcd.matches(&high).count();
    let mut told = 0;
    for at in 0..edges {
        let (start, _) = vcd.match_indices(&high).nth(at).unwrap();
        let (before, edge) = vcd.split_at(start);
        let edge = &edge[high.len()..];
        let line = before.rsplit("\n#").next().unwrap().lines().next();
        let time: u64 = line.unwrap().parse().unwrap();
        for (what, changed) in [
            ("missing", format!("{before}\n{edge}")),
            (
                "twice at one time",
                format!("{before}{high}0{clock}{high}{edge}"),
            ),
            ("x", format!("{before}\nx{clock}\n{edge}")),
            (
                "one too many",
                format!("{before}{high}#{}{low}#{}{high}{edge}", time + 1, time + 2),
            ),
        ] {
            workshop.write("wave.vcd", &changed);
            let output = workshop.petal(&RECONSTRUCT);
            is_right_or_told(&workshop, &output, &right, &format!("edge {at} {what}"));
            told += usize::from(!output.status.success());
            let _ = fs::remove_dir_all(workshop.path("out"));
        }
    }
    // Before the run and after it, nobody minds.
    assert!(told >= 4 * 3, "{told} of {} were told", 4 * edges);

    workshop.write("wave.vcd", vcd.replace(&high, "\n"));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "after 0 cycles"],
    );
    workshop.write("wave.vcd", vcd.replace(" clk $end", " clock $end"));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "toplevel.main.clk"],
    );
}

#[test]
fn a_waveform_with_unknown_values() {
    let (workshop, vcd, _) = simulated("embedded");
    let vcd = String::from_utf8(vcd).unwrap();
    let high = |name| format!("\n1{}\n", code(&vcd, name));
    for unknown in ["x", "z"] {
        let changed = high(PROBE).replace('1', unknown);
        workshop.write("wave.vcd", vcd.replace(&high(PROBE), &changed));
        let summary = workshop.succeeds(&[&RECONSTRUCT[..5], &["--json"]].concat());
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let told = summary["warnings"].to_string();
        tells(&told, &[PROBE, "x or z", "taken as 0"]);
        let text = workshop.succeeds(&RECONSTRUCT[..5]);
        tells(&text, &[PROBE, "x or z"]);
    }
    fs::remove_dir_all(workshop.path("out")).unwrap();
    let changed = high("done").replace('1', "x");
    workshop.write("wave.vcd", vcd.replace(&high("done"), &changed));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "`done` is x or z"],
    );
}

#[test]
fn a_waveform_that_is_done_at_once() {
    let (workshop, vcd, _) = simulated("embedded");
    let vcd = String::from_utf8(vcd).unwrap();
    let low = format!("\n0{}\n", code(&vcd, "done"));
    assert!(vcd.contains(&low));
    workshop.write("wave.vcd", vcd.replacen(&low, &low.replace('0', "1"), 1));
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "`done` is high in cycle 0", "reset"],
    );
}

#[test]
fn a_waveform_with_the_probes_of_another_design() {
    let (workshop, vcd, _) = simulated("embedded");
    let vcd = String::from_utf8(vcd).unwrap();
    let other = vcd.replace("petal_run_", "petal_run_0");
    assert_ne!(other, vcd);
    workshop.write("wave.vcd", other);
    tells(
        &workshop.fails(&RECONSTRUCT),
        &["wave.vcd", "different builds"],
    );
    workshop.write("wave.vcd", vcd.replace(PROBE, "petal_ga_99_in"));
    let lacks = ["wave.vcd", "lacks 1 of", PROBE];
    tells(&workshop.fails(&RECONSTRUCT), &lacks);
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
    let said = String::from_utf8_lossy(&output.stderr);
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
    thread::sleep(Duration::from_millis(1500));
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
    let workshop = endless();
    let mut args = RUN.to_vec();
    args.extend(["--simulator", "verilator"]);
    // Nothing is built yet.
    let cache = workshop.path("cache");
    let mut command = workshop.command(&args);
    let run = command
        .env("XDG_CACHE_HOME", &cache)
        .process_group(0)
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(1500));
    let group = Pid::from_raw(i32::try_from(run.id()).unwrap());
    killpg(group, Signal::SIGINT).unwrap();
    is_interrupted(&workshop, &run.wait_with_output().unwrap());
}

#[test]
fn an_interrupt_while_verilator_simulates() {
    let workshop = endless();
    for vcd in [&[][..], &["--vcd", "wave.vcd"]] {
        let args = [&RUN[..], &["--simulator", "verilator"], vcd].concat();
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
    let vcd = String::from_utf8(vcd).unwrap();
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
    let writer = thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(pipe).unwrap();
        let mut written = pipe.write_all(start.as_bytes());
        let mut time = time - time % 10;
        while written.is_ok() {
            time += 10;
            let cycle = format!("\n#{time}\n0{clock}\n#{}\n1{clock}\n", time + 5);
            written = pipe.write_all(cycle.as_bytes());
        }
    });
    let output = interrupted(&workshop, &RECONSTRUCT, |_| {
        thread::sleep(Duration::from_millis(500));
    });
    writer.join().unwrap();
    is_interrupted(&workshop, &output);
}

#[test]
fn an_interrupt_at_any_moment() {
    let workshop = Workshop::new();
    let right = undisturbed(&workshop, &RUN);
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
