//! What each colour means, the same in all pictures: flame graphs, and the report's bar, flame graph and timeline.
//!
//! Owns the colours, which are those of Okabe and Ito or near them, so that people with any colour vision tell them
//! apart. What is overhead is warm and hatched, each kind in its own direction: it stands out without colours, too.

use std::fmt::Write as _;

use petal_metadata::{Metadata, Purpose};
use petal_reconstruct::{Node, Overhead};
use serde::Serialize;

/// What a coloured area stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Meaning {
    /// A component cell.
    Cell,
    /// Control, whatever it does.
    Control,
    /// A group that is no condition.
    Computation,
    /// A primitive that such a group uses.
    ComputationPrimitive,
    /// A group that computes a condition.
    Conditions,
    /// A primitive that such a group uses.
    ConditionsPrimitive,
    /// Cycles of the run that are overhead.
    Overhead(Overhead),
}

/// Stripes on an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hatch {
    /// Where the next stripe is: degrees clockwise, 0 is up.
    pub angle: i16,
    /// From stripe to stripe, in pixels.
    pub period: u8,
}

impl Meaning {
    /// All that are no overhead.
    const PLAIN: [Self; 6] = [
        Self::Cell,
        Self::Control,
        Self::Computation,
        Self::ComputationPrimitive,
        Self::Conditions,
        Self::ConditionsPrimitive,
    ];

    /// What a node of a call tree stands for, if its parent stands for `above`.
    pub fn of(metadata: &Metadata, node: Node, above: Self) -> Self {
        match node {
            Node::Cell { .. } => Self::Cell,
            Node::Control { .. } => Self::Control,
            Node::Group { component, run, .. } => {
                match metadata.component(component).purpose(run) {
                    Purpose::Work => Self::Computation,
                    Purpose::Condition => Self::Conditions,
                    Purpose::Control => Self::Control,
                }
            }
            Node::Continuous { .. } => Self::Computation,
            Node::Primitive { .. } if above == Self::Conditions => Self::ConditionsPrimitive,
            Node::Primitive { .. } => Self::ComputationPrimitive,
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let overhead = Overhead::ALL.into_iter().map(Self::Overhead);
        Self::PLAIN.into_iter().chain(overhead)
    }

    /// Its name in style sheets and in SVG.
    pub fn key(self) -> String {
        match self {
            Self::Cell => "cell".to_owned(),
            Self::Control => "control".to_owned(),
            Self::Computation => "computation".to_owned(),
            Self::ComputationPrimitive => "computation-primitive".to_owned(),
            Self::Conditions => "conditions".to_owned(),
            Self::ConditionsPrimitive => "conditions-primitive".to_owned(),
            Self::Overhead(kind) => kind.to_string(),
        }
    }

    /// Its colour, as style sheets and SVG write it.
    pub fn color(self) -> &'static str {
        match self {
            Self::Cell => "#cc79a7",
            Self::Control => "#c8ced6",
            Self::Computation => "#009e73",
            Self::ComputationPrimitive => "#7fceb9",
            Self::Conditions => "#56b4e9",
            Self::ConditionsPrimitive => "#aad9f4",
            Self::Overhead(kind) => match kind {
                Overhead::FsmUpdate => "#dd6b1a",
                Overhead::ParDone => "#e69f00",
                Overhead::FsmAndParDone => "#c47a4a",
                Overhead::StaticWait => "#f0e442",
                Overhead::Barrier => "#f4a582",
                Overhead::StartFinish => "#d8b08c",
                Overhead::Other => "#bfa58a",
            },
        }
    }

    /// Its stripes, if it has any.
    pub fn hatch(self) -> Option<Hatch> {
        let Self::Overhead(kind) = self else {
            return None;
        };
        let (angle, period) = match kind {
            Overhead::FsmUpdate => (45, 6),
            Overhead::ParDone => (135, 6),
            Overhead::FsmAndParDone => (0, 6),
            Overhead::StaticWait => (90, 6),
            Overhead::Barrier => (0, 10),
            Overhead::StartFinish => (135, 10),
            Overhead::Other => (45, 10),
        };
        Some(Hatch { angle, period })
    }
}

