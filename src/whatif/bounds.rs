//! What is left of a run if only a part of it takes time. No program with as many uses of a memory is faster than they are, and none of the same
//! groups faster than a chain of them, each of which takes what the one before has set, is long; what is left of the steps is what these steps take, in
//! their order or in that of their data.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use petal_analysis::parts::Part;
use petal_analysis::replay::{Found, Question, Times};
use petal_analysis::resources::Resource;
use petal_metadata::Id as _;
use petal_reconstruct::InstanceId;
use petal_table::{Column, Table, Value, thousands};

/// How many cells are named, those that need most.
const CELLS: usize = 3;

/// Something that takes a part of the run, and for how many cycles.
pub struct Bound {
    what: String,
    cycles: u64,
}

/// A loop or cell of the run, and what it takes.
pub struct PartBound {
    name: String,
    times: Times,
    /// The longest chains of runs of groups in it that hand values on.
    chain: u64,
    /// The memory or the like that it needs most.
    most: Option<Resource>,
}

/// What takes a part of the run.
#[derive(Default)]
pub struct Bounds {
    /// Of the whole run, largest first.
    pub run: Vec<Bound>,
    /// Of loops and cells, those that take longest first.
    pub parts: Vec<PartBound>,
}

/// Those of a run whose groups take at least so many cycles to hand their values on.
pub fn bounds(
    found: &Found,
    (chain, chains): (u64, BTreeMap<Part, u64>),
    (resources, mut by_part): (Vec<Resource>, BTreeMap<Part, Resource>),
    name: impl Fn(Part) -> String,
) -> Bounds {
    let main = Part::Cell(InstanceId::from_index(0));
    let parts = found.parts.iter().filter(|(part, _)| **part != main);
    let parts = parts.map(|(part, times)| PartBound {
        name: name(*part),
        times: *times,
        chain: chains.get(part).copied().unwrap_or(0),
        most: by_part.remove(part),
    });
    let mut parts: Vec<PartBound> = parts.collect();
    parts.sort_by_key(|part| Reverse(part.times.cycles));
    Bounds {
        run: of_run(found, chain, &resources),
        parts,
    }
}

fn of_run(found: &Found, chain: u64, resources: &[Resource]) -> Vec<Bound> {
    let left = |question| {
        let mut answers = found.answers.iter();
        let (_, answer) = answers.find(|(of, _)| *of == question)?;
        Some(found.cycles.saturating_add_signed(-answer.saved))
    };
    let replayed = [
        ("computation alone", Question::AllButComputation),
        ("computation in the order of its data", Question::DataOrder),
    ];
    let replayed = replayed.into_iter().filter_map(|(what, question)| {
        Some(Bound {
            what: what.to_owned(),
            cycles: left(question)?,
        })
    });
    let cells = resources.iter().take(CELLS).map(|cell| Bound {
        what: format!(
            "{} ({}), used {}",
            cell.path,
            cell.primitive,
            match cell.uses {
                1 => "once".to_owned(),
                uses => format!("{} times", thousands(uses)),
            }
        ),
        cycles: cell.uses,
    });
    let chain = (chain > 0).then(|| Bound {
        what: "values handed from group to group".to_owned(),
        cycles: chain,
    });
    let mut bounds: Vec<Bound> = replayed.chain(chain).chain(cells).collect();
    bounds.sort_by_key(|bound| Reverse(bound.cycles));
    bounds
}

/// The table of parts.
pub fn parts(parts: &[PartBound]) -> Table {
    let mut table = Table::new(vec![
        Column::text("loop or cell"),
        Column::number("cycles"),
        Column::number("computation"),
        Column::number("data order"),
        Column::number("handed on"),
        Column {
            is_optional: true,
            ..Column::text("uses most")
        },
        Column {
            is_optional: true,
            ..Column::number("uses")
        },
    ]);
    for PartBound {
        name,
        times,
        chain,
        most,
    } in parts
    {
        table.push(vec![
            Value::Text(name.clone()),
            Value::Count(times.cycles),
            Value::Count(times.computation),
            Value::Count(times.data_order),
            Value::Count(*chain),
            most.as_ref()
                .map_or(Value::Empty, |most| Value::Text(most.path.clone())),
            most.as_ref()
                .map_or(Value::Empty, |most| Value::Count(most.uses)),
        ]);
    }
    table
}

/// The table of the run's, for a run of so many cycles.
pub fn table(bounds: &[Bound], cycles: u64) -> Table {
    let mut table = Table::new(vec![
        Column::text("if only this took time"),
        Column::number("cycles"),
        Column::number("of run"),
    ]);
    for bound in bounds {
        table.push(vec![
            Value::Text(bound.what.clone()),
            Value::Count(bound.cycles),
            Value::percent(bound.cycles, cycles),
        ]);
    }
    table
}
