//! The source files of a run for an editor: by their paths where they are as they were, or else their texts as the profile has them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use petal_debug::{Session, SourcePlace};
use petal_profile::Error;
use serde_json::{Value, json};

use super::{Answer, Debugged};

/// Where the source files are.
pub struct Sources {
    design: Option<PathBuf>,
    /// The paths of files that are as they were, by name; `None` for those that are not, or not found.
    paths: BTreeMap<String, Option<PathBuf>>,
    /// The files that the editor gets from here.
    texts: Vec<String>,
}

/// Whether a file has the text that the run knows by its name.
fn is_as_it_was(session: &Session, name: &str, path: &Path) -> bool {
    let known = session.source(name);
    known.is_some_and(|known| petal_files::read_to_string(path).is_ok_and(|text| text == known))
}

impl Sources {
    /// Those beside the design's file, if somebody knows it.
    pub fn new(design: Option<PathBuf>) -> Self {
        Self {
            design,
            paths: BTreeMap::new(),
            texts: Vec::new(),
        }
    }

    /// Takes in that an editor has a file open; whether that is as it was. What is no file of the run is.
    pub fn learn(&mut self, session: &Session, path: &str) -> bool {
        let file = Path::new(path);
        let name = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| session.source(name).is_some() && file.is_file())
        else {
            return true;
        };
        let is_same = is_as_it_was(session, &name, file);
        if is_same {
            self.paths.insert(name, Some(file.to_owned()));
        }
        is_same
    }

    /// A place's file, as the protocol has it.
    pub fn source(&mut self, session: &Session, place: &SourcePlace) -> Value {
        let name = &place.file;
        let design = self.design.as_deref();
        let path = self.paths.entry(name.clone()).or_insert_with(|| {
            let beside = design?.parent()?.join(name);
            let beside = std::path::absolute(beside).ok()?;
            is_as_it_was(session, name, &beside).then_some(beside)
        });
        if let Some(path) = path {
            return json!({ "name": name, "path": path });
        }
        if session.source(name).is_none() {
            return json!({ "name": name });
        }
        let known = self.texts.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            self.texts.push(name.clone());
            self.texts.len() - 1
        });
        json!({ "name": name, "sourceReference": at + 1 })
    }
}

impl Debugged {
    /// The text of a file that has no path.
    pub(super) fn source(&self, arguments: &Value) -> Answer {
        let reference = &arguments["sourceReference"];
        let reference = reference
            .as_u64()
            .or(arguments["source"]["sourceReference"].as_u64());
        let at = reference.and_then(|of| usize::try_from(of).ok()?.checked_sub(1));
        let name = at.and_then(|at| self.sources.texts.get(at));
        let text = name.and_then(|name| self.session.source(name));
        let text = text.ok_or_else(|| Error::usage("there is no such source"))?;
        Ok(json!({ "content": text }))
    }
}
