//! Selects invariants, for `compliance invariants` and `record --check`.

use clap::{Args, ValueEnum};
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::Severity;
use tapewright_compliance::{Selection, SelectionError};

use crate::report::Mistake;

/// Which invariants to check.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// Check every invariant, not only the seven documented ones
    #[arg(long)]
    all: bool,
    /// Check only this invariant, or those with this prefix; repeatable
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    select: Vec<Code>,
    /// Skip this invariant; repeatable
    #[arg(
        long = "skip",
        alias = "ignore",
        value_name = "CODE",
        value_delimiter = ','
    )]
    ignore: Vec<Code>,
    /// Skip invariants below this level
    #[arg(long, value_enum, value_name = "LEVEL")]
    severity: Option<Level>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    /// MUST and MUST NOT
    Must,
    /// Also SHOULD and SHOULD NOT
    Should,
}

impl SelectionArguments {
    /// Whether no option was given.
    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.select.is_empty() && self.ignore.is_empty() && self.severity.is_none()
    }

    /// The given invariants, or else the documented ones or all, without the skipped ones.
    pub(crate) fn selection(&self) -> anyhow::Result<Selection> {
        let mut selection = match (self.select.is_empty(), self.all) {
            (false, _) => Selection::none(),
            (true, true) => Selection::all(),
            (true, false) => Selection::documented(),
        };
        for code in &self.select {
            selection.select(*code).map_err(unknown)?;
        }
        for code in &self.ignore {
            selection.ignore(*code).map_err(unknown)?;
        }
        match self.severity {
            Some(Level::Must) => selection.at_least(Severity::Must),
            Some(Level::Should) => selection.at_least(Severity::Should),
            None => {}
        }
        Ok(selection)
    }
}

fn unknown(error: SelectionError) -> anyhow::Error {
    anyhow::Error::new(error).context(Mistake::new(
        "invalid selection",
        "list all invariants with `tapewright explain`",
    ))
}
