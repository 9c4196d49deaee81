//! What becomes of a profile when the disk is full, links lead elsewhere or two commands write at once:
//! a clear error or the right result; never another profile, and never a part of one that looks whole.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::workshop::{DATA, DESIGN, Files, PETAL, Workshop, said, tells};

const RUN: [&str; 5] = ["run", "design.futil", "--out", "out", "-q"];

#[test]
fn a_disk_that_is_full_at_any_byte() {
    let workshop = Workshop::new();
    let args = [&RUN[..], &["--vcd", "wave.vcd"]].concat();
    let right = workshop.undisturbed(&args);
    let vcd = fs::read(workshop.path("wave.vcd")).unwrap();
    let mut failed = 0;
    // In blocks of 512 bytes; the largest file is the report, of some 310.
    for blocks in (0..420).step_by(10) {
        let _ = fs::remove_dir_all(workshop.path("out"));
        let _ = fs::remove_file(workshop.path("wave.vcd"));
        let limit = format!("ulimit -f {blocks}");
        let output = workshop.after(&limit, &args).output().unwrap();
        workshop.is_right_or_told(&output, &right, &limit);
        if output.status.success() {
            assert_eq!(fs::read(workshop.path("wave.vcd")).unwrap(), vcd);
        } else {
            failed += 1;
            assert!(!workshop.path("wave.vcd").exists(), "{limit}");
            assert!(!workshop.path("out").exists(), "{limit}: an empty folder");
            tells(&said(&output), &["File too large"]);
        }
    }
    assert!((5..35).contains(&failed), "{failed} of 42 runs failed");
}

#[test]
fn a_disk_that_is_too_small_for_tables() {
    let workshop = Workshop::new();
    workshop.succeeds(&RUN);
    let profile = workshop.files("out");
    // In blocks of 512 bytes; the largest table has some 8 KB.
    for blocks in [0, 1, 3, 5, 8, 11, 14] {
        let limit = format!("ulimit -f {blocks}");
        let output = workshop.after(&limit, &["export", "out"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{limit}");
        tells(&said(&output), &["out", "File too large"]);
        assert!(workshop.files("out") == profile, "{limit}: a part is there");
    }
    workshop.succeeds(&["export", "out"]);
    let tables = workshop.files("out").len() - profile.len();
    assert_eq!(tables, 9);
}

#[test]
fn a_disk_that_is_full() {
    let workshop = Workshop::new();
    let right = workshop.undisturbed(&RUN);
    fs::create_dir(workshop.path("out")).unwrap();
    for kilobytes in [4, 16, 24, 32, 40, 1024] {
        let small = format!("mount -t tmpfs -o size={kilobytes}k none out");
        let checked = "\"$@\"; code=$?; cp -R out copy; exit $code";
        let _ = fs::remove_dir_all(workshop.path("copy"));
        let petal = PETAL;
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
                let said = said(&output);
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

/// The profile in `out`, without the figures of the run before.
fn of_the_run(workshop: &Workshop) -> Files {
    let mut files = workshop.files("out");
    files.remove(Path::new("last.json"));
    files
}

#[test]
fn symbolic_links_lead_nobody_elsewhere() {
    let workshop = Workshop::new();
    let right = workshop.undisturbed(&RUN);
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
    assert!(of_the_run(&workshop) == right, "the links are replaced");

    // A folder of outputs is a link.
    fs::remove_dir_all(workshop.path("out/stats")).unwrap();
    symlink(workshop.path("elsewhere"), workshop.path("out/stats")).unwrap();
    let output = workshop.petal(&RUN);
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["out/stats is a symbolic link"]);
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
    workshop.write("broken.futil.data", DATA);
    let output = workshop.petal(&["run", "broken.futil", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1));
    tells(&said(&output), &["syntax error"]);
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
    workshop.write("other.futil.data", DATA);
    let other = ["run", "other.futil", "--out", "out", "-q"];
    let profiles = [workshop.undisturbed(&RUN), workshop.undisturbed(&other)];
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
        let files = of_the_run(&workshop);
        let winner = profiles.iter().position(|profile| *profile == files);
        won[winner.expect("the files of two runs are mixed")] += 1;
    }
    println!("{won:?}");
}
