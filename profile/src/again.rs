//! The run of a profile once more: the same design with the same data does the same, so that more of it can be observed.
//!
//! Owns the proof that they are the same: the metadata of the design, the digest of the data, and the length of the run.

use std::path::{Path, PathBuf};

use petal_embedded::{Compiled, Latencies, Options as Simulated, Visible};
use petal_metadata::Metadata;
use petal_observe::{Directory, Memory, Observations, Request, Results};
use petal_passes::Design;
use petal_program::Source;
use petal_reconstruct::{Ahead, Reconstruction, Signal};
use petal_visualize::outputs::SUMMARY;

use crate::compile;
use crate::error::Error;
use crate::interrupt;
use crate::memories::Memories;
use crate::observing;
use crate::options::{DesignOptions, Options};
use crate::places::Places;
use crate::profile::Profile;

/// A design that can be run again as it was for a profile.
pub struct Again {
    design: Design,
    metadata: Metadata,
    memories: Memories,
    directory: Directory,
    cycles: u64,
    limit: u64,
}

/// The options of a run as far as its profile tells them. `design` is the file of the design, if somebody knows it: what it imports is looked
/// up beside it, and so are its data.
pub(crate) fn recorded(profile: &Profile, design: Option<&Path>) -> Result<Options, Error> {
    let root = profile.metadata.files.iter().find(|file| file.root);
    let root = root.ok_or_else(|| Error::new("the profile has no text of its design"))?;
    let text = root.text.clone();
    let source = match design {
        Some(path) => Source::Edited {
            path: path.to_owned(),
            text,
        },
        None => Source::Text {
            name: PathBuf::from(&root.name),
            text,
        },
    };
    let mut options = Options::new(DesignOptions {
        passes: profile.metadata.pipeline.join(","),
        // The metadata say whether it was.
        is_verified: false,
        ..DesignOptions::new(source)
    });
    let beside = design.map(|path| {
        let mut name = path.as_os_str().to_owned();
        name.push(".data");
        PathBuf::from(name)
    });
    let has_data = profile.summary.data.is_some();
    options.data = beside.filter(|path| has_data && path.is_file());
    Ok(options)
}

impl Again {
    /// The design of a profile, which is compiled once more from the text that the profile has. `design` is its file, for what it
    /// imports and for its data; `change` says of the options what the profile does not tell.
    ///
    /// # Errors
    /// When that is another design, or there are other data.
    pub fn new(
        profile: &Profile,
        design: Option<&Path>,
        change: impl FnOnce(&mut Options),
    ) -> Result<Self, Error> {
        let mut options = recorded(profile, design)?;
        change(&mut options);
        let summary = &profile.summary;
        if let (Some(name), None) = (&summary.data, &options.data) {
            return Err(Error::new(format!(
                "the run had the data file {name}: name it with `--data`, or the design with `--design` if it lies beside that"
            )));
        }
        let compiled = compile::instrument(
            &options.design,
            Some(options.memory_limit()),
            &mut Places::default(),
            &(),
        )?;
        let mut metadata = compiled.metadata;
        // Whether it was verified, and the texts of files that have nothing to do with the hardware.
        metadata.verified = profile.metadata.verified;
        let known = &profile.metadata.front_end.files;
        for (file, known) in metadata.front_end.files.iter_mut().zip(known) {
            file.text.clone_from(&known.text);
        }
        metadata.seal();
        let dir = profile.dir().display();
        if metadata.fingerprint != profile.metadata.fingerprint {
            return Err(Error::new(format!(
                "{dir}: the design does not compile to what was profiled: give the options `-x` and `-l` of its run, if it had any, and \
                 `--design` if it imports files"
            )));
        }
        let design = compiled.design;
        let memories = Memories::of(&options, &design)?;
        if let Some(digest) = &summary.data_digest
            && *digest != memories.digest()
        {
            return Err(Error::new(format!(
                "the data are not those of the run: {} has the digest {digest} of them, and these have {}",
                profile.dir().join(SUMMARY).display(),
                memories.digest()
            )));
        }
        let mut directory = observing::directory(&design, true);
        memories.add_formats(&metadata.scope, &mut directory);
        Ok(Self {
            design,
            metadata,
            memories,
            directory,
            cycles: summary.cycles,
            limit: options.memory_limit(),
        })
    }

    /// Runs it, and observes that.
    ///
    /// # Errors
    /// When the request makes no sense, the simulator lacks a part of the design, or somebody asks to stop.
    pub fn observe(&self, request: &Request) -> Result<Results, Error> {
        let observations = Observations::new(&self.metadata, &self.directory, request);
        let mut observations =
            observations.map_err(|refused| Error::usage(refused.problem.to_string()))?;
        observations.limit(self.limit);
        let reconstruction = Reconstruction::new(&self.metadata);
        let compiled = Compiled::observing(
            self.design.program(),
            &Latencies::new(),
            &reconstruction.signals().watched,
            observations.values(),
            Visible::Probes,
        )?;
        let mut simulation = compiled.simulation(Simulated {
            cycle_limit: self.cycles,
            interrupt: interrupt::flag(),
            partial: true,
            ..Simulated::default()
        })?;
        self.memories.load(&mut simulation);
        let mut source = Ahead::new(simulation);
        let cycles = reconstruction.observe(&mut source, &mut observations)?;
        interrupt::check()?;
        if observations.is_full() {
            return Err(Error::new(
                "the values take more memory than they may: ask for less at once",
            ));
        }
        if cycles != self.cycles {
            return Err(Error::new(format!(
                "the run took {} cycles, and now takes {cycles}: its data are others, or this is a defect of petal",
                self.cycles
            )));
        }
        Ok(observations.finish(cycles, true))
    }

    /// The memory that a cell is, with those of its words that are not 0 before the run, each with its index in row-major order; `None` if it
    /// is none.
    pub fn memory(&self, cell: &Signal) -> Option<(Memory, Vec<(u64, u64)>)> {
        let memory = self.directory.memory(cell)?;
        let is_of_main = cell.scope == self.metadata.scope;
        let words = is_of_main.then(|| self.memories.words(&cell.name));
        Some((memory, words.unwrap_or_default()))
    }
}
