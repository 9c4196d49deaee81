//! The graph as an SVG image. Owns colours, lines and texts; `layout` tells where they are.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::detail::Detail;
use super::layout::{BAR, CHARACTER, LINE, Layout, PADDING, Rect, Shape, layout};
use super::shown::Shown;
use super::{ControlGraph, Edge, Step, Way};
use crate::colors::Meaning;
use petal_table::text::{printable, share, thousands};

/// Of what is on the critical path.
const CRITICAL: &str = "#b3261e";
/// Of what is not.
const PLAIN: &str = "#8b93a0";
/// Of what was never reached.
const UNREACHED: &str = "0.45";
/// How it looks where all is dark.
const DARK: &str = "@media (prefers-color-scheme: dark) { .paper { fill: #16181c } .panel { fill: #1f2228; stroke: #3a3f48 } \
                    text { fill: #e6e8ec } .step text { fill: #1b1f24 } text.critical { fill: #ff9e8f } }";
/// Around the picture, and for the text above it.
const BORDER: f64 = 16.0;
const ABOVE: f64 = 84.0;
/// At least so wide, for the text above it.
const NARROWEST: f64 = 760.0;

impl ControlGraph {
    /// The graph as an image, with as much of it as `detail` says.
    pub fn svg(&self, detail: Detail) -> String {
        let mut image = Vec::new();
        let drawn = self.draw(&Shown::of(self, detail), true, &mut image);
        debug_assert!(drawn.is_ok(), "there is memory");
        String::from_utf8_lossy(&image).into_owned()
    }

    /// The image for a page, which has heading, legend and looks of its own, and what it leaves out.
    pub(super) fn svg_of_page(&self, detail: Detail) -> (String, Option<String>) {
        let mut image = Vec::new();
        let shown = Shown::of(self, detail);
        let drawn = self.draw(&shown, false, &mut image);
        debug_assert!(drawn.is_ok(), "there is memory");
        let image = String::from_utf8_lossy(&image).into_owned();
        (image, self.left_out(&shown).map(|left_out| left_out + "."))
    }

    /// Draws what is shown; `alone` says that nothing else tells what it is.
    fn draw(&self, shown: &Shown, alone: bool, out: impl Write) -> io::Result<()> {
        let layout = layout(self, shown);
        let (above, narrowest) = if alone {
            (ABOVE, NARROWEST)
        } else {
            (0.0, 0.0)
        };
        let width = layout.width.max(narrowest) + 2.0 * BORDER;
        let height = layout.height + above + 2.0 * BORDER;
        let mut writer = Writer::new(out);
        writer
            .create_element("svg")
            .with_attributes([
                ("xmlns", "http://www.w3.org/2000/svg"),
                ("width", &*number(width)),
                ("height", &*number(height)),
                (
                    "viewBox",
                    &*format!("0 0 {} {}", number(width), number(height)),
                ),
                ("font-family", "monospace"),
                ("font-size", "11"),
                ("fill", "#1b1f24"),
            ])
            .write_inner_content(|writer| {
                if alone {
                    let style = writer.create_element("style");
                    style.write_text_content(BytesText::new(DARK))?;
                }
                markers(writer)?;
                rect(
                    writer,
                    Rect {
                        x: 0.0,
                        y: 0.0,
                        width,
                        height,
                    },
                    &[("fill", "#ffffff"), ("class", "paper")],
                )?;
                if alone {
                    self.heading(writer, shown)?;
                }
                let place = format!("translate({} {})", number(BORDER), number(BORDER + above));
                let group = writer.create_element("g");
                group
                    .with_attribute(("transform", &*place))
                    .write_inner_content(|writer| self.shapes(writer, &layout))?;
                Ok(())
            })?;
        Ok(())
    }

