//! The `petal` command, which is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    petal::main()
}
