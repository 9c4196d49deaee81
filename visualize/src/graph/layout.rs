//! Where the parts of the picture are.
//!
//! Control is structured, so its picture is: the steps of a `seq` stand below one another, the branches of an `if` and
//! the arms of a `par` side by side, the body of a loop below its condition, and each component cell is a panel of its
//! own to the right of those that hold it. Owns places and sizes, in pixels; `svg` draws.

use std::collections::BTreeMap;

use petgraph::graph::NodeIndex;
use unicode_width::UnicodeWidthStr;

use super::shown::Shown;
use super::{ControlGraph, Edge, Step, StepKind, Way};
use petal_analysis::critical::Site;
use petal_table::text::{share, shortened, thousands};

/// Of a character.
pub(super) const CHARACTER: f64 = 6.7;
/// Of a line of text.
pub(super) const LINE: f64 = 14.0;
/// Between a box and its text.
pub(super) const PADDING: f64 = 6.0;
/// Of a bar at the end of a `par`.
pub(super) const BAR: f64 = 5.0;
/// Of the mark at the end of a cell's control.
const END: f64 = 12.0;
/// Between a step and the next.
const GAP: f64 = 24.0;
/// Between columns, and beside the body of a loop.
const ASIDE: f64 = 16.0;
/// Around a panel's contents.
const MARGIN: f64 = 14.0;
/// Between panels.
const APART: f64 = 70.0;
/// The longest name, in characters.
const LONGEST: usize = 40;

/// A part of the picture.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// Behind a component cell.
    Panel { at: Rect },
    /// A step, with its text.
    Step {
        at: Rect,
        step: NodeIndex,
        text: Vec<String>,
    },
    /// The end of a `par`.
    Bar { at: Rect, step: NodeIndex },
    /// Where the control of a cell ends.
    End { at: Rect },
    /// A way from one step to another.
    Line {
        points: Vec<(f64, f64)>,
        edge: Edge,
        /// Where its number is.
        label: Option<(f64, f64)>,
        /// Whether it ends at a step.
        arrow: bool,
    },
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Shapes around a vertical line at 0, on which control comes in at the top and goes out at the bottom.
#[derive(Debug, Default)]
struct Block {
    left: f64,
    right: f64,
    height: f64,
    shapes: Vec<Shape>,
}

/// All shapes, and the size of the picture.
#[derive(Debug)]
pub(super) struct Layout {
    pub shapes: Vec<Shape>,
    pub width: f64,
    pub height: f64,
}

impl Shape {
    fn moved(mut self, dx: f64, dy: f64) -> Self {
        match &mut self {
            Self::Panel { at }
            | Self::End { at }
            | Self::Step { at, .. }
            | Self::Bar { at, .. } => {
                at.x += dx;
                at.y += dy;
            }
            Self::Line { points, label, .. } => {
                for (x, y) in points.iter_mut().chain(label) {
                    *x += dx;
                    *y += dy;
                }
            }
        }
        self
    }
}

impl Block {
    fn put(&mut self, other: Self, dx: f64, dy: f64) {
        self.left = self.left.max(other.left - dx);
        self.right = self.right.max(other.right + dx);
        self.height = self.height.max(other.height + dy);
        let shapes = other.shapes.into_iter();
        self.shapes.extend(shapes.map(|shape| shape.moved(dx, dy)));
    }

    /// Adds a line to what begins where it ends.
    fn line(&mut self, points: &[(f64, f64)], edge: Edge, arrow: bool) {
        let last = points[points.len() - 1];
        if arrow {
            self.right = self.right.max(last.0 + edge.room());
        }
        self.shapes.push(Shape::Line {
            points: points.to_vec(),
            edge,
            label: arrow.then_some((last.0 + 5.0, last.1 - 7.0)),
            arrow,
        });
    }
}

