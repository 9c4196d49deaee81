//! Changes of a text as patches, which `patch -p1` and `git apply` take.

use similar::TextDiff;

/// A patch that makes `after` of `before`, which is called `name`; empty if they are equal.
pub(crate) fn patch(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(3);
    unified
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

/// The lines that change, each with one before and after it, without the names of files.
pub(crate) fn hunks(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(1).to_string()
}
