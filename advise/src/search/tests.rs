//! A search whose proofs are wrong: programs are lists of words, each of which takes a cycle, and the result is all that is not `idle`.

use std::ffi::OsStr;
use std::time::Duration;

use super::{Budget, Goal, Limit, advise};
use crate::advice::Advice;
use crate::change::Class;
use crate::hardware::Hardware;
use crate::pipeline::Passes;
use crate::proof::{Looked, Piece, Verdict};
use crate::rewrites::{Certainty, Edit, Observed, Rewrite, RewriteKind};
use crate::variant::Variant;
use crate::workshop::{AdvisedStatement, Cost, Profile, Ran, Trial, Workshop};

/// Without `idle_wait` a program has a slower clock, if anybody asks for that.
struct Words {
    is_synthesised: bool,
    /// How many there are in the program as it is.
    count: u64,
}

impl Words {
    fn of(text: &str, is_synthesised: bool) -> Self {
        Self {
            is_synthesised,
            count: text.split(' ').count() as u64,
        }
    }
}

struct Seen(Observed);

impl Profile for Seen {
    fn observed(&self) -> &Observed {
        &self.0
    }

    fn potential(&self, _: &Rewrite) -> u64 {
        1
    }

    fn place(&self, _: &Rewrite) -> AdvisedStatement {
        AdvisedStatement::default()
    }
}

fn result(text: &str) -> Vec<&str> {
    text.split(' ')
        .filter(|word| !word.starts_with("idle"))
        .collect()
}

impl Workshop for Words {
    type Profile = Seen;

    fn data(&self) -> Vec<String> {
        vec!["data".to_owned()]
    }

    fn as_it_is(&self) -> Ran {
        Ran {
            cycles: vec![self.count],
            hardware: Hardware::default(),
        }
    }

    fn hold_against_apart(&self, _: bool) {}

    fn try_out(&self, variant: &Variant, _: u64) -> Trial {
        let text = variant.text();
        if !text.contains("idle_end") {
            return Trial::Failed("it never ends".to_owned());
        }
        if result(text) != ["sum", "product"] {
            return Trial::Differs("the result is another one".to_owned());
        }
        Trial::Ran(Ran {
            cycles: vec![text.split(' ').count() as u64],
            hardware: Hardware::default(),
        })
    }

    /// A word that is taken away is a piece.
    fn pieces(&self, [before, after]: [&Variant; 2], _: RewriteKind) -> Result<Vec<Piece>, String> {
        let words = before.text().split(' ');
        let gone = words.filter(|word| !after.text().contains(word));
        let pieces = gone.map(|word| Piece {
            name: format!("`{word}`"),
            texts: [word.to_owned(), String::new()],
            verdict: match word {
                "idle_odd" => Verdict::Differs("it is 1, and 0 after the edit".to_owned()),
                "idle_open" => Verdict::Open("nobody knows".to_owned()),
                _ => Verdict::Equal,
            },
        });
        Ok(pieces.collect())
    }

    /// To take away any word is said to be proved.
    fn rewrites(&self, variant: &Variant, _: &Observed) -> Result<Vec<Rewrite>, String> {
        let mut at = 0;
        let words = variant.text().split_inclusive(' ').map(|word| {
            let range = at..at + word.len();
            at = range.end;
            Rewrite {
                kind: RewriteKind::MergedGroups,
                certainty: Certainty::Proved,
                component: "main".to_owned(),
                arms: Vec::new(),
                region: range.clone(),
                what: format!("take away `{}`", word.trim()),
                premise: "nobody needs it".to_owned(),
                edits: vec![Edit {
                    range,
                    text: String::new(),
                }],
                is_set: false,
            }
        });
        Ok(words.collect())
    }

    fn profile(&self, _: &Variant) -> Result<Seen, String> {
        Ok(Seen(Observed::default()))
    }

    fn states(&self, _: &Variant) -> Result<u64, String> {
        Ok(0)
    }

    fn cost(&self, variant: &Variant) -> Result<Option<Cost>, String> {
        let words = variant.text().split(' ').count() as u64;
        let is_fast = variant.text().contains("idle_wait");
        let period = if is_fast { 1000 } else { 2000 };
        Ok(self.is_synthesised.then(|| Cost {
            device: "a device".to_owned(),
            luts: 10 * words,
            ffs: 0,
            period_ps: Some(period),
            periods_ps: vec![period - 20, period, period + 40],
        }))
    }

    fn pipelines(&self) -> Vec<Passes> {
        Vec::new()
    }

