//! Changes of a text as patches, which `patch -p1` and `git apply` take.

use std::ffi::OsStr;
use std::fmt::Write as _;

use similar::TextDiff;

/// A patch that makes `after` of `before`, which is called `name`; empty if they are equal.
pub(crate) fn patch(name: &OsStr, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let names = ["a", "b"].map(|side| header(side, name));
    unified(before, after, 3, Some(names))
}

/// The lines that change, each with one before and after it, without the names of files.
pub(crate) fn hunks(before: &str, after: &str) -> String {
    unified(before, after, 1, None)
}

fn unified(before: &str, after: &str, context: usize, names: Option<[String; 2]>) -> String {
    // A carriage return within a line is none of its end.
    let [before, after] =
        [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&before, &after);
    let mut unified = diff.unified_diff();
    unified.context_radius(context);
    if let Some([before, after]) = names {
        unified.header(&before, &after);
    }
    unified.to_string()
}

/// The name of a file below a folder, as GNU diff and git write it: with a tab behind it if there is a space in it, and
/// quoted if there is anything in it that would end it otherwise.
fn header(folder: &str, name: &OsStr) -> String {
    let bytes = name.as_encoded_bytes();
    let is_odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'\\');
    match name.to_str() {
        Some(name) if !bytes.iter().any(is_odd) => {
            let tab = if name.contains(' ') { "\t" } else { "" };
            format!("{folder}/{name}{tab}")
        }
        _ => {
            let mut quoted = format!("\"{folder}/");
            for &byte in bytes {
                match byte {
                    b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                    b' '..=b'~' => quoted.push(char::from(byte)),
                    _ => {
                        let _ = write!(quoted, "\\{byte:03o}");
                    }
                }
            }
            quoted + "\""
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn ends_of_lines_and_names_are_kept() {
        let before = "one\r\ntwo\nthree";
        let after = "one\r\n2\nthree";
        expect![[r#"
            "--- a/x.futil\n+++ b/x.futil\n@@ -1,3 +1,3 @@\n one\r\n-two\n+2\n three\n\\ No newline at end of file\n""#]]
        .assert_eq(&format!("{:?}", patch(OsStr::new("x.futil"), before, after)));
        let headers = ["two words.futil", "a\"b.futil", "tab\t.futil", "é.futil"];
        let headers = headers.map(|name| header("a", OsStr::new(name)));
        expect![[r#"
            [
                "a/two words.futil\t",
                "\"a/a\\\"b.futil\"",
                "\"a/tab\\011.futil\"",
                "a/é.futil",
            ]
        "#]]
        .assert_debug_eq(&headers);
        assert_eq!(patch(OsStr::new("x"), "same", "same"), "");
    }
}
