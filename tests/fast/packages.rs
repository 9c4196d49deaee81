//! What petal is built of: every package builds with the Rust that the README asks for, and each room
//! depends on those that docs/ARCHITECTURE.md lets it know, and on no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::root;
use crate::support::workshop::succeeds;

/// A package of the workspace.
struct Room {
    name: &'static str,
    /// The packages of petal, of Calyx and of Cranelift that it is built with.
    knows: &'static [&'static str],
    /// Those that only its tests and examples use.
    in_tests: &'static [&'static str],
}

const ROOMS: [Room; 21] = [
    Room {
        name: "petal",
        knows: &[
            "petal-advise",
            "petal-analysis",
            "petal-compare",
            "petal-debug",
            "petal-embedded",
            "petal-files",
            "petal-metadata",
            "petal-observe",
            "petal-passes",
            "petal-profile",
            "petal-program",
            "petal-reconstruct",
            "petal-sweep",
            "petal-synth",
            "petal-table",
            "petal-verilator",
            "petal-visualize",
        ],
        in_tests: &["calyx-frontend", "petal-data"],
    },
    Room {
        name: "petal-files",
        knows: &[],
        in_tests: &[],
    },
    Room {
        name: "petal-metadata",
        knows: &["petal-files"],
        in_tests: &[],
    },
    Room {
        name: "petal-advise",
        knows: &[
            "calyx-frontend",
            "calyx-ir",
            "calyx-utils",
            "petal-metadata",
            "petal-program",
            "petal-table",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-debug",
        knows: &[
            "petal-analysis",
            "petal-metadata",
            "petal-observe",
            "petal-profile",
            "petal-reconstruct",
            "petal-table",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-observe",
        knows: &[
            "petal-data",
            "petal-metadata",
            "petal-reconstruct",
            "petal-table",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-python",
        knows: &["petal"],
        in_tests: &[],
    },
    Room {
        name: "petal-compiler",
        knows: &[
            "calyx-frontend",
            "calyx-ir",
            "calyx-opt",
            "calyx-utils",
            "calyx-utils",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-profile",
        knows: &[
            "petal-analysis",
            "petal-data",
            "petal-embedded",
            "petal-files",
            "petal-metadata",
            "petal-observe",
            "petal-passes",
            "petal-program",
            "petal-reconstruct",
            "petal-synth",
            "petal-table",
            "petal-verilator",
            "petal-visualize",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-passes",
        knows: &[
            "calyx-backend",
            "calyx-frontend",
            "calyx-ir",
            "calyx-opt",
            "calyx-utils",
            "petal-compiler",
            "petal-files",
            "petal-metadata",
            "petal-program",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-program",
        knows: &[
            "calyx-frontend",
            "calyx-ir",
            "calyx-stdlib",
            "calyx-utils",
            "petal-compiler",
            "petal-files",
            "petal-metadata",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-embedded",
        knows: &[
            "calyx-frontend",
            "calyx-ir",
            "calyx-stdlib",
            "cranelift-codegen",
            "cranelift-frontend",
            "cranelift-jit",
            "cranelift-module",
            "cranelift-native",
            "petal-compiler",
            "petal-reconstruct",
        ],
        in_tests: &["petal-passes"],
    },
    Room {
        name: "petal-data",
        knows: &[],
        in_tests: &[],
    },
    Room {
        name: "petal-verilator",
        knows: &["petal-files"],
        in_tests: &["petal-data"],
    },
    Room {
        name: "petal-table",
        knows: &["petal-metadata", "petal-reconstruct"],
        in_tests: &[],
    },
    Room {
        name: "petal-analysis",
        knows: &["petal-metadata", "petal-reconstruct", "petal-table"],
        in_tests: &[],
    },
    Room {
        name: "petal-compare",
        knows: &[
            "petal-analysis",
            "petal-metadata",
            "petal-reconstruct",
            "petal-table",
            "petal-visualize",
        ],
        in_tests: &[],
    },
    Room {
        name: "petal-sweep",
        knows: &["petal-metadata", "petal-table", "petal-visualize"],
        in_tests: &[],
    },
    Room {
        name: "petal-synth",
        knows: &["petal-metadata", "petal-passes", "petal-table"],
        in_tests: &[],
    },
    Room {
        name: "petal-reconstruct",
        knows: &["petal-metadata"],
        in_tests: &[],
    },
    Room {
        name: "petal-visualize",
        knows: &[
            "petal-analysis",
            "petal-metadata",
            "petal-reconstruct",
            "petal-table",
        ],
        in_tests: &[],
    },
];

/// What Cargo tells of the packages: of all of them, or of those of the workspace.
pub fn packages(more: &[&str]) -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(more)
        .current_dir(root());
    let metadata: Value = serde_json::from_str(&succeeds(&mut cargo)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn each_room_knows_those_that_it_may() {
    let packages = packages(&["--no-deps"]);
    let mut names: Vec<_> = packages.iter().map(|package| &package["name"]).collect();
    names.sort_by_key(ToString::to_string);
    let mut rooms = ROOMS.map(|room| room.name);
    rooms.sort_unstable();
    assert_eq!(names, rooms);
    for room in ROOMS {
        let package = packages.iter().find(|package| package["name"] == room.name);
        let dependencies = package.unwrap()["dependencies"].as_array().unwrap();
        let of = |in_tests: bool| {
            let mut names: Vec<&str> = dependencies
                .iter()
                .filter(|dependency| (dependency["kind"] == "dev") == in_tests)
                .map(|dependency| dependency["name"].as_str().unwrap())
                .filter(|name| {
                    let families = ["petal", "calyx", "cranelift"];
                    families.iter().any(|family| name.starts_with(family))
                })
                .collect();
            names.sort_unstable();
            names
        };
        assert_eq!(of(false), room.knows, "{}: dependencies", room.name);
        assert_eq!(of(true), room.in_tests, "{}: dev-dependencies", room.name);
    }
}

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
    let packages = packages(&[]);
    let rust = |package: &Value| package["rust_version"].as_str().map(str::to_owned);
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
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let named = format!("Rust {own} or newer");
    assert!(readme.contains(&named), "the README does not say `{named}`");
}

/// The rooms in whose sources, comments and tests aside, one of these words stands.
fn rooms_with(words: &[&str]) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for package in packages(&["--no-deps"]) {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let room = manifest.parent().unwrap();
        for file in sources(&room.join("src")) {
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap().lines();
            let mut code = code.filter(|line| !line.trim_start().starts_with("//"));
            if code.any(|line| words.iter().any(|word| line.contains(word))) {
                let name = room.strip_prefix(root()).unwrap().join("src");
                rooms.insert(name.display().to_string());
            }
        }
    }
    rooms
}

/// All files of Rust in a folder, but for those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| {
        if path.is_dir() {
            sources(&path)
        } else {
            vec![path]
        }
    });
    let is_code = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs")
    };
    files.filter(is_code).collect()
}

#[test]
fn few_rooms_print_start_processes_or_read_the_environment() {
    let only = |rooms: &[&str]| rooms.iter().map(ToString::to_string).collect();
    let prints = ["println!", "print!(", "stdout()", "stderr()"];
    assert_eq!(rooms_with(&prints), only(&["src"]));
    let processes = rooms_with(&["Command::new"]);
    assert_eq!(
        processes,
        only(&["simulate/verilator/src", "src", "synth/src"])
    );
    assert_eq!(rooms_with(&["process::exit"]), only(&["src"]));
    let environment = rooms_with(&["env::var", "var_os", "env::args", "current_exe"]);
    let asks = only(&["profile/src", "simulate/verilator/src", "src"]);
    assert_eq!(environment, asks);
}
