//! `petal counters`: what can be counted in a design.

use std::fmt::Write as _;

use petal_observe::Countable;
use petal_profile::Error;

use crate::args::CountersArgs;
use crate::print::print;
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
    for (name, value, about) in &rows {
        let _ = writeln!(text, "{name:names$}  {value:values$}  {about}");
    }
    print(&text)
}
