//! Two readers of one run, each on a thread of its own.

mod support;

use std::path::Path;

use petal_metadata::Metadata;
use petal_reconstruct::{
    Change, Event, Events, ProbeSource, ReconstructError, Reconstruction, SourceError, Warning,
};

/// A run in which the signals change in every cycle, up to cycle `length`; then it ends, or fails.
struct Restless {
    cycle: u64,
    length: u64,
    fails: bool,
    changes: Vec<Change>,
}

impl Restless {
    fn new(metadata: &Metadata, length: u64) -> Self {
        let slots = Reconstruction::new(metadata).signals().watched.len();
        let changes = (0..slots).map(|slot| Change {
            slot: petal_reconstruct::Id::from_index(slot),
            value: 0,
        });
        Self {
            cycle: 0,
            length,
            fails: false,
            changes: changes.collect(),
        }
    }
}

impl ProbeSource for Restless {
    fn next_cycle(&mut self) -> Result<bool, SourceError> {
        self.cycle += 1;
        for change in &mut self.changes {
            change.value = self.cycle % 2;
        }
        if self.fails && self.cycle > self.length {
            return Err(SourceError::Run("it broke".into()));
        }
        Ok(self.cycle <= self.length)
    }

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

fn all(events: Events) -> Result<Vec<Event>, String> {
    let mut list = Vec::new();
    events.try_for_each(|event| {
        list.push(event.clone());
        Ok::<_, String>(())
    })?;
    Ok(list)
}

/// Fails at the event with this number.
fn up_to(events: Events, last: usize) -> Result<Vec<Event>, String> {
    let mut count = 0;
    events.try_for_each(|_| {
        count += 1;
        if count > last {
            Err("full".to_owned())
        } else {
            Ok(())
        }
    })?;
    Ok(Vec::new())
}

fn metadata() -> Metadata {
    let text = include_str!("data/tour.metadata.json");
    Metadata::from_json(text, Path::new("tour.metadata.json")).unwrap()
}

#[test]
fn both_readers_get_all_events() {
    let metadata = metadata();
    let reconstruction = Reconstruction::new(&metadata);
    // Several batches, and more than may wait at once.
    let length = 100_000;
    let expected = support::events_of(&metadata, Restless::new(&metadata, length)).unwrap();
    assert!(expected.len() > 60_000);
    let mut heard = Vec::new();
    let (first, second) = reconstruction
        .fan_out(
            &mut Restless::new(&metadata, length),
            all,
            all,
            None,
            &mut |progress| heard.push(progress.cycles()),
        )
        .unwrap();
    assert!(first == expected && second == expected);
    assert!(heard.is_sorted() && heard.len() > 10);
}

#[test]
fn a_reader_that_fails_ends_the_run() {
    let metadata = metadata();
    let reconstruction = Reconstruction::new(&metadata);
    let length = 1_000_000;
    for last in [0, 10_000] {
        let mut source = Restless::new(&metadata, length);
        let failed = reconstruction.fan_out(
            &mut source,
            all,
            |events| up_to(events, last),
            None,
            &mut |_| {},
        );
        assert!(matches!(failed, Err(ReconstructError::Sink(error)) if error == "full"));
        assert!(source.cycle < length / 2, "it went on to {}", source.cycle);
        // The same for the other one.
        let mut source = Restless::new(&metadata, length);
        let failed = reconstruction.fan_out(
            &mut source,
            |events| up_to(events, last),
            all,
            None,
            &mut |_| {},
        );
        assert!(matches!(failed, Err(ReconstructError::Sink(error)) if error == "full"));
        assert!(source.cycle < length / 2, "it went on to {}", source.cycle);
    }
}

#[test]
fn a_reader_that_wants_no_more_ends_the_run() {
    let metadata = metadata();
    let reconstruction = Reconstruction::new(&metadata);
    let length = 1_000_000;
    let mut source = Restless::new(&metadata, length);
    let read = reconstruction.fan_out(&mut source, all, |_| Ok(()), None, &mut |_| {});
    let (events, ()) = read.unwrap();
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::End { .. }))
    );
    assert!(source.cycle < length / 2, "it went on to {}", source.cycle);
}

#[test]
fn a_source_that_fails_is_told_after_what_it_had() {
    let metadata = metadata();
    let reconstruction = Reconstruction::new(&metadata);
    let mut source = Restless::new(&metadata, 50_000);
    source.fails = true;
    let mut read = 0;
    let failed = reconstruction.fan_out(
        &mut source,
        |events| {
            read = all(events)?.len();
            Ok::<_, String>(())
        },
        all,
        None,
        &mut |_| {},
    );
    assert!(matches!(
        failed,
        Err(ReconstructError::Source(SourceError::Run(_)))
    ));
    assert!(read > 10_000);
}
