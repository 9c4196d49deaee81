//! Pages of HTML that need no network: what all of petal's pages have in common.
//!
//! Owns the document around a page's own markup, style and script, what these share (colours, controls, tabs, splitters, tables), and what keeps
//! data from being markup: names of a design reach a page escaped, or in JSON that no tag can end, and its
//! content security policy admits no script and no style but its own.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::colors;

const DOCUMENT: &str = include_str!("page/document.html");
const STYLE: &str = include_str!("page/base.css");
/// What comes before each page's own script, in the same module.
const SCRIPT: &str = concat!(
    include_str!("page/base.js"),
    include_str!("page/views.js"),
    include_str!("page/histogram.js"),
);

/// A page without its data.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// What kind of page it is: the browser remembers settings by it.
    pub kind: &'a str,
    /// The markup of its body, with `{{name}}` where a text belongs that [`Page::render`] gets.
    pub body: &'a str,
    /// Its style sheet, after the one of all pages.
    pub style: &'a str,
    /// Its script, after the one of all pages.
    pub script: &'a str,
}

impl Page<'_> {
    /// The text of the page with this title and data, with texts that are escaped, and with bytes in base64 as elements of these ids.
    ///
    /// # Panics
    /// If the body names a text that there is not.
    pub fn render(
        &self,
        title: &str,
        data: &impl Serialize,
        texts: &[(&str, &str)],
        bytes: &[(&str, &[u8])],
    ) -> String {
        let json = serde_json::to_string(data).expect("the keys are texts");
        let style = lean(&format!("{STYLE}{}{}", colors::style(), self.style));
        let script = lean(&format!("{SCRIPT}{}", self.script));
        let texts = texts.iter().map(|&(name, text)| (name, escape(text)));
        let packed = bytes.iter().map(|(id, bytes)| {
            let encoded = BASE64_STANDARD.encode::<&[u8]>(bytes);
            format!("<script type=\"text/plain\" id=\"{id}\">{encoded}</script>\n")
        });
        let parts = [
            ("title", escape(title)),
            ("page", escape(self.kind)),
            ("script-hash", hash(&script)),
            ("style-hash", hash(&style)),
            ("style", style),
            ("body", fill(self.body, &texts.collect::<Vec<_>>())),
            // In JSON, `<` only ever stands inside of a text.
            ("data", json.replace('<', "\\u003c")),
            ("packed", packed.collect()),
            ("script", script),
        ];
        fill(DOCUMENT, &parts)
    }
}

/// `template` with each `{{name}}` replaced by that part. The parts themselves are left alone.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, (name, after))) = rest
        .split_once("{{")
        .and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        text.push_str(before);
        let part = parts.iter().find(|(given, _)| *given == name);
        text.push_str(&part.expect("the template names its parts").1);
        rest = after;
    }
    text.push_str(rest);
    text
}

/// A script or style without what only its authors read: indents, and lines that are a comment. No text in it has several lines.
fn lean(code: &str) -> String {
    let lines = code.lines().map(str::trim_start);
    let is_comment = |line: &str| {
        line.starts_with("//") || (line.starts_with("/*") && line.trim_end().ends_with("*/"))
    };
    let mut text = String::with_capacity(code.len());
    for line in lines.filter(|line| !line.is_empty() && !is_comment(line)) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// What a content security policy calls a script or style.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

/// A text as HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn nothing_of_the_data_becomes_markup() {
        let page = Page {
            kind: "test",
            body: "<h1>{{name}}</h1>",
            style: "",
            script: "",
        };
        let hostile = "</script>{{style}}\"'&";
        let text = page.render(
            hostile,
            &[hostile],
            &[("name", hostile)],
            &[("trees", b"<")],
        );
        let escaped = "&lt;/script&gt;{{style}}&quot;&#39;&amp;";
        for part in [
            &*format!("<title>{escaped}: petal</title>"),
            &*format!("<h1>{escaped}</h1>"),
            "id=\"data\">[\"\\u003c/script>{{style}}\\\"'&\"]</script>",
            "id=\"trees\">PA==</script>",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains(hostile));
    }
}
