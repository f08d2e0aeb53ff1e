//! The options that define secrets, shared by `record` and `scrub`.

use clap::Args;
use tapewright_schemas::redact::{Rules, Settings, is_secret_name};

use crate::report::Mistake;

/// Help of `--no-redact` on commands that write a tape.
pub(crate) const TAPE_NOT_REDACTED: &str = "Do not redact; the tape is marked as not redacted";

/// The secrets in addition to those that the built-in rules recognize.
#[derive(Debug, Args)]
#[command(next_help_heading = "Redaction")]
pub(crate) struct Redaction {
    /// Redact values of this member or header; repeatable
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    redact_key: Vec<String>,
    /// Redact matches of this regular expression; repeatable
    ///
    /// If it has a group, only the group is redacted.
    #[arg(hide_short_help = true, long, value_name = "REGEX")]
    redact_pattern: Vec<String>,
    /// Redact the value of this environment variable; repeatable
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    redact_env: Vec<String>,
    /// Do not redact anything
    #[arg(hide_short_help = true, long, conflicts_with_all = ["redact_key", "redact_pattern", "redact_env"])]
    no_redact: bool,
}

/// The settings without those of the user: the built-in rules, and the secret values of our
/// environment.
pub(crate) fn of_environment() -> Settings {
    Settings {
        values: secrets(is_secret_name),
        ..Settings::default()
    }
}

/// The variables with matching names.
fn secrets(wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| wanted(name) && !value.is_empty())
        .collect()
}

impl Redaction {
    /// Whether redaction is off.
    pub(crate) fn is_off(&self) -> bool {
        self.no_redact
    }

    /// Whether there are patterns, which can be invalid.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.redact_pattern.is_empty()
    }

    /// The settings, with the secret values of our environment, which a child inherits.
    pub(crate) fn settings(&self) -> Settings {
        let wanted = |name: &str| is_secret_name(name) || self.redact_env.iter().any(|n| n == name);
        Settings {
            keys: self.redact_key.clone(),
            patterns: self.redact_pattern.clone(),
            values: secrets(wanted),
            off: self.no_redact,
        }
    }
}

/// The rules of `settings`.
pub(crate) fn rules(settings: &Settings) -> anyhow::Result<Rules> {
    Rules::new(settings).map_err(|error| {
        let hint = "the syntax is that of the Rust crate `regex`; quote the pattern for your shell";
        anyhow::Error::new(error).context(Mistake::new("invalid redaction rules", hint))
    })
}

/// The rules of `settings` without the user's patterns, which are always valid.
pub(crate) fn built_in(settings: &Settings) -> Rules {
    Rules::new(settings).unwrap_or_else(|_| {
        // Unreachable without patterns; should it ever happen, redacting less than asked
        // would be a leak, and the plain rules are known to be sound.
        Rules::new(&Settings::default()).expect("the built-in rules are tested")
    })
}
