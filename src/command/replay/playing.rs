//! The options that say how a recording is played, shared by `replay` and `record`.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tapewright_replay::{
    Exhausted, Ignore, MatchMode, Options, Ordering, Pace, Script, Unanswered,
};
use tapewright_schemas::redact::Rules;

use super::mapping::Mapping;
use crate::command::redaction::{self, Redaction};
use crate::report::Mistake;

/// How a recording is played.
#[derive(Debug, Args)]
pub(crate) struct Playing {
    /// When a request is a recorded one
    #[arg(long = "match", value_enum, value_name = "MODE", default_value_t = MatchArgument::Semantic)]
    mode: MatchArgument,
    /// Pass over this place of requests, as a JSON pointer; `*` is any name or number
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    #[command(flatten)]
    pub(super) mapping: Mapping,
    /// In which order recorded requests may be asked for
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = OrderingArgument::None)]
    ordering: OrderingArgument,
    /// What a request gets whose recordings are used up
    #[arg(long, value_enum, value_name = "POLICY", default_value_t = ExhaustedArgument::Error)]
    exhausted: ExhaustedArgument,
    /// What a request gets that was recorded without an answer
    #[arg(long, value_enum, value_name = "POLICY", default_value_t = UnansweredArgument::Hang)]
    unanswered: UnansweredArgument,
    /// How fast: `instant`, `recorded`, or what recorded waits are multiplied with
    #[arg(long, value_name = "PACE", default_value = "instant", value_parser = pace)]
    pace: f64,
    /// The longest recorded wait that is kept, such as `500ms` or `5s`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pace_cap: Option<Duration>,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MatchArgument {
    /// The same parameters, however they are written
    Strict,
    /// The same, and values that are new in every session match others of their kind
    Semantic,
    /// At last also the same names, types and lengths
    Structural,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderingArgument {
    /// As recorded; what was in flight together may change places
    Recorded,
    /// As recorded among the requests of one method
    PerMethod,
    /// In any order
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExhaustedArgument {
    /// An error that says so
    Error,
    /// The last recording again
    Last,
    /// All recordings again, from the first on
    Cycle,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnansweredArgument {
    /// No answer
    Hang,
    /// An error at once
    Error,
    /// What it would get had it never been recorded
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
    /// What is a secret.
    pub(crate) fn rules(&self) -> anyhow::Result<Arc<Rules>> {
        Ok(Arc::new(redaction::rules(&self.redaction.settings())?))
    }

    /// The options for a recording, as the player takes them.
    pub(crate) fn options(&self, rules: Arc<Rules>, script: &Script) -> anyhow::Result<Options> {
        let ignore = Ignore::new(&self.ignore, &["params", "method", "id"]).map_err(|error| {
            let hint = "write it like `/params/arguments/now`";
            anyhow::Error::new(error).context(Mistake::new("`--ignore` cannot be used", hint))
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
                "a pace is `instant`, `recorded` or a factor: 0.5 waits half as long".to_owned()
            }),
    }
}

/// Reads `500ms`, `5s`, `2m` or a number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|char: char| !char.is_ascii_digit() && char != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        _ => return Err(DURATION.to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| DURATION.to_owned())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| DURATION.to_owned())
}

const DURATION: &str = "a time is a number with `ms`, `s` or `m`: 500ms, 2.5s";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_and_times_are_read() {
        assert_eq!(pace("instant"), Ok(0.0));
        assert_eq!(pace("recorded"), Ok(1.0));
        assert_eq!(pace("0.25"), Ok(0.25));
        assert!(pace("-1").is_err());
        assert!(pace("inf").is_err());
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2.5s"), Ok(Duration::from_millis(2_500)));
        assert_eq!(duration("3"), Ok(Duration::from_secs(3)));
        assert!(duration("s").is_err());
        assert!(duration("1h").is_err());
    }
}
