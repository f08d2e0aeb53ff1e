//! What can be typed. What it means is in [`crate::command`].

use clap::{Parser, Subcommand};

use crate::command::run::ServerArguments;
use crate::command::{
    completions, compliance, demo, explain, export, fault, init, inspect, migrate, record, replay,
    run, schema, scrub, sessions, tail, validate, verify,
};

/// The recording proxy and replay gateway for MCP, the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(
    name = "tapewright",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    // They are shown where they belong: in the help of `run`.
    mut_args(|arg| arg.hide(true))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) servers: ServerArguments,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Deferred: only the options of the command that is run are put together.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Record(Box<record::Arguments>),
    Replay(Box<replay::Arguments>),
    Fault(fault::Arguments),
    Sessions(sessions::Arguments),
    Tail(tail::Arguments),
    Verify(Box<verify::Arguments>),
    Export(export::Arguments),
    Init(Box<init::Arguments>),
    Inspect(inspect::Arguments),
    Scrub(scrub::Arguments),
    Compliance(compliance::Arguments),
    Migrate(migrate::Arguments),
    Validate(validate::Arguments),
    Schema(schema::Arguments),
    Run(Box<run::Arguments>),
    Explain(explain::Arguments),
    Demo(demo::Arguments),
    Completions(completions::Arguments),
}
