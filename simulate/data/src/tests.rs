//! Tests of the data format: texts in, texts out.

mod formats;
mod random;

use std::path::Path;

use super::*;
use expect_test::{Expect, expect};

fn layout(name: &str, width: u32, dims: &[u64]) -> MemoryLayout {
    MemoryLayout {
        name: name.to_owned(),
        width,
        dims: dims.to_vec(),
    }
}

fn parse(text: &str) -> Result<Data, Error> {
    Data::parse(text, Path::new("in.json"))
}

/// A file with one memory `m`.
fn file(data: &str, format: &str) -> String {
    format!("{{\n  \"m\": {{\"data\": {data}, \"format\": {{{format}}}}}\n}}\n")
}

const BITNUM: &str = r#""numeric_type": "bitnum", "is_signed": false, "width": 8"#;
const SIGNED: &str = r#""numeric_type": "bitnum", "is_signed": true, "width": 8"#;
const FIXED: &str =
    r#""numeric_type": "fixed_point", "is_signed": true, "width": 8, "int_width": 4"#;

/// The words of the memory, in hexadecimal.
fn check_words(data: &str, format: &str, expected: &Expect) {
    let data = parse(&file(data, format)).unwrap();
    let memory = &data.memories()[0];
    let words: Vec<String> = (0..memory.size())
        .map(|index| memory.words().get(&index).cloned().unwrap_or_default())
        .map(|word| format!("{word:x}"))
        .collect();
    expected.assert_eq(&words.join(" "));
}

fn check_error(text: &str, expected: &Expect) {
    expected.assert_eq(&parse(text).unwrap_err().to_string());
}

#[test]
fn values_become_bits() {
    check_words(
        "[0, 255, 1e2, 12.0, \"7\", \"9/3\"]",
        BITNUM,
        &expect!["0 ff 64 c 7 3"],
    );
    check_words(
        "[0, 127, -128, -1, \"-2\"]",
        SIGNED,
        &expect!["0 7f 80 ff fe"],
    );
    check_words(
        "[1, 1.5, -0.25, \"-8\", 7.9375, \"1/16\"]",
        FIXED,
        &expect!["10 18 fc 80 7f 1"],
    );
    check_words(
        "[1.25, 127.984375]",
        r#""numeric_type": "fixed_point", "is_signed": false, "width": 13, "frac_width": 6"#,
        &expect!["50 1fff"],
    );
    check_words(
        "[340282366920938463463374607431768211455, \"18446744073709551616\"]",
        r#""numeric_type": "bitnum", "is_signed": false, "width": 128"#,
        &expect!["ffffffffffffffffffffffffffffffff 10000000000000000"],
    );
}

#[test]
fn dimensions_are_row_major() {
    check_words(
        "[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]",
        BITNUM,
        &expect!["1 2 3 4 5 6 7 8 9 a b c"],
    );
}