/// Places a graph.
pub(super) fn layout(graph: &ControlGraph, shown: &Shown) -> Layout {
    let builder = Builder { graph, shown };
    // Where each level of cells begins and ends, and where its next panel may be.
    let mut levels: BTreeMap<usize, Vec<(Site, Block)>> = BTreeMap::new();
    for &(site, level) in &graph.cells {
        if shown.sites.contains(&site) {
            let block = builder.cell(site);
            levels.entry(level).or_default().push((site, block));
        }
    }
    let mut all = Layout {
        shapes: Vec::new(),
        width: 0.0,
        height: 0.0,
    };
    let mut places: BTreeMap<NodeIndex, Rect> = BTreeMap::new();
    let callers = shown.callers(graph);
    let mut x = 0.0;
    for mut panels in levels.into_values() {
        // Beside the first that calls it.
        let beside = |site: &Site| {
            let callers = callers.get(site).into_iter().flatten();
            let tops = callers.filter_map(|caller| Some(places.get(caller)?.y));
            tops.reduce(f64::min).unwrap_or(0.0)
        };
        let sites = panels.iter().map(|(site, _)| *site);
        let tops: BTreeMap<Site, f64> = sites.map(|site| (site, beside(&site))).collect();
        panels.sort_by(|(one, _), (other, _)| tops[one].total_cmp(&tops[other]));
        let width = |block: &Block| block.left + block.right + 2.0 * MARGIN;
        let widest = panels.iter().map(|(_, block)| width(block));
        let widest = widest.fold(0.0, f64::max);
        let mut top: f64 = 0.0;
        for (site, block) in panels {
            top = top.max(tops[&site] - MARGIN);
            let at = Rect {
                x,
                y: top,
                width: width(&block),
                height: block.height + 2.0 * MARGIN,
            };
            all.shapes.push(Shape::Panel { at });
            let (dx, dy) = (x + block.left + MARGIN, top + MARGIN);
            for shape in block.shapes {
                let shape = shape.moved(dx, dy);
                if let Shape::Step { at, step, .. } = &shape {
                    places.insert(*step, *at);
                }
                all.shapes.push(shape);
            }
            top += at.height + MARGIN;
            all.height = all.height.max(top - MARGIN);
        }
        x += widest + APART;
        all.width = x - APART;
    }
    for (called, from) in &callers {
        let to = &graph.statements[called].step;
        for caller in from {
            let edge = graph.graph.find_edge(*caller, *to);
            if let (Some(edge), Some(from), Some(to)) = (edge, places.get(caller), places.get(to)) {
                let edge = graph.graph[edge];
                all.shapes.push(Shape::Line {
                    points: vec![
                        (from.x + from.width, from.y + from.height / 2.0),
                        (to.x, to.y + to.height / 2.0),
                    ],
                    edge,
                    label: None,
                    arrow: true,
                });
            }
        }
    }
    all
}

impl Edge {
    /// What its number takes beside it.
    #[expect(clippy::cast_precision_loss, reason = "a few characters")]
    fn room(self) -> f64 {
        self.label().width() as f64 * CHARACTER
    }
}

struct Builder<'a> {
    graph: &'a ControlGraph,
    shown: &'a Shown,
}

