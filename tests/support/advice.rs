//! Advice for the design `design.futil` of a workshop, and what comes of it.

use serde_json::Value;

use super::workshop::{Workshop, succeeds};

/// The advice for a design, which has to be found in time.
pub fn advice(workshop: &Workshop, args: &[&str]) -> Value {
    let search = if args.contains(&"--search") {
        "20s"
    } else {
        "10m"
    };
    let advise = ["advise", "--format", "json", "--quiet", "--budget", search];
    let said = workshop.succeeds(&[&advise[..], args].concat());
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Cycles and memories of a design, compiled with these arguments.
pub fn ran(workshop: &Workshop, design: &str, arguments: &Value) -> (u64, String) {
    let mut args = vec!["run", design, "--out", "again", "--quiet", "--json"];
    let arguments = arguments.as_array().unwrap().iter();
    args.extend(arguments.flat_map(|argument| argument.as_str().unwrap().split(' ')));
    let summary: Value = serde_json::from_str(&workshop.succeeds(&args)).unwrap();
    (
        summary["cycles"].as_u64().unwrap(),
        workshop.read("again/memories.json"),
    )
}

/// Applies a patch to a clean copy of `design.futil`, `patched.futil`.
pub fn patched(workshop: &Workshop, name: &str) {
    workshop.write("patched.futil", workshop.read("design.futil"));
    let mut patch = workshop.run("patch");
    patch.args(["--quiet", "--fuzz=0", "patched.futil"]);
    patch.arg(format!("petal-out/design/advice/{name}"));
    succeeds(&mut patch);
}
