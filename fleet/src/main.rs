//! The command line of tapewright-fleet.

mod cli;
mod command;
mod query;
mod report;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;
use tokio::runtime::{Builder, Runtime};

use crate::cli::Command;
use crate::command::{Exit, Failure};

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed terminal cannot show it.
            drop(error.print());
            let exit = if error.use_stderr() {
                Exit::Unusable
            } else {
                Exit::Pass
            };
            return exit.into();
        }
    };
    match run(cli.command) {
        Ok(exit) => exit.into(),
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Exit::Pass.into()
        }
        Err(error) => {
            report::error(&error.to_string());
            error.exit().into()
        }
    }
}

fn run(command: Command) -> Result<Exit, Failure> {
    if !matches!(command, Command::Query(_)) {
        return one_thread()?.block_on(command::run(command));
    }
    // Planning recurses as deep as a query is nested.
    let asking = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let runtime = all_cores()?;
        let done = runtime.block_on(command::run(command));
        // Does not wait for reads that are no longer needed.
        runtime.shutdown_background();
        done
    })?;
    asking.join().unwrap_or(Err(Failure::Broken))
}

/// The stack size of a query's thread.
const STACK: usize = 64 << 20;
/// The stack size of its worker threads.
const WORKER_STACK: usize = 8 << 20;

fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        // For reads and writes of a folder.
        .max_blocking_threads(4)
        .build()
}

fn all_cores() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(WORKER_STACK)
        .max_blocking_threads(32)
        .build()
}
