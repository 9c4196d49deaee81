//! The C++ that Verilator makes of a design: which files there are, and how they are divided among compilers.
//!
//! Owns the reading of Verilator's list of files. Starts no process.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::Error;
use crate::options::{BuildOptions, Optimisation};
use crate::testbench;

/// Generated C++ of up to this many bytes is compiled in one piece: below, reading the headers twice costs more than a
/// second job gains.
const SINGLE_PIECE: u64 = 150_000;

/// The largest piece handed to one compiler process, in bytes of C++ (unless a single file is larger): a compiler takes
/// about 250 times that in memory.
const LARGEST_PIECE: u64 = 2_000_000;

/// The class name of the C++ model and the start of all names of its files.
pub(crate) const PREFIX: &str = "Vtoplevel";

/// The C++ that Verilator made of a design.
#[derive(Debug)]
pub(crate) struct Generated {
    pub(crate) folder: PathBuf,
    sources: Vec<Source>,
    /// The files of Verilator's runtime that the design needs, without `.cpp`.
    pub(crate) runtime: Vec<String>,
}

/// One generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    /// Its name in the folder.
    name: String,
    /// In bytes.
    size: u64,
    speed: Speed,
}

/// How often code runs, as Verilator says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speed {
    /// In every cycle.
    Fast,
    /// A few times in a run.
    Slow,
}

/// A file for one compiler process: it includes generated files.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) path: PathBuf,
    pub(crate) optimisation: Optimisation,
}

impl Piece {
    pub(crate) fn object(&self) -> PathBuf {
        self.path.with_extension("o")
    }
}

impl Generated {
    /// Finds what Verilator left in `folder`.
    pub(crate) fn read(folder: PathBuf) -> Result<Self, Error> {
        let list = folder.join(format!("{PREFIX}_classes.mk"));
        let text = fs::read_to_string(&list).map_err(Error::io("read", &list))?;
        let mut sources = Vec::new();
        let mut runtime = Vec::new();
        for (variable, name) in class_lists(&text) {
            if variable.starts_with("VM_GLOBAL_") {
                runtime.push(name.to_owned());
            } else {
                let name = format!("{name}.cpp");
                let path = folder.join(&name);
                sources.push(Source {
                    size: fs::metadata(&path).map_err(Error::io("read", &path))?.len(),
                    name,
                    speed: if variable.ends_with("_SLOW") {
                        Speed::Slow
                    } else {
                        Speed::Fast
                    },
                });
            }
        }
        Ok(Self {
            folder,
            sources,
            runtime,
        })
    }

    /// Writes the files that are compiled; the first also has the testbench.
    pub(crate) fn write_pieces(&self, options: &BuildOptions) -> Result<Vec<Piece>, Error> {
        let testbench = self.folder.join("testbench.cpp");
        let ticks = u8::from(options.ticks());
        let text = format!("#define PETAL_TICK {ticks}\n{}", testbench::SOURCE);
        fs::write(&testbench, text).map_err(Error::io("write", &testbench))?;
        let mut written = Vec::new();
        for (speed, mut names) in split(&self.sources, options.jobs) {
            if written.is_empty() {
                names.push("testbench.cpp");
            }
            let path = self.folder.join(format!("piece{}.cpp", written.len()));
            let includes: Vec<_> = names
                .iter()
                .map(|name| format!("#include \"{name}\"\n"))
                .collect();
            fs::write(&path, includes.concat()).map_err(Error::io("write", &path))?;
            written.push(Piece {
                path,
                optimisation: match speed {
                    Speed::Fast => options.optimisation,
                    Speed::Slow => Optimisation::Debug,
                },
            });
        }
        Ok(written)
    }
}

/// The entries of the lists in a `_classes.mk` file, each with the list's name.
fn class_lists(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut variable = "";
    text.lines().filter_map(move |line| {
        if let Some((name, _)) = line.split_once(" += \\") {
            variable = name;
            return None;
        }
        // Indented by a tab, or by spaces in newer versions.
        let name = line.strip_prefix(['\t', ' '])?;
        let name = name.trim_end_matches('\\').trim();
        (!name.is_empty()).then_some((variable, name))
    })
}

