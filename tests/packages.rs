//! What petal is built of: every package builds with the Rust that the README asks for.

use std::path::Path;
use std::process::Command;

/// `1.88` or `1.88.0` as numbers.
fn version(text: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = text
        .split('.')
        .map(|number| number.parse().expect("versions are numbers"))
        .collect();
    numbers.resize(3, 0);
    numbers
}

#[test]
fn all_packages_build_with_the_rust_that_the_readme_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata said:\n{said}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rust = |package: &serde_json::Value| package["rust_version"].as_str().map(str::to_owned);
    let own = packages
        .iter()
        .find(|package| package["name"] == "petal")
        .and_then(rust)
        .unwrap();
    let newer: Vec<String> = packages
        .iter()
        .filter(|package| rust(package).is_some_and(|rust| version(&rust) > version(&own)))
        .map(|package| format!("{} {}", package["name"], package["version"]))
        .collect();
    assert!(newer.is_empty(), "newer than Rust {own}: {newer:?}");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let named = format!("Rust {own} or newer");
    assert!(readme.contains(&named), "the README does not say `{named}`");
}
