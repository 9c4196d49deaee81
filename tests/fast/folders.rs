//! Where outputs go: the folders of odd names, and places that cannot be written or are something else.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::Command;

use crate::support::simulators::{RECONSTRUCT, designs_that_stop};
use crate::support::workshop::{DESIGN, Workshop, said, tells};

const RUN: [&str; 5] = ["run", "design.futil", "--out", "out", "-q"];

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

#[test]
fn a_failed_run_leaves_no_folder() {
    let workshop = Workshop::new();
    workshop.write("stops.futil", &designs_that_stop()[0].0);
    for args in [
        &["run", "stops.futil"][..],
        &["run", "stops.futil", "--out", "new/deep/out"],
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
    workshop.petal(&["run", "stops.futil", "--out", "new/deep/out"]);
    assert!(workshop.path("new/deep").exists() && !workshop.path("new/deep/out").exists());
}

#[test]
fn standard_output_that_is_full() {
    let workshop = Workshop::new();
    let full = workshop
        .after("exec >/dev/full", &["run", "design.futil", "--out", "out"])
        .output()
        .unwrap();
    assert_eq!(full.status.code(), Some(1));
    tells(&said(&full), &["standard output", "No space left"]);
    // Without data there is a note to tell.
    fs::remove_file(workshop.path("design.futil.data")).unwrap();
    let deaf = workshop
        .after("exec 2>/dev/full", &["run", "design.futil", "--out", "out"])
        .output()
        .unwrap();
    assert_eq!(deaf.status.code(), Some(0));
    let deaf = workshop
        .after("exec 2>/dev/full", &["run", "none.futil"])
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
    let right = workshop.undisturbed(&RUN);
    let pipe = workshop.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let refused = workshop.fails(&[&RUN[..], &["--vcd", "pipe"]].concat());
    tells(&refused, &["pipe", "no regular file"]);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());

    workshop.succeeds(&RUN);
    fs::remove_file(workshop.path("out/flame.svg")).unwrap();
    fs::create_dir(workshop.path("out/flame.svg")).unwrap();
    let before = workshop.files("out");
    let output = workshop.petal(&[&RUN[..], &["--passes", "no-opt"]].concat());
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["out/flame.svg is a folder"]);
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
