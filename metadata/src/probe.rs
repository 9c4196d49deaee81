//! The names of probes: how instrumentation writes them and reconstruction finds them again.
//!
//! A probe's name holds only its kind and a number; what it means is in the metadata. So no name
//! of the design is ever part of a probe name, and none has to be cut out of one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a probe means while it is high (paper, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ProbeKind {
    /// A group is active.
    GA,
    /// A group calls a group.
    CG,
    /// A group calls a cell of a user component.
    CC,
    /// A group calls a primitive.
    CP,
    /// A compilation group (a group that the Calyx compiler made to run a control node) is active.
    CA,
    /// One of several enables of a group is active.
    EN,
    /// A branch of a `static if` runs.
    BR,
}

impl ProbeKind {
    const ALL: [(Self, &'static str); 7] = [
        (Self::GA, "ga"),
        (Self::CG, "cg"),
        (Self::CC, "cc"),
        (Self::CP, "cp"),
        (Self::CA, "ca"),
        (Self::EN, "en"),
        (Self::BR, "br"),
    ];

    fn tag(self) -> &'static str {
        match self {
            Self::GA => "ga",
            Self::CG => "cg",
            Self::CC => "cc",
            Self::CP => "cp",
            Self::CA => "ca",
            Self::EN => "en",
            Self::BR => "br",
        }
    }
}

/// The common beginning of all probe names of one design, chosen so that no name of the design
/// begins with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbePrefix(String);

impl ProbePrefix {
    /// A prefix that none of `names` starts with.
    pub fn avoiding<'a>(names: &(impl IntoIterator<Item = &'a str> + Clone)) -> Self {
        let mut prefix = String::from("petal_");
        while names
            .clone()
            .into_iter()
            .any(|name| name.starts_with(&prefix))
        {
            prefix.pop();
            prefix.push_str("x_");
        }
        Self(prefix)
    }

    /// A name that begins with the prefix.
    pub fn named(&self, rest: &str) -> String {
        format!("{}{rest}", self.0)
    }

    /// The name of the marker cell in the main component that ties a simulation to the metadata
    /// with this `fingerprint` (hexadecimal digits).
    pub fn marker(&self, fingerprint: &str) -> String {
        format!("{}run_{fingerprint}", self.0)
    }
}

/// The name of a probe cell. Unique in its component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProbeName {
    /// What the probe means.
    pub kind: ProbeKind,
    /// Number among the probes of the component.
    pub number: u32,
}

impl ProbeName {
    /// The Calyx cell name of the probe, which is also its Verilog instance name.
    pub fn cell(self, prefix: &ProbePrefix) -> String {
        format!("{}{self}", prefix.0)
    }

    /// The Verilog signal, in the module of the probe's component, that carries the probe's value.
    pub fn signal(self, prefix: &ProbePrefix) -> String {
        format!("{}_in", self.cell(prefix))
    }

    /// The probe whose cell name is `cell`, or `None` for a cell that is no probe.
    pub fn from_cell(cell: &str, prefix: &ProbePrefix) -> Option<Self> {
        cell.strip_prefix(&prefix.0)?.parse().ok()
    }
}

impl fmt::Display for ProbeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.kind.tag(), self.number)
    }
}

/// A text that is not a probe name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a probe name such as `ga_0`")]
pub struct ParseProbeNameError(String);

impl FromStr for ProbeName {
    type Err = ParseProbeNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        ProbeKind::ALL
            .into_iter()
            .find_map(|(kind, tag)| {
                let digits = text.strip_prefix(tag)?.strip_prefix('_')?;
                let number: u32 = digits.parse().ok()?;
                (number.to_string() == digits).then_some(Self { kind, number })
            })
            .ok_or_else(|| ParseProbeNameError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_name_is_read_back(kind in 0..ProbeKind::ALL.len(), number: u32, names: Vec<String>) {
            let prefix = ProbePrefix::avoiding(&names.iter().map(String::as_str));
            let name = ProbeName { kind: ProbeKind::ALL[kind].0, number };
            prop_assert_eq!(ProbeName::from_cell(&name.cell(&prefix), &prefix), Some(name));
            for other in &names {
                prop_assert_eq!(ProbeName::from_cell(other, &prefix), None);
            }
        }

        #[test]
        fn only_probe_names_are_read(text in "[a-z]{0,3}_?[0-9+-]{0,4}") {
            if let Ok(name) = text.parse::<ProbeName>() {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }

    #[test]
    fn the_prefix_steps_aside() {
        let taken = ["petal_ga_0", "petalx_", "main"];
        let prefix = ProbePrefix::avoiding(&taken);
        assert_eq!(
            ProbeName {
                kind: ProbeKind::GA,
                number: 7
            }
            .cell(&prefix),
            "petalxx_ga_7"
        );
    }
}
