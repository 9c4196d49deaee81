//! When a memory that gives the word at its address in the same cycle is read, and by which groups.
//!
//! Such a memory is not told that it is read. It is read while somebody who drives its address is active, and somebody who takes what it
//! gives: the same group, or one that drives no address itself. Both are known from the program; continuous assignments are always active.

use petal_metadata::{CellId, CellKind, ComponentId, GroupRunId, Id as _, Metadata};
use petal_reconstruct::{Signal, Value, ValueOp};

use crate::activity::{Subject, SubjectKind};
use crate::directory::Directory;

/// Groups that read a memory, by one signal.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    /// High while they read it.
    pub condition: Value,
    pub groups: Groups,
}

/// Runs of groups in one piece of hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Groups {
    /// The Verilog instances down to their component.
    pub scope: Vec<String>,
    pub runs: Vec<GroupRunId>,
    /// The component cells that this hardware is, as cells from main on.
    holders: Vec<Vec<CellId>>,
}

impl Groups {
    /// Each as something that is active.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> {
        self.holders.iter().map(|holder| Subject {
            holder: holder.clone(),
            kind: SubjectKind::Group(self.runs.clone()),
        })
    }
}

/// Who reads a memory.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub all: Vec<Reader>,
    /// Whether continuous assignments drive the address and take the word: no cycle tells of that.
    pub are_continuous: bool,
}

/// A component in hardware.
#[derive(Clone)]
struct Place {
    component: ComponentId,
    scope: Vec<String>,
    holders: Vec<Vec<CellId>>,
}

/// Somebody who uses a memory; `groups` is `None` for continuous assignments.
struct User {
    groups: Option<Groups>,
    /// High while it drives the address; `None` if it never does.
    asks: Option<Value>,
    /// The same for what takes the word.
    takes: Option<Value>,
}

/// Who reads the memory of a cell whose `write_en` is `write`.
pub(crate) fn readers(
    metadata: &Metadata,
    directory: &Directory,
    memory: &Signal,
    write: &Value,
) -> Readers {
    let finder = Finder {
        metadata,
        directory,
    };
    let mut users = Vec::new();
    if let Some(place) = place(metadata, &memory.scope) {
        let cells = metadata.component(place.component).cells.iter().enumerate();
        for (at, cell) in cells {
            if cell.instance.as_ref() == Some(&memory.name) {
                finder.add_users(&place, CellId::from_index(at), &mut users);
            }
        }
    }
    let takes = users.iter().filter_map(|of| of.takes.clone());
    let is_taken = takes.reduce(or);
    let asked_always = users
        .iter()
        .any(|of| of.groups.is_none() && of.asks.is_some());
    let taken_always = users
        .iter()
        .any(|of| of.groups.is_none() && of.takes.is_some());
    let mut readers = Readers {
        all: Vec::new(),
        are_continuous: asked_always && taken_always,
    };
    for user in users {
        let Some(groups) = user.groups else {
            continue;
        };
        let condition = match (user.asks, user.takes, &is_taken) {
            (Some(asks), Some(takes), _) => and(asks, takes),
            // What only writes reads nothing, whoever else could take the word.
            (Some(asks), None, Some(taken)) => and(and(asks, taken.clone()), not(write.clone())),
            (None, Some(takes), _) if asked_always => takes,
            _ => continue,
        };
        let known = readers.all.iter_mut();
        let mut known = known.filter(|of| of.groups.scope == groups.scope);
        match known.find(|of| of.condition == condition) {
            Some(known) => known.groups.runs.extend(groups.runs),
            None => readers.all.push(Reader { condition, groups }),
        }
    }
    readers
}

/// The groups in an instance whose probes are among these signals of it.
pub(crate) fn groups_by(
    metadata: &Metadata,
    scope: &[String],
    probes: &[String],
) -> Option<Groups> {
    let place = place(metadata, scope)?;
    let runs = metadata.component(place.component).runs.iter().enumerate();
    let runs = runs.filter(|(_, run)| probes.contains(&run.probe.signal(&metadata.prefix)));
    Some(Groups {
        runs: runs.map(|(at, _)| GroupRunId::from_index(at)).collect(),
        scope: place.scope,
        holders: place.holders,
    })
}

/// The path of the component cell that an instance is, and its component; of several that share the hardware, that of the first one.
pub(crate) fn path_of(metadata: &Metadata, scope: &[String]) -> Option<(String, String)> {
    let place = place(metadata, scope)?;
    let mut component = metadata.component(metadata.main);
    let mut path = component.name.clone();
    for &cell in place.holders.first()? {
        let cell = component.cell(cell);
        let CellKind::Component(inner) = cell.kind else {
            return None;
        };
        path = format!("{path}.{}", cell.name);
        component = metadata.component(inner);
    }
    Some((path, component.name.clone()))
}

/// What the source calls a cell, if it has it.
pub(crate) fn cell_of<'a>(metadata: &'a Metadata, cell: &'a Signal) -> &'a str {
    let known = place(metadata, &cell.scope).and_then(|place| {
        let mut cells = metadata.component(place.component).cells.iter();
        cells.find(|of| of.instance.as_ref() == Some(&cell.name))
    });
    known.map_or(&*cell.name, |of| &*of.name)
}

/// The component at a scope.
fn place(metadata: &Metadata, scope: &[String]) -> Option<Place> {
    let above = &metadata.scope;
    let mut place = Place {
        component: metadata.main,
        scope: above.clone(),
        holders: vec![Vec::new()],
    };
    for instance in scope.strip_prefix(above.as_slice())? {
        let component = metadata.component(place.component);
        let cells = component.cells.iter().enumerate();
        let cells = cells.filter(|(_, cell)| cell.instance.as_ref() == Some(instance));
        let cells: Vec<CellId> = cells.map(|(at, _)| CellId::from_index(at)).collect();
        place = inside(metadata, &place, &cells)?;
    }
    Some(place)
}

