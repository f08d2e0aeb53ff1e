//! The options for playing a recording, shared by `replay` and `record`.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tapewright_replay::{
    Exhausted, Ignore, MatchMode, Options, Ordering, Pace, Script, Unanswered,
};
use tapewright_schemas::redact::Rules;

use super::mapping::Mapping;
use crate::command::duration;
use crate::command::redaction::{self, Redaction};
use crate::report::Mistake;

/// How to play a recording.
#[derive(Debug, Args)]
#[command(next_help_heading = "Matching and timing")]
pub(crate) struct Playing {
    /// How closely a request must match a recorded one
    #[arg(long = "match", value_enum, value_name = "MODE", default_value_t = MatchArgument::Semantic)]
    mode: MatchArgument,
    /// Ignore this JSON pointer in requests; `*` is any name or index
    ///
    /// Repeatable.
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    /// Order in which recorded requests may arrive
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = OrderingArgument::None)]
    ordering: OrderingArgument,
    /// Answer to a request whose recordings are all used up
    #[arg(long, value_enum, value_name = "POLICY", default_value_t = ExhaustedArgument::Error)]
    exhausted: ExhaustedArgument,
    /// Answer to a request that was recorded without one
    #[arg(hide_short_help = true, long, value_enum, value_name = "POLICY", default_value_t = UnansweredArgument::Hang)]
    unanswered: UnansweredArgument,
    /// Timing: `instant`, `recorded`, or a factor for recorded delays
    #[arg(long, value_name = "PACE", default_value = "instant", value_parser = pace)]
    pace: f64,
    /// Longest recorded delay to reproduce
    #[arg(hide_short_help = true, long, value_name = "DURATION", value_parser = duration::positive)]
    pace_cap: Option<Duration>,
    #[command(flatten)]
    pub(super) mapping: Mapping,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MatchArgument {
    /// Equal parameters; member order and spacing do not count
    Strict,
    /// Like `strict`, but IDs, times and similar values may differ
    Semantic,
    /// Like `semantic`; as a last resort, equal names, types and lengths
    Structural,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderingArgument {
    /// As recorded; requests that overlapped may change places
    Recorded,
    /// As recorded, for each method on its own
    PerMethod,
    /// In any order
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExhaustedArgument {
    /// An error
    Error,
    /// The last recorded answer again
    Last,
    /// The recorded answers again, from the first
    Cycle,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnansweredArgument {
    /// No answer
    Hang,
    /// An error at once
    Error,
    /// The same as a request that was never recorded
    Skip,
}

impl From<MatchArgument> for MatchMode {
    fn from(mode: MatchArgument) -> Self {
        match mode {
            MatchArgument::Strict => Self::Strict,
            MatchArgument::Semantic => Self::Semantic,
            MatchArgument::Structural => Self::Structural,
        }
    }
}

impl Playing {
    /// The redaction rules, with these names and values.
    pub(crate) fn rules(&self, secrets: Vec<(String, String)>) -> anyhow::Result<Arc<Rules>> {
        let mut settings = self.redaction.settings();
        settings.values.extend(secrets);
        Ok(Arc::new(redaction::rules(&settings)?))
    }

    /// The player's options for a recording.
    pub(crate) fn options(&self, rules: Arc<Rules>, script: &Script) -> anyhow::Result<Options> {
        if self.pace > 0.0 && !script.tells_times() && script.requests() > 0 {
            let what = "the recording has no times; only `--pace instant` is possible";
            let hint = "replay its tape, which has times, or record with `--cassette-times`";
            return Err(Mistake::new(what, hint).into());
        }
        let ignore = Ignore::new(&self.ignore, &["params", "method", "id"]).map_err(|error| {
            let hint = "write it like `/params/arguments/now`";
            anyhow::Error::new(error).context(Mistake::new("invalid `--ignore`", hint))
        })?;
        Ok(Options {
            mode: MatchMode::from(self.mode),
            ordering: match self.ordering {
                OrderingArgument::Recorded => Ordering::Recorded,
                OrderingArgument::PerMethod => Ordering::PerMethod,
                OrderingArgument::None => Ordering::None,
            },
            exhausted: match self.exhausted {
                ExhaustedArgument::Error => Exhausted::Error,
                ExhaustedArgument::Last => Exhausted::Last,
                ExhaustedArgument::Cycle => Exhausted::Cycle,
            },
            unanswered: match self.unanswered {
                UnansweredArgument::Hang => Unanswered::Hang,
                UnansweredArgument::Error => Unanswered::Error,
                UnansweredArgument::Skip => Unanswered::Skip,
            },
            pace: Pace {
                factor: self.pace,
                cap: self.pace_cap.unwrap_or(Duration::MAX),
            },
            ignore,
            paths: self.mapping.paths(script)?,
            session: None,
            rules,
        })
    }
}

/// Reads `instant`, `recorded`, or a factor.
fn pace(text: &str) -> Result<f64, String> {
    match text {
        "instant" => Ok(0.0),
        "recorded" => Ok(1.0),
        factor => factor
            .parse()
            .ok()
            .filter(|factor: &f64| factor.is_finite() && *factor >= 0.0)
            .ok_or_else(|| {
                "expected `instant`, `recorded` or a factor such as 0.5 (half the delays)"
                    .to_owned()
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_read() {
        assert_eq!(pace("instant"), Ok(0.0));
        assert_eq!(pace("recorded"), Ok(1.0));
        assert_eq!(pace("0.25"), Ok(0.25));
        assert!(pace("-1").is_err());
        assert!(pace("inf").is_err());
    }
}
