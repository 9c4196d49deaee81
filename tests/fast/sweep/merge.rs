//! Parts of a sweep that become one: of the same inputs, and with all that belongs to them.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use serde_json::Value as Json;

use super::inputs::PART;
use super::page;
use crate::support::workshop::{DATA, DESIGN, Workshop, said, tells};

#[test]
fn parts_of_different_inputs_are_no_whole() {
    let workshop = Workshop::new();
    workshop.write("b.futil", DESIGN);
    workshop.write("b.futil.data", DATA);
    workshop.write("part.futil", PART);
    workshop.write("design.futil", format!("import \"part.futil\";\n{DESIGN}"));
    let toml = |count: &str| {
        format!(
            "passes = [\"all\", \"no-opt\"]\ncount = \"n={count}\"\ndata = \"design.futil.data\"\n[[design]]\nfiles = [\"design.futil\", \"b.futil\"]\n"
        )
    };
    let part = |shard: &str, out: &str| {
        let _ = fs::remove_dir_all(workshop.path(out));
        workshop.succeeds(&["sweep", "s.toml", "-q", "--shard", shard, "--out", out]);
    };
    let merge = ["sweep", "--merge", "one", "two", "--out", "whole", "-q"];
    for (file, before, after, told) in [
        (
            "design.futil",
            format!("import \"part.futil\";\n{DESIGN}"),
            format!("import \"part.futil\";\n{DESIGN}\n"),
            "design.futil",
        ),
        (
            "part.futil",
            PART.to_owned(),
            format!("{PART}\n"),
            "part.futil",
        ),
        (
            "design.futil.data",
            DATA.to_owned(),
            DATA.replace('1', "2"),
            "design.futil.data",
        ),
        (
            "s.toml",
            toml("main.put"),
            toml("!main.put"),
            "the options of all runs",
        ),
    ] {
        workshop.write("s.toml", toml("main.put"));
        workshop.write(file, &before);
        part("1/2", "one");
        workshop.write(file, &after);
        part("2/2", "two");
        let said = workshop.ends(1, &merge);
        tells(
            &said,
            &[
                "the parts are of different inputs",
                told,
                "changed between them",
            ],
        );
        assert!(!workshop.path("whole").exists(), "{file}");
        // Done again, they are a whole, and a part that goes on does so by itself.
        let said = workshop.ends(0, &["sweep", "s.toml", "--shard", "1/2", "--out", "one"]);
        tells(&said, &[told, "changed: ", "done again"]);
        workshop.succeeds(&merge);
        fs::remove_dir_all(workshop.path("whole")).unwrap();
        workshop.write(file, &before);
    }
}

#[test]
fn of_the_rows_of_a_run_the_one_with_a_profile_is_taken() {
    let workshop = Workshop::new();
    workshop.write("s.toml", "[[design]]\nfiles = \"design.futil\"\n");
    for out in ["bare", "full"] {
        workshop.succeeds(&["sweep", "s.toml", "--out", out, "-q"]);
    }
    fs::remove_dir_all(workshop.path("bare/profiles")).unwrap();
    workshop.succeeds(&["sweep", "--merge", "bare", "full", "--out", "whole", "-q"]);
    let shown = |out: &str| page(&workshop, out)["rows"][0]["profile"].clone();
    assert_eq!(shown("whole"), "profiles/design/all/default");
    assert!(workshop.files("full") == workshop.files("whole"));
    // Where none has one, the page leads to none, not even to that of an earlier result.
    let said = workshop.ends(0, &["sweep", "--merge", "bare", "--out", "whole", "-q"]);
    tells(
        &said,
        &["no part has: 1, first that of design / all / default"],
    );
    assert_eq!(shown("whole"), Json::Null);
    assert!(workshop.files("whole/profiles").is_empty());
}

#[test]
fn nothing_of_an_earlier_result_is_left_in_a_profile() {
    let workshop = Workshop::new();
    let design = "[[design]]\nfiles = \"design.futil\"\n";
    for (out, count) in [("counted", "count = \"n=main.put\"\n"), ("plain", "")] {
        workshop.write("s.toml", format!("{count}{design}"));
        workshop.succeeds(&["sweep", "s.toml", "--out", out, "-q"]);
        workshop.succeeds(&["sweep", "--merge", out, "--out", "whole", "-q"]);
        assert!(workshop.files(out) == workshop.files("whole"), "{out}");
    }
}

/// Does a sweep in two parts, with a change between them, and puts them together.
fn in_parts(workshop: &Workshop, file: &str, change: impl Fn()) -> Output {
    for shard in ["1/2", "2/2"] {
        let out = &shard[..1];
        workshop.succeeds(&["sweep", file, "-q", "--shard", shard, "--out", out]);
        change();
    }
    workshop.petal(&["sweep", "--merge", "1", "2", "--out", "whole", "-q"])
}

#[test]
fn data_that_come_between_two_parts_are_a_change() {
    let workshop = Workshop::new();
    fs::remove_file(workshop.path("design.futil.data")).unwrap();
    workshop.write(
        "s.toml",
        "passes = [\"all\", \"no-opt\"]\n[[design]]\nfiles = \"design.futil\"\n",
    );
    let merged = in_parts(&workshop, "s.toml", || {
        workshop.write("design.futil.data", DATA);
    });
    tells(&said(&merged), &["design.futil.data changed between them"]);
}

#[test]
fn files_of_one_name_in_several_folders_are_no_change() {
    let workshop = Workshop::empty();
    for dir in ["a", "b", "sweeps"] {
        fs::create_dir(workshop.path(dir)).unwrap();
    }
    for dir in ["a", "b"] {
        workshop.write(&format!("{dir}/part.futil"), format!("// {dir}\n{PART}"));
        let design = format!("import \"part.futil\";\n{DESIGN}");
        workshop.write(&format!("{dir}/m{dir}.futil"), design);
    }
    symlink(workshop.dir.path(), workshop.path("sweeps/link")).unwrap();
    workshop.write(
        "sweeps/s.toml",
        "[[design]]\nfiles = [\"../a/ma.futil\", \"../b/mb.futil\"]\n",
    );
    workshop.write(
        "s.toml",
        "[[design]]\nfiles = [\"a/ma.futil\", \"b/mb.futil\"]\n",
    );
    for file in ["sweeps/s.toml", "sweeps/link/s.toml"] {
        let merged = in_parts(&workshop, file, || {});
        assert!(merged.status.success(), "{file}: {}", said(&merged));
        for out in ["1", "2"] {
            fs::remove_dir_all(workshop.path(out)).unwrap();
        }
    }
    // By whichever name the folder goes, the result is the same.
    workshop.succeeds(&["sweep", "s.toml", "-q", "--out", "direct"]);
    assert!(workshop.files("direct") == workshop.files("whole"));
}

#[test]
fn what_failed_in_one_part_may_be_done_by_another() {
    let workshop = Workshop::new();
    workshop.write(
        "s.toml",
        "data = \"later.json\"\n[[design]]\nfiles = \"design.futil\"\n",
    );
    workshop.ends(1, &["sweep", "s.toml", "--out", "1", "-q"]);
    workshop.write("later.json", DATA);
    workshop.succeeds(&["sweep", "s.toml", "--out", "2", "-q"]);
    workshop.succeeds(&["sweep", "--merge", "1", "2", "--out", "whole", "-q"]);
    assert!(workshop.files("2") == workshop.files("whole"));
}
