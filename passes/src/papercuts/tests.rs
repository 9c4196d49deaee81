//! The verdicts of [`find`] are those of the pass, on the designs of the repository with one line each left out.

use std::path::{Path, PathBuf};

use petal_program::{Library, Program, Source, compiling};

use super::{PASS, find};

/// Every so many of these programs is tried.
const EVERY: usize = 17;

/// Whether petal and the pass object to a program; `None` if it is none.
fn verdicts(path: &Path, text: String, library: &Library) -> Option<(bool, bool)> {
    let path = path.to_owned();
    let mut program = Program::read(Source::Edited { path, text }, library).ok()?;
    let _reading = compiling();
    let found = find(&program.ctx).expect("the library's declarations make sense");
    // Newer compilers refuse only what they are told to.
    let option = format!("{PASS}:warnings-as-error");
    program.ctx.extra_opts.push(option);
    let manager = petal_compiler::default_passes().expect("the passes have names of their own");
    let refused = petal_compiler::run_pass(&manager, &mut program.ctx, PASS).is_err();
    Some((!found.is_empty(), refused))
}

fn designs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut designs: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "futil"))
        .collect();
    designs.sort();
    designs
}

#[test]
fn verdicts_are_those_of_the_pass() {
    let library = Library::new(&[]).expect("the temporary folder can be written");
    let (mut objected, mut passed, mut at) = (0, 0, 0);
    for design in [designs("calyx-examples"), designs("tests/corpus")].concat() {
        let text = std::fs::read_to_string(&design).expect("the design can be read");
        let lines: Vec<&str> = text.lines().collect();
        for left_out in 0..=lines.len() {
            at += 1;
            let is_whole = left_out == lines.len();
            let is_assignment = lines.get(left_out).is_some_and(|line| line.contains(" = "));
            if !is_whole && (!is_assignment || at % EVERY != 0) {
                continue;
            }
            let mut rest = lines.clone();
            if !is_whole {
                rest.remove(left_out);
            }
            let Some((ours, theirs)) = verdicts(&design, rest.join("\n"), &library) else {
                continue;
            };
            assert_eq!(
                ours,
                theirs,
                "{} without line {}",
                design.display(),
                left_out + 1
            );
            *(if ours { &mut objected } else { &mut passed }) += 1;
        }
    }
    assert!(
        objected > 5 && passed > 50,
        "{objected} objected, {passed} passed"
    );
}
