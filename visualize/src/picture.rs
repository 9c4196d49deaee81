//! Flame graphs as SVG images that zoom and search in a browser.
//!
//! Owns what an image looks like. inferno lays it out and brings its script; it gets a number for each frame, and
//! what the frame shows is put in its place afterwards, so that no name can mean anything to it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use inferno::flamegraph::color::{BackgroundColor, Color, PaletteMap, StrokeColor};
use inferno::flamegraph::{Direction, Options, TextTruncateDirection};
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use quick_xml::{Reader, Writer};

use crate::colors;
use petal_table::text::printable;

/// A box of a flame graph.
#[derive(Debug)]
pub struct Frame {
    /// The frame that it stands on, which comes before it in the list; `None` for the outermost.
    pub above: Option<usize>,
    /// What is on it.
    pub name: String,
    /// What is told beside the name when the pointer is over it.
    pub detail: String,
    /// What fills it, in SVG's words.
    pub fill: String,
    /// The colour of its dashed outline, if it has one.
    pub outline: Option<String>,
    /// Whether it has stripes that `fill` has not.
    pub striped: bool,
    /// Whether it is overhead: it comes after its siblings, which are in the order of their names, and has stripes.
    pub overhead: bool,
    /// Its width without what stands on it.
    pub weight: u64,
}

