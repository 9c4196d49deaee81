//! Names that mean something to a shell, to HTML or to SVG reach none of them, and runs that are
//! repeated give the same bytes.

use std::fs;

use crate::support::simulators::names_are_only_names;
use crate::support::workshop::Workshop;

#[test]
fn names_of_files_are_only_names() {
    names_are_only_names("embedded");
}

#[test]
fn imports_stay_in_the_folders_that_are_given() {
    let part = r#"import "primitives/core.futil";
component part() -> () {
  cells { r = std_reg(8); }
  wires { group g { r.in = 8'd1; r.write_en = 1'd1; g[done] = r.done; } }
  control { seq { g; } }
}
"#;
    let using = |import: &str| {
        format!(
            "{import}\ncomponent main() -> () {{ cells {{ p = part(); }} wires {{}} control {{ invoke p()(); }} }}"
        )
    };
    let workshop = Workshop::new();
    for folder in ["project", "project/parts", "elsewhere"] {
        fs::create_dir(workshop.path(folder)).unwrap();
    }
    workshop.write("project/parts/inside.futil", part);
    workshop.write("elsewhere/outside.futil", part);
    workshop.write("elsewhere/outside.sv", "module outside(); endmodule");
    let link = workshop.path("project/link.futil");
    std::os::unix::fs::symlink("../elsewhere/outside.futil", link).unwrap();
    let absolute = workshop.path("elsewhere/outside.futil");

    let run = |args: &[&str]| {
        let mut command = workshop.command(&["run", "-q", "--out", "out"]);
        let output = command.args(args).output().unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    workshop.write("project/a.futil", using(r#"import "parts/inside.futil";"#));
    assert_eq!(run(&["project/a.futil"]), (true, String::new()));
    for import in [
        r#"import "../elsewhere/outside.futil";"#,
        r#"import "link.futil";"#,
        r#"import "parts/../../elsewhere/outside.futil";"#,
        &format!("import \"{}\";", absolute.display()),
    ] {
        workshop.write("project/b.futil", using(&format!("// comment\n{import}")));
        let (fine, said) = run(&["project/b.futil"]);
        assert!(!fine, "{import}");
        for part in ["project/b.futil:2:", "elsewhere/outside.futil", "--library"] {
            assert!(said.contains(part), "{import}: {said}");
        }
        let asked = run(&["--library", "elsewhere", "project/b.futil"]);
        assert_eq!(asked, (true, String::new()), "{import}");
    }
    // Of the Verilog of primitives, too.
    let verilog = r#"extern "../elsewhere/outside.sv" { primitive outside() -> (); }"#;
    workshop.write("project/c.futil", format!("{part}\n{verilog}"));
    let (fine, said) = run(&["project/c.futil"]);
    assert!(!fine && said.contains("project/c.futil:8:"), "{said}");
}
