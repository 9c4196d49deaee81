//! A process that ends has no temporary folders left. On its own, since nothing makes one after that.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use std::{fs, io};

use petal_files::{Scratch, end};

#[test]
fn the_end_leaves_none_and_makes_none() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = Scratch::new_in(dir.path()).unwrap();
    let folder = scratch.path().to_owned();
    fs::write(folder.join("file"), "text").unwrap();
    end();
    assert!(!folder.exists());
    let again = scratch.create_dir(Path::new("a/b")).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::NotFound);
    let parent = dir.path().to_owned();
    let (made, more) = mpsc::channel();
    thread::spawn(move || made.send(Scratch::new_in(&parent).is_ok()));
    let none = more.recv_timeout(Duration::from_millis(100));
    assert_eq!(none, Err(mpsc::RecvTimeoutError::Timeout));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    // It would wait, too.
    std::mem::forget(scratch);
}
