//! The commands, one file each.

pub(crate) mod behind;
pub(crate) mod completions;
pub(crate) mod compliance;
pub(crate) mod control;
pub(crate) mod count;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod duration;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fault;
pub(crate) mod faults;
pub(crate) mod format;
pub(crate) mod headers;
pub(crate) mod init;
pub(crate) mod inspect;
mod linking;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod model_baseline;
pub(crate) mod models;
pub(crate) mod otlp;
pub(crate) mod page;
mod prices;
pub(crate) mod record;
pub(crate) mod redaction;
pub(crate) mod replay;
pub(crate) mod reporters;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod scrub;
pub(crate) mod selection;
pub(crate) mod sessions;
pub(crate) mod show;
mod suite_faults;
pub(crate) mod suites;
pub(crate) mod tail;
mod unrecorded;
pub(crate) mod upstream;
pub(crate) mod validate;
pub(crate) mod variables;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod watch;
pub(crate) mod wrap;

use crate::cli::{Arguments, Command};
use crate::exit::Exit;
use crate::log;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if !matches!(arguments.command, Command::Run(_)) {
        arguments.servers.refuse()?;
    }
    if let Some((name, options)) = arguments.command.log() {
        log::start(options, name)?;
    }
    // A recorder may start its server before there are threads.
    if !matches!(arguments.command, Command::Record(_)) {
        log::flow();
    }
    let result = carry_out(arguments);
    log::end(&result);
    result
}

fn carry_out(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Record(arguments) => record::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Fault(arguments) => fault::run(arguments),
        Command::Sessions(arguments) => sessions::run(arguments),
        Command::Tail(arguments) => tail::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Init(arguments) => init::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
        Command::View(arguments) => view::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Scrub(arguments) => scrub::run(arguments),
        Command::Compliance(arguments) => compliance::run(arguments),
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Migrate(arguments) => migrate::run(arguments),
        Command::ModelBaseline(arguments) => model_baseline::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Run(run) => run::run(run, &arguments.servers),
        Command::Eval(arguments) => eval::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Wrap(arguments) => wrap::run(arguments),
        Command::Unwrap(arguments) => wrap::unwrap(arguments),
        Command::Completions(arguments) => completions::run(arguments),
    }
}

impl Command {
    /// The log options, and the command's name in the log, if it has any.
    fn log(&self) -> Option<(&'static str, &log::LogArguments)> {
        Some(match self {
            Self::Record(record) => ("record", &record.log),
            Self::Replay(replay) => ("replay", &replay.log),
            Self::Verify(verify) => ("verify", &verify.log),
            Self::Init(init) => ("init", &init.log),
            Self::Mcp(mcp) => ("mcp", &mcp.log),
            Self::Compliance(compliance) => ("compliance", compliance.log()),
            Self::Run(run) => ("run", &run.log),
            Self::Eval(eval) => ("eval", &eval.log),
            _ => return None,
        })
    }
}
