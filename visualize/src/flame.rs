//! Flame graphs: which stacks of frames cycles were spent in, added up over the run.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use inferno::flamegraph::color::{BackgroundColor, Color, MultiPalette, PaletteMap, StrokeColor};
use inferno::flamegraph::{Options, Palette, TextTruncateDirection};
use petal_metadata::Metadata;
use petal_reconstruct::{FrameKind, FrameLabels, Node, actual_path};

use crate::front_end::{FrontEndLine, FrontEndLines, LineFrame};
use crate::profile::Profile;

/// How much a leaf of a cycle's call tree counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// Every active leaf of a cycle counts 1: parallel work adds up.
    Flat,
    /// The leaves of a cycle share it: all stacks together make the run's cycles.
    Scaled,
}

/// What the frames of a flame graph are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// What is in the Calyx program.
    Calyx,
    /// The lines of the front end's files. Frames of one line, directly inside one another, are one.
    FrontEnd,
    /// What is in the Calyx program, each with its lines in the front end's files.
    Both,
}

/// A flame graph.
#[derive(Debug)]
pub struct Flame {
    weighting: Weighting,
    /// Stack, and as images show it: with the cells that `ref` cells stand for → weight in units of
    /// 1 / `denominator` cycles.
    stacks: BTreeMap<(String, String), u128>,
    denominator: u128,
    kinds: HashMap<String, FrameKind>,
    cycles: u64,
    verified: bool,
}

/// Beyond this, shares of a cycle are rounded. Reached only when cycles differ wildly in how many
/// leaves they have.
const MAX_DENOMINATOR: u128 = 1 << 60;

impl Flame {
    /// The flame graph of a profile.
    pub(crate) fn new(
        metadata: &Metadata,
        profile: &Profile,
        weighting: Weighting,
        frames: Frames,
    ) -> Self {
        let labels = FrameLabels::new(metadata);
        let lines = FrontEndLines::new(metadata);
        let denominator = units(profile, weighting);
        let mut flame = Self {
            weighting,
            stacks: BTreeMap::new(),
            denominator,
            kinds: HashMap::new(),
            cycles: profile.total(),
            verified: metadata.verified,
        };
        let calyx = |node: Node| {
            let label = labels.label(node, profile.instances());
            let shown = match actual_path(metadata, profile.instances(), node) {
                Some(actual) => format!("{label} = {actual}"),
                None => label.to_owned(),
            };
            (label.to_owned(), shown)
        };
        for (tree, cycles) in profile.trees() {
            let mut stack = Stack::default();
            let leaves: Vec<_> = tree.leaves().collect();
            let weights = weights(weighting, leaves.len(), u128::from(cycles) * denominator);
            let mut next_leaf = leaves.iter().zip(weights).peekable();
            for ((depth, node), (id, _)) in tree.preorder().zip(tree.nodes()) {
                stack.up_to(depth);
                let of_lines = match frames {
                    Frames::Calyx => vec![],
                    Frames::FrontEnd | Frames::Both => lines.frames(node, profile.instances()),
                };
                if frames == Frames::FrontEnd {
                    for LineFrame { line, what, .. } in of_lines {
                        if stack.line != Some(line) {
                            let label = format!("{} {what}", lines.label(line));
                            stack.push(&label, &label);
                            stack.line = Some(line);
                            flame.color(&stack, node);
                        }
                    }
                } else {
                    let (mut label, mut shown) = calyx(node);
                    let places = lines.places(&of_lines);
                    label.push_str(&places);
                    shown.push_str(&places);
                    stack.push(&label, &shown);
                    flame.color(&stack, node);
                }
                stack.end_node();
                if let Some((_, weight)) = next_leaf.next_if(|&(&leaf, _)| leaf == id) {
                    let stack = (stack.folded.join(";"), stack.shown.join(";"));
                    *flame.stacks.entry(stack).or_default() += weight;
                }
            }
        }
        flame
    }

    /// Gives the innermost frame the colour of what `node` is, unless it has one.
    fn color(&mut self, stack: &Stack, node: Node) {
        if let Some(frame) = stack.shown.last() {
            let kind = self.kinds.entry(frame.clone());
            kind.or_insert(FrameLabels::kind(node));
        }
    }

    /// The sum of all weights in units, and how many units make a cycle.
    pub fn total(&self) -> (u128, u128) {
        (self.stacks.values().sum(), self.denominator)
    }

    /// The folded stacks: a line `frame;frame;frame weight` for each, weights in cycles.
    pub fn folded(&self) -> String {
        let mut text = String::new();
        let mut stacks: BTreeMap<&str, u128> = BTreeMap::new();
        for ((stack, _), weight) in &self.stacks {
            *stacks.entry(stack).or_default() += weight;
        }
        for (stack, weight) in stacks {
            text.push_str(stack);
            text.push(' ');
            text.push_str(&decimal(weight, self.denominator));
            text.push('\n');
        }
        text
    }

