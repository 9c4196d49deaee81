//! The longest path to each register, from the delays that nextpnr writes.
//!
//! Owns how its SDF is read, and the longest paths through it. nextpnr itself reports one path for each clock; its delays are those of the SDF, so
//! that the longest of all is the one that it reports.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::timing::RawStep;

/// What is kept of the delays of a design.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Delays {
    /// The longest path through each net, in picoseconds.
    pub nets: BTreeMap<String, u64>,
    /// The longest path to each register, by the net that it drives, without the number of the bit.
    pub ends: BTreeMap<String, End>,
}

/// Where a path ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct End {
    /// The net that the flip-flop drives.
    pub net: String,
    pub path: Vec<RawStep>,
}

/// Pins of cells, and how long a signal takes from one to another.
#[derive(Debug, Default)]
struct Pins<'a> {
    numbers: HashMap<String, usize>,
    /// The cell as the SDF writes it, and the pin.
    names: Vec<(&'a str, &'a str)>,
    /// To pin, picoseconds, whether it is a wire.
    from: Vec<Vec<(usize, u64, bool)>>,
    to: Vec<Vec<usize>>,
}

impl<'a> Pins<'a> {
    fn number(&mut self, cell: &'a str, pin: &'a str) -> usize {
        let next = self.names.len();
        let number = *self.numbers.entry(format!("{cell}/{pin}")).or_insert(next);
        if number == next {
            self.names.push((cell, pin));
            self.from.push(Vec::new());
            self.to.push(Vec::new());
        }
        number
    }

    fn join(&mut self, from: usize, to: usize, delay: u64, is_wire: bool) {
        self.from[from].push((to, delay, is_wire));
        self.to[to].push(from);
    }

    /// All, each after those that lead to it; what leads back to itself is left out.
    fn in_order(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.to.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..waiting.len())
            .filter(|&pin| waiting[pin] == 0)
            .collect();
        let mut at = 0;
        while let Some(&pin) = order.get(at) {
            at += 1;
            for &(to, ..) in &self.from[pin] {
                waiting[to] -= 1;
                if waiting[to] == 0 {
                    order.push(to);
                }
            }
        }
        order
    }
}

/// What the SDF tells.
#[derive(Debug, Default)]
struct Sdf<'a> {
    pins: Pins<'a>,
    /// From the edge of a clock to the output of a cell.
    starts: Vec<(usize, u64)>,
    /// From the input of a cell to the edge of its clock.
    ends: Vec<(usize, u64)>,
}

impl<'a> Sdf<'a> {
    /// nextpnr writes each delay on a line of its own.
    fn parse(text: &'a str) -> Option<Self> {
        let mut sdf = Self::default();
        let mut cell = "";
        let mut clocks: HashSet<(&str, &str)> = HashSet::new();
        let mut through: Vec<(&str, &str, &str, u64)> = Vec::new();
        let mut wires: Vec<(&str, &str, u64)> = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix("(INSTANCE") {
                cell = name.trim().strip_suffix(')')?;
            } else if let Some(rest) = line.strip_prefix("(INTERCONNECT ") {
                let (from, rest) = rest.split_once(' ')?;
                let (to, delays) = rest.split_once(' ')?;
                wires.push((from, to, longest(delays)?));
            } else if let Some(rest) = line.strip_prefix("(IOPATH ") {
                let (from, rest) = pin(rest)?;
                let (to, delays) = rest.split_once(' ')?;
                through.push((cell, from, to, longest(delays)?));
            } else if let Some(rest) = line.strip_prefix("(SETUPHOLD ") {
                let (input, rest) = pin(rest)?;
                let (clock, delays) = pin(rest)?;
                let (setup, _) = delays.split_once(' ')?;
                clocks.insert((cell, clock));
                let input = sdf.pins.number(cell, input);
                sdf.ends.push((input, longest(setup)?));
            }
        }
        for (cell, from, to, delay) in through {
            let end = sdf.pins.number(cell, to);
            if clocks.contains(&(cell, from)) {
                sdf.starts.push((end, delay));
            } else {
                let begin = sdf.pins.number(cell, from);
                sdf.pins.join(begin, end, delay, false);
            }
        }
        for (from, to, delay) in wires {
            let (from, to) = (from.rsplit_once('/')?, to.rsplit_once('/')?);
            if !clocks.contains(&to) {
                let [from, to] = [from, to].map(|(cell, pin)| sdf.pins.number(cell, pin));
                sdf.pins.join(from, to, delay, true);
            }
        }
        Some(sdf)
    }
}

/// The pin of `(posedge CLK) …` or `CLK …`, and what follows.
fn pin(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('(') {
        Some(edge) => {
            let (edge, rest) = edge.split_once(") ")?;
            Some((edge.split_once(' ')?.1, rest))
        }
        None => text.split_once(' '),
    }
}

