//! Sweeps: which runs there are, that each leaves a row whatever happens to it, and that it is done once.

mod figures;
mod inputs;
mod merge;
mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use petal_sweep::Row;
use serde_json::Value as Json;

use crate::support::workshop::{DATA, DESIGN, Workshop, said, tells};

/// A generator: a design that writes `{size}` times, and to the address `{to}`.
const GENERATOR: &str = r#"
size=$1 to=$2
cat <<END
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external mem = comb_mem_d1(8, 2, 1); }
  wires {
    group put { mem.addr0 = 1'd$to; mem.write_data = 8'd5; mem.write_en = 1'd1; put[done] = mem.done; }
  }
  control { seq { $(for i in $(seq $size); do echo "put;"; done) } }
}
END
"#;

/// A sweep over what the generator prints.
const GENERATED: &str = r#"
passes = ["all", { name = "plain", list = "no-opt" }]
data = ["one.json", { name = "made", generate = "sed s/1,/7,/ one.json" }]
count = "puts=main.put"

[[design]]
name = "puts"
generate = "sh gen.sh {size} {to}"
parameters = { size = [2, 4, 8], to = 1 }
"#;

fn generated() -> Workshop {
    let workshop = Workshop::empty();
    workshop.write("gen.sh", GENERATOR);
    workshop.write("one.json", DATA);
    workshop.write("s.toml", GENERATED);
    workshop
}

/// The rows in a folder, by the names of their runs.
fn rows(workshop: &Workshop, out: &str) -> BTreeMap<String, Row> {
    let files = workshop.files(&format!("{out}/rows"));
    let rows = files.values().map(|text| {
        let row: Row = serde_json::from_slice(text).unwrap();
        (row.name.to_string(), row)
    });
    rows.collect()
}

/// When each profile of a sweep was written.
fn written(workshop: &Workshop, out: &str) -> BTreeMap<PathBuf, (u64, i64)> {
    let files = workshop.files(&format!("{out}/profiles")).into_keys();
    let summaries = files.filter(|name| name.ends_with("summary.json"));
    summaries
        .map(|name| {
            let file = fs::metadata(workshop.path(out).join("profiles").join(&name)).unwrap();
            (name, (file.ino(), file.ctime_nsec()))
        })
        .collect()
}

