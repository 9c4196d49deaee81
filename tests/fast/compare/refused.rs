//! Sides and arguments that make no sense are refused, with the way out.

use std::fs;

use crate::support::comparisons::{adds_up, compare};
use crate::support::workshop::{Workshop, example};

#[test]
fn a_partial_run_is_told_and_not_judged() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "whole", "-q"]);
    let mut partial = vec!["run", design.as_str(), "--out", "partial", "-q"];
    partial.extend(["--partial", "--cycle-limit", "10"]);
    workshop.succeeds(&partial);
    let comparison = compare(&workshop, &["whole", "partial"]);
    adds_up(&comparison);
    let note = comparison["notes"][0].as_str().unwrap();
    assert!(note.contains("the run after is a partial one"), "{note}");
    let said = workshop.ends(1, &["compare", "whole", "partial", "--fail-above", "0%"]);
    assert!(said.contains("--fail-above"), "{said}");
}

#[test]
fn bad_sides_are_refused_with_the_way_out() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    workshop.succeeds(&["run", &design, "--out", "good", "-q"]);
    let baseline = workshop.succeeds(&["baseline", "good"]);
    let write = |text: &str| fs::write(workshop.path("bad.json"), text).unwrap();
    let said = || workshop.ends(1, &["compare", "bad.json", "good", "--flame", "f.svg"]);

    assert!(said().contains("cannot read bad.json"));
    write("not JSON");
    assert!(said().contains("bad.json is not a petal baseline"));
    write(&workshop.read("good/summary.json"));
    assert!(said().contains("write one with `petal baseline`"));
    write(&baseline[..baseline.len() / 2]);
    assert!(said().contains("bad.json is not a petal baseline"));
    for (from, to, problem) in [
        (
            "\"petal-baseline\": 2",
            "\"petal-baseline\": 99",
            "version 99",
        ),
        (
            "\"cycles\": 17",
            "\"cycles\": 18",
            "its cycles do not add up",
        ),
        (
            "\"unplaced\": 0",
            "\"unplaced\": 1",
            "overhead of its statements does not add up",
        ),
        (
            "\"times\":1",
            "\"times\":18446744073709551615",
            "no run is as long",
        ),
        ("\"file\":0", "\"file\":7", "is out of place"),
        ("\"parent\":0", "\"parent\":77", "is out of place"),
        ("[0,15,0]", "[1,15,0]", "loose node"),
        ("[0,15,0]", "[0,99,0]", "loose node"),
        ("{\"group\":0}", "{\"group\":99}", "names what is not there"),
        (
            "\"name\":\"init\"",
            "\"name\":\"incr\"",
            "names a cell or group twice",
        ),
        (
            "\"fsm-update\":1",
            "\"fsm-update\":1,\"naps\":1",
            "`naps` is no kind of overhead",
        ),
    ] {
        assert!(baseline.contains(from), "{baseline}");
        write(&baseline.replace(from, to));
        let said = said();
        assert!(
            said.contains(problem) && said.contains("bad.json"),
            "{said}"
        );
    }
    workshop.succeeds(&["run", &design, "--out", "torn", "-q"]);
    fs::write(workshop.path("torn/summary.json"), "{").unwrap();
    let said = workshop.ends(1, &["compare", "good", "torn"]);
    assert!(said.contains("torn/summary.json is damaged"), "{said}");
    fs::create_dir(workshop.path("empty")).unwrap();
    let said = workshop.ends(1, &["compare", "good", "empty"]);
    assert!(said.contains("empty holds no whole profile"), "{said}");
    workshop.ends(1, &["baseline", "empty", "--out", "b.json"]);
    assert!(!workshop.path("f.svg").exists() && !workshop.path("b.json").exists());
}

#[test]
fn designs_with_nothing_in_common_are_refused() {
    let workshop = Workshop::empty();
    let long = example("dot-product.futil");
    let short = example("switch-case-par.futil");
    for more in [&[][..], &["--fail-above", "0%"], &["--flame", "f.svg"]] {
        let said = workshop.ends(2, &[&["compare", &long, &short], more].concat());
        for part in [
            "dot-product and switch-case-par",
            "nothing in common",
            "--force",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
    assert!(!workshop.path("f.svg").exists());
    workshop.succeeds(&["compare", &long, &short, "--force", "--fail-above", "0%"]);
    workshop.ends(
        1,
        &["compare", &short, &long, "--force", "--fail-above", "0%"],
    );

    // A renamed file, other passes, and two ways to write one program.
    fs::copy(&long, workshop.path("other.futil")).unwrap();
    fs::copy(format!("{long}.data"), workshop.path("other.futil.data")).unwrap();
    workshop.succeeds(&["compare", &long, "other.futil"]);
    workshop.succeeds(&["compare", &long, "--passes", "no-opt", "--passes", "all"]);
    for (one, other) in [
        ("switch-case-par", "switch-case-if"),
        ("while-comb", "while-reg"),
        ("while-comb", "while-par"),
    ] {
        let [one, other] = [one, other].map(|name| example(&format!("{name}.futil")));
        workshop.succeeds(&["compare", &one, &other]);
    }
}

#[test]
fn arguments_that_make_no_sense_together_are_refused() {
    let workshop = Workshop::empty();
    let design = example("while-comb.futil");
    let design = design.as_str();
    for (args, problem) in [
        (&["good"][..], "name two sides"),
        (&[design], "name two sides"),
        (&[design, "--passes", "all"], "name two sides"),
        (
            &["a.json", "b.json", "--passes", "all"],
            "nothing is compiled",
        ),
        (&["a.json", "b.json", "-d", "inline"], "nothing is compiled"),
        (
            &[design, "b.json", "--passes", "all", "--passes", "no-opt"],
            "both sides are Calyx programs",
        ),
        (
            &[
                design, design, "--passes", "all", "--passes", "all", "--passes", "all",
            ],
            "twice at most",
        ),
        (
            &["a.json", "b.json", "--fail-above", "2"],
            "write a limit such as",
        ),
    ] {
        let said = workshop.ends(2, &[&["compare"], args].concat());
        assert!(said.contains(problem), "{said}");
    }
}
