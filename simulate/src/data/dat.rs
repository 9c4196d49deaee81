//! The memory files of a simulation, as `$readmemh` reads and `$writememh` writes them.
//!
//! Owns the hexadecimal form (IEEE 1800-2017, section 21.4) and the files' names. Knows no number formats.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use num_bigint::BigUint;

use super::{Data, Memory};
use crate::Error;

/// Writes `NAME.dat` for each memory.
pub(super) fn write(data: &Data, dir: &Path) -> Result<(), Error> {
    for memory in &data.memories {
        let path = dir.join(format!("{}.dat", memory.name));
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let mut file = BufWriter::new(file);
        let digits = memory.format.width().div_ceil(4) as usize;
        memory
            .words
            .iter()
            .try_for_each(|word| writeln!(file, "{word:0digits$x}"))
            .and_then(|()| file.flush())
            .map_err(Error::io("write", &path))?;
    }
    Ok(())
}

/// Reads `NAME.out` for each memory of `before`.
pub(super) fn read(before: &Data, dir: &Path) -> Result<Data, Error> {
    let mut after = before.clone();
    for memory in &mut after.memories {
        let path = dir.join(format!("{}.out", memory.name));
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        memory.words = words(&text, memory).map_err(|(line, message)| Error::MemoryFile {
            path,
            line,
            message,
        })?;
    }
    Ok(after)
}

/// The words in a memory file, or the line and what is wrong in it.
fn words(text: &str, memory: &Memory) -> Result<Vec<BigUint>, (usize, String)> {
    let expected = memory.words.len();
    let mut found = Vec::with_capacity(expected);
    let mut line_number = 0;
    for line in text.lines() {
        line_number += 1;
        let code = line.split("//").next().unwrap_or_default();
        for token in code.split_whitespace() {
            let word = BigUint::parse_bytes(token.as_bytes(), 16)
                .filter(|word| word.bits() <= u64::from(memory.format.width()))
                .ok_or_else(|| {
                    let width = memory.format.width();
                    (
                        line_number,
                        format!("`{token}` is not a hexadecimal word of {width} bits"),
                    )
                })?;
            found.push(word);
        }
    }
    if found.len() == expected {
        Ok(found)
    } else {
        Err((
            line_number.max(1),
            format!("{} words, but the memory has {expected}", found.len()),
        ))
    }
}
