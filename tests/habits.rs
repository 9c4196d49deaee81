//! What people expect of any command: completions, manual pages, colours, versions, and a way to
//! find out what is missing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::expect;

/// Without what the person who runs the tests has chosen.
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    command
        .env("XDG_CACHE_HOME", cache)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CXX")
        .stdin(Stdio::null());
    command
}

fn petal(args: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_petal"));
    command.args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{command:?} said:\n{said}");
    text(&output.stdout)
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeeds(&mut petal(&["completions", shell]));
        for word in ["run", "annotate", "disable-pass", "doctor"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let output = petal(&["completions", "cmd"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("bash"), "{output:?}");
}

/// What bash offers after these words, the last of which is being written.
fn completed(words: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("petal.bash");
    fs::write(&file, succeeds(&mut petal(&["completions", "bash"]))).unwrap();
    let script = format!(
        "set -e; source '{}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         word=${{COMP_WORDS[COMP_CWORD]}}; before=${{COMP_WORDS[COMP_CWORD-1]}}; \
         function=$(complete -p petal | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
         \"$function\" petal \"$word\" \"$before\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let checked = command("bash").arg("-n").arg(&file).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let offered = succeeds(command("bash").args(["--norc", "-c", &script]));
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
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("man1");
    succeeds(petal(&["man", "--out"]).arg(&out));
    let mut pages: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    pages.sort();
    let help = succeeds(&mut petal(&["--help"]));
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
        let rendered = command("groff")
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
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_string_lossy().into_owned();
    let run = [
        "run",
        "calyx-examples/switch-case-par.futil",
        "-q",
        "--out",
        &out,
    ];
    succeeds(&mut petal(&run));
    let annotate = ["annotate", &out];
    let forced = ["annotate", &out, "--color", "always"];
    let plain = succeeds(&mut petal(&annotate));
    assert!(!plain.contains(ESCAPE), "{plain}");
    assert!(succeeds(&mut petal(&forced)).contains(ESCAPE));
    assert!(succeeds(petal(&annotate).env("CLICOLOR_FORCE", "1")).contains(ESCAPE));
    let never = [&annotate[..], &["--color=never"]].concat();
    assert_eq!(succeeds(petal(&never).env("CLICOLOR_FORCE", "1")), plain);
    // Who asks for colours on the command line gets them.
    assert!(succeeds(petal(&forced).env("NO_COLOR", "1")).contains(ESCAPE));
}

#[test]
fn messages_are_coloured_alike() {
    for (args, code) in [
        (&["run", "nothing.futil"][..], 1),
        (&["run"], 2),
        (&["trace", "nothing"], 1),
    ] {
        let said = |more: &[&str]| {
            let output = petal(&[args, more].concat()).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{args:?}");
            text(&output.stderr)
        };
        assert!(said(&[]).starts_with("error: "), "{}", said(&[]));
        assert!(!said(&[]).contains(ESCAPE), "{}", said(&[]));
        let coloured = said(&["--color", "always"]);
        assert!(
            coloured.starts_with("\x1b[1m\x1b[31merror:\x1b[0m "),
            "{coloured:?}"
        );
    }
    let help = succeeds(&mut petal(&["--color=always", "--help"]));
    assert!(help.contains(ESCAPE), "{help}");
}

/// What a command writes to a terminal.
fn on_a_terminal(args: &[&str], no_color: bool) -> String {
    let words: Vec<String> = std::iter::once(env!("CARGO_BIN_EXE_petal"))
        .chain(args.iter().copied())
        .map(|word| format!("'{word}'"))
        .collect();
    let mut script = command("script");
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
fn versions_of_all_that_takes_part() {
    let version = env!("CARGO_PKG_VERSION");
    let short = succeeds(&mut petal(&["-V"]));
    assert_eq!(short, format!("petal {version}\n"));
    let long = succeeds(&mut petal(&["--version"]));
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], format!("petal {version}"));
    assert_eq!(lines[1], format!("calyx {}", petal_passes::CALYX_VERSION));
    let locked = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"))
        .unwrap()
        .split("[[package]]\n")
        .find_map(|package| {
            let rest = package.strip_prefix("name = \"cranelift-jit\"\nversion = \"")?;
            Some(rest.split('"').next()?.to_owned())
        });
    let cranelift = format!("embedded simulator: cranelift {}", locked.unwrap());
    assert_eq!(lines[2], cranelift);
    let verilator = succeeds(command("verilator").arg("--version"));
    let verilator = verilator.split(' ').nth(1).unwrap();
    assert_eq!(lines[3], format!("verilator: {verilator}"));
    let without = succeeds(petal(&["--version"]).env("PATH", ""));
    assert!(without.ends_with("verilator: not installed\n"), "{without}");
}

#[test]
fn a_summary_tells_what_made_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_string_lossy().into_owned();
    let keys = |simulator: &str| {
        let design = "calyx-examples/while-comb.futil";
        let args = [
            "run",
            design,
            "--out",
            &out,
            "--json",
            "--simulator",
            simulator,
        ];
        let summary = succeeds(&mut petal(&args));
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["versions"]["calyx"], petal_passes::CALYX_VERSION);
        let versions = summary["versions"].as_object().unwrap();
        versions.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    expect!["calyx cranelift petal"].assert_eq(&keys("embedded"));
    expect!["calyx petal verilator"].assert_eq(&keys("verilator"));
}

#[test]
fn the_doctor_tries_everything() {
    let report = succeeds(&mut petal(&["doctor"]));
    let found: Vec<&str> = report
        .lines()
        .filter(|line| line.starts_with("ok "))
        .filter_map(|line| line.get(9..28))
        .map(str::trim)
        .collect();
    for what in [
        "embedded simulator",
        "Verilator",
        "C++ compiler",
        "run in Verilator",
        "cache folder",
    ] {
        assert!(found.contains(&what), "{report}");
    }
    assert_eq!(report.matches("17 cycles").count(), 2, "{report}");
}

#[test]
fn the_doctor_tells_how_to_get_what_is_missing() {
    let report = succeeds(
        petal(&["doctor"])
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
    let dir = tempfile::tempdir().unwrap();
    let pretend = |script: &str| {
        let program = dir.path().join("verilator");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!(
            "{}:{}",
            dir.path().display(),
            std::env::var("PATH").unwrap()
        );
        let report = succeeds(petal(&["doctor"]).env("PATH", path));
        let lines = report
            .lines()
            .skip_while(|line| !line.contains(" Verilator  "));
        lines
            .take_while(|line| !line.contains("cache folder"))
            .filter(|line| !line.contains("C++ compiler"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let found =
        pretend("echo broken >&2; exit 3").replace(&dir.path().display().to_string(), "DIR");
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
    let output = petal(&["doctor"])
        .env("TMPDIR", "/no/such/folder")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("/no/such/folder"),
        "{output:?}"
    );
}
