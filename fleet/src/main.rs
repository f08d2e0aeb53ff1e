//! The command line of tapewright-fleet.

mod cli;
mod command;
mod report;

use std::process::ExitCode;

use clap::Parser as _;

use crate::command::Exit;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed terminal cannot be told about it.
            drop(error.print());
            let exit = if error.use_stderr() {
                Exit::Unusable
            } else {
                Exit::Pass
            };
            return exit.into();
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // Reads and writes of a store that is a folder.
        .max_blocking_threads(4)
        .build();
    let done = runtime
        .map_err(command::Failure::from)
        .and_then(|runtime| runtime.block_on(command::run(cli.command)));
    match done {
        Ok(exit) => exit.into(),
        Err(command::Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            Exit::Pass.into()
        }
        Err(error) => {
            report::error(&error.to_string());
            Exit::Unusable.into()
        }
    }
}
