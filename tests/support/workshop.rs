//! A place to work in for tests of the command.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use petal_metadata::Metadata;
use petal_reconstruct::{Event, TraceReader};
use petal_visualize::outputs::OUTPUTS;
use tempfile::TempDir;

use super::{cache_home, root};

/// The command under test.
pub const PETAL: &str = env!("CARGO_BIN_EXE_petal");

/// A folder with a design, and commands on it.
pub struct Workshop {
    pub dir: TempDir,
}

pub const DESIGN: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 2, 1); }
  wires {
    group put { mem.addr0 = 1'd1; mem.write_data = 8'd5; mem.write_en = 1'd1; put[done] = mem.done; }
  }
  control { seq { put; put; } }
}
"#;

pub const DATA: &str = r#"{"mem": {"data": [1, 2], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}}}"#;

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

/// `cargo run --release --` is petal; nothing else of cargo runs here.
const CARGO: &str = r#"#!/bin/sh
if [ "$1 $2 $3" != "run --release --" ]; then
  echo "cargo $* does not run in this test" >&2
  exit 1
fi
shift 3
exec petal "$@"
"#;

/// Outputs that depend on the metadata and the trace alone.
pub const OF_THE_TRACE: [&str; 5] = [
    "timeline.json",
    "timeline.pftrace",
    "stats/groups.csv",
    "stats/cells.csv",
    "stats/control.csv",
];

/// Where an example lies, as an argument.
pub fn example(name: &str) -> String {
    let path = root().join("calyx-examples").join(name);
    path.to_str().expect("the path is text").to_owned()
}

/// What a command said on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command, which must succeed, and returns what it prints.
pub fn succeeds(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = said(&output);
    assert!(output.status.success(), "{command:?} said:\n{said}");
    String::from_utf8(output.stdout).expect("what it prints is UTF-8")
}

