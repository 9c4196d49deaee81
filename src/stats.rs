//! `petal stats`: the tables of a profile, or what matters most of them.

use clap::ValueEnum;
use petal_analysis::HotspotKind;
use petal_profile::{Error, no_front_end};
use petal_synth::Area;
use petal_table::{Digest, Selection, SelectionError, Table, Value};
use serde_json::Value as Json;

use crate::args::{FormatArg, StatsArgs, TableArg};
use crate::print::print;
use crate::profile::{analyse, open};
use crate::screen::screen;

/// How many hotspots of a kind are shown unless the user says otherwise.
const TOP: usize = 10;

/// `petal stats`
pub fn stats(args: &StatsArgs) -> Result<(), Error> {
    let profile = open(&args.dir)?;
    let has_lines = profile.metadata.front_end.has_lines();
    let synthesis = profile.synthesis();
    let synthesis = synthesis.filter(|of| !of.area.rows.is_empty());
    let wanted: Vec<TableArg> = if args.table.is_empty() {
        let all = TableArg::value_variants().iter().copied();
        let has = |table: &TableArg| match table {
            TableArg::Lines => has_lines,
            TableArg::Area => synthesis.is_some(),
            TableArg::Sites => false,
            _ => true,
        };
        all.filter(has).collect()
    } else {
        args.table.clone()
    };
    if wanted.contains(&TableArg::Lines) && !has_lines {
        return Err(no_front_end(&args.dir));
    }
    if wanted.contains(&TableArg::Area) && synthesis.is_none() {
        return Err(Error::new(format!(
            "{}: nothing is known of the area of this design: `petal synth DESIGN` finds it out",
            args.dir.display()
        )));
    }
    check(args, &wanted)?;
    let analysis = analyse(&profile)?;
    let tables = wanted.iter().map(|&table| match table {
        TableArg::Control if args.per_instance => (
            analysis.statements_per_instance(),
            Digest::STATEMENTS_PER_INSTANCE,
        ),
        TableArg::Lines if args.per_instance => {
            (analysis.lines_per_instance(), Digest::LINES_PER_INSTANCE)
        }
        TableArg::Cells => (analysis.cells(), Digest::CELLS),
        TableArg::Groups => (analysis.groups(), Digest::GROUPS),
        TableArg::Control => (analysis.statements(), Digest::STATEMENTS),
        TableArg::Loops => (analysis.loops(), Digest::LOOPS),
        TableArg::Lines => (analysis.lines(), Digest::LINES),
        TableArg::Hotspots => (analysis.hotspots_table(), Digest::HOTSPOTS),
        TableArg::Sites => (analysis.sites_table(), Digest::SITES),
        TableArg::Area => {
            let area = synthesis.as_ref().map(|of| &of.area);
            (area.unwrap_or(&Area::default()).table(), Digest::AREA)
        }
    });
    let selection = Selection {
        columns: args.columns.clone(),
        filters: args.filter.clone(),
        sort: args.sort.clone(),
        reverse: args.reverse,
        top: args.top,
    };
    if args.format == FormatArg::Text && !args.all {
        let is_plain = !is_of_columns(args) && !args.reverse;
        let texts: Result<Vec<String>, Error> = wanted
            .iter()
            .zip(tables)
            .map(|(of, (table, digest))| {
                if *of == TableArg::Hotspots && is_plain {
                    let (top, advice) = (args.top.unwrap_or(TOP), profile.summary.advice.as_ref());
                    return Ok(analysis.costs(&HotspotKind::ALL, top, advice, screen()));
                }
                let (shown, note) = digest.of(&table, &selection).map_err(usage)?;
                Ok(format!("{}{}", text(&shown), note.unwrap_or_default()))
            })
            .collect();
        return print(&texts?.join("\n"));
    }
    let tables: Result<Vec<Table>, Error> = tables
        .map(|(table, _)| selection.of(&table).map_err(usage))
        .collect();
    let tables = tables?;
    let texts: Vec<String> = match args.format {
        FormatArg::Text => tables.iter().map(text).collect(),
        FormatArg::Csv => tables.iter().map(Table::csv).collect(),
        FormatArg::Markdown => tables.iter().map(Table::markdown).collect(),
        FormatArg::Json => vec![as_document(&wanted, tables.iter().map(Table::json))],
    };
    print(&texts.join("\n"))
}

/// Whether columns of a table are named.
fn is_of_columns(args: &StatsArgs) -> bool {
    args.sort.is_some() || !args.columns.is_empty() || !args.filter.is_empty()
}

/// Checks that the options go together with these tables.
fn check(args: &StatsArgs, wanted: &[TableArg]) -> Result<(), Error> {
    if args.format == FormatArg::Csv && wanted.len() > 1 {
        let dir = args.dir.display();
        return Err(Error::new(format!(
            "a CSV file holds one table: choose it, as in `petal stats {dir} cells --format csv`, \
             or take the files in {dir}/stats"
        )));
    }
    let has_instances = |table| matches!(table, TableArg::Control | TableArg::Lines);
    if args.per_instance && !wanted.iter().copied().any(has_instances) {
        return Err(Error::new(format!(
            "`--per-instance` is of the tables `control` and `lines` only: `petal stats {} control --per-instance`",
            args.dir.display()
        )));
    }
    if is_of_columns(args) && wanted.len() > 1 {
        return Err(Error::usage(format!(
            "`--sort`, `--columns` and `--filter` are of one table: choose it, as in `petal stats {} control --sort overhead`",
            args.dir.display()
        )));
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn usage(error: SelectionError) -> Error {
    Error::usage(error.to_string())
}

/// A table as text, as wide as the terminal at most, if it is written to one.
fn text(table: &Table) -> String {
    let mut text = table.shown(screen(), 0);
    let mut values = table.rows().iter().flatten();
    if values.any(|value| *value == Value::Unknown) {
        text.push_str(
            "–: nothing in the compiled design tells (`petal explain \"times entered\"`)\n",
        );
    }
    text
}

/// One JSON document: a table as it is, several by their names.
fn as_document(names: &[TableArg], tables: impl Iterator<Item = Json>) -> String {
    let mut tables: Vec<Json> = tables.collect();
    let document = match &mut tables[..] {
        [table] => table.take(),
        _ => {
            let names = names.iter().filter_map(ValueEnum::to_possible_value);
            let names = names.map(|name| name.get_name().to_owned());
            Json::Object(names.zip(tables).collect())
        }
    };
    format!("{document:#}\n")
}
