//! What `petal advise` saves: proved, and with all, in a table.
//!
//! `cargo bench --bench advice -- [OPTION...] DESIGN.futil...` asks for the advice of each design twice, once only for what is proved, and prints
//! the cycles of the run, what they become, and how long petal takes. The options are those of `petal advise`, for all designs:
//! `--budget 60s`, `-d papercut`. Without designs: some of the examples.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

fn main() {
    // Cargo adds `--bench`.
    let arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let (designs, options): (Vec<String>, Vec<String>) =
        arguments.partition(|word| Path::new(word).extension() == Some("futil".as_ref()));
    let designs: Vec<PathBuf> = if designs.is_empty() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("calyx-examples");
        [
            "matmul",
            "dot-product",
            "invoke-ref",
            "while-reg",
            "switch-case-par",
        ]
        .map(|name| examples.join(format!("{name}.futil")))
        .to_vec()
    } else {
        designs.into_iter().map(PathBuf::from).collect()
    };
    println!("| design | cycles | proved | | in | with all | | in |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for design in &designs {
        let name = design.file_stem().unwrap_or_default().to_string_lossy();
        let (proved, proved_in) = advice(design, &options, &["--proved"]);
        let (all, all_in) = advice(design, &options, &[]);
        let cycles = count(&all, "cycles");
        let proved = count(&proved, "with_proved");
        let all = count(&all, "with_all");
        println!(
            "| {name} | {cycles} | {proved} | {} | {proved_in:.1} s | {all} | {} | {all_in:.1} s |",
            saving(cycles, proved),
            saving(cycles, all)
        );
    }
}

/// What petal advises, and how many seconds that takes.
fn advice(design: &Path, options: &[String], more: &[&str]) -> (Value, f64) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench/advice");
    let mut petal = Command::new(env!("CARGO_BIN_EXE_petal"));
    petal.args(["advise", "--format=json", "--quiet", "--out"]);
    petal.arg(&out).args(more).args(options).arg(design);
    let begin = Instant::now();
    let done = petal.stderr(Stdio::inherit()).output();
    let seconds = begin.elapsed().as_secs_f64();
    let done = done.expect("petal can be run");
    assert!(done.status.success(), "no advice for {}", design.display());
    let told = serde_json::from_slice(&done.stdout).expect("it is JSON");
    (told, seconds)
}

fn count(advice: &Value, name: &str) -> u64 {
    advice[name].as_u64().expect("it is a number")
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
fn saving(before: u64, after: u64) -> String {
    format!(
        "-{:.1} %",
        100.0 * before.saturating_sub(after) as f64 / before as f64
    )
}
