//! A comparison for programs: as JSON, and as the files that benchmark trackers take.

use serde::Serialize;
use serde_json::{Value, json};

use super::Comparison;
use super::rows::Change;
use super::verdict::Judgement;
use petal_table::text::signed;

#[derive(Serialize)]
struct Judged<'a> {
    limit: Option<String>,
    regressed: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observed_limits: Vec<&'a Judgement>,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl Comparison {
    /// All of it as JSON, with the judgements if there are limits.
    pub fn json(&self, judgements: &[Judgement]) -> String {
        let (observed, run): (Vec<_>, Vec<_>) = judgements.iter().partition(|of| of.of.is_some());
        let exceeded = judgements.iter().any(|of| of.exceeded.is_some());
        pretty(&Judged {
            limit: run.first().map(|of| of.limit.clone()),
            regressed: (!judgements.is_empty()).then_some(exceeded),
            observed_limits: observed,
            comparison: self,
        })
    }

    /// The run after, for the tool `customSmallerIsBetter` of the GitHub action
    /// `benchmark-action/github-action-benchmark`.
    pub fn github_action_benchmark(&self) -> String {
        let entries = self.measures().map(|(name, _, change)| {
            json!({
                "name": format!("{}: {name}", self.designs.after),
                "unit": "cycles",
                "value": change.after,
                "extra": format!(
                    "{} against {} of {}",
                    signed(change.delta()), change.before, self.designs.before
                ),
            })
        });
        pretty(&entries.collect::<Vec<Value>>())
    }

    /// The run after, in the Bencher Metric Format.
    pub fn bencher(&self) -> String {
        let measures: serde_json::Map<String, Value> = self
            .measures()
            .map(|(_, slug, change)| (slug.to_owned(), json!({ "value": change.after })))
            .collect();
        pretty(&json!({ self.designs.after.clone(): measures }))
    }

    /// What trackers follow: its name for people and for programs, and its figure.
    fn measures(&self) -> impl Iterator<Item = (&'static str, &'static str, Change)> {
        [
            ("cycles", "cycles", self.cycles),
            ("useful cycles", "useful-cycles", self.useful),
            ("overhead cycles", "overhead-cycles", self.overhead),
        ]
        .into_iter()
    }
}

fn pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("the keys are texts");
    text.push('\n');
    text
}
