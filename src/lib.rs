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

/// Does what the arguments of the process say.
#[must_use]
pub fn main() -> ExitCode {
    // Before anything else: the guard has one duty and starts beside every recording.
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
