//! Accesses of memories, against what they are known to be, and against the waveforms of all examples read by code that shares nothing with petal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::results;
use crate::support::samples::{Samples, samples};
use crate::support::workshop::{Workshop, example, tells};
use crate::support::{designs, examples};

/// Accesses as `cycle kind [address] data by`.
fn rows(accesses: &Value) -> Vec<String> {
    let sites = accesses["sites"].as_array().unwrap();
    let group = |site: &Value| {
        let at = usize::try_from(site.as_u64().unwrap()).unwrap();
        sites[at]["group"].as_str().unwrap().to_owned()
    };
    let all = accesses["accesses"].as_array().unwrap().iter();
    all.map(|row| {
        let by: Vec<String> = row["by"].as_array().unwrap().iter().map(group).collect();
        let (cycle, address, data) = (&row["cycle"], &row["address"], &row["data"]);
        let kind = row["access"].as_str().unwrap();
        format!("{cycle} {kind} {address} {data} {}", by.join("+"))
    })
    .collect()
}

/// The same word twice in a row, by reads and by writes, of both kinds of memory; and a word that is changed.
const EQUAL: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/comb.futil";
import "primitives/memories/seq.futil";
component main() -> () {
  cells {
    @external c = comb_mem_d1(8, 4, 2); @external s = seq_mem_d1(8, 4, 2); @external d = comb_mem_d2(8, 2, 3, 1, 2);
    x = std_reg(8); y = std_reg(8); plus = std_add(8);
  }
  wires {
    group put { c.addr0 = 2'd1; c.write_data = 8'd7; c.write_en = 1'd1; put[done] = c.done; }
    group get { c.addr0 = 2'd1; x.in = c.read_data; x.write_en = 1'd1; get[done] = x.done; }
    group more {
      c.addr0 = 2'd1; plus.left = c.read_data; plus.right = 8'd1; c.write_data = plus.out; c.write_en = 1'd1; more[done] = c.done;
    }
    group store { s.addr0 = 2'd2; s.content_en = 1'd1; s.write_en = 1'd1; s.write_data = x.out; store[done] = s.done; }
    group load { s.addr0 = 2'd2; s.content_en = 1'd1; load[done] = s.done; }
    group last { x.in = s.read_data; x.write_en = 1'd1; last[done] = x.done; }
    group two { d.addr0 = 1'd1; d.addr1 = 2'd2; y.in = d.read_data; y.write_en = 1'd1; two[done] = y.done; }
  }
  control { seq { put; put; get; get; more; par { store; two; } store; load; load; last; } }
}
"#;

const EQUAL_DATA: &str = r#"{
  "c": {"data": [0, 0, 0, 0], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}},
  "s": {"data": [0, 0, 0, 0], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}},
  "d": {"data": [[0, 0, 0], [0, 0, 9]], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 8}}
}"#;

