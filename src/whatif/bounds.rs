//! What is left of a run if only a part of it takes time. No program with as many uses of a memory is faster than they are; what is left of the
//! steps is what these steps take, in their order or in that of their data.

use petal_analysis::replay::{Found, Question};
use petal_analysis::resources::Resource;
use petal_table::{Column, Table, Value, thousands};

/// How many cells are named, those that need most.
const CELLS: usize = 3;

/// Something that takes a part of the run, and for how many cycles.
pub struct Bound {
    what: String,
    cycles: u64,
}

/// The bounds of a run, largest first.
pub fn bounds(found: &Found, resources: &[Resource]) -> Vec<Bound> {
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
    let mut bounds: Vec<Bound> = replayed.chain(cells).collect();
    bounds.sort_by_key(|bound| std::cmp::Reverse(bound.cycles));
    bounds
}

/// The table of them, for a run of so many cycles.
pub fn table(bounds: &[Bound], cycles: u64) -> Table {
    let mut table = Table::new(vec![
        Column::text("if only this took time"),
        Column::number("cycles"),
        Column::number("of run"),
    ]);
    for bound in bounds {
        #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
        let percent = 100.0 * bound.cycles as f64 / cycles.max(1) as f64;
        table.push(vec![
            Value::Text(bound.what.clone()),
            Value::Count(bound.cycles),
            Value::Decimal(percent),
        ]);
    }
    table
}
