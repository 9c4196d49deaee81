//! What the server does when it is told to, and what of that changes a document.

use serde_json::{Value, json};

use super::{line_of, matmul};
use crate::support::editor::Editor;
use crate::support::workshop::{FOREVER, Workshop, succeeds, tells};

#[test]
fn commands_profile_advise_and_compare() {
    let workshop = Workshop::empty();
    workshop.edited("matmul.futil", "matmul.futil", &[]);
    let text = workshop.read("matmul.futil");
    let mut editor = Editor::with(&workshop, json!({ "adviseArguments": ["--budget", "60s"] }));
    editor.open("matmul.futil", &text);
    let compare = editor.command("petal.compare", "matmul.futil", 1);
    let error = editor.fails("workspace/executeCommand", compare.clone());
    tells(
        error["message"].as_str().unwrap(),
        &["there is no profile of matmul.futil"],
    );
    let advise = editor.command("petal.advise", "matmul.futil", 1);
    let advice = editor.gets("workspace/executeCommand", advise);
    assert_eq!(advice["cycles"], 612);
    assert_eq!(advice["with_proved"], 185);
    let progress = editor.told("$/progress");
    assert_eq!(progress["value"]["kind"], "begin");
    tells(
        progress["value"]["title"].as_str().unwrap(),
        &["matmul.futil"],
    );
    editor.told("window/workDoneProgress/create");
    tells(
        editor.told("window/showMessage")["message"]
            .as_str()
            .unwrap(),
        &["612 cycles become 185"],
    );
    editor.told("workspace/inlayHint/refresh");
    assert!(workshop.path("petal-out/matmul/summary.json").exists());

    // Its advice is an edit, of this version, which is what its patch is.
    editor.edit("matmul.futil", [(0, 0), (0, 0)], "// new\n");
    let inner = line_of(&text, "while k_lt.out") + 1;
    let actions = editor.actions("matmul.futil", inner);
    let action = actions.iter().find(|action| {
        let title = action["title"].as_str().unwrap();
        title.contains("make the comb group `more_terms` continuous")
    });
    let action = action.unwrap_or_else(|| panic!("{actions:#?}"));
    tells(
        action["title"].as_str().unwrap(),
        &["saves 160 cycles, 26.1 %", "proved"],
    );
    assert_eq!(action["isPreferred"], true);
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"]["version"], 2);
    let edited = applied(
        &format!("// new\n{text}"),
        change["edits"].as_array().unwrap(),
    );
    let patch = "03-continuous-condition.patch";
    let patch = format!("petal-out/matmul/advice/{patch}");
    succeeds(workshop.run("patch").args(["-p1", "--quiet", "-i", &patch]));
    assert_eq!(edited, format!("// new\n{}", workshop.read("matmul.futil")));

    // The file is not what the editor has.
    let run = editor.command("petal.run", "matmul.futil", 1);
    let error = editor.fails("workspace/executeCommand", run.clone());
    tells(error["message"].as_str().unwrap(), &["not saved"]);
    workshop.write("matmul.futil", &edited);
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": editor.uri("matmul.futil"), "version": 3 }, "contentChanges": [{ "text": edited }] }),
    );
    let ran = editor.gets("workspace/executeCommand", run);
    assert_eq!(ran["cycles"], 452);
    // The advice was of another text.
    assert!(editor.actions("matmul.futil", inner).is_empty());
    let compared = editor.gets("workspace/executeCommand", compare);
    tells(compared["text"].as_str().unwrap(), &["612", "452"]);
}

/// A text after these edits of its lines, which do not overlap.
fn applied(text: &str, edits: &[Value]) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for edit in edits.iter().rev() {
        let line =
            |end: &str| usize::try_from(edit["range"][end]["line"].as_u64().unwrap()).unwrap();
        lines.splice(
            line("start")..line("end"),
            [edit["newText"].as_str().unwrap()],
        );
    }
    lines.concat()
}

