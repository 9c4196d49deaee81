//! All tools.

use petal_visualize::outputs::OBSERVATIONS;
use serde_json::{Value, json};

use super::{Effect, Tool, results, words};
use crate::mcp::parameters::{Kind, Parameter};

const DESIGN: Parameter = Parameter::needed("design", Kind::Design).about("The Calyx program");
const DATA: Parameter = Parameter::new("data", Kind::File);
const OUT: Parameter = Parameter::new("out", Kind::Out);
const PASSES: Parameter = Parameter::new("passes", Kind::Text);
const DISABLE_PASS: Parameter = Parameter::new("disable-pass", Kind::Texts);
const BUDGET: Parameter = Parameter::new("budget", Kind::Text);
const DIR: Parameter = Parameter::needed("dir", Kind::Profile)
    .about("The folder of a profile, which petal_run wrote, such as petal-out/design");
const TOP: Parameter = Parameter::new("top", Kind::Top)
    .about("How many rows of each list to give, those first that matter most");

/// The pages and pictures of a profile.
const PROFILE: [&str; 3] = ["report.html", "flame.svg", "timeline.pftrace"];

/// All of them.
pub fn all() -> Vec<Tool> {
    let profile = [run(), hotspots(), annotate(), stats(), trace(), compare()];
    let design = [check(), advise(), what_if(), synth(), explain()];
    profile.into_iter().chain(design).collect()
}

/// Schemas of fields.
fn integer(about: &str) -> Value {
    json!({ "type": "integer", "description": about })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn object(about: &str) -> Value {
    json!({ "type": "object", "description": about })
}

/// Rows of which these fields are always there, with their types.
fn list(about: &str, fields: &[(&str, &str)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let fields = fields.iter();
    let fields = fields.map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })));
    json!({
        "type": "array",
        "description": about,
        "items": { "type": "object", "properties": fields.collect::<Value>(), "required": required },
    })
}

/// A field that may be missing.
fn maybe(mut schema: Value) -> Value {
    schema["optional"] = true.into();
    schema
}

fn run() -> Tool {
    Tool {
        name: "petal_run",
        title: "Profile a design",
        about: "Compiles and simulates a Calyx design, and tells where its cycles went: useful ones, overhead by kind, the statements that cost most and why. \
                Tells also if it is stuck (with `partial`), which rules are broken (`never`, `always`), how long things take (`latency`), and how memories are used (`access`). Writes the \
                profile that the other tools read.",
        command: "run",
        options: &["--json", "--quiet", "--simulator=embedded"],
        last: &[],
        parameters: &const {
            [
                DESIGN,
                DATA,
                OUT,
                PASSES,
                DISABLE_PASS,
                Parameter::new("cycle-limit", Kind::Number).about("End the run after this many cycles"),
                Parameter::new("partial", Kind::Flag).about("Also give a run that ends before the design is done, and what was active then, which is an error otherwise"),
                Parameter::new("never", Kind::Texts),
                Parameter::new("always", Kind::Texts),
                Parameter::new("latency", Kind::Texts),
                Parameter::new("count", Kind::Texts),
                Parameter::new("access", Kind::Texts),
                TOP,
            ]
        },
        effect: Effect::Replaces,
        fields: || {
            json!({
                "cycles": integer("the length of the run"),
                "useful_cycles": integer("those in which something works"),
                "computation_cycles": integer("those of them that are no conditions"),
                "condition_cycles": integer("the others of them"),
                "overhead_cycles": integer("the other cycles of the run"),
                "overhead": object("the overhead by kind, in cycles"),
                "stopped": json!({ "type": ["string", "null"], "description": "why the run ended before the design was done" }),
                "ending": maybe(object("what was active then, and what it waits for")),
                "hotspots": list("the statements that cost most", &[("kind", "string"), ("name", "string"), ("cost", "integer"), ("why", "string")]),
                "groups": list("the groups with most cycles", &[("name", "string"), ("cycles", "integer"), ("times", "integer")]),
                "warnings": json!({ "type": "array", "items": { "type": "string" } }),
                "verified": text("how it was made sure that the design without probes runs alike"),
                "rules": maybe(list("rules, and when they are broken", &[("name", "string"), ("cycles", "integer"), ("violations", "array")])),
                "latencies": maybe(list("how long things took", &[("name", "string"), ("count", "integer")])),
                "counters": maybe(list("sums over all cycles", &[("name", "string"), ("total", "integer")])),
                "accesses": maybe(list(
                    "how memories are used; `observations.json` in the profile has each access",
                    &[("name", "string"), ("reads", "integer"), ("words_read", "integer"), ("writes", "integer"), ("words_written", "integer")],
                )),
            })
        },
        more: Some(OBSERVATIONS),
        result: results::run,
        words: words::run,
        links: &PROFILE,
    }
}

