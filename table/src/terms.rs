//! The words of petal's outputs: what each quantity is, with an example and the page of the guide about it.
//!
//! The one list that `petal explain`, the glossary of the guide and the hover texts of the report are made of.
//! Knows nothing of a run. How a quantity is counted is said where that is done.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petal_metadata::nearest;

/// A word, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// The word, as outputs spell it.
    pub name: &'static str,
    /// What it is a quantity of.
    pub scope: Scope,
    /// What it means, in a sentence or two.
    pub meaning: &'static str,
    /// Where one meets it.
    pub example: &'static str,
    /// The page of the guide that tells more, and the heading there: `overhead.md#hidden-control`.
    pub page: &'static str,
    /// How else outputs spell it: headings of columns, and keys in JSON.
    pub also: &'static [&'static str],
}

/// What a term is a quantity of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole run.
    Run,
    /// A statement of the control program.
    Statement,
    /// A component cell.
    Cell,
    /// A group.
    Group,
    /// A line of a front end's files.
    Line,
    /// Anything that has a row in a table.
    Row,
}

impl Scope {
    /// All scopes, in the order of the glossary.
    pub const ALL: [Self; 6] = [
        Self::Run,
        Self::Statement,
        Self::Cell,
        Self::Group,
        Self::Line,
        Self::Row,
    ];

    /// The scope as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Run => "The run",
            Self::Statement => "A statement",
            Self::Cell => "A component cell",
            Self::Group => "A group",
            Self::Line => "A line of a front end",
            Self::Row => "Any row of a table",
        }
    }
}

const fn term(
    scope: Scope,
    name: &'static str,
    also: &'static [&'static str],
    meaning: &'static str,
    example: &'static str,
    page: &'static str,
) -> Term {
    Term {
        name,
        scope,
        meaning,
        example,
        page,
        also,
    }
}