/// Divides files into pieces for `jobs` compilers, those that take longest first.
fn split(sources: &[Source], jobs: NonZeroUsize) -> Vec<(Speed, Vec<&str>)> {
    let total: u64 = sources.iter().map(|source| source.size).sum();
    if total <= SINGLE_PIECE {
        let names = sources.iter().map(|source| source.name.as_str());
        return vec![(Speed::Fast, names.collect())];
    }
    [Speed::Fast, Speed::Slow]
        .into_iter()
        .flat_map(|speed| {
            let files = sources.iter().filter(|source| source.speed == speed);
            split_evenly(files.collect(), jobs).map(move |names| (speed, names))
        })
        .collect()
}

/// Divides files into pieces of about equal size, as many as are a multiple of `jobs`.
fn split_evenly(mut files: Vec<&Source>, jobs: NonZeroUsize) -> impl Iterator<Item = Vec<&str>> {
    let total: u64 = files.iter().map(|source| source.size).sum();
    let bounded = usize::try_from(total.div_ceil(LARGEST_PIECE)).unwrap_or(usize::MAX);
    let wanted = bounded.max(1).next_multiple_of(jobs.get());
    files.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.name.cmp(&b.name)));
    let mut pieces = vec![(0, Vec::new()); wanted.min(files.len())];
    for source in files {
        // There is a piece if there is a file.
        if let Some((sum, names)) = pieces.iter_mut().min_by_key(|(sum, _)| *sum) {
            *sum += source.size;
            names.push(source.name.as_str());
        }
    }
    pieces.into_iter().map(|(_, names)| names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_lists_are_read() {
        let text = "VM_C11 = 1\nVM_CLASSES_FAST += \\\n\tVtop \\\n\tVtop__1 \\\n\n# x\nVM_GLOBAL_FAST += \\\n\tverilated \\\n\nVM_GLOBAL_SLOW += \\\n\n";
        for text in [text.to_owned(), text.replace('\t', "  ")] {
            assert_eq!(
                class_lists(&text).collect::<Vec<_>>(),
                [
                    ("VM_CLASSES_FAST", "Vtop"),
                    ("VM_CLASSES_FAST", "Vtop__1"),
                    ("VM_GLOBAL_FAST", "verilated"),
                ]
            );
        }
    }

    #[test]
    fn small_designs_are_one_piece_and_large_ones_are_balanced() {
        let check = |sizes: &[(u64, Speed)], expected: &[(Speed, &[&str])]| {
            let files: Vec<Source> = sizes
                .iter()
                .map(|&(size, speed)| Source {
                    name: size.to_string(),
                    size,
                    speed,
                })
                .collect();
            let pieces = split(&files, NonZeroUsize::new(2).unwrap());
            let pieces: Vec<_> = pieces
                .iter()
                .map(|(speed, names)| (*speed, names.as_slice()))
                .collect();
            assert_eq!(pieces, expected);
        };
        check(
            &[(10, Speed::Fast), (20, Speed::Slow), (30, Speed::Fast)],
            &[(Speed::Fast, &["10", "20", "30"])],
        );
        check(
            &[
                (500_000, Speed::Fast),
                (100_000, Speed::Slow),
                (200_000, Speed::Fast),
                (400_000, Speed::Fast),
            ],
            &[
                (Speed::Fast, &["500000"]),
                (Speed::Fast, &["400000", "200000"]),
                (Speed::Slow, &["100000"]),
            ],
        );
        check(
            &[
                (1_500_000, Speed::Slow),
                (1_400_000, Speed::Slow),
                (1_300_000, Speed::Slow),
            ],
            &[
                (Speed::Slow, &["1500000"]),
                (Speed::Slow, &["1400000"]),
                (Speed::Slow, &["1300000"]),
            ],
        );
    }
}
