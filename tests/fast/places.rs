//! What petal does to files that are not its own: nothing. No output takes the place of an input, of
//! another output or of anything in a folder without a profile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::workshop::{Workshop, said, tells};

/// A command without its outputs; the options that name an output, and what the command reads.
struct Case {
    args: &'static [&'static str],
    files: &'static [&'static str],
    folders: &'static [&'static str],
    inputs: &'static [&'static str],
}

const CASES: [Case; 13] = [
    Case {
        args: &["run", "parts.futil", "-q", "--data", "other.json"],
        files: &["--vcd", "--fst"],
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
        files: &["--flame", "--html"],
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
        files: &["--flame", "--html"],
        folders: &[],
        inputs: &[
            "kept/trace.petal",
            "kept/metadata.json",
            "kept/summary.json",
            "design.futil.data",
        ],
    },
    Case {
        args: &["advise", "design.futil", "-q"],
        files: &[],
        folders: &["--out"],
        inputs: &["design.futil", "design.futil.data"],
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
    Case {
        args: &["graph", "kept", "--format", "dot"],
        files: &["--out"],
        folders: &[],
        inputs: &["kept/trace.petal", "kept/summary.json"],
    },
    Case {
        args: &["view", "kept", "--cycles", "0..1"],
        files: &["--out"],
        folders: &[],
        inputs: &["kept/trace.petal", "kept/timeline.pftrace"],
    },
    Case {
        args: &[
            "monitor",
            "design.futil",
            "--count=1",
            "--metadata",
            "m.json",
        ],
        files: &["--out"],
        folders: &[],
        inputs: &["design.futil", "design.futil.data"],
    },
    Case {
        args: &["monitor", "design.futil", "--count=1", "--out", "m.futil"],
        files: &["--metadata"],
        folders: &[],
        inputs: &["design.futil", "design.futil.data"],
    },
];

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
    let said = said(&output);
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
    let workshop = Workshop::everything();
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
                    workshop.copy("kept", "links/out");
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
    // A folder that holds nothing else; tests/fast/sweep.rs has what is refused.
    known.insert(("sweep", "--out"));
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
    let workshop = Workshop::everything();
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
    let workshop = Workshop::everything();
    let file = fs::File::create(workshop.path("printed")).unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let mut command = workshop.command(&["baseline", "kept", "--out", name]);
        let output = command.stdout(file.try_clone().unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        tells(&said(&output), &[name, "no regular file"]);
    }
    assert!(fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
}

#[test]
fn a_folder_without_a_profile_is_left_alone() {
    let workshop = Workshop::everything();
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
