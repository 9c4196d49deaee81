//! Names that mean something to a shell, to HTML or to SVG reach none of them, and runs that are
//! repeated give the same bytes.

#[path = "support/workshop.rs"]
mod workshop;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use workshop::{DESIGN, Workshop};

const NAMES: [&[u8]; 4] = [
    b"<img src=x onerror=alert(1)>&\"'.futil",
    b"a $(touch pwned) `touch pwned`; touch pwned.futil",
    b"-q --json.futil",
    b"not\xffUTF-8\n.futil",
];

#[test]
fn names_of_files_are_only_names() {
    for name in NAMES.map(OsStr::from_bytes) {
        let workshop = Workshop::new();
        let shown = name.display();
        fs::write(workshop.dir.path().join(name), DESIGN).unwrap();
        for simulator in ["embedded", "verilator"] {
            let mut runs = ["one", "two"].map(|out| {
                let mut run = workshop.command(&["run", "-q", "--simulator", simulator]);
                let output = run.args(["--out", out, "--"]).arg(name).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{shown}, {simulator}: {said}");
                workshop.files(out)
            });
            assert!(runs[0] == runs[1], "{shown}: {simulator} differs");
            for (file, text) in std::mem::take(&mut runs[0]) {
                if file.extension() == Some(OsStr::new("svg")) {
                    let text = String::from_utf8(text).unwrap();
                    let options = roxmltree::ParsingOptions {
                        allow_dtd: true,
                        ..roxmltree::ParsingOptions::default()
                    };
                    let image = roxmltree::Document::parse_with_options(&text, options).unwrap();
                    let mut nodes = image.descendants();
                    assert!(!nodes.any(|node| node.has_tag_name("img")), "{shown}");
                }
            }
        }
        assert!(!workshop.path("pwned").exists(), "{shown} reached a shell");
    }
}
