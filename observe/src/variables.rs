//! The variables of a design's front end: what each holds from cycle to cycle.
//!
//! Owns when a register is known to hold a variable: while a place is active at which the variable holds, and, where one register
//! does the work of several of the source, as long as the variable's own was written last. At all other times it has no value here:
//! none is better than another variable's.

use std::fmt::Write as _;

use petal_metadata::{CellKind, Holder, Id as _, Metadata, VariableId};
use petal_reconstruct::{Signal, Value};
use petal_table::{Columns, Track, TrackContent, Value as Cell};
use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::tables::{Forms, ResultTable};
use crate::watched::writes;

/// The most variables whose values are recorded.
const MOST_VARIABLES: usize = 1000;

/// The most values that are recorded.
const MOST_VALUES: usize = 50_000;

/// The values of a front end's variables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variables {
    /// The variables, once for each place where one may lie.
    pub list: Vec<VariableValues>,
    /// The first cycle of which no value is recorded any more; absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// Why no values are recorded; absent if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// The values of a variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableValues {
    /// Its name in the front end.
    pub name: String,
    /// Its type, as the front end's table has it.
    #[serde(rename = "type")]
    pub of: String,
    /// What holds it, such as `main.x` or `main.mem[3]`.
    pub held_in: String,
    /// Why its values can't be seen; absent if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// Whether the run was asked to watch it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_watched: bool,
    /// Each cycle from which on it has another value, with the value; none where it is not known to hold one.
    pub values: Vec<(u64, Option<String>)>,
}

/// What a register or word of a memory has.
struct Held {
    value: Source,
    /// Where one register does the work of several: high while it is written.
    written: Option<usize>,
    /// Whether what it has is the variable's.
    is_own: bool,
    signal: Signal,
}

enum Source {
    /// A node.
    Node(usize),
    /// What was written: high when something is, and what. The word is not known before the first time.
    Written {
        event: usize,
        new: usize,
        word: u64,
        known: Option<u64>,
    },
}

/// A variable while a run goes by.
struct Followed {
    values: VariableValues,
    latest: Option<Vec<u64>>,
    /// Whether all that holds it can be looked at.
    is_seen: bool,
}

struct VariableCollector {
    held: Vec<Option<Held>>,
    variables: Vec<Followed>,
    /// Those that held in the cycle before.
    live: Vec<VariableId>,
    /// What was written in the cycle before, and whether as the variable's.
    writes: Vec<(usize, Option<u64>, bool)>,
    count: usize,
    until: Option<u64>,
    parts: Vec<Vec<petal_metadata::Part>>,
    types: Vec<petal_metadata::Type>,
    outlet: Outlet<Variables>,
}

/// The variables of a name.
pub(crate) fn named(metadata: &Metadata, name: &str) -> Vec<VariableId> {
    let variables = metadata.front_end.variables.iter().enumerate();
    let named = variables.filter(|(_, variable)| variable.name == name);
    named.map(|(at, _)| VariableId::from_index(at)).collect()
}

/// Where a register or a word of a memory is in the source: `main.x`, `main.mem[3]`.
fn path(metadata: &Metadata, holder: &Holder) -> String {
    let mut component = metadata.component(metadata.main);
    let mut path = component.name.clone();
    for &id in &holder.cells {
        let cell = component.cell(id);
        path.push('.');
        path.push_str(&cell.name);
        if let CellKind::Component(of) = cell.kind {
            component = metadata.component(of);
        }
    }
    if let Some(word) = holder.word {
        let _ = write!(path, "[{word}]");
    }
    path
}

/// Where it is in the hardware.
fn signal(metadata: &Metadata, holder: &Holder) -> Option<Signal> {
    let mut component = metadata.component(metadata.main);
    let mut scope = metadata.scope.clone();
    for &id in &holder.cells {
        let cell = component.cell(id);
        scope.push(cell.instance.clone()?);
        if let CellKind::Component(of) = cell.kind {
            component = metadata.component(of);
        }
    }
    let name = scope.pop()?;
    Some(Signal { scope, name })
}