    fn heading(&self, writer: &mut Writer<impl Write>, shown: &Shown) -> io::Result<()> {
        let title = format!("{}: {} cycles", self.design, thousands(self.cycles));
        text(writer, (BORDER, 26.0), &title, &[("font-size", "15")])?;
        legend(writer)?;
        if let Some(left_out) = self.left_out(shown) {
            let note = format!("{left_out}: `--all` shows more, `--cell` one cell, DOT all.");
            let look = [("fill", CRITICAL), ("class", "critical")];
            text(writer, (BORDER, 82.0), &note, &look)?;
        }
        Ok(())
    }

    /// What is not shown, in words, if anything.
    fn left_out(&self, shown: &Shown) -> Option<String> {
        let left_out = self.statements.len() - shown.sites.len();
        let cycles = self.cycles_of(|site| !shown.sites.contains(&site));
        (left_out > 0).then(|| {
            format!(
                "{} of {} statements and cells are not shown, with {} cycles of the critical path",
                thousands(left_out as u64),
                thousands(self.statements.len() as u64),
                thousands(cycles),
            )
        })
    }

    fn cycles_of(&self, wanted: impl Fn(super::Site) -> bool) -> u64 {
        let sites = self.statements.keys().filter(|site| wanted(**site));
        sites.map(|&site| self.step(site).critical).sum()
    }

    /// Panels first, then lines, then boxes.
    fn shapes(&self, writer: &mut Writer<impl Write>, layout: &Layout) -> io::Result<()> {
        for shape in &layout.shapes {
            if let Shape::Panel { at } = shape {
                let look = [
                    ("fill", "#f6f8fa"),
                    ("stroke", "#d0d7de"),
                    ("rx", "6"),
                    ("class", "panel"),
                ];
                rect(writer, *at, &look)?;
            }
        }
        for shape in &layout.shapes {
            if let Shape::Line {
                points,
                edge,
                label,
                arrow,
            } = shape
            {
                line(writer, points, *edge, *arrow)?;
                if let Some(place) = label {
                    let (color, class) = if edge.critical {
                        (CRITICAL, "critical")
                    } else {
                        ("#57606a", "plain")
                    };
                    let look = [("fill", color), ("font-size", "10"), ("class", class)];
                    text(writer, *place, &edge.label(), &look)?;
                }
            }
        }
        for shape in &layout.shapes {
            match shape {
                Shape::Step { at, step, text } => {
                    self.step_box(writer, *at, &self.graph[*step], text)?;
                }
                Shape::Bar { at, step } => {
                    let look = match self.through(self.graph[*step].site) {
                        0 => PLAIN,
                        _ => CRITICAL,
                    };
                    debug_assert!((at.height - BAR).abs() < f64::EPSILON);
                    rect(writer, *at, &[("fill", look)])?;
                }
                Shape::End { at } => {
                    let radius = number(at.width / 2.0);
                    let circle = writer.create_element("circle").with_attributes([
                        ("cx", &*number(at.x + at.width / 2.0)),
                        ("cy", &*number(at.y + at.height / 2.0)),
                        ("r", &*radius),
                        ("fill", PLAIN),
                    ]);
                    circle.write_inner_content(|writer| {
                        let title = writer.create_element("title");
                        title.write_text_content(BytesText::new("the end"))?;
                        Ok(())
                    })?;
                }
                Shape::Panel { .. } | Shape::Line { .. } => {}
            }
        }
        Ok(())
    }

