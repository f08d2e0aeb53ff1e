//! Which invariants judge: for `compliance invariants` and `record --check`.

use clap::{Args, ValueEnum};
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::Severity;
use tapewright_compliance::{Selection, SelectionError};

use crate::report::Mistake;

/// Which invariants judge.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    /// Judge by every invariant, and not only by the seven documented ones
    #[arg(long)]
    all: bool,
    /// Judge by this invariant and those named likewise, and by no others; repeatable
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    select: Vec<Code>,
    /// Leave this invariant out; repeatable
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    ignore: Vec<Code>,
    /// Leave out what is less binding than this
    #[arg(long, value_enum, value_name = "LEVEL")]
    severity: Option<Level>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    /// Only MUST and MUST NOT
    Must,
    /// SHOULD and SHOULD NOT as well
    Should,
}

impl SelectionArguments {
    /// Whether nothing was asked for.
    pub(crate) fn is_empty(&self) -> bool {
        !self.all && self.select.is_empty() && self.ignore.is_empty() && self.severity.is_none()
    }

    /// What was named, or else the documented ones or all, without what is to be left out.
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
        "the selection cannot be made",
        "`tapewright explain` lists every invariant",
    ))
}
