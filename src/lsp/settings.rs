//! What the user of an editor has chosen.

use serde_json::Value;

/// What a hint shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Cycles in which the line was active.
    Cycles,
    /// They in percent of the run.
    Share,
    /// Overhead that is charged to it.
    Overhead,
    /// All cycles that are charged to it: overhead and conditions.
    Costs,
}

impl Shown {
    const ALL: [(&'static str, Self); 4] = [
        ("cycles", Self::Cycles),
        ("share", Self::Share),
        ("overhead", Self::Overhead),
        ("costs", Self::Costs),
    ];
}

/// The settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether there are hints.
    pub hints: bool,
    /// What they show, in this order.
    pub shown: Vec<Shown>,
    /// The smallest share of the run that is worth a hint or a hotspot, in percent.
    pub least: f64,
    /// Whether there are code lenses.
    pub lenses: bool,
    /// Whether hotspots are among the diagnostics.
    pub hotspots: bool,
    /// What else `petal run`, `petal advise` and `petal check` are given.
    pub arguments: [Vec<String>; 3],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hints: true,
            shown: vec![Shown::Cycles, Shown::Share, Shown::Overhead],
            least: 1.0,
            lenses: true,
            hotspots: true,
            arguments: Default::default(),
        }
    }
}

impl Settings {
    /// Takes in what a client says, with or without `petal` around it, and gives what of it makes no sense.
    pub fn read(&mut self, said: &Value) -> Vec<String> {
        let said = said.get("petal").unwrap_or(said);
        let mut odd = Vec::new();
        for (name, value) in said.as_object().into_iter().flatten() {
            if self.set(name, value).is_none() {
                odd.push(format!("the setting `{name}` can't be {value}"));
            }
        }
        odd
    }

    fn set(&mut self, name: &str, value: &Value) -> Option<()> {
        match name {
            "hints" => self.hints = value.as_bool()?,
            "hintParts" => self.shown = shown(value)?,
            "leastPercent" => self.least = value.as_f64()?,
            "lenses" => self.lenses = value.as_bool()?,
            "hotspots" => self.hotspots = value.as_bool()?,
            "runArguments" => self.arguments[0] = texts(value)?,
            "adviseArguments" => self.arguments[1] = texts(value)?,
            "checkArguments" => self.arguments[2] = texts(value)?,
            _ => return None,
        }
        Some(())
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter();
    texts.map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn shown(value: &Value) -> Option<Vec<Shown>> {
    let parts = texts(value)?.into_iter();
    let part = |name: String| {
        let mut all = Shown::ALL.iter();
        Some(all.find(|(other, _)| *other == name)?.1)
    };
    parts.map(part).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_makes_no_sense_changes_nothing() {
        let mut settings = Settings::default();
        let said = json!({ "petal": {
            "hints": false, "hintParts": ["costs", "share"], "leastPercent": 5, "lenses": 1, "hintpart": [], "runArguments": ["-q", 1],
        } });
        let odd = settings.read(&said);
        assert_eq!(odd.len(), 3, "{odd:?}");
        assert_eq!(settings.shown, [Shown::Costs, Shown::Share]);
        assert!(!settings.hints && settings.lenses && settings.least > 4.0);
        assert!(settings.read(&json!(3)).is_empty());
        assert!(settings.read(&json!({ "lenses": false })).is_empty());
        assert!(!settings.lenses);
    }
}
