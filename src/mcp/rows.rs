//! Lists of which only so many rows are given, and what is said of the others.

use serde_json::{Value, json};

/// What is left out of the lists of a result.
#[derive(Debug)]
pub struct Rows {
    top: usize,
    cuts: Vec<(String, usize, usize)>,
}

impl Rows {
    /// At most so many of each list are given.
    pub fn new(top: usize) -> Self {
        let cuts = Vec::new();
        Self { top, cuts }
    }

    /// Cuts the list of this name in `of`, if there is one.
    pub fn cut(&mut self, of: &mut Value, name: &str) {
        self.cut_named(of, name, name);
    }

    /// The same; the client hears of it by another name.
    pub fn cut_named(&mut self, of: &mut Value, name: &str, shown_as: &str) {
        let list = of.get_mut(name).and_then(Value::as_array_mut);
        if let Some(list) = list.filter(|list| list.len() > self.top) {
            self.cuts.push((shown_as.to_owned(), self.top, list.len()));
            list.truncate(self.top);
        }
    }

    /// What was cut.
    pub fn json(&self) -> Value {
        let cut = |(list, shown, of): &(String, usize, usize)| json!({ "list": list, "shown": shown, "of": of });
        self.cuts.iter().map(cut).collect()
    }

    /// The same in words.
    pub fn text(&self) -> String {
        let cut = |(list, shown, of): &(String, usize, usize)| format!("{shown} of {of} {list}");
        let cuts: Vec<String> = self.cuts.iter().map(cut).collect();
        match &cuts[..] {
            [] => String::new(),
            cuts => format!("cut: {} (`top` gives more)\n", cuts.join(", ")),
        }
    }
}
