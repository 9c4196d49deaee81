//! Promises of libraries: that a cell of a primitive is done so many cycles after it was started.

use petal_reconstruct::{Signal, Value};
use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;

/// The kind of what is collected.
pub(crate) const KIND: &str = "promise";

/// What a library says of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// The cell, as it is shown.
    pub cell: String,
    /// Its primitive.
    pub primitive: String,
    /// High while it is started.
    pub go: Signal,
    /// High when it is done.
    pub done: Signal,
    /// It is done after as many, if it is started for as long.
    pub cycles: u64,
}

/// A promise that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// The cell.
    pub cell: String,
    /// Its primitive.
    pub primitive: String,
    /// What was promised.
    pub cycles: u64,
    /// The cycle in which it was started when it was not kept for the first time.
    pub first: u64,
    /// How often it was not kept.
    pub times: u64,
}

/// What is known of a promise so far.
struct PromiseCollector {
    promise: Promise,
    go: usize,
    done: usize,
    /// Since when it is started without being done.
    since: Option<u64>,
    /// Whether that was told.
    is_told: bool,
    first: Option<u64>,
    times: u64,
    outlet: Outlet<Broken>,
}

/// Makes promises ready.
pub(super) fn build(promises: &[Promise], outlet: &Outlet<Broken>, builder: &mut Builder<'_>) {
    for promise in promises {
        let mut node = |of: &Signal| {
            let value = Value::Signal(of.clone(), 1);
            builder.program.add(&Expression::Value(value))
        };
        let (go, done) = (node(&promise.go), node(&promise.done));
        builder.collect(PromiseCollector {
            promise: promise.clone(),
            go,
            done,
            since: None,
            is_told: false,
            first: None,
            times: 0,
            outlet: outlet.clone(),
        });
    }
}

impl Collector for PromiseCollector {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn name(&self) -> &str {
        &self.promise.cell
    }

    fn known_as(&self) -> Option<(&'static str, &str)> {
        None
    }

    fn nodes(&self) -> Vec<usize> {
        vec![self.go, self.done]
    }

    fn kept(&self) -> usize {
        0
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let is_high = |node: usize| look.values[node] != 0;
        let is_done = is_high(self.done);
        if let Some(since) = self.since {
            let due = since + self.promise.cycles;
            // Until the cycle before this one nothing changed.
            let is_late = look.cycle > due || look.cycle == due && !is_done && look.tree.is_some();
            if is_late && !self.is_told {
                self.is_told = true;
                self.first.get_or_insert(since);
                self.times += 1;
            }
        }
        if is_done || !is_high(self.go) {
            self.since = None;
        } else if self.since.is_none() {
            self.since = Some(look.cycle);
            self.is_told = false;
        }
        false
    }

    fn finish(self: Box<Self>, _run: &Finished<'_>) {
        let Some(first) = self.first else {
            return;
        };
        let Promise {
            cell,
            primitive,
            cycles,
            ..
        } = self.promise;
        self.outlet.leave(Broken {
            cell,
            primitive,
            cycles,
            first,
            times: self.times,
        });
    }
}
