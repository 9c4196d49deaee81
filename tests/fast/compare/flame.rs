//! The differential flame graph against the flame graphs of the two runs.

use std::collections::BTreeMap;

use crate::support::workshop::{Workshop, example};

/// Hundredths of cycles by the labels from the root on.
type Cycles = BTreeMap<Vec<String>, i64>;

fn hundredths(text: &str) -> i64 {
    let text = text.replace(',', "");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = format!("{part:0<2}");
    whole.parse::<i64>().unwrap() * 100 + part[..2].parse::<i64>().unwrap()
}

/// What folded stacks tell of each frame: the sum of all stacks through it.
fn folded(text: &str) -> Cycles {
    let mut cycles = Cycles::new();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let stack: Vec<String> = stack.split(';').map(in_images).collect();
        for depth in 1..=stack.len() {
            *cycles.entry(stack[..depth].to_vec()).or_default() += hundredths(weight);
        }
    }
    cycles
}

/// How images write the label of a folded stack: of overhead, its kind comes first.
fn in_images(label: &str) -> String {
    let kind = label.strip_prefix("(overhead: ");
    match kind.and_then(|kind| kind.strip_suffix(')')) {
        Some(kind) => format!("{kind}, overhead"),
        None => label.to_owned(),
    }
}

/// A frame of the image.
struct Frame {
    path: Vec<String>,
    before: i64,
    after: i64,
    width: f64,
    is_hollow: bool,
}

/// The frames of an image, each with those that it stands on.
fn frames(image: &str) -> Vec<Frame> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    let document = roxmltree::Document::parse_with_options(image, options).unwrap();
    let mut boxes = Vec::new();
    for title in document
        .descendants()
        .filter(|node| node.has_tag_name("title"))
    {
        let text = title.text().unwrap_or_default();
        let Some((name, numbers)) = text
            .strip_suffix(')')
            .and_then(|text| text.rsplit_once(" ("))
        else {
            continue;
        };
        let Some((after, before)) = numbers.split_once(" cycles after, ") else {
            continue;
        };
        let before = before.strip_suffix(" before").unwrap();
        let rect = title
            .next_siblings()
            .find(|node| node.has_tag_name("rect"))
            .unwrap();
        let number = |name: &str| {
            rect.attribute(name)
                .unwrap()
                .trim_end_matches('%')
                .parse::<f64>()
                .unwrap()
        };
        boxes.push((
            (number("x"), number("y"), number("width")),
            (name.to_owned(), hundredths(before), hundredths(after)),
            rect.attribute("style")
                .is_some_and(|style| style.contains("dash")),
        ));
    }
    // The highest first.
    boxes.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
    let mut frames: Vec<((f64, f64, f64), Frame)> = Vec::new();
    for ((x, y, width), (name, before, after), is_hollow) in boxes {
        let middle = x + width / 2.0;
        let above = frames
            .iter()
            .filter(|((left, at, wide), _)| *at < y && *left <= middle && middle <= left + wide);
        let above = above.max_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let mut path = above.map_or(Vec::new(), |(_, frame)| frame.path.clone());
        path.push(name);
        frames.push((
            (x, y, width),
            Frame {
                path,
                before,
                after,
                width,
                is_hollow,
            },
        ));
    }
    frames.into_iter().map(|(_, frame)| frame).collect()
}

/// The same without the groups that the compiler made for an `invoke`, which have no frames: they have other names under other passes.
fn without_groups_of_invokes(cycles: &Cycles) -> Cycles {
    let mut without = Cycles::new();
    for (path, number) in cycles {
        let is_of_invoke = |at: usize| {
            at > 0 && path[at - 1].starts_with("invoke@") && path[at].ends_with(" (compiler)")
        };
        if !is_of_invoke(path.len() - 1) {
            let frames = (0..path.len()).filter(|&at| !is_of_invoke(at));
            let frames = frames.map(|at| path[at].clone()).collect();
            *without.entry(frames).or_default() += number;
        }
    }
    without
}

/// Both numbers of every frame are those of the runs, in both directions.
#[test]
fn every_frame_has_the_numbers_of_both_runs() {
    let workshop = Workshop::empty();
    for name in [
        "while-comb",
        "while-par",
        "neural-layer",
        "nested-components",
        "invoke-ref",
    ] {
        let design = example(&format!("{name}.futil"));
        let mut runs = Vec::new();
        for (passes, out) in [("no-opt", "one"), ("all", "two")] {
            let passes = if passes == "all" {
                "all"
            } else {
                "compile-repeat,no-opt"
            };
            workshop.succeeds(&["run", &design, "-q", "--passes", passes, "--out", out]);
            runs.push(folded(&workshop.read(&format!("{out}/flame.folded"))));
        }
        for (before, after) in [("one", "two"), ("two", "one")] {
            workshop.succeeds(&["compare", before, after, "--flame", "flame.svg"]);
            let [one, two] = [0, 1].map(|at| without_groups_of_invokes(&runs[at]));
            let (old, new) = if before == "one" {
                (&one, &two)
            } else {
                (&two, &one)
            };
            let frames = frames(&workshop.read("flame.svg"));
            // Of the same path there may be one of each run.
            let mut drawn: BTreeMap<&Vec<String>, (i64, i64)> = BTreeMap::new();
            for frame in &frames {
                let sums = drawn.entry(&frame.path).or_default();
                sums.0 += frame.before;
                sums.1 += frame.after;
                assert_eq!(
                    frame.is_hollow,
                    frame.after == 0,
                    "{name}: {:?}",
                    frame.path
                );
            }
            let of = |cycles: &Cycles, path: &Vec<String>| cycles.get(path).copied().unwrap_or(0);
            for path in old.keys().chain(new.keys()) {
                let (was, is) = drawn.get(path).copied().unwrap_or_default();
                // Both are rounded to hundredths.
                let is_near = |drawn: i64, folded: i64| (drawn - folded).abs() <= 2;
                assert!(
                    is_near(was, of(old, path)) && is_near(is, of(new, path)),
                    "{name}, {before} to {after}: {path:?}: {was} → {is}, not {} → {}",
                    of(old, path),
                    of(new, path)
                );
            }
            // The picture is as wide as the longer run, and what stands on a frame is no wider than it.
            let roots: Vec<&Frame> = frames
                .iter()
                .filter(|frame| frame.path.len() == 1)
                .collect();
            assert!((roots.iter().map(|frame| frame.width).sum::<f64>() - 100.0).abs() < 0.1);
            for frame in &frames {
                let above = frames.iter().filter(|above| {
                    above.path.len() == frame.path.len() + 1 && above.path.starts_with(&frame.path)
                });
                let namesakes = frames.iter().filter(|other| other.path == frame.path);
                let width: f64 = namesakes.map(|frame| frame.width).sum();
                assert!(
                    above.map(|above| above.width).sum::<f64>() <= width + 0.1,
                    "{:?}",
                    frame.path
                );
            }
        }
    }
}
