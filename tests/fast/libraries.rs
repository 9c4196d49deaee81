//! The built-in library: files that `calyx-stdlib` does not offer are there, run embedded, and are what
//! users of newer libraries know them as.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::packages::packages;
use crate::support::workshop::{Workshop, example, tells};

const RUN: [&str; 4] = ["run", "design.futil", "--out", "out"];

/// Writes entries to a TCAM and then searches in it.
const TCAM: &str = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/tcam.futil";
component main() -> () {
  cells {
    @external prefix = comb_mem_d1(32, 9, 4); @external length = comb_mem_d1(6, 9, 4); @external at = comb_mem_d1(5, 9, 4);
    @external address = comb_mem_d1(32, 9, 4); @external answer = comb_mem_d1(5, 9, 4);
    i = std_reg(4); add = std_add(4); lt = std_lt(4); lookup = TCAM_IPv4();
  }
  wires {
    comb group more { lt.left = i.out; lt.right = 4'd8; }
    group begin { i.in = 4'd0; i.write_en = 1'd1; begin[done] = i.done; }
    group next { add.left = i.out; add.right = 4'd1; i.in = add.out; i.write_en = 1'd1; next[done] = i.done; }
    group save { answer.write_data = lookup.index; answer.write_en = 1'd1; save[done] = answer.done; }
    prefix.addr0 = i.out; length.addr0 = i.out; at.addr0 = i.out; address.addr0 = i.out; answer.addr0 = i.out;
  }
  control {
    seq {
      begin;
      while lt.out with more {
        seq {
          invoke lookup(write_en=1'd1, search_en=1'd0, in=prefix.read_data, prefix_len=length.read_data,
                       write_index=at.read_data)();
          next;
        }
      }
      begin;
      while lt.out with more {
        seq {
          invoke lookup(write_en=1'd0, search_en=1'd1, in=address.read_data, prefix_len=6'd0, write_index=5'd0)();
          save; next;
        }
      }
    }
  }
}
"#;

/// What is written: a prefix, its length in bits, and its index.
const ENTRIES: [(u32, u32, u32); 8] = [
    (0x0a00_0000, 8, 3),
    (0x0a01_0000, 16, 30),
    (0x0a01_0200, 24, 0),
    (0x0a01_0203, 32, 17),
    (0xc0a8_0000, 16, 8),
    (0xc0a8_8000, 17, 9),
    // Matches whatever nothing else does.
    (0, 0, 21),
    (0x8000_0000, 1, 31),
];

const ADDRESSES: [u32; 8] = [
    0x0aff_0000,
    0x0a01_ff00,
    0x0a01_02ff,
    0x0a01_0203,
    0xc0a8_7fff,
    0xc0a8_ffff,
    0x1234_5678,
    0xffff_ffff,
];

/// The index that a search finds. Entries that nobody wrote are the prefix 0 of length 1.
fn longest(address: u32) -> u32 {
    let mut table = [(0_u32, 1_u32); 32];
    for (prefix, length, index) in ENTRIES {
        if length > 0 {
            table[index as usize] = (prefix, length);
        }
    }
    let matches = |&(index, (prefix, length)): &(u32, (u32, u32))| {
        (address >> (32 - length) == prefix >> (32 - length)).then_some((length, index))
    };
    let found = (0..).zip(table).filter_map(|entry| matches(&entry)).max();
    found.map_or(21, |(_, index)| index)
}

fn data(memories: &[(&str, u32, Value)]) -> String {
    let memories: serde_json::Map<String, Value> = memories
        .iter()
        .map(|(name, width, data)| {
            let format = json!({"numeric_type": "bitnum", "is_signed": false, "width": width});
            ((*name).to_owned(), json!({"data": data, "format": format}))
        })
        .collect();
    Value::from(memories).to_string()
}

/// The values of a memory after the run.
fn after(workshop: &Workshop, name: &str) -> Value {
    let memories: Value = serde_json::from_str(&workshop.read("out/memories.json")).unwrap();
    memories[name]["data"].clone()
}

fn cycles(workshop: &Workshop) -> Value {
    let summary: Value = serde_json::from_str(&workshop.read("out/summary.json")).unwrap();
    summary["cycles"].clone()
}

#[test]
fn a_tcam_finds_the_longest_prefix_as_that_of_calyx_does() {
    let with_end = |values: Vec<u32>| json!([values, vec![0]].concat());
    let workshop = Workshop::empty();
    workshop.write("design.futil", TCAM);
    let memories = [
        ("prefix", 32, with_end(ENTRIES.map(|entry| entry.0).into())),
        ("length", 6, with_end(ENTRIES.map(|entry| entry.1).into())),
        ("at", 5, with_end(ENTRIES.map(|entry| entry.2).into())),
        ("address", 32, with_end(ADDRESSES.into())),
        ("answer", 5, with_end(vec![0; 8])),
    ];
    workshop.write("design.futil.data", data(&memories));
    workshop.succeeds(&RUN);
    let answers = ADDRESSES.map(longest);
    assert_eq!(after(&workshop, "answer"), with_end(answers.into()));

    // Places are in another file with other lines.
    let names = || -> Vec<String> {
        let table = workshop.read("out/stats/groups.csv");
        let rows = table
            .lines()
            .map(|row| row.split(',').take(3).collect::<Vec<_>>().join(","));
        rows.collect()
    };
    let built_in = (cycles(&workshop), names());
    let packages = packages(&[]);
    let calyx = packages
        .iter()
        .find(|package| package["name"] == "calyx-stdlib");
    let manifest = PathBuf::from(calyx.unwrap()["manifest_path"].as_str().unwrap());
    // The crate's folder has a folder `primitives`, as a checkout of Calyx has.
    let library = manifest.parent().unwrap().to_str().unwrap();
    workshop.succeeds(&[&RUN[..], &["--library", library]].concat());
    assert_eq!((cycles(&workshop), names()), built_in);
}

#[test]
fn memories_without_a_fixed_latency_have_data_files() {
    for (dims, sizes, bits, word) in [
        (1, "4", "2", json!([0, 0, 7, 0])),
        (2, "2, 2", "1, 1", json!([[0, 0], [7, 0]])),
    ] {
        let mut address = String::new();
        let at = ["2'd2", "1'd1", "1'd0"];
        for dim in 0..dims {
            let at = at[dim + usize::from(dims > 1)];
            write!(address, "CELL.addr{dim} = {at}; ").unwrap();
        }
        let (from, to) = (
            address.replace("CELL", "from"),
            address.replace("CELL", "to"),
        );
        let design = format!(
            r#"import "primitives/core.futil";
import "primitives/memories/dyn.futil";
component main() -> () {{
  cells {{
    @external from = dyn_mem_d{dims}(8, {sizes}, {bits});
    @external to = dyn_mem_d{dims}(8, {sizes}, {bits});
  }}
  wires {{
    group read {{ {from} from.content_en = 1'd1; read[done] = from.done; }}
    group write {{
      {to} to.write_data = from.read_data; to.write_en = 1'd1; to.content_en = 1'd1; write[done] = to.done;
    }}
  }}
  control {{ seq {{ read; write; }} }}
}}
"#
        );
        let zeros = if dims == 1 {
            json!([0, 0, 0, 0])
        } else {
            json!([[0, 0], [0, 0]])
        };
        let workshop = Workshop::empty();
        workshop.write("design.futil", design);
        workshop.write(
            "design.futil.data",
            data(&[("from", 8, word.clone()), ("to", 8, zeros)]),
        );
        workshop.succeeds(&RUN);
        assert_eq!(after(&workshop, "to"), word);
        // Each group waits for the memory's `done`. What has a fixed latency becomes static instead.
        assert_eq!(cycles(&workshop), 4);
        workshop.write(
            "design.futil",
            workshop.read("design.futil").replace("dyn", "seq"),
        );
        workshop.succeeds(&RUN);
        assert_eq!(after(&workshop, "to"), word);
        assert_eq!(cycles(&workshop), 2);
    }
}

#[test]
fn floating_point_constants_need_no_library() {
    let workshop = Workshop::empty();
    workshop.write(
        "design.futil",
        r#"import "primitives/core.futil";
import "primitives/float.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(32, 1, 1); f = std_float_const(0, 32, -2.5); }
  wires {
    group put { m.addr0 = 1'd0; m.write_data = f.out; m.write_en = 1'd1; put[done] = m.done; }
  }
  control { put; }
}
"#,
    );
    let format = r#""format": {"numeric_type": "ieee754_float", "is_signed": true, "width": 32}"#;
    workshop.write(
        "design.futil.data",
        format!("{{\"m\": {{\"data\": [NaN], {format}}}}}"),
    );
    workshop.succeeds(&RUN);
    assert_eq!(after(&workshop, "m"), json!([-2.5]));
}

#[test]
fn a_latency_that_is_not_so_is_told() {
    let workshop = Workshop::new();
    let library = petal_passes::Library::new(&[]).unwrap();
    let folder = library.complete().unwrap();
    std::fs::create_dir_all(workshop.path("own/primitives")).unwrap();
    let own = |cycles: u64| {
        for name in ["binary_operators.futil", "binary_operators.sv"] {
            let text = std::fs::read_to_string(folder.join(name)).unwrap();
            let said = text.replace("@interval(3)", &format!("@interval({cycles})"));
            workshop.write(&format!("own/primitives/{name}"), said);
        }
        let design = example("matmul.futil");
        let run = ["run", &design, "-l", "own", "--out", "out"];
        workshop.ends(0, &run)
    };
    let told = "main.mult was not done in time 64x, first when it was started in cycle 12";
    // It is done after two cycles, and the compiler takes what it gives after one.
    let said = own(1);
    tells(&said, &[told, "`std_mult_pipe`", "`@interval(1)`"]);
    // A latency that is longer than need be costs time, and nothing else.
    for cycles in [2, 3, 5] {
        let said = own(cycles);
        assert!(!said.contains("not done in time"), "{said}");
    }
    assert!(!workshop.path("out/observations.json").exists());
}
