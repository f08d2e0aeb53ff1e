//! `tapewright compliance doctor`: what must change before a server or a client can use a later
//! revision.

mod live;
mod probe;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tapewright_corpus::migration::{Doctor, Finding, Status};
use tapewright_corpus::official::OurRule;

use super::official::{Official, OfficialArguments};
use crate::command::duration;
use crate::command::migrate::target;
use crate::command::redaction::{Redaction, TAPE_NOT_REDACTED};
use crate::command::upstream::UpstreamArguments;
use crate::exit::Exit;
use crate::files::{Recording, folder};
use crate::log::LogArguments;
use crate::report;
use crate::report::compliance::doctor as told;
use crate::report::formats::{Reportable as _, github, junit, markdown};

/// Find what must change for a later protocol revision
///
/// A server is asked twice: with a handshake, and without one as from 2026-07-28
/// on. For a recording nothing is sent, and the client is checked as well. Each of
/// the thirteen cases passes, fails with evidence, or is skipped with a reason.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES, mut_arg("no_redact", |option| option.help(TAPE_NOT_REDACTED)))]
pub(crate) struct Arguments {
    /// Check this recording, or folder of recordings, instead of a server
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["upstream", "command"])]
    capture: Option<PathBuf>,
    /// The revision to migrate to
    #[arg(
        long,
        alias = "target-version",
        value_name = "REVISION",
        default_value = "2026-07-28"
    )]
    target: String,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Record the conversation here [default: the state folder]
    #[arg(short, long, value_name = "FILE", conflicts_with = "capture")]
    output: Option<PathBuf>,
    /// Time limit for each answer
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::positive)]
    timeout: Duration,
    /// Command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    official: OfficialArguments,
    #[command(flatten)]
    server: UpstreamArguments,
    #[command(flatten)]
    redaction: Redaction,
    #[command(flatten)]
    pub(in crate::command::compliance) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright compliance doctor --target 2026-07-28 \\
      -- npx -y @modelcontextprotocol/server-everything
  tapewright compliance doctor --upstream https://mcp.example.com/mcp \\
      --format json
  tapewright compliance doctor --capture session.tape.jsonl --format markdown";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text for people
    Pretty,
    /// One JSON object
    Json,
    /// Text for a comment or summary
    Markdown,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

/// The findings about one server or recording.
#[derive(Debug)]
pub(crate) struct Examined {
    /// The recording: an existing one, or that of the requests just sent.
    pub(crate) path: PathBuf,
    /// Whether it is a tape, in which an event is one line.
    pub(crate) is_tape: bool,
    /// The revision to migrate to
    pub(crate) target: String,
    /// One for each case.
    pub(crate) findings: Vec<Finding>,
    /// The results of the official suite for the same server.
    pub(crate) official: Option<Official>,
}

impl Examined {
    /// How many cases have this status.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.findings
            .iter()
            .filter(|one| one.status == status)
            .count()
    }

    /// The cases as rules with outcomes, for comparison.
    fn as_rules(&self) -> Vec<OurRule> {
        let rule = |finding: &Finding| OurRule {
            rule: finding.case.id.to_owned(),
            holds: match finding.status {
                Status::Pass => Some(true),
                Status::Fail => Some(false),
                Status::Skipped => None,
            },
            detail: finding.detail.clone(),
        };
        self.findings.iter().map(rule).collect()
    }
}

/// The findings about a server, a recording, or the recordings of a folder.
#[derive(Debug)]
pub(crate) struct Examination {
    /// Whether they are from a folder.
    pub(crate) is_folder: bool,
    /// One for each recording.
    pub(crate) all: Vec<Examined>,
}

impl Examination {
    /// How many cases have this status, over all recordings.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.all.iter().map(|one| one.count(status)).sum()
    }

    fn exit(&self) -> Exit {
        if self.count(Status::Fail) > 0 {
            Exit::Fail
        } else if self.count(Status::Pass) == 0 {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }
}

impl Arguments {
    /// The format of the report.
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Examines, and reports.
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let target = target(&self.target, "--target")?;
        let examined = match &self.capture {
            Some(path) => recorded(path, target)?,
            None => Examination {
                is_folder: false,
                all: vec![self.live(target)?],
            },
        };
        report::out(&match self.format() {
            Format::Pretty => examined.pretty(),
            Format::Json => examined.json()?,
            Format::Markdown => markdown::text(&examined.report()),
            Format::Junit => junit::text(&examined.report())?,
            Format::Sarif => told::sarif(&examined)?,
            Format::Github => github::text(&examined.report()),
        })?;
        Ok(examined.exit())
    }

    /// Examines a server, if requested also with the official suite.
    fn live(&self, target: &str) -> anyhow::Result<Examined> {
        let mut examined = live::examine(self, target)?;
        if let (true, Some(url)) = (self.official.official, self.server.url()?) {
            let url = format!("{}{}", url.origin(), url.path);
            let ours = examined.as_rules();
            examined.official = Some(self.official.beside(&url, target, &ours)?);
        }
        Ok(examined)
    }
}

/// Examines recordings, in which the client is the user's.
fn recorded(named: &std::path::Path, target: &str) -> anyhow::Result<Examination> {
    let mut all = Vec::new();
    for path in folder::of(named)? {
        let (doctor, path, is_tape) = fold(&path, Doctor::new(false))?;
        all.push(Examined {
            path,
            is_tape,
            target: target.to_owned(),
            findings: doctor.finish(),
            official: None,
        });
    }
    Ok(Examination {
        is_folder: named.is_dir(),
        all,
    })
}

/// Feeds everything in a recording to a doctor.
fn fold(path: &std::path::Path, mut doctor: Doctor) -> anyhow::Result<(Doctor, PathBuf, bool)> {
    use tapewright_schemas::recording::FileKind;
    let recording = Recording::open_slowly(path)?;
    let (path, is_tape) = (recording.path.clone(), recording.kind() == FileKind::Tape);
    recording.messages(|event, envelope| {
        doctor.observe(event, envelope);
        Ok(())
    })?;
    Ok((doctor, path, is_tape))
}
