//! The texts of the front end's files that a design names.
//!
//! Owns where they are looked for, and from where they may be taken: a report goes to other people, and a
//! design may name any file. Knows nothing of lines.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use petal_metadata::is_calyx;

use crate::error::Error;

/// A larger file is not what somebody wrote.
const MAX_BYTES: u64 = 4 << 20;

/// Where texts may be taken from.
pub struct SourceRoots {
    /// Folders, as the file system calls them.
    folders: Vec<PathBuf>,
    /// How many of them the user did not name.
    usual: usize,
    /// What paths of the design begin with, and what they begin with here.
    moved: Vec<(String, PathBuf)>,
}

impl SourceRoots {
    /// The folder of the design, the current one, and those of `--source-root`: `DIR`, or `FROM=TO` for paths that
    /// begin with `FROM`.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn new(design: Option<&Path>, options: &[String]) -> Result<Self, Error> {
        let mut roots = Self::usual(design, Path::new("."));
        for option in options {
            let folder = match option.split_once('=') {
                Some((from, to)) => {
                    roots.moved.push((from.to_owned(), PathBuf::from(to)));
                    to
                }
                None => option,
            };
            let folder = Path::new(folder).canonicalize();
            let folder = folder.map_err(Error::io("use --source-root", Path::new(option)))?;
            roots.folders.push(folder);
        }
        Ok(roots)
    }

    /// The folder of the design, and the one that is the current one where it is compiled.
    pub fn usual(design: Option<&Path>, current: &Path) -> Self {
        let beside = design.and_then(Path::parent).map(|folder| match folder {
            folder if folder.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        });
        let folders = beside.into_iter().chain([current]);
        let folders: Vec<PathBuf> = folders.filter_map(usual_folder).collect();
        Self {
            usual: folders.len(),
            folders,
            moved: Vec::new(),
        }
    }

    /// The texts of these files, by their paths, and what the user should know of the others.
    pub fn read<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> (HashMap<String, String>, Vec<String>) {
        let mut texts = HashMap::new();
        let mut without = BTreeMap::new();
        for path in paths.into_iter().filter(|path| !is_calyx(path)) {
            match self.text(path) {
                Ok(text) => {
                    texts.insert(path.to_owned(), text);
                }
                Err(problem) => {
                    let (cause, place) = problem.cause();
                    let of_cause: &mut Vec<_> = without.entry(cause).or_default();
                    of_cause.push((path, place));
                }
            }
        }
        let notes = without
            .into_iter()
            .map(|(cause, files)| note(&cause, &files));
        (texts, notes.collect())
    }

    fn text(&self, path: &str) -> Result<String, WithoutText> {
        let place = self.look(path)?;
        petal_files::read_to_string(&place).map_err(|error| WithoutText::Unread(error.to_string()))
    }

    /// Where the file is whose text is taken for this path.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn find(&self, path: &str) -> Result<PathBuf, String> {
        self.look(path).map_err(|problem| problem.cause().0)
    }

    fn look(&self, path: &str) -> Result<PathBuf, WithoutText> {
        let places = self.places(path);
        let places = places.iter().filter_map(|place| place.canonicalize().ok());
        let places: Vec<PathBuf> = places.collect();
        if places.is_empty() {
            return Err(WithoutText::NotFound);
        }
        // One that may not be taken does not hide one that may.
        let may_be_taken = |place: &&PathBuf| {
            let mut folders = self.folders.iter();
            folders.any(|folder| place.starts_with(folder))
        };
        let Some(place) = places.iter().find(may_be_taken) else {
            return Err(WithoutText::Elsewhere(places[0].clone()));
        };
        let file = std::fs::metadata(place);
        let file = file.map_err(|error| WithoutText::Unread(error.to_string()))?;
        if file.len() > MAX_BYTES {
            return Err(WithoutText::Unread("larger than a source file".to_owned()));
        }
        Ok(place.clone())
    }

    /// Where a file may be, the likeliest first.
    fn places(&self, path: &str) -> Vec<PathBuf> {
        let moved = self.moved.iter().filter_map(|(from, to)| {
            let rest = path.strip_prefix(from.trim_end_matches('/'))?;
            Some(to.join(rest.strip_prefix('/')?))
        });
        // An absolute path stays what it is when it is joined.
        let joined = self.folders.iter().map(|folder| folder.join(path));
        // Below a folder that the user named, whatever it was below when the front end ran.
        let parts: Vec<_> = Path::new(path).components().collect();
        let rests = (1..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        let below = rests.flat_map(|rest| {
            let folders = self.folders[self.usual..].iter();
            folders
                .map(move |folder| folder.join(&rest))
                .collect::<Vec<_>>()
        });
        moved.chain(joined).chain(below).collect()
    }
}

/// Why the text of a file is not taken.
enum WithoutText {
    /// It is nowhere.
    NotFound,
    /// It is there, but in no folder that texts may be taken from.
    Elsewhere(PathBuf),
    /// It can't be read.
    Unread(String),
}

impl WithoutText {
    /// Why, and where the file is, if that matters.
    fn cause(self) -> (String, Option<PathBuf>) {
        match self {
            Self::NotFound => ("not found".to_owned(), None),
            Self::Elsewhere(place) => {
                let cause = "not in the folder of the design, nor the current one";
                (cause.to_owned(), Some(place))
            }
            Self::Unread(problem) => (problem, None),
        }
    }
}

/// What the user should know of files that have no text for the same reason, and the option that helps.
fn note(cause: &str, files: &[(&str, Option<PathBuf>)]) -> String {
    let (names, have) = match files {
        [(path, _)] => ((*path).to_owned(), "its lines have numbers, but no text"),
        _ => {
            let names = files.iter().map(|(path, _)| {
                let name = Path::new(path).file_name();
                name.map_or_else(
                    || (*path).to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                )
            });
            let names: Vec<String> = names.collect();
            let names = format!("{} files ({})", files.len(), names.join(", "));
            (names, "their lines have numbers, but no text")
        }
    };
    let folders = files.iter().map(|(_, place)| place.as_deref()?.parent());
    let folders: Option<Vec<&Path>> = folders.collect();
    let common = folders.and_then(|folders| {
        let mut above = folders.first()?.ancestors();
        above.find(|above| folders.iter().all(|folder| folder.starts_with(above)))
    });
    let help = match common.filter(|common| common.parent().is_some()) {
        Some(common) => format!("; add `--source-root {}`", common.display()),
        None if cause == "not found" => {
            "; add `--source-root DIR`, the folder that has them".to_owned()
        }
        None => String::new(),
    };
    format!("{names}: {cause}; {have}{help}")
}

/// A folder that texts are taken from although nobody named it. The topmost one, in which a container's processes may be, is not: all
/// files of the machine are below it.
fn usual_folder(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.parent().is_some().then_some(folder)
}
