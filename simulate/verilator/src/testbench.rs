//! The testbench: the C++ program that drives a design, and the Verilog wrapper around the design's top module.
//!
//! Owns the protocol between testbench and design (reset, `go`, `done`, when values are dumped) and the arguments and
//! report lines of the program. Starts nothing and builds nothing.
//!
//! # Protocol
//!
//! `reset` is high and `go` low for three clock cycles; then `reset` is low and `go` high until the end. Cycle 0 is the
//! first cycle with `go` high. Each cycle is settled with `clk` low, then `done` is read: the run's length is the
//! number of cycles before the one in which `done` is high. Other inputs of the top module stay zero.
//!
//! A cycle takes 10 ns in the trace: its settled values at 10·n ns, then its rising edge at 10·n + 5 ns. The values of a
//! cycle are all values just before a time at which `toplevel.clk` rises. The `done` cycle is dumped too, with its
//! rising edge, though the design never sees that edge.
//!
//! A trace of some signals only has one time a cycle, with its settled values. The wrapper's input `tick` changes at each:
//! the values of a cycle are all values just before a time at which `toplevel.tick` changes.

use std::collections::HashSet;
use std::fmt::Write as _;

/// The C++ testbench: the same for every design.
pub(crate) const SOURCE: &str = include_str!("testbench.cpp");

/// A Verilator configuration that keeps the statement by which a design learns where its memory files are.
///
/// The Calyx backend writes `CODE = $value$plusargs("DATA=%s", DATA)` and never reads `CODE`. Where nothing is traced,
/// Verilator takes the whole statement out.
pub(crate) const MEMORY_CONFIG: &str =
    "`verilator_config\npublic_flat_rd -module \"*\" -var \"CODE\"\n";

/// The name of the wrapper module, and so the first scope (below `TOP`) in a trace.
pub(crate) const WRAPPER: &str = "toplevel";

/// The top module of a design and the names of its interface ports.
///
/// Calyx gives every component these four ports; a program may choose other names for them with `@go`, `@done`, `@clk`
/// and `@reset`. [`TopModule::default`] has the usual names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopModule {
    /// Name of the Verilog module. The instance is always called `main`.
    pub module: String,
    /// The 1-bit input that starts the design.
    pub go: String,
    /// The 1-bit output that says that the design has finished.
    pub done: String,
    /// The clock input.
    pub clk: String,
    /// The synchronous, active-high reset input.
    pub reset: String,
}

impl Default for TopModule {
    fn default() -> Self {
        Self {
            module: "main".to_owned(),
            go: "go".to_owned(),
            done: "done".to_owned(),
            clk: "clk".to_owned(),
            reset: "reset".to_owned(),
        }
    }
}

impl TopModule {
    /// The wrapper's Verilog. Ports that it leaves out read as zero.
    pub(crate) fn wrapper(&self, ticks: bool) -> String {
        let tick = if ticks { "input logic tick, " } else { "" };
        let Self {
            module,
            go,
            done,
            clk,
            reset,
        } = self;
        format!(
            "module {WRAPPER}({tick}input logic clk, input logic reset, input logic go, output logic done);\n  \
             {module} main(.{clk}(clk), .{reset}(reset), .{go}(go), .{done}(done));\n\
             endmodule\n"
        )
    }
}

