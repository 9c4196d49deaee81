//! What the command prints to standard output.

use std::io::Write;

use petal_profile::Error;

use crate::call;

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Error> {
    is_read(text).map(drop)
}

/// Prints to standard output, and tells whether somebody reads it.
pub fn is_read(text: &str) -> Result<bool, Error> {
    let mut out: Box<dyn Write> = match call::output() {
        Some(output) => Box::new(output),
        None => Box::new(anstream::stdout().lock()),
    };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::new(format!(
            "cannot write to standard output: {error}"
        ))),
        written => Ok(written.is_ok()),
    }
}