/// What the hardware of these cells holds.
fn inside(metadata: &Metadata, place: &Place, cells: &[CellId]) -> Option<Place> {
    let component = metadata.component(place.component);
    let first = component.cell(*cells.first()?);
    let CellKind::Component(inner) = first.kind else {
        return None;
    };
    let mut scope = place.scope.clone();
    scope.push(first.instance.clone()?);
    let holders = place.holders.iter().flat_map(|holder| {
        cells.iter().map(|cell| {
            let mut holder = holder.clone();
            holder.push(*cell);
            holder
        })
    });
    Some(Place {
        component: inner,
        scope,
        holders: holders.collect(),
    })
}

struct Finder<'a> {
    metadata: &'a Metadata,
    directory: &'a Directory,
}

impl Finder<'_> {
    /// Adds who uses a cell of a component, in there or where it is handed over to.
    fn add_users(&self, place: &Place, cell: CellId, users: &mut Vec<User>) {
        let component = self.metadata.component(place.component);
        for lookup in component.lookups.iter().filter(|of| of.cell == cell) {
            let active = match lookup.run {
                Some(run) => self.active(place, run),
                None => Some(Value::Constant(1, 1)),
            };
            let asks = match lookup.probe {
                Some(probe) => self.signal(place, &probe.signal(&self.metadata.prefix)),
                None => active.clone(),
            };
            users.push(User {
                groups: lookup.run.map(|run| Groups {
                    scope: place.scope.clone(),
                    runs: vec![run],
                    holders: place.holders.clone(),
                }),
                asks: asks.filter(|_| lookup.asks),
                takes: active.filter(|_| lookup.takes),
            });
        }
        for (at, node) in component.control.iter().enumerate() {
            let handed = node.bindings.iter().filter(|of| of.actual == cell);
            let inner = node
                .cell
                .and_then(|cell| inside(self.metadata, place, &[cell]));
            let Some(inner) = inner else { continue };
            for binding in handed {
                let mut inside = Vec::new();
                self.add_users(&inner, binding.formal, &mut inside);
                let runs = component.runs.iter().enumerate();
                let runs = runs.filter(|(_, run)| {
                    run.control.is_some_and(|of| of.index() == at) && run.role.is_body()
                });
                for (run, _) in runs {
                    let run = GroupRunId::from_index(run);
                    let Some(active) = self.active(place, run) else {
                        continue;
                    };
                    let during = |value: &Value| and(active.clone(), value.clone());
                    users.extend(inside.iter().map(|user| User {
                        // What the component does continuously, it does as long as the invoke takes.
                        groups: user.groups.clone().or_else(|| {
                            Some(Groups {
                                scope: place.scope.clone(),
                                runs: vec![run],
                                holders: place.holders.clone(),
                            })
                        }),
                        asks: user.asks.as_ref().map(during),
                        takes: user.takes.as_ref().map(during),
                    }));
                }
            }
        }
    }

    /// Whether a group is active.
    fn active(&self, place: &Place, run: GroupRunId) -> Option<Value> {
        let run = self.metadata.component(place.component).run(run);
        self.signal(place, &run.probe.signal(&self.metadata.prefix))
    }

    fn signal(&self, place: &Place, name: &str) -> Option<Value> {
        let signal = Signal {
            scope: place.scope.clone(),
            name: name.to_owned(),
        };
        let width = self.directory.width(&signal)?;
        Some(Value::Signal(signal, width))
    }
}

/// What the `ref` cell at the end of a path stands for, as paths; `None` of anything else.
pub(crate) fn stands_for(metadata: &Metadata, path: &[String]) -> Option<Vec<Vec<String>>> {
    let (name, above) = path.split_last()?;
    let (main, cells) = above.split_first()?;
    let mut holders = vec![metadata.component(metadata.main)];
    if *main != holders[0].name {
        return None;
    }
    let mut invoked = None;
    for cell in cells {
        let holder = *holders.last()?;
        let at = holder.cells.iter().position(|of| of.name == *cell)?;
        let CellKind::Component(inner) = holder.cells[at].kind else {
            return None;
        };
        invoked = Some(CellId::from_index(at));
        holders.push(metadata.component(inner));
    }
    let inner = holders.pop()?;
    let is_formal = |cell: CellId| inner.cell(cell).name == *name;
    let cell = inner.cells.iter().find(|of| of.name == *name)?;
    if !cell.is_reference() || matches!(cell.kind, CellKind::Component(_)) {
        return None;
    }
    let mut all = Vec::new();
    let holder = holders.pop()?;
    for node in holder.control.iter().filter(|of| of.cell == invoked) {
        for binding in node.bindings.iter().filter(|of| is_formal(of.formal)) {
            let mut path = above[..above.len() - 1].to_vec();
            path.push(holder.cell(binding.actual).name.clone());
            all.extend(stands_for(metadata, &path).unwrap_or_else(|| vec![path]));
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

pub(crate) fn and(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Constant(1, 1), of) | (of, Value::Constant(1, 1)) => of,
        (one, other) if one == other => one,
        (one, other) => Value::Op(ValueOp::And, 1, vec![one, other]),
    }
}

pub(crate) fn or(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Constant(1, 1), _) | (_, Value::Constant(1, 1)) => Value::Constant(1, 1),
        (one, other) if one == other => one,
        (one, other) => Value::Op(ValueOp::Or, 1, vec![one, other]),
    }
}

pub(crate) fn not(of: Value) -> Value {
    Value::Op(ValueOp::Not, 1, vec![of])
}
