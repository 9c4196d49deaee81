//! Patches apply whatever the file is called and however its lines end, and `--apply` leaves of the file what is not its text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::workshop::{Workshop, example, succeeds, tells};

/// A workshop with a design of this name.
fn with(name: &str, text: &str) -> Workshop {
    let workshop = Workshop::empty();
    workshop.write(name, text);
    workshop
}

fn loops() -> String {
    fs::read_to_string(example("while-comb.futil")).unwrap()
}

#[test]
fn patches_apply_whatever_the_name() {
    for name in [
        "my design.futil",
        "a\"b\\c.futil",
        "tab\there.futil",
        "früh.futil",
    ] {
        let workshop = with(name, &loops());
        workshop.succeeds(&["advise", name, "--proved", "--out", "out", "--quiet"]);
        let before = workshop.read(name);
        let mut results = Vec::new();
        for (program, args) in [
            ("patch", ["-p1", "-i", "out/advice/proved.patch"]),
            ("git", ["apply", "-p1", "out/advice/proved.patch"]),
        ] {
            workshop.write(name, &before);
            succeeds(workshop.run(program).args(args));
            results.push(workshop.read(name));
        }
        assert_ne!(results[0], before, "{name}");
        assert_eq!(results[0], results[1], "{name}");
    }
}

#[test]
fn a_name_may_be_no_text() {
    let workshop = Workshop::empty();
    let file = workshop.dir.path().join(OsStr::from_bytes(b"n\xff.futil"));
    fs::write(&file, loops()).unwrap();
    let args = ["advise", "--proved", "--out", "out", "--quiet"];
    succeeds(workshop.command(&args).arg(&file));
    succeeds(
        workshop
            .run("git")
            .args(["apply", "-p1", "out/advice/proved.patch"]),
    );
    assert_ne!(fs::read_to_string(&file).unwrap(), loops());
}

#[test]
fn lines_end_as_they_did() {
    let text = loops().replace('\n', "\r\n");
    let workshop = with("design.futil", &text);
    workshop.succeeds(&["advise", "design.futil", "--proved", "--quiet"]);
    let patch = "petal-out/design/advice/proved.patch";
    succeeds(workshop.run("git").args(["apply", patch]));
    let by_git = workshop.read("design.futil");
    assert_ne!(by_git, text);
    assert_eq!(by_git.matches('\n').count(), by_git.matches("\r\n").count());
    workshop.write("design.futil", &text);
    succeeds(workshop.run("patch").args(["-p1", "--binary", "-i", patch]));
    assert_eq!(workshop.read("design.futil"), by_git);
    workshop.write("design.futil", &text);
    workshop.succeeds(&["advise", "design.futil", "--proved", "--quiet", "--apply"]);
    assert_eq!(workshop.read("design.futil"), by_git);
}

#[test]
fn a_comment_behind_a_done_stays_in_its_place() {
    let design = r#"import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); @external i = std_reg(8); lt = std_lt(8); next = std_add(8); }
  wires {
    lt.left = i.out; lt.right = 8'd9;
    group incr {
      next.left = i.out; next.right = 8'd1;
      i.in = next.out;
      i.write_en = 1'd1;
      incr[done] = i.done; // a cycle later
    }
    group store { m.addr0 = 1'd0; m.write_data = i.out; m.write_en = 1'd1; store[done] = m.done; }
  }
  control { seq { while lt.out { incr; } store; } }
}
"#;
    let workshop = with("design.futil", design);
    workshop.succeeds(&["advise", "design.futil", "--proved", "--quiet", "--apply"]);
    tells(
        &workshop.read("design.futil"),
        &[
            "static<1> group incr {",
            "      i.write_en = 1'd1;\n      // a cycle later\n    }\n",
        ],
    );
}

#[test]
fn modes_and_links_stay() {
    let workshop = with("real.futil", &loops());
    let mode = |name: &str| {
        workshop
            .path(name)
            .symlink_metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o7777
    };
    let set = |mode| {
        fs::set_permissions(workshop.path("real.futil"), PermissionsExt::from_mode(mode)).unwrap();
    };
    set(0o600);
    symlink("real.futil", workshop.path("link.futil")).unwrap();
    let apply = ["advise", "link.futil", "--proved", "--quiet", "--apply"];
    // A link that leads nowhere is no free name.
    symlink("nowhere", workshop.path("link.futil.orig")).unwrap();
    tells(
        &workshop.ends(2, &apply),
        &["link.futil.orig is there already"],
    );
    fs::remove_file(workshop.path("link.futil.orig")).unwrap();
    set(0o444);
    tells(
        &workshop.ends(2, &apply),
        &["link.futil is read-only", "make it writable"],
    );
    assert_eq!(workshop.read("real.futil"), loops());
    set(0o600);
    workshop.succeeds(&apply);
    assert!(workshop.path("link.futil").is_symlink());
    assert_ne!(workshop.read("real.futil"), loops());
    assert_eq!(workshop.read("link.futil.orig"), loops());
    assert_eq!(
        [mode("real.futil"), mode("link.futil.orig")],
        [0o600, 0o600]
    );
}
