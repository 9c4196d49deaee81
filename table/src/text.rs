//! How texts and numbers are shown: on a terminal, in Markdown and in URIs.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    grouped(&number.to_string())
}

/// So many of something: `1 cycle`, `2,000 cycles`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(count))
}

/// `a, b and c`; of very many the first ones, and how many others.
pub fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    const FIRST: usize = 8;
    if names.len() > MOST {
        let (first, others) = names.split_at(FIRST);
        return format!("{} and {} others", first.join(", "), others.len());
    }
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// `-1234` as `-1,234` and `1234` as `+1,234`.
pub fn signed(number: i64) -> String {
    let sign = if number < 0 { '-' } else { '+' };
    format!("{sign}{}", thousands(number.unsigned_abs()))
}

/// `number` with commas between the thousands of its whole part.
pub fn grouped(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let first = usize::from(number.starts_with('-'));
    let mut text = String::new();
    for (at, digit) in number.chars().enumerate() {
        if at > first && at < whole && (whole - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `part / whole`, with two decimals where it is no whole number: `1,234.50`.
pub fn amount(part: u128, whole: u128) -> String {
    let hundredths = (part * 100 + whole / 2) / whole;
    match (hundredths / 100, hundredths % 100) {
        (number, 0) => grouped(&number.to_string()),
        (number, rest) => grouped(&format!("{number}.{rest:02}")),
    }
}

/// `part / whole` as `12.3 %`.
pub fn share(part: u128, whole: u128) -> String {
    let parts = (part * 1000 + whole / 2) / whole.max(1);
    format!("{}.{} %", parts / 10, parts % 10)
}

/// `text` without what would change a terminal: control characters other than tabs are shown as
/// `\u{fffd}`.
pub fn printable(text: &str) -> String {
    let harmless = |c: char| c == '\t' || !c.is_control();
    text.chars()
        .map(|c| if harmless(c) { c } else { '\u{fffd}' })
        .collect()
}

/// A path in a URI (RFC 3986): what is no letter, digit or one of `/-._~` is written in percent.
pub fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// The beginning of `text`, in at most `width` columns, with `…` for what is left out.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let front = fitting(text.chars(), width.saturating_sub(1));
    format!("{}…", front.trim_end())
}

/// `text` in at most `width` columns, with `…` for what is left out of its middle: names differ at
/// their ends.
pub fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let front = fitting(text.chars(), (width - 1) / 2);
    let back = fitting(text.chars().rev(), width - 1 - (width - 1) / 2);
    let rest: String = back.chars().rev().collect();
    format!("{front}…{rest}")
}

/// The first of `chars` that fit in `width` columns.
fn fitting(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut taken = 0;
    chars
        .take_while(|c| {
            taken += c.width().unwrap_or(0);
            taken <= width
        })
        .collect()
}

/// `text` so that Markdown shows it as it is, in a cell of a table.
pub fn markdown(text: &str) -> String {
    let mut escaped = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // Between letters it emphasises nothing.
            '_' if before.is_alphanumeric() && next.is_alphanumeric() => escaped.push('_'),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '$' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn a_sign_is_no_digit() {
        let numbers = ["-512", "-1512", "512", "1512.25", "-123456.5"];
        let expected = ["-512", "-1,512", "512", "1,512.25", "-123,456.5"];
        assert_eq!(numbers.map(grouped), expected);
    }
}