fn hotspots() -> Tool {
    Tool {
        name: "petal_hotspots",
        title: "What costs cycles",
        about: "Lists the statements that cost cycles, those first that cost most, each with its line, why, how often, and where the documentation tells more.",
        command: "stats",
        options: &["--format=json"],
        last: &["hotspots"],
        parameters: &const { [DIR, Parameter::new("filter", Kind::Texts), TOP] },
        effect: Effect::Reads,
        fields: || {
            let columns = [
                ("kind", "string"),
                ("statement", "string"),
                ("cost", "integer"),
                ("why", "string"),
            ];
            json!({ "rows": list("the statements", &columns) })
        },
        more: None,
        result: results::rows,
        words: words::hotspots,
        links: &["report.html"],
    }
}

fn annotate() -> Tool {
    Tool {
        name: "petal_annotate",
        title: "The source with costs",
        about: "Gives the lines of the source that took cycles, each with its cycles, the useful part of them, and the overhead and costs that are charged to it. \
                Of a file with more lines than `top`, those are given that cost most.",
        command: "annotate",
        options: &["--format=json"],
        last: &[],
        parameters: &const { [DIR, Parameter::new("file", Kind::Text), TOP] },
        effect: Effect::Reads,
        fields: || {
            json!({
                "cycles": integer("the length of the run"),
                "files": list("the files", &[("name", "string"), ("lines", "array")]),
            })
        },
        more: None,
        result: results::annotate,
        words: words::annotate,
        links: &["report.html"],
    }
}

fn stats() -> Tool {
    Tool {
        name: "petal_stats",
        title: "A table of a profile",
        about: "Gives a table of a profile: component cells, groups, control statements, loops and how long their iterations take, lines of a front end, hotspots, or \
                area after petal_synth. petal_explain tells what a column means.",
        command: "stats",
        options: &["--format=json"],
        last: &[],
        parameters: &const {
            [
                DIR,
                Parameter::needed("table", Kind::Text).about("Which table"),
                Parameter::new("per-instance", Kind::Flag),
                Parameter::new("sort", Kind::Text),
                Parameter::new("reverse", Kind::Flag),
                Parameter::new("columns", Kind::Texts),
                Parameter::new("filter", Kind::Texts),
                TOP,
            ]
        },
        effect: Effect::Reads,
        fields: || json!({ "rows": list("the rows, by the names of the columns", &[]) }),
        more: None,
        result: results::rows,
        words: words::stats,
        links: &["report.html"],
    }
}

fn trace() -> Tool {
    Tool {
        name: "petal_trace",
        title: "What was active, cycle by cycle",
        about: "Gives the call tree of each cycle, or of successive cycles that have the same: the cells, statements, groups and primitives that were active, and of \
                an overhead cycle the statement that pays for it.",
        command: "trace",
        options: &["--json"],
        last: &[],
        parameters: &const { [DIR, Parameter::new("cycles", Kind::Cycles), TOP] },
        effect: Effect::Reads,
        fields: || json!({ "rows": list("the cycles", &[("start", "integer"), ("end", "integer")]) }),
        more: None,
        result: results::trace,
        words: words::trace,
        links: &["report.html"],
    }
}

