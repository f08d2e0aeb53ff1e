//! `tapewright verify`: whether a live server still answers as it was recorded.

pub(crate) mod target;
mod update;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use tapewright_proxy::clock::Clock;
use tapewright_replay::verify::{self, Findings, VerifyOptions};
use tapewright_replay::{Ignore, MatchMode};

use crate::command::duration;
use crate::command::redaction::{self, Redaction};
use crate::command::replay::load;
use crate::command::replay::playing::MatchArgument;
use crate::command::upstream::UpstreamArguments;
use crate::exit::Exit;
use crate::log::{self, LogArguments};
use crate::report::formats::{Format, Told as _};
use crate::report::progress::Progress;
use crate::report::verify::Verified;
use crate::report::{self, Mistake};

/// Send recorded requests to a live server and report drift
///
/// Requests are sent one at a time, in recorded order. Requests of the server get
/// the recorded answers. By default, IDs, times and other values that are new in
/// every session do not count as drift. A request with a redacted secret cannot be
/// sent, and is reported as such.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording
    #[arg(value_name = "RECORDING")]
    tape: PathBuf,
    /// How closely a live answer must match the recorded one
    #[arg(long = "match", value_enum, value_name = "MODE", default_value_t = MatchArgument::Semantic)]
    mode: MatchArgument,
    /// Ignore this JSON pointer, such as `/result/serverInfo`
    ///
    /// `*` is any name or index. Repeatable.
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    /// Time limit for each answer
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
    /// Replace drifted answers in the cassette by the live ones
    #[arg(long)]
    update: bool,
    /// Allow `--update` when the variable `CI` is true
    #[arg(hide_short_help = true, long, requires = "update")]
    allow_update_in_ci: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    server: UpstreamArguments,
    #[command(flatten)]
    redaction: Redaction,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright verify fs.json -- npx -y @modelcontextprotocol/server-filesystem .
  tapewright verify api.json --upstream https://mcp.example.com/mcp \\
      --header-env Authorization=TOKEN
  tapewright verify fs.json --ignore /result/serverInfo/version \\
      --format junit -- ./server
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
    let mut progress = Progress::count(script.requests());
    let findings = verify::verify(&script, &*upstream, &options, clock, |check| {
        let target = check.target.as_deref().unwrap_or_default();
        progress.step(&format!("{} {target}", check.method));
    });
    drop(progress);
    let findings = findings.context(Mistake::new("verification failed", hint))?;
    log::verified(&findings.checks);
    let verified = Verified {
        tape: &arguments.tape,
        checks: &findings.checks,
    };
    report::out(&verified.text(arguments.format())?)?;
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
    /// The format of the report.
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    fn options(&self) -> anyhow::Result<VerifyOptions> {
        let ignore = Ignore::new(&self.ignore, &["result", "error"]).map_err(|error| {
            let hint = "write it like `/result/content/0/text`";
            anyhow::Error::new(error).context(Mistake::new("invalid `--ignore`", hint))
        })?;
        let mut settings = self.redaction.settings();
        settings.values.extend(self.server.secrets()?);
        Ok(VerifyOptions {
            mode: MatchMode::from(self.mode),
            ignore,
            rules: Arc::new(redaction::rules(&settings)?),
            timeout: self.timeout,
        })
    }
}
