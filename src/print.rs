//! What the command prints to standard output.

use std::borrow::Cow;
use std::io::{Write, stdout};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use petal_profile::Error;

use crate::streams;

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Error> {
    is_read(text).map(drop)
}

/// Prints to standard output, and tells whether somebody reads it.
pub fn is_read(text: &str) -> Result<bool, Error> {
    let plain = || Cow::<str>::Owned(strip_str(text).to_string());
    let written = match streams::output() {
        Some(mut output) => output.write_all(plain().as_bytes()),
        None => {
            let mut out = stdout().lock();
            // `AutoStream` itself would write each line apart.
            let text = match AutoStream::choice(&out) {
                ColorChoice::Never => plain(),
                _ => Cow::Borrowed(text),
            };
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
