//! Every piece of advice for every example, applied and run; what is advised in Verilator; and a search that is interrupted.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use std::os::unix::process::CommandExt as _;
use std::time::Duration;

use expect_test::expect;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use petal_program::CALYX_VERSION;
use serde_json::Value;

use crate::support;
use crate::support::advice::{advice, patched, ran};
use crate::support::dice::Dice;
use crate::support::traps::{self, TRAPS};
use crate::support::workshop::{Workshop, said, succeeds, tells, wait_until};

/// Longer runs would take minutes for each change.
const MOST_CYCLES: u64 = 100_000;

/// Holds all that is advised for a design against runs of its own; returns the cycles: as it is, with what is proved, and with
/// all.
fn check(design: &Path) -> Option<[u64; 3]> {
    let workshop = Workshop::empty();
    workshop.write("design.futil", std::fs::read(design).unwrap());
    let data = std::fs::read(format!("{}.data", design.display())).unwrap();
    workshop.write("design.futil.data", &data);
    workshop.write("patched.futil.data", &data);
    let none = Value::Array(Vec::new());
    let before = ran(&workshop, "design.futil", &none);
    if before.0 > MOST_CYCLES {
        return None;
    }
    let advice = advice(&workshop, &["design.futil"]);
    assert_eq!(advice["cycles"], before.0);
    assert_eq!(advice["defects"], none, "{}", design.display());
    assert_eq!(advice["tried"]["not_tried"], 0, "{}", design.display());
    let items = advice["advice"].as_array().unwrap();
    // That each cell is apart comes first, or not at all, and all else is tried with it.
    let apart = items
        .first()
        .filter(|of| of["kind"] == "compile" && of["class"] == "proved");
    let base = before.0 - apart.map_or(0, |of| of["on_top"].as_u64().unwrap());
    let apart = apart.map_or(&none, |of| &of["arguments"]);
    let mut left = before.0;
    for (at, item) in items.iter().enumerate() {
        let name = format!("{}: {item:#}", design.display());
        left -= item["on_top"].as_u64().unwrap();
        let Some(alone) = item["alone"].as_u64() else {
            continue;
        };
        match item["patch"].as_str() {
            Some(patch) => patched(&workshop, patch),
            None => workshop.write("patched.futil", workshop.read("design.futil")),
        }
        let own = item["arguments"].as_array().unwrap();
        let (from, more) = if at == 0 {
            (before.0, &none)
        } else {
            (base, apart)
        };
        let arguments = [own.as_slice(), more.as_array().unwrap()].concat();
        let after = ran(&workshop, "patched.futil", &Value::Array(arguments));
        assert_eq!(after.0 + alone, from, "{name}");
        assert_eq!(after.1, before.1, "{name}");
    }
    assert_eq!(advice["with_all"], left);
    let with_proved = advice["with_proved"].as_u64().unwrap();
    for (patch, arguments, cycles) in [
        ("proved.patch", apart, with_proved),
        ("all.patch", &advice["arguments"], left),
    ] {
        let file = format!("petal-out/design/advice/{patch}");
        if workshop.path(&file).exists() {
            patched(&workshop, patch);
            let after = ran(&workshop, "patched.futil", arguments);
            assert_eq!(
                after,
                (cycles, before.1.clone()),
                "{}: {patch}",
                design.display()
            );
        }
    }
    Some([before.0, with_proved, left])
}