/// Makes the variables of a design ready, if it has any.
pub(crate) fn build(outlet: &Outlet<Variables>, builder: &mut Builder<'_>) {
    let metadata = builder.metadata;
    let front_end = &metadata.front_end;
    if front_end.variables.is_empty() {
        return;
    }
    if front_end.variables.len() > MOST_VARIABLES && builder.watched_variables.is_empty() {
        outlet.leave(Variables {
            left_out: Some(format!(
                "there are {} variables, and values are recorded of {MOST_VARIABLES} at most; `--watch NAME` records those of one",
                front_end.variables.len()
            )),
            ..Variables::default()
        });
        return;
    }
    let is_all = front_end.variables.len() <= MOST_VARIABLES;
    let held: Vec<Option<Held>> = front_end
        .holders
        .iter()
        .map(|holder| held(holder, builder))
        .collect();
    let variables = front_end.variables.iter().enumerate();
    let variables = variables.map(|(at, variable)| {
        let id = VariableId::from_index(at);
        let mut holders: Vec<String> = Vec::new();
        for part in &variable.parts {
            let of = path(metadata, &front_end.holders[part.holder.index()]);
            if !holders.contains(&of) {
                holders.push(of);
            }
        }
        let mut parts = variable.parts.iter();
        let is_seen = parts.all(|part| held[part.holder.index()].is_some());
        let is_watched = builder.watched_variables.contains(&id);
        let hidden = variable.hidden.clone();
        let unseen = || "what holds it can't be looked at in this run".to_owned();
        let hidden = hidden.or_else(|| (!is_seen).then(unseen));
        Followed {
            is_seen: hidden.is_none() && (is_all || is_watched),
            values: VariableValues {
                name: variable.name.clone(),
                of: variable.of.to_string(),
                held_in: holders.join(", "),
                hidden,
                is_watched,
                ..VariableValues::default()
            },
            latest: None,
        }
    });
    let collector = VariableCollector {
        variables: variables.collect(),
        held,
        live: Vec::new(),
        writes: Vec::new(),
        count: 0,
        until: None,
        parts: front_end
            .variables
            .iter()
            .map(|of| of.parts.clone())
            .collect(),
        types: front_end.variables.iter().map(|of| of.of.clone()).collect(),
        outlet: outlet.clone(),
    };
    builder.collect(collector);
}

/// What holds variables, made ready; `None` if it can't be looked at.
fn held(holder: &Holder, builder: &mut Builder<'_>) -> Option<Held> {
    let signal = signal(builder.metadata, holder)?;
    let directory = builder.directory;
    let mut add = |value| builder.program.add(&Expression::Value(value));
    let Some(word) = holder.word else {
        let (out, width) = directory.port(&signal, "out")?;
        let written = if holder.is_shared {
            let (port, width) = directory.port(&signal, "write_en")?;
            Some(add(Value::Signal(port, width)))
        } else {
            None
        };
        return Some(Held {
            value: Source::Node(add(Value::Signal(out, width))),
            written,
            is_own: true,
            signal,
        });
    };
    let memory = directory.memory(&signal)?;
    let value = if directory.has_memories() {
        Source::Node(add(Value::Word {
            memory: signal.clone(),
            index: Box::new(Value::Constant(word, u64::BITS)),
            width: memory.width,
        }))
    } else {
        let writes = writes(directory, &signal, &memory, word..word + 1).ok()?;
        Source::Written {
            event: add(writes.event),
            new: add(writes.new),
            word,
            known: None,
        }
    };
    Some(Held {
        value,
        written: None,
        is_own: true,
        signal,
    })
}

impl VariableCollector {
    /// The parts of a variable now, if all are known to be its own.
    fn parts(&self, id: VariableId, values: &[u64]) -> Option<Vec<u64>> {
        if !self.variables[id.index()].is_seen {
            return None;
        }
        let parts = self.parts[id.index()].iter().map(|part| {
            let held = self.held[part.holder.index()].as_ref()?;
            let bits = match held.value {
                Source::Node(node) => Some(values[node]),
                Source::Written { known, .. } => known,
            };
            bits.filter(|_| held.is_own).map(|bits| part.of(bits))
        });
        parts.collect()
    }

    /// Records the value of a variable, if it is another one.
    fn record(&mut self, cycle: u64, id: VariableId, parts: Option<Vec<u64>>) {
        let of = &self.types[id.index()];
        let variable = &mut self.variables[id.index()];
        if variable.latest == parts {
            return;
        }
        if self.count == MOST_VALUES {
            self.until.get_or_insert(cycle);
            return;
        }
        self.count += 1;
        let value = parts.as_deref().map(|parts| of.written(parts));
        variable.values.values.push((cycle, value));
        variable.latest = parts;
    }
}

impl Collector for VariableCollector {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn name(&self) -> &str {
        KIND
    }

    fn known_as(&self) -> Option<(&'static str, &str)> {
        None
    }

    fn nodes(&self) -> Vec<usize> {
        let held = self.held.iter().flatten();
        let nodes = held.flat_map(|held| {
            let node = match held.value {
                Source::Node(node) => node,
                Source::Written { event, .. } => event,
            };
            [Some(node), held.written]
        });
        nodes.flatten().collect()
    }

