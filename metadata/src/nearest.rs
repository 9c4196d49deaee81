//! Names that somebody may have meant who wrote another one.

use std::cmp::Ordering;

/// How much alike two names are at least, from 0 to 1.
const NEAR: f64 = 0.75;
/// How much less alike than the most alike one the others may be.
const SPREAD: f64 = 0.05;
/// How many are offered.
const MOST: usize = 3;

/// Those of `names` that may be meant by `word`, the likeliest first; none if nothing is near.
pub fn nearest<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> Vec<N> {
    nearest_of(names.into_iter().map(|name| (word, name)))
}

/// The same where each name stands for another word: pairs of what was written and what may be meant.
pub fn nearest_of<W: AsRef<str>, N: AsRef<str>>(pairs: impl IntoIterator<Item = (W, N)>) -> Vec<N> {
    let likeness = |(word, name): (W, N)| {
        let [a, b] = [word.as_ref(), name.as_ref()].map(str::to_lowercase);
        (strsim::jaro_winkler(&a, &b), name)
    };
    // What is there by this very name is not what is missing.
    let others = pairs.into_iter();
    let others = others.filter(|(word, name)| word.as_ref() != name.as_ref());
    let mut near: Vec<(f64, N)> = others.map(likeness).collect();
    near.retain(|(near, _)| *near > NEAR);
    near.sort_by(|(a, one), (b, other)| {
        let by_name = || Ord::cmp(one.as_ref(), other.as_ref());
        b.total_cmp(a).then_with(by_name)
    });
    near.dedup_by(|(_, one), (_, other)| one.as_ref().cmp(other.as_ref()) == Ordering::Equal);
    let best = near.first().map_or(0.0, |(best, _)| *best);
    let near = near.into_iter().take(MOST);
    near.take_while(|(near, _)| best - near <= SPREAD)
        .map(|(_, name)| name)
        .collect()
}

/// A question whether one of these is meant; `None` if there are none.
pub fn question(names: &[impl AsRef<str>]) -> Option<String> {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match &quoted[..] {
        [] => None,
        [one] => Some(format!("is it {one}?")),
        [others @ .., last] => Some(format!("is it {} or {last}?", others.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_offered() {
        let ask = |word| {
            question(&nearest(
                word,
                ["overhead", "override", "useful", "min", "max"],
            ))
        };
        assert_eq!(ask("overhaed").as_deref(), Some("is it `overhead`?"));
        assert_eq!(
            ask("Over").as_deref(),
            Some("is it `overhead` or `override`?")
        );
        assert_eq!(ask("zzz"), None);
        assert_eq!(ask("min"), None);
    }
}
