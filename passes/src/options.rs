//! Options of stock passes, as `-x PASS:OPTION` and `-x PASS:OPTION=VALUE` give them.
//!
//! Owns the check: the Calyx compiler itself ignores what it does not know, and fails on a value
//! that is missing. Does not know what an option does.

use std::path::{Path, PathBuf};

use calyx_opt::pass_manager::PassManager;
use petal_program::nearest;

use crate::error::PassesError;

/// A pass that reads its options past the compiler's list of them.
const UNLISTED: (&str, [(&str, Value); 2]) = (
    "discover-external",
    [("default", Value::Number), ("strip-suffix", Value::Text)],
);

/// With the first, a state of an FSM starts the group of the next one, too; with the second, the compiler makes an `fsm`.
const UNFOLLOWED: [&str; 2] = ["tdcc:early-transitions", "tdcc:infer-fsms"];

/// What the compiler takes for no file.
const STREAMS: [&str; 4] = ["-", "<out>", "<err>", "<null>"];

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Flag,
    Number,
    Numbers,
    /// A file, `<err>` or `<out>`.
    File,
    Text,
}

impl Value {
    /// The compiler gives no types, but defaults.
    fn of_default(default: &str) -> Self {
        if matches!(default, "true" | "false") {
            Self::Flag
        } else if default.starts_with('[') {
            Self::Numbers
        } else if default.parse::<i64>().is_ok() {
            Self::Number
        } else {
            Self::File
        }
    }

    /// What a value must look like; `None` if `text` does.
    fn wanted(self, text: Option<&str>) -> Option<&'static str> {
        let is_number = |text: &str| text.parse::<i64>().is_ok();
        let fits = match (self, text) {
            (Self::Flag, None) => true,
            (_, None) => false,
            (Self::Flag, Some(text)) => matches!(text, "true" | "false"),
            (Self::Number, Some(text)) => is_number(text),
            (Self::Numbers, Some(text)) => text.split(',').all(is_number),
            (Self::File | Self::Text, Some(text)) => !text.is_empty(),
        };
        let wanted = match self {
            Self::Flag => "`true` or `false`, or nothing, which is `true`",
            Self::Number => "a whole number",
            Self::Numbers => "whole numbers with commas",
            Self::File => "a file name",
            Self::Text => "a text",
        };
        (!fits).then_some(wanted)
    }
}

/// Checks that `options` are those of passes of `manager`, and that these run.
///
/// # Errors
/// [`PassesError::Option`] for the first one that is not, and for one with which the compiler builds
/// what petal can't follow.
pub(crate) fn check(
    manager: &PassManager,
    passes: &[String],
    options: &[String],
) -> Result<(), PassesError> {
    for option in options {
        check_option(manager, passes, option).map_err(|problem| PassesError::Option {
            option: option.clone(),
            problem,
        })?;
    }
    Ok(())
}

fn check_option(manager: &PassManager, passes: &[String], option: &str) -> Result<(), String> {
    let Some((pass, rest)) = option.split_once(':') else {
        return Err("write PASS:OPTION or PASS:OPTION=VALUE".to_owned());
    };
    let all = pass_options(manager);
    let Some((_, options)) = all.iter().find(|(name, _)| name == pass) else {
        let names = all.iter().map(|(name, _)| name.as_str());
        return Err(format!("there is no pass `{pass}`{}", nearest(pass, names)));
    };
    let (name, value) = match rest.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (rest, None),
    };
    let Some((_, kind)) = options.iter().find(|(option, _)| option == name) else {
        let names: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
        let rest = match &names[..] {
            [] => "; it has none".to_owned(),
            names => {
                let near = nearest(name, names.iter().copied());
                let all = format!("; it has `{}`", names.join("`, `"));
                if near.is_empty() { all } else { near }
            }
        };
        return Err(format!("the pass `{pass}` has no option `{name}`{rest}"));
    };
    if let Some(wanted) = kind.wanted(value) {
        return Err(format!("the option takes {wanted}"));
    }
    let value = value.unwrap_or_default();
    if value.contains([':', '=']) {
        return Err("the compiler ends a value at `:` and `=`".to_owned());
    }
    if *kind == Value::File && !STREAMS.contains(&value) {
        check_file(Path::new(value))?;
    }
    let is_unfollowed = |name: &str| option == name || option == format!("{name}=true");
    if UNFOLLOWED.into_iter().any(is_unfollowed) {
        return Err("petal cannot tell what runs in a design that is built so".to_owned());
    }
    if !passes.iter().any(|name| name == pass) {
        return Err(format!(
            "the pass `{pass}` does not run, so the option has no effect; leave it out, or choose other passes with \
             `--passes`"
        ));
    }
    Ok(())
}

/// The compiler would write over what is there, and give up on a folder that is not.
fn check_file(file: &Path) -> Result<(), String> {
    if file.symlink_metadata().is_ok() {
        return Err(format!(
            "{} is there already; the compiler would write over it",
            file.display()
        ));
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(format!("there is no folder {}", folder.display())),
        _ => Ok(()),
    }
}

/// The files that passes write because of `options`.
pub(crate) fn files(manager: &PassManager, options: &[String]) -> Vec<PathBuf> {
    let all = pass_options(manager);
    let file = |option: &String| {
        let (pass, rest) = option.split_once(':')?;
        let (name, value) = rest.split_once('=')?;
        let (_, options) = all.iter().find(|(name, _)| name == pass)?;
        let is_file = options.contains(&(name.to_owned(), Value::File));
        (is_file && !STREAMS.contains(&value)).then(|| PathBuf::from(value))
    };
    options.iter().filter_map(file).collect()
}

