//! Values of options that are more than a text: what they may look like, and what is said of those that do not.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

/// A number of bytes: with K, M, G or T, of so many times 1024 of them.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].trim().to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let size = shift.and_then(|shift| digits.parse::<u64>().ok()?.checked_mul(1 << shift));
    size.ok_or_else(|| "write a whole number with K, M, G or T, such as 20G".to_owned())
}

/// A number of cycles: with k, M or G, of so many times 1000 of them; `_` may part the digits.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    let text = text.replace('_', "");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match &text[digits.len()..] {
        "" => Some(1),
        "k" | "K" => Some(1_000),
        "m" | "M" => Some(1_000_000),
        "g" | "G" => Some(1_000_000_000),
        _ => None,
    };
    let count = factor.and_then(|factor| digits.parse::<u64>().ok()?.checked_mul(factor));
    count.ok_or_else(|| "write a whole number, such as 5000, 1_000_000, 20k or 1M".to_owned())
}

/// A primitive and after how many cycles it is done: `std_mult_pipe=1`, or `std_mult_pipe=1..8` for each of these.
pub(super) fn parse_latency(text: &str) -> Result<(String, RangeInclusive<u32>), String> {
    let parts = text.split_once('=');
    let latency = parts.and_then(|(name, cycles)| {
        let (first, last) = cycles.split_once("..").unwrap_or((cycles, cycles));
        let cycles = first.parse().ok()?..=last.parse().ok()?;
        (!name.is_empty() && *cycles.start() > 0 && !cycles.is_empty())
            .then(|| (name.to_owned(), cycles))
    });
    latency.ok_or_else(|| {
        "write a primitive and a number of cycles from 1 on, such as std_mult_pipe=1 or std_mult_pipe=1..8".to_owned()
    })
}

/// A group or `invoke`, and how many cycles it takes: `main.load=2`.
pub(super) fn parse_run(text: &str) -> Result<(String, u32), String> {
    let parts = text.rsplit_once('=');
    let run = parts.and_then(|(name, cycles)| Some((name.to_owned(), cycles.parse().ok()?)));
    run.filter(|(name, cycles)| !name.is_empty() && *cycles > 0)
        .ok_or_else(|| {
            "write a group and a number of cycles from 1 on, such as main.load=2".to_owned()
        })
}

/// A name for the last folder of a path.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    if matches!(text, "" | "." | "..") || text.contains(['/', '\0']) {
        return Err("write a name without `/`; `--out DIR` chooses the folder".to_owned());
    }
    Ok(text.to_owned())
}

/// Some cycles: `A..B`, `A..` or `..B`.
pub fn parse_cycles(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text
        .split_once("..")
        .ok_or("write two cycle numbers with `..` between them, such as 0..10")?;
    let number = |text: &str, default: u64| {
        if text.is_empty() {
            Ok(default)
        } else {
            text.parse()
                .map_err(|_| format!("`{text}` is no cycle number"))
        }
    };
    let range = number(from, 0)?..number(to, u64::MAX)?;
    if range.is_empty() {
        return Err(format!("there is no cycle in {text}"));
    }
    Ok(range)
}

/// A time: seconds, or minutes with `m` or hours with `h`.
pub(super) fn parse_time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match text[digits.len()..].trim() {
        "" | "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let seconds = factor.and_then(|factor| digits.parse::<u64>().ok()?.checked_mul(factor));
    let seconds = seconds.filter(|seconds| *seconds > 0);
    let time = seconds.map(Duration::from_secs);
    time.ok_or_else(|| "write a time such as 60s, 5m or 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_short() {
        for (text, count) in [
            ("5000", 5_000),
            ("1_000_000", 1_000_000),
            ("20k", 20_000),
            ("1M", 1_000_000),
            ("2G", 2_000_000_000),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "k", "1.5M", "-1", "1T", "99999999999999G"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
