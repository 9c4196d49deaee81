//! The documents name only what is there.

use petal_analysis::GuideSection;

use crate::support::root;

fn read(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The texts between `open` and `close`.
fn between<'a>(text: &'a str, open: &str, close: char) -> Vec<&'a str> {
    text.split(open)
        .skip(1)
        .filter_map(|rest| rest.split(close).next())
        .collect()
}

#[test]
fn the_paths_of_the_architecture_exist() {
    let text = read("docs/ARCHITECTURE.md");
    let mut missing = Vec::new();
    let paths: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.contains('/') && !code.contains(' '))
        .collect();
    assert!(paths.len() > 10, "only {} paths found", paths.len());
    for path in paths {
        if !root().join(path).exists() {
            missing.push(path);
        }
    }
    assert!(missing.is_empty(), "docs/ARCHITECTURE.md names {missing:?}");
}

#[test]
fn the_links_of_the_documents_lead_somewhere() {
    for document in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/ci.md",
        "docs/formats.md",
        "docs/guide/README.md",
        "docs/guide/advice/README.md",
        "docs/guide/advice/compile.md",
        "docs/guide/advice/continuous-condition.md",
        "docs/guide/advice/exclusive-branches.md",
        "docs/guide/advice/fixed-iterations.md",
        "docs/guide/advice/fixed-latency.md",
        "docs/guide/advice/inline.md",
        "docs/guide/advice/merged-groups.md",
        "docs/guide/advice/parallel-steps.md",
        "docs/guide/advice/sequential-arms.md",
        "docs/guide/advice/unshared-cell.md",
        "calyx-examples/README.md",
        "calyx-examples/adl/README.md",
        "docs/guide/calyx-py.md",
        "docs/guide/dahlia.md",
        "docs/guide/definitions.md",
        "docs/guide/front-ends.md",
        "docs/guide/glossary.md",
        "docs/guide/graph.md",
        "docs/guide/long-runs.md",
        "docs/guide/observe/README.md",
        "docs/guide/observe/checkpoints.md",
        "docs/guide/observe/counters.md",
        "docs/guide/observe/events.md",
        "docs/guide/observe/latencies.md",
        "docs/guide/observe/order.md",
        "docs/guide/observe/rules.md",
        "docs/guide/observe/watchpoints.md",
        "docs/guide/observe/windows.md",
        "docs/guide/overhead.md",
        "docs/guide/par.md",
        "docs/guide/sharing.md",
        "docs/guide/static-promotion.md",
        "docs/guide/sweeps.md",
        "docs/guide/while.md",
        "docs/performance.md",
    ] {
        // What looks like a link in a block of code is none.
        let text: String = read(document).split("```").step_by(2).collect();
        let folder = root().join(document);
        let folder = folder.parent().expect("a file is in a folder");
        for link in between(&text, "](", ')') {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = folder.join(file);
            assert!(file.exists(), "{document} links to {link}");
            if !heading.is_empty() {
                let text = std::fs::read_to_string(file).unwrap();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let links_to = |line: &str| {
                    // As GitHub makes them of headings.
                    let title = line.trim_start_matches('#').trim().to_lowercase();
                    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
                    let anchor: String = title.chars().filter(kept).collect();
                    anchor.replace(' ', "-") == heading
                };
                assert!(headings.any(links_to), "{document} links to {link}");
            }
        }
    }
}

#[test]
fn the_sections_that_hotspots_name_are_there() {
    for section in GuideSection::ALL {
        let (file, heading) = section.link().split_once('#').unwrap();
        let text = read(file);
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        let title = |line: &str| line.trim_start_matches('#').trim().to_lowercase();
        let is_it = |line: &str| title(line).replace(' ', "-") == heading;
        assert!(headings.any(is_it), "{file} has no heading {heading}");
    }
}

#[test]
fn the_readme_tells_the_story_that_happens() {
    let text = read("README.md");
    let design = read("calyx-examples/switch-case-par.futil");
    let line = |statement: &str| {
        design
            .lines()
            .position(|line| line.trim() == statement)
            .expect("the example has it")
            + 1
    };
    for frame in [
        format!("par@L{}", line("par {")),
        format!("if@L{}", line("if eq_1.out { run_s1; }")),
        format!("if@L{}", line("if eq_2.out { run_s2; }")),
    ] {
        assert!(text.contains(&frame), "the README does not show {frame}");
    }
}
