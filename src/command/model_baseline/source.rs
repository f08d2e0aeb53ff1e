//! The source of a capture.

use std::path::PathBuf;

use clap::Args;
use tapewright_baselines::MOST_RUNS;

use crate::command::count;
use crate::command::models::dollars;
use crate::command::variables::Variables;
use crate::files::suites;
use crate::report::Mistake;

/// The source of a capture.
#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// Suite with agent tests, or a folder of suites; their cassettes are used, or the model is
    /// asked
    #[arg(value_name = "SUITE", conflicts_with_all = ["config", "recording", "input"])]
    suite: Option<PathBuf>,
    /// Same as SUITE
    #[arg(hide_short_help = true, long, value_name = "SUITE", conflicts_with_all = ["recording", "input"])]
    config: Option<PathBuf>,
    /// Agent recording made by `record --models`
    ///
    /// Repeatable, for several runs of the same model.
    #[arg(long, value_name = "FOLDER", conflicts_with = "input")]
    pub(super) recording: Vec<PathBuf>,
    /// Capture or agent cassette
    ///
    /// Repeatable, for several runs of the same model.
    #[arg(long, alias = "candidate", value_name = "FILE")]
    pub(super) input: Vec<PathBuf>,
    /// Test that a recording or cassette is a run of, for its IDs [default:
    /// `recorded::NAME`, with the agent's name]
    #[arg(long, value_name = "FILE::TEST", value_parser = test)]
    pub(super) test: Option<(String, String)>,
    #[command(flatten)]
    pub(super) models: ModelArguments,
    #[command(flatten)]
    pub(super) variables: Variables,
}

/// How to ask models.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub(super) struct ModelArguments {
    /// Model to ask; for a recording, the name of its model
    ///
    /// Write `PROVIDER:MODEL` where the name alone does not tell the provider.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Vec<String>,
    /// Ask the model even if there are cassettes; they stay unchanged
    #[arg(long)]
    pub(super) live: bool,
    /// Ask the model this many times, to tell noise from drift
    #[arg(long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
    pub(super) runs: u64,
    /// Number of tests to run at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = count::positive)]
    pub(super) parallel: usize,
    /// Read token prices from this file, on top of the built-in ones
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,
    /// Stop asking models after this many US dollars
    ///
    /// 0 asks none.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(super) max_cost: Option<u64>,
}

/// The source of a capture.
pub(super) enum Source<'a> {
    Suites(Vec<PathBuf>),
    Recordings(&'a [PathBuf]),
    Files(&'a [PathBuf]),
}

impl SourceArguments {
    /// Whether the models of a suite are asked even if there are cassettes, which would answer the
    /// same each time.
    pub(super) fn is_fresh(&self) -> bool {
        self.models.live || self.models.runs > 1
    }

    /// The one source that was given.
    pub(super) fn source(&self) -> anyhow::Result<Source<'_>> {
        if let Some(suite) = self.suite.as_ref().or(self.config.as_ref()) {
            return Ok(Source::Suites(suites(std::slice::from_ref(suite))?));
        }
        let source = match (self.recording.as_slice(), self.input.as_slice()) {
            ([], []) => {
                let what = "nothing to capture was given";
                let hint = "give a suite, `--recording FOLDER` or `--input FILE`";
                return Err(Mistake::new(what, hint).into());
            }
            ([], files) => Source::Files(files),
            (recordings, _) => Source::Recordings(recordings),
        };
        let models = &self.models;
        if models.live || models.runs > 1 {
            let what = "`--live` and `--runs` need a suite";
            let hint = "give several recordings or captures for several runs, or a suite";
            return Err(Mistake::new(what, hint).into());
        }
        if models.model.len() > 1 {
            let what = "a recording has only one model";
            return Err(Mistake::new(what, "name one `--model`").into());
        }
        Ok(source)
    }
}

fn test(typed: &str) -> Result<(String, String), String> {
    match typed.rsplit_once("::") {
        Some((file, test)) if !file.is_empty() && !test.is_empty() => {
            Ok((file.to_owned(), test.to_owned()))
        }
        _ => Err("expected FILE::TEST, such as `agents.yaml::sums`".to_owned()),
    }
}
