//! The tables of observations.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use petal_observe::Results;

use crate::columns::{lists, numbers, texts, values};
use crate::parquet::TableError;
use crate::schema::Table;

/// The rows of a table of observations; `None` for other tables.
///
/// # Errors
/// If a number is beyond what a column holds.
pub fn observed(table: Table, results: &Results) -> Result<Option<RecordBatch>, TableError> {
    let columns: Vec<ArrayRef> = match table {
        Table::Checkpoints => {
            let rows = results.stamps();
            let name = |at: usize| results.checkpoints[at].name.as_str();
            vec![
                texts(rows.iter().map(|&(_, at)| Some(name(at)))),
                numbers(rows.iter().map(|&(cycle, _)| Some(cycle)))?,
            ]
        }
        Table::Latencies => {
            let rows = || {
                let all = results.latencies.iter();
                all.flat_map(|of| of.intervals.iter().map(|&interval| (&of.name, interval)))
            };
            vec![
                texts(rows().map(|(name, _)| Some(name.as_str()))),
                numbers(rows().map(|(_, (start, _))| Some(start)))?,
                numbers(rows().map(|(_, (_, cycles))| Some(cycles)))?,
            ]
        }
        Table::Blame => {
            let rows = || {
                let all = results.latencies.iter();
                all.flat_map(|of| of.blame.iter().map(|blame| (&of.name, blame)))
            };
            vec![
                texts(rows().map(|(name, _)| Some(name.as_str()))),
                numbers(rows().map(|(_, blame)| Some(blame.cycles)))?,
                numbers(rows().map(|(_, blame)| Some(blame.in_parallel)))?,
                texts(rows().map(|(_, blame)| Some(blame.active.as_str()))),
            ]
        }
        Table::Changes => {
            let rows = || {
                let all = results.watches.iter();
                all.flat_map(|of| of.changes.iter().map(|change| (&of.name, change)))
            };
            vec![
                texts(rows().map(|(name, _)| Some(name.as_str()))),
                numbers(rows().map(|(_, change)| Some(change.cycle)))?,
                numbers(rows().map(|(_, change)| change.index))?,
                values(rows().map(|(_, change)| change.old)),
                values(rows().map(|(_, change)| Some(change.new))),
                lists(rows().map(|(_, change)| &*change.by)),
            ]
        }
        Table::Violations => {
            let rows = || {
                let all = results.rules.iter();
                all.flat_map(|of| of.violations.iter().map(|violation| (&of.name, violation)))
            };
            vec![
                texts(rows().map(|(name, _)| Some(name.as_str()))),
                numbers(rows().map(|(_, violation)| Some(violation.cycle)))?,
                numbers(rows().map(|(_, violation)| Some(violation.cycles)))?,
                lists(rows().map(|(_, violation)| &*violation.active)),
                numbers(rows().map(|(_, violation)| Some(violation.written.as_ref()?.cycle)))?,
                lists(rows().map(|(_, violation)| {
                    let written = violation.written.as_ref();
                    written.map_or(&[][..], |written| &*written.by)
                })),
            ]
        }
        _ => return of_counters(table, results),
    };
    Ok(Some(RecordBatch::try_new(table.schema(), columns)?))
}

/// The rows of a table of counters, of what is computed from them, or of windows; `None` for other tables.
fn of_counters(table: Table, results: &Results) -> Result<Option<RecordBatch>, TableError> {
    let columns: Vec<ArrayRef> = match table {
        Table::Counters => {
            let rows = || results.counters.iter();
            let averages = rows().map(|counter| Some(counter.per_cycle));
            vec![
                texts(rows().map(|counter| Some(counter.name.as_str()))),
                values(rows().map(|counter| Some(counter.total))),
                Arc::new(averages.collect::<Float64Array>()),
            ]
        }
        Table::Samples => {
            let each = results.sample.unwrap_or(1);
            let rows = || {
                let all = results.counters.iter();
                all.flat_map(|of| {
                    let samples = (0..).map(move |at| at * each).zip(&of.samples);
                    samples.map(move |(start, sum)| (&of.name, start, *sum))
                })
            };
            let length = |start: u64| each.min(results.cycles.saturating_sub(start));
            vec![
                texts(rows().map(|(name, _, _)| Some(name.as_str()))),
                numbers(rows().map(|(_, start, _)| Some(start)))?,
                numbers(rows().map(|(_, start, _)| Some(length(start))))?,
                values(rows().map(|(_, _, sum)| Some(sum))),
            ]
        }
        Table::Derived => {
            let rows = || results.derived.iter();
            vec![
                texts(rows().map(|of| Some(of.name.as_str()))),
                Arc::new(rows().map(|of| of.value).collect::<Float64Array>()),
            ]
        }
        Table::Windows => {
            let rows = || {
                let all = results.windows.iter();
                all.flat_map(|of| of.parts.iter().map(|&part| (&of.name, part)))
            };
            vec![
                texts(rows().map(|(name, _)| Some(name.as_str()))),
                numbers(rows().map(|(_, (start, _))| Some(start)))?,
                numbers(rows().map(|(_, (_, cycles))| Some(cycles)))?,
            ]
        }
        _ => return Ok(None),
    };
    Ok(Some(RecordBatch::try_new(table.schema(), columns)?))
}
