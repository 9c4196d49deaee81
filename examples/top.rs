//! A live list of the groups that take most cycles of a run: `cargo run --release --example top -- design.futil`.
//!
//! Shows how to subscribe to a run. The design is simulated with its memories empty.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use petal_analysis::sites::EventSite;
use petal_embedded::{Options, Simulation};
use petal_metadata::SiteId;
use petal_passes::{ALL, Library, Pipeline, Program, instrument};
use petal_reconstruct::Reconstruction;
use petal_visualize::stream::{Stream, Subscriber};
use petal_visualize::{Section, Timeline};

/// How many cycles are between two lists.
const EVERY: u64 = 100_000;

/// The groups: where each began last, its cycles so far, and its path.
#[derive(Default)]
struct Top {
    groups: HashMap<SiteId, (u64, u64, String)>,
    shown: u64,
}

impl Top {
    fn show(&self, cycle: u64) {
        let mut groups: Vec<_> = self.groups.values().collect();
        groups.sort_by_key(|(_, cycles, path)| (std::cmp::Reverse(*cycles), path.clone()));
        println!("after {cycle} cycles");
        for (_, cycles, path) in groups.into_iter().take(5) {
            println!("{cycles:>12}  {path}");
        }
    }
}

impl Subscriber for Top {
    fn site(&mut self, site: &EventSite) -> io::Result<()> {
        if site.kind == "group" {
            self.groups.insert(site.id, (0, 0, site.path.clone()));
        }
        Ok(())
    }

    fn begin(&mut self, cycle: u64, site: SiteId, _: u64) -> io::Result<()> {
        if let Some((began, ..)) = self.groups.get_mut(&site) {
            *began = cycle;
        }
        Ok(())
    }

    fn end(&mut self, cycle: u64, site: SiteId, _: u64, _: u64) -> io::Result<()> {
        if let Some((began, cycles, _)) = self.groups.get_mut(&site) {
            *cycles += cycle - *began;
        }
        if cycle >= self.shown + EVERY {
            self.shown = cycle;
            self.show(cycle);
        }
        Ok(())
    }

    fn finish(&mut self, cycles: u64) -> io::Result<()> {
        self.show(cycles);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which design?")?;
    let program = Program::read(Path::new(&path), &Library::new(&[])?)?;
    let (design, metadata) = instrument(program, &Pipeline::parse(ALL, &[])?)?;
    let stream = Stream::new(&metadata, &[], None, Top::default())?;
    let mut timeline = Timeline::new(&metadata, Section::default(), stream);
    let reconstruction = Reconstruction::new(&metadata);
    let probes = &reconstruction.signals().watched;
    let mut simulation = Simulation::new(design.program(), probes, Options::default())?;
    reconstruction.run(&mut simulation, &mut |event| timeline.event(&event))?;
    Ok(())
}
