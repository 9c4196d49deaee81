//! The run whose place another one took: what `petal run` says of it, and what is left of it for `petal compare --last`.

use std::path::Path;

use petal_analysis::{ControlView, Summary, have_other_data};
use petal_compare::{Baseline, Since};
use petal_metadata::Metadata;
use petal_profile::folder::Staging;
use petal_profile::{Before, Error, outputs};
use petal_visualize::outputs::{FIGURES, LAST};

use crate::baseline::of_run;
use crate::synth;

/// The difference between a run and the one whose profile was in `out` before; `None` if there was none, or nothing is to be said.
pub struct Last {
    /// The difference.
    pub since: Since,
    /// Whether the run is the same again.
    pub is_same: bool,
    /// Whether one of the two ended before its design was done: how long it took says nothing then.
    pub is_partial: bool,
    /// Whether there are patches of an earlier program.
    pub has_old_advice: bool,
    written: Option<std::time::SystemTime>,
}

impl Last {
    /// Takes in the run before, and keeps its figures beside the profile in `out`, unless both are the same: then those of the run before
    /// that stay.
    pub fn new(
        before: Before,
        (metadata, summary): (&Metadata, &Summary),
        out: &Path,
    ) -> Result<Self, Error> {
        let Before {
            profile,
            results,
            figures,
            written,
            is_same,
            ..
        } = before;
        let mut old = outputs::advice(out);
        let was = (&profile.metadata, profile.summary.cycles);
        let digests = [&profile.summary.data_digest, &summary.data_digest];
        let [was_data, is_data] = digests.map(Option::as_deref);
        let since = Since::new(was, (metadata, summary.cycles));
        let since = since.of_data(!have_other_data(was_data, is_data));
        let other = if since.is_same_design() {
            Vec::new()
        } else {
            std::mem::take(&mut old)
        };
        let last = Self {
            since,
            is_same,
            is_partial: summary.stopped.is_some() || profile.summary.stopped.is_some(),
            has_old_advice: !is_same && summary.advice.is_none() && !old.is_empty(),
            written,
        };
        if !is_same {
            let read = |figures: &Vec<u8>| {
                let text = std::str::from_utf8(figures).ok()?;
                Baseline::from_json(text, Path::new(FIGURES)).ok()
            };
            let mut baseline = match figures.as_ref().and_then(read) {
                Some(baseline) => baseline,
                // The run before was shown as it is compiled, or by an earlier petal.
                None => {
                    let analysis = profile.analyse(ControlView::Source)?;
                    of_run(&analysis, &profile.summary, results.as_ref())
                }
            };
            baseline.synthesis = profile.synthesis().map(synth::figures);
            let figures = baseline.to_json();
            let staging = Staging::new(out)?;
            staging.write(LAST, figures)?;
            // Advice for another design goes with it.
            let names = other.iter().map(String::as_str).chain([LAST]);
            staging.commit(&names.collect::<Vec<_>>())?;
        }
        Ok(last)
    }

    /// The difference in a line. With the age of the run before, which is another one each time, only for people.
    pub fn text(&self, is_for_people: bool) -> String {
        if self.is_partial {
            return "not compared with the run before: one of the two ended before its design was done"
                .to_owned();
        }
        let age = self.written.and_then(|written| written.elapsed().ok());
        self.since.text(age.filter(|_| is_for_people))
    }
}
