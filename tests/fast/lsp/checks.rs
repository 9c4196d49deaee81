//! What `petal check` finds, in an editor.

use serde_json::{Value, json};

use super::line_of;
use crate::support::editor::Editor;
use crate::support::workshop::{Workshop, tells};

const RACE: &str = r#"import "primitives/core.futil";
import "primitives/memories/seq.futil";
import "store.futil";
component main() -> () {
  cells { r = std_reg(8); s = std_reg(8); @external m = seq_mem_d1(8, 3, 2); other = store(); }
  wires {
    group put { r.in = 8'd5; r.write_en = 1'd1; put[done] = r.done; }
    group get { s.in = r.out; s.write_en = 1'd1; get[done] = s.done; }
    group beyond { m.addr0 = 2'd3; m.content_en = 1'd1; m.write_en = 1'd1; m.write_data = 8'd1; beyond[done] = m.done; }
  }
  control {
    seq {
      beyond;
      invoke other[m = m]()();
      par {
        put;
        get;
      }
    }
  }
}
"#;

const STORE: &str = r#"import "primitives/memories/seq.futil";
component store() -> () {
  cells { ref m = seq_mem_d1(8, 3, 2); }
  wires {
    group more { m.addr0 = 2'd3; m.content_en = 1'd1; m.write_en = 1'd1; m.write_data = 8'd1; more[done] = m.done; }
  }
  control { seq { more; more; } }
}
"#;

#[test]
fn races_and_addresses_are_told_until_their_lines_change() {
    let workshop = Workshop::empty();
    workshop.write("race.futil", RACE);
    workshop.write("store.futil", STORE);
    let mut editor = Editor::new(&workshop);
    editor.open("race.futil", RACE);
    let check = editor.command("petal.check", "race.futil", 1);
    let found = editor.gets("workspace/executeCommand", check);
    assert_eq!(found["found"], "1 race, 2 accesses beyond a memory");
    assert!(!workshop.path("petal-out").exists());
    let all = editor.told("textDocument/publishDiagnostics")["diagnostics"].take();
    let begins = |all: &Value| -> Vec<u64> {
        let all = all.as_array().unwrap().iter();
        let line = |of: &Value| of["range"]["start"]["line"].as_u64().unwrap() + 1;
        all.map(line).collect()
    };
    let [put, get, beyond] = ["  put;", "  get;", "  beyond;"].map(|part| line_of(RACE, part));
    // What another file does is no line of this one.
    assert_eq!(begins(&all), [get, beyond, 1], "{all:#}");
    tells(
        all[0]["message"].as_str().unwrap(),
        &["main.r: read by get", "write by put"],
    );
    tells(
        all[2]["message"].as_str().unwrap(),
        &["main.m[3]: write of [3] by more (store.futil:7)"],
    );
    let other = &all[0]["relatedInformation"][0];
    assert_eq!(other["message"], "write by put");
    assert_eq!(other["location"]["range"]["start"]["line"], put - 1);
    assert_eq!(all[0]["severity"], 1);

    editor.edit("race.futil", [(0, 0), (0, 0)], "// new\n");
    let moved = editor.told("textDocument/publishDiagnostics")["diagnostics"].take();
    assert_eq!(begins(&moved), [get + 1, beyond + 1, 1]);
    // One of its two lines is another one.
    let at = u32::try_from(get).unwrap();
    editor.edit("race.futil", [(at, 0), (at, 0)], "  ");
    let left = editor.told("textDocument/publishDiagnostics")["diagnostics"].take();
    assert_eq!(begins(&left), [beyond + 1, 1]);
    let close = editor.of("race.futil");
    editor.tell("textDocument/didClose", close);
    assert_eq!(
        editor.told("textDocument/publishDiagnostics")["diagnostics"],
        json!([])
    );
}