/// The longest of `(1:2:3) (4:5:6)`, of rising and falling signals.
fn longest(delays: &str) -> Option<u64> {
    let numbers = delays.split(|c: char| !(c.is_ascii_digit() || c == '-'));
    let numbers = numbers.filter_map(|number| number.parse::<i64>().ok());
    numbers.max().map(|most| u64::try_from(most).unwrap_or(0))
}

/// The longest paths of a design that was placed and routed: from its delays, and the netlist that nextpnr writes.
pub(crate) fn delays(sdf: &str, routed: &str) -> Result<Delays, Error> {
    let unreadable = |reason: &str| Error::unreadable("nextpnr", reason);
    let Sdf { pins, starts, ends } =
        Sdf::parse(sdf).ok_or_else(|| unreadable("its SDF is none that petal knows"))?;
    let nets = Nets::parse(routed)?;
    let order = pins.in_order();
    // The longest way to a pin, with the pin before it; and from it to the end of a path.
    let mut arrival: Vec<Option<(u64, Option<usize>)>> = vec![None; pins.names.len()];
    for (pin, delay) in starts {
        let before = arrival[pin].map_or(0, |(before, _)| before);
        arrival[pin] = Some((delay.max(before), None));
    }
    let mut left: Vec<Option<u64>> = vec![None; pins.names.len()];
    for &(pin, setup) in &ends {
        left[pin] = left[pin].max(Some(setup));
    }
    for &pin in &order {
        let Some((at, _)) = arrival[pin] else {
            continue;
        };
        for &(to, delay, _) in &pins.from[pin] {
            if arrival[to].is_none_or(|(before, _)| before < at + delay) {
                arrival[to] = Some((at + delay, Some(pin)));
            }
        }
    }
    for &pin in order.iter().rev() {
        for &(to, delay, _) in &pins.from[pin] {
            left[pin] = left[pin].max(left[to].map(|left| left + delay));
        }
    }
    let mut found = Delays::default();
    for (pin, &(cell, name)) in pins.names.iter().enumerate() {
        let drives = pins.from[pin].iter().any(|(.., is_wire)| *is_wire);
        if let (true, Some((at, _)), Some(left)) = (drives, arrival[pin], left[pin])
            && let Some(net) = nets.at(cell, name)
        {
            let most = found.nets.entry(net.to_owned()).or_default();
            *most = (*most).max(at + left);
        }
    }
    let mut worst: BTreeMap<String, (u64, usize, u64)> = BTreeMap::new();
    for (pin, setup) in ends {
        let Some((at, _)) = arrival[pin] else {
            continue;
        };
        let Some(net) = nets.output(pins.names[pin].0) else {
            continue;
        };
        let most = worst.entry(net.to_owned()).or_default();
        *most = (*most).max((at + setup, pin, setup));
    }
    let mut of_register: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    for (net, (delay, ..)) in &worst {
        let register = net.strip_suffix(']').and_then(|net| net.rsplit_once('['));
        let most = of_register
            .entry(register.map_or(net, |(register, _)| register))
            .or_default();
        *most = (*most).max((*delay, net));
    }
    for (register, (_, net)) in of_register {
        let (_, end, setup) = worst[net];
        let end = End {
            net: net.to_owned(),
            path: path(&pins, &nets, &arrival, end, setup),
        };
        found.ends.insert(register.to_owned(), end);
    }
    Ok(found)
}

/// The steps to a pin, as nextpnr reports them.
fn path(
    pins: &Pins<'_>,
    nets: &Nets,
    arrival: &[Option<(u64, Option<usize>)>],
    end: usize,
    setup: u64,
) -> Vec<RawStep> {
    let mut steps = vec![RawStep::new(setup, "setup", None)];
    let mut at = end;
    while let Some((delay, before)) = arrival[at] {
        let Some(before) = before else {
            steps.push(RawStep::new(delay, "clk-to-q", None));
            break;
        };
        let step = delay - arrival[before].map_or(0, |(delay, _)| delay);
        let (cell, pin) = pins.names[before];
        let is_wire = pins.from[before]
            .iter()
            .any(|&(to, _, is_wire)| to == at && is_wire);
        steps.push(if is_wire {
            RawStep::new(step, "routing", nets.at(cell, pin))
        } else {
            RawStep::new(step, "logic", None)
        });
        at = before;
    }
    steps.reverse();
    steps
}

/// The nets of a design that was placed and routed.
#[derive(Debug)]
struct Nets {
    names: HashMap<u64, String>,
    /// By cell: the bits of its ports, and which are outputs.
    cells: HashMap<String, BTreeMap<String, (u64, bool)>>,
}

