//! The tables of advice: step by step, and what no combination beats.

use petal_table::{Column, Kind, Table, Value};

use crate::advice::{Advice, Point, percent, saved};
use crate::workshop::Cost;

/// Which columns tell what programs cost on a device, as far as that is known of any.
struct Costs {
    is_known: bool,
    has_clock: bool,
}

impl Costs {
    fn of<'a>(all: impl Iterator<Item = &'a Cost>) -> Self {
        let clocks: Vec<bool> = all.map(|cost| cost.period_ps.is_some()).collect();
        Self {
            is_known: !clocks.is_empty(),
            has_clock: clocks.contains(&true),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let time = self.has_clock.then_some("time, ns");
        let area = self.is_known.then_some(["LUT", "FF"]);
        let names = time.into_iter().chain(area.into_iter().flatten());
        names.map(Column::number).collect()
    }

    /// The values of a program that takes so many cycles.
    fn values(&self, cycles: u64, cost: Option<&Cost>) -> Vec<Value> {
        let of = |figure: fn(&Cost, u64) -> u64| {
            cost.map_or(Value::Empty, |cost| Value::Count(figure(cost, cycles)))
        };
        let time = self.has_clock.then(|| of(Cost::time_ns));
        let area = self
            .is_known
            .then(|| [of(|cost, _| cost.luts), of(|cost, _| cost.ffs)]);
        time.into_iter().chain(area.into_iter().flatten()).collect()
    }
}

impl Advice {
    /// Step by step: what the run takes with the advice so far, and where it is known what that costs.
    pub(super) fn steps(&self) -> Table {
        let ends = self.synthesized.as_ref();
        let of_items = self
            .advice
            .iter()
            .filter_map(|item| item.synthesized.as_ref());
        let costs = Costs::of(ends.map(|of| &of.before).into_iter().chain(of_items));
        let columns = [
            Column::text("kind"),
            Column::text("statement"),
            Column::text("class"),
            Column::number("cycles"),
            Column::of("saves %", Kind::Decimal),
        ];
        let mut table = Table::new(columns.into_iter().chain(costs.columns()).collect());
        let mut push = |[name, place, class]: [&str; 3], cycles, cost| {
            let saved = percent(saved(self.cycles, cycles), self.cycles);
            let mut row = vec![name.into(), place.into(), class.into()];
            row.extend([Value::Count(cycles), Value::Decimal(saved)]);
            row.extend(costs.values(cycles, cost));
            table.push(row);
        };
        push(["as it is", "", ""], self.cycles, ends.map(|of| &of.before));
        let last = self.advice.len();
        for item in &self.advice {
            let with_all = ends.map(|of| &of.with_all);
            let cost = item
                .synthesized
                .as_ref()
                .or(with_all.filter(|_| item.number == last));
            let place = item.place.as_deref().unwrap_or_default();
            push([item.kind, place, item.class.name()], item.cycles, cost);
        }
        table
    }

    /// The combinations that none beats.
    pub(super) fn front(&self) -> Table {
        let costs = Costs::of(self.front.iter().filter_map(|of| of.synthesized.as_ref()));
        let columns = ["cycles", "register bits", "cells"].map(Column::number);
        let columns = columns.into_iter().chain(costs.columns());
        let mut table = Table::new(columns.chain([Column::prose("changes")]).collect());
        for point in &self.front {
            let counts = [point.cycles, point.register_bits, point.cells];
            let mut row: Vec<Value> = counts.map(Value::Count).into();
            row.extend(costs.values(point.cycles, point.synthesized.as_ref()));
            row.push(point.told().into());
            table.push(row);
        }
        table
    }
}

impl Point {
    /// What was changed, and how to have it.
    fn told(&self) -> String {
        let mut parts = vec![match self.changes.len() {
            0 => "as it is".to_owned(),
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        }];
        parts.extend(self.patch.clone());
        parts.extend(self.arguments.iter().cloned());
        if self.proved && !self.changes.is_empty() {
            parts.push("all proved".to_owned());
        }
        parts.join(", ")
    }
}
