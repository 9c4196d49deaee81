//! Texts of a sweep's file with the values of parameters in them.
//!
//! Knows what a shell takes for one word, and nothing of sweeps.

use std::collections::BTreeMap;

/// A text with `{name}` replaced by that value. What has no name, and what a shell replaces, stays as it is.
pub fn filled(
    text: &str,
    values: &BTreeMap<String, String>,
    quoted: impl Fn(&str) -> String,
) -> Result<String, String> {
    let mut all = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        all.push_str(before);
        rest = &after[1..];
        let name = rest.split_once('}').map_or("", |(name, _)| name);
        let is_name = name
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(is_in_name);
        if !is_name || before.ends_with('$') {
            all.push('{');
            continue;
        }
        let Some(value) = values.get(name) else {
            let names: Vec<String> = values.keys().map(|name| format!("`{{{name}}}`")).collect();
            let there = if names.is_empty() {
                "there are no parameters here".to_owned()
            } else {
                format!("there is {}", names.join(", "))
            };
            return Err(format!(
                "nothing is called `{{{name}}}` in `{text}`: {there}"
            ));
        };
        all.push_str(&quoted(value));
        rest = &rest[name.len() + 1..];
    }
    all.push_str(rest);
    Ok(all)
}

pub fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

pub fn plain(value: &str) -> String {
    value.to_owned()
}

/// A value as one word of a shell's command.
pub fn shell(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+,:@%".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}
