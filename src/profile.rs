//! A profile's folder that a command shows.

use std::path::Path;

use petal_analysis::Verified;
use petal_profile::{Error, Profile};

use crate::messages;

/// Opens it; tells if its design was not verified.
pub fn open(dir: &Path) -> Result<Profile, Error> {
    let profile = Profile::open(dir)?;
    if !profile.metadata.verified {
        messages::note(format_args!("{}: {}", dir.display(), Verified::No.text()));
    }
    Ok(profile)
}
