//! The memory of a run does not grow with its cycles.

use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};

use crate::support::workshop::{Workshop, succeeds};

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
fn profile(workshop: &Workshop, design: &str) -> (u64, u64) {
    workshop.write("design.futil", design);
    let run = [
        "run",
        "design.futil",
        "--json",
        "--out",
        "out",
        "--max-memory",
        "4G",
    ];
    let output = workshop.succeeds(&run);
    let summary: serde_json::Value = serde_json::from_str(&output).unwrap();
    (summary["cycles"].as_u64().unwrap(), highest())
}

/// The highest memory in bytes that this process's children have had so far.
fn highest() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    u64::try_from(usage.max_rss()).unwrap() * 1024
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

/// In a process of its own, whose children are those that are measured.
#[test]
fn memory_does_not_grow_with_the_run() {
    let test = std::env::current_exe().unwrap();
    succeeds(Command::new(test).args(["--exact", "memory::measured", "--ignored"]));
}

#[test]
#[ignore = "the test above runs it"]
fn measured() {
    check(looping);
    check(counting);
    sparse();
    observed();
}

/// What is observed takes room, but not that of its tables.
fn observed() {
    let workshop = Workshop::empty();
    workshop.write("design.futil", looping(100_000));
    let run = ["run", "design.futil", "-q", "--out", "out", "--unverified"];
    let counters = [
        "--count",
        "main.*.writes",
        "--sample",
        "1",
        "--checkpoint",
        "main.get",
    ];
    workshop.succeeds(&[&run[..], &counters].concat());
    let taken = highest();
    assert!(taken < 160 << 20, "{taken} bytes");
}

/// Of a memory of 2 GiB takes room what is used.
fn sparse() {
    let workshop = Workshop::empty();
    let words = 1 << 28;
    let design = format!(
        r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {{
  cells {{ @external mem = comb_mem_d1(32, {words}, 28); }}
  wires {{
    group put {{ mem.addr0 = 28'd{}; mem.write_data = 32'd5; mem.write_en = 1'd1; put[done] = mem.done; }}
  }}
  control {{ seq {{ put; put; }} }}
}}
"#,
        words - 1
    );
    let format = r#"{"numeric_type": "bitnum", "is_signed": false, "width": 32}"#;
    let data = format!(
        r#"{{"mem": {{"data": {{"sizes": [{words}], "words": {{"3": 9}}}}, "format": {format}}}}}"#
    );
    let place = workshop.path("design.futil.data");
    std::fs::write(&place, data).unwrap();
    let memories = || -> serde_json::Value {
        let (_, taken) = profile(&workshop, &design);
        assert!(taken < 100 << 20, "{taken} bytes");
        let text = std::fs::read_to_string(workshop.path("out/memories.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let first = memories();
    let expected = serde_json::json!({"3": 9, "268435455": 5});
    assert_eq!(first["mem"]["data"]["words"], expected);
    // What comes out may go in again.
    std::fs::copy(workshop.path("out/memories.json"), place).unwrap();
    assert_eq!(memories(), first);
}

fn check(design: fn(u64) -> String) {
    let workshop = Workshop::empty();
    let (cycles, before) = profile(&workshop, &design(20_000));
    let (ten_times, after) = profile(&workshop, &design(200_000));
    assert!(ten_times > 9 * cycles, "{ten_times} cycles after {cycles}");
    assert!(after < 100 << 20, "{after} bytes");
    assert!(
        after < before + (4 << 20),
        "{after} bytes for {ten_times} cycles, {before} for {cycles}"
    );
}
