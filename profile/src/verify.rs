//! Whether the profiled design is the design that is built.
//!
//! The plain design is compiled beside the one with probes, on a thread of its own. If both are the
//! same hardware but for the probes, their runs are the same. If not, the plain design is simulated,
//! too, and has to take as many cycles and leave the same memories.

use std::any::Any;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use petal_analysis::Verified;
use petal_embedded::{Compiled, Latencies, Options, Stopped, Visible};
use petal_files::Scratch;
use petal_passes::{Design, Pipeline, Structure};
use petal_program::Parsed;
use petal_verilator::{BuildOptions, MoreVerilog, RunOptions, Trace, Verilator};

use crate::error::Error;
use crate::folder;
use crate::interrupt;
use crate::memories::Memories;
use crate::options::DesignOptions;

/// A check that goes on beside a run.
pub struct Verification {
    thread: Option<JoinHandle<Result<Finding, Error>>>,
    profiled: Sender<Profiled>,
}

/// What the plain design is held against, and what it needs to run.
struct Profiled {
    structure: Structure,
    run: Option<Run>,
}

/// How the plain design is to run.
pub(crate) struct Run {
    /// The memories before the run.
    pub memories: Arc<Memories>,
    /// Cycles after which the run ends with an error.
    pub cycle_limit: u64,
    /// After how many cycles an observation ended the run of the design with probes, and what is said of that.
    pub ended: Option<(u64, String)>,
    /// Verilator, for designs that the embedded simulator can't take.
    pub verilator: Option<PathBuf>,
}

/// How a design ran.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// Its length in cycles.
    pub cycles: u64,
    /// The memories after it: the text of a data file.
    pub memories: String,
    /// Why it ended before the design was done, if it did.
    pub stopped: Option<String>,
}

/// What came out.
enum Finding {
    /// The designs are the same hardware.
    Same,
    /// They are not, and nobody asked for a run.
    Different,
    /// They are not; this is how the plain one ran.
    Ran(Ran),
}

impl Verification {
    /// Begins to compile the plain design. What its passes print goes where it does as long as `printing` lives.
    pub(crate) fn begin(
        design: Parsed,
        options: DesignOptions,
        pipeline: Pipeline,
        printing: Arc<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        let (profiled, wanted) = mpsc::channel();
        let flag = interrupt::flag();
        let thread = thread::Builder::new()
            .stack_size(petal_program::STACK)
            .spawn(move || {
                interrupt::set_flag(Some(flag));
                let plain = compile(design, &options, &pipeline, &wanted)?;
                drop(printing);
                plain.map_or(Ok(Finding::Different), |(plain, profiled)| {
                    check(&plain, &options, profiled)
                })
            })
            .map_err(|error| Error::new(format!("cannot start a thread: {error}")))?;
        Ok(Self {
            thread: Some(thread),
            profiled,
        })
    }

    /// Tells which design has the probes; it is simulated as `run` says if need be.
    pub(crate) fn compare(&self, design: &Design, run: Option<Run>) {
        let structure = design.structure;
        // If the thread has failed, its result tells.
        let _ = self.profiled.send(Profiled { structure, run });
    }

    /// What was found out about a design that is not run: whether the plain one is the same hardware.
    ///
    /// # Errors
    /// When the plain design can't be compiled.
    pub fn by_structure(mut self, design: &Design) -> Result<bool, Error> {
        self.compare(design, None);
        Ok(matches!(self.finding()?, Finding::Same))
    }

    /// Why the plain design can't be compiled either, if it can't.
    pub(crate) fn failure(mut self) -> Option<Error> {
        // Nobody profiles it.
        self.profiled = mpsc::channel().0;
        self.finding().err()
    }

