//! The numbers of sites: what can be active in a design, or is observed of it.

use std::fmt::{self, Display, Formatter, Write as _};

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

/// The number of a site, the same in every run and on every machine.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct SiteId(pub u64);

impl SiteId {
    /// SipHash-2-4, with the key 0, of kind, file, line and path, each with a zero byte after it, and the line in decimal digits.
    pub fn new(kind: &str, place: Option<(&str, u32)>, path: &str) -> Self {
        let (file, line) = match place {
            Some((file, line)) => (file, line.to_string()),
            None => ("", String::new()),
        };
        let mut bytes = Vec::new();
        for part in [kind, file, &line, path] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
        Self(SipHasher24::new().hash(&bytes))
    }

    /// That of an observation of this kind and name.
    pub fn observed(kind: &str, name: &str) -> Self {
        Self::new(kind, None, name)
    }

    /// How all outputs write it: 16 hexadecimal digits.
    #[inline]
    pub fn digits(self) -> [u8; 16] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let bytes = self.0.to_be_bytes();
        std::array::from_fn(|at| {
            let byte = bytes[at / 2];
            let digit = if at % 2 == 0 { byte >> 4 } else { byte & 0xf };
            DIGITS[usize::from(digit)]
        })
    }
}

impl Display for SiteId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut digits = self.digits().into_iter();
        digits.try_for_each(|digit| f.write_char(digit.into()))
    }
}

impl From<SiteId> for String {
    fn from(site: SiteId) -> Self {
        site.to_string()
    }
}

impl TryFrom<String> for SiteId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let number = u64::from_str_radix(&text, 16).ok();
        let site = number.map(Self).filter(|site| site.to_string() == text);
        site.ok_or_else(|| format!("`{text}` is not the number of a site: 16 hexadecimal digits"))
    }
}
