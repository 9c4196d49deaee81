//! What of a memory is looked at to know its accesses.

use petal_reconstruct::{Signal, Value, ValueOp};

use crate::activity::Aspect;
use crate::builder::Builder;
use crate::directory::Memory;
use crate::expression::Expression;
use crate::readers::{Groups, and, not, or, readers};
use crate::watched::port;

/// What tells of the accesses of a memory, by nodes.
pub(super) struct Found {
    pub cell: Signal,
    /// High in each cycle in which it is written.
    pub write: usize,
    pub reads: Reads,
    /// The ports with its address, outermost first; 0 while nobody accesses it.
    pub address: Vec<usize>,
    /// What is written and read, where that is not too wide.
    pub written: Option<usize>,
    pub read: Option<usize>,
    /// Whether it is read by continuous assignments alone, too.
    pub is_read_continuously: bool,
}

/// What tells that it is read.
pub(super) enum Reads {
    /// High in each cycle in which it is asked for a word, which it gives in the next one.
    Asked(usize),
    /// Who drives its address and takes the word in the same cycle.
    Looked(Vec<Looking>),
}

/// A reader.
pub(super) struct Looking {
    /// High while it reads.
    pub condition: usize,
    /// High in the first cycle of each activation.
    pub begins: Vec<usize>,
    pub groups: Groups,
}

/// Makes a memory ready.
pub(super) fn found(
    builder: &mut Builder<'_>,
    cell: &Signal,
    memory: &Memory,
) -> Result<Found, String> {
    let directory = builder.directory;
    let port = |name: &str| port(directory, cell, name);
    let write = port("write_en")?;
    let ports = (0..memory.dims.len()).map(|dim| port(&format!("addr{dim}")));
    let ports: Vec<Value> = ports.collect::<Result<_, _>>()?;
    let data = (port("write_data")?, port("read_data")?);
    let enable = port("content_en").ok();
    let program = &mut builder.program;
    let mut add = |value: Value| program.add(&Expression::Value(value));
    let is_narrow = memory.width <= u64::BITS;
    let written = is_narrow.then(|| add(data.0));
    let read = is_narrow.then(|| add(data.1));
    if let Some(enable) = enable {
        let address = ports.into_iter().map(|of| add(quiet(&enable, of)));
        return Ok(Found {
            cell: cell.clone(),
            address: address.collect(),
            write: add(and(enable.clone(), write.clone())),
            reads: Reads::Asked(add(and(enable, not(write)))),
            written,
            read,
            is_read_continuously: false,
        });
    }
    let readers = readers(builder.metadata, directory, cell, &write);
    let conditions = readers.all.iter().map(|of| of.condition.clone());
    let is_used = conditions.fold(write.clone(), or);
    let address = ports.into_iter().map(|of| add(quiet(&is_used, of)));
    let address = address.collect();
    let write = add(write);
    let looking = readers.all.into_iter().map(|of| Looking {
        condition: program.add(&Expression::Value(of.condition)),
        begins: of
            .groups
            .subjects()
            .map(|subject| program.add(&Expression::Subject(subject, Aspect::Begin)))
            .collect(),
        groups: of.groups,
    });
    Ok(Found {
        cell: cell.clone(),
        write,
        reads: Reads::Looked(looking.collect()),
        address,
        written,
        read,
        is_read_continuously: readers.are_continuous,
    })
}

/// A value while a condition holds.
fn quiet(condition: &Value, value: Value) -> Value {
    let width = value.width();
    let nothing = Value::Constant(0, width);
    Value::Op(ValueOp::Mux, width, vec![condition.clone(), value, nothing])
}
