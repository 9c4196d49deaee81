//! `--fst`: the reader of `GTKWave`, which comes with Verilator, sees the signals of the VCD file.

use std::path::PathBuf;
use std::process::Command;

use crate::support::histories::of_vcd;
use crate::support::root;
use crate::support::workshop::{Workshop, example, succeeds};

/// Writes an FST file as VCD, as its `fst2vcd` does.
const READER: &str = r#"
#include <stdio.h>
#include "fstapi.h"
int main(int argc, char **argv) {
    void *reader = argc == 3 ? fstReaderOpen(argv[1]) : NULL;
    FILE *out = reader ? fopen(argv[2], "wb") : NULL;
    if (!out || !fstReaderProcessHier(reader, out)) return 1;
    fstReaderSetFacProcessMaskAll(reader);
    if (!fstReaderIterBlocks(reader, NULL, NULL, out)) return 1;
    fstReaderClose(reader);
    return fclose(out);
}
"#;

#[test]
fn the_reader_of_gtkwave_sees_the_signals_of_the_vcd_file() {
    let verilator = succeeds(Command::new("verilator").args(["--getenv", "VERILATOR_ROOT"]));
    let sources = PathBuf::from(verilator.trim()).join("include/gtkwave");
    if !sources.join("fstapi.c").is_file() {
        eprintln!("not run: this Verilator has no reader of GTKWave");
        return;
    }
    let workshop = Workshop::empty();
    workshop.write("reader.c", READER);
    let files = ["fstapi.c", "fastlz.c", "lz4.c"].map(|file| sources.join(file));
    let mut compiler = workshop.run("cc");
    compiler.args([
        "-O1",
        "-o",
        "reader",
        "-DFST_CONFIG_INCLUDE=\"fst_config.h\"",
    ]);
    compiler.arg("-I").arg(&sources).arg("reader.c").args(files);
    succeeds(compiler.args(["-lz", "-lpthread"]));
    let corpus = ["struct-wide", "struct-many-cells", "control-par-wide"];
    let corpus = corpus.map(|name| format!("{}/tests/corpus/{name}.futil", root().display()));
    let examples = ["static", "matmul", "packet-scheduler"];
    let examples = examples.map(|name| example(&format!("{name}.futil")));
    for design in corpus.iter().chain(&examples) {
        for (option, file) in [("--vcd", "wave.vcd"), ("--fst", "wave.fst")] {
            let end = ["--cycle-limit", "40000", "--partial", "-q"];
            let run = ["run", design, option, file, "--out", "out"];
            workshop.succeeds(&[&run[..], &end].concat());
        }
        let reader = workshop.path("reader");
        succeeds(
            workshop
                .run(&reader.display().to_string())
                .args(["wave.fst", "read.vcd"]),
        );
        let mut read = of_vcd(&workshop.path("read.vcd"));
        for history in read.values_mut() {
            // It tells the first values of each part again.
            history.dedup_by(|later, before| later.1 == before.1);
        }
        assert!(read == of_vcd(&workshop.path("wave.vcd")), "{design}");
    }
}
