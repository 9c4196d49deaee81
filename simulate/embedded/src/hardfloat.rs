//! Calyx's wrappers around Berkeley `HardFloat`: whether a file is one of those that the embedded simulator computes by itself.
//!
//! Owns the digests of the files. White space and comments don't count; whatever else is different goes to a simulator of Verilog.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::verilog::tokens;

/// The wrappers, all of one version so far: primitive, and digest of its file.
const WRAPPERS: [(&str, &str); 6] = [
    ("std_addFN", "1688d3e074b5b78e"),
    ("std_mulFN", "21ae38b2e727b1a2"),
    ("std_compareFN", "a96171b34c12473d"),
    ("std_divSqrtFN", "cd8b5149abd4ad32"),
    ("std_fpToInt", "84b2c09e25110943"),
    ("std_intToFp", "f1c3229a984e27ef"),
];

/// What stands for all of them in petal's library.
const STAND_IN: &str = "0227c9a05284366f";

/// What they are made of in `HardFloat`'s release 1, in its folder beside them.
const SOURCES: [(&str, &str); 15] = [
    ("HardFloat_consts.vi", "8d472f4424e94fe6"),
    ("HardFloat_localFuncs.vi", "5974547dd0b9e5c5"),
    ("HardFloat_primitives.v", "157c248534924c10"),
    ("HardFloat_rawFN.v", "fe94ef7ea8bccc27"),
    ("RISCV/HardFloat_specialize.v", "1c9b41a6c6bfc7d8"),
    ("RISCV/HardFloat_specialize.vi", "9fd79fd521c27bb5"),
    ("addRecFN.v", "0d4037176441303f"),
    ("compareRecFN.v", "472cdcca87b60d30"),
    ("divSqrtRecFN_small.v", "04aec40dea3c00e8"),
    ("fNToRecFN.v", "98b6351f61f3aed3"),
    ("iNToRecFN.v", "2e69ab9c7fac4953"),
    ("isSigNaNRecFN.v", "78a3e51f3989c0f0"),
    ("mulRecFN.v", "a139250afee0990a"),
    ("recFNToFN.v", "97a7857642d5bb41"),
    ("recFNToIN.v", "5c5a2a2bb411fc2e"),
];

/// Whether `primitive` is known, in this file. Where `HardFloat` is not beside it, nothing but petal could compute it.
pub(crate) fn is_known(primitive: &str, file: &Path) -> bool {
    let Some((_, wrapper)) = WRAPPERS.iter().find(|(name, _)| *name == primitive) else {
        return false;
    };
    let Some(found) = digest(file) else {
        return false;
    };
    if found != *wrapper {
        return found == STAND_IN;
    }
    let own = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folders = [file, &own].map(|file| file.with_file_name("HardFloat-1/source"));
    let source = folders.iter().find(|folder| folder.is_dir());
    source.is_none_or(|folder| {
        let mut sources = SOURCES.iter();
        sources.all(|(name, wanted)| digest(&folder.join(name)).as_deref() == Some(wanted))
    })
}

/// The digest of what counts in a file.
fn digest(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let digest = Sha256::digest(tokens(&text).join("\n"));
    let (first, _) = digest.split_first_chunk()?;
    Some(format!("{:016x}", u64::from_be_bytes(*first)))
}