/// Looks of all images besides inferno's: names can be read on stripes, and the dark is dark.
const STYLE: &str = "
.on-stripes { paint-order:stroke; stroke:#ffffff; stroke-opacity:0.8; stroke-width:4px; stroke-linejoin:round; }
#search { opacity:0.7; }
@media (prefers-color-scheme: dark) {
  rect[fill=\"url(#background)\"] { fill:#16181c; }
  #title, #subtitle, #details, #search, #matched, #unzoom { fill:#e6e8ec; }
  #frames > g > rect { stroke:#16181c; }
}
";

/// A frame's label as images show it: of overhead, its kind comes first.
#[must_use]
pub fn shown(label: &str) -> String {
    let kind = label.strip_prefix("(overhead: ");
    match kind.and_then(|kind| kind.strip_suffix(')')) {
        Some(kind) => format!("{kind}, overhead"),
        None => label.to_owned(),
    }
}

/// A flame graph as an image.
#[derive(Debug)]
pub struct Picture {
    /// How many units of weight make a cycle.
    pub units: u32,
    /// How bright the lines between frames are.
    pub stroke: u8,
    /// Above the graph.
    pub title: String,
    /// Below the title.
    pub subtitle: String,
    /// What fills mean, in one word each.
    pub legend: Vec<(String, &'static str)>,
    /// What stands on nothing is the run.
    pub frames: Vec<Frame>,
}

/// Of all images, in pixels: what inferno takes if there is no script to tell it the real one.
const WIDTH: f64 = 1200.0;
/// Of a character, in pixels.
const CHARACTER: f64 = 12.0 * 0.59;

impl Picture {
    /// Writes the image.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn svg(&self, out: impl Write) -> io::Result<()> {
        let order = self.order();
        let digits = order.len().to_string().len();
        let mut stacks: BTreeMap<usize, String> = BTreeMap::new();
        let mut lines: Vec<String> = Vec::new();
        for (number, &at) in order.iter().enumerate() {
            let frame = &self.frames[at];
            let mut stack = match frame.above {
                Some(above) => format!("{};", stacks[&above]),
                None => String::new(),
            };
            let _ = write!(stack, "{number:0digits$}");
            if frame.weight > 0 {
                lines.push(format!("{stack} {}", frame.weight));
            }
            stacks.insert(at, stack);
        }
        let mut plain = Vec::new();
        let lines = lines.iter().map(String::as_str);
        // The root has no number.
        let mut palette = PaletteMap::default();
        palette.insert("", grey(224));
        let mut options = self.options();
        options.palette_map = Some(&mut palette);
        inferno::flamegraph::from_lines(&mut options, lines, &mut plain)?;
        self.fill_in(&plain, &order, out)
    }

    /// The frames in preorder.
    fn order(&self) -> Vec<usize> {
        let mut below: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (at, frame) in self.frames.iter().enumerate() {
            below.entry(frame.above).or_default().push(at);
        }
        for siblings in below.values_mut() {
            siblings.sort_by_key(|&at| (self.frames[at].overhead, &self.frames[at].name));
            siblings.reverse();
        }
        let mut order = Vec::with_capacity(self.frames.len());
        let mut waiting = below.remove(&None).unwrap_or_default();
        while let Some(at) = waiting.pop() {
            order.push(at);
            waiting.extend(below.remove(&Some(at)).into_iter().flatten());
        }
        order
    }

    fn options<'a>(&self) -> Options<'a> {
        let mut options = Options::default();
        options.bgcolors = Some(BackgroundColor::Flat(grey(255)));
        options.stroke_color = StrokeColor::Color(grey(self.stroke));
        options.text_truncate_direction = TextTruncateDirection::Right;
        options.deterministic = true;
        // As the report's: what calls stands above what is called.
        options.direction = Direction::Inverted;
        options.factor = 1.0 / f64::from(self.units);
        options.title.clone_from(&self.title);
        options.subtitle = Some(self.subtitle.clone());
        "cycles".clone_into(&mut options.count_name);
        "Frame:".clone_into(&mut options.name_type);
        options
    }

    /// Copies inferno's image, with what the frames show in the place of their numbers.
    fn fill_in(&self, plain: &[u8], order: &[usize], out: impl Write) -> io::Result<()> {
        let mut reader = Reader::from_reader(plain);
        let mut writer = Writer::new(out);
        // The frame that is being copied.
        let mut frame: Option<&Frame> = None;
        let mut fits = 0;
        loop {
            let event = reader.read_event().map_err(io::Error::other)?;
            match &event {
                Event::Eof => break,
                Event::Start(start) if start.name().as_ref() == b"defs" => {
                    writer.write_event(event.borrow())?;
                    writer.get_mut().write_all(colors::patterns().as_bytes())?;
                    continue;
                }
                Event::Start(start) if start.name().as_ref() == b"title" => {
                    writer.write_event(event.borrow())?;
                    let title = text(&mut reader)?;
                    let number = title.split(' ').next().and_then(|text| text.parse().ok());
                    frame = number.and_then(|number: usize| self.frames.get(*order.get(number)?));
                    let title = match frame {
                        Some(frame) => printable(&format!("{} ({})", frame.name, frame.detail)),
                        None => title,
                    };
                    writer.write_event(Event::Text(BytesText::new(&title)))?;
                    writer.write_event(Event::End(BytesEnd::new("title")))?;
                    continue;
                }
                Event::Empty(start) if start.name().as_ref() == b"rect" => {
                    if let Some(frame) = frame {
                        let (mut rect, width) = filled(start, &frame.fill)?;
                        if let Some(color) = &frame.outline {
                            let style = format!("stroke:{color};stroke-dasharray:3 2");
                            rect.push_attribute(("style", &*style));
                        }
                        writer.write_event(Event::Empty(rect))?;
                        if frame.striped {
                            let (stripes, _) = filled(start, "url(#stripes)")?;
                            writer.write_event(Event::Empty(stripes))?;
                        }
                        fits = characters(width);
                        continue;
                    }
                }
                Event::Start(start) if start.name().as_ref() == b"text" => {
                    if let Some(frame) = frame.take() {
                        let mut start = start.borrow();
                        if frame.overhead {
                            start.push_attribute(("class", "on-stripes"));
                        }
                        writer.write_event(Event::Start(start))?;
                        text(&mut reader)?;
                        let shown = shortened(&printable(&frame.name), fits);
                        writer.write_event(Event::Text(BytesText::new(&shown)))?;
                        writer.write_event(Event::End(BytesEnd::new("text")))?;
                        continue;
                    }
                    let is_subtitle = |start: &BytesStart<'_>| {
                        let id = start.try_get_attribute("id").ok().flatten();
                        id.is_some_and(|id| id.value.as_ref() == b"subtitle")
                    };
                    if is_subtitle(start) {
                        writer.write_event(event.borrow())?;
                        self.legend(&mut writer)?;
                        continue;
                    }
                }
                Event::End(end) if end.name().as_ref() == b"style" => {
                    writer.write_event(Event::Text(BytesText::from_escaped(STYLE)))?;
                }
                _ => {}
            }
            writer.write_event(event)?;
        }
        Ok(())
    }

    /// What fills mean, before the subtitle.
    fn legend(&self, writer: &mut Writer<impl Write>) -> io::Result<()> {
        for (fill, meaning) in &self.legend {
            let square = BytesStart::new("tspan").with_attributes([
                ("fill", fill.as_str()),
                ("stroke", "#555555"),
                ("stroke-width", "0.5"),
            ]);
            writer.write_event(Event::Start(square))?;
            writer.write_event(Event::Text(BytesText::new("\u{25a0}")))?;
            writer.write_event(Event::End(BytesEnd::new("tspan")))?;
            let meaning = format!("\u{a0}{meaning} \u{a0}");
            writer.write_event(Event::Text(BytesText::new(&meaning)))?;
        }
        Ok(())
    }
}

fn grey(bright: u8) -> Color {
    Color {
        r: bright,
        g: bright,
        b: bright,
    }
}

/// The text up to the end of an element that has only that.
fn text(reader: &mut Reader<&[u8]>) -> io::Result<String> {
    let mut text = String::new();
    loop {
        match reader.read_event().map_err(io::Error::other)? {
            Event::Text(part) => text.push_str(&part.decode().map_err(io::Error::other)?),
            Event::End(_) | Event::Eof => return Ok(text),
            _ => {}
        }
    }
}

/// A `rect` with another fill, and its width in percent.
fn filled(rect: &BytesStart<'_>, fill: &str) -> io::Result<(BytesStart<'static>, f64)> {
    let mut copy = BytesStart::new("rect");
    let mut width = 0.0;
    for attribute in rect.attributes() {
        let attribute = attribute.map_err(io::Error::other)?;
        match attribute.key.as_ref() {
            b"fill" => copy.push_attribute(("fill", fill)),
            key => {
                if key == b"width" {
                    let text = String::from_utf8_lossy(&attribute.value);
                    width = text.trim_end_matches('%').parse().unwrap_or(0.0);
                }
                copy.push_attribute(attribute);
            }
        }
    }
    Ok((copy, width))
}

/// How many characters fit into so many percent of the image.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most the width of the image"
)]
fn characters(width: f64) -> usize {
    (width / 100.0 * WIDTH / CHARACTER) as usize
}

/// As much of `name` as fits.
fn shortened(name: &str, fits: usize) -> String {
    if name.chars().count() < fits {
        return name.to_owned();
    }
    match fits.checked_sub(2) {
        Some(room) if room > 0 => name.chars().take(room).chain("..".chars()).collect(),
        _ => String::new(),
    }
}
