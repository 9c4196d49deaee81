//! The folder of a profile: the names of its files, and how they get there.
//!
//! Files are written to a hidden folder beside their place and renamed at the end, `summary.json`
//! last. So a folder with a summary is whole, and one that a failed run left has none.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::failure::Failure;

/// The metadata of the design.
pub const METADATA: &str = "metadata.json";
/// The Petal trace.
pub const TRACE: &str = "trace.petal";
/// The summary; there only when everything else is.
pub const SUMMARY: &str = "summary.json";
/// The memories after the run.
pub const MEMORIES: &str = "memories.json";
/// The Verilog of the instrumented design, with `--keep`.
pub const VERILOG: &str = "design.sv";
/// The waveform, with `--keep`.
pub const WAVEFORM: &str = "trace.vcd";

/// Files on their way into a profile's folder.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    dir: TempDir,
}

impl Staging {
    /// Prepares to write into `target`, which is made if it is not there.
    pub fn new(target: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(target).map_err(Failure::io("create the output folder", target))?;
        let dir = TempDir::with_prefix_in(".petal-", target)
            .map_err(Failure::io("write to the output folder", target))?;
        Ok(Self {
            target: target.to_owned(),
            dir,
        })
    }

    /// Where to write the file `name` for now.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Failure::io("create the folder", parent))?;
        }
        fs::write(&path, content).map_err(Failure::io("write", &self.target.join(name)))
    }

    /// Moves the files `names` to their place, in this order. A summary from before is removed
    /// first, so that the folder does not look whole in between.
    pub fn commit(self, names: &[&str]) -> Result<(), Failure> {
        if names.contains(&SUMMARY) {
            let old = self.target.join(SUMMARY);
            match fs::remove_file(&old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::io("replace", &old)(error));
                }
                _ => {}
            }
        }
        for name in names {
            let place = self.target.join(name);
            if let Some(parent) = place.parent() {
                fs::create_dir_all(parent).map_err(Failure::io("create the folder", parent))?;
            }
            fs::rename(self.path(name), &place).map_err(Failure::io("write", &place))?;
        }
        Ok(())
    }
}

/// Writes a file of its own: whole, or not at all.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let failed = |error: std::io::Error| Failure::io("write", path)(error);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.persist(path)
        .map(drop)
        .map_err(|error| failed(error.error))
}