#[test]
fn a_run_is_cancelled() {
    let workshop = Workshop::endless();
    let settings = json!({ "runArguments": ["--cycle-limit", FOREVER] });
    let mut editor = Editor::with(&workshop, settings);
    editor.open("design.futil", &workshop.read("design.futil"));
    let run = editor.command("petal.run", "design.futil", 1);
    let id = editor.ask("workspace/executeCommand", run.clone());
    let progress = editor.told("$/progress");
    editor.hears(|message| message["params"]["value"]["message"] == "1 s");
    editor.tell(
        "window/workDoneProgress/cancel",
        json!({ "token": progress["token"] }),
    );
    assert_eq!(editor.answer(id)["error"]["code"], -32800);
    let id = editor.ask("workspace/executeCommand", run.clone());
    editor.told("$/progress");
    editor.tell("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.answer(id)["error"]["code"], -32800);
    // One that is under way goes with the server.
    editor.ask("workspace/executeCommand", run);
    editor.told("$/progress");
    assert!(editor.leaves().success());
    assert!(!workshop.path("petal-out").exists());
}

#[test]
fn the_report_and_hotspots_are_opened_at_their_lines() {
    let (workshop, text) = matmul();
    let mut editor = Editor::with(&workshop, json!({ "leastPercent": 5 }));
    editor.shows("matmul.futil", &text);
    let inner = line_of(&text, "while k_lt.out");
    let open = editor.command("petal.openReport", "matmul.futil", inner);
    let opened = editor.gets("workspace/executeCommand", open);
    let uri = editor.uri(&format!("petal-out/matmul/report.html#L{inner}"));
    assert_eq!(opened["uri"], uri);
    assert_eq!(editor.told("window/showDocument")["external"], true);
    let published = editor.told("textDocument/publishDiagnostics");
    let diagnostics = published["diagnostics"].as_array().unwrap();
    assert!(
        diagnostics.iter().all(|of| of["severity"] == 4),
        "{diagnostics:?}"
    );
    let lines: Vec<u64> = diagnostics
        .iter()
        .map(|of| of["range"]["start"]["line"].as_u64().unwrap() + 1)
        .collect();
    assert!(lines.contains(&inner), "{lines:?}");
    let summary: Value =
        serde_json::from_str(&workshop.read("petal-out/matmul/summary.json")).unwrap();
    for (diagnostic, line) in diagnostics.iter().zip(&lines) {
        let listed = summary["hotspots"].as_array().unwrap().iter();
        let of_line = format!("@L{line}");
        let mut on_line = listed.filter(|of| of["name"].as_str().unwrap().ends_with(&of_line));
        assert_eq!(diagnostic["data"]["cost"], on_line.next().unwrap()["cost"]);
        assert_eq!(diagnostic["data"]["cycles"], 612);
    }
    let mut line = 1;
    for command in ["petal.nextHotspot", "petal.previousHotspot"] {
        let mut seen = Vec::new();
        for _ in &lines {
            let next = editor.command(command, "matmul.futil", line);
            let place = editor.gets("workspace/executeCommand", next);
            line = place["range"]["start"]["line"].as_u64().unwrap() + 1;
            seen.push(line);
        }
        seen.sort_unstable();
        assert_eq!(seen, lines);
        assert_eq!(editor.told("window/showDocument")["takeFocus"], true);
    }
}

#[test]
fn a_line_of_the_report_leads_to_the_source() {
    let (workshop, text) = matmul();
    let mut editor = Editor::new(&workshop);
    editor.shows("matmul.futil", &text);
    let [inner, outer] = ["while k_lt.out", "while i_lt.out"].map(|part| line_of(&text, part));
    editor.edit("matmul.futil", [(0, 0), (0, 0)], "// new\n");
    let line = u32::try_from(outer).unwrap();
    editor.edit("matmul.futil", [(line, 0), (line, 0)], "// ");
    let report = "petal-out/matmul/report.html";
    let open = |editor: &Editor, address: &str| editor.command("petal.openSource", address, 1);
    let source = open(&editor, &format!("{report}#L{inner}"));
    let place = editor.gets("workspace/executeCommand", source);
    // Lines count from 0, and there is one more than when it was profiled.
    assert_eq!(place["range"]["start"]["line"], inner);
    let shown = editor.told("window/showDocument");
    assert_eq!(shown["uri"], editor.uri("matmul.futil"));
    assert_eq!(shown["selection"], place["range"]);
    assert_eq!(shown["takeFocus"], false);
    for (address, why) in [
        (format!("{report}#L{outer}"), "is another one by now"),
        (format!("{report}#L100000"), "is another one by now"),
        (format!("{report}#F9L1"), "is no line of the report"),
        (format!("{report}#frame=3"), "is no line of the report"),
        (report.to_owned(), "is no line of the report"),
        ("report.html#L1".to_owned(), "no document that is open"),
    ] {
        let source = open(&editor, &address);
        let error = editor.fails("workspace/executeCommand", source);
        tells(error["message"].as_str().unwrap(), &[why]);
    }
}
