//! `tapewright verify`: checks whether a live server still answers as recorded.

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
use tapewright_replay::{Ignore, MatchMode, Script};

use crate::command::duration;
use crate::command::redaction::{self, Redaction};
use crate::command::replay::load;
use crate::command::replay::playing::MatchArgument;
use crate::command::upstream::UpstreamArguments;
use crate::exit::Exit;
use crate::files::folder;
use crate::log::{self, LogArguments};
use crate::report::formats::{Format, Reportable as _};
use crate::report::progress::Progress;
use crate::report::verify::{AllVerified, Verified};
use crate::report::{self, Mistake};

/// Send recorded requests to a live server and report drift
///
/// Requests are sent one at a time, in recorded order. Requests of the server get
/// the recorded answers. By default, IDs, times and other values that are new in
/// every session do not count as drift. A request with a redacted secret cannot be
/// sent, and is reported as such; if none after the opening was sent, the exit
/// status is 3. For a folder, every recording in it is verified, each in a session
/// of its own.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder of recordings
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
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::positive)]
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
  tapewright verify fs.json --update -- ./server
  tapewright verify cassettes/ -- ./server";

/// Verifies and reports, and updates the cassette if requested.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let clock = Clock::start();
    if arguments.update {
        update::allowed(arguments.allow_update_in_ci)?;
    }
    let options = arguments.options()?;
    let recordings = recordings(arguments)?;
    let is_whole = tell_incomplete(&recordings);
    let (upstream, hint) = target::of(&arguments.server, &arguments.command)?;
    let total = recordings.iter().map(|one| one.script.requests());
    let mut progress = Progress::count(total.sum());
    let mut found = Vec::new();
    for one in &recordings {
        let findings = verify::verify(&one.script, &*upstream, &options, clock, |check| {
            let target = check.target.as_deref().unwrap_or_default();
            progress.step(&format!("{} {target}", check.method));
        });
        let what = if arguments.tape.is_dir() {
            let path = report::safe(&one.path.display().to_string());
            format!("verification of `{path}` failed")
        } else {
            "verification failed".to_owned()
        };
        found.push(findings.context(Mistake::new(what, hint))?);
    }
    drop(progress);
    let mut verified = Vec::new();
    for (one, findings) in recordings.iter().zip(&found) {
        log::verified(&findings.checks);
        verified.push(Verified {
            tape: &one.path,
            checks: &findings.checks,
        });
    }
    let verified = AllVerified {
        is_folder: arguments.tape.is_dir(),
        all: verified,
    };
    report::out(&verified.text(arguments.format())?)?;
    let judged = |exit: Exit| match exit {
        // What is missing was not compared.
        Exit::Pass if !is_whole => Exit::Inconclusive,
        exit => exit,
    };
    if !arguments.update {
        return Ok(judged(verified.exit()));
    }
    let mut exits = Vec::new();
    for ((one, findings), verified) in recordings.iter().zip(&found).zip(&verified.all) {
        if findings.replaced() == 0 {
            exits.push(verified.exit());
            continue;
        }
        update::write(findings, &one.script, &one.path)?;
        exits.push(left(findings, verified));
    }
    Ok(judged(Exit::worst(&exits)))
}

/// Notes which recordings are not whole; returns whether all are.
fn tell_incomplete(recordings: &[Verifying]) -> bool {
    let mut is_whole = true;
    for one in recordings {
        if let Some(lacks) = one.script.incomplete() {
            is_whole = false;
            let path = report::safe(&one.path.display().to_string());
            let lacks = report::in_place::lacks(lacks);
            report::note(&format!("`{path}` is not whole: {lacks}"));
        }
    }
    is_whole
}

/// A recording whose requests are sent.
struct Verifying {
    path: PathBuf,
    script: Arc<Script>,
}

/// The recordings to verify, read before anything is sent.
fn recordings(arguments: &Arguments) -> anyhow::Result<Vec<Verifying>> {
    let paths = folder::of_server(&arguments.tape)?.into_iter();
    let recordings = paths.map(|path| {
        let script = Arc::new(load(&path)?);
        if arguments.update {
            update::check(&script, &path)?;
        }
        Ok(Verifying { path, script })
    });
    recordings.collect()
}

/// What an update cannot fix: requests without any answer, and those that were never sent.
fn left(findings: &Findings, verified: &Verified<'_>) -> Exit {
    let drifted = findings.checks.iter().filter(|check| check.has_drifted());
    if drifted.count() > findings.replaced() {
        Exit::Fail
    } else {
        verified.exit_without_drift()
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
