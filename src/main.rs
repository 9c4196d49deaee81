//! The `petal` command, which is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(petal::main(std::env::args_os()))
}
