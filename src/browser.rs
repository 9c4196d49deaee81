//! The browser of this machine.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::messages;

/// Browsers, where the system does not choose one.
const BROWSERS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else {
    &[
        "firefox",
        "firefox-esr",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "microsoft-edge",
    ]
};

/// The first one on `PATH`.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = |name: &&str| {
        let programs = folders.iter().map(|folder| folder.join(name));
        programs.into_iter().find(|program| program.is_file())
    };
    BROWSERS.iter().find_map(named)
}

/// Opens a page in the browser that the system chooses, or else in the first one on `PATH`.
pub fn open(what: impl AsRef<OsStr>) {
    if open::that_detached(&what).is_ok() {
        return;
    }
    let found = find().map(|browser| browser.display().to_string());
    if found.is_none_or(|browser| open::with_detached(&what, browser).is_err()) {
        messages::note("no browser was found; open it in one yourself");
    }
}
