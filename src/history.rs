//! `petal history`: the cycles of each commit, kept in a folder to which files are only added, and drawn as one page.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use petal_compare::{Change, Limit};
use petal_metadata::Metadata;
use petal_sweep::{Entry, History, VERSION, encoded, histories, history_html};
use petal_table::thousands;
use petal_visualize::outputs::METADATA;
use serde_json::Value as Json;

use crate::args::HistoryArgs;
use crate::failure::Failure;
use crate::folder;
use crate::outputs;
use crate::sweep::{check_free, dataset};

/// The folder of the entries, one file each.
const ENTRIES: &str = "entries";

/// The page.
const PAGE: &str = "history.html";

/// `petal history`
pub fn history(args: &HistoryArgs) -> Result<(), Failure> {
    check_free(&args.out, ENTRIES, "history")?;
    let entries = args.out.join(ENTRIES);
    if let Some(dir) = &args.dir {
        let entry = entry(args, dir)?;
        let place = entries.join(encoded(&entry.design));
        fs::create_dir_all(&place).map_err(Failure::io("create the folder", &place))?;
        let mut text = serde_json::to_string_pretty(&entry)?;
        text.push('\n');
        let name = format!("{}.json", entry.commit);
        folder::write_whole(&place.join(name), text.as_bytes())?;
        dataset::write_entry(&entry, &args.out.join(dataset::RUNS))?;
    }
    let histories = histories(&read(&entries)?);
    if histories.is_empty() {
        return Err(Failure::new(format!(
            "there is no history in {}: name a profile to begin with",
            args.out.display()
        )));
    }
    let page = args.out.join(PAGE);
    folder::write_whole(&page, history_html(&histories).as_bytes())?;
    if !args.quiet {
        for history in &histories {
            outputs::print(&format!("{}: {}\n", history.name, verdict(history)))?;
        }
        outputs::print(&format!("\n  {}   open in a browser\n", page.display()))?;
    }
    let limit = |history: &&History| args.fail_above.is_some_and(|limit| exceeds(history, limit));
    let slower = histories.iter().filter(limit);
    let slower = slower.map(|history| format!("{}: {}", history.name, verdict(history)));
    let slower: Vec<String> = slower.collect();
    if slower.is_empty() {
        return Ok(());
    }
    Err(Failure::new(slower.join("\n")))
}

/// How long the runs of a design were, and which commit made it slower, in one line.
fn verdict(history: &History) -> String {
    let cycles = |at: usize| thousands(history.entries[at].cycles);
    let last = history.entries.len() - 1;
    let of = match history.entries.len() {
        1 => "one commit".to_owned(),
        many => format!("{many} commits"),
    };
    let Some(worse) = history.worse() else {
        return format!("{} cycles, as few as any of {of}", cycles(last));
    };
    let Entry {
        commit, subject, ..
    } = &history.entries[worse];
    let commit = commit.get(..10).unwrap_or(commit);
    format!(
        "{} cycles; slower since {commit} ({subject}): {} → {}",
        cycles(last),
        cycles(worse - 1),
        cycles(worse)
    )
}

/// Whether the last run is longer by more than the limit than the shortest.
fn exceeds(history: &History, limit: Limit) -> bool {
    let cycles = || history.entries.iter().map(|entry| entry.cycles);
    let change = cycles().min().zip(cycles().next_back());
    change.is_some_and(|(before, after)| limit.exceeded(Change { before, after }))
}

/// What is kept of a profile.
fn entry(args: &HistoryArgs, dir: &Path) -> Result<Entry, Failure> {
    let path = folder::whole(dir)?;
    let text = petal_files::read(&path).map_err(Failure::io("read", &path))?;
    let summary: Json = serde_json::from_slice(&text)?;
    let damaged = || Failure::new(format!("{} is no summary of a run", path.display()));
    let number = |name: &str| summary[name].as_u64().ok_or_else(damaged);
    if let Some(stopped) = summary["stopped"].as_str() {
        return Err(Failure::new(format!(
            "{} holds the profile of a run that ended early, so nobody knows how long it takes: {stopped}",
            dir.display()
        )));
    }
    let metadata = Metadata::read(&dir.join(METADATA))?;
    refuse_shallow(args)?;
    let commit = git(args, &["show", "--no-patch", "--format=%H%n%ct%n%s"])?;
    let ancestors = git(args, &["rev-list", "--count"])?;
    let mut lines = commit.lines();
    let mut line = || lines.next().unwrap_or_default().to_owned();
    let odd = |_| Failure::new("git tells no commit's time");
    Ok(Entry {
        version: VERSION,
        commit: line(),
        time: line().parse().map_err(odd)?,
        ancestors: ancestors.trim().parse().map_err(odd)?,
        subject: line(),
        design: summary["design"].as_str().ok_or_else(damaged)?.to_owned(),
        fingerprint: metadata.fingerprint,
        pipeline: metadata.pipeline.join(","),
        cycles: number("cycles")?,
        computation_cycles: number("computation_cycles")?,
        condition_cycles: number("condition_cycles")?,
        overhead_cycles: number("overhead_cycles")?,
        overhead: serde_json::from_value(summary["overhead"].clone())?,
        petal: summary["versions"]["petal"]
            .as_str()
            .ok_or_else(damaged)?
            .to_owned(),
    })
}

/// Refuses a repository that has only the latest commits: how many there were before one is what orders those of the same time, or
/// of times that nobody should believe.
fn refuse_shallow(args: &HistoryArgs) -> Result<(), Failure> {
    let mut command = Command::new("git");
    command.arg("-C").arg(&args.repository);
    let output = command
        .args(["rev-parse", "--is-shallow-repository"])
        .output();
    // Whatever else is wrong, asking for the commit tells.
    if output.is_ok_and(|output| output.stdout.trim_ascii() == b"true") {
        return Err(Failure::new(format!(
            "{} is a shallow clone, so nobody knows how many commits come before this one: get them with `git fetch \
             --unshallow`, or check out with `fetch-depth: 0`",
            args.repository.display()
        )));
    }
    Ok(())
}

/// What git tells of the commit.
fn git(args: &HistoryArgs, words: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new("git");
    command.arg("-C").arg(&args.repository).args(words);
    // What begins with a dash is no option of git's.
    let commit = format!("{}^{{commit}}", args.commit);
    command.args(["--end-of-options", &commit, "--"]);
    let output = command.output().map_err(|error| {
        Failure::new(format!(
            "cannot ask git for the commit of the profile: {error}"
        ))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "git does not find the commit {} in {} (`--commit`, `--repository`): {}",
            args.commit,
            args.repository.display(),
            said.trim()
        )));
    }
    String::from_utf8(output.stdout).map_err(|_| Failure::new("git tells what is no text"))
}

/// All entries.
fn read(dir: &Path) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    let folders = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(entries),
        folders => folders.map_err(Failure::io("read", dir))?,
    };
    for folder in folders {
        let folder = folder.map_err(Failure::io("read", dir))?.path();
        for file in fs::read_dir(&folder).map_err(Failure::io("read", &folder))? {
            let path = file.map_err(Failure::io("read", &folder))?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = petal_files::read(&path).map_err(Failure::io("read", &path))?;
            entries.push(serde_json::from_slice(&text).map_err(|error| {
                Failure::new(format!("{} is damaged: {error}; remove it", path.display()))
            })?);
        }
    }
    Ok(entries)
}