/// All terms, by scope.
#[rustfmt::skip]
pub const TERMS: &[Term] = &[
    term(Scope::Run, "cycles", &[],
        "How many clock cycles the run took, or something was active in: a cell, group, statement or line. A cycle counts for all that is active in it.",
        "A run of 9 cycles has 3 useful ones and 6 of overhead; its outermost `seq` is active in all 9.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Run, "useful", &["useful_cycles", "useful cycles"],
        "Cycles in which something works and does not merely wait for a cell: in a run anywhere in the design, for a statement or line inside of it. They are computation and conditions.",
        "The cycle in which a group adds two numbers, and the one in which `cond` of `while lt.out with cond` compares them.",
        "overhead.md"),
    term(Scope::Run, "computation", &["computation_cycles"],
        "Useful cycles in which something works that is no condition.",
        "`seq { a; b; }`: the cycles in which `a` or `b` drives a register.",
        "overhead.md"),
    term(Scope::Run, "conditions", &["condition_cycles"],
        "Useful cycles in which nothing works but groups that compute the condition of an `if` or `while`.",
        "`while lt.out with cond { … }`: the cycles in which `cond` runs alone.",
        "while.md"),
    term(Scope::Run, "overhead", &["overhead_cycles", "overhead cycles", "most overhead"],
        "Cycles of the run in which nothing works, because control alone needs them. Each has one kind, and is charged to one statement, with its line and its cell.",
        "`seq { a; b; }`: the state machine may need a cycle to go on from `a` to `b`; the `seq` is charged for it.",
        "overhead.md#which-statement-pays"),
    term(Scope::Run, "FSM update", &["fsm-update"],
        "A state machine of the compiler steps, or a loop counter that the compiler made is set.",
        "`seq { a; b; }`: the cycle between `a` and `b`.",
        "overhead.md"),
    term(Scope::Run, "par-done update", &["par-done"],
        "Arms of a `par` end, and their done registers are set or cleared.",
        "`par { a; b; }`: the cycle after the longer arm, in which its end is noted.",
        "par.md"),
    term(Scope::Run, "FSM and par-done update", &["fsm-and-par-done"],
        "A state machine steps, and done registers of a `par` are set or cleared, in the same cycle.",
        "`seq { par { a; b; } c; }`: the `par` clears its done registers while the `seq` goes on to `c`.",
        "par.md"),
    term(Scope::Run, "static wait", &["static-wait"],
        "Control that is static lets the cycle pass: it pads the shorter branch of an `if`, waits for the longer arm of a `par`, or resets its counter.",
        "`static if c.out { three; } else { one; }`: two cycles after `one`.",
        "overhead.md"),
    term(Scope::Run, "barrier", &[],
        "Groups that the compiler made for `@sync` count the arms that have come, or wait for the others.",
        "`par { @sync(1); @sync(1); }`: from the first arm that comes to the last one.",
        "overhead.md"),
    term(Scope::Run, "start/finish", &["start-finish"],
        "A cell has been started, but its control program does not run yet, or has ended.",
        "An `invoke` whose cell needs a cycle before its first group runs.",
        "overhead.md"),
    term(Scope::Run, "other", &[],
        "Overhead of none of these kinds.",
        "0 in all designs that petal is tested with.",
        "overhead.md#what-petal-cannot-know"),
    term(Scope::Run, "% of run", &[],
        "What a row costs, its overhead or what else is told, as a share of the run's cycles; of a group, its total cycles.",
        "A `seq` that is charged for 128 of 612 cycles: 20.9.",
        "overhead.md"),
    term(Scope::Run, "active groups", &[],
        "How many groups are active in a cycle, in the whole design: a counter of the timeline.",
        "`par { a; b; }`: 2 while both arms run.",
        "README.md#what-happens-in-which-cycle"),
    term(Scope::Run, "active primitives", &[],
        "How many primitives groups drive in a cycle, in the whole design: a counter of the timeline.",
        "A group that writes the sum of an adder to a register: 2.",
        "README.md#what-happens-in-which-cycle"),
    term(Scope::Statement, "statement", &[],
        "A node of the control program, with its line; an enable is called as its group.",
        "`while@L55` is the `while` on line 55.",
        "overhead.md#which-statement-pays"),
    term(Scope::Statement, "times entered", &[],
        "How often the program ran the statement, also where that took no cycle, or something of the line became active. `–` (empty in files) where nothing in the compiled design tells.",
        "The body of a loop that goes round three times is entered 3 times.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Statement, "iterations", &[],
        "How often the body of a loop ran. `–` (empty in files) where nothing in the compiled design tells.",
        "`repeat 3 { … }`, entered twice, has 6.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Statement, "fewest iterations", &["most iterations", "average iterations"],
        "How often a loop went round each time that it was entered: the fewest, the most, and on average. `–` where the compiled design does not tell one iteration from the next.",
        "`while lt.out with cond { … }`, entered twice, with 4 and 6 iterations: 4, 6 and 5.",
        "while.md#how-long-is-an-iteration"),
    term(Scope::Statement, "shortest iteration", &["longest iteration", "average iteration", "initiation interval", "II"],
        "Cycles of an iteration of a loop, from the beginning of its body to the beginning of the next one, or to the end of the loop: the shortest, the longest, and on average. Calyx starts no iteration before the last one has ended, so this is the initiation interval, too.",
        "A body of 3 cycles whose condition takes 1: 4.",
        "while.md#how-long-is-an-iteration"),
    term(Scope::Statement, "control only", &[],
        "Cycles of a loop in which nothing inside of it works: it moves control along, or waits.",
        "`while lt.out with cond { seq { a; b; } }`: 2 cycles each iteration, after `a` and after `b`.",
        "while.md#how-long-is-an-iteration"),
    term(Scope::Statement, "flattened", &[],
        "What `cycles` would be if the arms of every `par` at or below the statement ran one after the other. Divided by `cycles` it tells how parallel the statement is.",
        "A `par` with arms of 9 and 3 cycles takes 9; flattened, it is 12.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Statement, "hidden control", &[],
        "Cycles in which the statement only moved control along, but the run lost nothing by that: something worked beside it, or another statement is charged.",
        "One arm of a `par` steps while the other one works.",
        "overhead.md#hidden-control"),
    term(Scope::Statement, "cost", &["what costs"],
        "Cycles that a hotspot costs the run: condition, overhead or waiting, not its activity.",
        "A `seq` that is active in 9 cycles and moves from step to step in 3: 3.",
        "overhead.md#why-it-costs-that"),
    term(Scope::Statement, "each", &[],
        "What a hotspot costs each time that it is entered.",
        "An `if` that is entered 3 times and costs 6 cycles: 2.00.",
        "overhead.md#why-it-costs-that"),
    term(Scope::Statement, "why", &["guide"],
        "The reason for which a hotspot costs cycles, and where the guide tells more of it.",
        "`enters and leaves its branch: 2 cycles each time`",
        "overhead.md#why-it-costs-that"),
    term(Scope::Statement, "waits", &["par-wait", "longest waits in par"],
        "Cycles in which an arm of a `par` had ended and waited for the slowest one. They are no overhead as long as that one works.",
        "A `par` with arms of 9 and 3 cycles waits for 6.",
        "overhead.md#arms-that-wait"),
    term(Scope::Statement, "saves at most", &["independent", "steps that could run at once", "shared-hardware", "steps that share hardware"],
        "Cycles by which a `seq` would be shorter at most if steps of it ran at once that do not depend on one another, as they are or with hardware of their own.",
        "In `distances` two squares need not wait for one another, but `y_mult` and `x_mult` are one in hardware.",
        "overhead.md#steps-that-could-run-at-once"),
    term(Scope::Cell, "cell", &[],
        "A component cell, by its path from main.",
        "`main.queue` is the cell `queue` of main.",
        "definitions.md#cells-what-is-its-own"),
    term(Scope::Cell, "busy", &[],
        "Cycles in which the cell runs a group, a primitive or another cell, also where that only waits or moves its control along.",
        "Main is busy as long as a cell runs that it invokes; whether the run has a use for the cycle is `useful`.",
        "definitions.md#cells-what-is-its-own"),
    term(Scope::Cell, "busy with conditions", &[],
        "The part of `busy` in which the cell runs nothing but groups that compute conditions.",
        "`while lt.out with cond { … }`: the cycles in which `cond` is all that the cell runs.",
        "definitions.md#cells-what-is-its-own"),
    term(Scope::Cell, "control", &[],
        "Cycles in which the cell is active and only moves its own control along, by kind, whether or not the run loses them. With `busy` they are its `cycles`.",
        "`control: FSM update`: a state machine of the cell steps, while another cell may work.",
        "definitions.md#cells-what-is-its-own"),
    term(Scope::Cell, "FSMs", &[],
        "How many state machines the component has for dynamic control. A static program has a counter instead.",
        "A component whose control is one `static seq` has none.",
        "definitions.md#cells-what-is-its-own"),
    term(Scope::Cell, "ref cells", &[],
        "The `ref` cells that the cell drove, and the cells that they stood for.",
        "`total = main.sum`: what the component calls `total` was `sum` of main.",
        "overhead.md#cells-that-are-handed-over"),
    term(Scope::Cell, "continuous", &[],
        "Combinational primitives that continuous assignments drive: they compute in every cycle, which makes no cycle useful.",
        "`wires { index.left = i.out; }`: `index` is continuous.",
        "definitions.md#cells-continuous-assignments"),
    term(Scope::Group, "group", &[],
        "A group of a component, in all of its instances together.",
        "`multiply` of `product`, which four cells run.",
        "definitions.md#groups-sums-over-enables-and-instances"),
    term(Scope::Group, "origin", &[],
        "Where a group was written: in the source, in a component that was inlined, or by the compiler.",
        "`inlined from sub`",
        "definitions.md#groups-sums-over-enables-and-instances"),
    term(Scope::Group, "enables", &[],
        "How many statements of the control program run the group.",
        "`seq { a; b; a; }`: 2 for `a`.",
        "definitions.md#groups-sums-over-enables-and-instances"),
    term(Scope::Group, "total cycles", &["most expensive groups"],
        "Cycles in which a group was active, added up over its enables and the instances of its component, even if they were active in the same cycle.",
        "Four cells that run `multiply` in the same 6 cycles: 24.",
        "definitions.md#groups-sums-over-enables-and-instances"),
    term(Scope::Group, "fixed", &[],
        "Whether all activations in this run took equally long: `static` if source or compiler fixed that. `yes` is evidence, no proof for other data.",
        "A group that writes one register is `yes`: each activation takes one cycle.",
        "static-promotion.md"),
    term(Scope::Group, "compiled", &[],
        "What the compiler did to a group: it was promoted (made static), merged into a larger static group, split or inlined, or shares a cell.",
        "`shares a in b`: the work of its cell `a` is done by the hardware of `b`.",
        "sharing.md"),
    term(Scope::Line, "own", &[],
        "The line's share of the run in cycles: each cycle is divided among all that is active in it and calls nothing further, and each part counts for the innermost line above it; overhead is that of the line that is charged. Adds up to the run.",
        "A line whose group runs alone for 4 cycles, and beside another line's group for 2: 5.",
        "front-ends.md"),
    term(Scope::Row, "times active", &["times"],
        "How often something became active: how many spans of cycles without a break there were, or activations of a fixed length.",
        "A group that runs in cycles 3, 4 and 9: twice.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Row, "avg", &[],
        "Cycles of one activation, on average.",
        "Activations of 2 and 3 cycles: 2.50.",
        "definitions.md#cells-what-is-its-own"),
    term(Scope::Row, "min", &[],
        "Cycles of the shortest activation.",
        "Activations of 2 and 3 cycles: 2.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Row, "max", &[],
        "Cycles of the longest activation.",
        "Activations of 2 and 3 cycles: 3.",
        "definitions.md#statements-times-iterations-cycles-flattened"),
    term(Scope::Row, "component", &[],
        "The component that the row is about, or that the cell is an instance of.",
        "`component adder(…) -> (…) { … }` is `adder`.",
        "definitions.md"),
    term(Scope::Row, "kind", &[],
        "What the statement is (`seq`, `while`, `enable`, …), or how the group is timed: `dynamic`, `static` or `comb`.",
        "`static<2> group a { … }` is `static`.",
        "definitions.md"),
    term(Scope::Row, "file", &[],
        "The file in which the line is.",
        "`queue.py`",
        "front-ends.md"),
    term(Scope::Row, "line", &[],
        "The line in which a group, a statement or something of a front end begins.",
        "`55` for `while@L55`.",
        "front-ends.md"),
    term(Scope::Row, "text", &["source", "front end"],
        "The line itself, in the Calyx program or in the front end's file.",
        "`while lt.out with cond {`",
        "front-ends.md"),
];

