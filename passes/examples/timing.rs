//! Times the compilation of a design, with petal's passes and without: which of it is the stock
//! passes'. Tells apart `well-formed`, which is quadratic as the stock pass manager runs it, but not
//! in petal's pipelines (`-w` times that, too). Times are the processor's.

use std::path::Path;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use petal_passes::{ALL, Library, PassesError, Pipeline, Program, STACK, compile, instrument};

/// Each time is the median of so many.
const RUNS: usize = 5;

const WELL_FORMED: &str = "well-formed";

fn main() {
    let timing = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let (options, designs): (Vec<_>, Vec<_>) = std::env::args()
            .skip(1)
            .partition(|argument| argument == "-w");
        for design in designs {
            if let Err(error) = time(Path::new(&design), !options.is_empty()) {
                eprintln!("{design}: {error}");
            }
        }
    });
    timing.unwrap().join().unwrap();
}

fn time(design: &Path, stock_well_formed: bool) -> Result<(), PassesError> {
    let library = Library::new(&[])?;
    let all = Pipeline::parse(ALL, &[])?;
    let others = Pipeline::parse(ALL, &[WELL_FORMED.to_owned()])?;
    let plain = |pipeline| {
        median(|| {
            let program = Program::read(design, &library)?;
            let start = now();
            compile(program, pipeline)?;
            Ok(now() - start)
        })
    };
    let probed = |pipeline| {
        median(|| {
            let program = Program::read(design, &library)?;
            let start = now();
            instrument(program, pipeline)?;
            Ok(now() - start)
        })
    };
    let name = design.display();
    for (what, all, others) in [
        ("stock passes", plain(&all)?, plain(&others)?),
        ("with petal's", probed(&all)?, probed(&others)?),
    ] {
        let ratio = all / others;
        println!("{name}: {what} {all:.2} s, without {WELL_FORMED} {others:.2} s ({ratio:.2})");
    }
    if stock_well_formed {
        let seconds = stock(design, library.complete()?);
        println!("{name}: {WELL_FORMED} of the stock pass manager {seconds:.2} s");
    }
    Ok(())
}

fn median(run: impl Fn() -> Result<f64, PassesError>) -> Result<f64, PassesError> {
    let mut times = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}

/// Seconds for which this thread has run.
fn now() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    let time = usage.user_time() + usage.system_time();
    std::time::Duration::from_micros(time.num_microseconds().unsigned_abs()).as_secs_f64()
}

/// Seconds that the pass takes where petal leaves nothing out.
fn stock(design: &Path, library: &Path) -> f64 {
    let workspace = petal_compiler::workspace(design, library).unwrap();
    let mut program = petal_compiler::ast_to_ir(workspace).unwrap();
    let manager = petal_compiler::default_passes().unwrap();
    let start = now();
    petal_compiler::run_pass(&manager, &mut program, WELL_FORMED).unwrap();
    now() - start
}
