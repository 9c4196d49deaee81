//! The tables of what accesses come to.

use petal_table::selection::SITE;
use petal_table::{Columns, Value};

use super::summary::{Banks, Reuse, SiteAccesses, Stride};
use super::{Accesses, ResultTable};
use crate::stats::ratio;
use crate::tables::{or_empty, site};

/// The columns of strides.
fn with_stride<R>(
    columns: Columns<R>,
    stride: impl Fn(&R) -> Option<Stride> + Clone + 'static,
) -> Columns<R> {
    let share = stride.clone();
    columns
        .number("stride", move |row| {
            stride(row).map_or(Value::Empty, |of| Value::Signed(of.words))
        })
        .optional()
        .decimal("stride_percent", move |row| {
            share(row).map_or(Value::Empty, |of| Value::Decimal(of.share()))
        })
        .titled("stride %")
        .optional()
}

/// The tables of what accesses come to, in a run of so many cycles.
pub(super) fn tables(all: &[Accesses], cycles: u64) -> Vec<ResultTable<'_>> {
    vec![memories(all, cycles), patterns(all), sites(all)]
}

/// How much each memory is used.
fn memories(all: &[Accesses], cycles: u64) -> ResultTable<'_> {
    let words = |of: &Accesses| {
        let sizes = of.sizes.iter();
        let all = (!of.sizes.is_empty()).then(|| sizes.copied().fold(1, u64::saturating_mul));
        or_empty(all)
    };
    let columns = Columns::default()
        .text("memory", |of: &&Accesses| of.name.as_str().into())
        .number("words", move |of| words(of))
        .optional()
        .number("reads", |of| of.summary.reads.into())
        .number("words_read", |of| of.summary.words_read.into())
        .titled("words read")
        .number("writes", |of| of.summary.writes.into())
        .number("words_written", |of| of.summary.words_written.into())
        .titled("words written")
        .number("overwritten", |of| of.summary.overwritten.into())
        .number("unread", |of| of.summary.unread.into())
        .number("in_use", |of| of.summary.in_use.into())
        .titled("in use")
        .decimal("in_use_percent", move |of| {
            Value::Decimal(100.0 * ratio(of.summary.in_use, cycles))
        })
        .titled("in use %")
        .number("longest_burst", |of| of.summary.longest_burst.into())
        .titled("longest burst")
        .aside(SITE, |of| site(of.site));
    let title = match all.iter().filter(|of| of.is_read_continuously).count() {
        0 => "accesses of memories",
        _ => "accesses of memories, without reads that continuous assignments make alone",
    };
    ResultTable::new("access_memories", title, columns, all.iter())
}

/// In which order each memory is accessed.
fn patterns(all: &[Accesses]) -> ResultTable<'_> {
    let reuse = |of: &Accesses, get: fn(Reuse) -> u64| or_empty(of.summary.reuse.map(get));
    let columns = Columns::default().text("memory", |of: &&Accesses| of.name.as_str().into());
    let patterns = with_stride(columns, |of| of.summary.stride)
        .number("reuse_min", move |of| reuse(of, |of| of.min))
        .titled("reuse min")
        .optional()
        .number("reuse_median", move |of| reuse(of, |of| of.median))
        .titled("reuse median")
        .optional()
        .number("reuse_max", move |of| reuse(of, |of| of.max))
        .titled("reuse max")
        .optional();
    let bank = |of: &Accesses, at: usize, get: fn(&Banks) -> f64| {
        let bank = of.summary.banks.get(at).map(get);
        bank.map_or(Value::Empty, Value::Decimal)
    };
    let names = [
        [("cyclic_2", "cyclic 2"), ("block_2", "block 2")],
        [("cyclic_4", "cyclic 4"), ("block_4", "block 4")],
    ];
    let columns = (0..).zip(names);
    let columns = columns.fold(patterns, |columns, (at, [cyclic, block])| {
        columns
            .decimal(cyclic.0, move |of| bank(of, at, |of| of.cyclic))
            .titled(cyclic.1)
            .optional()
            .decimal(block.0, move |of| bank(of, at, |of| of.block))
            .titled(block.1)
            .optional()
    });
    let columns = columns.aside(SITE, |of| site(of.site));
    let used = all.iter().filter(|of| !of.accesses.is_empty());
    ResultTable::new("access_patterns", "order of accesses", columns, used)
}

/// Who reads and writes each memory.
fn sites(all: &[Accesses]) -> ResultTable<'_> {
    type Row<'a> = (&'a Accesses, &'a SiteAccesses);
    let columns = Columns::default()
        .text("memory", |(of, _): &Row<'_>| of.name.as_str().into())
        .text("access", |(_, site)| site.access.name().into())
        .texts("group", |(of, site)| of.told(&site.by, |of| &of.group))
        .texts("statement", |(of, site)| {
            of.told(&site.by, |of| &of.statement)
        })
        .number("line", |(of, site)| of.line(&site.by))
        .optional()
        .number("count", |(_, site)| site.count.into())
        .number("words", |(_, site)| site.words.into());
    let columns = with_stride(columns, |(_, site)| site.stride);
    let columns = columns.aside(SITE, |(of, _)| site(of.site));
    let rows = all.iter();
    let rows = rows.flat_map(|of| of.summary.groups.iter().map(move |site| (of, site)));
    ResultTable::new("access_groups", "accesses by group", columns, rows)
}
