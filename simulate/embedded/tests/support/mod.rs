//! Lowered programs for the tests, and their runs.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fmt::Write as _;

use calyx_ir::Context;
use petal_embedded::{Error, Options, Simulation};
use petal_passes::Library;
use petal_reconstruct::{Id as _, ProbeSource, Signal};

/// All files of the standard library.
const IMPORTS: [&str; 10] = [
    "core",
    "binary_operators",
    "math",
    "memories/comb",
    "memories/seq",
    "memories/dyn",
    "pipelined",
    "stallable",
    "sync",
    "compile",
];

/// Reads a lowered program: components without groups and control. All of the standard library is
/// imported, but for what is given as `more`, which stands in front.
pub fn program(more: &str, components: &str) -> Context {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("design.futil");
    let mut text = String::new();
    for import in &IMPORTS[..IMPORTS.len() - 1] {
        writeln!(text, "import \"primitives/{import}.futil\";").unwrap();
    }
    text.push_str(more);
    text.push_str(components);
    std::fs::write(&file, text).unwrap();
    let library = Library::new(&[]).unwrap();
    // The temporary folder of the library may not be removed before the simulator has looked at it.
    let path = library.complete().unwrap().to_owned();
    std::mem::forget(library);
    let _alone = petal_passes::parsing();
    let workspace = petal_compiler::workspace(&file, &path).expect("the program is Calyx");
    petal_compiler::ast_to_ir(workspace).expect("the program has a meaning")
}

/// A port of main, by its name in the Verilog.
pub fn port(name: &str) -> Signal {
    Signal {
        scope: vec!["toplevel".to_owned(), "main".to_owned()],
        name: name.to_owned(),
    }
}

/// The values of these ports of main in each cycle of a run.
pub fn run(program: &Context, ports: &[&str]) -> Result<Vec<Vec<u64>>, String> {
    let ports: Vec<Signal> = ports.iter().map(|name| port(name)).collect();
    let options = Options {
        cycle_limit: 1000,
        ..Options::default()
    };
    let mut simulation =
        Simulation::new(program, &ports, options).map_err(|error: Error| error.to_string())?;
    let mut now = vec![0; ports.len()];
    let mut cycles = Vec::new();
    loop {
        let runs = simulation.next_cycle().map_err(|error| error.to_string())?;
        for change in simulation.changes() {
            now[change.slot.index()] = change.value;
        }
        if !runs {
            return Ok(cycles);
        }
        cycles.push(now.clone());
    }
}

/// One cell `p` of a primitive whose inputs have other values in each cycle.
pub struct Cell<'a> {
    /// The primitive with its parameters, as in Calyx.
    pub primitive: &'a str,
    /// For each input its width and its values, one for each cycle; 0 before the run and after the last.
    pub inputs: &'a [(&'a str, u32, &'a [u64])],
}

impl Cell<'_> {
    /// The program, which runs for `cycles` cycles.
    pub fn program(&self, cycles: usize) -> Context {
        let mut wires = String::new();
        for (input, width, values) in self.inputs {
            for (cycle, value) in values.iter().enumerate() {
                writeln!(
                    wires,
                    "p.{input} = go & now.out == 16'd{cycle} ? {width}'d{value};"
                )
                .unwrap();
            }
        }
        program(
            "",
            &format!(
                "component main() -> () {{
                   cells {{ p = {}; now = std_reg(16); next = std_add(16); }}
                   wires {{
                     now.clk = clk; now.reset = reset;
                     next.left = now.out; next.right = 16'd1;
                     now.in = next.out; now.write_en = go;
                     done = now.out == 16'd{cycles} ? 1'd1;
                     {wires}
                   }}
                   control {{}}
                 }}",
                self.primitive
            ),
        )
    }

    /// The values of these outputs in each of the first `cycles` cycles.
    pub fn outputs(&self, outputs: &[&str], cycles: usize) -> Vec<Vec<u64>> {
        self.run(outputs, cycles).expect("the design runs")
    }

    /// The same, or what the run ends with.
    pub fn run(&self, outputs: &[&str], cycles: usize) -> Result<Vec<Vec<u64>>, String> {
        let ports: Vec<String> = outputs.iter().map(|output| format!("p_{output}")).collect();
        let ports: Vec<&str> = ports.iter().map(String::as_str).collect();
        run(&self.program(cycles), &ports)
    }

    /// The values of one output.
    pub fn output(&self, output: &str, cycles: usize) -> Vec<u64> {
        self.outputs(&[output], cycles).concat()
    }
}
