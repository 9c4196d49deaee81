//! The memories of a design, and how they get to a simulation and back.

use std::collections::BTreeMap;
use std::path::Path;

use petal_data::{Data, MemoryLayout};
use petal_embedded::Simulation;
use petal_passes::Design;

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
    /// The contents before the run: from the data file, or zeros.
    ///
    /// # Errors
    /// When the data file can't be read, or doesn't fit the design.
    pub fn of(options: &Options, design: &Design) -> Result<Self, Error> {
        let layouts = layouts(design)?;
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
        let mut data = Data::parse(&text, &path)?;
        data.check(&layouts)?;
        if options.is_exact {
            data.check_exact()?;
        }
        let notes = data.rounded().iter().map(|rounded| {
            let values = match rounded.count {
                1 => "one value was".to_owned(),
                count => format!("{count} values were"),
            };
            format!(
                "memory `{}`: {values} rounded to the format in {}; the largest error is {:.2e} (`--exact` refuses such data)",
                rounded.first.memory,
                path.display(),
                rounded.largest_error
            )
        });
        Ok(Self {
            notes: notes.collect(),
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

/// What memories are called in the Verilog, where it is something else.
fn instances(design: &Design) -> BTreeMap<String, String> {
    let memories = design.memories.iter();
    memories
        .map(|memory| (memory.name.clone(), memory.instance.clone()))
        .collect()
}

fn layouts(design: &Design) -> Result<Vec<MemoryLayout>, Error> {
    design
        .memories
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
