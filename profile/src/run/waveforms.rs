//! The waveforms of a run, none of which has its name before the run is over.

use std::io::BufWriter;
use std::path::PathBuf;

use petal_embedded::WaveformFile;

use crate::error::Error;
use crate::folder::Draft;
use crate::options::Options;

/// Where all signals go, as the options tell.
pub(super) struct Waveforms {
    fst: Option<Draft>,
    pub vcd: Option<Draft>,
}

impl Waveforms {
    pub fn new(options: &Options) -> Result<Self, Error> {
        let draft = |path: &Option<PathBuf>| path.as_deref().map(Draft::new).transpose();
        Ok(Self {
            fst: draft(&options.fst)?,
            vcd: draft(&options.vcd)?,
        })
    }

    pub fn are_none(&self) -> bool {
        self.drafts().next().is_none()
    }

    fn drafts(&self) -> impl Iterator<Item = &Draft> {
        self.fst.iter().chain(&self.vcd)
    }

    /// Where they are written.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.drafts().map(Draft::path).collect()
    }

    /// New files for petal's own simulator.
    pub fn files(&self) -> Result<Vec<WaveformFile>, Error> {
        let file = |draft: &Draft| Ok(BufWriter::with_capacity(1 << 20, draft.create()?));
        let fst = |draft| file(draft).map(|file| WaveformFile::Fst(Box::new(file)));
        let vcd = |draft| file(draft).map(|file| WaveformFile::Vcd(Box::new(file)));
        let all = self.fst.iter().map(fst).chain(self.vcd.iter().map(vcd));
        all.collect()
    }

    /// Gives them their names.
    pub fn finish(self) -> Result<(), Error> {
        self.fst
            .into_iter()
            .chain(self.vcd)
            .try_for_each(Draft::finish)
    }
}
