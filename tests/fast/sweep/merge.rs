//! Parts of a sweep that become one: of the same inputs, and with all that belongs to them.

use std::fs;

use super::inputs::PART;
use crate::support::workshop::{DATA, DESIGN, Workshop, tells};

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
    assert!(
        workshop
            .path("whole/profiles/design/all/default/summary.json")
            .is_file()
    );
}