    /// What was found out, when the design with probes ran so.
    pub(crate) fn finish(mut self, profiled: &Ran) -> Result<Verified, Error> {
        let way_out = "`--unverified` profiles it nevertheless";
        let plain = match self.finding()? {
            Finding::Same => return Ok(Verified::Structure),
            Finding::Ran(plain) if plain == *profiled => return Ok(Verified::Simulation),
            Finding::Ran(plain) => Some(plain),
            Finding::Different => None,
        };
        let Ran { cycles, .. } = profiled;
        Err(Error::new(match (&profiled.stopped, plain) {
            (
                None,
                Some(Ran {
                    stopped: Some(stopped),
                    ..
                }),
            ) => format!(
                "with probes the design runs to its end, without them it does not: {stopped}"
            ),
            (stopped, Some(plain)) if plain.stopped == *stopped => match stopped {
                Some(_) => format!(
                    "after {cycles} cycles the design leaves other memories with probes than without, so a profile would \
                     not be true; please report this with the design ({way_out})"
                ),
                None if plain.cycles != *cycles => format!(
                    "the design takes {} cycles, and {cycles} with probes, so a profile would not be true; please \
                     report this with the design ({way_out})",
                    plain.cycles
                ),
                None => format!(
                    "the design leaves other memories with probes than without, after {cycles} cycles each, so a \
                     profile would not be true; please report this with the design ({way_out})"
                ),
            },
            (stopped, _) => format!(
                "{}the probes change how the design is built, and whether they change its run cannot be checked in \
                 a part of the run ({way_out})",
                stopped
                    .as_ref()
                    .map_or(String::new(), |stopped| format!("{stopped}; "))
            ),
        }))
    }

