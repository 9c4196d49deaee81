//! Many runs of petal: designs with their parameters, pipelines and data sets, described by one file.
//!
//! Owns the sweep's file and what follows from it ([`SweepFile`], [`expand`]), what is kept of each run ([`Row`],
//! [`Inputs`]), and how all of them are shown ([`Sweep`]): which are best, as text and as a page. Starts no processes, and knows
//! neither designs nor profiles: the command runs what is listed here.
//!
//! ```
//! use petal_sweep::{SweepFile, expand};
//!
//! let text = r#"
//! passes = ["all", "no-opt"]
//! [[design]]
//! name = "gemm"
//! generate = "python3 gen.py --size {size}"
//! parameters = { size = [2, 4] }
//! "#;
//! let file = SweepFile::parse(text).unwrap();
//! let jobs = expand(&file, std::path::Path::new(".")).unwrap();
//! let names: Vec<String> = jobs.iter().map(|job| job.name.to_string()).collect();
//! assert_eq!(names[3], "gemm size=4 / no-opt / default");
//! ```

mod best;
mod expand;
mod file;
mod fill;
mod job;
mod named;
mod page;
mod row;

pub use best::{Group, groups};
pub use expand::{Problem, expand};
pub use file::{SweepFile, TIMEOUT};
pub use job::{Job, Name, Source, encoded};
pub use row::{Inputs, Row, Run, Sweep, VERSION, conflict, digest};
