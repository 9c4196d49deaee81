//! How words stand out in a terminal: the colours of the report, as a terminal has them.

use anstyle::{Ansi256Color, AnsiColor, Style};
use petal_reconstruct::Overhead;

/// What stands out.
pub const BOLD: Style = Style::new().bold();
/// What is secondary.
pub const DIM: Style = Style::new().dimmed();
/// What to do.
pub const NEXT: Style = AnsiColor::Cyan.on_default();
/// What got better.
pub const BETTER: Style = AnsiColor::Green.on_default();
/// What got worse.
pub const WORSE: Style = AnsiColor::Red.on_default();

/// The colours of the report, as a terminal has them: of computation, of conditions, and of a kind of overhead.
pub const COMPUTATION: Style = of_palette(36);
/// See [`COMPUTATION`].
pub const CONDITIONS: Style = of_palette(74);

/// See [`COMPUTATION`].
pub fn style_of(kind: Overhead) -> Style {
    of_palette(match kind {
        Overhead::FsmUpdate => 166,
        Overhead::ParDone => 175,
        Overhead::FsmAndParDone => 131,
        Overhead::StaticWait => 221,
        Overhead::Barrier => 97,
        Overhead::StartFinish => 244,
        Overhead::Other => 240,
    })
}

const fn of_palette(number: u8) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi256(Ansi256Color(number))))
}