impl Term {
    /// The term that outputs call `word`: by its name, as a column's heading (`busy %`, `control: barrier`) or as a
    /// key in JSON (`useful_cycles`), in any case.
    pub fn find(word: &str) -> Option<&'static Self> {
        let word = word.trim().trim_end_matches('%').trim_end();
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        let mut all = TERMS.iter();
        all.find(|term| is(term.name) || term.also.iter().any(|also| is(also)))
            .or_else(|| Self::find(word.split_once(": ")?.0))
    }

    /// The names of the terms that `word` may stand for, the likeliest first; none if nothing is near.
    pub fn nearest(word: &str) -> Vec<&'static str> {
        nearest(word, TERMS.iter().map(|term| term.name))
    }

    /// The term with its meaning, its example and where to read on, for a terminal.
    pub fn explain(&self) -> String {
        let Self {
            name,
            meaning,
            example,
            page,
            ..
        } = self;
        let scope = self.scope.title().to_lowercase();
        let mut text = format!("{name} ({scope})\n  {meaning}\n  For example: {example}\n");
        if !self.also.is_empty() {
            let _ = writeln!(text, "  Also: {}", self.also.join(", "));
        }
        let _ = writeln!(text, "  More: docs/guide/{page}");
        text
    }

    /// The meaning and the example in a line, for where the term stands.
    pub fn hint(&self) -> String {
        format!("{} For example: {}", self.meaning, self.example)
    }
}