#[test]
fn equal_accesses_count_each_time() {
    let workshop = Workshop::empty();
    workshop.write("equal.futil", EQUAL);
    workshop.write("equal.futil.data", EQUAL_DATA);
    for passes in ["all", "no-opt"] {
        let run = [
            "run",
            "equal.futil",
            "-q",
            "--out",
            "out",
            "--vcd",
            "wave.vcd",
            "--passes",
            passes,
            "--events",
            "events",
        ];
        let access = [
            "--access",
            "main.c",
            "--access",
            "s=main.s",
            "--access",
            "main.d[1][2]",
        ];
        workshop.succeeds(&[&run[..], &access].concat());
        let direct = results(&workshop, "out");
        let told = |at: usize| -> Vec<String> {
            let rows = rows(&direct["accesses"][at]);
            let rows = rows
                .iter()
                .map(|row| row.split_once(' ').unwrap().1.to_owned());
            rows.collect()
        };
        let expected = [
            "write [1] 7 put",
            "write [1] 7 put",
            "read [1] 7 get",
            "read [1] 7 get",
            "read [1] 7 more",
            "write [1] 8 more",
        ];
        assert_eq!(told(0), expected, "{passes}");
        let expected = [
            "write [2] 7 store",
            "write [2] 7 store",
            "read [2] 7 load",
            "read [2] 7 load",
        ];
        assert_eq!(told(1), expected, "{passes}");
        assert_eq!(told(2), ["read [1,2] 9 two"], "{passes}");
        assert_eq!(direct["accesses"][2]["accesses"][0]["index"], json!(5));
        let line = &direct["accesses"][2]["sites"][0]["line"];
        assert_eq!(*line, json!(21), "{passes}");
        // As it goes on, too.
        let events = workshop.read("events");
        let events = events
            .lines()
            .filter(|line| line.contains("\"name\":\"read\""));
        let events: Vec<&str> = events.collect();
        assert_eq!(events.len(), 6, "{passes}");
        assert!(events[0].ends_with("\"index\":1,\"is\":7,\"name\":\"read\"}"));
        // A waveform tells the same, but for sizes, and so the words of several dimensions.
        let again = [
            "reconstruct",
            "out/metadata.json",
            "wave.vcd",
            "-q",
            "--out",
            "again",
        ];
        let access = &access[..4];
        workshop.succeeds(&[&again[..], access].concat());
        let again = results(&workshop, "again");
        for at in 0..2 {
            let [one, other] = [&again, &direct].map(|of| rows(&of["accesses"][at]));
            assert_eq!(one, other, "{passes}");
        }
    }
}

#[test]
fn what_accesses_come_to_is_told() {
    let workshop = Workshop::empty();
    workshop.write("equal.futil", EQUAL);
    workshop.write("equal.futil.data", EQUAL_DATA);
    workshop.succeeds(&[
        "run",
        "equal.futil",
        "-q",
        "--out",
        "out",
        "--access",
        "main.c",
    ]);
    let c = &results(&workshop, "out")["accesses"][0];
    let figures = [
        "reads",
        "words_read",
        "writes",
        "words_written",
        "overwritten",
        "unread",
    ];
    assert_eq!(
        figures.map(|name| c[name].as_u64().unwrap()),
        [3, 1, 3, 1, 1, 1]
    );
    // What is read and written in one cycle is in use once.
    assert_eq!(c["in_use"], json!(5));
    assert_eq!(c["stride"], json!({ "words": 0, "times": 4, "of": 4 }));
}

