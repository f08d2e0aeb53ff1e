//! Where a capture comes from.

use std::path::PathBuf;

use clap::Args;
use tapewright_baselines::MOST_RUNS;

use crate::command::models::dollars;
use crate::command::variables::Variables;
use crate::report::Mistake;

/// Where a capture comes from.
#[derive(Debug, Args)]
pub(super) struct SourceArguments {
    /// A suite: the runs of its agent tests, from their cassettes, or else by asking the model
    #[arg(value_name = "SUITE", conflicts_with_all = ["config", "recording", "input"])]
    suite: Option<PathBuf>,
    /// The same as SUITE
    #[arg(long, value_name = "SUITE", conflicts_with_all = ["recording", "input"])]
    config: Option<PathBuf>,
    /// The recording of an agent, as `record --models` has written it; repeatable, for several
    /// runs of the same model
    #[arg(long, value_name = "FOLDER", conflicts_with = "input")]
    pub(super) recording: Vec<PathBuf>,
    /// A capture, or an agent cassette; repeatable, for several runs of the same model
    #[arg(long, alias = "candidate", value_name = "FILE")]
    pub(super) input: Vec<PathBuf>,
    /// The test that a recording or a cassette is a run of, for its ids; without it
    /// `recorded::NAME`, with the name of the agent
    #[arg(long, value_name = "FILE::TEST", value_parser = test)]
    pub(super) test: Option<(String, String)>,
    #[command(flatten)]
    pub(super) models: ModelArguments,
    #[command(flatten)]
    pub(super) variables: Variables,
}

/// How models are asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Models")]
pub(super) struct ModelArguments {
    /// The model: of a suite the one to ask, in place of those that its tests name; otherwise
    /// what the capture calls it. With its provider as `PROVIDER:MODEL` where its name does not
    /// tell it
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Vec<String>,
    /// Ask the model, whatever cassettes there are; they stay as they are
    #[arg(long)]
    pub(super) live: bool,
    /// Ask the model so many times: what it answers otherwise itself is noise
    #[arg(long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
    pub(super) runs: u64,
    /// How many tests run at once
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub(super) parallel: usize,
    /// Read what tokens cost from this file, over the table that is built in
    #[arg(long, value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,
    /// Ask no model any more once so many US dollars are spent
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(super) max_cost: Option<u64>,
}

/// What a capture is made of.
pub(super) enum Source<'a> {
    Suite(&'a PathBuf),
    Recordings(&'a [PathBuf]),
    Files(&'a [PathBuf]),
}

impl SourceArguments {
    /// Whether the models of a suite are asked, whatever cassettes there are: those say the
    /// same each time.
    pub(super) fn is_fresh(&self) -> bool {
        self.models.live || self.models.runs > 1
    }

    /// The one source that is named.
    pub(super) fn source(&self) -> anyhow::Result<Source<'_>> {
        if let Some(suite) = self.suite.as_ref().or(self.config.as_ref()) {
            return Ok(Source::Suite(suite));
        }
        let source = match (self.recording.as_slice(), self.input.as_slice()) {
            ([], []) => {
                let what = "nothing is named to be captured";
                let hint = "name a suite, `--recording FOLDER` or `--input FILE`";
                return Err(Mistake::new(what, hint).into());
            }
            ([], files) => Source::Files(files),
            (recordings, _) => Source::Recordings(recordings),
        };
        let models = &self.models;
        if models.live || models.runs > 1 {
            let what = "only the model of a suite can be asked";
            let hint = "name several recordings or captures for several runs, or a suite";
            return Err(Mistake::new(what, hint).into());
        }
        if models.model.len() > 1 {
            let what = "several models cannot have one recording";
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
        _ => Err("it is written FILE::TEST, such as `agents.yaml::sums`".to_owned()),
    }
}
