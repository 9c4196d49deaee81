//! What the runs of a sweep depend on: they are done again when it changes, and only then.

use std::fs;
use std::path::PathBuf;

use super::{rows, written};
use crate::support::workshop::{DATA, DESIGN, Workshop, example, succeeds, tells};

/// A file that a design imports.
pub const PART: &str = r#"import "primitives/core.futil";
component part() -> () {
  cells { r = std_reg(8); }
  wires { group set { r.in = 8'd1; r.write_en = 1'd1; set[done] = r.done; } }
  control { set; }
}
"#;

#[test]
fn what_has_not_changed_is_not_run_again() {
    let workshop = Workshop::new();
    workshop.write("part.futil", PART);
    workshop.write("b.futil", format!("import \"part.futil\";\n{DESIGN}"));
    workshop.write("b.futil.data", DATA);
    workshop.write(
        "s.toml",
        "observe = \"o.toml\"\n[[design]]\nfiles = [\"design.futil\", \"b.*il\"]\n",
    );
    workshop.write("o.toml", "[[count]]\nname = \"n\"\nvalue = \"main.put\"\n");
    let sweep = || workshop.succeeds(&["sweep", "s.toml", "--out", "out"]);
    let list = || workshop.succeeds(&["sweep", "s.toml", "--out", "out", "--dry-run"]);
    assert_eq!(
        list(),
        "to do   design / all / default\nto do   b / all / default\n"
    );
    assert!(!workshop.path("out").exists());
    sweep();
    assert_eq!(
        list(),
        "done    design / all / default\ndone    b / all / default\n"
    );
    let mut before = written(&workshop, "out");
    let mut changed = |what: &[&str]| {
        sweep();
        let after = written(&workshop, "out");
        let all = ["b", "design"].into_iter();
        let other: Vec<&str> = all
            .filter(|design| {
                let name = PathBuf::from(format!("{design}/all/default/summary.json"));
                before[&name] != after[&name]
            })
            .collect();
        assert_eq!(other, what);
        before = after;
    };
    changed(&[]);
    workshop.write("design.futil.data", DATA.replace('1', "2"));
    changed(&["design"]);
    workshop.write("part.futil", format!("{PART}\n"));
    changed(&["b"]);
    workshop.write("o.toml", "[[count]]\nname = \"m\"\nvalue = \"main.put\"\n");
    changed(&["b", "design"]);
    fs::remove_dir_all(workshop.path("out/profiles/b")).unwrap();
    // Its profile is gone, which is a change of what was there and not of an input.
    sweep();
    assert!(
        workshop
            .path("out/profiles/b/all/default/report.html")
            .is_file()
    );
}

#[test]
fn a_list_of_runs_tells_what_changed() {
    let workshop = Workshop::new();
    workshop.write("s.toml", "[[design]]\nfiles = \"design.futil\"\n");
    let list = || workshop.succeeds(&["sweep", "s.toml", "--out", "out", "--dry-run"]);
    workshop.succeeds(&["sweep", "s.toml", "--out", "out", "-q"]);
    assert_eq!(list(), "done    design / all / default\n");
    workshop.write("design.futil", format!("{DESIGN}\n"));
    assert_eq!(
        list(),
        "to do   design / all / default: design.futil changed\n"
    );
    workshop.write("design.futil", DESIGN);
    workshop.write("design.observe.toml", "[[count]]\nvalue = \"main.put\"\n");
    assert_eq!(
        list(),
        "to do   design / all / default: design.observe.toml changed\n"
    );
}

#[test]
fn an_edited_figure_is_not_believed() {
    let workshop = Workshop::new();
    workshop.write("s.toml", "[[design]]\nfiles = \"design.futil\"\n");
    workshop.succeeds(&["sweep", "s.toml", "--out", "out", "-q"]);
    let row = "out/rows/design/all/default/row.json";
    let right = workshop.read(row);
    let cycles = format!(
        "\"cycles\": {}",
        rows(&workshop, "out").values().next().unwrap().figures["cycles"]
    );
    workshop.write(row, right.replace(&cycles, "\"cycles\": 1"));
    assert_ne!(right, workshop.read(row));
    let said = workshop.ends(1, &["sweep", "--merge", "out", "--out", "whole"]);
    tells(&said, &["row.json is not as petal wrote it"]);
    workshop.succeeds(&["sweep", "s.toml", "--out", "out", "-q"]);
    assert_eq!(right, workshop.read(row));
}

#[test]
fn what_a_generated_design_imports_is_an_input() {
    let workshop = Workshop::empty();
    workshop.write("part.futil", PART);
    workshop.write("design.txt", format!("import \"part.futil\";\n{DESIGN}"));
    workshop.write("one.json", DATA);
    workshop.write(
        "s.toml",
        "data = \"one.json\"\n[[design]]\nname = \"x\"\ngenerate = \"cat design.txt\"\n",
    );
    let list = || workshop.succeeds(&["sweep", "s.toml", "--out", "out", "--dry-run"]);
    let sweep = || workshop.ends(0, &["sweep", "s.toml", "--out", "out"]);
    sweep();
    assert_eq!(list(), "done    x / all / one.json\n");
    workshop.write("part.futil", format!("{PART}\n"));
    assert_eq!(list(), "to do   x / all / one.json: part.futil changed\n");
    tells(&sweep(), &["part.futil changed: one run was done again"]);
    assert_eq!(list(), "done    x / all / one.json\n");
    fs::remove_file(workshop.path("one.json")).unwrap();
    assert_eq!(list(), "to do   x / all / one.json: one.json changed\n");
}

#[test]
fn the_caller_may_be_in_any_folder() {
    let workshop = Workshop::empty();
    fs::create_dir(workshop.path("designs")).unwrap();
    workshop.edited("designs/variance.futil", "adl/variance.futil", &[]);
    fs::copy(example("adl/variance.py"), workshop.path("variance.py")).unwrap();
    workshop.write("s.toml", "[[design]]\nfiles = \"designs/*.futil\"\n");
    let path = |name: &str| workshop.path(name).to_str().unwrap().to_owned();
    let (file, out) = (path("s.toml"), format!("--out={}", path("out")));
    let sweep = |more: &str| {
        let mut command = workshop.command(&["sweep", &file, &out, more]);
        succeeds(command.current_dir("/"))
    };
    workshop.succeeds(&["sweep", "s.toml", &out, "-q"]);
    let done = "done    variance / all / default\n";
    assert_eq!(sweep("--dry-run"), done);
    sweep("-q");
    workshop.write("variance.py", "pass\n");
    assert_eq!(
        sweep("--dry-run"),
        "to do   variance / all / default: variance.py changed\n"
    );
    sweep("-q");
    assert_eq!(
        workshop.succeeds(&["sweep", "s.toml", &out, "--dry-run"]),
        done
    );
}
