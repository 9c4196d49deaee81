//! How much longer a run may get.

use std::fmt;
use std::str::FromStr;

use super::Change;

/// By how much the cycles of a run may grow: `2%`, `0.5%` or `100cycles`. Growth of exactly so much
/// is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A share of the cycles before, in millionths of a percent.
    Share(u64),
    /// A number of cycles.
    Cycles(u64),
}

/// Millionths of a percent in one percent.
const PERCENT: u64 = 1_000_000;

impl Limit {
    /// Whether something grew by more.
    pub fn exceeded(self, change: Change) -> bool {
        let grown = change.after.saturating_sub(change.before);
        match self {
            Self::Cycles(most) => grown > most,
            Self::Share(share) => {
                u128::from(grown) * 100 * u128::from(PERCENT)
                    > u128::from(change.before) * u128::from(share)
            }
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || format!("write a limit such as `2%` or `100cycles`, not `{text}`");
        if let Some(number) = text.strip_suffix("cycles") {
            let cycles = number.trim_end().parse().map_err(|_| problem())?;
            return Ok(Self::Cycles(cycles));
        }
        let number = text.strip_suffix('%').ok_or_else(problem)?.trim_end();
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 6 {
            return Err(problem());
        }
        let parse = |text: &str| text.parse::<u64>().map_err(|_| problem());
        parse(whole)?
            .checked_mul(PERCENT)
            .zip(parse(&format!("{decimals:0<6}")).ok())
            .and_then(|(whole, decimals)| whole.checked_add(decimals))
            .map(Self::Share)
            .ok_or_else(problem)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles(cycles) => write!(f, "{cycles}cycles"),
            Self::Share(share) => {
                let decimals = format!("{:06}", share % PERCENT);
                let decimals = decimals.trim_end_matches('0');
                let point = if decimals.is_empty() { "" } else { "." };
                write!(f, "{}{point}{decimals}%", share / PERCENT)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_written() {
        for text in ["2%", "0.5%", "0.000001%", "100cycles", "0cycles", "0%"] {
            assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
        }
        assert_eq!("2.50 %".parse::<Limit>().unwrap().to_string(), "2.5%");
        for text in [
            "2",
            "%",
            "-1%",
            ".5%",
            "2.%",
            "1e3%",
            "x cycles",
            "99999999999999999999%",
            "18446744073710%",
            "0.0000001%",
        ] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }

    #[test]
    fn exactly_the_limit_is_allowed() {
        let grows = |limit: &str, before, after| {
            let limit: Limit = limit.parse().unwrap();
            limit.exceeded(Change { before, after })
        };
        assert!(!grows("2%", 100, 102));
        assert!(grows("2%", 100, 103));
        assert!(!grows("0.1%", 1000, 1001));
        assert!(grows("0.1%", 999, 1000));
        assert!(!grows("3cycles", 10, 13));
        assert!(grows("3cycles", 10, 14));
        assert!(!grows("0%", 10, 9));
        assert!(grows("50%", 0, 1));
        assert!(!grows("50%", 0, 0));
    }
}