#[test]
fn every_patch_saves_what_it_says() {
    let mut text = String::new();
    let folders = ["calyx-examples", "calyx-examples/adl"];
    for design in folders.into_iter().flat_map(support::designs) {
        if let Some([before, proved, all]) = check(&design) {
            let name = design.file_stem().unwrap().to_string_lossy();
            let _ = writeln!(text, "{name}: {before}, proved {proved}, all {all}");
        }
    }
    if CALYX_VERSION != "0.7.1" {
        eprintln!("not compared: the figures are of the published compiler\n{text}");
        return;
    }
    expect![[r#"
        distances: 51, proved 24, all 24
        dot-product: 60, proved 18, all 18
        invoke-ref: 62, proved 27, all 21
        matmul: 612, proved 185, all 185
        nested-components: 16, proved 13, all 13
        neural-layer: 40, proved 19, all 19
        pipelined-mac: 21, proved 21, all 21
        shared-component: 18, proved 9, all 9
        static: 13, proved 13, all 13
        structural-enable: 8, proved 8, all 8
        switch-case-if: 6, proved 6, all 3
        switch-case-par: 9, proved 6, all 3
        while-comb: 17, proved 4, all 4
        while-par: 13, proved 4, all 4
        while-reg: 16, proved 5, all 5
        gcd: 267, proved 113, all 109
        gcd_fast: 230, proved 230, all 115
        variance: 137, proved 64, all 64
        variance_fast: 90, proved 52, all 52
    "#]]
    .assert_eq(&text);
}

/// Advises on a design for a short while, and holds what is advised to the same memories in Verilator.
fn in_verilator(design: &Path) {
    let workshop = Workshop::empty();
    let imported = design.with_file_name("lib");
    if imported.exists() {
        succeeds(
            Command::new("cp")
                .arg("-r")
                .args([&imported, workshop.dir.path()]),
        );
    }
    workshop.write("design.futil", std::fs::read(design).unwrap());
    for data in ["design.futil.data", "patched.futil.data"] {
        workshop.write(
            data,
            std::fs::read(format!("{}.data", design.display())).unwrap(),
        );
    }
    let args = [
        "advise",
        "design.futil",
        "--budget",
        "10s",
        "--format",
        "json",
        "--quiet",
    ];
    let output = workshop.petal(&args);
    // What the compiler can't compile with all passes, other tests have.
    if !output.status.success() {
        tells(&said(&output), &["Calyx"]);
        return;
    }
    let advice: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        advice["defects"],
        Value::Array(Vec::new()),
        "{}",
        design.display()
    );
    if !workshop.path("petal-out/design/advice/all.patch").exists() {
        return;
    }
    patched(&workshop, "all.patch");
    let (_, before) = ran(&workshop, "design.futil", &Value::Array(Vec::new()));
    let mut args = vec![
        "run",
        "patched.futil",
        "--simulator",
        "verilator",
        "--out",
        "verilated",
        "-q",
    ];
    let arguments = advice["arguments"].as_array().unwrap().iter();
    args.extend(arguments.flat_map(|argument| argument.as_str().unwrap().split(' ')));
    workshop.succeeds(&args);
    assert_eq!(
        workshop.read("verilated/memories.json"),
        before,
        "{}",
        design.display()
    );
}

#[test]
fn what_is_advised_runs_in_verilator() {
    // Verilator takes seconds for each.
    for (folder, step) in [
        ("calyx-examples", 1),
        ("calyx-examples/adl", 1),
        ("tests/corpus", 6),
    ] {
        for design in support::designs(folder).iter().step_by(step) {
            in_verilator(design);
        }
    }
}

/// The programs that the guide shows are given to Verilator as they are advised.
#[test]
fn what_the_guide_advises_runs_in_verilator() {
    let mut count = 0;
    for page in std::fs::read_dir(support::root().join("docs/guide/advice")).unwrap() {
        let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
        let mut rest = text.as_str();
        while let Some((_, begun)) = rest.split_once("<<'FUTIL'\n") {
            let (program, after) = begun.split_once("FUTIL\n").unwrap();
            let workshop = Workshop::empty();
            workshop.write("design.futil", program);
            let args = ["advise", "design.futil", "--proved", "--apply", "--quiet"];
            workshop.succeeds(&args);
            let run = |simulator: &str| {
                let args = [
                    "run",
                    "design.futil",
                    "--simulator",
                    simulator,
                    "--out",
                    simulator,
                    "-q",
                ];
                workshop.succeeds(&args);
                workshop.read(&format!("{simulator}/memories.json"))
            };
            assert_eq!(run("embedded"), run("verilator"), "{program}");
            count += 1;
            rest = after;
        }
    }
    assert!(count > 5, "only {count} programs");
}

/// Programs with traps, with something that is proved of each: Verilator computes what petal's simulator does of the
/// program as it was.
#[test]
fn no_trap_breaks_a_proof_in_verilator() {
    let mut tried = 0;
    for trap in TRAPS {
        // Nobody has the Verilog of floating-point primitives here.
        let mut programs = (0..).map(|round| {
            let mut dice = Dice::new(trap as u64 + 77 + 1_000 * round);
            (traps::program(trap, &mut dice), dice)
        });
        let is_whole = |text: &str| !text.contains("primitives/float/");
        let found = programs.find(|(program, _)| is_whole(&program.text));
        let (program, mut dice) = found.expect("some have no floats");
        let workshop = Workshop::empty();
        workshop.write("design.futil", &program.text);
        let data = traps::data(&program.memories, &mut dice);
        workshop.write("data.json", data);
        let run = |simulator: &str| {
            let args = [
                "run",
                "design.futil",
                "--data",
                "data.json",
                "--simulator",
                simulator,
                "--out",
                simulator,
                "-q",
            ];
            let ends = workshop.petal(&args).status.success();
            ends.then(|| workshop.read(&format!("{simulator}/memories.json")))
        };
        let Some(before) = run("embedded") else {
            continue;
        };
        let args = [
            "advise",
            "design.futil",
            "--data",
            "data.json",
            "--proved",
            "--apply",
            "--quiet",
        ];
        workshop.succeeds(&args);
        assert_eq!(run("verilator"), Some(before), "{trap:?}\n{}", program.text);
        tried += 1;
    }
    assert!(tried > 6, "only {tried} programs end");
}

#[test]
fn what_was_found_is_written_at_an_interrupt() {
    let workshop = Workshop::empty();
    workshop.edited("design.futil", "packet-scheduler.futil", &[]);
    let mut advise = workshop.command(&["advise", "design.futil", "--budget", "10m"]);
    let advise = advise.process_group(0).spawn().unwrap();
    wait_until("there is a profile", || {
        workshop.path("petal-out/design/summary.json").exists()
    });
    // Long enough for some trials, and too short for all.
    std::thread::sleep(Duration::from_secs(20));
    let group = Pid::from_raw(i32::try_from(advise.id()).unwrap());
    killpg(group, Signal::SIGINT).unwrap();
    let output = advise.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}");
    // Whatever the lines are that it is in.
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    tells(
        &text,
        &[
            "interrupted: this is what was found until then",
            "1 make the comb group",
        ],
    );
    // Between two rounds nobody knows what there is to try.
    assert!(
        !text.contains("not tried") || text.contains("since it was interrupted"),
        "{text}"
    );
    let patch = workshop.read("petal-out/design/advice/all.patch");
    tells(&patch, &["--- a/design.futil"]);
}
