//! petal in real editors, set up as docs/editors.md says.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::Command;

use crate::support::workshop::{PETAL, Workshop, succeeds, tells};
use crate::support::{chromium, python, root};

#[test]
fn neovim_shows_hints_and_applies_advice() {
    let workshop = Workshop::empty();
    workshop.edited("matmul.futil", "matmul.futil", &[]);
    let neovim = python().with_file_name("nvim");
    let said = succeeds(&mut workshop.bash(&format!(
        "XDG_STATE_HOME=$HOME/state '{}' --headless --clean -u '{}' matmul.futil -S '{}'",
        neovim.display(),
        root().join("integrations/nvim/petal.lua").display(),
        root().join("tests/slow/check_neovim.lua").display()
    )));
    tells(
        &said,
        &["hints moved", "advice applied", "612 cycles", "452 cycles"],
    );
    assert!(workshop.read("matmul.futil").starts_with("// new\n"));
}

#[test]
fn vscode_shows_hints_and_applies_advice() {
    let extension = root().join("integrations/vscode");
    let server = "target/code-server/node_modules/code-server/lib/vscode/out/server-main.js";
    let server = root().join(server);
    if !server.exists() || !extension.join("node_modules").exists() {
        eprintln!("not run: there is no VS Code (`.ci/vscode` installs one, where npm is)");
        return;
    }
    let workshop = Workshop::empty();
    for folder in ["design", "data/data/Machine"] {
        fs::create_dir_all(workshop.path(folder)).unwrap();
    }
    workshop.edited("design/matmul.futil", "matmul.futil", &[]);
    let packed = workshop.path("petal.vsix");
    let mut pack = Command::new("npm");
    pack.args(["run", "--silent", "pack", "--", "--out"])
        .arg(&packed);
    succeeds(pack.current_dir(&extension));
    workshop.write(
        "data/data/Machine/settings.json",
        format!(r#"{{ "petal.command": "{PETAL}" }}"#),
    );
    let code = || {
        let mut code = workshop.run("node");
        code.arg(&server)
            .args(["--accept-server-license-terms", "--server-data-dir"])
            .arg(workshop.path("data"));
        code
    };
    succeeds(code().arg("--install-extension").arg(&packed));
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let log = File::create(workshop.path("server.log")).unwrap();
    let mut serving = code()
        .args(["--without-connection-token", "--host", "127.0.0.1"])
        .arg(format!("--port={}", address.port()))
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let checked = Command::new(python())
        .arg(root().join("tests/slow/check_vscode.py"))
        .arg(chromium())
        .arg(format!("http://{address}"))
        .arg(workshop.path("design"))
        .output();
    serving.kill().unwrap();
    serving.wait().unwrap();
    let checked = checked.unwrap();
    assert!(
        checked.status.success(),
        "{}\n{}",
        workshop.read("server.log"),
        String::from_utf8_lossy(&checked.stderr)
    );
}
