//! petal built against a checkout of the Calyx compiler, beside the petal that is tested: `CALYX_CHECKOUT` names the checkout's folder.
//!
//! The checkout's own driver and Verilator say what each program of its tests computes, and in how many cycles.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use petal_program::CALYX_VERSION;
use serde_json::Value;

use crate::support::root;
use crate::support::workshop::{Workshop, example, succeeds};

/// The checkout, if there is one to test with, and the petal that is tested has the published compiler.
fn checkout() -> Option<PathBuf> {
    if CALYX_VERSION != "0.7.1" {
        eprintln!("not run: this petal has a checkout's compiler itself");
        return None;
    }
    let checkout = env::var_os("CALYX_CHECKOUT").map(PathBuf::from);
    if checkout.is_none() {
        eprintln!("not run: CALYX_CHECKOUT names no checkout of the Calyx compiler");
    }
    checkout
}

/// Builds a petal against the checkout, once for all tests, and returns where it is.
fn installed(checkout: &Path) -> &'static Path {
    static PETAL: OnceLock<PathBuf> = OnceLock::new();
    PETAL.get_or_init(|| {
        let target = root().join("target");
        let folder = target.join("with-checkout");
        succeeds(
            Command::new(root().join("integrations/calyx/install.sh"))
                .arg(checkout)
                .arg("--debug")
                .arg("--root")
                .arg(&folder)
                .env("CARGO_TARGET_DIR", &target),
        );
        folder.join("bin/petal")
    })
}

#[test]
fn a_checkout_takes_the_place_of_the_published_compiler() {
    let Some(checkout) = checkout() else {
        return;
    };
    let petal = installed(&checkout);
    let version = succeeds(Command::new(petal).arg("--version"));
    assert!(version.contains("\ncalyx 0.7.1"), "{version}");
    assert!(version.contains(", patched\n"), "{version}");

    // Both profile one design, and the comparison says of which compilers.
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "published"]);
    let out = workshop.path("patched");
    succeeds(
        Command::new(petal)
            .args(["run", &design, "--out"])
            .arg(&out),
    );
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["cycles"], 17);
    let calyx = summary["versions"]["calyx"].as_str().unwrap();
    assert!(calyx.ends_with(", patched"), "{calyx}");
    let told = workshop.succeeds(&["compare", "published", "patched"]);
    let first = format!("while-comb (calyx 0.7.1) → while-comb (calyx {calyx})");
    assert_eq!(told.lines().next(), Some(first.as_str()));
}

#[test]
fn the_checkouts_own_tests_take_as_many_cycles_as_its_driver_says() {
    let Some(checkout) = checkout() else {
        return;
    };
    let petal = installed(&checkout);
    let driver = root().join("target/calyx-checkout/driver");
    succeeds(
        Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--manifest-path"])
            .arg(checkout.join("Cargo.toml"))
            .args(["--bin", "calyx"])
            .env("CARGO_TARGET_DIR", &driver),
    );
    let workshop = Workshop::empty();
    let table = workshop.path("table.md");
    succeeds(
        Command::new(root().join("integrations/calyx/table.py"))
            .arg(&checkout)
            .arg("--petal")
            .arg(petal)
            .arg("--driver")
            .arg(driver.join("debug/calyx"))
            .arg("--out")
            .arg(&table),
    );
    let table = fs::read_to_string(table).unwrap();
    let exact = table.lines().filter(|row| row.contains("| same"));
    assert!(exact.count() > 50, "{table}");
}
