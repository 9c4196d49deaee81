//! A server of petal's that speaks in messages behind a `Content-Length`, as editors hear them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::workshop::Workshop;

/// How long a test waits for what the server says.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, and both ways to it.
pub struct Framed {
    child: Child,
    input: Option<ChildStdin>,
    heard: Receiver<Value>,
}

impl Framed {
    /// Starts the server in the folder of the workshop, and says nothing.
    pub fn new(workshop: &Workshop, args: &[&str]) -> Self {
        let mut command = workshop.command(args);
        let command = command.stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (say, heard) = channel();
        thread::spawn(move || {
            // Nothing else is printed.
            let mut header = String::new();
            while output.read_line(&mut header).unwrap() > 0 {
                let length = header.trim().strip_prefix("Content-Length: ").unwrap();
                let mut message = vec![0; length.parse::<usize>().unwrap() + 2];
                output.read_exact(&mut message).unwrap();
                let _ = say.send(serde_json::from_slice(&message).unwrap());
                header.clear();
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            heard,
        }
    }

    /// Writes what may be no message.
    pub fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
    }

    /// Writes the text of a message.
    pub fn say(&mut self, message: &str) {
        let length = message.len();
        self.write(format!("Content-Length: {length}\r\n\r\n{message}").as_bytes());
    }

    /// The next message.
    pub fn hear(&self) -> Value {
        self.heard.recv_timeout(PATIENCE).unwrap()
    }

    /// Says no more, and waits until the server has ended.
    pub fn leave(&mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Framed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
