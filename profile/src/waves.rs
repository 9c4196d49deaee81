//! A waveform that a run left, for viewers of waveforms.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _};
use std::path::Path;

use petal_metadata::Metadata;
use petal_reconstruct::{FstHeader, Signal, SourceError, VcdHeader, is_fst};
use petal_visualize::Signals;

use crate::error::Error;
use crate::follow::in_waveform;

/// The signals of a waveform that `petal run` wrote, and the scope that all others are in, with a dot, or nothing.
///
/// # Errors
/// When it can't be read, or is of another design.
pub fn waves(metadata: &Metadata, path: &Path) -> Result<(Signals, &'static str), Error> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let start = file.fill_buf().map_err(Error::io("read", path))?;
    let is_fst = is_fst(start);
    let top = b"module TOP ";
    // Verilator has a scope around all others.
    let has_top = !is_fst && start.windows(top.len()).any(|text| text == top);
    file.rewind().map_err(Error::io("read", path))?;
    let keyed = |(Signal { scope, name }, width)| ((scope, name), width);
    let signals: Signals = if is_fst {
        let header = FstHeader::read(file).map_err(in_waveform(path))?;
        header.signals().map(keyed).collect()
    } else {
        let header = VcdHeader::read(file).map_err(in_waveform(path))?;
        header.signals().map(keyed).collect()
    };
    let marker = metadata.prefix.marker(&metadata.fingerprint);
    let of_run = (metadata.scope.clone(), format!("{marker}_in"));
    if !signals.contains_key(&of_run) {
        return Err(in_waveform(path)(SourceError::OtherDesign { marker }));
    }
    Ok((signals, if has_top { "TOP." } else { "" }))
}
