//! A profile's folder that a command shows.

use std::path::Path;

use petal_analysis::{Analysis, ControlView, Verified};
use petal_profile::{Error, Profile};

use crate::messages;
use crate::progress::Stage;

/// Opens it; tells if its design was not verified.
pub fn open(dir: &Path) -> Result<Profile, Error> {
    let profile = Profile::open(dir)?;
    if !profile.metadata.verified {
        messages::note(format_args!("{}: {}", dir.display(), Verified::No.text()));
    }
    Ok(profile)
}

/// Analyses its run as it is written in the source; that may take long.
pub fn analyse(profile: &Profile) -> Result<Analysis<'_>, Error> {
    let _reading = Stage::new("reading the run", false);
    profile.analyse(ControlView::Source)
}
