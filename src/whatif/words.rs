//! Who accessed which word of the memories in a run.

use std::rc::Rc;

use petal_analysis::dataflow::Access;
use petal_files::Scratch;
use petal_metadata::Flows;
use petal_observe::{AccessKind, AccessRequest};
use petal_profile::{Error, Options, Places, Profiled, run_in};

use crate::terminal::Terminal;

/// All accesses, in the order of time: those of the same run, once more, with its memories watched. None where no group surely takes a word, or
/// they are too many to be kept.
pub fn accesses(options: &Options, flows: &Flows) -> Result<Vec<Access>, Error> {
    if flows.values().all(|flow| flow.words.is_empty()) {
        return Ok(Vec::new());
    }
    let scratch = Scratch::new().map_err(Error::no_scratch)?;
    let out = scratch.path().join("profile");
    let mut options = options.clone();
    options.design.is_verified = false;
    options.is_drawn = false;
    options.observe.request.accesses = vec![AccessRequest::new(None, "*".into())];
    let quiet = Terminal::new(true);
    let run = run_in(&options, &out, &mut Places::default(), &quiet);
    let Ok(Profiled {
        results: Some(results),
        ..
    }) = run
    else {
        petal_profile::interrupt::check()?;
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for of in results.accesses {
        let memory: Rc<str> = of.memory.into();
        for access in of.accesses {
            let Some(index) = access.index else { continue };
            let by = match &access.by[..] {
                [site] => Some(of.sites[*site].group.clone()),
                _ => None,
            };
            all.push(Access {
                cycle: access.cycle,
                word: (Rc::clone(&memory), index),
                is_write: access.access == AccessKind::Write,
                by,
            });
        }
    }
    // In a cycle a word is read before it is written.
    all.sort_by_key(|access| (access.cycle, access.is_write));
    Ok(all)
}
