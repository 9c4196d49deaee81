use expect_test::{Expect, expect};

use petal_metadata::Id as _;

use super::*;
use crate::signals::Signal;

const HEADER: &str = "$scope module toplevel $end $scope module main $end
$var wire 1 ! clk $end $var wire 1 \" go $end $var wire 1 & reset $end $var wire 1 # done $end $var wire 1 $ marker_in $end
$var wire 1 % a $end $var wire 8 ab b $end
$upscope $end $upscope $end $enddefinitions $end
";

/// Before the run, two cycles, and its end.
const BODY: &str = "\
#0\n0!\n0\"\n0#\n0%\nb0 ab\n#5\n1!\n1\"\n1%\n#10\n0!\n#15\n1!\n0%\nb101 ab\n#20\n0!\n#25\n1!\n1#\n\
#30\n0!\n#35\n1!\n0#\n#40\n0!\n";

fn read(file: &str) -> String {
    let main = |name: &str| Signal {
        scope: vec!["toplevel".to_owned(), "main".to_owned()],
        name: name.to_owned(),
    };
    let table = SignalTable {
        watched: vec![main("a"), main("b")],
        clock: main("clk"),
        tick: main("tick"),
        reset: main("reset"),
        go: main("go"),
        done: main("done"),
        marker: main("marker"),
    };
    let mut lines: Vec<String> = Vec::new();
    let mut source = match VcdSource::new(file.as_bytes(), &table) {
        Ok(source) => source,
        Err(error) => return error.to_string(),
    };
    loop {
        let goes_on = source.next_cycle();
        for Warning {
            cycle,
            signal,
            text,
        } in source.take_warnings()
        {
            lines.push(format!("cycle {}: {signal} {text}", cycle.cycles()));
        }
        match goes_on {
            Ok(true) => {
                let changes = source.changes().iter();
                let changes: Vec<String> = changes
                    .map(|change| format!("{}={}", ["a", "b"][change.slot.index()], change.value))
                    .collect();
                lines.push(changes.join(" "));
            }
            Ok(false) => break,
            Err(error) => {
                lines.push(error.to_string());
                break;
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn check(body: &str, expected: &Expect) {
    let scanned = read(&format!("{HEADER}{body}"));
    let by_the_crate = read(&format!("{HEADER}$comment $end {body}"));
    assert_eq!(scanned, by_the_crate);
    expected.assert_eq(&scanned);
}

/// Whatever is done to the body is no error, and makes no difference.
fn same(change: impl Fn(&str) -> String) {
    check(
        &change(BODY),
        &expect![["
        a=1
        a=0 b=5
    "]],
    );
}

#[test]
fn a_waveform_in_many_forms() {
    same(str::to_owned);
    same(|body| body.replace('\n', "\r\n"));
    same(|body| body.replace("1!\n", "1!\r\n"));
    same(|body| body.replace("1%\n", "1 %\n"));
    same(|body| body.replace("b101 ab\n", "b101  ab\n"));
    same(|body| body.replace("#15\n", "#15\n#15\n"));
    same(|body| body.replace("#15\n1!\n", "#15\n1!\n#15\n"));
    same(|body| body.replace("0%\nb0", "$dumpvars\n0%\n$end\nb0"));
}

#[test]
fn codes_of_any_length() {
    for code in ["x", "xy", "xyz", "wxyz", "stuvwxyz", "rstuvwxyz"] {
        let with = |text: &str| {
            text.replace(" ab", &format!(" {code}"))
                .replace("%\n", &format!("{code}!\n"))
        };
        let file = with(&format!("{HEADER}{BODY}")).replace("% a", &format!("{code}! a"));
        expect![["
            a=1
            a=0 b=5
        "]]
        .assert_eq(&read(&file));
    }
}

#[test]
fn values_of_other_signals_are_checked_too() {
    check(
        &BODY.replace("1%\n", "b012 zz\n"),
        &expect![[r#"
            the waveform is no valid VCD (line 14): invalid VCD logic value; simulate the design again
        "#]],
    );
}

#[test]
fn what_is_x_or_z() {
    // In the first cycle alone, and in the second.
    check(
        &BODY.replace("1%\n", "x%\n"),
        &expect![[r#"
        cycle 0: toplevel.main.a is x or z; taken as 0

        b=5
    "#]],
    );
    check(
        &BODY.replace("b101", "bx01"),
        &expect![[r#"
        a=1
        cycle 1: toplevel.main.b is x or z; taken as 0
        a=0
    "#]],
    );
    check(
        &BODY.replace("1#\n", "x#\n"),
        &expect![[r#"
            a=1
            a=0 b=5
            the waveform is odd in cycle 2, which ends at time 35: `done` is x or z; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    check(
        &BODY.replace("#20\n0!", "#20\nx!"),
        &expect![[r#"
            a=1
            the waveform is odd in cycle 1, which ends at time 25: the clock is x or z; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    // Before the run, nobody minds.
    same(|body| {
        body.replace("#0\n0!\n0\"\n0#\n0%", "#0\nx!\nx\"\nx#\nx%")
            .replace("1\"\n", "1\"\n0#\n")
    });
}

#[test]
fn a_run_begins_after_the_reset() {
    // `go` is high all the time, and so are the probes.
    same(|body| {
        let reset = "#0\n0!\n1\"\n1&\n0#\n1%\nb0 ab\n#2\n1!\n#6\n0!\n";
        body.replace("#0\n0!\n0\"\n0#\n0%\nb0 ab\n#5\n1!\n1\"\n1%\n", reset)
            .replace("#10\n", "#7\n1!\n0&\n#10\n")
    });
    check(
        &BODY.replace("#15\n1!\n", "#15\n1!\n1&\n"),
        &expect![[r#"
            a=1
            the waveform is odd in cycle 1, which ends at time 25: the design is reset in the middle of its run; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    check(
        &BODY.replace("#15\n1!\n", "#15\n1!\nx&\n"),
        &expect![[r#"
            a=1
            the waveform is odd in cycle 1, which ends at time 25: `reset` is x or z; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    check(
        &BODY.replace("#15\n1!\n", "#15\n1!\n0\"\n"),
        &expect![[r#"
            a=1
            cycle 1: toplevel.main.go is low before the design is done; it may wait
            a=0 b=5
        "#]],
    );
    let without = HEADER.replace("$var wire 1 & reset $end", "");
    expect!["the waveform lacks 1 of 1 signals that petal needs, the first is `toplevel.main.reset`; simulate the design again with all of its signals traced"].assert_eq(&read(&format!("{without}{BODY}")));
}

#[test]
fn clocks_that_lose_or_add_cycles() {
    // An edge is missing.
    check(
        &BODY.replace("#15\n1!\n", "#15\n"),
        &expect![[r#"
            b=5
            the waveform is odd in cycle 1, which ends at time 35: the cycle takes 10 units of time, but the first one 20; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    check(
        &BODY.replace("#20\n0!\n", "#20\n"),
        &expect![[r#"
            a=1
            the waveform is odd in cycle 1, which ends at time 35: the cycle takes 20 units of time, but the first one 10; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    // One is too many: at a time of its own, and together with another one.
    check(
        &BODY.replace("#20\n0!\n", "#18\n0!\n#19\n1!\n#20\n0!\n"),
        &expect![[r#"
            a=1
            the waveform is odd in cycle 1, which ends at time 19: the cycle takes 4 units of time, but the first one 10; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    check(
        &BODY.replace("#20\n0!\n", "#20\n0!\n1!\n0!\n"),
        &expect![[r#"
            a=1
            the waveform is odd in cycle 1, which ends at time 25: the clock changes more than once at one time; simulate the design again, with one reset before the run and a clock that ticks evenly
        "#]],
    );
    // There is no clock at all.
    check(
        &BODY.replace("1!\n", "0!\n"),
        &expect![[r#"
        the waveform ends after 0 cycles, before the design is done; simulate it to its end
    "#]],
    );
    // Periods of 6.67 units.
    same(|body| {
        body.replace("#15", "#12")
            .replace("#20", "#14")
            .replace("#25", "#18")
            .replace("#30", "#22")
            .replace("#35", "#25")
    });
}

#[test]
fn time_that_goes_back() {
    check(
        &BODY.replace("#20", "#12"),
        &expect![[r#"
        the waveform is no valid VCD: time 12 comes after time 15; simulate the design again
    "#]],
    );
}
