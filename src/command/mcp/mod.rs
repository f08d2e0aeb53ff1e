//! `tapewright mcp`: recordings as an MCP server, for coding agents.
//!
//! What it answers are the views of `inspect`, `show`, `diff` and `compliance invariants`, as data
//! and as a short text; [`tools`] has one file for each tool. [`conversation`] is the protocol: a
//! few methods, in every revision. It runs behind the same fronts as a replay: [`link`] is an
//! upstream within this process, so that listeners, their checks, the log and the ends of a
//! session are those of the rest.

pub(crate) mod answer;
mod asked;
mod conversation;
mod cursor;
mod desk;
mod link;
mod one;
mod page;
mod prompts;
mod recordings;
mod refusal;
mod resources;
mod server;
#[cfg(test)]
mod tests;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use tapewright_engine::policy::Transparent;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::front::{self, Behind};
use tapewright_proxy::record::Recorder;
use tapewright_proxy::stdio;
use tapewright_schemas::event;

use self::link::LinkServer;
use self::recordings::Recordings;
use self::server::Server;
use crate::command::control::Remote;
use crate::command::faults;
use crate::command::record::gateway;
use crate::command::record::listen::ListenArguments;
use crate::command::redaction;
use crate::exit::Exit;
use crate::log::{self, LogArguments};

/// Serve recordings to coding agents over MCP
///
/// An agent can list and inspect recordings, filter exchanges, read messages, find
/// hangs and findings, compare two recordings, look up codes, and generate a test
/// from an exchange. The server only reads, and only below FOLDER.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Folder of the recordings [default: the state folder]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Also serve a running recorder: `http://127.0.0.1:PORT` or `unix:PATH`
    #[arg(long, value_name = "ADDR")]
    control: Vec<String>,
    /// Token of the controls [env: `TAPEWRIGHT_CONTROL_TOKEN`]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    #[command(flatten)]
    listening: ListenArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright mcp
  tapewright mcp recordings
  tapewright mcp recordings --control unix:/tmp/fs.sock
  tapewright mcp recordings --listen 4000
  claude mcp add tapewright -- tapewright mcp";

/// The longest message that is carried, in bytes.
const LONGEST_MESSAGE: usize = 16 << 20;
/// How many questions are answered at once; others wait.
const AT_ONCE: usize = 4;
/// How long what is under way may go on once everything else has ended.
const LAST: Duration = Duration::from_millis(100);

/// What is served.
struct Sources {
    recordings: Recordings,
    /// Recorders that run, by the addresses of their controls.
    recorders: Vec<(String, Remote)>,
    rules: Arc<tapewright_schemas::redact::Rules>,
}

/// Serves until the client leaves, or a signal ends it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let clock = Clock::start();
    let sources = arguments.sources()?;
    let rules = Arc::clone(&sources.rules);
    // Only for its blocking threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(AT_ONCE)
        .thread_name("mcp")
        .build()
        .context("cannot start the server")?;
    let inside = LinkServer::new(Server::new(sources), runtime.handle().clone());
    let (recorder, log_listener) = faults::unrecorded(None, LONGEST_MESSAGE, || Ok(rules), clock)?;
    let exit = match arguments.listening.listen.as_deref() {
        Some(listen) => arguments.serve_http(listen, inside, &recorder, clock)?,
        None => serve_stdio(&inside, &recorder, clock)?,
    };
    recorder.finish();
    log::served(log_listener, &recorder);
    runtime.shutdown_timeout(LAST);
    Ok(exit)
}

fn serve_stdio(
    inside: &LinkServer,
    recorder: &Arc<Recorder>,
    clock: Clock,
) -> anyhow::Result<Exit> {
    let outcome = stdio::run(inside, &Transparent, recorder, clock)
        .inspect_err(|_| recorder.abandon())
        .context("cannot serve")?;
    Ok(match outcome.exit {
        // As one ends that a signal ends.
        Some(event::Exit::Signal(signal)) => Exit::External(128 + signal),
        _ => Exit::Pass,
    })
}

impl Arguments {
    fn sources(&self) -> anyhow::Result<Sources> {
        let token = self.token.clone();
        let token = token.or_else(|| std::env::var("TAPEWRIGHT_CONTROL_TOKEN").ok());
        let recorders = self.control.iter().map(|address| {
            let remote = Remote::at(address, token.clone())?;
            Ok((address.clone(), remote))
        });
        Ok(Sources {
            recordings: Recordings::open(self.folder.as_deref())?,
            recorders: recorders.collect::<anyhow::Result<_>>()?,
            rules: Arc::new(redaction::built_in(&redaction::of_environment())),
        })
    }

    fn serve_http(
        &self,
        listen: &str,
        inside: LinkServer,
        recorder: &Arc<Recorder>,
        clock: Clock,
    ) -> anyhow::Result<Exit> {
        let settings = self.listening.front(LONGEST_MESSAGE)?;
        let (place, tls) = self.listening.place(listen)?;
        let path = settings.path.clone();
        let behind = Behind {
            upstream: Arc::new(inside),
            policy: Transparent,
            recorder: Arc::clone(recorder),
            clock,
        };
        let served = front::run(settings, place, tls, behind, |reached| {
            gateway::announce(reached, &path, None);
        });
        gateway::conclude(served, recorder, "cannot serve")
    }
}
