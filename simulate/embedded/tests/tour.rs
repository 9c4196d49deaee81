//! A whole design, compiled by petal's passes: its result, and the files that the tests of
//! `petal-reconstruct` read. `UPDATE_EXPECT=1` writes those anew.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::expect_file;
use num_bigint::BigUint;
use petal_embedded::{Options, Simulation, WaveformFile};
use petal_passes::{ALL, Library, Pipeline, Program, instrument};
use petal_reconstruct::{Event, Reconstruction};

/// A file in memory that two have.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_tour_runs_and_its_files_are_current() {
    let file = Path::new("../../reconstruct/tests/data/tour.futil");
    let program = Program::read(file, &Library::new(&[]).unwrap()).unwrap();
    let pipeline = Pipeline::parse(ALL, &[]).unwrap();
    let (design, metadata) = instrument(program, &pipeline).unwrap();
    let reconstruction = Reconstruction::new(&metadata);
    let vcd = Shared::default();
    let options = Options {
        waveforms: vec![WaveformFile::Vcd(Box::new(vcd.clone()))],
        ..Options::default()
    };
    let probes = &reconstruction.signals().watched;
    let mut simulation = Simulation::new(design.program(), probes, options).unwrap();
    let mut updates = 0;
    let cycles = reconstruction
        .run(&mut simulation, &mut |event| -> Result<(), String> {
            match event {
                Event::Warning(warning) => return Err(format!("{warning:?}")),
                Event::Update(_) => updates += 1,
                _ => {}
            }
            Ok(())
        })
        .unwrap();
    assert!(
        cycles > 20 && updates > 10,
        "{cycles} cycles, {updates} updates"
    );
    assert!(simulation.stopped().is_none());
    let result = simulation.read_memory("result").unwrap();
    let expected = [1u8, 1, 9, 3].map(BigUint::from);
    assert_eq!(result.into_values().collect::<Vec<_>>(), expected);
    simulation.finish_waveform().unwrap();
    let vcd = String::from_utf8(vcd.0.lock().unwrap().clone()).unwrap();
    // Upstream's compiler makes other hardware.
    if petal_compiler::CALYX_VERSION != "0.7.1" {
        return;
    }
    expect_file!["../../../reconstruct/tests/data/tour.vcd"].assert_eq(&vcd);
    expect_file!["../../../reconstruct/tests/data/tour.metadata.json"]
        .assert_eq(&metadata.to_json());
}
