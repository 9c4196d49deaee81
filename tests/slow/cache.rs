//! The cache of Verilator's builds: nobody else can write to it, and only what petal made is cleaned.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::process::Output;

use nix::unistd::geteuid;

use crate::support::workshop::{DESIGN, Workshop, said, tells};

/// Runs petal with no more in its environment than what `set` says of caches.
fn with_cache(workshop: &Workshop, args: &[&str], set: &[(&str, &Path)]) -> Output {
    let mut command = workshop.command(args);
    command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    command.env("TMPDIR", workshop.path("tmp"));
    command.envs(set.iter().copied()).output().unwrap()
}

#[test]
fn a_cache_that_others_can_write_to_is_refused() {
    let workshop = Workshop::new();
    fs::create_dir(workshop.path("tmp")).unwrap();
    let base = workshop.path("cache");
    let cache = base.join("petal");
    let set = [("XDG_CACHE_HOME", base.as_path())];
    let run = [
        "run",
        "design.futil",
        "-q",
        "--out",
        "out",
        "--simulator",
        "verilator",
    ];
    let mode = || fs::metadata(&cache).unwrap().mode() & 0o777;
    // It makes the folder, and without Verilator builds nothing in it.
    let doctor = with_cache(&workshop, &["doctor"], &[set[0], ("PATH", Path::new(""))]);
    tells(
        &String::from_utf8_lossy(&doctor.stdout),
        &["ok       cache folder", "cache/petal"],
    );
    assert_eq!(mode(), 0o700);

    let refused = |problem: &str| {
        fs::create_dir_all(cache.join("design-5.006-0123456789abcdef")).unwrap();
        fs::write(
            cache.join("design-5.006-0123456789abcdef/simulation"),
            "planted",
        )
        .unwrap();
        for args in [&run[..], &["cache", "clean"]] {
            let output = with_cache(&workshop, args, &set);
            assert_eq!(output.status.code(), Some(1), "{args:?}");
            tells(&said(&output), &["cache/petal", problem, "XDG_CACHE_HOME"]);
            assert!(
                cache
                    .join("design-5.006-0123456789abcdef/simulation")
                    .exists()
            );
        }
        assert!(!workshop.path("out").exists());
    };
    for writable in [0o777, 0o770, 0o702] {
        fs::set_permissions(&cache, fs::Permissions::from_mode(writable)).unwrap();
        refused("can be written by other users");
    }
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
    // Only root can give it away.
    if geteuid().is_root() {
        chown(&cache, Some(1), None).unwrap();
        refused("belongs to another user");
        chown(&cache, Some(0), None).unwrap();
    }
    // One that others could only read is made private.
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
    let cleaned = with_cache(&workshop, &["cache", "clean"], &set);
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert!(!cache.exists());
}

#[test]
fn only_what_petal_made_is_cleaned() {
    let workshop = Workshop::new();
    let base = workshop.path("cache");
    let set = [("XDG_CACHE_HOME", base.as_path())];
    fs::create_dir(workshop.path("tmp")).unwrap();
    let run = [
        "run",
        "design.futil",
        "-q",
        "--out",
        "out",
        "--simulator",
        "verilator",
    ];
    let output = with_cache(&workshop, &run, &set);
    assert!(output.status.success(), "{output:?}");
    let cache = base.join("petal");
    assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
    let built = fs::read_dir(&cache).unwrap().count();
    assert_eq!(built, 3, "an executable, a runtime and a header");
    workshop.write("cache/petal/thesis.tex", "mine");
    let output = with_cache(&workshop, &["cache", "clean"], &set);
    assert!(output.status.success(), "{output:?}");
    tells(&String::from_utf8_lossy(&output.stdout), &["thesis.tex"]);
    let left = workshop.files("cache/petal");
    assert_eq!(left.len(), 1, "{left:?}");
    fs::remove_file(cache.join("thesis.tex")).unwrap();
    let output = with_cache(&workshop, &["cache", "clean"], &set);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("cache/petal is empty\n"));
    assert!(!cache.exists());

    // Without a home, there is no cache: neither in the current folder nor in one that all users share.
    workshop.write("design.futil", DESIGN.replace("8'd5", "8'd6"));
    fs::create_dir(workshop.path("tmp/petal")).unwrap();
    workshop.write("tmp/petal/thesis.tex", "mine");
    let before = (
        workshop.files("tmp"),
        fs::read_dir(workshop.dir.path()).unwrap().count(),
    );
    for set in [
        &[][..],
        &[
            ("XDG_CACHE_HOME", Path::new("")),
            ("HOME", Path::new("relative")),
        ],
    ] {
        let output = with_cache(&workshop, &["cache", "clean"], set);
        assert_eq!(output.status.code(), Some(1));
        tells(&said(&output), &["XDG_CACHE_HOME", "HOME"]);
    }
    let output = with_cache(&workshop, &run, &[]);
    assert!(output.status.success(), "{output:?}");
    let after = (
        workshop.files("tmp"),
        fs::read_dir(workshop.dir.path()).unwrap().count(),
    );
    assert!(before == after, "{after:?}");
}
