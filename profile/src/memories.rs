//! The memories of a design, and how they get to a simulation and back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use petal_analysis::sources::digest;
use petal_data::{Data, MemoryLayout, Rounded};
use petal_embedded::Simulation;
use petal_observe::Directory;
use petal_passes::{Design, Memory};
use petal_reconstruct::Signal;
use petal_table::thousands;

use crate::error::Error;
use crate::options::Options;

/// The contents of a design's memories.
pub struct Memories {
    data: Data,
    /// The names of those memories that Verilog calls otherwise.
    instances: BTreeMap<String, String>,
    /// What the user should know of them.
    pub notes: Vec<String>,
    /// What the run lacks.
    pub warning: Option<String>,
}

impl Memories {
    /// In what the memories after a run, as [`store`](Self::store) gives them, differ from those expected: the first word of it.
    pub fn difference(after: &str, expected: &str) -> String {
        let [after, expected] = [after, expected].map(|text| Data::parse(text, Path::new("")));
        let difference = after.ok().zip(expected.ok());
        let difference = difference.and_then(|(after, expected)| after.difference(&expected));
        difference.map_or_else(
            || "the memories are others".to_owned(),
            |difference| difference.to_string(),
        )
    }

    /// The contents before the run: from the data file, or zeros.
    ///
    /// # Errors
    /// When the data file can't be read, or doesn't fit the design.
    pub fn of(options: &Options, design: &Design) -> Result<Self, Error> {
        let layouts = layouts(&design.memories)?;
        let instances = instances(design);
        let path = options.data_file();
        let Some(path) = path else {
            // Without its folder: a profile does not depend on where the design lies.
            let beside = options.beside();
            let beside = beside.as_deref().and_then(Path::file_name);
            let beside = beside.map(|name| format!(", or as {}", Path::new(name).display()));
            let warning = format!(
                "no data file: all memories start at zero (give one with --data{})",
                beside.unwrap_or_default()
            );
            return Ok(Self {
                data: Data::zeros(&layouts),
                instances,
                notes: Vec::new(),
                warning: (!layouts.is_empty()).then_some(warning),
            });
        };
        let text =
            petal_files::read_to_string(&path).map_err(Error::io("read the data file", &path))?;
        if path
            .extension()
            .is_some_and(|extension| extension == "futil")
        {
            return Err(no_data(&path));
        }
        let mut data = Data::parse(&text, &path)?;
        data.check(&layouts)?;
        if options.is_exact {
            data.check_exact()?;
        }
        Ok(Self {
            notes: rounding(data.rounded(), &path).into_iter().collect(),
            warning: None,
            data,
            instances,
        })
    }

    /// The same contents for another design with the same memories.
    #[must_use]
    pub fn in_design(&self, design: &Design) -> Self {
        Self {
            data: self.data.clone(),
            instances: instances(design),
            notes: Vec::new(),
            warning: None,
        }
    }

    /// The text of a data file for the same contents under the hardware's names, with more memories, which are full of zeros.
    pub(crate) fn with_more(&self, layouts: &[MemoryLayout]) -> String {
        self.data
            .renamed(&self.instances)
            .with_zeros(layouts)
            .to_json()
    }

    /// A digest of the contents: the same for all files that have them, however they are written.
    pub(crate) fn digest(&self) -> String {
        let mut memories: Vec<&petal_data::Memory> = self.data.memories().iter().collect();
        memories.sort_by_key(|memory| memory.name());
        let mut text = String::new();
        for memory in memories {
            for (index, word) in memory.words() {
                let _ = writeln!(text, "{} {index} {word:x}", memory.name());
            }
        }
        digest(&text)
    }