    /// Writes the flame graph as an SVG image that zooms and searches in a browser.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn svg(&self, name: &str, out: impl Write) -> io::Result<()> {
        // Whole numbers of a unit small enough that rounding does not show.
        let units = if self.denominator == 1 { 1 } else { 1000 };
        let lines: Vec<String> = self
            .stacks
            .iter()
            .map(|((_, stack), &weight)| (stack, weight * units / self.denominator))
            .map(|(stack, weight)| format!("{stack} {}", weight.max(1)))
            .collect();
        let mut palette = PaletteMap::default();
        for (frame, kind) in &self.kinds {
            palette.insert(frame, color(*kind));
        }
        let title = format!("{name}: {} cycles", crate::text::thousands(self.cycles));
        let subtitle = match self.weighting {
            Weighting::Flat => "every active leaf of a cycle counts 1",
            Weighting::Scaled => "parallel leaves share a cycle",
        };
        let mark = if self.verified { "" } else { "; not verified" };
        let mut options = image(title, format!("{subtitle}{mark}"));
        options.colors = Palette::Multi(MultiPalette::Rust);
        // The root of the image has no name of its own.
        palette.insert(
            "",
            Color {
                r: 208,
                g: 208,
                b: 208,
            },
        );
        options.palette_map = Some(&mut palette);
        options.factor = 1.0 / to_f64(units);
        if self.stacks.is_empty() {
            return inferno::flamegraph::from_lines(
                &mut options,
                [format!("{} 1", frame(name)).as_str()],
                out,
            );
        }
        inferno::flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
    }
}

/// The frames from the root of a tree to a node.
#[derive(Debug, Default)]
struct Stack {
    folded: Vec<String>,
    /// The same as images show them.
    shown: Vec<String>,
    /// The front end's line of the innermost frame.
    line: Option<FrontEndLine>,
    /// By depth: how many frames there are up to that node, and the line of the innermost.
    nodes: Vec<(usize, Option<FrontEndLine>)>,
}

impl Stack {
    /// Goes back to the node at the depth above `depth`.
    fn up_to(&mut self, depth: usize) {
        self.nodes.truncate(depth);
        let (frames, line) = self.nodes.last().copied().unwrap_or_default();
        self.folded.truncate(frames);
        self.shown.truncate(frames);
        self.line = line;
    }

    fn push(&mut self, folded: &str, shown: &str) {
        self.folded.push(frame(folded));
        self.shown.push(frame(shown));
    }

    /// All frames of the node are there.
    fn end_node(&mut self) {
        self.nodes.push((self.folded.len(), self.line));
    }
}

/// What all images of flame graphs share.
pub(crate) fn image<'a>(title: String, subtitle: String) -> Options<'a> {
    let white = Color {
        r: 255,
        g: 255,
        b: 255,
    };
    let mut options = Options::default();
    options.bgcolors = Some(BackgroundColor::Flat(white));
    options.stroke_color = StrokeColor::Color(white);
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.deterministic = true;
    options.title = title;
    options.subtitle = Some(subtitle);
    "cycles".clone_into(&mut options.count_name);
    "Frame:".clone_into(&mut options.name_type);
    options
}

#[expect(clippy::cast_precision_loss, reason = "1 or 1000")]
fn to_f64(units: u128) -> f64 {
    units as f64
}

/// How many units make a cycle, so that the weights of all leaves are whole numbers of them.
pub(crate) fn units(profile: &Profile, weighting: Weighting) -> u128 {
    match weighting {
        Weighting::Flat => 1,
        Weighting::Scaled => profile
            .trees()
            .map(|(tree, _)| tree.leaves().count() as u128)
            .fold(1, |common, leaves| match lcm(common, leaves) {
                larger if larger <= MAX_DENOMINATOR => larger,
                _ => common,
            }),
    }
}

/// The weights of the `leaves` leaves of a tree whose cycles weigh `whole` together.
pub(crate) fn weights(
    weighting: Weighting,
    leaves: usize,
    whole: u128,
) -> impl Iterator<Item = u128> {
    let count = leaves as u128;
    (0..count).map(move |nth| match weighting {
        Weighting::Flat => whole,
        // Exact when `count` divides; otherwise the rounding adds up to the whole.
        Weighting::Scaled => whole * (nth + 1) / count - whole * nth / count,
    })
}

/// A label as a frame: without the characters that separate frames and lines.
pub(crate) fn frame(label: &str) -> String {
    label.replace([';', '\n', '\r'], "_")
}

fn color(kind: FrameKind) -> Color {
    let (r, g, b) = match kind {
        FrameKind::Cell => (178, 140, 214),
        FrameKind::Control => (224, 98, 92),
        FrameKind::Group => (246, 164, 84),
        FrameKind::Primitive => (247, 219, 96),
    };
    Color { r, g, b }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u128, b: u128) -> u128 {
    a / gcd(a, b) * b
}

/// `weight / denominator` with as many decimals as needed, at most nine.
fn decimal(weight: u128, denominator: u128) -> String {
    const NANO: u128 = 1_000_000_000;
    let whole = weight / denominator;
    let rest = (weight % denominator * NANO + denominator / 2) / denominator;
    if rest == 0 {
        return whole.to_string();
    }
    if rest == NANO {
        return (whole + 1).to_string();
    }
    format!("{whole}.{rest:09}")
        .trim_end_matches('0')
        .to_owned()
}
