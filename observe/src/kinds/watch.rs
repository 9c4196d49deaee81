//! Watchpoints: the changes of a value, and who wrote it.

use std::collections::HashMap;

use petal_metadata::SiteId;
use petal_reconstruct::Signal;
use petal_table::selection::SITE;
use petal_table::{Columns, Track, TrackContent, Value, thousands};
use serde::{Deserialize, Serialize};

use crate::builder::{Builder, refuse};
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::problem::Refused;
use crate::syntax;
use crate::tables::{ResultTable, or_empty, site};
use crate::text::Text;
use crate::variables;
use crate::watched::{Watchable, register_writes, watchable, writes};

/// A watchpoint: a register, a memory, some of its words, or any expression.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchRequest {
    /// What it is called [default: the expression].
    pub name: Option<String>,
    /// What is watched.
    pub value: Text,
    /// Whether a register is watched as any value is: from the first cycle that has a new one, and not when it is written.
    #[serde(skip)]
    is_value: bool,
}

impl WatchRequest {
    /// Of a text.
    pub fn new(name: Option<String>, value: Text) -> Self {
        Self {
            name,
            value,
            is_value: false,
        }
    }

    /// The value of an expression in each cycle: 0 until the first change.
    pub fn value(value: Text) -> Self {
        Self {
            is_value: true,
            ..Self::new(None, value)
        }
    }
}

/// The changes of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// What it is called.
    pub name: String,
    /// Its number in all outputs.
    pub site: SiteId,
    /// What is watched.
    pub value: String,
    /// Whether it is a register or memory, which has its new value in the cycle after it was written.
    pub is_written: bool,
    /// All changes.
    pub changes: Vec<ChangeOf>,
}

/// A change of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOf {
    /// The cycle at whose end a register or a word of a memory gets its new value; the first cycle with the new value for
    /// anything else.
    pub cycle: u64,
    /// The word of a memory, in row-major order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// The value before; none where a waveform does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    /// The value after.
    pub new: u64,
    /// Who wrote it, as paths through the call tree; empty if no group did, or if it is no register or memory.
    pub by: Vec<String>,
}

/// What a watchpoint looks at.
enum Watched {
    Value {
        node: usize,
    },
    /// The writes to a register or memory: high in those that are looked at, the word of a memory, its value before (if that is
    /// known) and after.
    Written {
        event: usize,
        index: Option<usize>,
        old: Option<usize>,
        new: usize,
        /// The cell.
        cell: Signal,
    },
}

/// What a watchpoint has seen so far.
struct WatchCollector {
    name: String,
    value: String,
    what: Watched,
    latest: u64,
    changes: Vec<ChangeOf>,
    /// The words that are known, where no value before is observed.
    known: HashMap<u64, u64>,
    /// Whether the others are known to be 0.
    is_known: bool,
    outlet: Outlet<Watch>,
}

/// Makes watchpoints ready.
pub(super) fn build(
    requests: &[WatchRequest],
    outlet: &Outlet<Watch>,
    builder: &mut Builder<'_>,
) -> Result<(), Box<Refused>> {
    for of in requests {
        let what = match watched(of, builder) {
            Ok(what) => what,
            // What is no name of the Calyx program may be one of its front end.
            Err(refused) => {
                let variables = variables::named(builder.metadata, of.value.text.trim());
                if variables.is_empty() {
                    return Err(refused);
                }
                let front_end = &builder.metadata.front_end;
                let mut hidden = variables.iter().map(|&id| &front_end.variable(id).hidden);
                if let Some(why) = hidden
                    .clone()
                    .flatten()
                    .next()
                    .filter(|_| hidden.all(Option::is_some))
                {
                    let name = &of.value.text;
                    return refuse(
                        &of.value,
                        &format!("the variable `{name}` can't be seen: {why}"),
                    );
                }
                builder.watched_variables.extend(variables);
                continue;
            }
        };
        builder.collect(WatchCollector {
            name: of.value.name(of.name.as_ref()),
            value: of.value.text.clone(),
            what,
            latest: 0,
            changes: Vec::new(),
            known: HashMap::new(),
            is_known: false,
            outlet: outlet.clone(),
        });
    }
    Ok(())
}

