//! Reading whole files, and nothing else: a FIFO without a writer, a terminal or `/dev/zero` would
//! be read for ever.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Fails unless `path` can be read to its end: unless it is a regular file, or something that this
/// process was given opened, such as the `/dev/fd/63` of a shell's `<(command)`.
///
/// # Errors
/// When it is not there, or is something else; the error says what it is.
pub fn check(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || (!kind.is_dir() && is_descriptor(path)) {
        return Ok(());
    }
    let what = name(kind);
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}, and not a regular file"),
    ))
}

/// Opens the file `path`.
///
/// # Errors
/// As for [`check`] and [`File::open`].
pub fn open(path: &Path) -> io::Result<File> {
    check(path)?;
    File::open(path)
}

/// All of the file `path`.
///
/// # Errors
/// As for [`open`], and those of reading.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of the file `path`.
///
/// # Errors
/// As for [`read`], and for what is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Whether `path` names a file that this process has opened, and no file of its own: `/dev/stdin`,
/// `/dev/stdout`, `/dev/fd/N` and the like.
pub fn is_descriptor(path: &Path) -> bool {
    let among_descriptors = |path: &Path| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.is_some_and(|folder| {
            folder == Path::new("/dev/fd")
                || (folder.starts_with("/proc") && folder.ends_with("fd"))
        })
    };
    // `/dev/stdin` is a link to one of them.
    let linked = || {
        let target = fs::read_link(path).ok()?;
        Some(path.parent()?.join(target))
    };
    among_descriptors(path) || linked().is_some_and(|target| among_descriptors(&target))
}

fn name(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a FIFO (named pipe)"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use nix::sys::stat::Mode;

    use super::*;

    #[test]
    fn only_files_and_what_is_open_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let error = read(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
            error.to_string()
        };
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        assert_eq!(
            refused(&fifo),
            "it is a FIFO (named pipe), and not a regular file"
        );
        assert!(refused(dir.path()).contains("a directory"));
        assert!(refused(Path::new("/dev/zero")).contains("a device"));
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(refused(&socket).contains("a socket"));
        let none = read(&dir.path().join("none")).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);

        let file = dir.path().join("file");
        fs::write(&file, "text").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert_eq!(read_to_string(&link).unwrap(), "text");

        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"piped").unwrap();
        drop(writer);
        let descriptor = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read_to_string(Path::new(&descriptor)).unwrap(), "piped");
    }

    #[test]
    fn descriptors_are_known_by_any_name() {
        for path in ["/dev/stdin", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/2"] {
            assert!(is_descriptor(Path::new(path)), "{path}");
        }
        let dir = tempfile::tempdir().unwrap();
        for path in ["/dev/null", "/dev/zero", "/dev/fd", "file", "/", ""] {
            assert!(!is_descriptor(Path::new(path)), "{path}");
        }
        assert!(!is_descriptor(&dir.path().join("none")));
    }
}
