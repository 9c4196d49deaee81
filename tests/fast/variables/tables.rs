//! Tables of variables that are right, and such that are not: held against what upstream's own parser says of its own examples, where a
//! checkout is at hand.

use std::path::Path;
use std::{env, fs};

use petal_program::{Library, Parsed, Source};

use super::DESIGN;

/// What petal notes of a Calyx program.
fn notes(text: &str) -> Vec<String> {
    let source = Source::Text {
        name: "it.futil".into(),
        text: text.to_owned(),
    };
    let parsed = Parsed::read(source, &Library::new(&[]).unwrap()).unwrap();
    parsed.notes().to_vec()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of what can be wrong")]
fn what_is_wrong_in_a_table_is_told_with_its_line() {
    assert_eq!(notes(DESIGN), Vec::<String>::new());
    let wrong = [
        (
            "packed 4\n",
            "packed 41\n",
            "variable `b` is in memory location 41, which is not under `MEMORY_LOCATIONS`",
        ),
        (
            "8: 2\n",
            "8: 3\n",
            "position 8 has the variables 3, which are not under `VARIABLE_ASSIGNMENTS`",
        ),
        ("8: 2\n", "7: 2\n", "position 7 has its variables twice"),
        ("  2: { b", "  1: { b", "the variables 1 are there twice"),
        (
            "       n: ty i8",
            "       a: ty i8",
            "variable `a` is twice in 1",
        ),
        (
            "  1: main.rn",
            "  2: main.rn",
            "memory location 2 is there twice",
        ),
        (
            "ty 0, packed 3",
            "ty 7, packed 3",
            "type 7 is not under `TYPES`",
        ),
        ("{ u8; 4 }", "{ 9; 4 }", "type 9 is not under `TYPES`"),
        (
            "  0: { x: u4, y: i4 }",
            "  1: { x: u4, y: i4 }",
            "type 1 is there twice",
        ),
        (
            "y: i4 }",
            "y: 0 }",
            "type 0 contains itself, or nests deeper than 32",
        ),
        (
            "{ u8; 4 }",
            "{ u8; 5000 }",
            "a type has more than 4096 parts",
        ),
        (
            "ty 0, packed 3",
            "ty 0, split 3",
            "variable `p` is split into 2 parts, but has 1 memory locations",
        ),
        (
            "ty u8, packed 4",
            "ty f8, packed 4",
            "`f8` is not a type: `u8`, `i8`, `b8`, `bool` or the id of one",
        ),
        ("ty u8, packed 4", "packed 4", "`packed` is not `ty`"),
        (
            "ty u8, packed 4",
            "ty u8, packed 4 5",
            "`5` is not the name of a variable, or `}`",
        ),
        (
            "ty u8, packed 4",
            "ty u8, spread 4",
            "`spread` is not `packed` or `split`",
        ),
        (
            "main.out [2]",
            "main.out [x]",
            "`x` is not an index of a memory",
        ),
        (
            "8: 2\n",
            "8: 4294967296\n",
            "`4294967296` is not the id of a set of variables",
        ),
        (
            "VARIABLE_ASSIGNMENTS",
            "ASSIGNMENTS",
            "`ASSIGNMENTS` is not `VARIABLE_ASSIGNMENTS`, which must follow the tables before it",
        ),
        (
            "TYPES\n  0: { x: u4, y: i4 }\n  1: { u8; 4 }\n",
            "",
            "there is no `TYPES`, which must follow the tables before it before the end of the table",
        ),
    ];
    for (right, with, message) in wrong {
        assert_eq!(DESIGN.matches(right).count(), 1, "{right}");
        let text = DESIGN.replace(right, with);
        let notes = notes(&text);
        let [note] = &notes[..] else {
            panic!("{message}: {notes:?}");
        };
        let line = note.strip_prefix("it.futil:").unwrap();
        let (line, said) = line.split_once(": ").unwrap();
        assert_eq!(
            said,
            format!("{message}; no variable is shown; it is ignored")
        );
        let at: usize = line.parse().unwrap();
        let first = DESIGN[..DESIGN.find("MEMORY_LOCATIONS").unwrap()]
            .lines()
            .count();
        assert!((first..=text.lines().count()).contains(&at), "{note}");
    }
}

#[test]
fn comments_strings_and_other_spellings_are_read() {
    let text = DESIGN
        .replace(
            "MEMORY_LOCATIONS",
            "// where they lie\nmemory_locations // so it is",
        )
        .replace("1: main.rn", "1: \"main.rn\"")
        .replace("main.out [2]", "main.out[2,]")
        .replace("{ x: u4, y: i4 }", "{ \"x\": u4, 1: i4 } /* a pair */");
    assert_eq!(notes(&text), Vec::<String>::new());
}

/// Each of upstream's examples of a table, and whether upstream refuses it.
fn examples(checkout: &Path) -> Vec<(String, bool)> {
    let path = checkout.join("calyx/frontend/src/source_info.rs");
    let text = fs::read_to_string(path).unwrap();
    let tests = text.split("#[test]").skip(1);
    let examples = tests.filter_map(|test| {
        let (_, rest) = test.split_once("r#\"")?;
        let (table, rest) = rest.split_once("\"#;")?;
        Some((table.to_owned(), rest.contains("is_err()")))
    });
    examples.collect()
}

#[test]
fn upstreams_examples_are_taken_and_refused_as_upstream_does() {
    let Some(checkout) = env::var_os("CALYX_CHECKOUT") else {
        eprintln!("not run: CALYX_CHECKOUT names no checkout of the Calyx compiler");
        return;
    };
    let examples = examples(Path::new(&checkout));
    assert!(examples.iter().any(|(_, is_wrong)| *is_wrong));
    assert!(examples.iter().any(|(_, is_wrong)| !is_wrong));
    for (table, is_wrong) in examples {
        let notes = notes(&format!(
            "component main() -> () {{ cells {{}} wires {{}} control {{}} }}\n{table}"
        ));
        assert_eq!(!notes.is_empty(), is_wrong, "{table}\n{notes:?}");
    }
}
