//! Finds profiles: in all folders that an editor has open, and again whenever one is written, whoever does.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use petal_metadata::Metadata;
use petal_visualize::outputs::{METADATA, SUMMARY};

use super::figures::{Known, known};

/// How long to wait between two looks, at least; and how many times as long as a look takes.
const BETWEEN: Duration = Duration::from_millis(500);
const SHARE: u32 = 20;

/// How deep profiles are below a folder, and how much is looked at in it, at most.
const DEPTH: usize = 6;
const ENTRIES: usize = 50_000;

/// Folders that have no profiles, and much else.
const OTHERS: [&str; 2] = ["node_modules", "target"];

/// What differs between two profiles that are in one folder one after the other.
pub type Version = (u64, i64, i64, u64);

/// A profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its folder.
    pub dir: PathBuf,
    /// Which one in that folder.
    pub version: Version,
    /// The files of its design.
    pub known: Vec<Known>,
}

impl Found {
    /// When it was written, in seconds and nanoseconds.
    fn written(&self) -> (i64, i64) {
        (self.version.1, self.version.2)
    }
}

/// Looks for profiles below the folders that come in, until no more can come. Hands over all that there are whenever they change, and once
/// for each time that folders came in, with whether they did.
pub fn watch(folders: &Receiver<Vec<PathBuf>>, mut found: impl FnMut(Vec<Found>, bool)) {
    let mut known: HashMap<PathBuf, Found> = HashMap::new();
    let mut last: Vec<Found> = Vec::new();
    let mut roots = Vec::new();
    let mut pause = BETWEEN;
    loop {
        let is_asked = match folders.recv_timeout(pause) {
            Ok(folders) => {
                roots = folders;
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let begin = Instant::now();
        let mut all = HashMap::new();
        let mut left = ENTRIES;
        for root in &roots {
            look(root, DEPTH, &mut left, &mut |dir| {
                if !all.contains_key(&dir)
                    && let Some(version) = version(&dir)
                {
                    let old = known.remove(&dir).filter(|old| old.version == version);
                    let profile = old.or_else(|| read(&dir, version));
                    all.extend(profile.map(|profile| (dir, profile)));
                }
            });
        }
        known = all;
        let mut now: Vec<Found> = known.values().cloned().collect();
        now.sort_by(|a, b| b.written().cmp(&a.written()).then(a.dir.cmp(&b.dir)));
        if is_asked || now != last {
            last.clone_from(&now);
            found(now, is_asked);
        }
        pause = BETWEEN.max(begin.elapsed() * SHARE);
    }
}

/// Hands over the folders of profiles in a folder.
fn look(folder: &Path, depth: usize, left: &mut usize, take: &mut impl FnMut(PathBuf)) {
    if folder.join(SUMMARY).is_file() {
        take(folder.to_owned());
        return;
    }
    let Some(deeper) = depth.checked_sub(1) else {
        return;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(rest) = left.checked_sub(1) else {
            return;
        };
        *left = rest;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') && !OTHERS.contains(&&*name) {
            look(&entry.path(), deeper, left, take);
        }
    }
}

fn version(dir: &Path) -> Option<Version> {
    let file = fs::metadata(dir.join(SUMMARY)).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec(), file.size()))
}

/// The profile in a folder. One that can't be read has no files, so that it is not read again.
fn read(dir: &Path, version: Version) -> Option<Found> {
    let metadata = Metadata::read(&dir.join(METADATA));
    // Another one may have taken its place meanwhile, which is found the next time.
    (self::version(dir) == Some(version)).then(|| Found {
        dir: dir.to_owned(),
        version,
        known: metadata
            .map(|metadata| known(&metadata))
            .unwrap_or_default(),
    })
}
