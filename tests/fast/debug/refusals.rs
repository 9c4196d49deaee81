//! What the debugger says to commands that make no sense, and of what nobody knows.

use super::{answers, cycle, debugs, past_the_end};
use crate::support::workshop::{Workshop, example, tells};

#[test]
fn what_makes_no_sense_ends_with_its_line() {
    let workshop = past_the_end();
    let fails = |commands: &str, parts: &[&str]| {
        let (_, said, code) = debugs(&workshop, &[], commands);
        assert!(code == Some(2) || code == Some(1), "{commands}: {code:?}");
        tells(&said, parts);
    };
    fails("step\nfly", &["line 2: there is no command `fly`"]);
    fails("break 12", &["line 1: ", "write `L12` for the line"]);
    fails(
        "break L5",
        &["nothing on line 5 ran; the nearest that did: "],
    );
    fails(
        "break other.futil:5",
        &["the design has no file `other.futil`"],
    );
    fails("break main.putt", &["is it `main.put`?"]);
    fails("goto 1000000", &["the run has the cycles 0.."]);
    fails("until main.put#9", &["`main.put` ran 4 times"]);
    fails("until main.put#0", &["no number of an activation"]);
    fails("finish 99", &["there is no #99"]);
    fails("last at", &["nothing changed `main.at.out` before cycle 0"]);
    fails("print main.at.out +", &["line 1: "]);
    fails("print nothing", &["line 1: "]);
    fails("list L99999", &["the file has no such line"]);
    fails("delete 3", &["there is no breakpoint 3"]);
    fails("step x", &["`x` is no number of cycles"]);
    // Something else than what was profiled.
    let text = workshop.read("out/summary.json");
    assert!(!text.contains("\"data\""), "it has no data");
    workshop.write("other.json", r#"{"words": {"data": [9, 9, 9, 9, 9, 9], "format": {"numeric_type": "bitnum", "is_signed": false, "width": 32}}}"#);
    let (_, said, code) = debugs(&workshop, &["--data", "other.json"], "print at");
    assert_eq!(code, Some(1));
    tells(&said, &["the data are not those of the run"]);
}

#[test]
fn a_cell_that_is_one_with_others_says_so() {
    let workshop = Workshop::empty();
    let design = example("distances.futil");
    workshop.succeeds(&["run", &design, "-q", "--out", "out"]);
    let options = ["--design", &design];
    let (told, _, _) = debugs(&workshop, &options, "goto 8\nprint dx\nlast dx\nprint i");
    let joined = "the compiler made one cell of this and `";
    assert_eq!(told.matches(joined).count(), 2, "{told}");
    workshop.succeeds(&["run", &design, "-q", "--out", "out", "-d", "cell-share"]);
    let (told, _, _) = debugs(&workshop, &options, "goto 8\nprint dx");
    assert!(!told.contains(joined), "{told}");
}

#[test]
fn what_is_cut_off_has_no_beginning() {
    let workshop = Workshop::empty();
    let window = "main.while@L87..50";
    let design = example("matmul.futil");
    workshop.succeeds(&["run", &design, "-q", "--out", "out", "--window", window]);
    let commands = [
        "where",
        "next",
        "where",
        "goto 0",
        "break main.seq@L79",
        "c",
    ];
    let answers = answers(&workshop, &[], &commands.map(str::to_owned));
    tells(&answers[0], &["cycle 0 of 0..612: not kept"]);
    let first = cycle(&answers[1]);
    tells(&answers[2], &[&format!("since {first} or before")]);
    // The only run of this statement began before.
    tells(&answers[4], &["in 0 cycles of the run"]);
    tells(&answers[5], &["the run ends here"]);
    let (_, said, code) = debugs(&workshop, &[], "until main.multiply#2");
    assert_eq!(code, Some(2));
    tells(&said, &["not numbered where the trace lacks cycles"]);
}
