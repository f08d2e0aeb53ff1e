//! `tapewright model-baseline`: keeps a model's answers in a file and compares others with them.

mod accept;
mod candidates;
mod capture;
mod diff;
mod file;
mod format;
mod join;
mod recorded;
mod run;
mod source;
mod suite;

use clap::{Args, Subcommand};

use crate::exit::Exit;

/// Record what a model answers, and compare other models with it
///
/// For every step of every agent test, a baseline holds what the model said and
/// which tools it called with which arguments.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Capture(Box<capture::Arguments>),
    Diff(diff::Arguments),
    Run(Box<run::Arguments>),
    Accept(accept::Arguments),
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Capture(arguments) => arguments.run(),
        Command::Diff(arguments) => arguments.run(),
        Command::Run(arguments) => arguments.run(),
        Command::Accept(arguments) => arguments.run(),
    }
}
