//! The options of the log, shared by all commands that run for long.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Settings;
use super::filter::Filter;
use super::line::Format;
use super::writer::Destination;
use crate::report::Mistake;

/// What is logged, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArguments {
    /// Log what the recorder does, never what messages hold: append to FILE, or write to
    /// `stderr`. See docs/log.md [env: `TAPEWRIGHT_LOG`]
    #[arg(long, value_name = "FILE|stderr")]
    log: Option<PathBuf>,
    /// How a line of the log is written [default: text] [env: `TAPEWRIGHT_LOG_FORMAT`]
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<Format>,
    /// What is logged: a level, or levels of targets such as
    /// `warn,tapewright::exchange=debug` [default: info] [env: `TAPEWRIGHT_LOG_FILTER`]
    #[arg(long, value_name = "FILTER")]
    log_filter: Option<String>,
}

impl LogArguments {
    /// What the options, or else the environment, ask for; nothing where no log is wanted.
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

    /// Options about a log that nobody gets are a mistake. Variables may be set for others.
    fn refuse_the_rest(&self) -> anyhow::Result<Option<Settings>> {
        let given = [
            (self.log_format.is_some(), "--log-format"),
            (self.log_filter.is_some(), "--log-filter"),
        ];
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => {
                let what = format!("`{option}` is about a log, and nothing is logged");
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
            let what = "`TAPEWRIGHT_LOG_FORMAT` is neither `text` nor `json`";
            Mistake::new(what, "set it to one of them, or leave it out").into()
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

/// What was given, by the option or by the variable, and by which of the two.
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

/// The value of a variable; an empty one is none.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| value.as_os_str() != OsStr::new(""))
}
