//! The program `tapewright`: nothing but its commands, of which `src/Cargo.toml` says why they are a package of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    tapewright_commands::main()
}
