//! petal's own simulator under a memory checker: machine code, too, stays within the memories of its design.

use std::path::PathBuf;
use std::process::Command;

use crate::support::root;

/// The test binary `simulate/embedded/tests/safety.rs`, built of what the workspace is: by itself its dependencies are other ones.
fn binary() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["test", "--workspace", "--test", "safety"])
        .args(["--no-run", "--message-format", "json"])
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{built:?}");
    let lines = String::from_utf8(built.stdout).expect("messages are text");
    let messages = lines.lines().map(|line| {
        serde_json::from_str::<serde_json::Value>(line).expect("each message is one of JSON")
    });
    let mut binaries = messages.filter_map(|message| {
        let is_it = message["target"]["name"] == "safety";
        let binary = message["executable"].as_str().filter(|_| is_it)?;
        Some(PathBuf::from(binary))
    });
    binaries.next().expect("the test has a binary")
}

#[test]
fn a_memory_checker_finds_nothing_whatever_the_simulator_is_given() {
    let checked = Command::new("valgrind")
        // It has to look again at code that is made while it runs.
        .args(["--smc-check=all-non-file", "--error-exitcode=99", "--quiet"])
        .arg(binary())
        .args(["--test-threads", "1"])
        .env("PROPTEST_CASES", "24")
        .output()
        .expect("valgrind is installed");
    let told = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{told}");
    let ran = String::from_utf8_lossy(&checked.stdout);
    assert!(ran.contains("2 passed"), "{ran}");
}
