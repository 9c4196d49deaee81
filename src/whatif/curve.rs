//! The run by the latency of a primitive.

use serde_json::{Value, json};

use super::Row;
use crate::args::WhatIfArgs;

/// What several latencies of one primitive save.
pub struct Curve {
    name: String,
    /// `None` where the results would be others.
    saved: Vec<(u32, Option<i64>)>,
}

impl Curve {
    /// The curve that was asked for, if it was one.
    pub fn asked(args: &WhatIfArgs, rows: &[Row]) -> Option<Self> {
        let [(name, cycles)] = &*args.primitive else {
            return None;
        };
        let saved = |cycles: u32| {
            let what_if = format!("{name}={cycles}");
            rows.iter().find(|row| row.what_if == what_if)?.saved
        };
        let saved: Vec<_> = cycles.clone().map(|of| (of, saved(of))).collect();
        (saved.len() > 1).then(|| Self {
            name: name.clone(),
            saved,
        })
    }

    /// The slowest that saves as much as the fastest.
    pub fn knee(&self) -> Option<String> {
        let (first, fastest) = *self.saved.first()?;
        let fastest = fastest?;
        let mut slower = self.saved.iter().rev();
        let (knee, _) = slower.find(|(_, saved)| *saved == Some(fastest))?;
        let name = &self.name;
        (*knee > first).then(|| format!("nothing is gained by less than {name}={knee}"))
    }

    /// Adds it to what is known of a run, in place of one of the same name.
    pub fn added_to(self, mut known: Value) -> Value {
        let points = self.saved.iter();
        let points = points.map(|(cycles, saved)| json!({ "cycles": cycles, "saves": saved }));
        let points: Vec<Value> = points.collect();
        let curves = known["curves"].as_array().cloned().unwrap_or_default();
        let others = curves.into_iter().filter(|of| of["name"] != self.name);
        let mut curves: Vec<Value> = others.collect();
        curves.push(json!({ "name": self.name, "points": points }));
        known["curves"] = curves.into();
        known
    }
}
