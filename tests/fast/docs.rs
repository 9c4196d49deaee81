//! The documents name only what is there.

use std::fs;
use std::path::Path;

use petal_analysis::GuideSection;

use crate::support::root;

fn read(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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

/// The Markdown files of a folder and of those in it, by their paths from the root.
fn documents(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            // What is built or installed, and what git keeps.
            if !["target", "node_modules"].contains(&&*name) && !name.starts_with('.') {
                found.extend(documents(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let path = path.strip_prefix(root()).unwrap();
            found.push(path.to_str().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn the_links_of_the_documents_lead_somewhere() {
    let documents = documents(root());
    assert!(documents.contains(&"docs/guide/observe/README.md".to_owned()));
    for document in &documents {
        // What looks like a link in a block of code is none.
        let text: String = read(document).split("```").step_by(2).collect();
        let path = root().join(document);
        let folder = path.parent().expect("a file is in a folder");
        for link in between(&text, "](", ')') {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = folder.join(file);
            assert!(file.exists(), "{document} links to {link}");
            if !heading.is_empty() {
                let text = fs::read_to_string(file).unwrap();
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
    let design = read("calyx-examples/packet-scheduler.futil");
    let line = |source: &str| {
        let found = design.lines().position(|line| line.trim() == source);
        found.expect("the example has it") + 1
    };
    let group = line("comb group more { any.left = left.out; any.right = 4'd0; }");
    let statement = line("while any.out with more {");
    for frame in [
        format!("checksum.while@L{statement}"),
        format!("The loop on line {statement} "),
        format!("sed '{group}s/"),
        format!("; {statement}s/"),
    ] {
        assert!(text.contains(&frame), "the README does not show {frame}");
    }
}