/// A loop, a continuous use, a guard that is true in a part of the time, and two reads in one activation.
const USES: &str = r#"import "primitives/core.futil";
import "primitives/binary_operators.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    m = comb_mem_d1(8, 4, 2); k = comb_mem_d1(8, 4, 2); n = comb_mem_d1(8, 4, 2);
    i = std_reg(2); x = std_reg(8); next = std_add(2); big = std_lt(8); odd = std_slice(2, 1);
  }
  wires {
    big.left = k.read_data; big.right = 8'd3; next.left = i.out; next.right = 2'd1; odd.in = i.out;
    n.addr0 = i.out;
    static<2> group twice {
      m.addr0 = %0 ? 2'd3; m.addr0 = %1 ? 2'd0; x.in = m.read_data; x.write_en = 1'd1;
    }
    static<1> group step { m.addr0 = odd.out ? i.out; x.in = m.read_data; x.write_en = 1'd1; i.in = next.out; i.write_en = 1'd1; }
    group ask { k.addr0 = i.out; x.in = 8'd1; x.write_en = big.out; ask[done] = x.done; }
    group set { k.addr0 = 2'd2; k.write_data = 8'd1; k.write_en = 1'd1; set[done] = k.done; }
    group take { x.in = n.read_data; x.write_en = 1'd1; take[done] = x.done; }
  }
  control { seq { twice; static repeat 4 { step; } set; ask; take; } }
}
"#;

#[test]
fn a_memory_is_read_while_its_address_is_driven() {
    let workshop = Workshop::empty();
    workshop.write("uses.futil", USES);
    workshop.succeeds(&[
        "run",
        "uses.futil",
        "-q",
        "--out",
        "out",
        "--access",
        "main.*",
    ]);
    let all = results(&workshop, "out");
    let all = all["accesses"].as_array().unwrap();
    let told: BTreeMap<&str, Vec<String>> = all
        .iter()
        .map(|of| (of["name"].as_str().unwrap(), rows(of)))
        .collect();
    let told = |name: &str| -> Vec<String> {
        let rows = told[name].iter();
        rows.map(|row| row.split_once(' ').unwrap().1.to_owned())
            .collect()
    };
    let expected = [
        "read [3] 0 twice",
        "read [0] 0 twice",
        "read [1] 0 step",
        "read [3] 0 step",
    ];
    assert_eq!(told("main.m"), expected);
    // Who only writes reads nothing, though the word is on a wire.
    assert_eq!(told("main.k"), ["write [2] 1 set", "read [0] 0 ask"]);
    // Its address is on a wire.
    assert_eq!(told("main.n"), ["read [0] 0 take"]);
}

#[test]
fn a_ref_cell_is_the_memory_that_it_stands_for() {
    let workshop = Workshop::empty();
    let design = example("invoke-ref.futil");
    let run = ["run", &design, "-q", "--out", "out"];
    workshop.succeeds(
        &[
            &run[..],
            &["--access", "main.s.memory", "--access", "main.values"],
        ]
        .concat(),
    );
    let results = results(&workshop, "out");
    let [formal, actual] = [0, 1].map(|at| rows(&results["accesses"][at]));
    assert_eq!(formal, actual);
    let reads = actual.iter().filter(|row| row.contains("read [")).count();
    assert_eq!(reads, 10);
    let path = results["accesses"][0]["sites"][0]["path"].as_str().unwrap();
    assert!(
        path.contains("s [swap]") && path.ends_with("> read_low"),
        "{path}"
    );
    let said = workshop.ends(1, &[&run[..], &["--access", "main.swaps"]].concat());
    tells(
        &said,
        &["`--access`", "the memories are `main.total`, `main.values`"],
    );
    let said = workshop.ends(1, &[&run[..], &["--access", "main.exchanges.out"]].concat());
    tells(&said, &["this is no memory; the memories are `main.total`"]);
    let said = workshop.ends(1, &[&run[..], &["--access", "main.values[7]"]].concat());
    tells(&said, &["the memory has the sizes [4]"]);
}

/// The ports of memories in each cycle.
fn ports(path: &Path) -> Samples {
    let ends = ["_en", "_data", "_addr0", "_addr1", "_addr2", "_addr3"];
    samples(path, |name| ends.iter().any(|end| name.ends_with(end))).0
}

/// The texts of a design's components, and what stands in each of their groups.
fn groups(text: &str) -> Vec<(String, Vec<(String, String)>)> {
    let plain = text.lines().map(|line| line.split("//").next().unwrap());
    let text = plain.collect::<Vec<_>>().join("\n");
    let components = text.split("component ").skip(1);
    let name = |text: &str| {
        let end = text.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        text[..end.unwrap_or(text.len())].to_owned()
    };
    components
        .map(|component| {
            let groups = component.split("group ").skip(1);
            let groups =
                groups.map(|group| (name(group), group.split('}').next().unwrap().to_owned()));
            (name(component), groups.collect())
        })
        .collect()
}

/// In each cycle the groups that are active, as `main.s` and the group, and the invokes, as `invoke@L7`.
fn active(trees: &str) -> Vec<BTreeSet<(String, String)>> {
    let mut active = Vec::new();
    for line in trees.lines() {
        let run: Value = serde_json::from_str(line).unwrap();
        let mut holders: Vec<(u64, String)> = Vec::new();
        let mut now = BTreeSet::new();
        for node in run["tree"].as_array().unwrap() {
            let depth = node["depth"].as_u64().unwrap();
            let label = node["label"].as_str().unwrap().split(' ').next().unwrap();
            holders.retain(|(of, _)| *of < depth);
            match node["kind"].as_str().unwrap() {
                "cell" => holders.push((depth, label.to_owned())),
                "group" => {
                    let path: Vec<&str> = holders.iter().map(|(_, of)| &**of).collect();
                    now.insert((path.join("."), label.to_owned()));
                }
                "control" if label.starts_with("invoke@") => {
                    now.insert((String::new(), label.to_owned()));
                }
                _ => {}
            }
        }
        for _ in run["start"].as_u64().unwrap()..run["end"].as_u64().unwrap() {
            active.push(now.clone());
        }
    }
    active
}

/// An access: cycle, kind, address, and what is written.
type Row = (usize, &'static str, Vec<u64>, Option<u64>);

/// The accesses of a memory, by what the waveform has on its ports; a memory without `content_en` is read in the cycles `looked`, each with those who read.
fn accesses(
    ports: &Samples,
    (scope, cell): (&[String], &str),
    looked: impl Fn(usize) -> BTreeSet<(String, String)>,
) -> Vec<Row> {
    let port = |name: &str| {
        let port = ports.get(&(scope.to_vec(), format!("{cell}_{name}")));
        port.map(|(_, values)| values)
    };
    let write = port("write_en").unwrap();
    let mut rows = Vec::new();
    let mut before = (BTreeSet::new(), Vec::new());
    for cycle in 0..write.len() {
        let address = ["addr0", "addr1", "addr2", "addr3"]
            .iter()
            .filter_map(|name| port(name));
        let address: Vec<u64> = address.map(|values| values[cycle]).collect();
        let enable = port("content_en").map(|of| of[cycle] == 1);
        let writes = write[cycle] == 1 && enable != Some(false);
        let readers = looked(cycle);
        let begins = readers.difference(&before.0).next().is_some() || address != before.1;
        if enable.map_or(!readers.is_empty() && begins, |enable| enable && !writes) {
            rows.push((cycle, "read", address.clone(), None));
        }
        if writes {
            let data = port("write_data").unwrap()[cycle];
            rows.push((cycle, "write", address.clone(), Some(data)));
        }
        before = (readers, address);
    }
    rows
}

/// The rows that petal gives.
fn given(accesses: &Value) -> Vec<Row> {
    let all = accesses["accesses"].as_array().unwrap().iter();
    all.map(|row| {
        let address = row["address"].as_array().unwrap().iter();
        let address = address.map(|of| of.as_u64().unwrap()).collect();
        let cycle = usize::try_from(row["cycle"].as_u64().unwrap()).unwrap();
        match row["access"].as_str().unwrap() {
            "read" => (cycle, "read", address, None),
            _ => (cycle, "write", address, row["data"].as_u64()),
        }
    })
    .collect()
}

#[test]
fn accesses_are_those_of_the_waveforms_of_all_examples() {
    let workshop = Workshop::empty();
    let (mut memories, mut rows) = (0, 0);
    for path in examples() {
        let design = path.display().to_string();
        // Its waveform is long; there is a test of it below.
        if design.contains("packet-scheduler") {
            continue;
        }
        for passes in ["all", "no-opt"] {
            let run = ["run", &design, "-q", "--out", "out", "--passes", passes];
            workshop.succeeds(&[&run[..], &["--vcd", "wave.vcd", "--access", "main.*"]].concat());
            let trees = workshop.succeeds(&["trace", "out", "--json"]);
            let (active, ports) = (active(&trees), ports(&workshop.path("wave.vcd")));
            let text = std::fs::read_to_string(&path).unwrap();
            let components = groups(&text);
            for of in results(&workshop, "out")["accesses"].as_array().unwrap() {
                let name = of["name"].as_str().unwrap();
                let (holder, cell) = name.rsplit_once('.').unwrap();
                let scope: Vec<String> = holder.split('.').map(str::to_owned).collect();
                // Where the compiler calls something otherwise, nobody here knows it.
                if !ports.contains_key(&(scope.clone(), format!("{cell}_write_en"))) {
                    continue;
                }
                // What it is called where it is handed over.
                let formal =
                    (design.contains("invoke-ref") && cell == "values").then_some("memory");
                // An invoke takes what it hands over, from an address that its comb group drives.
                let invokes = text.lines().enumerate().filter(|(_, line)| {
                    line.contains("invoke ") && line.contains(&format!("{cell}.read_data"))
                });
                let invokes = invokes.map(|(at, _)| format!("invoke@L{}", at + 1));
                let readers: BTreeSet<String> = components
                    .iter()
                    .flat_map(|(_, groups)| groups)
                    .filter(|(_, body)| {
                        let names = [Some(cell), formal];
                        names.into_iter().flatten().any(|cell| {
                            let [asks, takes] =
                                ["addr0 =", "read_data"].map(|port| format!("{cell}.{port}"));
                            let has = |text: &str| {
                                body.match_indices(text).any(|(at, _)| {
                                    body[..at]
                                        .ends_with(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                                })
                            };
                            has(&asks) && has(&takes)
                        })
                    })
                    .map(|(name, _)| name.clone())
                    .chain(invokes)
                    .collect();
                let looked = |cycle: usize| -> BTreeSet<(String, String)> {
                    let now = active[cycle].iter();
                    now.filter(|(_, group)| readers.contains(group))
                        .cloned()
                        .collect()
                };
                let plain = accesses(&ports, (&scope, cell), looked);
                assert_eq!(given(of), plain, "{design} {passes}: {name}");
                memories += 1;
                rows += plain.len();
            }
        }
    }
    assert!(
        memories >= 80 && rows >= 700,
        "{memories} memories, {rows} accesses"
    );
}

#[test]
fn writes_and_asked_reads_are_those_of_the_waveforms_of_all_designs() {
    let workshop = Workshop::empty();
    let (mut memories, mut rows) = (0, 0);
    // The compiler fails, or petal's simulator does not run it.
    let left_out = [
        "control-empty-blocks",
        "control-empty-then",
        "struct-verilog",
    ];
    for path in designs("tests/corpus") {
        let design = path.display().to_string();
        if left_out.iter().any(|name| design.contains(name)) {
            continue;
        }
        let run = [
            "run",
            &design,
            "-q",
            "--out",
            "out",
            "--partial",
            "--cycle-limit",
            "3000",
        ];
        let observed = ["--vcd", "wave.vcd", "--access", "*"];
        workshop.succeeds(&[&run[..], &observed].concat());
        let ports = ports(&workshop.path("wave.vcd"));
        for of in results(&workshop, "out")["accesses"].as_array().unwrap() {
            let name = of["name"].as_str().unwrap().replace('`', "");
            let (holder, cell) = name.rsplit_once('.').unwrap();
            let scope: Vec<String> = holder.split('.').map(str::to_owned).collect();
            // Where the compiler calls something otherwise, nobody here knows it.
            let port = |name: &str| ports.contains_key(&(scope.clone(), format!("{cell}_{name}")));
            if !port("write_en") {
                continue;
            }
            let is_told = |row: &Row| row.1 == "write" || port("content_en");
            let mut plain = accesses(&ports, (&scope, cell), |_| BTreeSet::new());
            let mut given = given(of);
            plain.retain(is_told);
            given.retain(is_told);
            assert_eq!(given, plain, "{design}: {name}");
            memories += 1;
            rows += plain.len();
        }
    }
    assert!(
        memories >= 90 && rows >= 200,
        "{memories} memories, {rows} accesses"
    );
}

#[test]
fn accesses_of_a_long_run_are_as_many_as_counted() {
    let workshop = Workshop::empty();
    let design = example("packet-scheduler.futil");
    let run = ["run", &design, "-q", "--out", "out", "--access", "main.*"];
    let counters = ["--count", "main.*.writes", "--count", "main.*.read_cycles"];
    workshop.succeeds(&[&run[..], &counters].concat());
    let results = results(&workshop, "out");
    let counters = results["counters"].as_array().unwrap();
    let mut compared = 0;
    for of in results["accesses"].as_array().unwrap() {
        let name = of["name"].as_str().unwrap();
        for (counted, told) in [("writes", "writes"), ("read_cycles", "reads")] {
            let name = format!("{name}.{counted}");
            if let Some(counter) = counters.iter().find(|of| of["name"] == *name) {
                assert_eq!(counter["total"], of[told], "{name}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 13);
}
