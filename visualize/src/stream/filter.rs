//! Events of some sites, some activations, some cycles, for those who want no more.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::ops::Range;
use std::str::FromStr;

use petal_analysis::sites::{Edge, EventSite};
use petal_metadata::SiteId;

use super::{Observed, Subscriber};

/// Which events are told of. What it does not name is not left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// The kinds of sites.
    kinds: Vec<String>,
    /// Patterns of their paths, in which `*` is any text.
    paths: Vec<String>,
    /// Only each activation or value of a site whose number is a multiple of this.
    every: Option<u64>,
    /// Only activations that begin, and values, in these cycles.
    cycles: Option<Range<u64>>,
    /// As it was written.
    text: String,
}

impl Display for EventFilter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for EventFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut filter = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        for part in text.split(';') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!(
                    "`{}` is none of `kind=`, `path=`, `every=` and `cycles=`",
                    part.trim()
                ));
            };
            let all = value.split(',').map(|of| of.trim().to_owned());
            let number = |of: &str| {
                let number = of.trim().parse::<u64>();
                number.map_err(|_| format!("`{}` is no whole number", of.trim()))
            };
            match key.trim() {
                "kind" => filter.kinds.extend(all),
                "path" => filter.paths.extend(all),
                "every" => match number(value)? {
                    0 => return Err("`every=` counts from 1 on".to_owned()),
                    every => filter.every = Some(every),
                },
                "cycles" => {
                    let Some((start, end)) = value.split_once("..") else {
                        return Err("`cycles=` is a range, such as `100..200`".to_owned());
                    };
                    filter.cycles = Some(number(start)?..number(end)?);
                }
                key => {
                    return Err(format!(
                        "`{key}` is none of `kind`, `path`, `every` and `cycles`"
                    ));
                }
            }
        }
        Ok(filter)
    }
}

impl EventFilter {
    fn takes(&self, site: &EventSite) -> bool {
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == site.kind))
            && (self.paths.is_empty() || self.paths.iter().any(|of| matches(of, &site.path)))
    }

    fn tells(&self, cycle: u64, before: u64) -> bool {
        self.every.is_none_or(|every| before.is_multiple_of(every))
            && self.cycles.as_ref().is_none_or(|of| of.contains(&cycle))
    }
}

/// Whether a text is one of a pattern.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| matches(rest, &text[at..]))
}

/// Tells another of what a filter leaves.
#[derive(Debug)]
pub struct Filtered<S> {
    filter: EventFilter,
    subscriber: S,
    sites: HashSet<SiteId>,
    /// The activations that were told of and have not ended.
    open: HashSet<(SiteId, u64)>,
}

impl<S> Filtered<S> {
    /// With this filter.
    pub fn new(filter: EventFilter, subscriber: S) -> Self {
        Self {
            filter,
            subscriber,
            sites: HashSet::new(),
            open: HashSet::new(),
        }
    }
}

impl<S: Subscriber> Subscriber for Filtered<S> {
    fn site(&mut self, site: &EventSite) -> io::Result<()> {
        if !self.filter.takes(site) {
            return Ok(());
        }
        self.sites.insert(site.id);
        self.subscriber.site(site)
    }

    fn edge(&mut self, edge: &Edge) -> io::Result<()> {
        if [edge.from, edge.to]
            .iter()
            .all(|of| self.sites.contains(of))
        {
            self.subscriber.edge(edge)?;
        }
        Ok(())
    }

    fn begin(&mut self, cycle: u64, site: SiteId, before: u64) -> io::Result<()> {
        if self.sites.contains(&site) && self.filter.tells(cycle, before) {
            self.open.insert((site, before));
            self.subscriber.begin(cycle, site, before)?;
        }
        Ok(())
    }

    fn end(&mut self, cycle: u64, site: SiteId, before: u64, times: u64) -> io::Result<()> {
        if self.open.remove(&(site, before)) {
            self.subscriber.end(cycle, site, before, times)?;
        }
        Ok(())
    }

    fn value(&mut self, before: u64, observed: &Observed) -> io::Result<()> {
        if self.sites.contains(&observed.site) && self.filter.tells(observed.cycle, before) {
            self.subscriber.value(before, observed)?;
        }
        Ok(())
    }

    fn finish(&mut self, cycles: u64) -> io::Result<()> {
        self.subscriber.finish(cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::{EventFilter, matches};

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, is) in [
            ("main", "main", true),
            ("main", "main.a", false),
            ("main.*", "main.a.b", true),
            ("*.b", "main.a.b", true),
            ("m*a*b", "main.a.b", true),
            ("m*c", "main.a.b", false),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for text in ["group", "site=1", "every=0", "every=x", "cycles=3"] {
            assert!(text.parse::<EventFilter>().is_err(), "{text}");
        }
    }
}
