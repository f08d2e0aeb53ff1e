//! The options of the log, shared by all long-running commands.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Settings;
use super::filter::Filter;
use super::line::Format;
use super::writer::Destination;
use crate::report::Mistake;

/// What to log, and where to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArguments {
    /// Write a log of what the program does to FILE, or to `stderr`
    ///
    /// The log never contains the content of messages. See docs/log.md. [env:
    /// `TAPEWRIGHT_LOG`]
    #[arg(long, value_name = "FILE|stderr")]
    log: Option<PathBuf>,
    /// Format of the log [default: text] [env: `TAPEWRIGHT_LOG_FORMAT`]
    #[arg(hide_short_help = true, long, value_enum, value_name = "FORMAT")]
    log_format: Option<Format>,
    /// Level of the log, or levels by target [default: info]
    ///
    /// For example `warn,tapewright::exchange=debug`. [env: `TAPEWRIGHT_LOG_FILTER`]
    #[arg(hide_short_help = true, long, value_name = "FILTER")]
    log_filter: Option<String>,
}

impl LogArguments {
    /// Whether a log is requested.
    pub(crate) fn is_requested(&self) -> bool {
        let given = self.log.clone().map(OsString::from);
        value(given, "--log", "TAPEWRIGHT_LOG").is_some()
    }

    /// The settings from the options or the environment; `None` if no log is requested.
    pub(super) fn settings(&self) -> anyhow::Result<Option<Settings>> {
        let given = self.log.clone().map(OsString::from);
        let Some((log, of)) = value(given, "--log", "TAPEWRIGHT_LOG") else {
            return self.refuse_the_rest();
        };
        Ok(Some(Settings {
            format: self.format()?,
            filter: self.filter()?,
            destination: Destination::open(&log, of)?,
        }))
    }

    /// Options about a log that is not written are an error. Variables may be set for other
    /// commands.
    fn refuse_the_rest(&self) -> anyhow::Result<Option<Settings>> {
        let given = [
            (self.log_format.is_some(), "--log-format"),
            (self.log_filter.is_some(), "--log-filter"),
        ];
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => {
                let what = format!("`{option}` has no effect without `--log`");
                Err(Mistake::new(what, "add `--log FILE` or `--log stderr`").into())
            }
            None => Ok(None),
        }
    }

    fn format(&self) -> anyhow::Result<Format> {
        if let Some(format) = self.log_format {
            return Ok(format);
        }
        let Some(text) = variable("TAPEWRIGHT_LOG_FORMAT") else {
            return Ok(Format::Text);
        };
        let text = text.to_string_lossy();
        Format::from_str(&text, false).map_err(|_| {
            let what = "invalid `TAPEWRIGHT_LOG_FORMAT`: expected `text` or `json`";
            Mistake::new(what, "set it to one of them, or unset it").into()
        })
    }

    fn filter(&self) -> anyhow::Result<Filter> {
        let given = self.log_filter.clone().map(OsString::from);
        match value(given, "--log-filter", "TAPEWRIGHT_LOG_FILTER") {
            Some((text, of)) => Filter::parse(&text.to_string_lossy(), of),
            None => Ok(Filter::default()),
        }
    }
}

/// The value from the option or the variable, and the name of its source.
fn value(
    given: Option<OsString>,
    option: &'static str,
    name: &'static str,
) -> Option<(OsString, &'static str)> {
    match given {
        Some(given) => Some((given, option)),
        None => variable(name).map(|value| (value, name)),
    }
}

/// The value of a variable; an empty one counts as unset.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| value.as_os_str() != OsStr::new(""))
}