    fn finding(&mut self) -> Result<Finding, Error> {
        let thread = self.thread.take().expect("this is called once");
        let result = thread.join();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The plain design, and what it is held against; `None` if nobody waits for it any more.
fn compile(
    design: Parsed,
    options: &DesignOptions,
    pipeline: &Pipeline,
    profiled: &Receiver<Profiled>,
) -> Result<Option<(Design, Profiled)>, Error> {
    // Options may make passes print, which two at once should not do.
    let first = pipeline.has_options().then(|| profiled.recv().ok());
    let plain = petal_passes::compile(options.program_of(design)?, pipeline)?;
    let profiled = first.unwrap_or_else(|| profiled.recv().ok());
    Ok(profiled.map(|profiled| (plain, profiled)))
}

fn check(
    plain: &Design,
    options: &DesignOptions,
    Profiled { structure, run }: Profiled,
) -> Result<Finding, Error> {
    if plain.structure == structure {
        return Ok(Finding::Same);
    }
    let Some(run) = run else {
        return Ok(Finding::Different);
    };
    simulate(plain, &options.simulated_latencies(), &run).map(Finding::Ran)
}

/// A run of the plain design.
fn simulate(design: &Design, latencies: &Latencies, run: &Run) -> Result<Ran, Error> {
    let options = Options {
        cycle_limit: run.cycle_limit,
        interrupt: interrupt::flag(),
        partial: true,
        ..Options::default()
    };
    let compiled = Compiled::observing(design.program(), latencies, &[], &[], Visible::Probes);
    let simulation = compiled.and_then(|compiled| compiled.simulation(options));
    let mut simulation = match simulation {
        Ok(simulation) => simulation,
        Err(petal_embedded::Error::Unsupported { .. }) => return with_verilator(design, run),
        Err(error) => return Err(error.into()),
    };
    run.memories.load(&mut simulation);
    let end = run.ended.as_ref().map_or(u64::MAX, |(cycles, _)| *cycles);
    // What the last cycle writes is there when the next one begins.
    let cycles = simulation.run_to(end)?;
    let ended = run.ended.as_ref().filter(|_| cycles == end);
    let stopped = simulation.stopped().map(ToString::to_string);
    Ok(Ran {
        cycles,
        stopped: ended.map(|(_, why)| why.clone()).or(stopped),
        memories: run.memories.store(&mut simulation),
    })
}

fn with_verilator(design: &Design, run: &Run) -> Result<Ran, Error> {
    let verilator = Verilator::find(run.verilator.as_deref())?;
    let work = Scratch::new().map_err(Error::no_scratch)?;
    let work = work.path();
    let verilog = work.join(folder::VERILOG);
    fs::write(&verilog, design.verilog()?).map_err(Error::io("write", &verilog))?;
    let options = BuildOptions {
        trace: Trace::Off,
        more: more_verilog(design),
        interrupt: interrupt::flag(),
        ..BuildOptions::default()
    };
    let simulation = verilator
        .build(&verilog, &work.join("build"), &work.join("cache"), &options)
        .map_err(interrupt::of_simulation)?;
    run.memories.write(work)?;
    let limit = run.cycle_limit;
    let options = RunOptions {
        data_dir: work.to_owned(),
        vcd: None,
        cycle_limit: limit,
    };
    let outcome = simulation.run(&options, &mut |_| {});
    let outcome = outcome.map_err(interrupt::of_simulation)?;
    let stopped = (!outcome.is_done).then(|| Stopped::CycleLimit { limit }.to_string());
    Ok(Ran {
        cycles: outcome.cycles,
        stopped,
        memories: run.memories.read(work)?,
    })
}

/// What a simulator reads besides a design's Verilog.
pub(crate) fn more_verilog(design: &Design) -> MoreVerilog {
    let includes = design.includes.clone();
    MoreVerilog {
        folders: includes.folders,
        modules: includes.modules,
        files: includes.files,
    }
}

#[cfg(test)]
mod tests {
    use petal_passes::ALL;
    use petal_program::{Library, Program};

    use super::*;
    use crate::options;

    /// What comes of a profile of the program `profiled` when `plain` is the plain one, and an observation ends the run after so many
    /// cycles, if it does.
    fn verify(plain: &str, profiled: &str, end: Option<u64>) -> Result<Verified, Error> {
        let dir = tempfile::tempdir().unwrap();
        let [plain, profiled] = [("plain", plain), ("profiled", profiled)].map(|(name, body)| {
            let path = dir.path().join(name).with_extension("futil");
            fs::write(&path, program(body)).unwrap();
            path
        });
        let library = Library::new(&[])?;
        let pipeline = Pipeline::parse(ALL, &[])?;
        let program = Program::read(&profiled, &library)?;
        let plain = Parsed::read(&plain, &library)?;
        let options = options::Options::of(&profiled);
        let design = options.design.clone();
        let verification = Verification::begin(plain, design, pipeline.clone(), Arc::new(()))?;
        let (design, _) = petal_passes::instrument(program, &pipeline)?;
        let run = || Run {
            memories: Arc::new(Memories::of(&options, &design).unwrap()),
            cycle_limit: options.cycle_limit,
            ended: end.map(|cycles| (cycles, "ended by an observation".to_owned())),
            verilator: None,
        };
        let ran = simulate(&design, &Latencies::new(), &run())?;
        verification.compare(&design, Some(run()));
        verification.finish(&ran)
    }

    /// A program that writes `value` to a memory in a group of so many cycles.
    fn program(body: &str) -> String {
        format!(
            r#"import "primitives/core.futil";
            import "primitives/memories/comb.futil";
            component main() -> () {{
              cells {{ @external m = comb_mem_d1(8, 1, 1); r = std_reg(8); }}
              wires {{
                group load {{ r.in = 8'd5; r.write_en = 1'd1; load[done] = r.done; }}
                group store {{
                  m.addr0 = 1'd0; m.write_data = r.out; m.write_en = 1'd1; store[done] = m.done;
                }}
                {body}
            }}"#
        )
    }

    #[test]
    fn designs_that_are_built_in_another_way_are_run() {
        // One test for all: only one thread may parse at a time.
        let twice = "} control { seq { load; store; load; } }";
        let loads = "group more { r.in = 8'd6; r.write_en = 1'd1; more[done] = r.done; }";
        let cases = [
            (twice.to_owned(), Ok(Verified::Structure)),
            (
                format!("{loads} }} control {{ seq {{ load; store; more; }} }}"),
                Ok(Verified::Simulation),
            ),
            (
                "} control { seq { load; store; load; load; } }".to_owned(),
                Err("takes 4 cycles, and 3 with probes"),
            ),
            (
                format!("{loads} }} control {{ seq {{ more; store; load; }} }}"),
                Err("other memories with probes than without, after 3 cycles each"),
            ),
        ];
        for (plain, expected) in cases {
            let found = verify(&plain, twice, None).map_err(|failure| failure.to_string());
            match (&found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{plain}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                _ => panic!("{plain}: {found:?} is not {expected:?}"),
            }
        }
        let later = format!("{loads} }} control {{ seq {{ load; store; load; more; }} }}");
        for end in [1, 2, 3] {
            let found = verify(&later, twice, Some(end));
            assert_eq!(found.unwrap(), Verified::Simulation, "{end}");
        }
        let other = format!("{loads} }} control {{ seq {{ more; store; load; }} }}");
        let found = verify(&other, twice, Some(2)).unwrap_err().to_string();
        assert!(
            found.contains("after 2 cycles the design leaves other memories"),
            "{found}"
        );
    }
}