fn compare() -> Tool {
    const SIDE: &str = "The folder of a profile, or a file that `petal baseline` wrote";
    Tool {
        name: "petal_compare",
        title: "What a change did",
        about: "Compares two runs, or with `last` a profile with the run before it in the same folder: which statements, groups and cells take more cycles, and which \
                fewer.",
        command: "compare",
        options: &["--format=json"],
        last: &[],
        parameters: &const {
            [
                Parameter::needed("base", Kind::Figures).about(SIDE),
                Parameter::new("new", Kind::Figures).about(SIDE),
                Parameter::new("last", Kind::Flag),
                Parameter::new("force", Kind::Flag),
                TOP,
            ]
        },
        effect: Effect::Reads,
        fields: || {
            let row = [("name", "string"), ("fate", "string"), ("cycles", "object")];
            json!({
                "cycles": object("the length of the run: before, after, delta, percent"),
                "useful": object("as cycles"),
                "overhead": object("as cycles"),
                "statements": list("the statements that differ, most first", &row),
                "groups": list("the groups that differ", &row),
                "cells": list("the component cells that differ", &row),
                "notes": json!({ "type": "array", "items": { "type": "string" } }),
            })
        },
        more: None,
        result: results::compare,
        words: words::compare,
        links: &["report.html"],
    }
}

fn advise() -> Tool {
    Tool {
        name: "petal_advise",
        title: "Which changes save cycles",
        about: "Tries changes of a design, and gives those that save cycles, each with a patch of the design's file (`diff`), what it saves, and what it costs. `proved` \
                changes keep what the design computes; `checked` ones did so with these data. Each patch is of the file as it is, or if `alone` is null, of the file with \
                those before it; the file `patch` has all in one. Edits no design by itself: you do, or ask again after an edit. Takes up to `budget`, or \
                tries so many `candidates`, which gives the same each time.",
        command: "advise",
        options: &["--format=json", "--quiet"],
        last: &[],
        parameters: &const {
            [
                DESIGN,
                Parameter::new("data", Kind::Files),
                BUDGET,
                Parameter::new("candidates", Kind::Number),
                Parameter::new("proved", Kind::Flag),
                OUT,
                PASSES,
                DISABLE_PASS,
                TOP,
            ]
        },
        effect: Effect::Searches,
        fields: || {
            json!({
                "cycles": integer("the design as it is"),
                "with_proved": integer("with all that is proved"),
                "with_all": integer("with all advice"),
                "advice": list("the changes, in the order in which they are to be applied", &[
                    ("number", "integer"), ("kind", "string"), ("class", "string"), ("what", "string"), ("on_top", "integer"),
                ]),
                "not_advised": list("changes that are not advised, and why", &[("kind", "string"), ("what", "string"), ("why", "string")]),
                "patch": maybe(text("the file of the patch with all advice")),
                "arguments": json!({ "type": "array", "items": { "type": "string" }, "description": "the arguments of the command line that the design is compiled with then" }),
            })
        },
        more: None,
        result: results::advise,
        words: words::advise,
        links: &["report.html"],
    }
}

fn check() -> Tool {
    Tool {
        name: "petal_check",
        title: "What is wrong in a run",
        about: "Runs a design and looks for races (two arms of a par access the same register or word, one of them writes, no barrier is between them), \
                addresses beyond a memory, uses of undef, reads of ports that nothing drives, broken rules (`never`, `always`), and why it is stuck, if it is. Compiles it as it is written \
                unless `passes` says otherwise.",
        command: "check",
        options: &["--format=json", "--quiet", "--exit-zero"],
        last: &[],
        parameters: &const {
            [
                DESIGN,
                DATA,
                PASSES,
                DISABLE_PASS,
                Parameter::new("cycle-limit", Kind::Number),
                Parameter::new("never", Kind::Texts),
                Parameter::new("always", Kind::Texts),
                TOP,
            ]
        },
        effect: Effect::Reads,
        fields: || {
            json!({
                "design": text("the design"),
                "passes": text("what it was compiled with"),
                "cycles": integer("the length of the run"),
                "races": list(
                    "both accesses of each; with a `doubt`, it may be none",
                    &[("cell", "string"), ("accesses", "array"), ("same_cycle", "boolean"), ("times", "integer"), ("text", "string")],
                ),
                "beyond": list(
                    "accesses of addresses that a memory does not have",
                    &[("memory", "string"), ("address", "array"), ("access", "string"), ("cycle", "integer"), ("text", "string")],
                ),
                "undefined": list("who takes what `undef` gives", &[("cell", "string"), ("cycle", "integer"), ("text", "string")]),
                "undriven": list(
                    "who reads a port in cycles in which nothing drives it",
                    &[("port", "string"), ("cycle", "integer"), ("times", "integer"), ("by", "array"), ("text", "string")],
                ),
                "unfollowed": json!({ "type": "array", "items": { "type": "string" }, "description": "ports of which that can't be told" }),
                "rules": json!({ "type": "array", "items": { "type": "string" }, "description": "rules that are broken" }),
                "stopped": json!({ "type": ["string", "null"], "description": "why the run ended before the design was done" }),
                "unknown": json!({ "type": "array", "items": { "type": "string" }, "description": "pars whose barriers can't be followed" }),
                "gaps": integer("cycles in which no race is looked for"),
            })
        },
        more: None,
        result: results::check,
        words: words::check,
        links: &[],
    }
}

