//! What petal does to files that are not its own: nothing. No output takes the place of an input, of
//! another output or of anything in a folder without a profile; a profile is replaced as a whole or
//! not at all, whenever the command is killed; and what a killed command leaves, the next one removes.

#[path = "support/workshop.rs"]
mod workshop;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use workshop::{DATA, DESIGN, Files, Workshop, endless, tells};

/// A design that imports a file and takes Verilog from another.
const PARTS: &str = r#"import "part.futil";
extern "own.sv" { primitive own(in: 8) -> (out: 8); }
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 2, 1); p = part(); o = own(); }
  wires {
    group put { o.in = 8'd5; mem.addr0 = 1'd1; mem.write_data = o.out; mem.write_en = 1'd1; put[done] = mem.done; }
  }
  control { seq { put; invoke p()(); } }
}
"#;
const PART: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component part() -> () {
  cells { r = std_reg(8); }
  wires { group set { r.in = 8'd1; r.write_en = 1'd1; set[done] = r.done; } }
  control { seq { set; set; } }
}
"#;
const VERILOG: &str = "module own(input [7:0] in, output [7:0] out); assign out = in; endmodule\n";

/// Everything that a command can read: designs with all their parts, data, a profile, a baseline, a
/// waveform.
fn everything() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("parts.futil", PARTS);
    workshop.write("part.futil", PART);
    workshop.write("own.sv", VERILOG);
    workshop.write("other.json", DATA);
    workshop.write("verilator", "#!/bin/sh\nexit 1\n");
    workshop.succeeds(&[
        "run",
        "design.futil",
        "-q",
        "--out",
        "kept",
        "--vcd",
        "wave.vcd",
    ]);
    workshop.succeeds(&["baseline", "kept", "--out", "base.json"]);
    fs::copy(
        workshop.path("kept/metadata.json"),
        workshop.path("metadata.json"),
    )
    .unwrap();
    workshop
}

/// A command without its outputs; the options that name an output, and what the command reads.
struct Case {
    args: &'static [&'static str],
    files: &'static [&'static str],
    folders: &'static [&'static str],
    inputs: &'static [&'static str],
}

const CASES: [Case; 8] = [
    Case {
        args: &["run", "parts.futil", "-q", "--data", "other.json"],
        files: &["--vcd"],
        folders: &["--out"],
        inputs: &["parts.futil", "part.futil", "own.sv", "other.json"],
    },
    Case {
        args: &["run", "design.futil", "-q", "--verilator", "./verilator"],
        files: &["--vcd"],
        folders: &["--out"],
        inputs: &["design.futil", "design.futil.data", "verilator"],
    },
    Case {
        args: &["instrument", "parts.futil", "--metadata", "m.json"],
        files: &["--verilog"],
        folders: &[],
        inputs: &["parts.futil", "part.futil", "own.sv"],
    },
    Case {
        args: &["instrument", "parts.futil", "--verilog", "v.sv"],
        files: &["--metadata"],
        folders: &[],
        inputs: &["parts.futil", "part.futil", "own.sv"],
    },
    Case {
        args: &["reconstruct", "metadata.json", "wave.vcd", "-q"],
        files: &[],
        folders: &["--out"],
        inputs: &["metadata.json", "wave.vcd"],
    },
    Case {
        args: &[
            "compare",
            "base.json",
            "parts.futil",
            "--data",
            "other.json",
        ],
        files: &["--flame"],
        folders: &[],
        inputs: &[
            "base.json",
            "parts.futil",
            "part.futil",
            "own.sv",
            "other.json",
        ],
    },
    Case {
        args: &["compare", "kept", "design.futil"],
        files: &["--flame"],
        folders: &[],
        inputs: &[
            "kept/trace.petal",
            "kept/metadata.json",
            "kept/summary.json",
            "design.futil.data",
        ],
    },
    Case {
        args: &["baseline", "kept"],
        files: &["--out"],
        folders: &[],
        inputs: &[
            "kept/trace.petal",
            "kept/metadata.json",
            "kept/stats/cells.csv",
            "kept/report.html",
        ],
    },
];

