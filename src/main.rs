//! The program `tapewright`: only a call of its commands, which are a separate package;
//! src/Cargo.toml explains why.

use std::process::ExitCode;

fn main() -> ExitCode {
    tapewright_commands::main()
}
