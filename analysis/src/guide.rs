//! The sections of the guide about what costs cycles.
//!
//! Owns where each is; which of them a row is of, the hotspots tell.

/// A section of `docs/guide/overhead.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuideSection {
    /// The condition of an `if` or a loop.
    Conditions,
    /// From one step of a `seq` to the next.
    Steps,
    /// Into and out of the branches of an `if`.
    Branches,
    /// Around a loop.
    Loops,
    /// The done registers of a `par`.
    EndsOfArms,
    /// Counters of static programs.
    StaticWaits,
    /// `@sync`.
    Barriers,
    /// Where control does not run.
    StartAndFinish,
    /// What arms of a `par` wait.
    ArmsThatWait,
    /// Steps that do not depend on one another.
    IndependentSteps,
    /// The same, where they have the same hardware.
    StepsThatShare,
    /// None of these.
    Unknown,
}

impl GuideSection {
    /// All sections.
    pub const ALL: [Self; 12] = [
        Self::Conditions,
        Self::Steps,
        Self::Branches,
        Self::Loops,
        Self::EndsOfArms,
        Self::StaticWaits,
        Self::Barriers,
        Self::StartAndFinish,
        Self::ArmsThatWait,
        Self::IndependentSteps,
        Self::StepsThatShare,
        Self::Unknown,
    ];

    /// Where it is, from the folder of the project: the page and the heading.
    pub fn link(self) -> &'static str {
        match self {
            Self::Conditions => "docs/guide/overhead.md#conditions",
            Self::Steps => "docs/guide/overhead.md#steps",
            Self::Branches => "docs/guide/overhead.md#branches",
            Self::Loops => "docs/guide/overhead.md#loops",
            Self::EndsOfArms => "docs/guide/overhead.md#ends-of-arms",
            Self::StaticWaits => "docs/guide/overhead.md#static-waits",
            Self::Barriers => "docs/guide/overhead.md#barriers",
            Self::StartAndFinish => "docs/guide/overhead.md#start-and-finish",
            Self::ArmsThatWait => "docs/guide/overhead.md#arms-that-wait",
            Self::IndependentSteps => "docs/guide/overhead.md#steps-that-could-run-at-once",
            Self::StepsThatShare => "docs/guide/overhead.md#steps-that-share-hardware",
            Self::Unknown => "docs/guide/overhead.md#what-petal-cannot-know",
        }
    }
}
