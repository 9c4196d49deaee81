//! A flame graph as an SVG image: what each frame shows and tells, and one row for each call.

use std::io::{self, Write};

use petal_reconstruct::Overhead;

use super::{Flame, Frame};
use crate::colors::{Meaning, fill};
use crate::picture::{self, Picture};
use petal_analysis::clock::thousandths;
use petal_analysis::leaves::Weighting;
use petal_table::text::{amount, share, thousands};

impl Flame {
    /// Writes the flame graph as an SVG image that zooms and searches in a browser.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn svg(&self, name: &str, out: impl Write) -> io::Result<()> {
        let what = match self.weighting {
            Weighting::Scaled => "adds up to the run: parallel leaves share a cycle",
            Weighting::Leaves => "every active leaf counts 1: parallel work adds up",
        };
        let mark = if self.verified { "" } else { "; not verified" };
        // Whole numbers of a unit small enough that rounding does not show.
        let units: u32 = if self.denominator == 1 { 1 } else { 1000 };
        let in_units = |weight: u128| match weight {
            0 => 0,
            _ => {
                let weight = weight * u128::from(units) / self.denominator;
                u64::try_from(weight).unwrap_or(u64::MAX).max(1)
            }
        };
        let mut widths: Vec<u128> = self.frames.iter().map(|frame| frame.weight).collect();
        for at in (0..widths.len()).rev() {
            if let Some(above) = self.frames[at].above {
                widths[above] += widths[at];
            }
        }
        let (whole, _) = self.total();
        let links = self.links();
        // Where each frame is in the image: there is none for a link, but the row of what it calls.
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.frames.len());
        let mut frames: Vec<picture::Frame> = Vec::new();
        for (at, (frame, &width)) in self.frames.iter().zip(&widths).enumerate() {
            let above = frame.above.and_then(|above| places[above]);
            if links[at] {
                places.push(above);
                continue;
            }
            places.push(Some(frames.len()));
            frames.push(picture::Frame {
                above,
                name: picture::shown(&frame.shown),
                detail: self.detail(frame, width, whole),
                fill: fill(frame.meaning),
                outline: None,
                striped: false,
                overhead: matches!(frame.meaning, Meaning::Overhead(_)),
                weight: in_units(frame.weight),
            });
        }
        if whole == 0 {
            frames = vec![picture::Frame {
                above: None,
                name: name.to_owned(),
                detail: "no cycles".to_owned(),
                fill: fill(Meaning::Cell),
                outline: None,
                striped: false,
                overhead: false,
                weight: 1,
            }];
        }
        let mut legend: Vec<(String, &'static str)> = Vec::new();
        for (meaning, word) in LEGEND {
            let is = |frame: &&Frame| {
                std::mem::discriminant(&frame.meaning) == std::mem::discriminant(&meaning)
            };
            // With the pattern of a kind that is there.
            if let Some(frame) = self.frames.iter().find(is) {
                legend.push((fill(frame.meaning), word));
            }
        }
        let time = self.period.map(|period| {
            let time = thousandths(period.time_ns(self.cycles));
            format!(", {time} µs")
        });
        let time = time.unwrap_or_default();
        let picture = Picture {
            units,
            stroke: 255,
            title: format!("{name}: {} cycles{time}", thousands(self.cycles)),
            subtitle: format!("{what}{mark}"),
            legend,
            frames,
        };
        picture.svg(out)
    }

    /// Which frames are but links of a call, as wide as the only frame on them: what invokes a cell, and the group that the compiler
    /// made for that.
    fn links(&self) -> Vec<bool> {
        let mut below = vec![0; self.frames.len()];
        for above in self.frames.iter().filter_map(|frame| frame.above) {
            below[above] += 1;
        }
        let frames = self.frames.iter().zip(below);
        frames
            .map(|(frame, below)| frame.is_link && frame.weight == 0 && below == 1)
            .collect()
    }

    /// What is told of a frame beside its name. The script of the image takes all from the last `(` on for that.
    fn detail(&self, frame: &Frame, width: u128, whole: u128) -> String {
        let unit = match self.weighting {
            Weighting::Scaled => "of the run",
            Weighting::Leaves => "of leaves",
        };
        let mut parts = vec![format!(
            "{} cycles {unit}, {}",
            amount(width, self.denominator),
            share(width, whole)
        )];
        let active = thousands(frame.active);
        match frame.meaning {
            Meaning::Overhead(_) => {}
            _ if frame.times == 0 => parts.push(format!("active in {active} cycles")),
            Meaning::Control => {
                let times = thousands(frame.times);
                parts.push(format!("active in {active} cycles, entered {times} times"));
            }
            _ => {
                let times = thousands(frame.times);
                parts.push(format!("active in {active} cycles, {times} times"));
            }
        }
        parts.extend(frame.source.clone());
        parts.join("; ")
    }
}

/// What colours mean, in the words of the summary.
const LEGEND: [(Meaning, &str); 5] = [
    (Meaning::Computation, "computation"),
    (Meaning::Conditions, "conditions"),
    (Meaning::Overhead(Overhead::Other), "overhead"),
    (Meaning::Control, "control"),
    (Meaning::Cell, "cells"),
];
