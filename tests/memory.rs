//! The memory of a run does not grow with its cycles.

use std::path::Path;
use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};

/// A loop of five groups, so many times.
fn looping(iterations: u64) -> String {
    format!(
        r#"import "primitives/core.futil";
component main() -> () {{
  cells {{ @external a = std_reg(32); i = std_reg(32); next = std_add(32); more = std_lt(32); }}
  wires {{
    next.left = i.out; next.right = 32'd1; more.left = i.out; more.right = 32'd{iterations};
    group get {{ a.in = i.out; a.write_en = 1'd1; get[done] = a.done; }}
    group step {{ i.in = next.out; i.write_en = 1'd1; step[done] = i.done; }}
  }}
  control {{ while more.out {{ seq {{ get; par {{ get; }} get; get; step; }} }} }}
}}
"#
    )
}

/// Profiles a design: its cycles, and the highest memory in bytes that this
/// process's children have had so far.
fn profile(dir: &Path, design: &str) -> (u64, u64) {
    std::fs::write(dir.join("design.futil"), design).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_petal"))
        .args(["run", "design.futil", "--json", "--out", "out"])
        .current_dir(dir)
        .env(
            "XDG_CACHE_HOME",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        )
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let kilobytes = u64::try_from(usage.max_rss()).unwrap();
    (summary["cycles"].as_u64().unwrap(), kilobytes * 1024)
}

/// A static program of so many cycles: its counter has another value in each.
fn counting(cycles: u64) -> String {
    format!(
        r#"import "primitives/core.futil";
component main() -> () {{
  cells {{ @external a = std_reg(32); }}
  wires {{
    static<{cycles}> group wait {{ a.in = 32'd1; a.write_en = 1'd1; }}
    group put {{ a.in = 32'd2; a.write_en = 1'd1; put[done] = a.done; }}
  }}
  control {{ seq {{ put; static repeat 5 {{ wait; }} put; }} }}
}}
"#
    )
}

#[test]
fn memory_does_not_grow_with_the_run() {
    check(looping);
    check(counting);
}

fn check(design: fn(u64) -> String) {
    let dir = tempfile::tempdir().unwrap();
    let (cycles, before) = profile(dir.path(), &design(20_000));
    let (ten_times, after) = profile(dir.path(), &design(200_000));
    assert!(ten_times > 9 * cycles, "{ten_times} cycles after {cycles}");
    assert!(after < 100 << 20, "{after} bytes");
    assert!(
        after < before + (4 << 20),
        "{after} bytes for {ten_times} cycles, {before} for {cycles}"
    );
}
