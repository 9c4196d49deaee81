//! The netlist that yosys writes as JSON (`write_json`): cells of the device, and the bits that join them.
//!
//! Owns how it is read. One module, since the design is flat by then.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;

/// A bit of the netlist: a number, or a constant, which no cell drives.
pub(crate) type Bit = Option<u64>;

/// A flat netlist.
#[derive(Debug, Default)]
pub(crate) struct Netlist {
    pub cells: Vec<Cell>,
    /// The names of each bit, without its number in them.
    pub names: HashMap<u64, Vec<String>>,
    /// By name: the number of its first bit, which may be less than zero, and its bits.
    nets: HashMap<String, (i64, Vec<Bit>)>,
}

/// A cell of the device.
#[derive(Debug)]
pub(crate) struct Cell {
    pub kind: String,
    /// Its ports: name, whether it is an output, bits.
    pub ports: Vec<(String, bool, Vec<Bit>)>,
}

#[derive(Deserialize)]
struct Document {
    modules: IndexMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    cells: IndexMap<String, RawCell>,
    #[serde(default)]
    netnames: IndexMap<String, RawNet>,
}

#[derive(Deserialize)]
struct RawCell {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    port_directions: HashMap<String, String>,
    connections: IndexMap<String, Vec<Value>>,
}

#[derive(Deserialize)]
struct RawNet {
    bits: Vec<Value>,
    #[serde(default)]
    offset: i64,
}

impl Netlist {
    /// Reads the module `top`.
    pub fn parse(text: &str, top: &str) -> Result<Self, Error> {
        let failed = |error: &dyn ToString| Error::unreadable("yosys", error.to_string());
        let document: Document = serde_json::from_str(text).map_err(|error| failed(&error))?;
        let module = document
            .modules
            .into_iter()
            .find(|(name, _)| name == top)
            .map(|(_, module)| module)
            .ok_or_else(|| failed(&format!("there is no module `{top}` in the netlist")))?;
        let mut netlist = Self::default();
        for (name, net) in module.netnames {
            let bits: Vec<Bit> = net.bits.iter().map(Value::as_u64).collect();
            for bit in bits.iter().flatten() {
                netlist.names.entry(*bit).or_default().push(name.clone());
            }
            netlist.nets.insert(name, (net.offset, bits));
        }
        for cell in module.cells.into_values() {
            let is_output = |port: &str| {
                cell.port_directions
                    .get(port)
                    .is_some_and(|direction| direction == "output")
            };
            let ports = cell.connections.iter().map(|(port, bits)| {
                let bits = bits.iter().map(Value::as_u64).collect();
                (port.clone(), is_output(port), bits)
            });
            let ports = ports.collect();
            if !matches!(cell.kind.as_str(), "$scopeinfo") {
                netlist.cells.push(Cell {
                    kind: cell.kind,
                    ports,
                });
            }
        }
        Ok(netlist)
    }

    /// The bit that a name such as `fsm_out[1]` or `done` is, if it is one.
    pub fn bit(&self, name: &str) -> Bit {
        if let Some((_, bits)) = self.nets.get(name) {
            return *bits.first()?;
        }
        let (net, at) = name.strip_suffix(']')?.rsplit_once('[')?;
        let at: i64 = at.parse().ok()?;
        let (first, bits) = self.nets.get(net)?;
        *bits.get(usize::try_from(at.checked_sub(*first)?).ok()?)?
    }
}

impl Cell {
    pub fn outputs(&self) -> impl Iterator<Item = u64> + '_ {
        let outputs = self.ports.iter().filter(|(_, is_output, _)| *is_output);
        outputs.flat_map(|(_, _, bits)| bits.iter().copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbered_from_the_offset_of_their_net() {
        let text = r#"{"modules": {"main": {"netnames": {
            "plain": {"bits": [2, 3]}, "up": {"bits": [3, "0", 5], "offset": 1}, "down": {"bits": [7, 8], "offset": -1}
        }}}}"#;
        let netlist = Netlist::parse(text, "main").unwrap();
        let bits = |names: [&str; 3]| names.map(|name| netlist.bit(name));
        assert_eq!(
            bits(["plain[0]", "plain[1]", "plain[2]"]),
            [Some(2), Some(3), None]
        );
        assert_eq!(bits(["up[1]", "up[2]", "up[3]"]), [Some(3), None, Some(5)]);
        assert_eq!(
            bits(["down[-1]", "down[0]", "down[1]"]),
            [Some(7), Some(8), None]
        );
        assert_eq!(netlist.names[&3], ["plain", "up"]);
    }
}
