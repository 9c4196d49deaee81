//! Pages of HTML that need no network: a template with a style, a script and the data that the script shows.
//!
//! Owns what keeps data from being markup: names of a design reach a page escaped, or in JSON that no tag can end, and its
//! content security policy admits no script and no style but its own.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A page without its data.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Its markup, with `{{name}}` where a part belongs: `script`, `style`, their hashes (`script-hash`, `style-hash`), `data`
    /// and what else [`Page::render`] gets.
    pub template: &'a str,
    /// Its style sheet.
    pub style: &'a str,
    /// Its script, a module.
    pub script: &'a str,
}

impl Page<'_> {
    /// The text of the page with this data, with texts that are escaped, and with bytes in base64.
    ///
    /// # Panics
    /// If the template names a part that there is not.
    pub fn render(
        &self,
        data: &impl Serialize,
        texts: &[(&str, &str)],
        bytes: &[(&str, &[u8])],
    ) -> String {
        let json = serde_json::to_string(data).expect("the keys are texts");
        let mut parts = vec![
            ("script-hash", hash(self.script)),
            ("style-hash", hash(self.style)),
            ("style", self.style.to_owned()),
            ("script", self.script.to_owned()),
            // In JSON, `<` only ever stands inside of a text.
            ("data", json.replace('<', "\\u003c")),
        ];
        parts.extend(texts.iter().map(|&(name, text)| (name, escape(text))));
        let encoded = |&(name, bytes): &(_, _)| (name, BASE64_STANDARD.encode::<&[u8]>(bytes));
        parts.extend(bytes.iter().map(encoded));
        fill(self.template, &parts)
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
            template: "<h1>{{title}}</h1><script>{{data}}</script>{{trees}}",
            style: "",
            script: "",
        };
        let hostile = "</script>{{style}}\"'&";
        let text = page.render(&[hostile], &[("title", hostile)], &[("trees", b"<")]);
        assert_eq!(
            text,
            "<h1>&lt;/script&gt;{{style}}&quot;&#39;&amp;</h1>\
             <script>[\"\\u003c/script>{{style}}\\\"'&\"]</script>PA=="
        );
    }
}
