//! The page for agents shows the tools there are, and what an agent really gets: a test plays its calls.

use std::fs;

use serde_json::{Value, json};

use crate::support::agent::Agent;
use crate::support::page::{Block, blocks};
use crate::support::root;
use crate::support::workshop::{Workshop, succeeds};

const PAGE: &str = "docs/agents.md";

/// Where the folder is, on the page.
const FOLDER: &str = "/home/me/designs";

fn page() -> String {
    fs::read_to_string(root().join(PAGE)).unwrap()
}

/// Fails unless the page has `is` in the place of `was`; with `UPDATE_EXPECT` it gets it.
fn hold(was: &str, is: &str) {
    if was == is {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some(),
        "{PAGE} shows\n{was}\nand it is\n{is}"
    );
    fs::write(root().join(PAGE), page().replacen(was, is, 1)).unwrap();
}

/// The same of a block of code.
fn hold_block(block: &Block, is: &str) {
    let fenced = |text: &str| format!("```{}\n{text}```\n", block.language);
    hold(&fenced(&block.text), &fenced(is));
}

/// The row of a tool in the table of the page.
fn row(tool: &Value) -> String {
    let schema = &tool["inputSchema"];
    let needed = schema["required"].as_array().unwrap();
    let names = schema["properties"].as_object().unwrap().keys();
    let (first, rest): (Vec<&String>, Vec<&String>) =
        names.partition(|name| needed.contains(&json!(name)));
    let first = first.iter().map(|name| format!("**`{name}`**"));
    let names = first.chain(rest.iter().map(|name| format!("`{name}`")));
    let name = tool["name"].as_str().unwrap();
    let title = tool["title"].as_str().unwrap().to_lowercase();
    let writes = if tool["annotations"]["readOnlyHint"] == true {
        ""
    } else {
        "yes"
    };
    format!(
        "| `{name}` | {title} | {writes} | {} |",
        names.collect::<Vec<_>>().join(", ")
    )
}

/// What is put in place of names that depend on the machine.
fn elsewhere(workshop: &Workshop, text: &str) -> String {
    let folder = workshop.dir.path().canonicalize().unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    text.replace(folder.to_str().unwrap(), FOLDER)
        .replace(&version, "\"version\": \"…\"")
}

#[test]
fn the_page_for_agents_shows_what_they_get() {
    let workshop = Workshop::empty();
    workshop.edited("matmul.futil", "matmul.futil", &[]);
    let mut agent = Agent::new(&workshop);
    let tools = agent.answer("tools/list", json!({}))["result"]["tools"].take();
    let text = page();
    let table = text.lines().filter(|line| line.starts_with("| `petal_"));
    let table: Vec<&str> = table.collect();
    let rows: Vec<String> = tools.as_array().unwrap().iter().map(row).collect();
    hold(&table.join("\n"), &rows.join("\n"));
    let mut asked = None;
    let mut cycles = Vec::new();
    let mut calls = 0;
    for block in blocks(PAGE) {
        match block.language.as_str() {
            "sh" => drop(succeeds(&mut workshop.bash(&block.text))),
            "json" => {
                let shown: Value = serde_json::from_str(&block.text).unwrap();
                match asked.take() {
                    _ if shown["method"].is_string() => {
                        agent.write(&shown.to_string());
                        asked = Some(agent.hear());
                    }
                    Some(answer) => {
                        hold_block(&block, &elsewhere(&workshop, &format!("{answer:#}\n")));
                    }
                    None => assert!(shown["mcpServers"].is_object(), "{shown}"),
                }
            }
            _ => {
                let call = block
                    .text
                    .lines()
                    .next()
                    .unwrap()
                    .strip_prefix("→ ")
                    .unwrap();
                let (name, arguments) = call.split_once(' ').unwrap();
                let (text, content) = agent.gets(name, serde_json::from_str(arguments).unwrap());
                hold_block(&block, &elsewhere(&workshop, &format!("→ {call}\n{text}")));
                calls += 1;
                if name == "petal_run" {
                    cycles.push(content["cycles"].as_u64().unwrap());
                }
            }
        }
    }
    assert_eq!(calls, 10);
    assert!(cycles.last().unwrap() * 2 <= cycles[0], "{cycles:?}");
}
