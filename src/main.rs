//! The `petal` command, which is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = petal::main(std::env::args_os());
    // Threads that nobody waits for may have some temporary folders left.
    petal_files::end();
    ExitCode::from(code)
}