    fn step_box(
        &self,
        writer: &mut Writer<impl Write>,
        at: Rect,
        step: &Step,
        lines: &[String],
    ) -> io::Result<()> {
        let is_critical = self.through(step.site) > 0;
        let stroke = if is_critical { CRITICAL } else { PLAIN };
        let width = if is_critical { "1.6" } else { "1" };
        let opacity = if step.times == Some(0) {
            UNREACHED
        } else {
            "1"
        };
        let mut group = writer.create_element("g");
        group = group.with_attributes([("opacity", opacity), ("class", "step")]);
        if let Some(id) = step.id {
            group = group.with_attribute(("data-site", &*id.to_string()));
        }
        group.write_inner_content(|writer| {
            let title = self.title(step);
            let element = writer.create_element("title");
            element.write_text_content(BytesText::new(&title))?;
            rect(writer, at, &[("fill", "#ffffff"), ("rx", "3")])?;
            let fill = step.meaning.color();
            let strength = number(self.strength(step));
            rect(
                writer,
                at,
                &[
                    ("fill", fill),
                    ("fill-opacity", &*strength),
                    ("stroke", stroke),
                    ("stroke-width", width),
                    ("rx", "3"),
                ],
            )?;
            let mut y = at.y + LINE - 2.0;
            for (nth, line) in lines.iter().enumerate() {
                let look: &[(&str, &str)] = match nth {
                    0 => &[("font-weight", "bold")],
                    _ => &[],
                };
                text(writer, (at.x + PADDING, y), &printable(line), look)?;
                y += LINE;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// How full a box is: by its share of the critical path.
    #[expect(clippy::cast_precision_loss, reason = "it is a shade of a colour")]
    fn strength(&self, step: &Step) -> f64 {
        let share = step.critical as f64 / self.cycles.max(1) as f64;
        0.08 + 0.92 * share.sqrt()
    }

    /// What is told when the pointer is over a step.
    fn title(&self, step: &Step) -> String {
        let part = |cycles: u64| {
            let share = share(cycles.into(), self.cycles.into());
            format!("{} cycles ({share} of the run)", thousands(cycles))
        };
        let times = step.times.map(|times| match times {
            1 => "once".to_owned(),
            _ => format!("{} times", thousands(times)),
        });
        let lines = [
            format!("{} {}", step.label, step.place)
                .trim_end()
                .to_owned(),
            step.source.clone(),
            times.unwrap_or_else(|| "nobody knows how often".to_owned()),
            format!("active in {}", part(step.cycles)),
            format!("on the critical path: {}", part(step.critical)),
            format!("with all in it: {}", part(self.through(step.site))),
        ];
        let lines = lines.iter().filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.map(|line| printable(line)).collect();
        lines.join("\n")
    }
}

impl Edge {
    /// Why it is taken, where that is no matter of course, and how often.
    pub(super) fn label(&self) -> String {
        let taken = self.taken.map_or("?".to_owned(), thousands);
        match self.way {
            Way::Then => format!("then {taken}"),
            Way::Else => format!("else {taken}"),
            Way::Calls => format!("calls {taken}"),
            Way::Again => format!("again {taken}"),
            Way::Next | Way::Arm | Way::Body => taken,
        }
    }

    /// In pixels: one more for each ten times as often.
    pub(super) fn width(&self) -> f64 {
        let digits = self.taken.unwrap_or(0).checked_ilog10().unwrap_or(0);
        1.2 + f64::from(digits) * 0.5
    }
}

/// What colours and lines mean.
fn legend(writer: &mut Writer<impl Write>) -> io::Result<()> {
    let muted = [("fill", "#57606a")];
    let mut x = BORDER;
    let meanings = [
        (Meaning::Computation.color(), PLAIN, "group"),
        (Meaning::Cell.color(), PLAIN, "cell"),
        (Meaning::Control.color(), PLAIN, "control"),
        (
            "#ffffff",
            CRITICAL,
            "on the critical path; the fuller, the more of its cycles",
        ),
    ];
    for (fill, stroke, meaning) in meanings {
        let at = Rect {
            x,
            y: 36.0,
            width: 11.0,
            height: 11.0,
        };
        let look = [
            ("fill", fill),
            ("stroke", stroke),
            ("stroke-width", "1.6"),
            ("rx", "2"),
        ];
        rect(writer, at, &look)?;
        text(writer, (x + 16.0, 46.0), meaning, &muted)?;
        #[expect(clippy::cast_precision_loss, reason = "a few characters")]
        let width = meaning.len() as f64 * CHARACTER;
        x += width + 34.0;
    }
    let lines = "Numbers at lines: how often they were taken. Dashed: which cell a step calls. Pale: never reached. A dot: the end.";
    text(writer, (BORDER, 64.0), lines, &muted)
}

/// Two decimals at most, without zeros at the end.
fn number(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn markers(writer: &mut Writer<impl Write>) -> io::Result<()> {
    let defs = writer.create_element("defs");
    defs.write_inner_content(|writer| {
        for (id, color) in [("plain", PLAIN), ("critical", CRITICAL)] {
            let marker = writer.create_element("marker");
            marker
                .with_attributes([
                    ("id", id),
                    ("viewBox", "0 0 8 8"),
                    ("refX", "7"),
                    ("refY", "4"),
                    ("markerUnits", "userSpaceOnUse"),
                    ("markerWidth", "9"),
                    ("markerHeight", "9"),
                    ("orient", "auto"),
                ])
                .write_inner_content(|writer| {
                    let arrow = writer.create_element("path");
                    let look = [("d", "M0 0L8 4L0 8z"), ("fill", color)];
                    arrow.with_attributes(look).write_empty()?;
                    Ok(())
                })?;
        }
        Ok(())
    })?;
    Ok(())
}

fn rect(writer: &mut Writer<impl Write>, at: Rect, look: &[(&str, &str)]) -> io::Result<()> {
    let element = writer.create_element("rect");
    element
        .with_attributes([
            ("x", &*number(at.x)),
            ("y", &*number(at.y)),
            ("width", &*number(at.width)),
            ("height", &*number(at.height)),
        ])
        .with_attributes(look.iter().copied())
        .write_empty()?;
    Ok(())
}

fn text(
    writer: &mut Writer<impl Write>,
    (x, y): (f64, f64),
    text: &str,
    look: &[(&str, &str)],
) -> io::Result<()> {
    let element = writer.create_element("text");
    element
        .with_attributes([
            ("x", &*number(x)),
            ("y", &*number(y)),
            ("xml:space", "preserve"),
        ])
        .with_attributes(look.iter().copied())
        .write_text_content(BytesText::new(text))?;
    Ok(())
}

fn line(
    writer: &mut Writer<impl Write>,
    points: &[(f64, f64)],
    edge: Edge,
    arrow: bool,
) -> io::Result<()> {
    let place = |&(x, y): &(f64, f64)| format!("{} {}", number(x), number(y));
    let path = match points {
        [from @ (x1, y1), to @ (x2, y2)] if edge.way == Way::Calls => {
            let away = ((x2 - x1).abs() / 2.0).max(8.0 * CHARACTER);
            format!(
                "M{}C{} {} {} {} {}",
                place(from),
                number(x1 + away),
                number(*y1),
                number(x2 - away),
                number(*y2),
                place(to)
            )
        }
        _ => {
            let places: Vec<String> = points.iter().map(place).collect();
            format!("M{}", places.join("L"))
        }
    };
    let (color, marker) = if edge.critical {
        (CRITICAL, "url(#critical)")
    } else {
        (PLAIN, "url(#plain)")
    };
    let group = writer.create_element("path");
    let mut group = group.with_attributes([
        ("d", &*path),
        ("fill", "none"),
        ("stroke", color),
        ("stroke-width", &*number(edge.width())),
        ("stroke-linejoin", "round"),
    ]);
    if arrow {
        group = group.with_attribute(("marker-end", marker));
    }
    if edge.way == Way::Calls {
        group = group.with_attributes([("stroke-dasharray", "5 4"), ("opacity", "0.7")]);
    }
    group.write_inner_content(|writer| {
        let title = writer.create_element("title");
        title.write_text_content(BytesText::new(&edge.label()))?;
        Ok(())
    })?;
    Ok(())
}
