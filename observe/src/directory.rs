//! What of a compiled design can be observed: signals with their widths, memories, and which numbers cells hold.
//!
//! Knows names; knows nothing of the source or of who is active.

use std::collections::{BTreeMap, HashMap};

use petal_data::Format;
use petal_reconstruct::{Signal, Value};

/// The signals and memories of a compiled design, by the Verilog instances that hold them.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    scopes: HashMap<Vec<String>, BTreeMap<String, u32>>,
    memories: HashMap<Signal, Memory>,
    /// The cells of primitives in each instance, in the order of the design, each with its primitive.
    cells: HashMap<Vec<String>, Vec<(String, String)>>,
    /// Which numbers the data of cells are, where that is known.
    formats: HashMap<Signal, Format>,
    /// Whether memories can be read.
    has_memories: bool,
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Bits of a word.
    pub width: u32,
    /// Number of words in each dimension, outermost first.
    pub dims: Vec<u64>,
}

/// The ports of cells with their data.
const DATA: [&str; 6] = [
    "read_data",
    "write_data",
    "left",
    "right",
    "out_quotient",
    "out",
];

/// The operations of Calyx's library that there are for two's complement, too: `std_sadd`, `std_fp_sadd`.
const SIGNED: [&str; 10] = [
    "add",
    "sub",
    "mult_pipe",
    "div_pipe",
    "gt",
    "lt",
    "ge",
    "le",
    "eq",
    "neq",
];

/// Which numbers a primitive computes with, if its name or parameters tell.
fn format(primitive: &str, parameters: &[(String, u64)]) -> Option<Format> {
    let get = |name: &str| {
        let (_, value) = parameters.iter().find(|(of, _)| of == name)?;
        u32::try_from(*value).ok()
    };
    let whole = Format::unsigned(get("WIDTH")?);
    let operation = primitive.strip_prefix("std_")?;
    let (operation, format) = match operation.strip_prefix("fp_") {
        Some(operation) => (operation, whole.fixed(get("FRAC_WIDTH")?)?),
        None => (operation, whole),
    };
    let signed = operation.strip_prefix('s').filter(|of| SIGNED.contains(of));
    match signed {
        Some(_) => Some(format.signed()),
        None => (format != whole).then_some(format),
    }
}

impl Memory {
    /// The memory that a cell of this primitive is, if it is one.
    fn of(primitive: &str, parameters: &[(String, u64)]) -> Option<Self> {
        let dims: usize = primitive.split_once("_mem_d")?.1.parse().ok()?;
        let get = |name: &str| {
            let mut parameters = parameters.iter();
            parameters
                .find(|(of, _)| of == name)
                .map(|(_, value)| *value)
        };
        let sizes = (0..dims).map(|dim| get(&format!("D{dim}_SIZE")));
        let dims = match dims {
            1 => vec![get("SIZE")?],
            _ => sizes.collect::<Option<_>>()?,
        };
        let width = u32::try_from(get("WIDTH")?).ok()?;
        Some(Self { width, dims })
    }

    /// Whether its sizes are known.
    pub fn is_sized(&self) -> bool {
        self.dims != [u64::MAX].repeat(self.dims.len())
    }

    /// Its sizes as Calyx writes indices: `[4][4]`.
    pub fn sizes(&self) -> String {
        let sizes: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        format!("[{}]", sizes.join("]["))
    }

    /// The indices of a word in row-major order, such as `[0][2]`; those of the first one where there is no such word.
    pub fn indices(&self, word: u64) -> String {
        let mut rest = if word < self.words() { word } else { 0 };
        let mut indices: Vec<String> = Vec::new();
        for dim in self.dims.iter().rev() {
            indices.insert(0, format!("[{}]", rest % dim));
            rest /= dim;
        }
        indices.concat()
    }

    /// The word at an address, in row-major order; none if it is beyond the memory, or if that has several dimensions of unknown
    /// sizes.
    pub fn word(&self, address: &[u64]) -> Option<u64> {
        if !self.is_sized() && self.dims.len() > 1 {
            return None;
        }
        let mut dims = address.iter().zip(&self.dims);
        dims.try_fold(0, |word, (index, size)| {
            (index < size).then(|| word * size + index)
        })
    }

    /// Number of words.
    pub fn words(&self) -> u64 {
        self.dims.iter().copied().fold(1, u64::saturating_mul)
    }
}

impl Directory {
    /// That of a waveform, which has no words of memories.
    pub fn without_memories() -> Self {
        Self::default()
    }

    /// That of a design that is simulated by petal.
    pub fn with_memories() -> Self {
        Self {
            has_memories: true,
            ..Self::default()
        }
    }

