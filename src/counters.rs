//! `petal counters`: what can be counted in a design.

use std::fmt::Write as _;

use petal_observe::Countable;
use petal_profile::Error;
use petal_table::style::{BOLD, DIM};

use crate::args::CountersArgs;
use crate::print::print;
use crate::screen::screen;
use crate::terminal::Terminal;

/// `petal counters`
pub fn counters(args: &CountersArgs) -> Result<(), Error> {
    let counters = petal_profile::counters(&args.design.options()?, &Terminal::default())?;
    let rows = counters.iter().map(
        |Countable {
             name,
             values,
             about,
         }| {
            let value = match &values[..] {
                [one] => one.clone(),
                all => format!("of all {} together", all.len()),
            };
            (name, value, about)
        },
    );
    let rows: Vec<_> = rows.collect();
    let width =
        |text: fn(&(&String, String, &&str)) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let names = width(|(name, ..)| name.chars().count());
    let values = width(|(_, value, _)| value.chars().count());
    let mut text = String::new();
    let screen = screen();
    let abouts = width(|(.., about)| about.chars().count());
    let fits = !screen.is_terminal || names + 2 + values + 2 + abouts <= screen.width;
    for (name, value, about) in &rows {
        let space = " ".repeat(names - name.chars().count());
        let name = screen.styled(BOLD, name);
        if fits {
            let about = screen.styled(DIM, about);
            let _ = writeln!(text, "{name}{space}  {value:values$}  {about}");
        } else {
            let _ = writeln!(text, "{name}");
            text.push_str(&screen.wrapped(value, 2));
            text.push_str(&screen.styled_lines(DIM, &screen.wrapped(about, 2)));
        }
    }
    print(&text)
}
