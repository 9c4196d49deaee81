//! A profile is replaced as a whole or not at all, whenever the command is killed, and what a killed
//! command leaves, the next one removes.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::workshop::{DESIGN, FOREVER, Files, Workshop, wait_until};

#[test]
fn the_next_run_removes_what_killed_ones_leave() {
    let workshop = Workshop::endless();
    for folder in ["tmp", "out"] {
        fs::create_dir(workshop.path(folder)).unwrap();
    }
    let start = || {
        let mut command = workshop.command(&[
            "run",
            "design.futil",
            "-q",
            "--cycle-limit",
            FOREVER,
            "--out",
            "out",
            "--vcd",
            "wave.vcd",
        ]);
        command.env("TMPDIR", workshop.path("tmp")).spawn().unwrap()
    };
    let mut living = start();
    // The library, the profile and the waveform.
    let all = |count| move |found: Vec<PathBuf>| found.len() == count;
    wait_until("it simulates", || all(3)(workshop.temporary()));
    let of_living = workshop.temporary();
    for _ in 0..2 {
        let mut killed = start();
        wait_until("it simulates", || all(6)(workshop.temporary()));
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(workshop.temporary().len(), 6, "nothing is left to remove");
        // Another design, with the same places.
        workshop.write("short.futil", DESIGN);
        let short = [
            "run",
            "short.futil",
            "-q",
            "--out",
            "out",
            "--vcd",
            "wave.vcd",
        ];
        let output = workshop
            .command(&short)
            .env("TMPDIR", workshop.path("tmp"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let left = workshop.temporary();
        assert_eq!(left, of_living, "only those of the living one stay");
    }
    kill(
        Pid::from_raw(i32::try_from(living.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    assert_eq!(living.wait().unwrap().code(), Some(130));
    assert!(workshop.temporary().is_empty());
}

#[test]
fn a_command_that_waits_for_another_can_be_interrupted() {
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "-q", "--out", "out"]);
    let before = workshop.files("out");
    let held = fs::File::open(workshop.path("out")).unwrap();
    held.lock().unwrap();
    // Those that only read wait for nobody.
    workshop.succeeds(&["stats", "out"]);
    for args in [
        &[
            "run",
            "design.futil",
            "-q",
            "--out",
            "out",
            "--passes",
            "no-opt",
        ][..],
        &["flame", "out"],
    ] {
        let mut run = workshop.command(args).spawn().unwrap();
        let opened = PathBuf::from(format!("/proc/{}/fd", run.id()));
        let folder = workshop.path("out").canonicalize().unwrap();
        wait_until("it has opened the folder to lock it", || {
            let files = fs::read_dir(&opened).into_iter().flatten().flatten();
            let mut files = files.filter_map(|file| fs::read_link(file.path()).ok());
            files.any(|file| file == folder)
        });
        // Nothing tells that it would not end.
        thread::sleep(Duration::from_millis(300));
        assert!(run.try_wait().unwrap().is_none(), "{args:?} does not wait");
        let pid = Pid::from_raw(i32::try_from(run.id()).unwrap());
        kill(pid, Signal::SIGINT).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(130), "{args:?}");
        assert!(workshop.files("out") == before, "{args:?}");
    }
    drop(held);
    workshop.succeeds(&["flame", "out"]);
}

/// A library that kills the process before it changes names in a folder for the nth time.
const KILLER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void count(const char *path) {
    static int calls;
    int counts = strstr(path, "out/") || !strcmp(path, "written") || !strcmp(path, "removed");
    if (counts && ++calls == atoi(getenv("KILL_AT"))) kill(getpid(), SIGKILL);
}
#define NEXT(name) __typeof__(name) *next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
int rename(const char *from, const char *to) { NEXT(rename); count(to); return next(from, to); }
int unlinkat(int dir, const char *path, int flags) { NEXT(unlinkat); count(path); return next(dir, path, flags); }
int unlink(const char *path) { NEXT(unlink); count(path); return next(path); }
"#;

#[test]
fn a_command_that_is_killed_at_any_rename_leaves_a_whole_profile() {
    let workshop = Workshop::new();
    workshop.write("killer.c", format!("#include <stdio.h>\n{KILLER}"));
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "killer.so", "killer.c", "-ldl"])
        .current_dir(workshop.dir.path())
        .status();
    assert!(built.unwrap().success());
    // The new profile has no memories, which must not stay.
    workshop.succeeds(&[
        "run",
        "design.futil",
        "-q",
        "--out",
        "out",
        "--passes",
        "no-opt",
        "--vcd",
        "wave.vcd",
    ]);
    fs::rename(workshop.path("out"), workshop.path("new")).unwrap();
    let reconstruct = [
        "reconstruct",
        "metadata.json",
        "wave.vcd",
        "-q",
        "--out",
        "out",
    ];
    fs::copy(
        workshop.path("new/metadata.json"),
        workshop.path("metadata.json"),
    )
    .unwrap();
    workshop.succeeds(&reconstruct);
    let new = workshop.files("out");
    fs::remove_dir_all(workshop.path("out")).unwrap();
    workshop.succeeds(&["run", "design.futil", "-q", "--out", "out"]);
    workshop.write("out/notes.txt", "mine");
    let old = workshop.files("out");
    fs::rename(workshop.path("out"), workshop.path("old")).unwrap();
    let new: Files = new
        .into_iter()
        .chain([(PathBuf::from("notes.txt"), b"mine".to_vec())])
        .collect();
    assert!(
        old.contains_key(Path::new("memories.json"))
            && !new.contains_key(Path::new("memories.json"))
    );

    let (mut kept, mut replaced) = (0, 0);
    for at in 1.. {
        workshop.copy("old", "out");
        let output = workshop
            .command(&reconstruct)
            .env("LD_PRELOAD", workshop.path("killer.so"))
            .env("KILL_AT", at.to_string())
            .output()
            .unwrap();
        let killed = output.status.signal() == Some(9);
        assert!(killed || output.status.success(), "{output:?}");
        // Any command that reads the profile finds one that is whole. A run would remove what else is left.
        workshop.succeeds(&["stats", "out"]);
        let of_profile = workshop.temporary().into_iter();
        for path in of_profile.filter(|path| path.starts_with(workshop.path("out"))) {
            fs::remove_dir_all(path).unwrap();
        }
        let files = workshop.files("out");
        if files == old {
            assert!(killed, "nothing was written");
            assert!(replaced == 0, "once the new one is there, it stays");
            kept += 1;
        } else {
            assert!(files == new, "the files are mixed after {at} changes");
            replaced += 1;
        }
        fs::remove_dir_all(workshop.path("out")).unwrap();
        if !killed {
            break;
        }
    }
    assert!(
        kept >= 1 && replaced > 10,
        "{kept} times the old one, {replaced} times the new one"
    );
}
