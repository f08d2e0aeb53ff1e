//! `tapewright scrub`.

use clap::Args;

use crate::exit::Exit;

/// placeholder scrub
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_arguments: &Arguments) -> anyhow::Result<Exit> {
    Ok(Exit::Pass)
}
