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
    // Planning goes as deep as a query is nested.
    let asking = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let runtime = all_cores()?;
        let done = runtime.block_on(command::run(command));
        // What is still read for an answer that nobody waits for.
        runtime.shutdown_background();
        done
    })?;
    asking.join().unwrap_or(Err(Failure::Broken))
}

/// How much the stack of a query may take.
const STACK: usize = 64 << 20;
/// How much the stacks of those that work for it may.
const WORKER_STACK: usize = 8 << 20;

fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_all()
        // Reads and writes of a store that is a folder.
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
