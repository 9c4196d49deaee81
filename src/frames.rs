//! Messages on their way: each has a header that tells its length.
//!
//! Knows nothing of what a message says.

use std::io::{self, BufRead, Read as _, Write};

/// No message of an editor is longer, in bytes.
const LONGEST: u64 = 256 << 20;

/// No line of a header is longer, in bytes.
const LONGEST_LINE: u64 = 4096;

/// The next message; `None` if there are no more.
///
/// # Errors
/// If the input can't be read, or what comes is no message; then nobody knows where the next one begins.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let refused = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return refused("a line of a header has no colon");
        };
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length.filter(|length| *length <= LONGEST) else {
        return refused("a header tells no `Content-Length`, or one that is too long");
    };
    let mut message = Vec::new();
    input.take(length).read_to_end(&mut message)?;
    Ok((message.len() as u64 == length).then_some(message))
}

/// Writes a message.
///
/// # Errors
/// If the output can't be written.
pub fn write(output: &mut impl Write, message: &str) -> io::Result<()> {
    let length = message.len();
    output.write_all(format!("Content-Length: {length}\r\n\r\n{message}").as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_one_after_the_other() {
        let mut text = Vec::new();
        for message in ["{}", "", "\"\u{e9}\""] {
            write(&mut text, message).unwrap();
        }
        text.extend(b"content-length:2\nContent-Type: x\n\n[]Content-Length: 9\r\n\r\n{");
        let mut input = &text[..];
        for message in ["{}", "", "\"\u{e9}\"", "[]"] {
            assert_eq!(read(&mut input).unwrap().unwrap(), message.as_bytes());
        }
        assert_eq!(read(&mut input).unwrap(), None);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in [
            "hello\r\n\r\n",
            "\r\n",
            "Content-Length: x\r\n\r\n",
            "Content-Length: 99999999999999\r\n\r\n",
            "Content-Length: -1\r\n\r\n{}",
        ] {
            let mut input = text.as_bytes();
            assert!(read(&mut input).is_err(), "{text:?}");
        }
    }
}