impl Nets {
    fn parse(text: &str) -> Result<Self, Error> {
        let json: Value = serde_json::from_str(text)
            .map_err(|error| Error::unreadable("nextpnr", error.to_string()))?;
        let modules = json["modules"].as_object();
        let module = modules.and_then(|modules| modules.values().next());
        let object = |name: &str| module.and_then(|module| module[name].as_object());
        let (Some(nets), Some(cells)) = (object("netnames"), object("cells")) else {
            return Err(Error::unreadable("nextpnr", "its netlist has no cells"));
        };
        let names = nets.iter().filter_map(|(name, net)| {
            let bit = net["bits"].as_array()?.first()?.as_u64()?;
            Some((bit, name.clone()))
        });
        let cells = cells.iter().map(|(name, cell)| {
            let ports = cell["connections"].as_object().into_iter().flatten();
            let ports = ports.filter_map(|(port, bits)| {
                let bit = bits.as_array()?.first()?.as_u64()?;
                let is_output = cell["port_directions"][port] == "output";
                Some((port.clone(), (bit, is_output)))
            });
            (name.clone(), ports.collect())
        });
        Ok(Self {
            names: names.collect(),
            cells: cells.collect(),
        })
    }

    /// The net at a pin, whose cell is as the SDF writes it.
    fn at(&self, cell: &str, pin: &str) -> Option<&str> {
        let ports = self.cells.get(&unescaped(cell))?;
        let (bit, _) = ports.get(&unescaped(pin))?;
        self.names.get(bit).map(String::as_str)
    }

    /// A net that a cell drives.
    fn output(&self, cell: &str) -> Option<&str> {
        let ports = self.cells.get(&unescaped(cell))?;
        let mut outputs = ports.iter().filter(|(_, (_, is_output))| *is_output);
        // The carry of a cell is not what its flip-flop holds.
        let (_, (bit, _)) = outputs.find(|(port, _)| !port.contains("CO"))?;
        self.names.get(bit).map(String::as_str)
    }
}

/// A name of the SDF, which has a backslash before each character that is no letter, digit or underscore; before a backslash, too.
fn unescaped(name: &str) -> String {
    let mut characters = name.chars();
    let mut next = || match characters.next() {
        Some('\\') => characters.next(),
        other => other,
    };
    std::iter::from_fn(&mut next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SDF: &str = r"(DELAYFILE
  (CELL
    (INSTANCE )
        (INTERCONNECT a\/q/Q lut/A (10:20:30) (10:20:40))
        (INTERCONNECT a\/q/Q \$m\\b/D (1:1:1) (1:1:1))
        (INTERCONNECT lut/F \$m\\b/D (5:5:5) (5:5:5))
        (INTERCONNECT pin/O c/D (500:500:500) (500:500:500))
        (INTERCONNECT clock/O \$m\\b/CLK (900:900:900) (900:900:900))
  (CELL
    (INSTANCE a\/q)
        (IOPATH (posedge CLK) Q (100:100:100) (100:100:100))
      (SETUPHOLD (posedge D) (posedge CLK) (7:7:7) (0:0:0))
  (CELL
    (INSTANCE lut)
        (IOPATH A F (200:200:200) (210:210:210))
  (CELL
    (INSTANCE \$m\\b)
        (IOPATH (posedge CLK) Q (100:100:100) (100:100:100))
      (SETUPHOLD (posedge D) (posedge CLK) (20:20:20) (3000:3000:3000))
      (SETUPHOLD (negedge D) (posedge CLK) (30:30:30) (3000:3000:3000))
";

    const ROUTED: &str = r#"{"modules": {"top": {
        "netnames": {"a_out[1]": {"bits": [1]}, "sum": {"bits": [2]}, "b_out": {"bits": [3]}},
        "cells": {
            "a/q": {"port_directions": {"Q": "output"}, "connections": {"Q": [1]}},
            "lut": {"port_directions": {"F": "output"}, "connections": {"F": [2], "A": [1]}},
            "$m\\b": {"port_directions": {"Q": "output"}, "connections": {"Q": [3], "D": [2]}}
        }}}}"#;

    #[test]
    fn the_longest_path_is_from_clock_to_clock() {
        let delays = delays(SDF, ROUTED).unwrap();
        // 100 to Q, 40 in the wire, 210 in the table, 5 in the wire, 30 before the edge.
        let path = &delays.ends["b_out"].path;
        let steps = serde_json::to_value(path).unwrap();
        assert_eq!(delays.ends.keys().collect::<Vec<_>>(), ["b_out"]);
        assert_eq!(
            steps,
            serde_json::json!([
                {"delay": 0.1, "type": "clk-to-q", "net": null},
                {"delay": 0.04, "type": "routing", "net": "a_out[1]"},
                {"delay": 0.21, "type": "logic", "net": null},
                {"delay": 0.005, "type": "routing", "net": "sum"},
                {"delay": 0.03, "type": "setup", "net": null}
            ])
        );
        assert_eq!(delays.nets["sum"], 385);
        assert_eq!(delays.nets["a_out[1]"], 385);
    }

    #[test]
    fn other_files_are_refused() {
        assert!(super::delays("(INTERCONNECT a", ROUTED).is_err());
        assert!(super::delays(SDF, "{}").is_err());
    }
}