    fn progress(&self, _: usize, _: u64) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn budget(goal: Goal) -> Budget {
    Budget {
        limit: Limit::Time(Duration::from_secs(60)),
        threads: 1,
        search: false,
        proved: true,
        goal,
    }
}

fn advised(text: &str, goal: Goal, is_synthesised: bool) -> Advice {
    let budget = budget(goal);
    let (words, file) = (Words::of(text, is_synthesised), OsStr::new("words.futil"));
    advise(&words, "words", file, text.to_owned(), budget).unwrap()
}

#[test]
fn what_costs_time_is_left_out_if_time_is_the_goal() {
    let text = "idle_wait sum idle_more product idle_end";
    let told = |advice: &Advice| {
        let text = advice.text(petal_table::Screen::PLAIN);
        text.replace('\n', " ")
    };
    let plain = advised(text, Goal::Cycles, false);
    assert_eq!((plain.with_all, plain.synthesized.as_ref()), (3, None));
    assert!(!told(&plain).contains("LUT"));
    let advice = advised(text, Goal::Cycles, true);
    let expected =
        "on a device: time, ns 5 → 6 (+20.0 %), LUT 50 → 30 (-40.0 %); 3 seeds, ±4.0 % tried on";
    assert_eq!(advice.with_all, 3);
    assert!(told(&advice).contains(expected), "{}", told(&advice));
    let advice = advised(text, Goal::Time, true);
    let expected = "on a device: time, ns 5 → 4 (-20.0 %), LUT 50 → 40 (-20.0 %); 3 seeds, ±4.0 %; \
                    left out, since they save cycles but cost time: take away `idle_wait` tried on";
    assert_eq!(advice.text, "idle_wait sum product idle_end");
    assert_eq!((advice.with_all, advice.advice.len()), (4, 1));
    assert!(told(&advice).contains(expected), "{}", told(&advice));
    assert_eq!(advised(text, Goal::Area, true).with_all, 3);
}

#[test]
fn what_no_combination_beats_is_synthesised() {
    let file = OsStr::new("words.futil");
    let budget = Budget {
        search: true,
        ..budget(Goal::Cycles)
    };
    let text = "idle_wait sum idle_more product idle_end";
    let words = Words::of(text, true);
    let advice = advise(&words, "words", file, text.to_owned(), budget).unwrap();
    let text = advice.text(petal_table::Screen::PLAIN);
    let expected = "  cycles  register bits  cells  time, ns  LUT  FF  changes
       3              0      0         6   30   0  2 changes, front-01.patch, all proved
";
    assert!(text.ends_with(expected), "{text}");
    let steps = "  kind           statement  class   cycles  saves %  time, ns  LUT  FF
  as it is                               5     0.00         5   50   0
  merged-groups             proved       4    20.00
  merged-groups             proved       3    40.00         6   30   0
";
    assert!(text.contains(steps), "{text}");
}

#[test]
fn a_piece_that_comes_to_something_else_is_a_defect() {
    let advice = advised("idle_odd sum product idle_end", Goal::Cycles, false);
    let defect = advice
        .defects
        .iter()
        .find(|of| of.what.contains("idle_odd"));
    let problem = "`idle_odd` does not come to the same: it is 1, and 0 after the edit";
    assert_eq!(defect.map(|of| of.problem.as_str()), Some(problem));
    let looked = Looked {
        pieces: 1,
        equal: 0,
    };
    assert_eq!(advice.advice[0].proof, Some(looked));
    let expected = "1  take away `idle_odd`

  rule: nobody needs it
  0 of 1 pieces that it changes come to the same, run with unknown values

  `idle_odd`: NOT THE SAME: it is 1, and 0 after the edit
    - idle_odd

";
    assert_eq!(advice.proof, expected);
}

#[test]
fn what_nothing_shows_is_only_checked() {
    let text = "idle_open sum idle_wait product idle_end";
    let only_proved = advised(text, Goal::Cycles, false);
    assert_eq!(only_proved.text, "idle_open sum product idle_end");
    let not_advised = only_proved.not_advised.iter();
    let not_advised: Vec<(&str, &str, Option<u64>)> = not_advised
        .map(|of| (of.what.as_str(), of.why.as_str(), of.saves))
        .collect();
    let why = "by its rule, nobody needs it; but run with unknown values nothing shows it (`idle_open`: nobody knows)";
    assert_eq!(
        not_advised,
        [(
            "take away `idle_open`",
            &*format!("not proved: {why}"),
            Some(1)
        )]
    );
    for search in [false, true] {
        let budget = Budget {
            proved: false,
            search,
            ..budget(Goal::Cycles)
        };
        let (words, file) = (Words::of(text, false), OsStr::new("words.futil"));
        let advice = advise(&words, "words", file, text.to_owned(), budget).unwrap();
        let told = advice.advice.iter();
        let told: Vec<(&str, Class, bool)> = told
            .map(|item| (item.what.as_str(), item.class, item.proof.is_some()))
            .collect();
        let expected = [
            ("take away `idle_wait`", Class::Proved, true),
            ("take away `idle_open`", Class::Checked, false),
        ];
        assert_eq!((told, advice.with_proved), (expected.to_vec(), 4));
        assert!(advice.advice[1].why.contains(why), "{:?}", advice.advice);
        let proved = advice.front.iter().map(|point| point.proved);
        assert!(proved.eq(search.then_some(false)));
    }
}

#[test]
fn a_proof_that_fails_is_a_defect_and_loud() {
    let advice = advised("idle_wait sum product idle_end", Goal::Cycles, false);
    let defects = advice.defects.iter();
    let defects: Vec<(&str, &str)> = defects
        .map(|defect| (defect.what.as_str(), defect.problem.as_str()))
        .collect();
    assert_eq!(
        defects,
        [
            (
                "take away `sum`",
                "it leaves something else in its memories: the result is another one"
            ),
            (
                "take away `product`",
                "it leaves something else in its memories: the result is another one"
            ),
            ("take away `idle_end`", "it never ends"),
        ]
    );
    assert_eq!(advice.defects[0].text, "idle_wait product idle_end");
    let text = advice.text(petal_table::Screen::PLAIN);
    assert!(
        text.starts_with("DEFECT OF PETAL: it took for proved"),
        "{text}"
    );
    assert!(
        text.contains("if you take away `idle_end` (defect-03.futil): it never ends"),
        "{text}"
    );
    assert!(advice.markdown().contains("DEFECT OF PETAL"));
    let saved: Vec<&str> = advice
        .advice
        .iter()
        .map(|item| item.what.as_str())
        .collect();
    assert_eq!(saved, ["take away `idle_wait`"]);
}
