//! The table of area: what each part of the design takes of the device, as `stats/area.csv` has it.

use petal_synth::{Area, Figures, Row};
use petal_table::{Columns, Table, Value};

/// The table.
pub fn table(area: &Area) -> Table {
    let text = |text: &Option<String>| text.clone().map_or(Value::Empty, Value::Text);
    let columns = Columns::<Row>::default()
        .text("kind", |row| Value::Text(row.kind.name().to_owned()))
        .text("instance", |row| Value::Text(row.instance.clone()))
        .text("name", |row| Value::Text(row.name.clone()))
        .text("detail", |row| Value::Text(row.detail.clone()))
        .text("file", move |row| text(&row.file))
        .optional()
        .number("line", |row| {
            let line = row.line.map(u64::from);
            line.map_or(Value::Empty, Value::Count)
        })
        .optional()
        .text("shared", |row| {
            Value::Text(if row.is_shared { "yes" } else { "no" }.to_owned())
        });
    let figures: [Figure; 6] = [
        ("luts", "LUT", |of| of.luts),
        ("ffs", "FF", |of| of.ffs),
        ("brams", "BRAM", |of| of.brams),
        ("dsps", "DSP", |of| of.dsps),
        ("carries", "carry", |of| of.carries),
        ("others", "other cells", |of| of.others),
    ];
    let columns = figures
        .into_iter()
        .fold(columns, |columns, (name, title, figure)| {
            let value = move |row: &Row| Value::Decimal(figure(&row.figures));
            columns.decimal(name, value).titled(title)
        });
    let columns = columns
        .decimal("slack_ns", |row| {
            row.slack_ns.map_or(Value::Empty, Value::Decimal)
        })
        .optional()
        .titled("slack, ns");
    columns.table(area.rows.iter().cloned())
}

/// A column of what the tool counts: its name, its heading, and its number.
type Figure = (&'static str, &'static str, fn(&Figures) -> f64);