/// Copies a folder.
fn copy(workshop: &Workshop, from: &str, to: &str) {
    let mut command = Command::new("cp");
    command
        .args(["-r", from, to])
        .current_dir(workshop.dir.path());
    assert!(command.status().unwrap().success());
}

/// Everything in the workshop, links as such.
fn everything_in(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        let content = if kind.is_symlink() {
            fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else if kind.is_dir() {
            found.extend(everything_in(&path));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        found.insert(path, content);
    }
    found
}

/// Fails unless petal refuses the arguments, names these and leaves all files as they are.
fn refuses(workshop: &Workshop, args: &[&str], named: &[&str]) {
    let before = everything_in(workshop.dir.path());
    let output = workshop.petal(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(2),
        "petal {args:?} said:\n{said}"
    );
    assert!(said.starts_with("error: "), "{args:?}: {said}");
    tells(&said, named);
    assert!(
        everything_in(workshop.dir.path()) == before,
        "petal {args:?} changed files"
    );
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let workshop = everything();
    fs::create_dir(workshop.path("links")).unwrap();
    symlink("..", workshop.path("links/up")).unwrap();
    for Case {
        args,
        files,
        folders,
        inputs,
    } in CASES
    {
        for input in inputs {
            let file = Path::new(input).file_name().unwrap().to_str().unwrap();
            let names = [
                (*input).to_owned(),
                format!("./links/../{input}"),
                workshop.path(input).display().to_string(),
                format!("links/up/{input}"),
                "links/symbolic".to_owned(),
                "links/hard".to_owned(),
            ];
            symlink(workshop.path(input), workshop.path("links/symbolic")).unwrap();
            fs::hard_link(workshop.path(input), workshop.path("links/hard")).unwrap();
            for option in files {
                for name in &names {
                    let owned = input.starts_with("kept") && !name.starts_with("links/");
                    let told = if owned { "kept" } else { file };
                    refuses(
                        &workshop,
                        &[args, &[*option, name.as_str()]].concat(),
                        &[option, name, told],
                    );
                }
            }
            for option in folders {
                // A profile with a file that is also the input.
                for output in ["report.html", "stats/cells.csv", "summary.json"] {
                    copy(&workshop, "kept", "links/out");
                    let place = workshop.path("links/out").join(output);
                    fs::remove_file(&place).unwrap();
                    fs::hard_link(workshop.path(input), &place).unwrap();
                    refuses(
                        &workshop,
                        &[args, &[*option, "links/out"]].concat(),
                        &[option, "links/out", output, file],
                    );
                    fs::remove_dir_all(workshop.path("links/out")).unwrap();
                }
            }
            for name in ["links/symbolic", "links/hard"] {
                fs::remove_file(workshop.path(name)).unwrap();
            }
        }
    }
    // Those that come from the profile which is replaced.
    refuses(
        &workshop,
        &[
            "run",
            "design.futil",
            "--out",
            "kept",
            "--data",
            "kept/memories.json",
        ],
        &["--out kept", "memories.json"],
    );
    refuses(
        &workshop,
        &[
            "reconstruct",
            "kept/metadata.json",
            "wave.vcd",
            "--out",
            "kept",
        ],
        &["--out kept", "metadata.json"],
    );
}

/// The cases above have all options that name an output.
#[test]
fn all_outputs_are_known() {
    let workshop = Workshop::new();
    let mut known: BTreeSet<(&str, &str)> = CASES
        .iter()
        .flat_map(|case| {
            let options = case.files.iter().chain(case.folders);
            options.map(|option| (case.args[0], *option))
        })
        .collect();
    // It reads nothing.
    known.insert(("man", "--out"));
    let help = workshop.succeeds(&["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let help = workshop.succeeds(&[command, "--help"]);
        let text = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for (at, _) in text.match_indices("--") {
            let words: Vec<&str> = text[at..].splitn(3, ' ').collect();
            let [option, value, rest] = words[..] else {
                continue;
            };
            if value.starts_with('<')
                && (rest.starts_with("Write ") || rest.starts_with("Where to write"))
            {
                assert!(known.contains(&(command, option)), "{command} {option}");
                known.retain(|pair| *pair != (command, option));
            }
        }
    }
    assert!(known.is_empty(), "{known:?} are no options");
}

#[test]
fn no_output_takes_the_place_of_another() {
    let workshop = everything();
    symlink(".", workshop.path("here")).unwrap();
    for (verilog, metadata) in [
        ("same", "same"),
        ("same", "./here/same"),
        ("here/same", "same"),
    ] {
        let args = [
            "instrument",
            "design.futil",
            "--verilog",
            verilog,
            "--metadata",
            metadata,
        ];
        refuses(
            &workshop,
            &args,
            &["--verilog", "--metadata", verilog, metadata],
        );
    }
    workshop.write("v.sv", "");
    fs::hard_link(workshop.path("v.sv"), workshop.path("m.json")).unwrap();
    let args = [
        "instrument",
        "design.futil",
        "--verilog",
        "v.sv",
        "--metadata",
        "m.json",
    ];
    refuses(&workshop, &args, &["v.sv", "m.json"]);

    let profile: Vec<PathBuf> = workshop.files("kept").into_keys().collect();
    assert!(profile.len() > 10);
    for name in &profile {
        for out in ["kept", "new", "here/kept"] {
            let vcd = format!("here/{out}/{}", name.display());
            let args = ["run", "design.futil", "-q", "--out", out, "--vcd", &vcd];
            refuses(&workshop, &args, &["--vcd", &vcd]);
        }
        // The files of a profile that the command has nothing to do with.
        let vcd = format!("kept/{}", name.display());
        refuses(
            &workshop,
            &["run", "design.futil", "-q", "--vcd", &vcd],
            &["--vcd", "kept"],
        );
    }
    refuses(
        &workshop,
        &["run", "design.futil", "-q", "--out", "new", "--vcd", "new"],
        &["--out new", "--vcd new"],
    );
    // Those of passes of the compiler.
    let option = |file: &str| format!("cell-share:print-share-freqs={file}");
    let run = ["run", "design.futil", "-q", "-x"];
    for other in ["design.futil", "kept/trace.petal"] {
        refuses(
            &workshop,
            &[&run[..], &[&option(other)]].concat(),
            &["-x", other],
        );
    }
    let written = option("same");
    let same = [&run[..], &[&written, "--vcd", "here/same"]].concat();
    refuses(&workshop, &same, &["-x same", "--vcd here/same"]);
    // What is beside a profile's files may be replaced.
    workshop.succeeds(&["baseline", "kept", "--out", "kept/base.json"]);
    workshop.succeeds(&["baseline", "kept", "--out", "kept/base.json"]);
    workshop.succeeds(&[
        "run",
        "design.futil",
        "-q",
        "--out",
        "kept",
        "--vcd",
        "kept/wave.vcd",
    ]);
}

#[test]
fn standard_output_is_not_replaced() {
    let workshop = everything();
    let file = fs::File::create(workshop.path("printed")).unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let mut command = workshop.command(&["baseline", "kept", "--out", name]);
        let output = command.stdout(file.try_clone().unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        tells(
            &String::from_utf8_lossy(&output.stderr),
            &[name, "no regular file"],
        );
    }
    assert!(fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
}

#[test]
fn a_folder_without_a_profile_is_left_alone() {
    let workshop = everything();
    let commands: [&[&str]; 2] = [
        &["run", "design.futil", "-q", "--out"],
        &["reconstruct", "metadata.json", "wave.vcd", "-q", "--out"],
    ];
    for args in commands {
        let folder = workshop.path("thesis");
        fs::create_dir(&folder).unwrap();
        for (name, text) in [
            ("report.html", "mine"),
            ("metadata.json", "{\"version\": 3}"),
            ("summary.json", "{\"cycles\": 1, \"versions\": [\"petal\"]}"),
            ("trace.petal", "mine"),
            ("verilator.log", "mine"),
            ("notes.txt", "mine"),
            (".hidden", "mine"),
        ] {
            let file = folder.join(name);
            fs::write(&file, text).unwrap();
            refuses(
                &workshop,
                &[args, &["thesis"]].concat(),
                &["thesis", name, "--out"],
            );
            fs::remove_file(file).unwrap();
        }
        fs::create_dir(folder.join("stats")).unwrap();
        refuses(
            &workshop,
            &[args, &["thesis/."]].concat(),
            &["thesis", "stats"],
        );
        fs::remove_dir(folder.join("stats")).unwrap();
        refuses(&workshop, &[args, &["."]].concat(), &["base.json"]);
        // An empty one serves, and so does one with a profile, or with a part of it.
        workshop.succeeds(&[args, &["thesis"]].concat());
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        fs::create_dir(folder.join("more")).unwrap();
        fs::write(folder.join("more/report.html"), "mine").unwrap();
        fs::remove_file(folder.join("summary.json")).unwrap();
        workshop.succeeds(&[args, &["thesis"]].concat());
        let files = workshop.files("thesis");
        assert!(files.contains_key(Path::new("summary.json")));
        for name in ["notes.txt", "more/report.html"] {
            assert_eq!(files[Path::new(name)], b"mine");
        }
        fs::remove_dir_all(folder).unwrap();
    }
    // The default is a folder like others.
    fs::create_dir_all(workshop.path("petal-out/design")).unwrap();
    workshop.write("petal-out/design/report.html", "mine");
    refuses(
        &workshop,
        &["run", "design.futil"],
        &["petal-out/design", "report.html", "--out"],
    );
}

#[test]
fn designs_with_odd_names_have_folders_of_their_own() {
    for name in ["...futil", "..futil", ".futil", "....futil", "-.futil"] {
        let workshop = Workshop::new();
        workshop.write(name, DESIGN);
        let before = workshop.files(".");
        workshop.succeeds(&["run", "-q", "--", name]);
        let folders: Vec<_> = fs::read_dir(workshop.path("petal-out")).unwrap().collect();
        assert_eq!(folders.len(), 1, "{name}: {folders:?}");
        let folder = folders[0].as_ref().unwrap().path();
        assert!(
            folder.join("summary.json").exists(),
            "{name}: {}",
            folder.display()
        );
        fs::remove_dir_all(workshop.path("petal-out")).unwrap();
        assert!(workshop.files(".") == before, "{name}");
    }
}

/// Names of temporary files and folders, anywhere below a folder.
fn temporary(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(".petal") || name.starts_with(".tmp") || name.starts_with("petal-lib") {
            found.push(entry.path());
        } else if entry.path().is_dir() {
            found.extend(temporary(&entry.path()));
        }
    }
    found
}

/// Waits until it is so.
fn wait_until(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < until, "waited too long until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_next_run_removes_what_killed_ones_leave() {
    let workshop = endless();
    for folder in ["tmp", "out"] {
        fs::create_dir(workshop.path(folder)).unwrap();
    }
    let start = || {
        let mut command = workshop.command(&[
            "run",
            "design.futil",
            "-q",
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
    wait_until("it simulates", || all(3)(temporary(workshop.dir.path())));
    let of_living = temporary(workshop.dir.path());
    for _ in 0..2 {
        let mut killed = start();
        wait_until("it simulates", || all(6)(temporary(workshop.dir.path())));
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(
            temporary(workshop.dir.path()).len(),
            6,
            "nothing is left to remove"
        );
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
        let mut left = temporary(workshop.dir.path());
        let mut expected = of_living.clone();
        left.sort();
        expected.sort();
        assert_eq!(left, expected, "only those of the living one stay");
    }
    kill(
        Pid::from_raw(i32::try_from(living.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    assert_eq!(living.wait().unwrap().code(), Some(130));
    assert!(temporary(workshop.dir.path()).is_empty());
}

#[test]
fn a_failed_run_leaves_no_folder() {
    let workshop = Workshop::new();
    for args in [
        &["run", "design.futil", "--cycle-limit", "1"][..],
        &[
            "run",
            "design.futil",
            "--cycle-limit",
            "1",
            "--out",
            "new/deep/out",
        ],
        &[
            "run",
            "design.futil",
            "--vcd",
            "none/wave.vcd",
            "--out",
            "new/deep/out",
        ],
    ] {
        let before = workshop.files(".");
        assert_eq!(workshop.petal(args).status.code(), Some(1));
        assert!(workshop.files(".") == before);
        for folder in ["petal-out", "new"] {
            assert!(!workshop.path(folder).exists(), "{args:?} left {folder}");
        }
    }
    // A folder that was there before stays.
    fs::create_dir_all(workshop.path("new/deep")).unwrap();
    workshop.petal(&[
        "run",
        "design.futil",
        "--cycle-limit",
        "1",
        "--out",
        "new/deep/out",
    ]);
    assert!(workshop.path("new/deep").exists() && !workshop.path("new/deep/out").exists());
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
        thread::sleep(Duration::from_secs(2));
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
        copy(&workshop, "old", "out");
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
        let left = temporary(&workshop.path("out"));
        for path in &left {
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

/// Runs petal with no more in its environment than what `set` says of caches.
fn with_cache(workshop: &Workshop, args: &[&str], set: &[(&str, &Path)]) -> Output {
    let mut command = workshop.command(args);
    command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    command.env("TMPDIR", workshop.path("tmp"));
    command.envs(set.iter().copied()).output().unwrap()
}

#[test]
fn a_cache_that_others_can_write_to_is_refused() {
    let workshop = Workshop::new();
    fs::create_dir(workshop.path("tmp")).unwrap();
    let base = workshop.path("cache");
    let cache = base.join("petal");
    let set = [("XDG_CACHE_HOME", base.as_path())];
    let run = [
        "run",
        "design.futil",
        "-q",
        "--out",
        "out",
        "--simulator",
        "verilator",
    ];
    let mode = || fs::metadata(&cache).unwrap().mode() & 0o777;
    let doctor = with_cache(&workshop, &["doctor"], &set);
    tells(
        &String::from_utf8_lossy(&doctor.stdout),
        &["ok       cache folder", "cache/petal"],
    );
    assert_eq!(mode(), 0o700);

    let refused = |problem: &str| {
        fs::create_dir_all(cache.join("design-5.006-0123456789abcdef")).unwrap();
        fs::write(
            cache.join("design-5.006-0123456789abcdef/simulation"),
            "planted",
        )
        .unwrap();
        for args in [&run[..], &["cache", "clean"]] {
            let output = with_cache(&workshop, args, &set);
            assert_eq!(output.status.code(), Some(1), "{args:?}");
            tells(
                &String::from_utf8_lossy(&output.stderr),
                &["cache/petal", problem, "XDG_CACHE_HOME"],
            );
            assert!(
                cache
                    .join("design-5.006-0123456789abcdef/simulation")
                    .exists()
            );
        }
        assert!(!workshop.path("out").exists());
    };
    for writable in [0o777, 0o770, 0o702] {
        fs::set_permissions(&cache, fs::Permissions::from_mode(writable)).unwrap();
        refused("can be written by other users");
    }
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
    // Only root can give it away.
    if geteuid().is_root() {
        chown(&cache, Some(1), None).unwrap();
        refused("belongs to another user");
        chown(&cache, Some(0), None).unwrap();
    }
    // One that others could only read is made private.
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
    let cleaned = with_cache(&workshop, &["cache", "clean"], &set);
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert!(!cache.exists());
}

#[test]
fn only_what_petal_made_is_cleaned() {
    let workshop = Workshop::new();
    let base = workshop.path("cache");
    let set = [("XDG_CACHE_HOME", base.as_path())];
    fs::create_dir(workshop.path("tmp")).unwrap();
    let run = [
        "run",
        "design.futil",
        "-q",
        "--out",
        "out",
        "--simulator",
        "verilator",
    ];
    let output = with_cache(&workshop, &run, &set);
    assert!(output.status.success(), "{output:?}");
    let cache = base.join("petal");
    assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
    let built = fs::read_dir(&cache).unwrap().count();
    assert_eq!(built, 3, "an executable, a runtime and a header");
    workshop.write("cache/petal/thesis.tex", "mine");
    let output = with_cache(&workshop, &["cache", "clean"], &set);
    assert!(output.status.success(), "{output:?}");
    tells(&String::from_utf8_lossy(&output.stdout), &["thesis.tex"]);
    let left = workshop.files("cache/petal");
    assert_eq!(left.len(), 1, "{left:?}");
    fs::remove_file(cache.join("thesis.tex")).unwrap();
    let output = with_cache(&workshop, &["cache", "clean"], &set);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("cache/petal is empty\n"));
    assert!(!cache.exists());

    // Without a home, there is no cache: neither in the current folder nor in one that all users share.
    workshop.write("design.futil", DESIGN.replace("8'd5", "8'd6"));
    fs::create_dir(workshop.path("tmp/petal")).unwrap();
    workshop.write("tmp/petal/thesis.tex", "mine");
    let before = (
        workshop.files("tmp"),
        fs::read_dir(workshop.dir.path()).unwrap().count(),
    );
    for set in [
        &[][..],
        &[
            ("XDG_CACHE_HOME", Path::new("")),
            ("HOME", Path::new("relative")),
        ],
    ] {
        let output = with_cache(&workshop, &["cache", "clean"], set);
        assert_eq!(output.status.code(), Some(1));
        tells(
            &String::from_utf8_lossy(&output.stderr),
            &["XDG_CACHE_HOME", "HOME"],
        );
    }
    let output = with_cache(&workshop, &run, &[]);
    assert!(output.status.success(), "{output:?}");
    let after = (
        workshop.files("tmp"),
        fs::read_dir(workshop.dir.path()).unwrap().count(),
    );
    assert!(before == after, "{after:?}");
}

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
    let workshop = everything();
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
            let said = String::from_utf8_lossy(&output.stderr);
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
    tells(
        &String::from_utf8_lossy(&output.stderr),
        &["/dev/zero", "device"],
    );
}

#[test]
fn what_a_shell_hands_over_is_read() {
    let workshop = everything();
    let script = r#"
        set -e
        "$0" run design.futil -q --out data --data <(cat other.json)
        "$0" run design.futil -q --out stdin --data /dev/stdin < other.json
        "$0" reconstruct <(cat metadata.json) <(cat wave.vcd) -q --out wave
        "$0" compare <(cat base.json) data
    "#;
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_petal")])
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
    let workshop = everything();
    let made = Command::new("mkfifo")
        .arg(workshop.path("pipe.vcd"))
        .status();
    assert!(made.unwrap().success());
    let reconstruct = ["reconstruct", "metadata.json", "pipe.vcd", "--out", "out"];
    // Nobody writes to it, which the user is told and can end.
    let run = workshop.command(&reconstruct).spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    kill(
        Pid::from_raw(i32::try_from(run.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let sent = Instant::now();
    let output = run.wait_with_output().unwrap();
    assert!(sent.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(130));
    tells(
        &String::from_utf8_lossy(&output.stderr),
        &["waiting for", "pipe.vcd", "interrupted"],
    );
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
