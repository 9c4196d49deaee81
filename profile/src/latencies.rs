//! Multipliers and dividers of another latency than the library's, in petal's own simulator.
//!
//! Owns what such primitives declare. They stand for the standard library's only.

use std::path::Path;

use petal_embedded::Latency;
use petal_program::{Library, Parsed, Program, library};

use crate::error::Error;
use crate::options::DesignOptions;

/// The file of the library that has them.
const FILE: &str = "binary_operators.futil";
/// What the library says of its multipliers.
pub const DECLARED: u32 = 3;

/// All multipliers or dividers of a primitive, or one cell, and after how many cycles they are to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timed {
    /// Such as `std_mult_pipe`.
    pub primitive: String,
    /// The names of the component and the cell; `None` for all.
    pub cell: Option<(String, String)>,
    /// At least 1.
    pub cycles: u32,
}

impl Timed {
    /// What it is declared as where it has a latency of its own.
    fn declared(&self) -> String {
        match &self.cell {
            None => self.primitive.clone(),
            Some((component, cell)) => format!("{}_{component}_{cell}", self.primitive),
        }
    }
}

impl DesignOptions {
    /// The program, whose primitives declare these latencies.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn program(&self) -> Result<Program, Error> {
        self.program_of(Parsed::read(self.source.clone(), &self.library()?)?)
    }

    /// The program of what was read with [`library`](Self::library).
    pub(crate) fn program_of(&self, parsed: Parsed) -> Result<Program, Error> {
        let program = parsed.program()?;
        for timed in &self.latencies {
            if let Some((component, cell)) = &timed.cell {
                program.set_primitive(component, cell, &timed.declared());
            }
        }
        Ok(program)
    }

    /// The library that it takes its primitives from.
    pub(crate) fn library(&self) -> Result<Library, Error> {
        let library = Library::new(&self.libraries)?;
        if !self.latencies.is_empty() {
            library.replace(FILE, &declarations(&self.latencies))?;
        }
        Ok(library)
    }

    /// What the simulator has to know of them.
    #[must_use]
    pub fn simulated_latencies(&self) -> petal_embedded::Latencies {
        let latencies = self.latencies.iter().map(|timed| {
            let latency = Latency {
                primitive: timed.primitive.clone(),
                cycles: timed.cycles,
            };
            (timed.declared(), latency)
        });
        latencies.collect()
    }

    /// Why the design's primitives can't have another latency, if that is so.
    #[must_use]
    pub fn latency_hindrance(&self) -> Option<String> {
        let own = self.file().and_then(Path::parent).map(Path::to_owned);
        let folders = self.libraries.iter().cloned().chain(own);
        let mut files = folders.flat_map(|folder| {
            let spellings = [folder.join(FILE), folder.join("primitives").join(FILE)];
            spellings.into_iter().filter(|path| path.exists())
        });
        files.next().map(|path| {
            let path = path.display();
            format!("only the standard library's can have another latency, and there is {path}")
        })
    }
}

/// The library's file, with what these primitives are to declare.
fn declarations(latencies: &[Timed]) -> String {
    let mut text = library::files()[FILE].clone();
    let interval = |cycles: u32| format!("@interval({cycles})");
    for timed in latencies {
        let name = format!("primitive {}", timed.primitive);
        // Its attributes or parameters follow.
        let mut starts = text.match_indices(&name).map(|(start, _)| start);
        let start = starts.find(|start| text[start + name.len()..].starts_with(['<', '[']));
        let Some(start) = start else {
            continue;
        };
        let rest = &text[start..];
        let end = rest.find(';').map_or(rest.len(), |end| end + 1);
        let own = rest[..end].replacen(&interval(DECLARED), &interval(timed.cycles), 1);
        if timed.cell.is_some() {
            let own = own.replacen(&name, &format!("primitive {}", timed.declared()), 1);
            text.insert_str(start, &format!("{own}\n  "));
        } else {
            text.replace_range(start..start + end, &own);
        }
    }
    text
}
