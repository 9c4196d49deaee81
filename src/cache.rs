//! `petal cache`: looks after the cache of Verilator's builds and of what `petal synth` made.

use std::fs;

use petal_profile::{Error, cache};

use crate::print::print;

/// `petal cache clean`
pub fn clean() -> Result<(), Error> {
    let dir = cache::path()?;
    let mut left = Vec::new();
    if dir.exists() {
        cache::check(&dir)?;
        petal_synth::clean_cache(&dir).map_err(Error::io("empty the cache", &dir))?;
        left = petal_verilator::clean_cache(&dir)?;
        // It stays if something is in it.
        let _ = fs::remove_dir(&dir);
    }
    if left.is_empty() {
        return print(&format!("{} is empty\n", dir.display()));
    }
    let left: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
    print(&format!(
        "{} is empty but for what petal did not put there: {}\n",
        dir.display(),
        left.join(", ")
    ))
}
