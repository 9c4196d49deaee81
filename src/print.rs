//! What the command prints to standard output.

use std::io::Write;

use anstream::adapter::strip_str;
use petal_profile::Error;

use crate::streams;

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Error> {
    is_read(text).map(drop)
}

/// Prints to standard output, and tells whether somebody reads it.
pub fn is_read(text: &str) -> Result<bool, Error> {
    let written = match streams::output() {
        Some(mut output) => output.write_all(strip_str(text).to_string().as_bytes()),
        None => {
            let mut out = anstream::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
    };
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::new(format!(
            "cannot write to standard output: {error}"
        ))),
        written => Ok(written.is_ok()),
    }
}