fn what_if() -> Tool {
    Tool {
        name: "petal_whatif",
        title: "What a run would save",
        about: "Tells what a run would save if control, conditions or primitives took less, and how long it takes if only a part of it takes time. Without questions, it \
                asks what costs most.",
        command: "whatif",
        options: &["--format=json", "--quiet"],
        last: &[],
        parameters: &const {
            [
                DESIGN,
                DATA,
                Parameter::new("primitive", Kind::Texts),
                Parameter::new("overhead", Kind::Texts),
                Parameter::new("condition", Kind::Texts),
                Parameter::new("balance", Kind::Texts),
                Parameter::new("order", Kind::Texts),
                Parameter::new("cycles", Kind::Texts),
                BUDGET,
                OUT,
                PASSES,
                DISABLE_PASS,
                TOP,
            ]
        },
        effect: Effect::Searches,
        fields: || {
            json!({
                "cycles": integer("the run as it is"),
                "answers": list("what there would be, and what it saves", &[("what if", "string"), ("how", "string")]),
                "bounds": list("what is left if only a part takes time", &[("if only this took time", "string"), ("cycles", "integer")]),
                "parts": list("loops and cells, and what is left of them", &[("loop or cell", "string"), ("cycles", "integer")]),
            })
        },
        more: None,
        result: results::what_if,
        words: words::what_if,
        links: &["report.html"],
    }
}

fn synth() -> Tool {
    Tool {
        name: "petal_synth",
        title: "Area and clock",
        about: "Synthesises a design by yosys and nextpnr, where they are installed: its look-up tables and flip-flops by cell and group, its clock, and the path that \
                limits it. Takes minutes for a large design.",
        command: "synth",
        options: &["--format=json", "--quiet"],
        last: &[],
        parameters: &const {
            [
                DESIGN,
                Parameter::new("target", Kind::Text),
                Parameter::new("seeds", Kind::Number),
                Parameter::new("synth-memories", Kind::Text),
                Parameter::new("without", Kind::Texts),
                OUT,
                PASSES,
                DISABLE_PASS,
                TOP,
            ]
        },
        effect: Effect::Replaces,
        fields: || {
            json!({
                "device": text("the device"),
                "cells": object("the cells of the netlist, by type"),
                "area": json!({
                    "type": "object",
                    "properties": {
                        "total": { "type": "object" },
                        "rows": list("what each part takes", &[("kind", "string"), ("name", "string"), ("luts", "number"), ("ffs", "number")]),
                    },
                    "required": ["total", "rows"],
                }),
                "clock": maybe(json!({ "type": ["object", "null"], "description": "its frequency, in the middle of the seeds" })),
                "critical_path": maybe(json!({ "type": ["object", "null"] })),
                "cycles": maybe(json!({ "type": ["integer", "null"], "description": "of the profile in the same folder" })),
            })
        },
        more: None,
        result: results::synth,
        words: words::synth,
        links: &["report.html", "flame-area.svg"],
    }
}

fn explain() -> Tool {
    Tool {
        name: "petal_explain",
        title: "What a word means",
        about: "Tells what a word of petal's outputs means, such as `useful`, the heading of a column or a key of JSON; without one, lists all.",
        command: "explain",
        options: &["--format=json"],
        last: &[],
        parameters: &const { [Parameter::new("term", Kind::Text), TOP] },
        effect: Effect::Reads,
        fields: || {
            let fields = [
                ("name", "string"),
                ("meaning", "string"),
                ("example", "string"),
                ("guide", "string"),
            ];
            json!({ "terms": list("the words", &fields) })
        },
        more: None,
        result: results::explain,
        words: words::explain,
        links: &[],
    }
}
