//! `tapewright export`.

use clap::Args;

use crate::exit::Exit;

/// placeholder export
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_arguments: &Arguments) -> anyhow::Result<Exit> {
    Ok(Exit::Pass)
}
