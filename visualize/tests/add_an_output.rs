//! Adds two outputs as docs/ARCHITECTURE.md, "How to add an output", tells: a format of timelines, and a file that
//! shows the whole run.

use std::io::{self, Write};

use petal_analysis::{Analysis, ControlView};
use petal_metadata::{Id, Metadata};
use petal_reconstruct::{
    Activity, CallTree, Cycle, Event, Instance, InstanceId, Node, Run, TreeId,
};
use petal_visualize::outputs::{Make, Output, Rendering};
use petal_visualize::timeline::{
    Format, Slice, SliceId, Track, WholeSlice, WholeSliceFormat, WholeSlices,
};
use petal_visualize::{Frames, Section, Timeline};

/// A line for each slice: what, first cycle, number of cycles.
struct SliceCsv<W> {
    out: W,
    names: Vec<String>,
}

impl<W: Write> WholeSliceFormat for SliceCsv<W> {
    fn track(&mut self, _: &Track) -> io::Result<()> {
        Ok(())
    }

    fn slice(&mut self, id: SliceId, slice: &Slice) -> io::Result<()> {
        self.names
            .resize(self.names.len().max(id + 1), String::new());
        slice.name.clone_into(&mut self.names[id]);
        Ok(())
    }

    fn whole_slice(&mut self, slice: &WholeSlice) -> io::Result<()> {
        let (name, cycles) = (&self.names[slice.slice], &slice.cycles);
        writeln!(
            self.out,
            "{name},{},{}",
            cycles.start,
            cycles.end - cycles.start
        )
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[rustfmt::skip]
const ADDED: [Output; 2] = [
    Output { name: "slices.csv", about: "all slices", make: Make::Timeline(|out| Ok(Box::new(WholeSlices::new(SliceCsv { out, names: vec![] }, u64::MAX)))), of_front_end: false },
    Output { name: "cycles.txt", about: "the length of the run", make: Make::Analysis(|run, _| Ok(format!("{}\n", run.analysis.cycles()).into())), of_front_end: false },
];

/// `main` runs the group `work` in cycles 0 and 1 of 6, and again in the last one.
fn run() -> (Metadata, Vec<Event>) {
    let metadata: Metadata = serde_json::from_str(
        r#"{ "version": 4, "petal": "", "calyx": "", "fingerprint": "", "verified": true,
             "pipeline": [], "files": [], "prefix": "petal_", "scope": ["toplevel", "main"], "main": 0,
             "components": [{ "name": "main", "cells": [], "control": [], "calls": [],
               "groups": [{ "name": "work", "kind": "dynamic", "origin": "source" }],
               "runs": [{ "group": 0, "role": "body", "thread": 0, "probe": { "kind": "GA", "number": 0 } }],
               "threads": [{}], "compiled": [], "registers": [] }] }"#,
    )
    .unwrap();
    let component = metadata.main;
    let cell = Node::Cell {
        instance: InstanceId::from_index(0),
        formal: None,
        activity: Activity::Useful,
    };
    let group = Node::Group {
        component,
        group: Id::from_index(0),
        run: Id::from_index(0),
    };
    let mut events = vec![Event::Instance(Instance {
        component,
        parent: None,
    })];
    for nodes in [vec![(0, cell), (1, group)], vec![(0, cell)]] {
        let tree = CallTree::from_preorder(nodes).unwrap();
        events.push(Event::Tree(Box::new(tree)));
    }
    for (tree, start, cycles) in [(0, 0, 2), (1, 2, 3), (0, 5, 1)] {
        events.push(Event::Run(Run {
            tree: TreeId::from_index(tree),
            start: Cycle::from_cycles(start),
            cycles,
        }));
    }
    events.push(Event::End { cycles: 6 });
    (metadata, events)
}

#[test]
fn a_new_format_is_one_file_and_one_line() {
    let (metadata, events) = run();
    let file = tempfile::NamedTempFile::new().unwrap();
    let [
        Output {
            make: Make::Timeline(begin),
            ..
        },
        Output { make, .. },
    ] = ADDED
    else {
        panic!("the first one is a timeline");
    };
    let formats: Vec<Box<dyn Format + Send>> =
        vec![begin(Box::new(file.reopen().unwrap())).unwrap()];
    let mut timeline = Timeline::new(&metadata, Section::default(), formats);
    let mut analysis = Analysis::new(&metadata, ControlView::Source);
    for event in &events {
        timeline.event(event).unwrap();
        analysis.event(event);
    }
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        "work,0,2\nmain,0,6\nwork,5,1\n"
    );
    let render = make.render().expect("it shows the whole run");
    let summary = analysis.summary("design", []);
    assert_eq!(
        render(&Rendering::new(&analysis, Frames::Calyx), &summary).unwrap(),
        b"6\n"
    );
}

#[test]
fn the_page_shows_these_lines() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page = std::fs::read_to_string(format!("{root}/docs/ARCHITECTURE.md")).unwrap();
    let (_, section) = page.split_once("## How to add an output\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let shown: Vec<&str> = section.lines().map(str::trim).collect();
    let lines = include_str!("add_an_output.rs").lines().map(str::trim);
    let added: Vec<&str> = lines
        .filter(|line| line.starts_with("Output { name"))
        .collect();
    assert_eq!(added.len(), ADDED.len());
    for line in added {
        assert!(shown.contains(&line), "the page does not show `{line}`");
    }
}
