//! The values of a run, from one more run of its design for all that is asked for at once. What was asked for once is known in all cycles.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use petal_observe::{ChangeOf, Request, Watch, WatchRequest};
use petal_profile::{Again, Error, Profile};
use petal_reconstruct::Signal;

use crate::variables::Variable;

/// So many words of a memory are shown.
const MOST_WORDS: u64 = 256;

/// What a profile does not tell of the design that it is of.
#[derive(Debug, Clone, Default)]
pub struct DesignFile {
    /// The design's file: what it imports is looked up beside it, and so are its data.
    pub file: Option<PathBuf>,
    /// The contents of the memories.
    pub data: Option<PathBuf>,
    /// Folders to look for imports in.
    pub libraries: Vec<PathBuf>,
    /// Options of passes.
    pub pass_options: Vec<String>,
}

/// A value in a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// The first words of a memory, each with its indices, such as `[3]`, and how many it has.
    Words(Vec<(String, u64)>, u64),
}

/// A change of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The cycle at whose end a register or word of a memory gets its new value; of anything else, the first that has it.
    pub cycle: u64,
    /// Which word of a memory, such as `[3]`, if several are looked at.
    pub index: String,
    /// The value before, if that is known.
    pub old: Option<u64>,
    /// The value after.
    pub new: u64,
    /// The groups that wrote it, as paths through the call tree.
    pub by: Vec<String>,
}

/// How a value is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    /// In each cycle.
    Value,
    /// Its changes, and who made them.
    Writes,
}

/// The values that somebody asked for.
pub(crate) struct Values {
    design: DesignFile,
    again: Option<Again>,
    known: HashMap<(Look, String), Rc<Watch>>,
}

impl Values {
    pub fn new(design: DesignFile) -> Self {
        Self {
            design,
            again: None,
            known: HashMap::new(),
        }
    }

    /// The design, ready to run again.
    fn again(&mut self, profile: &Profile) -> Result<&Again, Error> {
        let again = match self.again.take() {
            Some(again) => again,
            None => {
                let design = &self.design;
                Again::new(profile, design.file.as_deref(), |options| {
                    options.data = design.data.clone().or(options.data.take());
                    options.design.libraries.clone_from(&design.libraries);
                    options.design.pass_options.clone_from(&design.pass_options);
                })?
            }
        };
        Ok(self.again.insert(again))
    }

    /// The changes of some values in the whole run.
    pub fn changes(
        &mut self,
        profile: &Profile,
        look: Look,
        texts: &[&str],
    ) -> Result<Vec<Rc<Watch>>, Error> {
        let key = |text: &str| (look, text.to_owned());
        let unknown = texts
            .iter()
            .filter(|text| !self.known.contains_key(&key(text)));
        let unknown: Vec<&str> = unknown.copied().collect();
        if !unknown.is_empty() {
            let watches = unknown.iter().map(|&text| match look {
                Look::Value => WatchRequest::value(text.into()),
                Look::Writes => WatchRequest::new(None, text.into()),
            });
            let request = Request {
                watches: watches.collect(),
                ..Request::default()
            };
            let results = self.again(profile)?.observe(&request)?;
            for watch in results.watches {
                let key = key(&watch.value);
                self.known.insert(key, Rc::new(watch));
            }
        }
        let known = texts.iter().map(|text| self.known.get(&key(text)).cloned());
        // What is a variable of a front end is no watch of its own.
        let known = known.collect::<Option<Vec<_>>>();
        known.ok_or_else(|| {
            Error::usage("this is a variable of the front end: name the cell that holds it, which `petal trace` shows")
        })
    }

    /// The values of some variables in a cycle.
    pub fn values(
        &mut self,
        profile: &Profile,
        variables: &[Variable],
        cycle: u64,
    ) -> Result<Vec<Value>, Error> {
        let of = |is_memory: bool| {
            let all = variables.iter();
            let all = all.filter(move |of| of.memory.is_some() == is_memory);
            all.map(|of| of.text.as_str()).collect::<Vec<_>>()
        };
        // One run for all of each kind.
        self.changes(profile, Look::Value, &of(false))?;
        self.changes(profile, Look::Writes, &of(true))?;
        let all = variables.iter();
        all.map(|of| match &of.memory {
            Some(cell) => self.words(profile, &of.text, cell, cycle),
            None => {
                let watch = self.changes(profile, Look::Value, &[&of.text])?;
                Ok(Value::Number(value_at(&watch[0].changes, cycle)))
            }
        })
        .collect()
    }

    /// The words of a memory in a cycle.
    fn words(
        &mut self,
        profile: &Profile,
        text: &str,
        cell: &Signal,
        cycle: u64,
    ) -> Result<Value, Error> {
        let watch = self.changes(profile, Look::Writes, &[text])?;
        let unknown = || Error::new(format!("`{text}` is no memory in the compiled design"));
        let (memory, before) = self.again(profile)?.memory(cell).ok_or_else(unknown)?;
        let mut words: HashMap<u64, u64> = before.into_iter().collect();
        let written = watch[0].changes.iter();
        for change in written.take_while(|change| change.cycle < cycle) {
            words.extend(change.index.map(|index| (index, change.new)));
        }
        let shown = 0..memory.words().min(MOST_WORDS);
        let word = |index| words.get(&index).copied().unwrap_or(0);
        let shown = shown.map(|index| (memory.indices(index), word(index)));
        Ok(Value::Words(shown.collect(), memory.words()))
    }

    /// A change as it is shown.
    pub fn written(
        &mut self,
        profile: &Profile,
        variable: &Variable,
        change: &ChangeOf,
    ) -> Result<Written, Error> {
        let memory = match &variable.memory {
            Some(cell) => self.again(profile)?.memory(cell),
            None => None,
        };
        let index = change.index.zip(memory);
        Ok(Written {
            cycle: change.cycle,
            index: index.map_or_else(String::new, |(index, (memory, _))| memory.indices(index)),
            old: change.old,
            new: change.new,
            by: change.by.clone(),
        })
    }
}

/// What a value is in a cycle, by its changes.
pub(crate) fn value_at(changes: &[ChangeOf], cycle: u64) -> u64 {
    let after = changes.partition_point(|change| change.cycle <= cycle);
    after.checked_sub(1).map_or(0, |last| changes[last].new)
}

/// In which cycles a condition becomes true.
pub(crate) fn becomes_true(changes: &[ChangeOf]) -> Vec<u64> {
    let begins = changes.iter().filter(|of| of.new != 0 && of.old == Some(0));
    begins.map(|of| of.cycle).collect()
}
