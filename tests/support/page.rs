//! Pages of the documentation, and a scratch folder to run their commands in.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A code block of a page.
#[derive(Debug)]
pub struct Block {
    /// What follows the opening fence.
    pub language: String,
    /// Its lines.
    pub text: String,
}

/// The code blocks of a page of the repository, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(super::root().join(page))
        .unwrap_or_else(|error| panic!("{page}: {error}"));
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            open = !open;
            if open {
                blocks.push(Block {
                    language: language.to_owned(),
                    text: String::new(),
                });
            }
        } else if let (true, Some(block)) = (open, blocks.last_mut()) {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!open, "{page}: a code block is not closed");
    blocks
}

/// The code blocks of a page in one language.
pub fn blocks_in(page: &str, language: &str) -> Vec<String> {
    blocks(page)
        .into_iter()
        .filter(|block| block.language == language)
        .map(|block| block.text)
        .collect()
}

/// `cargo run --release --` is petal; nothing else of cargo runs here.
const CARGO: &str = r#"#!/bin/sh
if [ "$1 $2 $3" != "run --release --" ]; then
  echo "cargo $* does not run in this test" >&2
  exit 1
fi
shift 3
exec petal "$@"
"#;

/// A folder to run commands in, with petal on the path. It is also the home folder.
pub struct Scratch {
    dir: TempDir,
}

impl Scratch {
    /// An empty one.
    pub fn new() -> Self {
        let scratch = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(scratch.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_petal"), scratch.path("bin/petal")).unwrap();
        let cargo = scratch.path("bin/cargo");
        fs::write(&cargo, CARGO).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        scratch
    }

    /// Where this file lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The text of this file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Copies a file into the scratch folder.
    pub fn copy(&self, from: &Path, name: &str) {
        fs::copy(from, self.path(name)).unwrap();
    }

    /// Runs commands as the runner of GitHub Actions does.
    pub fn bash(&self, commands: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        Command::new("bash")
            .args(["-eo", "pipefail", "-c", commands])
            .current_dir(self.dir.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("HOME", self.dir.path())
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .output()
            .unwrap()
    }

    /// Runs commands that must succeed, and returns what they print.
    pub fn succeeds(&self, commands: &str) -> String {
        let output = self.bash(commands);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}\n{said}");
        String::from_utf8(output.stdout).unwrap()
    }
}
