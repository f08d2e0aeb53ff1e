//! `tapewright compliance`: judges servers and recordings, and has the corpora of the revisions.

mod arguments;
mod baseline;
pub(crate) mod corpora;
mod diff;
mod doctor;
mod evidence;
mod judge;
mod official;
pub(crate) mod run;
mod strict;

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::log::LogArguments;

pub(crate) use self::baseline::Expectations;
pub(crate) use self::doctor::{Examination, Examined};
pub(crate) use self::judge::{Question, Server, SessionVerdict, Verdicts, judge};
pub(crate) use self::official::Official;

/// Check servers and recordings against the MCP specification
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Invariants(arguments::Arguments),
    Doctor(Box<doctor::Arguments>),
    Diff(diff::Arguments),
    Run(Box<run::Arguments>),
}

impl Arguments {
    /// The options of the log.
    pub(crate) fn log(&self) -> &LogArguments {
        match &self.command {
            Command::Invariants(arguments) => &arguments.log,
            Command::Doctor(arguments) => &arguments.log,
            Command::Diff(arguments) => &arguments.log,
            Command::Run(arguments) => &arguments.log,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Invariants(arguments) => arguments.run(),
        Command::Doctor(arguments) => arguments.run(),
        Command::Diff(arguments) => arguments.run(),
        Command::Run(arguments) => arguments.run(),
    }
}
