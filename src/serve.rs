//! A server on this machine for a browser on it: what is asked for, and the head of an answer.
//!
//! Owns how a request is read, and nothing of what is answered.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use httparse::{EMPTY_HEADER, Request, Status};

/// How long to wait for the rest of a request, and for an answer to be taken.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The largest request that is answered, in bytes, and its most headers.
const MAX_REQUEST: usize = 1 << 16;
const MAX_HEADERS: usize = 100;

/// What somebody asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// `GET`, or another method.
    pub method: String,
    /// What of the server, beginning with `/`.
    pub path: String,
    /// The page that asks, if it is one of another server.
    pub origin: Option<String>,
    host: Option<String>,
}

impl Asked {
    /// Whether the server was asked by its address: a foreign page that has its name point here was not.
    pub fn is_of(&self, address: SocketAddr) -> bool {
        self.host.as_deref() == Some(&*address.to_string())
    }
}

/// Listens at the address, without waiting for anybody.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Reads a request, as far as its headers go; what it may have beside them is not read. `None` if it is none.
pub fn asked(mut stream: &TcpStream) -> io::Result<Option<Asked>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while bytes.len() < MAX_REQUEST {
        let read = stream.read(&mut part)?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&part[..read]);
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut request = Request::new(&mut headers);
        match request.parse(&bytes) {
            Ok(Status::Complete(_)) => return Ok(Some(known(&request))),
            Ok(Status::Partial) => {}
            Err(_) => break,
        }
    }
    Ok(None)
}

fn known(request: &Request<'_, '_>) -> Asked {
    let header = |name: &str| {
        let mut headers = request.headers.iter();
        let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(header.value).into_owned())
    };
    Asked {
        method: request.method.unwrap_or_default().to_owned(),
        path: request.path.unwrap_or_default().to_owned(),
        origin: header("Origin"),
        host: header("Host"),
    }
}

/// Writes what comes before the body: a status and headers.
pub fn respond(mut stream: &TcpStream, head: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n")
}
