//! `tapewright compliance`: judging recordings.

mod arguments;
mod baseline;
mod evidence;
pub(crate) mod folder;
mod judge;
mod strict;

use clap::{Args, Subcommand};

use crate::exit::Exit;

pub(crate) use self::baseline::Expectations;
pub(crate) use self::judge::{Server, Verdicts};

/// Judge recordings
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Invariants(arguments::Arguments),
}

/// Carries out what was typed.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Invariants(arguments) => arguments.run(),
    }
}
