//! Reads of ports that nothing drives: which of those that a design may make were made, when, and by whom.

use foldhash::{HashMap, HashMapExt as _};
use petal_reconstruct::{TreeId, UndrivenRead, Value};

use super::Site;
use crate::builder::Builder;
use crate::collector::{Collector, Finished, Outlet};
use crate::expression::Expression;
use crate::look::Look;
use crate::readers::{Groups, cell_of, groups_by, or, path_of};

/// The kind of what is collected.
pub(crate) const KIND: &str = "undriven";

/// A read of an undriven port that was made, or of which that can't be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undriven {
    /// The path of the port.
    pub port: String,
    /// The component in which it is read.
    pub component: String,
    /// The port that is taken, as the Verilog calls it.
    pub takes: String,
    /// The groups that read it; empty if none does.
    pub by: Vec<Site>,
    /// The first cycle, and how many; `None` if it can't be told whether there is one.
    pub cycles: Option<(u64, u64)>,
    /// What was active in the first one, as paths through the call tree.
    pub active: Vec<String>,
}

/// What is known of a read so far.
struct UndrivenCollector {
    read: Undriven,
    node: Option<usize>,
    groups: Option<Groups>,
    /// Those by whom it was made, each with its first cycle, how many, and what was active.
    made: Vec<Undriven>,
    /// Which of these it is in each tree.
    numbers: HashMap<TreeId, usize>,
    /// Since when which of them reads it.
    since: Option<(u64, usize)>,
    outlet: Outlet<Undriven>,
}

/// Makes them ready: one for each port and who reads it, whichever assignments do.
pub(super) fn build(reads: &[UndrivenRead], outlet: &Outlet<Undriven>, builder: &mut Builder<'_>) {
    let metadata = builder.metadata;
    let mut all: Vec<(Undriven, Option<Groups>, Option<Value>)> = Vec::new();
    for of in reads {
        let (Some((path, _)), Some((_, component))) = (
            path_of(metadata, &of.cell.scope),
            path_of(metadata, &of.reader),
        ) else {
            // It is in what the compiler has put around the design.
            continue;
        };
        let groups = groups_by(metadata, &of.reader, &of.marks);
        let groups = groups.filter(|groups| !groups.runs.is_empty());
        let port = format!("{path}.{}.{}", cell_of(metadata, &of.cell), of.port);
        let mut known = all.iter_mut();
        let known = known.find(|(read, others, _)| {
            read.port == port
                && *others == groups
                && (groups.is_some() || read.takes == of.takes && read.component == component)
        });
        if let Some((_, _, when)) = known {
            *when = when.take().zip(of.when.clone()).map(|(a, b)| or(a, b));
            continue;
        }
        let read = Undriven {
            port,
            component,
            takes: of.takes.clone(),
            by: Vec::new(),
            cycles: None,
            active: Vec::new(),
        };
        all.push((read, groups, of.when.clone()));
    }
    for (read, groups, when) in all {
        let node = when.map(|of| builder.program.add(&Expression::Value(of)));
        builder.collect(UndrivenCollector {
            read,
            node,
            groups,
            made: Vec::new(),
            numbers: HashMap::new(),
            since: None,
            outlet: outlet.clone(),
        });
    }
}

impl UndrivenCollector {
    /// The number of those who read it in a tree.
    fn number(&mut self, tree: TreeId, look: &mut Look<'_, '_>) -> usize {
        if let Some(&known) = self.numbers.get(&tree) {
            return known;
        }
        let groups = self.groups.as_ref();
        let by = groups.map(|groups| look.trees.running(tree, groups, look.instances));
        let mut by = by.unwrap_or_default();
        by.dedup();
        let active = look.trees.active(tree, look.instances);
        let is_same = |of: &Undriven| of.by == by && (!by.is_empty() || of.active == active);
        let at = self.made.iter().position(is_same).unwrap_or_else(|| {
            self.made.push(Undriven {
                by,
                active,
                cycles: Some((look.cycle, 0)),
                ..self.read.clone()
            });
            self.made.len() - 1
        });
        self.numbers.insert(tree, at);
        at
    }
}

impl Collector for UndrivenCollector {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn name(&self) -> &str {
        &self.read.port
    }

    fn known_as(&self) -> Option<(&'static str, &str)> {
        None
    }

    fn nodes(&self) -> Vec<usize> {
        self.node.into_iter().collect()
    }

    fn follows_trees(&self) -> bool {
        true
    }

    fn follows_now(&self) -> bool {
        self.since.is_some()
    }

    fn kept(&self) -> usize {
        self.made.len()
    }

    fn look(&mut self, look: &mut Look<'_, '_>) -> bool {
        let is_high = self.node.is_some_and(|node| look.values[node] != 0);
        let now = look.tree.filter(|_| is_high);
        if let Some((since, at)) = self.since.take()
            && let Some((_, cycles)) = &mut self.made[at].cycles
        {
            *cycles += look.cycle - since;
        }
        self.since = now.map(|tree| (look.cycle, self.number(tree, look)));
        false
    }

    fn finish(self: Box<Self>, _run: &Finished<'_>) {
        if self.node.is_none() {
            self.outlet.leave(self.read);
        }
        for made in self.made {
            self.outlet.leave(made);
        }
    }
}
