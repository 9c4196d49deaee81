//! Tests of number formats: what is rounded, floating-point numbers, and formats wider than the memory.

use expect_test::{Expect, expect};

use super::*;

/// What was rounded in the only memory, in words.
fn check_rounded(data: &str, format: &str, expected: &Expect) {
    let data = parse(&file(data, format)).unwrap();
    let rounded = match data.rounded() {
        [] => "nothing".to_owned(),
        [rounded] => format!(
            "{} by at most {:.2e}: {}",
            rounded.count, rounded.largest_error, rounded.first
        ),
        _ => unreachable!("there is one memory"),
    };
    assert_eq!(data.check_exact().is_ok(), rounded == "nothing");
    expected.assert_eq(&rounded);
}

const SINGLE: &str = r#""numeric_type": "ieee754_float", "is_signed": true, "width": 32"#;
const DOUBLE: &str = r#""numeric_type": "ieee754_float", "is_signed": false, "width": 64"#;

#[test]
fn values_between_two_numbers_are_rounded() {
    check_words(
        "[0.5, -0.1, 0.03125, -0.03125, 7.96]",
        FIXED,
        &expect!["8 fe 0 0 7f"],
    );
    check_rounded(
        "[0.5, -0.1, 0.03125, \"1/3\"]",
        FIXED,
        &expect![
            "3 by at most 3.12e-2: memory `m[1]`: -0.1 cannot be stored exactly as signed fixed_point of width 8 with 4 fraction bits; the nearest number is -0.125"
        ],
    );
    check_rounded("[0.5, \"1/16\"]", FIXED, &expect!["nothing"]);
    let format =
        r#""numeric_type": "fixed_point", "is_signed": true, "int_width": 8, "frac_width": 8"#;
    check_words("[127.46]", format, &expect!["7f76"]);
    check_rounded(
        "[127.46, 1, 2.2]",
        format,
        &expect![
            "2 by at most 9.37e-4: memory `m[0]`: 127.46 cannot be stored exactly as signed fixed_point of width 16 with 8 fraction bits; the nearest number is 127.4609375"
        ],
    );
    // It would have to be 8.
    check_error(
        &file("[7.97]", FIXED),
        &expect![[r#"
        the memories do not fit:
        in.json:2:18: memory `m[0]`: 7.97 is out of range: signed fixed_point of width 8 with 4 fraction bits is -8 to 7.9375"#]],
    );
}

#[test]
fn what_is_too_long_is_not_computed_with() {
    let long = "1".repeat(1 << 20);
    for number in [long.clone(), format!("0.{long}"), format!("\"1/{long}\"")] {
        for format in [BITNUM, FIXED, DOUBLE] {
            let error = parse(&file(&format!("[{number}]"), format)).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("no number of this format needs"), "{error}");
        }
    }
    check_words(
        &format!("[1.5{}]", "0".repeat(10_000)),
        FIXED,
        &expect!["18"],
    );
}

#[test]
fn floats_become_bits() {
    check_words(
        "[0, -0.0, 1, -2.01, 0.1, 1e-45, 3.4028235e38, \"inf\", \"-inf\", \"nan\", \"Infinity\", \"nan(0xffc00001)\"]",
        SINGLE,
        &expect![
            "0 80000000 3f800000 c000a3d7 3dcccccd 1 7f7fffff 7f800000 ff800000 7fc00000 7f800000 ffc00001"
        ],
    );
    check_words(
        "[1, 0.1, 5e-324, \"-NaN\", -1.5e300]",
        DOUBLE,
        &expect!["3ff0000000000000 3fb999999999999a 1 fff8000000000000 fe41eb2d66005835"],
    );
    check_error(
        &file("[3.5e38]", SINGLE),
        &expect![[r#"
            the memories do not fit:
            in.json:2:18: memory `m[0]`: 3.5e38 is out of range: ieee754_float of width 32 is -3.4028235e38 to 3.4028235e38"#]],
    );
    check_error(
        &file("[\"-1e999\"]", DOUBLE),
        &expect![[r#"
            the memories do not fit:
            in.json:2:18: memory `m[0]`: -1e999 is out of range: ieee754_float of width 64 is -1.7976931348623157e308 to 1.7976931348623157e308"#]],
    );
    for value in [
        "\"1/2\"",
        "\"infinite\"",
        "\"+1\"",
        "\".5\"",
        "null",
        "\"nan(0x1ffffffff)\"",
        "\"nan()\"",
    ] {
        let error = parse(&file(&format!("[{value}]"), SINGLE))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("is not a number"), "{value}: {error}");
    }
}

#[test]
fn bare_nan_and_infinity_are_read_as_python_writes_them() {
    check_words(
        "[NaN, Infinity,-Infinity , 1]",
        SINGLE,
        &expect!["7fc00000 7f800000 ff800000 3f800000"],
    );
    check_words(
        "[[NaN], [-Infinity]]",
        DOUBLE,
        &expect!["7ff8000000000000 fff0000000000000"],
    );
    check_words(
        r#"{"sizes": [2, 2], "words": {"1": NaN, "2":-Infinity}}"#,
        SINGLE,
        &expect!["0 7fc00000 ff800000 0"],
    );
    // The NaN in a string and an escape are no bare ones; what comes behind is where it was.
    check_words(
        r#"["NaN", "\u006eaN", NaN]"#,
        SINGLE,
        &expect!["7fc00000 7fc00000 7fc00000"],
    );
    check_error(
        &file("[NaN, NaN, 1e99]", SINGLE),
        &expect![[r#"
        the memories do not fit:
        in.json:2:28: memory `m[2]`: 1e99 is out of range: ieee754_float of width 32 is -3.4028235e38 to 3.4028235e38"#]],
    );
    check_error(
        &file("[1,\n [NaN]]", SINGLE),
        &expect![[r#"
        the memories do not fit:
        in.json:3:2: memory `m[1]`: expected a number here, as before it, but found a list"#]],
    );
    for data in ["[1, NaN]", "[[1], [-Infinity]]", "[\"inf\"]"] {
        let error = parse(&file(data, BITNUM)).unwrap_err().to_string();
        assert!(
            error.contains("is a value of the format ieee754_float only"),
            "{error}"
        );
    }
    check_error(
        &file("[[1], [-Infinity]]", FIXED),
        &expect![[r#"
        the memories do not fit:
        in.json:2:24: memory `m[1][0]`: `-Infinity` is a value of the format ieee754_float only, and this one is signed fixed_point of width 8 with 4 fraction bits"#]],
    );
    check_error(
        &file("NaN", SINGLE),
        &expect!["in.json:2:17: `NaN` can only be a value of a memory"],
    );
    check_error(
        &file("[nan]", SINGLE),
        &expect!["in.json:2:19: expected ident"],
    );
    check_error(
        &file("[+Infinity]", SINGLE),
        &expect!["in.json:2:18: expected value"],
    );
    check_error(
        &file("[NaN1]", SINGLE),
        &expect!["in.json:2:18: `NaN` can only be a value of a memory"],
    );
    check_error(
        &file(
            "[1]",
            r#""numeric_type": "ieee754_float", "is_signed": true, "width": NaN"#,
        ),
        &expect!["in.json:2:94: `NaN` can only be a value of a memory"],
    );
    check_error(
        "{\"m\": NaN}",
        &expect!["in.json:1:7: `NaN` can only be a value of a memory"],
    );
    check_error(
        &file(r#"{"sizes": [NaN], "words": {}}"#, SINGLE),
        &expect![[r#"in.json:2:30: invalid type: string "_", expected u64"#]],
    );
}

#[test]
fn floats_that_are_written_otherwise_count_as_rounded() {
    check_rounded(
        "[0.1, 0.10, 1e-1, -2.01, 16777216, 0.5, \"inf\", \"nan\"]",
        SINGLE,
        &expect!["nothing"],
    );
    check_rounded(
        "[0.1, 0.100000000001, 16777217]",
        SINGLE,
        &expect![
            "2 by at most 1.00e0: memory `m[1]`: 0.100000000001 cannot be stored exactly as ieee754_float of width 32; the nearest number is 0.1"
        ],
    );
    check_rounded(
        "[0.1, 0.100000000001, 9007199254740993]",
        DOUBLE,
        &expect![
            "1 by at most 1.00e0: memory `m[2]`: 9007199254740993 cannot be stored exactly as ieee754_float of width 64; the nearest number is 9007199254740992.0"
        ],
    );
}

#[test]
fn floats_come_back() {
    let data = parse(&file(
        "[0.1, -2, 1e-7, 1e30, \"inf\", \"-nan\", \"nan\"]",
        SINGLE,
    ))
    .unwrap();
    expect![[r#"
        {
          "m": {
            "data": [0.1, -2.0, 1e-7, 1e30, "inf", "nan(0xffc00000)", "nan"],
            "format": {
              "numeric_type": "ieee754_float",
              "is_signed": true,
              "width": 32
            }
          }
        }
    "#]]
    .assert_eq(&data.to_json());
}

#[test]
fn formats_may_be_wider_than_the_memory() {
    let wide = r#""numeric_type": "bitnum", "is_signed": false, "width": 32"#;
    let signed = r#""numeric_type": "bitnum", "is_signed": true, "width": 32"#;
    let check = |data: &str, format: &str, width: u32, expected: &Expect| {
        let mut data = parse(&file(data, format)).unwrap();
        let layout = layout("m", width, &[2]);
        let shown = match data.check(std::slice::from_ref(&layout)) {
            Ok(()) => {
                let words: Vec<_> = data.memories()[0].words().iter().collect();
                format!(
                    "{words:?} {}",
                    data.to_json().lines().nth(2).unwrap().trim()
                )
            }
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    };
    check("[7, 0]", wide, 3, &expect![[r#"[(0, 7)] "data": [7, 0],"#]]);
    check(
        "[1, 8]",
        wide,
        3,
        &expect![[r#"
            the memories do not fit:
            in.json:2:8: memory `m[1]`: 8 does not fit the 3 bits of a word of the design's memory"#]],
    );
    let mut nested = parse(&file("[[1, 2, 3], [4, 5, 256]]", wide)).unwrap();
    let error = nested.check(&[layout("m", 8, &[2, 3])]).unwrap_err();
    assert!(
        error.to_string().contains("memory `m[1][2]`: 256 does not"),
        "{error}"
    );
    check(
        "[-1, -4]",
        signed,
        3,
        &expect![[r#"[(0, 7), (1, 4)] "data": [-1, -4],"#]],
    );
    check(
        "[-1, 7]",
        signed,
        3,
        &expect![[r#"
            the memories do not fit:
            in.json:2:8: memory `m[1]`: 7 does not fit the 3 bits of a word of the design's memory"#]],
    );
    let fixed = r#""numeric_type": "fixed_point", "is_signed": true, "width": 16, "frac_width": 1"#;
    check(
        "[-1.5, 1]",
        fixed,
        3,
        &expect![[r#"[(0, 5), (1, 2)] "data": [-1.5, 1],"#]],
    );
    check(
        "[-1.5, 2.5]",
        fixed,
        3,
        &expect![[r#"
            the memories do not fit:
            in.json:2:8: memory `m[1]`: 2.5 does not fit the 3 bits of a word of the design's memory"#]],
    );
    check(
        "[1, 2]",
        SINGLE,
        31,
        &expect![[r#"
        the memories do not fit:
        in.json:2:8: memory `m`: the format's width is 32, but the design's memory has 31 bits per word"#]],
    );
    check(
        "[1, 2]",
        r#""numeric_type": "bitnum", "is_signed": false, "width": 2"#,
        3,
        &expect![[r#"
            the memories do not fit:
            in.json:2:8: memory `m`: the format's width is 2, but the design's memory has 3 bits per word"#]],
    );
}

/// As Python rounds, which writes the data of Calyx's own tools.
#[test]
fn halves_are_rounded_to_the_even_number() {
    // In steps of 1/16: 0.5, 1.5, 2.5, 3.5 and the same below 0.
    check_words(
        "[0.03125, 0.09375, 0.15625, 0.21875, -0.03125, -0.09375, -0.15625, -0.21875]",
        FIXED,
        &expect!["0 2 2 4 0 fe fe fc"],
    );
}
