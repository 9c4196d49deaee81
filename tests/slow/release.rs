//! What the release workflow packs is what `cargo binstall` looks for, and runs.

use std::os::unix::fs::symlink;
use std::process::Command;

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::root;
use crate::support::workshop::{PETAL, Workshop, succeeds};

const WORKFLOW: &str = ".github/workflows/release.yml";

fn build_job() -> Yaml {
    let text = std::fs::read_to_string(root().join(WORKFLOW)).unwrap();
    YamlLoader::load_from_str(&text).unwrap()[0]["jobs"]["build"].clone()
}

/// The targets that the workflow builds.
fn targets() -> Vec<String> {
    let job = build_job();
    let rows = job["strategy"]["matrix"]["include"].as_vec().unwrap();
    let target = |row: &Yaml| row["target"].as_str().unwrap().to_owned();
    rows.iter().map(target).collect()
}

/// The commands of a step for one target, which was built as `binary`.
fn commands(step: &str, target: &str, binary: &str) -> String {
    let job = build_job();
    let mut steps = job["steps"].as_vec().unwrap().iter();
    let step = steps.find(|found| found["name"].as_str() == Some(step));
    let commands = step.unwrap()["run"].as_str().unwrap();
    let built = "target/${{ matrix.target }}/release/petal";
    let commands = commands.replace(built, binary);
    commands.replace("${{ matrix.target }}", target)
}

/// The package `petal` as cargo sees it.
fn package() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--no-deps"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let petal = packages.find(|package| package["name"] == "petal");
    petal.unwrap().clone()
}

#[test]
fn an_archive_is_where_binstall_looks_for_it_and_runs() {
    let workshop = Workshop::empty();
    for folder in [".ci", "calyx-examples"] {
        symlink(root().join(folder), workshop.path(folder)).unwrap();
    }
    let package = package();
    let version = package["version"].as_str().unwrap();
    let target = "x86_64-unknown-linux-gnu";
    let expanded = |key: &str| {
        let template = package["metadata"]["binstall"][key].as_str().unwrap();
        let values = [
            ("{ repo }", "https://example.org/petal"),
            ("{ name }", "petal"),
            ("{ version }", version),
            ("{ target }", target),
            ("{ bin }", "petal"),
            ("{ binary-ext }", ""),
        ];
        let filled = values
            .iter()
            .fold(template.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            });
        assert!(!filled.contains('{'), "`{filled}` has a field of its own");
        filled
    };

    succeeds(&mut workshop.bash(&commands("Pack", target, PETAL)));
    let url = expanded("pkg-url");
    let (folder, archive) = url.rsplit_once('/').unwrap();
    assert_eq!(
        folder,
        format!("https://example.org/petal/releases/download/v{version}")
    );
    succeeds(&mut workshop.bash(&format!("cd release && sha256sum --check {archive}.sha256")));
    let ran = succeeds(&mut workshop.bash(&commands("Try it", target, PETAL)));
    let words: Vec<&str> = ran.split_whitespace().collect();
    assert!(words.join(" ").contains("cycles 9 100.0 %"), "{ran}");
    let binary = expanded("bin-dir");
    let said = succeeds(&mut workshop.bash(&format!("./{binary} --version")));
    assert!(said.starts_with(&format!("petal {version}\n")), "{said}");
    let listed = succeeds(&mut workshop.bash(&format!("tar -tzf release/{archive}")));
    assert!(listed.contains("/THIRD-PARTY-NOTICES.txt\n"), "{listed}");
}

#[test]
fn the_notices_are_those_of_all_packages() {
    let notices = Command::new(root().join(".ci/notices")).output().unwrap();
    assert!(notices.status.success(), "{notices:?}");
    let kept = std::fs::read(root().join("THIRD-PARTY-NOTICES.txt")).unwrap();
    assert!(
        notices.stdout == kept,
        "the packages are others: .ci/notices > THIRD-PARTY-NOTICES.txt"
    );
    let text = String::from_utf8(kept).unwrap();
    for part in [
        "calyx-ir 0.7.1",
        "COMMON DEVELOPMENT AND DISTRIBUTION LICENSE",
        "zstd-safe",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // The wheel takes the same file.
    let of_wheel = std::fs::read(root().join("python/THIRD-PARTY-NOTICES.txt")).unwrap();
    assert!(of_wheel == text.as_bytes());
}

#[test]
fn licences_are_checked_for_the_targets_that_are_released() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, rest) = deny.split_once("targets = [").unwrap();
    let (listed, _) = rest.split_once(']').unwrap();
    let listed = listed.split(',').map(|text| text.trim().trim_matches('"'));
    let listed: Vec<&str> = listed.filter(|text| !text.is_empty()).collect();
    let mut released = targets();
    released.sort();
    assert_eq!(listed, released);
}