    /// Writes what the simulation loads.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), Error> {
        Ok(self.data.renamed(&self.instances).write_dat(dir)?)
    }

    /// Reads what the simulation stored: the text of a data file.
    pub(crate) fn read(&self, dir: &Path) -> Result<String, Error> {
        let after = self.data.renamed(&self.instances).read_out(dir)?;
        Ok(self.text(&after))
    }

    /// Writes the contents to the embedded simulator.
    pub fn load(&self, simulation: &mut Simulation) {
        for memory in self.data.renamed(&self.instances).memories() {
            simulation.write_memory(memory.name(), memory.words());
        }
    }

    /// The lowest 64 bits of those words of a memory that are not 0 before the run, each with its index in row-major order.
    pub(crate) fn words(&self, instance: &str) -> Vec<(u64, u64)> {
        let renamed = self.data.renamed(&self.instances);
        let mut memories = renamed.memories().iter();
        let memory = memories.find(|memory| memory.name() == instance);
        let words = memory.into_iter().flat_map(petal_data::Memory::words);
        words
            .filter_map(|(&index, word)| Some((index, word.iter_u64_digits().next()?)))
            .collect()
    }

    /// Tells which numbers the words of each memory are.
    pub(crate) fn add_formats(&self, scope: &[String], directory: &mut Directory) {
        for memory in self.data.renamed(&self.instances).memories() {
            let (scope, name) = (scope.to_vec(), memory.name().to_owned());
            directory.set_format(Signal { scope, name }, memory.format());
        }
    }

    /// Reads the contents from the embedded simulator: the text of a data file.
    pub fn store(&self, simulation: &mut Simulation) -> String {
        let before = self.data.renamed(&self.instances);
        self.text(&before.filled(|name| simulation.read_memory(name)))
    }

    /// The text of a data file for contents with the hardware's names.
    fn text(&self, contents: &Data) -> String {
        let names = self
            .instances
            .iter()
            .map(|(name, instance)| (instance.clone(), name.clone()));
        contents.renamed(&names.collect()).to_json()
    }
}

/// What to say of a Calyx program where a data file is wanted.
fn no_data(path: &Path) -> Error {
    let shown = path.display();
    let beside = format!("{shown}.data");
    let instead = if Path::new(&beside).is_file() {
        format!(", such as {beside}")
    } else {
        String::new()
    };
    Error::new(format!(
        "{shown} is a Calyx program, and no data: `--data` wants the JSON file with the contents of the memories{instead}"
    ))
}

/// What memories are called in the Verilog, where it is something else.
fn instances(design: &Design) -> BTreeMap<String, String> {
    let memories = design.memories.iter();
    memories
        .map(|memory| (memory.name.clone(), memory.instance.clone()))
        .collect()
}

/// The shapes of memories.
pub(crate) fn layouts(memories: &[Memory]) -> Result<Vec<MemoryLayout>, Error> {
    memories
        .iter()
        .map(|memory| {
            let width = u32::try_from(memory.width).map_err(|_| {
                Error::new(format!(
                    "memory `{}` is {} bits wide",
                    memory.name, memory.width
                ))
            })?;
            Ok(MemoryLayout {
                name: memory.name.clone(),
                width,
                dims: memory.dims.clone(),
            })
        })
        .collect()
}

/// What was rounded, in all memories together; `None` if nothing was.
fn rounding(rounded: &[Rounded], path: &Path) -> Option<String> {
    let worst = rounded
        .iter()
        .max_by(|a, b| a.largest_error.total_cmp(&b.largest_error))?;
    let values: u64 = rounded.iter().map(|of| of.count).sum();
    let worst_in = format!("memory `{}`", worst.first.memory);
    let (memories, largest_in) = match rounded.len() {
        1 => (worst_in, String::new()),
        many => (format!("{many} memories"), format!(", in {worst_in}")),
    };
    let were = if values == 1 {
        "value was"
    } else {
        "values were"
    };
    Some(format!(
        "{memories}: {} {were} rounded to the format in {}; the largest error is {:.2e}{largest_in} (`--exact` refuses such data)",
        thousands(values),
        path.display(),
        worst.largest_error
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(memories: &str) -> Option<String> {
        let data = Data::parse(memories, Path::new("d.json")).expect("the data are fine");
        rounding(data.rounded(), Path::new("d.json"))
    }

    #[test]
    fn what_is_rounded_is_told_once() {
        let memory = |name: &str, data: &str| {
            format!(
                r#""{name}": {{"data": {data}, "format": {{"numeric_type": "fixed_point", "is_signed": true, "int_width": 4, "frac_width": 4}}}}"#
            )
        };
        let [a, b] = [memory("a", "[1.3, 1.5]"), memory("b", "[0.1, 0.2]")];
        assert_eq!(note(&format!("{{{}}}", memory("a", "[1.5]"))), None);
        assert_eq!(
            note(&format!("{{{a}}}")).as_deref(),
            Some(
                "memory `a`: 1 value was rounded to the format in d.json; the largest error is 1.25e-2 (`--exact` refuses such data)"
            )
        );
        assert_eq!(
            note(&format!("{{{a}, {b}}}")).as_deref(),
            Some(
                "2 memories: 3 values were rounded to the format in d.json; the largest error is 2.50e-2, in memory `b` (`--exact` refuses such data)"
            )
        );
    }
}
