//! The command inside of another program: the same results and messages as the command, on several threads at once.

use std::thread;

use crate::support::workshop::{FOREVER, Workshop, said};

#[test]
fn a_call_gives_what_the_command_prints() {
    let workshop = Workshop::everything();
    let kept = workshop.path("kept");
    let kept = kept.to_str().unwrap();
    for args in [
        &["stats", kept, "control", "--format", "csv"][..],
        &["trace", kept],
        &["baseline", kept],
        &["explain", "useful"],
        &["run", "--help"],
    ] {
        let printed = petal::call(args, "").unwrap();
        assert_eq!(printed, workshop.succeeds(args), "{args:?}");
    }
}

#[test]
fn a_call_fails_with_the_message_of_the_command() {
    let workshop = Workshop::everything();
    let kept = workshop.path("kept");
    let kept = kept.to_str().unwrap();
    let missing = workshop.path("missing");
    for args in [
        &["stats", missing.to_str().unwrap()][..],
        &["trace", kept, "--cycles", "900.."],
        &["compare", kept],
        &["run"],
        &["nonsense"],
    ] {
        let failure = petal::call(args, "").unwrap_err();
        let output = workshop.petal(args);
        assert_eq!(said(&output).trim_end(), format!("error: {failure}"));
        assert_eq!(output.status.code(), Some(petal::code(&failure).into()));
    }
}

#[test]
fn calls_run_on_several_threads_one_program_after_the_other() {
    let workshop = Workshop::everything();
    let design = std::fs::read_to_string(workshop.path("design.futil")).unwrap();
    let run = |thread: usize| {
        for time in 0..3 {
            let out = workshop.path(&format!("out-{thread}-{time}"));
            // A program that is none is between them.
            let broken = petal::call(["run", "-", "--quiet"], "component").unwrap_err();
            assert!(broken.to_string().contains("<stdin>"), "{broken}");
            let args = ["run", "-", "--json", "--out", out.to_str().unwrap()];
            let printed = petal::call(args, design.clone()).unwrap();
            let summary = std::fs::read_to_string(out.join("summary.json")).unwrap();
            assert_eq!(printed, summary);
            // Numbers of sites are of the file's name, too.
            let stats = |dir: &str| {
                let all = petal::call(["stats", dir, "--format", "json"], "").unwrap();
                let others = all.lines().filter(|line| !line.contains("\"site\": "));
                others.collect::<Vec<_>>().join("\n")
            };
            let from_file = stats(workshop.path("kept").to_str().unwrap());
            let places = from_file.replace("design.futil", "<stdin>");
            assert_eq!(stats(out.to_str().unwrap()), places);
        }
    };
    thread::scope(|scope| {
        for thread in 0..4 {
            let run = &run;
            scope.spawn(move || run(thread));
        }
    });
}

#[test]
fn events_are_what_a_call_prints() {
    let workshop = Workshop::everything();
    let design = workshop.path("design.futil");
    let design = design.to_str().unwrap();
    let out = workshop.path("of-call");
    let args = [
        "run",
        design,
        "--events",
        "-",
        "--out",
        out.to_str().unwrap(),
    ];
    let printed = petal::call(args, "").unwrap();
    let command = workshop.succeeds(&[
        "run",
        "design.futil",
        "--events",
        "-",
        "--out",
        "of-command",
    ]);
    assert_eq!(printed.lines().count(), command.lines().count());
    for line in printed.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn a_call_is_interrupted_alone() {
    let workshop = Workshop::endless();
    let args = |out: &str| {
        let design = workshop.path("design.futil");
        let out = workshop.path(out);
        [
            "run",
            design.to_str().unwrap(),
            "-q",
            "--cycle-limit",
            FOREVER,
            "--out",
            out.to_str().unwrap(),
        ]
        .map(str::to_owned)
    };
    let [one, other] = [(); 2].map(|()| petal::Interrupt::default());
    thread::scope(|scope| {
        let stopped = scope.spawn(|| petal::call_until(&one, args("one"), ""));
        let going = scope.spawn(|| petal::call_until(&other, args("other"), ""));
        thread::sleep(std::time::Duration::from_secs(2));
        one.request();
        let failure = stopped.join().unwrap().unwrap_err();
        assert!(failure.to_string().contains("interrupted"), "{failure}");
        thread::sleep(std::time::Duration::from_millis(500));
        assert!(!going.is_finished());
        other.request();
        going.join().unwrap().unwrap_err();
    });
}