#[test]
fn values_that_do_not_fit_are_named() {
    check_error(
        &file("[[1, 2], [3, 256]]", BITNUM),
        &expect![[r#"
            the memories do not fit:
            in.json:2:30: memory `m[1][1]`: 256 is out of range: unsigned bitnum of width 8 is 0 to 255"#]],
    );
    check_error(
        &file("[-129]", SIGNED),
        &expect![[r#"
            the memories do not fit:
            in.json:2:18: memory `m[0]`: -129 is out of range: signed bitnum of width 8 is -128 to 127"#]],
    );
    check_error(
        &file("[1.5]", BITNUM),
        &expect![[r#"
            the memories do not fit:
            in.json:2:18: memory `m[0]`: 1.5 cannot be stored exactly as unsigned bitnum of width 8; the nearest number is 2"#]],
    );
    check_error(
        &file("[8]", FIXED),
        &expect![[r#"
            the memories do not fit:
            in.json:2:18: memory `m[0]`: 8 is out of range: signed fixed_point of width 8 with 4 fraction bits is -8 to 7.9375"#]],
    );
}

#[test]
fn values_that_are_not_numbers_are_named() {
    for value in [
        "null",
        "true",
        "{}",
        "\"\"",
        "\"-\"",
        "\"x\"",
        "\"1/0\"",
        "\".5\"",
        "\"1.\"",
        "\"0x10\"",
        "\"1e999999999999\"",
        "1e999999",
        "\"١\"",
    ] {
        let error = parse(&file(&format!("[{value}]"), BITNUM))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("is not a number"), "{value}: {error}");
    }
}

#[test]
fn shapes_that_are_no_rectangle_are_named() {
    check_error(
        &file("[[1, 2], [3]]", BITNUM),
        &expect![[r#"
            the memories do not fit:
            in.json:2:26: memory `m[1]`: expected a list of 2 here, as before it, but found a list of 1"#]],
    );
    check_error(
        &file("[1, [2]]", BITNUM),
        &expect![[r#"
            the memories do not fit:
            in.json:2:21: memory `m[1]`: expected a number here, as before it, but found a list"#]],
    );
    check_error(
        &file("[[1], 2]", BITNUM),
        &expect![[r#"
            the memories do not fit:
            in.json:2:23: memory `m[1]`: expected a list of 1 here, as before it, but found a single value"#]],
    );
    check_error(
        &file("[[], 2]", BITNUM),
        &expect![[r#"
            the memories do not fit:
            in.json:2:22: memory `m[1]`: expected a list of 0 here, as before it, but found a single value"#]],
    );
    check_error(
        &file("[[[[[1]]]]]", BITNUM),
        &expect![[r"
            the memories do not fit:
            in.json:2:21: memory `m`: a memory has at most 4 dimensions"]],
    );
    check_error(
        &file("3", BITNUM),
        &expect![[r"
            the memories do not fit:
            in.json:2:17: memory `m`: the data must be a list"]],
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(parse(&file(&deep, BITNUM)).is_err());
}

#[test]
fn json_errors_have_their_place() {
    check_error(
        "{\n  \"m\": [1,\n}",
        &expect!["in.json:3:1: expected value"],
    );
    check_error("", &expect!["in.json:1:1: EOF while parsing a value"]);
    check_error(
        "[1]",
        &expect![
            "in.json:1:1: invalid type: sequence, expected an object with a member for each memory"
        ],
    );
    check_error(
        "{\"m\": 3}",
        &expect![
            "in.json:1:7: memory `m`: invalid type: integer `3`, expected an object with `data` and `format`"
        ],
    );
    check_error(
        "{\"m\": [1, 2]}",
        &expect![
            "in.json:1:7: memory `m`: a list of values does not tell their `format`; write `{\"data\": [...], \"format\": {...}}`"
        ],
    );
    check_error(
        "{\n\"m\": {\"data\": [1]\n}}",
        &expect!["in.json:3:1: memory `m`: missing field `format`"],
    );
    check_error(
        "{\n\"m\": {\"data\": [1],\n  \"format\": {\"numeric_type\": \"float\"}}}",
        &expect![
            "in.json:3:36: memory `m`: unknown variant `float`, expected one of `bitnum`, `fixed_point`, `ieee754_float`"
        ],
    );
    check_error(
        &file(
            "[1]",
            r#""numeric_type": "bitnum", "is_signed": false, "width": 0"#,
        ),
        &expect!["in.json:2:32: memory `m`: the format's `width` must be 1 to 65536"],
    );
    check_error(
        &file(
            "[1]",
            r#""numeric_type": "fixed_point", "is_signed": false, "width": 4"#,
        ),
        &expect![
            "in.json:2:32: memory `m`: a `fixed_point` format needs two of `width`, `int_width` (the bits before the binary point) and `frac_width` (those after it)"
        ],
    );
    check_error(
        &file(
            "[1]",
            r#""numeric_type": "fixed_point", "is_signed": false, "width": 4, "int_width": 5"#,
        ),
        &expect![
            "in.json:2:32: memory `m`: the bits before and after the binary point must add up to the `width` of 4"
        ],
    );
}

#[test]
fn names_are_checked() {
    let memory = format!("{{\"data\": [1], \"format\": {{{BITNUM}}}}}");
    check_error(
        &format!("{{\"m\": {memory},\n\"m\": {memory},\n\"../m\": {memory}}}"),
        &expect![[r"
            the memories do not fit:
            in.json:2:6: memory `m`: the file has it more than once
            in.json:3:9: memory `../m`: this is not the name of a Calyx cell"]],
    );
}

#[test]
fn all_that_does_not_fit_the_design_is_listed() {
    let memory = format!("{{\"data\": [1, 2], \"format\": {{{BITNUM}}}}}");
    let mut data = parse(&format!(
        "{{\"a\": {memory},\n\"b\": {memory},\n\"c\": {memory}}}"
    ))
    .unwrap();
    data.check(&[
        layout("a", 8, &[2]),
        layout("b", 8, &[2]),
        layout("c", 8, &[2]),
    ])
    .unwrap();
    let error = data
        .check(&[
            layout("a", 9, &[2, 3]),
            layout("b", 8, &[2]),
            layout("d", 4, &[7]),
        ])
        .unwrap_err();
    expect![[r#"
        the memories do not fit:
        in.json:1:7: memory `a`: the format's width is 8, but the design's memory has 9 bits per word
        in.json:1:7: memory `a`: the data is a list of 2, but the design's memory is nested lists of 2 x 3
        in.json:3:6: memory `c`: the design has no `@external` memory of this name; it has `a`, `b`, `d`
        in.json: memory `d`: the file does not have it; add `"data"` (a list of 7) and `"format"` (width 4)"#]]
    .assert_eq(&error.to_string());
}

#[test]
fn zeros_fit_their_layouts() {
    let layouts = [layout("a", 4, &[2]), layout("b", 100, &[2, 1, 2])];
    let mut zeros = Data::zeros(&layouts);
    zeros.check(&layouts).unwrap();
    expect![[r#"
        {
          "a": {
            "data": [0, 0],
            "format": {
              "numeric_type": "bitnum",
              "is_signed": false,
              "width": 4
            }
          },
          "b": {
            "data": [
              [
                [0, 0]
              ],
              [
                [0, 0]
              ]
            ],
            "format": {
              "numeric_type": "bitnum",
              "is_signed": false,
              "width": 100
            }
          }
        }
    "#]]
    .assert_eq(&zeros.to_json());
}

#[test]
fn memory_files_are_written_and_read() {
    let dir = tempfile::tempdir().unwrap();
    let data = parse(&file("[[1, -1], [5, 6]]", SIGNED)).unwrap();
    data.write_dat(dir.path()).unwrap();
    assert_eq!(
        std::fs::read_to_string(dir.path().join("m.dat")).unwrap(),
        "01\nff\n05\n06\n"
    );
    let out = dir.path().join("m.out");
    let check = |text: &str, expected: Expect| {
        std::fs::write(&out, text).unwrap();
        let shown = match data.read_out(dir.path()) {
            Ok(after) => after.to_json().lines().skip(2).take(4).collect(),
            Err(error) => error
                .to_string()
                .replace(&out.display().to_string(), "m.out"),
        };
        expected.assert_eq(&shown);
    };
    check(
        "// a comment\n02 fE\n0\n\n80 // end\n",
        expect![[r#"    "data": [      [2, -2],      [0, -128]    ],"#]],
    );
    check(
        "02\n100\n",
        expect!["m.out:2: `100` is not a hexadecimal word of 8 bits"],
    );
    check(
        "xx\n",
        expect!["m.out:1: `xx` is not a hexadecimal word of 8 bits"],
    );
    check(
        "1\n2\n3\n",
        expect!["m.out:3: 3 words, but the memory has 4"],
    );
    check("", expect!["m.out:1: 0 words, but the memory has 4"]);
    std::fs::remove_file(&out).unwrap();
    assert!(matches!(data.read_out(dir.path()), Err(Error::Io { .. })));
}

#[test]
fn large_memories_have_only_their_words_that_are_not_0() {
    let layouts = [layout("m", 8, &[1 << 14, 1 << 40])];
    let zeros = Data::zeros(&layouts);
    let filled = zeros.filled(|_| Some([(3, 7_u8.into()), (1 << 53, 255_u8.into())].into()));
    let text = filled.to_json();
    expect![[r#"
        {
          "m": {
            "data": {
              "sizes": [
                16384,
                1099511627776
              ],
              "words": {
                "3": 7,
                "9007199254740992": 255
              }
            },
            "format": {
              "numeric_type": "bitnum",
              "is_signed": false,
              "width": 8
            }
          }
        }
    "#]]
    .assert_eq(&text);
    let mut again = parse(&text).unwrap();
    assert_eq!(again, filled);
    again.check(&layouts).unwrap();
    let dir = tempfile::tempdir().unwrap();
    again.write_dat(dir.path()).unwrap();
    let written = std::fs::read_to_string(dir.path().join("m.dat")).unwrap();
    assert_eq!(written, "@3\n07\n@20000000000000\nff\n");
}

#[test]
fn sparse_data_may_be_given_for_any_memory() {
    check_words(
        r#"{"sizes": [2, 3], "words": {"5": 1, "0": "2", "2": 0}}"#,
        BITNUM,
        &expect!["2 0 0 0 0 1"],
    );
    let check = |data: &str, expected: &Expect| check_error(&file(data, BITNUM), expected);
    check(
        r#"{"sizes": [2, 3], "words": {"6": 1}}"#,
        &expect![[r#"
        the memories do not fit:
        in.json:2:50: memory `m`: `6` is not the index of a word: there are 6, from 0 on"#]],
    );
    check(
        r#"{"sizes": [2], "words": {"-1": 1}}"#,
        &expect![[r#"
        the memories do not fit:
        in.json:2:48: memory `m`: `-1` is not the index of a word: there are 2, from 0 on"#]],
    );
    check(
        r#"{"sizes": [2], "words": {"1": 256}}"#,
        &expect![[r#"
            the memories do not fit:
            in.json:2:47: memory `m[1]`: 256 is out of range: unsigned bitnum of width 8 is 0 to 255"#]],
    );
    check(
        r#"{"sizes": [2], "words": {"1": 1, "01": 1}}"#,
        &expect![[r#"
            the memories do not fit:
            in.json:2:56: memory `m[1]`: the file has it more than once"#]],
    );
    check(
        r#"{"sizes": [1, 1, 1, 1, 1], "words": {}}"#,
        &expect![[r#"
        the memories do not fit:
        in.json:2:17: memory `m`: a memory has at most 4 dimensions"#]],
    );
    check(
        r#"{"size": [2], "words": {}}"#,
        &expect!["in.json:2:23: unknown field `size`, expected `sizes` or `words`"],
    );
}