/// Fails unless `said` has all of `parts`.
pub fn tells(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

/// Waits until there is such a thing.
pub fn wait_for<T>(what: &str, find: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(thing) = find() {
            return thing;
        }
        assert!(Instant::now() < until, "waited too long for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until it is so.
pub fn wait_until(what: &str, is: impl Fn() -> bool) {
    wait_for(what, || is().then_some(()));
}

/// All files below a folder, with their contents. No command leaves temporary ones.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A limit of cycles that no run comes to.
pub const FOREVER: &str = "1000000000000000000";

impl Workshop {
    /// The events of the profile in a folder.
    pub fn events(&self, folder: &str) -> Vec<Event> {
        let folder = self.path(folder);
        let metadata = Metadata::read(&folder.join("metadata.json")).unwrap();
        let trace = File::open(folder.join("trace.petal")).unwrap();
        let events = TraceReader::new(BufReader::new(trace), &metadata.fingerprint).unwrap();
        events.map(Result::unwrap).collect()
    }

    /// An empty one.
    pub fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// One with a design and its data.
    pub fn new() -> Self {
        let workshop = Self::empty();
        workshop.write("design.futil", DESIGN);
        workshop.write("design.futil.data", DATA);
        workshop
    }

    /// One with a design that never ends. A counter keeps its state from repeating, so nobody can prove it. Its runs end after 100 million
    /// cycles, which is soon: who waits for it [says more](FOREVER).
    pub fn endless() -> Self {
        let workshop = Self::new();
        let design = DESIGN
            .replace("cells {", "cells { on = std_reg(1); n = std_reg(64); plus = std_add(64);")
            .replace(
                "wires {",
                "wires {\n    group set { on.in = 1'd1; on.write_en = 1'd1; set[done] = on.done; }\n    \
                 plus.left = n.out; plus.right = 64'd1; n.in = plus.out; n.write_en = 1'd1;",
            )
            .replace("seq { put; put; }", "seq { set; while on.out { put; } }");
        workshop.write("design.futil", design);
        workshop
    }

    /// One with everything that a command can read: designs with all their parts, data, a profile, a
    /// baseline, a waveform.
    pub fn everything() -> Self {
        let workshop = Self::new();
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

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes an example, with its data and with edits: each must change something.
    pub fn edited(&self, name: &str, example: &str, edits: &[(&str, &str)]) {
        let design = self::example(example);
        let mut text = fs::read_to_string(&design).unwrap();
        for (from, to) in edits {
            assert!(text.contains(from), "{example} has no {from}");
            text = text.replace(from, to);
        }
        self.write(name, text);
        let data = self.path(&format!("{name}.data"));
        fs::copy(format!("{design}.data"), data).unwrap();
    }

    /// Copies a folder.
    pub fn copy(&self, from: &str, to: &str) {
        let mut command = Command::new("cp");
        command.args(["-r", from, to]).current_dir(self.dir.path());
        succeeds(&mut command);
    }

    /// The command with these arguments, without what the person who runs the tests has chosen.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.run(PETAL);
        command.args(args);
        command
    }

    /// Any program in the folder.
    pub fn run(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.dir.path())
            .env("XDG_CACHE_HOME", cache_home())
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("CXX")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn petal(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn succeeds(&self, args: &[&str]) -> String {
        succeeds(&mut self.command(args))
    }

    /// Runs petal, which must end with this exit code, and returns what it says.
    pub fn ends(&self, code: i32, args: &[&str]) -> String {
        let output = self.petal(args);
        let said = said(&output);
        let ended = output.status.code();
        assert_eq!(ended, Some(code), "petal {args:?} said:\n{said}");
        assert!(!said.contains("panicked"), "petal {args:?} said:\n{said}");
        said
    }

    /// Runs petal, which must fail with exit code 1 and leave nothing in `out`, and returns what it says.
    pub fn fails(&self, args: &[&str]) -> String {
        let said = self.ends(1, args);
        for name in OUTPUTS.iter().map(|output| output.name) {
            assert!(
                !self.path("out").join(name).exists(),
                "petal {args:?} left {name}"
            );
        }
        said
    }

    /// Runs commands as the runner of GitHub Actions does, with petal on the path, and the folder as
    /// home.
    pub fn bash(&self, commands: &str) -> Command {
        let bin = self.path("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            symlink(PETAL, bin.join("petal")).unwrap();
            fs::write(bin.join("cargo"), CARGO).unwrap();
            fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = std::env::var("PATH").unwrap();
        let mut bash = self.run("bash");
        bash.args(["-eo", "pipefail", "-c", commands])
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.dir.path())
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"));
        bash
    }

    /// The command in a shell that does `before` first.
    pub fn after(&self, before: &str, args: &[&str]) -> Command {
        let mut shell = self.run("sh");
        shell
            .args(["-c", &format!("{before}; exec \"$@\""), "sh", PETAL])
            .args(args);
        shell
    }

    /// All files of the folder `name`; none if it is not there.
    pub fn files(&self, name: &str) -> Files {
        let mut files = Files::new();
        let top = self.path(name);
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&top).unwrap().to_owned();
                let shown = name.display().to_string();
                assert!(!shown.contains(".petal-"), "{shown} is left");
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.insert(name, fs::read(path).unwrap());
                }
            }
        }
        files
    }

    /// The profile in the folder `name`, which is whole, or nothing at all.
    pub fn profile(&self, name: &str) -> Option<Files> {
        let files = self.files(name);
        if files.contains_key(Path::new("summary.json")) {
            self.succeeds(&["stats", name]);
            return Some(files);
        }
        None
    }

    /// The profile in `out` that an undisturbed command makes. It is removed.
    pub fn undisturbed(&self, args: &[&str]) -> Files {
        self.succeeds(args);
        let files = self.profile("out").expect("it is whole");
        fs::remove_dir_all(self.path("out")).unwrap();
        files
    }

    /// Fails unless a command made the right profile in `out`, or told an error and made none.
    pub fn is_right_or_told(&self, output: &Output, right: &Files, what: &str) {
        let said = said(output);
        assert!(!said.contains("panicked"), "{what}: {said}");
        if output.status.success() {
            assert!(self.files("out") == *right, "{what}: another profile");
        } else {
            assert_eq!(output.status.code(), Some(1), "{what}: {said}");
            assert!(said.starts_with("error: "), "{what}: {said}");
            assert_eq!(self.profile("out"), None, "{what}: a whole profile");
        }
    }

    /// Temporary files and folders of commands that run or were killed, in order.
    pub fn temporary(&self) -> Vec<PathBuf> {
        let mut temporary = Vec::new();
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let is = |begin: &&str| name.starts_with(*begin);
                if [".petal", ".tmp", "petal-lib"].iter().any(is) {
                    temporary.push(entry.path());
                } else if entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        temporary.sort();
        temporary
    }
}
