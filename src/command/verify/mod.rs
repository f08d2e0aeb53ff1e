//! `tapewright verify`: whether a live server still answers as it was recorded.

mod progress;
pub(crate) mod target;
mod update;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tapewright_proxy::clock::Clock;
use tapewright_replay::verify::{self, Findings, VerifyOptions};
use tapewright_replay::{Ignore, MatchMode};

use crate::command::redaction::{self, Redaction};
use crate::command::replay::load;
use crate::command::replay::playing::MatchArgument;
use crate::command::upstream::{UpstreamArguments, seconds};
use crate::exit::Exit;
use crate::log::{self, LogArguments};
use crate::report::formats::{Format, Told as _};
use crate::report::verify::Verified;
use crate::report::{self, Mistake};

use self::progress::Progress;

/// Send the recorded requests to a live server, and report where it answers otherwise
///
/// TAPE is a tape, a cassette or a capture. Its requests are sent in recorded order, one
/// after the other; the requests of the server get the recorded answers. By default ids,
/// times and the like that are new in every session do not count as drift. A request in
/// which a secret was redacted cannot be sent, and is told as such.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording
    #[arg(value_name = "TAPE")]
    tape: PathBuf,
    /// When two answers are the same
    #[arg(long = "match", value_enum, value_name = "MODE", default_value_t = MatchArgument::Semantic)]
    mode: MatchArgument,
    /// Pass over this place of answers, as a JSON pointer such as `/result/serverInfo`; `*`
    /// is any name or number
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    /// How long an answer may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,
    /// Put the live answers into the cassette in place of those that have drifted
    #[arg(long)]
    update: bool,
    /// Allow `--update` where the variable `CI` is true
    #[arg(long, requires = "update")]
    allow_update_in_ci: bool,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    #[command(flatten)]
    redaction: Redaction,
    #[command(flatten)]
    server: UpstreamArguments,
    /// The server's command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright verify fs.json -- npx -y @modelcontextprotocol/server-filesystem .
  tapewright verify api.json --upstream https://mcp.example.com/mcp --header-env Authorization=TOKEN
  tapewright verify fs.json --ignore /result/serverInfo/version --format junit -- ./server
  tapewright verify fs.json --update -- ./server";

/// Verifies, reports, and brings up to date where that is asked for.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let clock = Clock::start();
    if arguments.update {
        update::allowed(arguments.allow_update_in_ci)?;
    }
    let options = arguments.options()?;
    let script = load(&arguments.tape)?;
    if arguments.update {
        update::check(&script, &arguments.tape)?;
    }
    let (upstream, hint) = target::of(&arguments.server, &arguments.command)?;
    let mut progress = Progress::new(script.requests());
    let findings = verify::verify(&script, &*upstream, &options, clock, |check| {
        progress.step(check);
    });
    progress.clear();
    let findings = findings.context(Mistake::new("the verification was not finished", hint))?;
    log::verified(&findings.checks);
    let verified = Verified {
        tape: &arguments.tape,
        checks: &findings.checks,
    };
    report::out(&verified.text(arguments.format)?)?;
    if arguments.update && findings.replaced() > 0 {
        update::write(&findings, &script, &arguments.tape)?;
        return Ok(left(&findings));
    }
    Ok(verified.exit())
}

/// What an update leaves: requests that got no answer at all.
fn left(findings: &Findings) -> Exit {
    let drifted = findings.checks.iter().filter(|check| check.has_drifted());
    if drifted.count() > findings.replaced() {
        Exit::Fail
    } else {
        Exit::Pass
    }
}

impl Arguments {
    fn options(&self) -> anyhow::Result<VerifyOptions> {
        let ignore = Ignore::new(&self.ignore, &["result", "error"]).map_err(|error| {
            let hint = "write it like `/result/content/0/text`";
            anyhow::Error::new(error).context(Mistake::new("`--ignore` cannot be used", hint))
        })?;
        let mut settings = self.redaction.settings();
        settings.values.extend(self.server.secrets()?);
        Ok(VerifyOptions {
            mode: MatchMode::from(self.mode),
            ignore,
            rules: Arc::new(redaction::rules(&settings)?),
            timeout: seconds("--timeout", self.timeout)?,
        })
    }
}
