//! The graph as a page: the image, to be moved, enlarged and searched.

use serde::Serialize;

use super::ControlGraph;
use super::detail::Detail;
use super::shown::Shown;
use crate::page::Page;
use petal_table::text::thousands;

const BODY: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = concat!(include_str!("page/graph.js"));

/// What the script of the page gets: images as texts, which it makes nodes of that no browser runs.
#[derive(Serialize)]
struct Data {
    /// The image, of a large graph that of the critical path alone, and what it leaves out.
    image: (String, Option<String>),
    /// The image with more than the critical path, if the first is of that alone.
    all: Option<(String, Option<String>)>,
}

impl ControlGraph {
    /// The text of the page.
    pub fn html(&self) -> String {
        let is_alone = Shown::is_alone(self, Detail::Fitting);
        let data = Data {
            image: self.svg_of_page(Detail::Fitting),
            all: is_alone.then(|| self.svg_of_page(Detail::All)),
        };
        let page = Page {
            kind: "graph",
            body: BODY,
            style: STYLE,
            script: SCRIPT,
        };
        let title = format!("{}: {} cycles", self.design, thousands(self.cycles));
        page.render(&title, &data, &[("title", &title)], &[])
    }
}
