//! What a check has found.

use std::fmt;

use petal_analysis::races::{Accessor, Doubt, Found, Race, UndefinedRead};
use petal_observe::Site;
use serde_json::{Value, json};

use super::text;
use super::undriven::UndrivenRead;

/// Accesses of addresses that a memory does not have.
pub struct Beyond {
    pub memory: String,
    /// How many words each dimension has.
    pub sizes: Vec<u64>,
    pub address: Vec<u64>,
    pub access: &'static str,
    pub by: Vec<Site>,
    /// The first one.
    pub cycle: u64,
    pub times: u64,
}

impl Beyond {
    /// Whether the same do the same to the memory.
    pub fn is_by_same(&self, other: &Self) -> bool {
        (self.access, &self.by) == (other.access, &other.by)
    }
}

/// All that a check has found.
pub struct Report {
    pub design: String,
    pub passes: String,
    pub cycles: u64,
    pub found: Found,
    pub beyond: Vec<Beyond>,
    /// Reads of ports that nothing drove.
    pub undriven: Vec<UndrivenRead>,
    /// The ports of which it can't be told whether they were read so.
    pub unfollowed: Vec<String>,
    /// Broken rules, in a sentence each.
    pub rules: Vec<String>,
    /// Why the run ended before the design was done.
    pub stopped: Option<String>,
}

/// How much was found.
pub struct Counts(Vec<String>);

impl Counts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl Report {
    /// The races that are sure.
    pub fn races(&self) -> impl Iterator<Item = &Race> {
        self.found.races.iter().filter(|race| race.doubt.is_none())
    }

    /// What is taken for sure that may be any value.
    pub fn undefined(&self) -> impl Iterator<Item = &UndefinedRead> {
        self.found.undefined.iter().filter(|of| !of.is_guarded)
    }

    /// The other races.
    pub fn doubtful(&self) -> impl Iterator<Item = &Race> {
        self.found.races.iter().filter(|race| race.doubt.is_some())
    }

    /// What the command fails for.
    pub fn counts(&self) -> Counts {
        let of = |count: usize, one: &str, several: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {several}")),
        };
        let accesses = ("access beyond a memory", "accesses beyond a memory");
        let all = [
            of(self.races().count(), "race", "races"),
            of(self.beyond.len(), accesses.0, accesses.1),
            of(
                self.undefined().count(),
                "use of `undef`",
                "uses of `undef`",
            ),
            of(
                self.undriven.len(),
                "read of an undriven port",
                "reads of undriven ports",
            ),
            of(self.rules.len(), "broken rule", "broken rules"),
            self.stopped
                .as_ref()
                .map(|_| "a run that did not end".to_owned()),
        ];
        Counts(all.into_iter().flatten().collect())
    }

    /// All of it, for other programs.
    pub fn json(&self) -> Value {
        let races = self.found.races.iter().map(race);
        let beyond = self.beyond.iter().map(|of| {
            json!({
                "memory": of.memory,
                "sizes": of.sizes,
                "address": of.address,
                "access": of.access,
                "cycle": of.cycle,
                "times": of.times,
                "by": of.by,
                "text": text::beyond(of),
            })
        });
        let undefined = self.found.undefined.iter().map(|of| {
            let mut by = accessor(&of.by);
            by["cell"] = of.what.clone().into();
            by["cycle"] = of.cycle.into();
            by["doubt"] = of.is_guarded.then_some("guard").into();
            by["text"] = text::undefined(of).into();
            by
        });
        let undriven = self.undriven.iter().map(|of| {
            json!({
                "port": of.port,
                "cycle": of.cycle,
                "times": of.times,
                "by": of.by,
                "active": of.active,
                "text": text::undriven(of),
            })
        });
        json!({
            "design": self.design,
            "passes": self.passes,
            "cycles": self.cycles,
            "found": self.counts().to_string(),
            "races": races.collect::<Vec<_>>(),
            "beyond": beyond.collect::<Vec<_>>(),
            "undefined": undefined.collect::<Vec<_>>(),
            "undriven": undriven.collect::<Vec<_>>(),
            "unfollowed": self.unfollowed,
            "rules": self.rules,
            "stopped": self.stopped,
            "unknown": self.found.unknown,
            "gaps": self.found.gaps,
        })
    }
}

fn accessor(of: &Accessor) -> Value {
    json!({
        "path": of.path,
        "group": of.group,
        "statement": of.statement,
        "line": of.line,
        "file": of.file,
    })
}

fn race(of: &Race) -> Value {
    let accesses = of.accesses.iter().map(|access| {
        let mut all = accessor(&access.by);
        all["access"] = if access.is_write { "write" } else { "read" }.into();
        all["cycle"] = access.cycle.into();
        all
    });
    json!({
        "cell": of.what,
        "word": of.word,
        "par": of.par,
        "accesses": accesses.collect::<Vec<_>>(),
        "same_cycle": of.is_same_cycle,
        "times": of.times,
        "text": text::race(of),
        "doubt": of.doubt.map(|doubt| match doubt {
            Doubt::Guard => "guard",
            Doubt::Order => "order",
        }),
    })
}