/// A colour with its stripes, for a script that draws.
#[derive(Debug, Serialize)]
pub(crate) struct Paint {
    key: String,
    color: &'static str,
    hatch: Option<(i16, u8)>,
}

/// All colours: first those of the classes that a cycle of the run can have, then the others.
pub(crate) fn paints() -> Vec<Paint> {
    let paint = |meaning: Meaning| Paint {
        key: meaning.key(),
        color: meaning.color(),
        hatch: meaning.hatch().map(|hatch| (hatch.angle, hatch.period)),
    };
    let classes = [Meaning::Computation, Meaning::Conditions];
    let overhead = Overhead::ALL.map(Meaning::Overhead);
    let others = Meaning::PLAIN
        .into_iter()
        .filter(|other| !classes.contains(other));
    classes
        .into_iter()
        .chain(overhead)
        .chain(others)
        .map(paint)
        .collect()
}

/// Rules of a style sheet that give an element of the class `paint-KEY` its colour and stripes.
pub(crate) fn style() -> String {
    let mut css = String::new();
    for meaning in Meaning::all() {
        let (key, color) = (meaning.key(), meaning.color());
        let _ = write!(css, ".paint-{key} {{ background: ");
        if let Some(Hatch { angle, period }) = meaning.hatch() {
            let _ = write!(
                css,
                "repeating-linear-gradient({angle}deg, rgb(255 255 255 / 50%) 0 2px, transparent 2px {period}px), "
            );
        }
        let _ = writeln!(css, "{color}; }}");
    }
    css
}

/// The stripes of all kinds of overhead as SVG patterns, called `hatch-KEY`, and `stripes` for areas of any colour.
pub(crate) fn patterns() -> String {
    let mut svg = "<pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
                   patternTransform=\"rotate(-45)\"><rect width=\"2\" height=\"6\" fill=\"#000000\" fill-opacity=\"0.25\"/></pattern>"
        .to_owned();
    for meaning in Meaning::all() {
        if let Some(Hatch { angle, period }) = meaning.hatch() {
            let (key, color) = (meaning.key(), meaning.color());
            let _ = write!(
                svg,
                "<pattern id=\"hatch-{key}\" width=\"{period}\" height=\"{period}\" patternUnits=\"userSpaceOnUse\" \
                 patternTransform=\"rotate({})\"><rect width=\"{period}\" height=\"{period}\" fill=\"{color}\"/>\
                 <rect width=\"2\" height=\"{period}\" fill=\"#ffffff\" fill-opacity=\"0.5\"/></pattern>",
                angle - 90
            );
        }
    }
    svg
}

/// What fills an area of an SVG image that has the [`patterns`].
pub(crate) fn fill(meaning: Meaning) -> String {
    match meaning.hatch() {
        Some(_) => format!("url(#hatch-{})", meaning.key()),
        None => meaning.color().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The relative luminance of a colour (WCAG 2.2).
    fn luminance(color: &str) -> f64 {
        let part = |at: usize| {
            let part = u8::from_str_radix(&color[at..at + 2], 16).unwrap();
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn names_can_be_read_on_every_colour() {
        // That of names in the report; stripes are brighter than what they are on.
        let text = luminance("#1b1e24");
        for meaning in Meaning::all() {
            let contrast = (luminance(meaning.color()) + 0.05) / (text + 0.05);
            assert!(contrast >= 4.5, "{meaning:?}: {contrast}");
        }
    }

    #[test]
    fn overhead_can_be_told_apart_without_colours() {
        let all: Vec<Meaning> = Meaning::all().collect();
        let is_overhead = |meaning: &Meaning| matches!(meaning, Meaning::Overhead(_));
        assert!(
            all.iter()
                .all(|meaning| meaning.hatch().is_some() == is_overhead(meaning))
        );
        let hatches = all.iter().filter_map(|meaning| meaning.hatch());
        let hatches: BTreeSet<(i16, u8)> =
            hatches.map(|hatch| (hatch.angle, hatch.period)).collect();
        assert_eq!(hatches.len(), Overhead::ALL.len());
    }
}