/// What each of these headings means, by heading, and each term by all its names, in a line.
pub fn hints<'a>(headings: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let names = TERMS.iter();
    let names = names.flat_map(|term| term.also.iter().copied().chain([term.name]));
    names
        .chain(headings)
        .filter_map(|heading| Some((heading, Term::find(heading)?.hint())))
        .collect()
}

/// The names of all terms by scope, for a terminal.
pub fn list() -> String {
    let mut text = String::new();
    for scope in Scope::ALL {
        let of_scope = TERMS.iter().filter(|term| term.scope == scope);
        let names: Vec<&str> = of_scope.map(|term| term.name).collect();
        let _ = writeln!(text, "{}\n  {}", scope.title(), names.join(", "));
    }
    text
}

/// The page of the guide with all terms.
pub fn glossary() -> String {
    let mut text = String::from(
        "# Glossary\n\nEach quantity has one name, the same in the summary, the report, the tables, `summary.json` and these pages. \
         `petal explain` tells what this\npage tells, `petal explain TERM` for one term:\n\n```sh\npetal explain overhead\n```\n\n```text\n",
    );
    text.push_str(
        &Term::find("overhead")
            .map(Term::explain)
            .unwrap_or_default(),
    );
    text.push_str("```\n");
    for scope in Scope::ALL {
        let _ = writeln!(text, "\n## {}", scope.title());
        for term in TERMS.iter().filter(|term| term.scope == scope) {
            let _ = writeln!(
                text,
                "\n### {}\n\n{}\nFor example: {}\n[More]({}).",
                term.name, term.meaning, term.example, term.page
            );
        }
    }
    text
}