    /// Adds an instance and its signals, each with its width in bits.
    pub fn add(&mut self, scope: Vec<String>, signals: impl IntoIterator<Item = (String, u32)>) {
        self.scopes.entry(scope).or_default().extend(signals);
    }

    /// Adds a cell of a primitive.
    pub fn add_cell(&mut self, cell: Signal, primitive: &str, parameters: &[(String, u64)]) {
        let cells = self.cells.entry(cell.scope.clone()).or_default();
        cells.push((cell.name.clone(), primitive.to_owned()));
        if let Some(format) = format(primitive, parameters) {
            self.set_format(cell.clone(), format);
        }
        if let Some(memory) = Memory::of(primitive, parameters) {
            self.memories.insert(cell, memory);
        }
    }

    /// Tells which numbers the data of a cell are.
    pub fn set_format(&mut self, cell: Signal, format: Format) {
        self.formats.insert(cell, format);
    }

    /// Which numbers a value is: what is known of its cell, or else whole ones without a sign.
    pub(crate) fn format(&self, value: &Value) -> Format {
        let cell = match value {
            Value::Word { memory, .. } => Some(memory.clone()),
            Value::Signal(signal, _) => DATA.iter().find_map(|port| {
                let name = signal
                    .name
                    .strip_suffix(port)?
                    .strip_suffix('_')?
                    .to_owned();
                let scope = signal.scope.clone();
                Some(Signal { scope, name })
            }),
            _ => None,
        };
        let known = cell.and_then(|cell| self.formats.get(&cell).copied());
        let known = known.filter(|format| format.width() == value.width());
        known.unwrap_or_else(|| Format::unsigned(value.width()))
    }

    /// The cells of primitives in an instance, each with its primitive; none if only signals are known.
    pub fn cells(&self, scope: &[String]) -> impl Iterator<Item = (&str, &str)> {
        let cells = self.cells.get(scope).into_iter().flatten();
        cells.map(|(name, primitive)| (name.as_str(), primitive.as_str()))
    }

    /// The width of a signal.
    pub fn width(&self, signal: &Signal) -> Option<u32> {
        self.scopes.get(&signal.scope)?.get(&signal.name).copied()
    }

    /// The signal of a cell's port, with its width.
    pub fn port(&self, cell: &Signal, port: &str) -> Option<(Signal, u32)> {
        let signal = Signal {
            scope: cell.scope.clone(),
            name: format!("{}_{port}", cell.name),
        };
        let width = self.width(&signal)?;
        Some((signal, width))
    }

    /// The memory that a cell is. Where only signals are known, a cell with the ports of one is one; its sizes are not known then,
    /// and as large as can be.
    pub fn memory(&self, cell: &Signal) -> Option<Memory> {
        if let Some(memory) = self.memories.get(cell) {
            return Some(memory.clone());
        }
        if self.cells.contains_key(&cell.scope) {
            return None;
        }
        self.port(cell, "write_en")?;
        let (_, width) = self.port(cell, "write_data")?;
        let dims = (0..).take_while(|dim| self.port(cell, &format!("addr{dim}")).is_some());
        let dims: Vec<u64> = dims.map(|_: u32| u64::MAX).collect();
        (!dims.is_empty()).then_some(Memory { width, dims })
    }

    /// The cell of the register whose output a signal is.
    pub fn register(&self, signal: &Signal) -> Option<Signal> {
        let cell = Signal {
            scope: signal.scope.clone(),
            name: signal.name.strip_suffix("_out")?.to_owned(),
        };
        if let Some(cells) = self.cells.get(&signal.scope) {
            let mut cells = cells.iter();
            let is_register = cells.any(|(name, of)| *name == cell.name && of == "std_reg");
            return is_register.then_some(cell);
        }
        // Where only signals are known, one with the ports of a register.
        let mut ports = ["in", "write_en", "done"].into_iter();
        let is_register = ports.all(|port| self.port(&cell, port).is_some());
        is_register.then_some(cell)
    }

    /// Whether words of memories can be read.
    pub fn has_memories(&self) -> bool {
        self.has_memories
    }

    /// The names of the signals of an instance.
    pub fn names(&self, scope: &[String]) -> impl Iterator<Item = &str> {
        let signals = self.scopes.get(scope).into_iter().flatten();
        signals.map(|(name, _)| name.as_str())
    }

    /// The ports of a cell, as `names` tells them.
    pub fn ports<'a>(&'a self, scope: &[String], cell: &str) -> impl Iterator<Item = &'a str> {
        let prefix = format!("{cell}_");
        self.names(scope)
            .filter_map(move |name| name.strip_prefix(&*prefix).filter(|port| !port.is_empty()))
    }
}
