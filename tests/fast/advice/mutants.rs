//! What pieces are said to come to is so: edits are made wrong, in one place each, and what is said to be the same has to run the same.
//!
//! `PETAL_SEED=7 PETAL_PROGRAMS=200 cargo test --test fast mutants` tries other programs, and more.

use petal_advise::Verdict;

use super::adversary::{CYCLE_LIMIT, Outcome, Trial, with_each_trap};
use super::random::edited;
use crate::support::dice::Dice;

/// How many wrong forms of an edit are tried.
const MUTANTS: usize = 6;

/// How many edits of a program are made wrong.
const EDITS: usize = 3;

/// How many mutants there were, and what was said of them.
#[derive(Debug, Default)]
struct Said {
    different: usize,
    open: usize,
    equal: usize,
}

/// The places of a text where a number stands between two others, and the number.
fn numbers<'a>(text: &'a str, before: &str, after: &[char]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(before) {
        let start = at + before.len();
        let digits = text[start..].find(|of: char| !of.is_ascii_digit());
        if let Some(length) = digits.filter(|length| *length > 0)
            && text[start + length..].starts_with(after)
        {
            found.push((start, &text[start..start + length]));
        }
    }
    found
}

/// A text with something else in one place of its components.
fn mutant(text: &str, dice: &mut Dice) -> Option<String> {
    let begin = text.find("component ")?;
    let (head, body) = text.split_at(begin);
    let mut places = Vec::new();
    for (before, after) in [
        ("%[", &[':'][..]),
        ("%", &[' ']),
        ("repeat ", &[' ']),
        ("'d", &[';', ' ', ')']),
    ] {
        places.extend(numbers(body, before, after));
    }
    for (at, _) in body.match_indices("%[") {
        let Some(colon) = body[at..].find(':') else {
            continue;
        };
        let end = &body[at + colon + 1..];
        let length = end.find(']')?;
        places.push((at + colon + 1, &end[..length]));
    }
    let lines: Vec<&str> = body.lines().collect();
    let is_enable = |line: &str| {
        let name = line.trim().strip_suffix(';');
        name.is_some_and(|name| name.chars().all(|of| of.is_alphanumeric() || of == '_'))
    };
    let enables: Vec<usize> = (0..lines.len())
        .filter(|at| is_enable(lines[*at]))
        .collect();
    let others: Vec<usize> = (0..lines.len())
        .filter(|at| {
            let line = lines[*at].trim();
            line.contains(" = ") && line.ends_with(';') && !line.starts_with("@external")
        })
        .collect();
    let body = match dice.below(5) {
        0 if enables.len() > 1 => {
            let mut lines = lines;
            let at = dice.below(enables.len() - 1);
            lines.swap(enables[at], enables[at + 1]);
            lines.join("\n")
        }
        1 if !enables.is_empty() => {
            let mut lines = lines;
            lines.remove(enables[dice.below(enables.len())]);
            lines.join("\n")
        }
        2 if !others.is_empty() => {
            let mut lines = lines;
            lines.remove(others[dice.below(others.len())]);
            lines.join("\n")
        }
        _ if !places.is_empty() => {
            let (at, number) = places[dice.below(places.len())];
            let value: u64 = number.parse().ok()?;
            let other = if dice.one_in(2) {
                value + 1
            } else {
                value.checked_sub(1)?
            };
            format!("{}{other}{}", &body[..at], &body[at + number.len()..])
        }
        _ => return None,
    };
    Some(format!("{head}{body}"))
}

/// Makes edits of a program wrong.
fn tried(trial: &Trial<'_>, text: &str, dice: &mut Dice) -> Result<Said, String> {
    let mut said = Said::default();
    let pipeline = &trial.pipelines[1].1;
    let Ok(before) = trial.outcomes(text, pipeline, CYCLE_LIMIT) else {
        return Ok(said);
    };
    let mut proved = trial.proved(text)?;
    for _ in 0..EDITS {
        if proved.is_empty() {
            break;
        }
        let rewrite = proved.swap_remove(dice.below(proved.len()));
        let after = edited(text, &rewrite);
        let mutants: Vec<String> = (0..MUTANTS).filter_map(|_| mutant(&after, dice)).collect();
        for mutant in mutants {
            // Most that is wrong is no program.
            let Ok(pieces) = trial.pieces(text, &mutant, rewrite.kind) else {
                continue;
            };
            let is = |wanted: fn(&Verdict) -> bool| pieces.iter().any(|of| wanted(&of.verdict));
            if is(|of| matches!(of, Verdict::Differs(_))) {
                said.different += 1;
                continue;
            }
            if is(|of| matches!(of, Verdict::Open(_))) {
                said.open += 1;
                continue;
            }
            said.equal += 1;
            let Ok(after) = trial.outcomes(&mutant, pipeline, CYCLE_LIMIT * 10) else {
                continue;
            };
            let mut both = before.iter().zip(&after);
            // Nothing is said of what leaves the bounds or does not end.
            let other = both.find(|both| {
                matches!(both, (Outcome::Ends(before), Outcome::Ends(after)) if before != after)
            });
            if let Some((before, after)) = other {
                return Err(format!(
                    "{before:?} became {after:?}, where all {} pieces of {:?} are said to come to the same\nMUTANT:\n{mutant}",
                    pieces.len(),
                    rewrite.kind,
                ));
            }
        }
    }
    Ok(said)
}

#[test]
fn what_is_said_to_come_to_the_same_does() {
    let mut sum = Said::default();
    let mut failures = Vec::new();
    for said in with_each_trap(tried).into_iter().flat_map(|(_, said)| said) {
        match said {
            Ok(said) => {
                sum.different += said.different;
                sum.open += said.open;
                sum.equal += said.equal;
            }
            Err(failure) => failures.push(failure),
        }
    }
    println!("{sum:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(sum.different > 0 && sum.equal > 0, "{sum:?}");
}
