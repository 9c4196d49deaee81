//! `petal lsp` in a real editor, set up as docs/editors.md says.

use std::fs;

use crate::support::workshop::{Workshop, succeeds, tells};
use crate::support::{python, root};

#[test]
fn neovim_shows_hints_and_applies_advice() {
    let page = fs::read_to_string(root().join("docs/editors.md")).unwrap();
    let settings = page.split("```lua\n").nth(1).unwrap();
    let settings = settings.split("```").next().unwrap();
    let workshop = Workshop::empty();
    workshop.edited("matmul.futil", "matmul.futil", &[]);
    workshop.write("init.lua", settings);
    let check = root().join("tests/slow/check_neovim.lua");
    let neovim = python().with_file_name("nvim");
    let said = succeeds(&mut workshop.bash(&format!(
        "XDG_STATE_HOME=$HOME/state '{}' --headless --clean -u init.lua matmul.futil -S '{}'",
        neovim.display(),
        check.display()
    )));
    tells(
        &said,
        &["hints moved", "advice applied", "612 cycles", "452 cycles"],
    );
    assert!(workshop.read("matmul.futil").starts_with("// new\n"));
}
