//! Times the compilation of a design, with petal's passes and without: which of it is the stock
//! passes'.

use std::path::Path;
use std::time::Instant;

use petal_passes::{ALL, Library, PassesError, Pipeline, Program, STACK, compile, instrument};

fn main() {
    let timing = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        for design in std::env::args().skip(1) {
            if let Err(error) = time(Path::new(&design)) {
                eprintln!("{design}: {error}");
            }
        }
    });
    timing.unwrap().join().unwrap();
}

fn time(design: &Path) -> Result<(), PassesError> {
    let library = Library::new(&[])?;
    let pipeline = Pipeline::parse(ALL, &[])?;
    let start = Instant::now();
    let program = Program::read(design, &library)?;
    let parsed = start.elapsed();
    compile(program, &pipeline)?;
    let stock = start.elapsed();
    let start = Instant::now();
    instrument(Program::read(design, &library)?, &pipeline)?;
    let probed = start.elapsed();
    println!(
        "{}: stock {:.1} ms, with probes {:.1} ms, of which the parser takes {:.1} ms",
        design.display(),
        stock.as_secs_f64() * 1e3,
        probed.as_secs_f64() * 1e3,
        parsed.as_secs_f64() * 1e3,
    );
    Ok(())
}