    fn kept(&self) -> usize {
        0
    }

    fn follows_trees(&self) -> bool {
        true
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let Some(tree) = look.tree.filter(|_| self.until.is_none()) else {
            return false;
        };
        for (at, new, is_own) in std::mem::take(&mut self.writes) {
            if let Some(held) = &mut self.held[at] {
                held.is_own = is_own;
                if let (Source::Written { known, .. }, Some(new)) = (&mut held.value, new) {
                    *known = Some(new);
                }
            }
        }
        let live = look.trees.live(tree, look.instances);
        for id in std::mem::take(&mut self.live) {
            if live.binary_search(&id).is_err() {
                self.record(look.cycle, id, None);
            }
        }
        for &id in &*live {
            let parts = self.parts(id, look.values);
            self.record(look.cycle, id, parts);
        }
        self.live = live.to_vec();
        for (at, held) in self.held.iter().enumerate() {
            let Some(held) = held else {
                continue;
            };
            if held.written.is_some_and(|node| look.values[node] != 0) {
                let is_own = look
                    .trees
                    .is_own_write(tree, at, &held.signal, look.instances);
                self.writes.push((at, None, is_own));
            }
            if let Source::Written { event, new, .. } = held.value
                && look.values[event] != 0
            {
                self.writes.push((at, Some(look.values[new]), true));
            }
        }
        !self.writes.is_empty()
    }

    fn start_with(&mut self, words: &dyn Fn(&Signal) -> Vec<(u64, u64)>) {
        for held in self.held.iter_mut().flatten() {
            if let Source::Written { known, word, .. } = &mut held.value {
                let all = words(&held.signal);
                let found = all.iter().find(|(index, _)| index == word);
                *known = Some(found.map_or(0, |(_, value)| *value));
            }
        }
    }

    fn finish(self: Box<Self>, _run: &Finished<'_>) {
        let list = self.variables.into_iter().map(|of| of.values);
        self.outlet.leave(Variables {
            list: list.collect(),
            until: self.until,
            left_out: None,
        });
    }
}

/// What the collector of variables is called. Nobody can ask for one.
pub(crate) const KIND: &str = "variables";

/// Their table: all values in a file, and those of the watched variables where results are shown.
pub(crate) fn tables(of: Option<&Variables>) -> Vec<ResultTable<'_>> {
    let list = of.map_or(&[][..], |of| &of.list);
    let table = |title: String, is_shown: bool| {
        type Row<'a> = (&'a VariableValues, &'a (u64, Option<String>));
        let columns = Columns::default()
            .text("variable", |(of, _): &Row<'_>| of.name.as_str().into())
            .text("type", |(of, _)| of.of.as_str().into())
            .text("held in", |(of, _)| of.held_in.as_str().into())
            .number("cycle", |(_, (cycle, _))| (*cycle).into())
            .text("value", |(_, (_, value))| {
                let value = value.as_deref().unwrap_or("");
                let number = value.parse().ok().filter(|number: &i64| *number < 0);
                number.map_or_else(|| value.into(), Cell::Signed)
            });
        let list = list.iter().filter(move |of| of.is_watched || !is_shown);
        let rows = list.flat_map(|of| of.values.iter().map(move |value| (of, value)));
        ResultTable::new("variables", title, columns, rows)
    };
    let watched = list.iter().filter(|of| of.is_watched);
    let watched: usize = watched.map(|of| of.values.len()).sum();
    vec![
        table(String::new(), false).with(Forms::FileAndDatabase),
        table(format!("variables: {watched}"), true).with(Forms::Shown),
    ]
}

/// The tracks of those that are watched and are a number, or true or false.
pub(crate) fn tracks(of: Option<&Variables>) -> Vec<Track> {
    let list = of.into_iter().flat_map(|of| &of.list);
    let watched = list.filter(|of| of.is_watched);
    let tracks = watched.filter_map(|of| {
        let values = of.values.iter();
        let values = values.filter_map(|(cycle, value)| Some((*cycle, number(value.as_ref()?)?)));
        let values: Vec<_> = values.collect();
        (!values.is_empty()).then(|| Track {
            name: of.name.clone(),
            site: None,
            content: TrackContent::Values(values),
            arguments: Vec::new(),
        })
    });
    tracks.collect()
}

#[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
fn number(value: &str) -> Option<f64> {
    match value {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => match value.strip_prefix("0b") {
            Some(bits) => Some(u64::from_str_radix(bits, 2).ok()? as f64),
            None => value.parse().ok(),
        },
    }
}