/// What the page of a sweep shows.
fn page(workshop: &Workshop, out: &str) -> Json {
    let text = workshop.read(&format!("{out}/sweep.html"));
    let data = text.split_once(r#"id="data">"#).unwrap().1;
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_sweep_runs_every_combination() {
    let workshop = generated();
    let told = workshop.succeeds(&["sweep", "s.toml"]);
    tells(
        &told,
        &["s: 12 runs, 12 done, 0 failed", "petal-out/s/sweep.html"],
    );
    let rows = rows(&workshop, "petal-out/s");
    assert_eq!(rows.len(), 12);
    for (name, row) in &rows {
        let size: u64 = row.name.parameters["size"].parse().unwrap();
        assert_eq!(row.name.parameters["to"], "1", "{name}");
        assert_eq!(row.figures["count:puts"], size, "{name}");
        assert_eq!(
            row.figures["cycles"],
            row.figures["useful_cycles"] + row.figures["overhead_cycles"],
            "{name}"
        );
    }
    // Each is the run that petal does alone.
    let name = "puts size=4 to=1 / plain / made";
    workshop.write("made.json", DATA.replace("1,", "7,"));
    let folder = rows[name].name.folder();
    let design = workshop.read("petal-out/s/generated/puts%20size%3D4%20to%3D1.futil");
    workshop.write("alone.futil", design);
    let alone = [
        "run",
        "alone.futil",
        "-q",
        "--passes",
        "no-opt",
        "--data",
        "made.json",
    ];
    workshop.succeeds(&[&alone[..], &["--count", "puts=main.put", "--out", "alone"]].concat());
    for file in ["memories.json", "stats/groups.csv", "observations.json"] {
        let of_sweep = workshop
            .path("petal-out/s/profiles")
            .join(&folder)
            .join(file);
        let alone = workshop.path("alone").join(file);
        assert_eq!(
            fs::read(of_sweep).unwrap(),
            fs::read(alone).unwrap(),
            "{file}"
        );
    }
    let summary: Json = serde_json::from_str(&workshop.read("alone/summary.json")).unwrap();
    assert_eq!(summary["cycles"], rows[name].figures["cycles"]);
    // The page has the same.
    let page = page(&workshop, "petal-out/s");
    assert_eq!(page["parameters"], serde_json::json!(["size", "to"]));
    assert_eq!(page["figures"][0], "cycles");
    for shown in page["rows"].as_array().unwrap() {
        let text = |key: &str| shown[key].as_str().unwrap();
        let name = format!("{} / {} / {}", text("design"), text("passes"), text("data"));
        assert_eq!(shown["figures"][0], rows[&name].figures["cycles"]);
        // A browser decodes it once.
        let profile = text("profile").replace("%25", "%");
        assert!(
            workshop
                .path("petal-out/s")
                .join(profile)
                .join("report.html")
                .is_file()
        );
    }
}

#[test]
fn the_same_files_however_many_run_at_once_and_in_parts() {
    let workshop = generated();
    workshop.write("s.toml", GENERATED.replace("[2, 4, 8]", "[2, 4]"));
    workshop.succeeds(&["sweep", "s.toml", "--jobs", "1", "--out", "one"]);
    workshop.succeeds(&["sweep", "s.toml", "--jobs", "2", "--out", "two", "-q"]);
    let one = workshop.files("one");
    assert!(one == workshop.files("two"), "two at once give other files");
    // Parts, one of which is interrupted: another folder has the rest.
    for shard in ["1/3", "2/3", "3/3"] {
        let out = format!("part-{}", &shard[..1]);
        workshop.succeeds(&["sweep", "s.toml", "--shard", shard, "--out", &out]);
        assert!(!workshop.path(&out).join("sweep.html").exists());
    }
    let said = workshop.ends(1, &["sweep", "--merge", "part-1", "part-3", "--out", "all"]);
    tells(&said, &["the parts lack 3 of 8 runs"]);
    assert!(!workshop.path("all").exists());
    workshop.succeeds(&[
        "sweep", "--merge", "part-1", "part-3", "part-2", "--out", "all",
    ]);
    assert!(one == workshop.files("all"), "parts give other files");
    // Parts may also share a folder; a sweep then finds all done.
    for shard in ["2/3", "1/3", "3/3"] {
        workshop.succeeds(&["sweep", "s.toml", "--shard", shard, "--out", "shared"]);
    }
    let before = written(&workshop, "shared");
    workshop.succeeds(&["sweep", "s.toml", "--out", "shared"]);
    assert_eq!(before, written(&workshop, "shared"));
    assert!(one == workshop.files("shared"));
    // Another sweep is no part.
    workshop.write("s.toml", GENERATED);
    workshop.succeeds(&["sweep", "s.toml", "--shard", "1/12", "--out", "other"]);
    let said = workshop.ends(1, &["sweep", "--merge", "part-1", "other", "--out", "no"]);
    tells(&said, &["part-1 and other are not parts of one sweep"]);
    let said = workshop.ends(1, &["sweep", "--merge", "part-1", "nothing", "--out", "no"]);
    tells(&said, &["nothing holds no part of a sweep", "sweep.json"]);
}

#[test]
fn what_was_generated_has_a_place_of_its_own() {
    let workshop = generated();
    let (long, name) = ("a".repeat(150), "b".repeat(150));
    let runs = [("a", "b c", 3), ("a b", "c", 7), (&long, &name, 9)];
    let text = runs.map(|(design, data, first)| {
        format!(
            "[[design]]\nname = \"{design}\"\ngenerate = \"sh gen.sh 2 1\"\ndata = {{ name = \"{data}\", generate = \"sed s/1,/{first},/ one.json\" }}\n"
        )
    });
    workshop.write("s.toml", text.concat());
    workshop.succeeds(&["sweep", "s.toml", "--out", "out", "-q"]);
    for (design, data, first) in runs {
        let encoded = |name: &str| name.replace(' ', "%20");
        let (design, data) = (encoded(design), encoded(data));
        let kept = workshop.read(&format!("out/generated/data/{design}/{data}.json"));
        assert_eq!(kept, DATA.replace("1,", &format!("{first},")));
        let memories = workshop.read(&format!("out/profiles/{design}/all/{data}/memories.json"));
        let memories: Json = serde_json::from_str(&memories).unwrap();
        assert_eq!(memories["mem"]["data"][0], first, "{memories}");
    }
}

#[test]
fn what_goes_wrong_in_a_run_is_a_row() {
    let workshop = Workshop::new();
    workshop.write("broken.futil", DESIGN.replace("put;", "puts;"));
    let endless = Workshop::endless();
    fs::copy(endless.path("design.futil"), workshop.path("endless.futil")).unwrap();
    workshop.write(
        "s.toml",
        r#"
timeout = 2
cycle-limit = 1000000000000000000
data = "design.futil.data"
[[design]]
files = "*.futil"
[[design]]
name = "fails"
generate = "echo no such size >&2; exit 3"
[[design]]
name = "nothing"
generate = "true"
[[design]]
name = "hangs"
generate = "sleep 1000 & sleep 1000"
[[design]]
files = "design.futil"
name = "lacks"
data = "missing.json"
[[design]]
name = "garbage"
generate = "head -c 1000 /dev/urandom"
"#,
    );
    let output = workshop.petal(&["sweep", "s.toml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    tells(
        &said(&output),
        &["error: 7 runs failed; the same command tries them again"],
    );
    let rows = rows(&workshop, "out");
    let error = |design: &str| {
        let row = rows.values().find(|row| row.name.design == design);
        row.unwrap().error.clone().unwrap_or_default()
    };
    assert_eq!(error("design"), "");
    tells(&error("broken"), &["broken.futil", "puts"]);
    tells(
        &error("endless"),
        &["took longer than 2 s (`timeout` of the sweep)"],
    );
    tells(
        &error("fails"),
        &[
            "cannot generate the design by `echo no such size",
            "no such size",
        ],
    );
    tells(&error("nothing"), &["it printed nothing"]);
    tells(&error("hangs"), &["took longer than 2 s"]);
    tells(
        &error("lacks"),
        &["cannot read the data file", "missing.json"],
    );
    assert!(!error("garbage").is_empty());
    let told = String::from_utf8(output.stdout).unwrap();
    tells(&told, &["s: 8 runs, 1 done, 7 failed", "no such size"]);
    // Those that failed leave no profile.
    let profiles = fs::read_dir(workshop.path("out/profiles")).unwrap();
    let profiles = profiles.map(|entry| entry.unwrap().file_name());
    let with_files = profiles.filter(|name| {
        let name = format!("out/profiles/{}", name.display());
        !workshop.files(&name).is_empty()
    });
    assert_eq!(with_files.collect::<Vec<_>>(), ["design"]);
    // The page shows them.
    let page = page(&workshop, "out");
    let failed = page["rows"].as_array().unwrap().iter();
    let failed = failed.filter(|row| row["error"].is_string());
    assert_eq!(failed.count(), 7);
}

/// What is told of a file with this text.
fn told(text: &str) -> String {
    let workshop = Workshop::new();
    workshop.write("s.toml", text);
    let said = workshop.ends(1, &["sweep", "s.toml", "--out", "out"]);
    assert!(said.starts_with("error: s.toml:"), "{said}");
    assert!(!workshop.path("out").exists());
    said
}

#[test]
fn a_file_that_makes_no_sense_is_told_with_the_place() {
    let design = "[[design]]\nfiles = \"design.futil\"\n";
    for (text, parts) in [
        ("", &["it names no designs"][..]),
        (
            "passses = \"all\"",
            &["line 1", "passses", "is it `passes`"],
        ),
        (
            "[[design]]\nfile = \"a\"",
            &["line 2", "is it `files`"],
        ),
        ("a = [", &["line 1"]),
        (
            "[[design]]\n",
            &["s.toml:1:", "`files`, or a command to `generate`"],
        ),
        (
            "\n[[design]]\nfiles = \"no.futil\"",
            &["s.toml:2:", "there is no file `no.futil`"],
        ),
        (
            "[[design]]\nfiles = \"[\"",
            &["`[` is no pattern for files"],
        ),
        ("[[design]]\ngenerate = \"true\"", &["needs a `name`"]),
        (
            "[[design]]\nfiles = \"a\"\ngenerate = \"b\"",
            &["either `files` or a command"],
        ),
        (
            "[[design]]\nname = \"a\"\ngenerate = \"b {n}\"",
            &["s.toml:3:", "nothing is called `{n}`"],
        ),
        (
            "[[design]]\nname = \"a\"\ngenerate = \"b\"\nparameters = { n = [1, 2] }",
            &["the parameter `n` changes nothing"],
        ),
        (
            "[[design]]\nname = \"a\"\ngenerate = \"b {n}\"\nparameters = { n = [1, 1] }",
            &["the parameter `n` has a value twice"],
        ),
        (
            &format!("data = []\n{design}"),
            &["line 1", "an empty list: leave it out"],
        ),
        (
            &format!("passes = 1\n{design}"),
            &["line 1", "passes as a text, or a table with a name"],
        ),
        (
            &format!("data = {{ name = \"x\" }}\n{design}"),
            &["either a `file` or a command to `generate` it"],
        ),
        (
            &format!("data = \"{{n}}\"\n{design}"),
            &["nothing is called `{n}`", "`{design}`"],
        ),
        (
            &format!("memory = \"much\"\n{design}"),
            &["s.toml:1: `memory`", "such as 20G"],
        ),
        (
            &format!("pareto = [\"cycles\"]\n{design}"),
            &["`pareto` has two figures"],
        ),
        (
            &format!("{design}{design}"),
            &["the run design / all / default is there twice"],
        ),
        (
            "[[design]]\nname = \"x\"\ngenerate = \"a\"\n[[design]]\nname = \"x\"\ngenerate = \"b\"\npasses = \"no-opt\"",
            &["s.toml:4:", "two designs are called `x`; give one another `name`"],
        ),
        (
            &["all", "no-opt"].map(|passes| format!("{design}passes = \"{passes}\"\ndata = {{ name = \"d\", file = \"{passes}\" }}\n")).concat(),
            &["two data sets of design are called `d`"],
        ),
        (
            &format!("data = [\"a/d.json\", \"b/d.json\"]\n{design}"),
            &["design / all / d.json is there twice; give one a `name`"],
        ),
        (
            &format!("passes = \"{}\"\n{design}", "a,".repeat(200)),
            &["give the pipeline another `name`"],
        ),
    ] {
        tells(&told(text), parts);
    }
}

#[test]
fn designs_with_one_name_are_told_apart_by_their_folders() {
    let workshop = Workshop::new();
    for folder in ["a", "b"] {
        fs::create_dir(workshop.path(folder)).unwrap();
        workshop.write(&format!("{folder}/design.futil"), DESIGN);
    }
    workshop.write("s.toml", "[[design]]\nfiles = \"*/design.futil\"\n");
    workshop.succeeds(&["sweep", "s.toml"]);
    let rows = rows(&workshop, "petal-out/s");
    let names: Vec<&String> = rows.keys().collect();
    assert_eq!(
        names,
        ["a/design / all / default", "b/design / all / default"]
    );
}

#[test]
fn a_sweep_takes_nothing_away() {
    let workshop = Workshop::new();
    workshop.write("s.toml", "[[design]]\nfiles = \"design.futil\"\n");
    fs::create_dir(workshop.path("mine")).unwrap();
    workshop.write("mine/notes.txt", "mine");
    let said = workshop.ends(2, &["sweep", "s.toml", "--out", "mine"]);
    tells(&said, &["mine holds notes.txt and no sweep"]);
    workshop.succeeds(&["sweep", "s.toml", "--out", "out"]);
    workshop.write("out/generated.futil", DESIGN);
    workshop.write("t.toml", "[[design]]\nfiles = \"out/*.futil\"\n");
    let said = workshop.ends(2, &["sweep", "t.toml", "--out", "out"]);
    tells(&said, &["generated.futil, which is in its output folder"]);
    // An unknown figure is told when there are some.
    workshop.write(
        "s.toml",
        "pareto = [\"cycles\", \"area\"]\n[[design]]\nfiles = \"design.futil\"\n",
    );
    let said = workshop.ends(1, &["sweep", "s.toml", "--out", "out"]);
    tells(
        &said,
        &[
            "`pareto` names the figure `area`, which no run has",
            "useful_cycles",
        ],
    );
    for shard in ["0/2", "3/2", "2", "a/b"] {
        let said = workshop.ends(2, &["sweep", "s.toml", "--shard", shard]);
        tells(&said, &["such as 2/8"]);
    }
}

#[test]
fn a_sweep_without_end_is_refused_at_once() {
    let workshop = Workshop::empty();
    let values: Vec<String> = (0..10).map(|value| value.to_string()).collect();
    let names: Vec<String> = (0..8).map(|at| format!("p{at}")).collect();
    let words: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
    let parameters = names
        .iter()
        .map(|name| format!("{name}=[{}]", values.join(",")));
    let parameters: Vec<String> = parameters.collect();
    workshop.write(
        "s.toml",
        format!(
            "[[design]]\nname=\"a\"\ngenerate=\"g {}\"\nparameters={{{}}}\n",
            words.join(""),
            parameters.join(",")
        ),
    );
    let said = workshop.ends(1, &["sweep", "s.toml", "--dry-run"]);
    tells(
        &said,
        &["s.toml:", "100000000 combinations", "at most 100000 runs"],
    );
}
