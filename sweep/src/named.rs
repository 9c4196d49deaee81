//! What the names of a sweep stand for.

use std::collections::HashMap;

use crate::job::{Job, Name, Source};

/// What names stand for: one thing each, in tables as well as in folders.
#[derive(Default)]
pub struct Named {
    designs: HashMap<String, Source>,
    /// Data sets, by the names of their designs and their own.
    data: HashMap<[String; 2], Option<Source>>,
}

impl Named {
    /// Fails if a run has a name for something else than a run before it.
    pub fn check(&mut self, job: &Job) -> Result<(), String> {
        let Name { design, data, .. } = &job.name;
        let there = self.designs.entry(design.clone());
        if *there.or_insert_with(|| job.design.clone()) != job.design {
            return Err(format!("two designs are called `{design}`"));
        }
        let there = self.data.entry([design.clone(), data.clone()]);
        if *there.or_insert_with(|| job.data.clone()) != job.data {
            return Err(format!("two data sets of {design} are called `{data}`"));
        }
        Ok(())
    }
}
