//! The commands of the README and the guide work, and print what the pages show.

use std::fs;
use std::path::Path;
use std::process::Command;

use petal_program::CALYX_VERSION;

use crate::support::page::blocks;
use crate::support::root;
use crate::support::workshop::{Workshop, succeeds};

/// Commands that do not run here: they install things or test petal, which is no business of a test.
const SKIPPED: [&str; 6] = [
    "sudo ",
    "python3 -m venv ",
    "target/python/",
    "pip install ",
    "cargo test ",
    "cargo install ",
];

/// What a comment asks the reader to do: its beginning, and a command that does it.
const BY_HAND: [(&str, &str); 2] = [
    (
        "# edit the design",
        r#"sed -i "s/lt.right = 3'd3;/lt.right = 3'd4;/" calyx-examples/while-comb.futil"#,
    ),
    (
        "# simulate design.sv",
        "petal run calyx-examples/while-comb.futil --out simulated --vcd trace.vcd",
    ),
];

/// What runs for the commands of a block.
fn commands(text: &str) -> String {
    let mut commands = String::new();
    for line in text.lines() {
        if SKIPPED.iter().any(|skipped| line.starts_with(skipped)) {
            continue;
        }
        let by_hand = BY_HAND.iter().find(|(begin, _)| line.starts_with(begin));
        assert!(
            by_hand.is_some() || !line.starts_with('#'),
            "nobody does `{line}`"
        );
        commands.push_str(by_hand.map_or(line, |(_, command)| command));
        commands.push('\n');
    }
    commands
}

/// The first part of `excerpt` that is not in `output`, where parts are contiguous lines that stand in
/// this order, and lines of `…` are between them.
fn missing<'a>(excerpt: &'a str, output: &str) -> Option<&'a str> {
    let lines = |text: &str| -> String {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        format!("\n{}\n", lines.join("\n"))
    };
    let output = lines(output);
    let mut rest = output.as_str();
    excerpt.split("…\n").find(|part| {
        let part = lines(part);
        match rest.find(&part) {
            // The newline at the end is also the beginning of the next line.
            Some(at) => rest = &rest[at + part.len() - 1..],
            None => return true,
        }
        false
    })
}

/// A folder with what the commands of the pages are about.
fn folder() -> Workshop {
    let workshop = Workshop::empty();
    let examples = root().join("calyx-examples");
    succeeds(
        Command::new("cp")
            .arg("-r")
            .args([&examples, workshop.dir.path()]),
    );
    fs::create_dir_all(workshop.path("tests/corpus")).unwrap();
    for file in [
        "circt-weigh.futil",
        "circt-weigh.futil.data",
        "control-multi-cycle.futil",
        "control-multi-cycle.futil.data",
    ] {
        let file = Path::new("tests/corpus").join(file);
        fs::copy(root().join(&file), workshop.dir.path().join(&file)).unwrap();
    }
    workshop
}

/// Runs all commands of a page, and holds its excerpts against what they print. Gives those that are not printed.
fn check(page: &str) -> Vec<String> {
    let workshop = folder();
    let run = |text: &str| succeeds(&mut workshop.bash(&commands(text)));
    // The output of the last commands.
    let mut output: Option<String> = None;
    let mut ran = false;
    let mut stale = Vec::new();
    for block in blocks(page) {
        match block.language.as_str() {
            "sh" => output = Some(run(&block.text)),
            "text" => {
                let (command, excerpt) = match block.text.strip_prefix("$ ") {
                    Some(text) => text.split_once('\n').unwrap(),
                    None => ("", block.text.as_str()),
                };
                if !command.is_empty() {
                    output = Some(run(command));
                }
                // A source text or a drawing that no command printed is fenced as something else.
                let output = output.as_deref().unwrap_or_default();
                if let Some(part) = missing(excerpt, output) {
                    stale.push(format!(
                        "{page} shows\n{part}\nbut its commands print\n{output}"
                    ));
                }
            }
            _ => continue,
        }
        ran = true;
    }
    assert!(ran, "{page} has no commands");
    stale
}

#[test]
fn the_readme_works() {
    let stale = check("README.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

/// A page whose commands show what the published compiler alone does.
const OF_PUBLISHED: &str = "docs/guide/sharing.md";

/// Checks all pages of a folder.
fn check_all(folder: &str) {
    let mut pages: Vec<String> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|page| root().join(folder).join(page).is_file())
        .collect();
    pages.sort();
    // What the pages show is made with the published compiler: with another one, their commands have to work, and hardware differs.
    let is_published = CALYX_VERSION == "0.7.1";
    let pages = pages.iter().map(|page| format!("{folder}/{page}"));
    let stale: Vec<String> = pages
        .filter(|page| is_published || page != OF_PUBLISHED)
        .flat_map(|page| check(&page))
        .collect();
    assert!(stale.is_empty() || !is_published, "{}", stale.join("\n"));
}

#[test]
fn the_guide_works() {
    check_all("docs/guide");
}

#[test]
fn the_pages_of_advice_work() {
    check_all("docs/guide/advice");
}

#[test]
fn the_pages_of_observations_work() {
    check_all("docs/guide/observe");
}

#[test]
fn the_page_of_what_if_works() {
    let stale = check("docs/whatif.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn the_page_of_the_debugger_works() {
    let stale = check("docs/debug.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn the_page_of_monitors_works() {
    let stale = check("docs/monitor.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn the_page_of_samples_works() {
    let stale = check("docs/samples.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn the_case_study_works() {
    let stale = check("docs/case-study.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn the_page_of_checks_works() {
    let stale = check("docs/check.md");
    assert!(stale.is_empty(), "{}", stale.join("\n"));
}

#[test]
fn what_other_systems_observe_can_be_observed() {
    let page = fs::read_to_string(root().join("docs/systems.md")).unwrap();
    let workshop = folder();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let commands = rows.filter_map(|row| row.split('`').skip(1).step_by(2).next());
    let commands = commands.filter(|text| text.contains("petal "));
    let commands: Vec<String> = commands.map(|text| text.replace("\\|", "|")).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        succeeds(&mut workshop.bash(&command));
    }
}

#[test]
fn an_excerpt_that_was_not_printed_is_found_out() {
    let output = "one\ntwo  \nthree\nfour\n";
    assert_eq!(missing("one\ntwo\n…\nfour\n", output), None);
    assert_eq!(missing("one\nthree\n", output), Some("one\nthree\n"));
    assert_eq!(missing("four\n…\none\n", output), Some("one\n"));
    assert_eq!(missing("wo\n", output), Some("wo\n"));
}
