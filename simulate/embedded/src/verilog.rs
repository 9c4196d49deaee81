//! The modules of a Verilog file, as far as it takes to tell that two are the same.
//!
//! Owns what does not count: white space and comments. Knows no grammar but where modules begin and end; where
//! that is not enough to be certain, two modules are different.

use std::collections::{HashMap, HashSet};

/// Modules by name, each as its tokens.
#[derive(Debug, Default)]
pub(crate) struct Modules(HashMap<String, Vec<String>>);

impl Modules {
    /// The modules in these files. None are known of a file whose directives may give its text another meaning.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a str>) -> Self {
        let mut modules = HashMap::new();
        for file in files {
            let tokens = tokens(file);
            let directives = ["`define", "`undef", "`include"];
            if tokens
                .iter()
                .any(|token| directives.contains(&token.as_str()))
            {
                continue;
            }
            let mut rest = tokens.as_slice();
            while let Some(begin) = rest.iter().position(|token| token == "module") {
                let module = &rest[begin..];
                let end = module.iter().position(|token| token == "endmodule");
                let (module, behind) = module.split_at(end.unwrap_or(module.len()));
                if let Some(name) = module.get(1) {
                    modules.insert(name.clone(), module.to_vec());
                }
                rest = behind;
            }
        }
        Self(modules)
    }

    /// Whether the module `name` is there in both, with the same text, and so are all modules that this names.
    pub fn same(&self, other: &Self, name: &str) -> bool {
        let mut seen = HashSet::from([name]);
        let mut waiting = vec![name];
        while let Some(name) = waiting.pop() {
            let (Some(module), Some(others)) = (self.0.get(name), other.0.get(name)) else {
                return false;
            };
            if module != others {
                return false;
            }
            let words = module.iter().map(String::as_str);
            let named =
                words.filter(|word| self.0.contains_key(*word) || other.0.contains_key(*word));
            waiting.extend(named.filter(|word| seen.insert(word)));
        }
        true
    }
}

/// What two texts are equal by: words, numbers and strings, operators, and all other characters for themselves.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let of_word = |c: char| c.is_alphanumeric() || "_$`'".contains(c);
    let of_operator = |c: char| "<>=&|~^!*+-:?%/".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let until = |end: &str, from: usize| {
            let place = rest[from..].find(end);
            place.map_or(rest.len(), |at| from + at + end.len())
        };
        let while_in = |of: &dyn Fn(char) -> bool| rest.find(|c| !of(c)).unwrap_or(rest.len());
        let (length, counts) = match first {
            _ if rest.starts_with("//") => (until("\n", 2), false),
            _ if rest.starts_with("/*") => (until("*/", 2), false),
            c if c.is_whitespace() => (c.len_utf8(), false),
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                (end.map_or(rest.len(), |at| at + 2), true)
            }
            c if of_word(c) => (while_in(&of_word), true),
            c if of_operator(c) => {
                let end = while_in(&of_operator);
                let comment = ["//", "/*"]
                    .iter()
                    .filter_map(|comment| rest[..end].find(comment));
                (comment.min().unwrap_or(end), true)
            }
            c => (c.len_utf8(), true),
        };
        let (token, behind) = rest.split_at(length);
        if counts {
            tokens.push(token.to_owned());
        }
        rest = behind;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use calyx_stdlib::KNOWN_LIBS;

    use super::Modules;

    fn library() -> Vec<&'static str> {
        let files = KNOWN_LIBS.iter().map(|(_, [_, (_, verilog)])| *verilog);
        files.collect()
    }

    /// Whether the module `name` is the library's after `edit` of all its text.
    fn same(name: &str, edit: impl Fn(String) -> String) -> bool {
        let edited: Vec<String> = library()
            .into_iter()
            .map(|text| edit(text.to_owned()))
            .collect();
        let edited = Modules::of(edited.iter().map(String::as_str));
        edited.same(&Modules::of(library()), name)
    }

    #[test]
    fn white_space_and_comments_do_not_count() {
        let known = Modules::of(library());
        assert!(known.0.len() > 50, "only {} modules", known.0.len());
        for name in known.0.keys() {
            assert!(same(name, |text| text), "{name}");
            let spaced = |text: String| {
                text.replace("\n  ", "\n \t")
                    .replace('\n', " // x\r\n")
                    .replace("always_ff @", "always_ff /* endmodule \" */ @")
            };
            assert!(same(name, spaced), "{name}");
        }
    }

    #[test]
    fn other_modules_do() {
        assert!(!same("std_and", |text| text
            .replace("left & right", "left && right")));
        assert!(!same("std_and", |text| text
            .replace("left & right", "left & & right")));
        assert!(same("std_or", |text| text
            .replace("left & right", "left && right")));
        assert!(!same("std_slice", |text| text.replace("less than", "less  than")));
        let defined = |text| format!("`define VERILATOR\n{text}");
        assert!(!same("std_and", defined));
        assert!(!same("std_new", |text| text));
        assert!(!same("std_and", |text| text
            .replace("module std_and ", "module and ")));
    }

    #[test]
    fn modules_inside_of_others_count() {
        let edit = |text: String| {
            text.replace(
                "module std_fp_mult_pipe #(",
                "module std_fp_mult_pipe #( parameter X = 1,",
            )
        };
        assert!(!same("std_fp_mult_pipe", edit));
        assert!(!same("std_smult_pipe", edit));
        assert!(same("std_fp_add", edit));
    }
}
