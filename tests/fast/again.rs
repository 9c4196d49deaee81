//! What comes again and again in a run is told at once: whoever counts it so finds what there is event by event.
//!
//! `PETAL_SEED=7 PETAL_PROGRAMS=1000 cargo test --test fast again` tries others, and more.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use petal_analysis::{Analysis, ControlView, CriticalCycles};
use petal_metadata::Metadata;
use petal_reconstruct::{Event, Item, TraceReader, TraceWriter};
use petal_visualize::timeline::{Counted, Format, Observed, Windowed};
use petal_visualize::{Overview, Perfetto, Section, Timeline};
use proptest::prelude::*;

use crate::support::random::{texts, with_file};
use crate::support::workshop::{Workshop, tells};
use crate::support::{instrument_without, programs, rng, told};

/// How many programs, unless the variable says otherwise.
const PROGRAMS: usize = 12;

/// Rounds of a loop around a program: enough to be told at once.
const ROUNDS: u64 = 70;

/// The same events, one by one.
fn one_by_one(items: &[Item]) -> Vec<Item> {
    let mut events = Vec::new();
    for item in items {
        let taken = item.try_for_each(|event| {
            events.push(Item::Event(event.clone()));
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = taken;
    }
    events
}

fn events(items: &[Item]) -> Vec<Event> {
    let events = one_by_one(items).into_iter();
    events
        .map(|item| match item {
            Item::Event(event) => event,
            Item::Again(_) => unreachable!("they are one by one"),
        })
        .collect()
}

/// All that is counted of a run.
fn counted(metadata: &Metadata, items: &[Item]) -> Vec<String> {
    let mut analysis = Analysis::new(metadata, ControlView::Compiled);
    let mut overview = Overview::new(metadata);
    let mut slices = Timeline::new(metadata, Section::default(), Counted);
    for item in items {
        analysis.item(item);
        overview.item(item);
        slices.item(item).unwrap();
    }
    vec![
        analysis.figures(CriticalCycles::default()).json(),
        analysis.ledger().total_overhead().to_string(),
        format!("{:?}", analysis.hotspots()),
        format!("{:?}", analysis.ending(None)),
        format!("{:?} {}", overview.rows(), overview.window()),
        slices.passed().to_string(),
    ]
}

/// Bytes that can be looked at while somebody writes more of them.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The timeline of these cycles of a run, or of all, where `format` writes it.
fn draw(metadata: &Metadata, items: &[Item], cycles: Option<Range<u64>>, format: impl Format) {
    let section = Section {
        cycles,
        ..Section::default()
    };
    let mut timeline = Timeline::new(metadata, section, format).awaiting_observations();
    for item in items {
        timeline.item(item).unwrap();
    }
    timeline.finish(&Observed::default()).unwrap();
}

/// Timelines of these parts of a run, one of each and one of all.
fn drawn(metadata: &Metadata, items: &[Item], parts: &[Range<u64>]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut perfetto = || {
        all.push(Shared::default());
        Perfetto::new(all[all.len() - 1].clone()).unwrap()
    };
    for part in parts {
        draw(metadata, items, Some(part.clone()), perfetto());
    }
    let mut format = Windowed::new(perfetto());
    format.take(parts);
    draw(metadata, items, None, format);
    all.into_iter()
        .map(|bytes| std::mem::take(&mut *bytes.0.lock().unwrap()))
        .collect()
}

/// Writes a trace; its bytes, and what is read of them, event by event and at once.
fn traced(items: &[Item]) -> (usize, Vec<Event>, Vec<Event>) {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, "again").unwrap();
    for item in items {
        writer.item(item).unwrap();
    }
    let read = || TraceReader::new(&bytes[..], "again").unwrap();
    let each: Vec<Event> = read().map(Result::unwrap).collect();
    let mut reader = read();
    let at_once: Vec<Item> = std::iter::from_fn(|| reader.next_item())
        .map(Result::unwrap)
        .collect();
    (bytes.len(), each, events(&at_once))
}

/// Parts of a run, ascending and with gaps between them.
fn parts(cycles: u64, chosen: &mut impl FnMut(u64) -> u64) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let mut start = chosen(cycles / 4);
    while start < cycles && parts.len() < 4 {
        let end = start + 1 + chosen(cycles / 6);
        parts.push(start..end);
        start = end + 1 + chosen(cycles / 3);
    }
    parts
}

#[test]
fn what_comes_again_is_what_comes_one_by_one() {
    let mut rng = rng();
    let mut chosen = |below: u64| rng.next_u64() % below.max(1);
    let (mut all, mut at_once) = (0, 0);
    for text in texts(programs(PROGRAMS)) {
        let looped = format!("control {{ repeat {ROUNDS} {{ seq {{ invoke");
        let text = text.replace("control { seq { invoke", &looped);
        let text = text.trim_end().trim_end_matches('}').to_owned() + "} }";
        for passes in ["all", "no-opt"] {
            let (metadata, [items, plain]) = with_file(&text, |file| {
                let (design, metadata) = instrument_without(file, passes, &[]);
                let told = told(file, &design, &metadata);
                (metadata, told)
            });
            let events = events(&items);
            assert!(events == self::events(&plain), "other events of\n{text}");
            let again = items.iter().filter_map(|item| match item {
                Item::Again(again) => Some(again.cycles() * again.times()),
                Item::Event(_) => None,
            });
            let Some(&Event::End { cycles }) = events.last() else {
                panic!("it does not end");
            };
            all += cycles;
            at_once += again.sum::<u64>();
            assert_eq!(
                counted(&metadata, &items),
                counted(&metadata, &plain),
                "{text}"
            );
            let parts = parts(cycles, &mut chosen);
            let (drawn_at_once, drawn_plainly) = (
                drawn(&metadata, &items, &parts),
                drawn(&metadata, &plain, &parts),
            );
            assert!(drawn_at_once == drawn_plainly, "{parts:?} of\n{text}");
            let (bytes, each, read_at_once) = traced(&items);
            assert!(each == events && read_at_once == events, "{text}");
            let (plain_bytes, each, _) = traced(&plain);
            assert!(
                each == events && bytes <= plain_bytes + 16,
                "{bytes} {plain_bytes}"
            );
        }
    }
    assert!(at_once > all / 2, "{at_once} of {all} cycles at once");
}

/// A loop without end that the compiler makes static in part.
const ENDLESS: &str = r#"
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { r = std_reg(64); one = std_add(64); @external m = comb_mem_d1(64, 1, 1); lt = std_lt(64); }
  wires {
    group bump { one.left = r.out; one.right = 64'd1; r.in = one.out; r.write_en = 1'd1; bump[done] = r.done; }
    group store { m.addr0 = 1'd0; m.write_data = r.out; m.write_en = 1'd1; store[done] = m.done; }
    comb group test { lt.left = 64'd0; lt.right = 64'd1; }
  }
  control { while lt.out with test { seq { bump; store; } } }
}
"#;

#[test]
fn the_parts_of_a_timeline_end_within_what_comes_again() {
    let workshop = Workshop::new();
    workshop.write("endless.futil", ENDLESS);
    for limit in ["300000", "1000000"] {
        let run = [
            "run",
            "endless.futil",
            "-q",
            "--cycle-limit",
            limit,
            "--out",
            limit,
        ];
        let said = workshop.ends(1, &run);
        tells(&said, &[&format!("after {limit} cycles")]);
        let events = workshop.events(limit);
        let runs = events.iter().filter_map(|event| match event {
            Event::Run(run) => Some(run.cycles),
            _ => None,
        });
        assert_eq!(runs.sum::<u64>().to_string(), limit);
    }
}
