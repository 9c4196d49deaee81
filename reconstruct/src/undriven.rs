//! What a simulator tells, and observations look for, of reads of ports that nothing drives.

use crate::{Signal, Value};

/// A read of a port that nothing drives, which a design may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndrivenRead {
    /// The cell of the port.
    pub cell: Signal,
    /// The port.
    pub port: String,
    /// High in each cycle in which nothing drives the port, and what is read of it gets somewhere. `None`: there are too many ways for it to
    /// be followed, or some of them have ports of more than 64 bits.
    pub when: Option<Value>,
    /// The instance in which it is read, as a scope.
    pub reader: Vec<String>,
    /// The wires there that are high whenever the assignment that reads is active.
    pub marks: Vec<String>,
    /// The port that it reads, as the Verilog calls it.
    pub takes: String,
}
