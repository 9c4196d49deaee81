//! The memory files of a simulation, as `$readmemh` reads and `$writememh` writes them.
//!
//! Owns the hexadecimal form (IEEE 1800-2017, section 21.4) and the files' names. Knows no number formats.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use num_bigint::BigUint;

use crate::Error;
use crate::{Data, Memory, Words};

impl Data {
    /// Writes a file `NAME.dat` for each memory into `dir`, as a simulation loads it: one word a line, hexadecimal. Words
    /// that are 0 may be left out.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn write_dat(&self, dir: &Path) -> Result<(), Error> {
        write(self, dir)
    }

    /// Reads the files `NAME.out` that a simulation wrote into `dir`: the memories after the run, in the shapes and
    /// formats of these before the run.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], and [`Error::MemoryFile`] if a file does not have the memory's words.
    pub fn read_out(&self, dir: &Path) -> Result<Self, Error> {
        read(self, dir)
    }
}

/// Writes `NAME.dat` for each memory.
fn write(data: &Data, dir: &Path) -> Result<(), Error> {
    for memory in &data.memories {
        let path = dir.join(format!("{}.dat", memory.name));
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        let mut file = BufWriter::new(file);
        let digits = memory.width.div_ceil(4) as usize;
        // All words are 0 before the file is loaded.
        let mut next = 0;
        let words = memory.words.iter().try_for_each(|(&index, word)| {
            if index != next {
                writeln!(file, "@{index:x}")?;
            }
            next = index + 1;
            writeln!(file, "{word:0digits$x}")
        });
        words
            .and_then(|()| file.flush())
            .map_err(Error::io("write", &path))?;
    }
    Ok(())
}

/// Reads `NAME.out` for each memory of `before`.
fn read(before: &Data, dir: &Path) -> Result<Data, Error> {
    let mut after = before.clone();
    for memory in &mut after.memories {
        let path = dir.join(format!("{}.out", memory.name));
        memory.words = words(&path, memory)?;
    }
    Ok(after)
}

/// The words in a memory file.
fn words(path: &Path, memory: &Memory) -> Result<Words, Error> {
    let wrong = |line, message| Error::MemoryFile {
        path: path.to_owned(),
        line,
        message,
    };
    let file = File::open(path).map_err(Error::io("read", path))?;
    let mut found = Words::new();
    let mut count = 0;
    let mut line_number = 0;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(Error::io("read", path))?;
        line_number += 1;
        let code = line.split("//").next().unwrap_or_default();
        for token in code.split_whitespace() {
            let word = BigUint::parse_bytes(token.as_bytes(), 16)
                .filter(|word| word.bits() <= u64::from(memory.width))
                .ok_or_else(|| {
                    let width = memory.width;
                    let message = format!("`{token}` is not a hexadecimal word of {width} bits");
                    wrong(line_number, message)
                })?;
            if word != BigUint::ZERO {
                found.insert(count, word);
            }
            count += 1;
        }
    }
    let expected = memory.size();
    if count == expected {
        Ok(found)
    } else {
        let message = format!("{count} words, but the memory has {expected}");
        Err(wrong(line_number.max(1), message))
    }
}
