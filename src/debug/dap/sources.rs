//! The source files of a run for an editor: by their paths where they are as they were, or else their texts as the profile has them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use petal_debug::{File, Session, SourcePlace};
use petal_profile::Error;
use serde_json::{Value, json};

use super::{Answer, Debugged};

/// Where the source files are.
pub struct Sources {
    design: Option<PathBuf>,
    /// Where files were when the editor had them open.
    paths: BTreeMap<File, PathBuf>,
    /// The files that the editor gets from here.
    texts: Vec<File>,
}

/// Whether a file still has the text that the run knows.
fn is_as_it_was(session: &Session, file: File, path: &Path) -> bool {
    let known = session.source(file);
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

    /// The file that an editor has got from here, if that is what it names.
    fn given(&self, source: &Value) -> Option<File> {
        let reference = usize::try_from(source["sourceReference"].as_u64()?).ok()?;
        self.texts.get(reference.checked_sub(1)?).copied()
    }

    /// The file of the run that an editor has open, if it is as it was.
    ///
    /// # Errors
    /// When it has another text, or the run has no such file.
    pub fn learn(
        &mut self,
        session: &Session,
        source: &Value,
        path: &str,
    ) -> Result<File, &'static str> {
        if let Some(file) = self.given(source) {
            return Ok(file);
        }
        let files = session.files(path);
        let Some(first) = files.first().copied() else {
            return Err("nothing on this line ran");
        };
        let of = Path::new(path);
        if !of.is_file() {
            return Ok(first);
        }
        let mut same = files.into_iter();
        let same = same.find(|file| is_as_it_was(session, *file, of));
        let file = same
            .ok_or("this file is not as it was when the design was profiled: profile it again")?;
        self.paths.insert(file, of.to_owned());
        Ok(file)
    }

    /// A place's file, as the protocol has it.
    pub fn source(&mut self, session: &Session, place: &SourcePlace) -> Value {
        let SourcePlace { file: name, of, .. } = place;
        let design = self.design.as_deref();
        let beside = || std::path::absolute(design?.parent()?.join(name)).ok();
        let known = self.paths.get(of).cloned().or_else(beside);
        if let Some(path) = known.filter(|path| is_as_it_was(session, *of, path)) {
            return json!({ "name": name, "path": path });
        }
        if session.source(*of).is_none() {
            return json!({ "name": name });
        }
        let known = self.texts.iter().position(|known| known == of);
        let at = known.unwrap_or_else(|| {
            self.texts.push(*of);
            self.texts.len() - 1
        });
        json!({ "name": name, "sourceReference": at + 1 })
    }
}

impl Debugged {
    /// The text of a file that has no path.
    pub(super) fn source(&self, arguments: &Value) -> Answer {
        let file = self.sources.given(arguments);
        let file = file.or_else(|| self.sources.given(&arguments["source"]));
        let text = file.and_then(|file| self.session.source(file));
        let text = text.ok_or_else(|| Error::usage("there is no such source"))?;
        Ok(json!({ "content": text }))
    }
}