/// Verilator configuration that keeps out of the trace what nobody wants of the Verilog file called `file_name`, as the
/// Calyx backend writes it: the guard wires (`wire _guardN = ...;`), about half of all names; and if `signals` are given,
/// all of what is declared but the signals and ports of these names in components (after a `// COMPONENT START`, or above
/// one and below the module's head).
///
/// Verilator leaves out every name with a leading underscore unless told otherwise, and with the name of a cell all that
/// is inside the cell, so cells stay.
pub(crate) fn trace_config(file_name: &str, verilog: &str, signals: Option<&[String]>) -> String {
    // The file name is a pattern: what could be a wildcard or a quote becomes the wildcard for one character.
    let pattern: String = file_name
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => c,
            _ => '?',
        })
        .collect();
    let wanted: Option<HashSet<&str>> =
        signals.map(|signals| signals.iter().map(String::as_str).collect());
    let unwanted = |line: &str| {
        let declares = ["logic", "wire", "input", "output", "reg", "string", "int"]
            .iter()
            .any(|word| line.trim_start().starts_with(word));
        let name = line.trim_end_matches([';', ',', ' ']).rsplit(' ').next();
        line.starts_with("wire _guard")
            || declares
                && wanted
                    .as_ref()
                    .is_some_and(|wanted| name.is_none_or(|name| !wanted.contains(name)))
    };
    let mut text = String::from("`verilator_config\n");
    let mut off: Option<(usize, usize)> = None;
    let mut rule = |off: &mut Option<(usize, usize)>| {
        if let Some((first, last)) = off.take() {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "tracing_off -file \"*{pattern}\" -lines {first}-{last}"
            );
        }
    };
    // Primitives come first.
    let first_component = verilog.find("// COMPONENT START").map_or(0, |start| {
        let head = verilog[..start].rfind("\nmodule ").map_or(0, |at| at + 1);
        verilog[..head].lines().count()
    });
    for (index, line) in verilog.lines().enumerate() {
        let number = index + 1;
        if unwanted(line) || signals.is_some() && index < first_component {
            off = Some((off.map_or(number, |(first, _)| first), number));
        } else {
            rule(&mut off);
        }
    }
    rule(&mut off);
    text
}

/// One line of the testbench's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The run is in this cycle.
    Progress(u64),
    /// `done` was seen after this many cycles.
    Done(u64),
    /// `done` was not seen within this many cycles.
    Limit(u64),
    /// The design stopped the run in this cycle; `None`: while it was reset.
    Stopped(Option<u64>),
}

impl Report {
    /// Reads a line; `None` if the testbench never writes such a line.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, number) = line.trim_end().split_once(' ')?;
        let number: i64 = number.parse().ok()?;
        let cycle = u64::try_from(number).ok();
        match word {
            "progress" => cycle.map(Self::Progress),
            "done" => cycle.map(Self::Done),
            "limit" => cycle.map(Self::Limit),
            "stopped" => Some(Self::Stopped(cycle)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn wrapper_connects_the_ports_by_name() {
        let top = TopModule {
            go: "start".to_owned(),
            ..TopModule::default()
        };
        expect![[r"
            module toplevel(input logic clk, input logic reset, input logic go, output logic done);
              main main(.clk(clk), .reset(reset), .start(go), .done(done));
            endmodule
        "]]
        .assert_eq(&top.wrapper(false));
    }

    #[test]
    fn trace_config_has_one_rule_for_each_run_of_guards() {
        let verilog =
            "module a;\nwire _guard0 = 1;\nwire _guard1 = x;\nassign y = x;\nwire _guard0 = 1;\n";
        expect![[r#"
            `verilator_config
            tracing_off -file "*my?design.sv" -lines 2-3
            tracing_off -file "*my?design.sv" -lines 5-5
        "#]]
        .assert_eq(&trace_config("my*design.sv", verilog, None));
    }

    #[test]
    fn trace_config_leaves_the_wanted_signals() {
        let verilog = "module a(\n  input logic go,\n  output logic [7:0] out\n);\n// COMPONENT START: a\nlogic [7:0] x_in;\nlogic x_out;\n\
                       b x (\n    .in(x_in)\n);\nwire _guard0 = 1;\n";
        let wanted = ["go".to_owned(), "x_out".to_owned()];
        expect![[r#"
            `verilator_config
            tracing_off -file "*d.sv" -lines 3-3
            tracing_off -file "*d.sv" -lines 6-6
            tracing_off -file "*d.sv" -lines 11-11
        "#]]
        .assert_eq(&trace_config("d.sv", verilog, Some(&wanted)));
    }

    #[test]
    fn reports_are_read_back() {
        for (line, expected) in [
            ("progress 12\n", Some(Report::Progress(12))),
            ("done 9\n", Some(Report::Done(9))),
            ("limit 5\n", Some(Report::Limit(5))),
            ("stopped 0\n", Some(Report::Stopped(Some(0)))),
            ("stopped -1\n", Some(Report::Stopped(None))),
            ("done -1\n", None),
            ("hello\n", None),
            ("hello 1\n", None),
        ] {
            assert_eq!(Report::parse(line), expected, "{line}");
        }
    }
}
