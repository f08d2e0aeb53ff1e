//! The command line of tapewright.

mod cli;
mod command;
mod corpus;
mod exit;
mod files;
mod here;
mod log;
#[cfg(test)]
mod reference;
mod report;
mod suite;
mod watch;

use std::process::ExitCode;

use crate::exit::Exit;

/// Runs the command in the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    // Before anything else: the guard has one task and is started with every recording.
    if let Some(exit) = tapewright_proxy::system::guard::run_if_asked() {
        return exit;
    }
    let arguments = match cli::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => return report::usage(&error).into(),
    };
    match command::run(&arguments) {
        Ok(exit) => exit.into(),
        Err(error) if report::is_broken_pipe(&error) => Exit::Pass.into(),
        Err(error) => {
            report::error(&error);
            Exit::Unusable.into()
        }
    }
}
