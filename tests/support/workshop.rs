//! A place to work in for tests of the command.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

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

impl Workshop {
    pub fn new() -> Self {
        let workshop = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        workshop.write("design.futil", DESIGN);
        workshop.write("design.futil.data", DATA);
        workshop
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_petal"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env(
                "XDG_CACHE_HOME",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
            )
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn petal(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs petal, which must fail with exit code 1, and returns what it says.
    pub fn fails(&self, args: &[&str]) -> String {
        let output = self.petal(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            output.status.code(),
            Some(1),
            "petal {args:?} said:\n{said}"
        );
        assert!(!said.contains("panicked"), "petal {args:?} said:\n{said}");
        for file in [
            "summary.json",
            "flame.svg",
            "timeline.json",
            "timeline.pftrace",
            "report.html",
            "trace.petal",
            "metadata.json",
        ] {
            assert!(
                !self.path("out").join(file).exists(),
                "petal {args:?} left {file}"
            );
        }
        said
    }

    pub fn succeeds(&self, args: &[&str]) -> String {
        let output = self.petal(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "petal {args:?} said:\n{said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Fails unless `said` has all of `parts`.
pub fn tells(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

/// A design that never ends.
pub fn endless() -> Workshop {
    let workshop = Workshop::new();
    let design = DESIGN
        .replace("cells {", "cells { on = std_reg(1);")
        .replace(
            "wires {",
            "wires {\n    group set { on.in = 1'd1; on.write_en = 1'd1; set[done] = on.done; }",
        )
        .replace("seq { put; put; }", "seq { set; while on.out { put; } }");
    workshop.write("design.futil", design);
    workshop
}

/// All files below a folder, with their contents. No command leaves temporary ones.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Workshop {
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
}