/// What is watched, made ready.
fn watched(request: &WatchRequest, builder: &mut Builder<'_>) -> Result<Watched, Box<Refused>> {
    let text = &request.value;
    let checked = builder.checked(text, syntax::range, |checker, (syntax, range)| {
        if request.is_value && range.is_none() {
            return checker.expression(syntax).map(Watchable::Value);
        }
        watchable(checker, syntax, range.clone())
    })?;
    let (writes, cell) = match checked {
        Watchable::Value(expression) => {
            let node = builder.program.add(&expression);
            return Ok(Watched::Value { node });
        }
        Watchable::Register(cell, out) => (register_writes(builder.directory, &cell, out), cell),
        Watchable::Memory {
            signal,
            memory,
            words,
        } => (writes(builder.directory, &signal, &memory, words), signal),
    };
    let writes = writes.or_else(|message| refuse(text, &message))?;
    let mut add = |value| builder.program.add(&Expression::Value(value));
    Ok(Watched::Written {
        event: add(writes.event),
        index: writes.index.map(&mut add),
        old: writes.old.map(&mut add),
        new: add(writes.new),
        cell,
    })
}

impl Collector for WatchCollector {
    fn kind(&self) -> &'static str {
        "watch"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn nodes(&self) -> Vec<usize> {
        match self.what {
            Watched::Value { node } => vec![node],
            Watched::Written { event, .. } => vec![event],
        }
    }

    fn kept(&self) -> usize {
        self.changes.len() + self.known.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        if look.tree.is_none() {
            return false;
        }
        match &self.what {
            Watched::Value { node } => {
                let new = look.values[*node];
                if new == self.latest {
                    return false;
                }
                let old = std::mem::replace(&mut self.latest, new);
                look.tell(None, new);
                self.changes.push(ChangeOf {
                    cycle: look.cycle,
                    index: None,
                    old: Some(old),
                    new,
                    by: Vec::new(),
                });
                false
            }
            Watched::Written {
                event,
                index,
                old,
                new,
                cell,
            } => {
                if look.values[*event] == 0 {
                    return false;
                }
                let (index, new) = (index.map(|at| look.values[at]), look.values[*new]);
                let old = match (old, index) {
                    (Some(old), _) => Some(look.values[*old]),
                    (None, index) => {
                        let old = self.known.insert(index.unwrap_or(0), new);
                        old.or(self.is_known.then_some(0))
                    }
                };
                if old == Some(new) {
                    return true;
                }
                let by = look
                    .tree
                    .map(|tree| look.trees.writers(tree, cell, look.instances));
                look.tell(index, new);
                self.changes.push(ChangeOf {
                    cycle: look.cycle,
                    index,
                    old,
                    new,
                    by: by.unwrap_or_default(),
                });
                true
            }
        }
    }

    /// So of the first write to a word, too, it is known whether it changes it.
    fn start_with(&mut self, words: &dyn Fn(&Signal) -> Vec<(u64, u64)>) {
        if let Watched::Written {
            cell, old: None, ..
        } = &self.what
        {
            self.known = words(cell).into_iter().collect();
            self.is_known = true;
        }
    }

    fn finish(self: Box<Self>, _run: &Finished<'_>) {
        self.outlet.leave(Watch {
            site: self.site(),
            name: self.name,
            value: self.value,
            is_written: matches!(self.what, Watched::Written { .. }),
            changes: self.changes,
        });
    }
}

/// Their table.
pub(super) fn tables(all: &[Watch]) -> Vec<ResultTable<'_>> {
    type Row<'a> = (&'a Watch, &'a ChangeOf);
    let columns = Columns::default()
        .text("watch", |(of, _): &Row<'_>| of.name.as_str().into())
        .number("cycle", |(_, change)| change.cycle.into())
        .number("index", |(_, change)| or_empty(change.index))
        .optional()
        .bits("old", |(_, change)| or_empty(change.old))
        .optional()
        .bits("new", |(_, change)| change.new.into())
        .texts("by", |(_, change)| Value::Texts(change.by.clone()))
        .folding()
        .aside(SITE, |(of, _)| site(of.site));
    let changes: usize = all.iter().map(|watch| watch.changes.len()).sum();
    let rows = all.iter();
    let rows = rows.flat_map(|of| of.changes.iter().map(move |change| (of, change)));
    let title = format!("changes: {}", thousands(changes as u64));
    vec![ResultTable::new("changes", title, columns, rows)]
}

/// Their tracks.
#[expect(clippy::cast_precision_loss, reason = "the viewer shows counters so")]
pub(super) fn tracks(all: &[Watch]) -> Vec<Track> {
    let tracks = all.iter().map(|of| {
        // A word of a memory is no value over time, and a register has its new one in the next cycle.
        let writes = of.changes.iter().filter(|change| change.index.is_some());
        let writes: Vec<_> = writes.map(|change| (change.cycle, None)).collect();
        let later = u64::from(of.is_written);
        let values = of.changes.iter();
        let values = values.map(|change| (change.cycle + later, change.new as f64));
        Track {
            name: of.name.clone(),
            site: Some(of.site),
            content: match &writes[..] {
                [] => TrackContent::Values(values.collect()),
                _ => TrackContent::Instants(writes),
            },
            arguments: Vec::new(),
        }
    });
    tracks.collect()
}