impl Builder<'_> {
    /// What is in a panel.
    fn cell(&self, site: Site) -> Block {
        let mut block = self.head(site);
        for &root in &self.graph.statements[&site].inside {
            if self.shown.open.contains(&site) && self.shown.sites.contains(&root) {
                self.below(&mut block, root, Way::Next);
                self.end(&mut block, root);
            }
        }
        block
    }

    /// Puts the end of a cell's control below it.
    fn end(&self, block: &mut Block, root: Site) {
        let (from, to) = (block.height, block.height + GAP);
        block.shapes.push(Shape::Line {
            points: vec![(0.0, from), (0.0, to)],
            edge: self.entry(root, Way::Next),
            label: None,
            arrow: true,
        });
        let at = Rect {
            x: -END / 2.0,
            y: to,
            width: END,
            height: END,
        };
        block.shapes.push(Shape::End { at });
        block.height = to + END;
    }

    /// Puts a statement below what is there.
    fn below(&self, block: &mut Block, site: Site, way: Way) {
        let top = block.height;
        block.line(&[(0.0, top), (0.0, top + GAP)], self.entry(site, way), true);
        block.put(self.statement(site), 0.0, top + GAP);
    }

    /// The edge that leads to a statement.
    fn entry(&self, site: Site, way: Way) -> Edge {
        let taken = self.graph.statements[&site].entered;
        Edge {
            taken,
            way,
            critical: taken != Some(0) && self.graph.through(site) > 0,
        }
    }

    fn statement(&self, site: Site) -> Block {
        let statement = &self.graph.statements[&site];
        let mut block = self.head(site);
        let inside = &statement.inside;
        if inside.is_empty() || !self.shown.open.contains(&site) {
            return block;
        }
        match self.graph.step(site).kind {
            StepKind::If => self.branches(&mut block, site),
            StepKind::Fork => self.arms(&mut block, site),
            StepKind::Loop if self.shown.sites.contains(&inside[0]) => {
                self.body(&mut block, site, inside[0]);
            }
            StepKind::Loop => {}
            _ => {
                let shown = inside.iter().filter(|next| self.shown.sites.contains(next));
                for &next in shown {
                    self.below(&mut block, next, Way::Next);
                }
            }
        }
        block
    }

    /// The branches of an `if`, below its decision.
    fn branches(&self, block: &mut Block, site: Site) {
        let statement = &self.graph.statements[&site];
        let ways = [Way::Then, Way::Else];
        let mut columns: Vec<(Option<Block>, Edge)> = statement
            .inside
            .iter()
            .zip(ways)
            .map(|(&branch, way)| {
                let is_shown = self.shown.sites.contains(&branch);
                let block = is_shown.then(|| self.statement(branch));
                (block, self.entry(branch, way))
            })
            .collect();
        if let [(_, then)] = columns[..] {
            let skipped = statement.entered.zip(then.taken);
            let taken = skipped.and_then(|(all, taken)| all.checked_sub(taken));
            let critical = taken.is_some_and(|taken| taken > 0) && self.graph.through(site) > 0;
            let edge = Edge {
                taken,
                way: Way::Else,
                critical,
            };
            columns.push((None, edge));
        }
        let sizes = columns.iter().map(|(block, _)| {
            let empty = (ASIDE, 4.0 * CHARACTER);
            block
                .as_ref()
                .map_or(empty, |block| (block.left, block.right))
        });
        let (xs, _) = side_by_side(sizes);
        let top = block.height;
        let (turn, begin) = (top + GAP / 2.0, top + GAP * 1.5);
        let heights = columns.iter().filter_map(|(block, _)| block.as_ref());
        let tallest = heights.map(|block| block.height).fold(0.0, f64::max);
        let end = begin + tallest + GAP / 2.0;
        for ((column, edge), x) in columns.into_iter().zip(xs) {
            let bottom = begin + column.as_ref().map_or(0.0, |block| block.height);
            block.line(
                &[(0.0, top), (0.0, turn), (x, turn), (x, begin)],
                edge,
                true,
            );
            block.line(&[(x, bottom), (x, end), (0.0, end)], edge, false);
            let column = column.unwrap_or_default();
            block.put(column, x, begin);
        }
        block.height = end;
    }

    /// The arms of a `par`, between two bars.
    fn arms(&self, block: &mut Block, site: Site) {
        let statement = &self.graph.statements[&site];
        let columns: Vec<(Block, Edge)> = statement
            .inside
            .iter()
            .filter(|arm| self.shown.sites.contains(arm))
            .map(|&arm| (self.statement(arm), self.entry(arm, Way::Arm)))
            .collect();
        let sizes = columns.iter();
        let sizes = sizes.map(|(block, edge)| (block.left, block.right.max(edge.room())));
        let (xs, width) = side_by_side(sizes);
        let half = block.right.max(width / 2.0);
        // The fork is as wide as its arms.
        if let Some(Shape::Step { at, .. }) = block.shapes.first_mut() {
            (at.x, at.width) = (-half, 2.0 * half);
        }
        let top = block.height;
        let tallest = columns.iter().map(|(block, _)| block.height);
        let end = top + GAP + tallest.fold(0.0, f64::max) + GAP / 2.0;
        for ((column, edge), x) in columns.into_iter().zip(xs) {
            let bottom = top + GAP + column.height;
            block.line(&[(x, top), (x, top + GAP)], edge, true);
            block.line(&[(x, bottom), (x, end)], edge, false);
            block.put(column, x, top + GAP);
        }
        if let Some(step) = statement.join {
            let at = Rect {
                x: -half,
                y: end,
                width: 2.0 * half,
                height: BAR,
            };
            block.shapes.push(Shape::Bar { at, step });
        }
        (block.left, block.right) = (half.max(block.left), half.max(block.right));
        block.height = end + BAR;
    }

    /// The body of a loop, with the ways back and out.
    fn body(&self, block: &mut Block, site: Site, body: Site) {
        let statement = &self.graph.statements[&site];
        let (middle, left, right) = (block.height / 2.0, block.left, block.right);
        self.below(block, body, Way::Body);
        let bottom = block.height;
        let (back, out) = (block.left + ASIDE, block.right + ASIDE);
        let again = Edge {
            taken: statement.again,
            way: Way::Again,
            ..self.entry(body, Way::Again)
        };
        let turn = bottom + GAP / 3.0;
        let points = [
            (0.0, bottom),
            (0.0, turn),
            (-back, turn),
            (-back, middle),
            (-left, middle),
        ];
        block.line(&points, again, true);
        // Its number is that of the body.
        if let Some(Shape::Line { label, .. }) = block.shapes.last_mut() {
            *label = None;
        }
        let end = turn + GAP / 3.0;
        let points = [(right, middle), (out, middle), (out, end), (0.0, end)];
        block.line(&points, self.entry(site, Way::Next), false);
        (block.left, block.right, block.height) = (back + 4.0, out + 4.0, end);
    }

    /// The box of a statement or cell.
    fn head(&self, site: Site) -> Block {
        let statement = &self.graph.statements[&site];
        let step = &self.graph.graph[statement.step];
        let hidden = statement.inside.iter();
        let hidden = hidden.filter(|part| !self.shown.sites.contains(part));
        let text = self.text(step, hidden.count());
        let widest = text.iter().map(|line| line.width()).max().unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "a few characters and lines")]
        let (width, height) = (
            widest as f64 * CHARACTER + 2.0 * PADDING,
            text.len() as f64 * LINE + PADDING,
        );
        let at = Rect {
            x: -width / 2.0,
            y: 0.0,
            width,
            height,
        };
        Block {
            left: width / 2.0,
            right: width / 2.0,
            height,
            shapes: vec![Shape::Step {
                at,
                step: statement.step,
                text,
            }],
        }
    }

    fn text(&self, step: &Step, hidden: usize) -> Vec<String> {
        let whole = u128::from(self.graph.cycles);
        let cycles = |cycles: u64| {
            let share = share(cycles.into(), whole);
            format!("{}  {share}", thousands(cycles))
        };
        let label = shortened(&step.label, LONGEST);
        let mut text = vec![format!("{label}  {}", step.place).trim_end().to_owned()];
        let critical = format!("critical {}", cycles(step.critical));
        match step.kind {
            StepKind::Seq | StepKind::Fork => {
                if step.critical > 0 {
                    text = vec![format!("{}  {critical}", text[0])];
                }
            }
            _ => {
                text.push(format!("cycles {}", cycles(step.cycles)));
                if step.critical > 0 {
                    text.push(critical);
                }
            }
        }
        if hidden > 0 {
            text.push(format!("… {hidden} in it, not shown"));
        }
        text
    }
}

/// Where columns are, if their middle is at 0, and how wide all are. Of each column what is left and right of its line.
fn side_by_side(columns: impl Iterator<Item = (f64, f64)>) -> (Vec<f64>, f64) {
    let mut xs = Vec::new();
    let mut width = -ASIDE;
    for (left, right) in columns {
        xs.push(width + ASIDE + left);
        width += ASIDE + left + right;
    }
    for x in &mut xs {
        *x -= width / 2.0;
    }
    (xs, width)
}
