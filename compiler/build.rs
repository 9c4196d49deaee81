//! Finds out which Calyx compiler petal is built with: the published crates, or those of a checkout of
//! upstream, which have the same version number and take their place by `[patch.crates-io]`.

use std::env;

/// Stands for what the published crate lacks.
mod published {
    #[allow(dead_code)]
    pub struct PosString;
}

/// Whether `calyx-utils` is upstream's. Names of an inner block shadow those of an outer one, so
/// `PosString` is the crate's if that has it.
#[allow(clippy::wildcard_imports)]
fn is_upstream() -> bool {
    #[allow(unused_imports)]
    use published::*;
    {
        #[allow(unused_imports)]
        use calyx_utils::*;
        std::any::type_name::<PosString>().starts_with("calyx_utils")
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PETAL_CALYX_COMMIT");
    println!("cargo:rustc-check-cfg=cfg(upstream)");
    let commit = env::var("PETAL_CALYX_COMMIT").unwrap_or_default();
    let mut version = "0.7.1".to_owned();
    if is_upstream() {
        println!("cargo:rustc-cfg=upstream");
        if !commit.is_empty() {
            version = format!("{version} at {commit}");
        }
        version += ", patched";
    }
    println!("cargo:rustc-env=PETAL_CALYX_VERSION={version}");
}
