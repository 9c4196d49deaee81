//! What a design costs in area and time: yosys and nextpnr run on its Verilog, and what they report goes back to the program.
//!
//! Owns the processes of these tools, how their outputs are read, and which part of the program a cell of the netlist comes from. Knows no
//! simulation: cycles are others'.

mod area;
mod delays;
mod error;
mod flow;
mod names;
mod netlist;
mod process;
mod reports;
mod synthesis;
mod timing;
mod tools;

pub use area::{Area, Figures, Kind, Row};
pub use error::Error;
pub use flow::{Flow, Mapped, Placed, clean_cache};
pub use reports::ReportFile;
pub use synthesis::{Clock, Synthesis, Without};
pub use timing::{Element, Path as CriticalPath, PathEnd, Step};
pub use tools::{Target, Tool, Tools};