/// The names of all passes and aliases, out of the compiler's help.
pub(crate) fn names(manager: &PassManager) -> Vec<String> {
    let help = manager.complete_help();
    let names = help
        .lines()
        .filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Passes, each with its options.
type PassOptions = Vec<(String, Vec<(String, Value)>)>;

/// All passes with their options, out of the compiler's help.
fn pass_options(manager: &PassManager) -> PassOptions {
    let mut all = PassOptions::new();
    for line in manager.complete_help().lines() {
        if line == "Aliases:" {
            break;
        }
        let named = |text: &str| text.split_once(": ").map(|(name, _)| name.to_owned());
        if let Some(name) = line.strip_prefix("- ").and_then(named) {
            let options = if name == UNLISTED.0 {
                UNLISTED
                    .1
                    .map(|(name, kind)| (name.to_owned(), kind))
                    .into()
            } else {
                Vec::new()
            };
            all.push((name, options));
        } else if let Some(option) = line.strip_prefix("  * ")
            && let Some(name) = named(option)
            && let Some((_, options)) = all.last_mut()
        {
            let default = option.rsplit_once("(default: ");
            let default = default.map_or("", |(_, default)| default.trim_end_matches(')'));
            options.push((name, Value::of_default(default)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use expect_test::expect;

    /// What is wrong with an option; nothing if it is fine.
    fn problem(option: &str) -> String {
        let manager = petal_compiler::default_passes().unwrap();
        let passes = ["tdcc", "cell-share", "static-promotion"].map(str::to_owned);
        check_option(&manager, &passes, option)
            .err()
            .unwrap_or_default()
    }

    #[test]
    fn options_that_there_are() {
        for option in [
            "tdcc:dump-fsm",
            "tdcc:dump-fsm=false",
            "tdcc:early-transitions=false",
            "static-promotion:threshold=-1",
            "cell-share:bounds=2,-1,3",
            "cell-share:print-share-freqs=<err>",
            "cell-share:print-share-freqs=shares.json",
        ] {
            assert_eq!(problem(option), "", "{option}");
        }
    }

    #[test]
    fn options_that_there_are_not() {
        for (option, expected) in [
            ("tdcc", "write PASS:OPTION or PASS:OPTION=VALUE"),
            ("tddc:dump-fsm", "there is no pass `tddc`; is it `tdcc`?"),
            ("all:dump-fsm", "there is no pass `all`"),
            (
                "static-promotion:thresh",
                "the pass `static-promotion` has no option `thresh`; is it `threshold`?",
            ),
            (
                "static-promotion:x",
                "the pass `static-promotion` has no option `x`; it has `threshold`, `cycle-limit`, `if-diff-limit`, `compaction`",
            ),
            (
                "clk-insertion:x",
                "the pass `clk-insertion` has no option `x`; it has none",
            ),
            (
                "tdcc:dump-fsm=yes",
                "the option takes `true` or `false`, or nothing, which is `true`",
            ),
            (
                "static-promotion:threshold",
                "the option takes a whole number",
            ),
            (
                "static-promotion:threshold=a",
                "the option takes a whole number",
            ),
            (
                "cell-share:bounds=1,",
                "the option takes whole numbers with commas",
            ),
            (
                "cell-share:print-share-freqs",
                "the option takes a file name",
            ),
            (
                "cell-share:print-share-freqs=a=b",
                "the compiler ends a value at `:` and `=`",
            ),
            (
                "cell-share:print-share-freqs=Cargo.toml",
                "Cargo.toml is there already; the compiler would write over it",
            ),
            (
                "cell-share:print-share-freqs=nowhere/file",
                "there is no folder nowhere",
            ),
            (
                "tdcc:early-transitions",
                "petal cannot tell what runs in a design that is built so",
            ),
            (
                "discover-external:default=8",
                "the pass `discover-external` does not run, so the option has no effect; leave it out, or choose \
                 other passes with `--passes`",
            ),
        ] {
            assert_eq!(problem(option), expected, "{option}");
        }
    }

    /// The types of values are guessed from defaults: these are all there are.
    #[test]
    fn all_options_of_the_compiler() {
        let manager = petal_compiler::default_passes().unwrap();
        let mut text = String::new();
        for (pass, options) in pass_options(&manager) {
            for (option, kind) in options {
                writeln!(text, "{pass}:{option} {kind:?}").unwrap();
            }
        }
        let expected = expect![[r#"
            cell-share:print-share-freqs File
            cell-share:bounds Numbers
            cell-share:print-par-timing File
            cell-share:calyx-2020 Flag
            comb-prop:no-eliminate Flag
            discover-external:default Number
            discover-external:strip-suffix Text
            infer-share:print-dmap File
            infer-share:print-static-analysis File
            inline:always Flag
            inline:new-fsms Flag
            static-promotion:threshold Number
            static-promotion:cycle-limit Number
            static-promotion:if-diff-limit Number
            static-promotion:compaction Flag
            tdcc:dump-fsm Flag
            tdcc:early-transitions Flag
        "#]];
        if petal_program::CALYX_VERSION == "0.7.1" {
            expected.assert_eq(&text);
            return;
        }
        // A newer compiler has more.
        let known: Vec<&str> = text.lines().collect();
        let published = expected.data().lines().map(str::trim);
        for option in published.filter(|option| !option.is_empty()) {
            assert!(known.contains(&option), "{option} is not in {known:?}");
        }
    }
}
