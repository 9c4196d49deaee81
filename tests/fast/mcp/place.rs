//! Nothing that an agent names leads out of the folder that the server was started in.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::agent::Agent;
use crate::support::workshop::{DESIGN, Workshop, tells};

#[test]
fn nothing_leads_out_of_the_folder() {
    let outside = Workshop::everything();
    let before = outside.files(".");
    let outside_path = |name: &str| outside.path(name).to_str().unwrap().to_owned();
    let workshop = Workshop::new();
    workshop.succeeds(&["run", "design.futil", "-q", "--out", "kept"]);
    let link = |from: &str, to: &str| symlink(outside.path(from), workshop.path(to)).unwrap();
    link("", "away");
    link("design.futil", "linked.futil");
    link("other.json", "linked.json");
    link("base.json", "base.json");
    link("not/there", "dangling");
    workshop.copy("kept", "stolen");
    fs::remove_file(workshop.path("stolen/trace.petal")).unwrap();
    link("kept/trace.petal", "stolen/trace.petal");
    for name in ["data", "observe"] {
        workshop.write(&format!("{name}.futil"), DESIGN);
    }
    link("other.json", "data.futil.data");
    link("other.json", "observe.observe.toml");
    workshop.write(
        "import.futil",
        format!("import \"{}\";\n{DESIGN}", outside_path("part.futil")),
    );
    let run = |design: &str| ("petal_run", json!({ "design": design }));
    let out = |out: &str| ("petal_run", json!({ "design": "design.futil", "out": out }));
    let data = |data: &str| {
        (
            "petal_run",
            json!({ "design": "design.futil", "data": data }),
        )
    };
    let shown = |dir: &str| ("petal_hotspots", json!({ "dir": dir }));
    let mut agent = Agent::new(&workshop);
    for (name, arguments) in [
        run("../design.futil"),
        run(&outside_path("design.futil")),
        run("away/design.futil"),
        run("linked.futil"),
        run("nothing/../../design.futil"),
        run("data.futil"),
        run("observe.futil"),
        run("import.futil"),
        out("../out"),
        out(&outside_path("out")),
        out("away/out"),
        out("away/kept"),
        out("dangling"),
        out("dangling/deeper"),
        out("stolen"),
        data("linked.json"),
        data(&outside_path("other.json")),
        shown("away/kept"),
        shown("stolen"),
        shown(&outside_path("kept")),
        (
            "petal_compare",
            json!({ "base": "base.json", "new": "kept" }),
        ),
        (
            "petal_compare",
            json!({ "base": "kept", "new": "away/kept" }),
        ),
        (
            "petal_advise",
            json!({ "design": "design.futil", "data": ["design.futil.data", "linked.json"] }),
        ),
        ("petal_check", json!({ "design": "away/design.futil" })),
        ("petal_whatif", json!({ "design": "away/design.futil" })),
        (
            "petal_synth",
            json!({ "design": "design.futil", "out": "away/new" }),
        ),
    ] {
        let said = agent.fails(name, arguments.clone());
        assert!(
            said.contains("outside") || said.contains("neither in the folder"),
            "{arguments}: {said}"
        );
    }
    // What is written where nobody says so.
    fs::create_dir(workshop.path("inner")).unwrap();
    symlink(outside.path("kept"), workshop.path("petal-out")).unwrap();
    tells(
        &agent.fails("petal_run", json!({ "design": "design.futil" })),
        &["petal-out/design is outside"],
    );
    assert!(
        outside.files(".") == before,
        "something outside has changed"
    );
    // What leads back is no way out.
    fs::remove_file(workshop.path("petal-out")).unwrap();
    let own = workshop.path("design.futil").to_str().unwrap().to_owned();
    for design in ["inner/../design.futil", &own] {
        agent.gets("petal_run", json!({ "design": design }));
    }
}

#[test]
fn verilog_is_no_way_out() {
    let workshop = Workshop::everything();
    workshop.write(
        "inline.futil",
        format!("{DESIGN}\ncomb primitive own(in: 1) -> (out: 1) {{ assign out = in; }}"),
    );
    let mut agent = Agent::new(&workshop);
    for tool in [
        "petal_run",
        "petal_check",
        "petal_advise",
        "petal_whatif",
        "petal_synth",
    ] {
        for design in ["parts.futil", "inline.futil"] {
            let said = agent.fails(tool, json!({ "design": design }));
            tells(&said, &[design, "Verilog of its own"]);
        }
    }
}
